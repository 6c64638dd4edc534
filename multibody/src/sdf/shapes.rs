//! `<collision>` and `<visual>`: shapes, meshes, contact properties, colours.

use nalgebra::{Isometry3, Unit, UnitQuaternion, Vector3};
use pliant_hydroelastic::AnalyticShape;
use pliant_hydroelastic::mesh::is_surface_file;

use super::File;
use crate::builder::LinkSpec;
use crate::error::MultibodyError;
use crate::geometry::{
    Collision, CollisionMesh, GeometryDescription, HydroelasticCompliance, MeshHull,
    ProximityProperties, Visual,
};
use crate::markup::{Element, Remarks};
use crate::urdf::{collision_mesh, unsupported};

pub(super) fn collision(
    file: &File<'_>,
    element: &Element,
    link: &mut LinkSpec,
    remarks: &mut Remarks,
) -> Result<(), MultibodyError> {
    let subject = format!("link \"{}\"", link.name);
    let known = [
        "pose",
        "geometry",
        "surface",
        "density",
        "drake:proximity_properties",
    ];
    remarks.only_children(element, &known);
    let X_LG = in_link(file, element, link)?;
    let Some(geometry) = element.child("geometry") else {
        return Err(element.error(&subject, "<collision> needs a <geometry>"));
    };
    let (geometry, mesh) = match mesh_of(geometry) {
        Some(mesh) => {
            let (path, scale) = mesh_file(file, mesh, &subject).map_err(|error| {
                error.unwrap_or_else(|text| mesh.error(&subject, format!("collision mesh {text}")))
            })?;
            let mut hull = match mesh.holds("drake:declare_convex") {
                true => MeshHull::Convex,
                false => MeshHull::AsWritten,
            };
            let solid = solid(mesh, (&path, scale), &mut hull, &subject, remarks)?;
            (GeometryDescription::Mesh { path, scale, hull }, Some(solid))
        }
        None => (
            GeometryDescription::Analytic(analytic(geometry, &subject)?),
            None,
        ),
    };
    let plane = turned_plane(element.child("geometry"), &subject)?;
    let unnamed = || format!("{}_collision_{}", link.name, link.collisions.len());
    let name = element
        .attribute("name")
        .map_or_else(unnamed, str::to_owned);
    link.collisions.push(Collision {
        name,
        X_LG: X_LG * plane,
        geometry,
        mesh,
        proximity: proximity(element, &subject, remarks)?,
    });
    Ok(())
}

pub(super) fn visual(
    file: &File<'_>,
    element: &Element,
    link: &mut LinkSpec,
    remarks: &mut Remarks,
) -> Result<(), MultibodyError> {
    let subject = format!("link \"{}\"", link.name);
    remarks.only_children(element, &["pose", "geometry", "material"]);
    let X_LG = in_link(file, element, link)?;
    let diffuse = element.child("material").and_then(|m| m.child("diffuse"));
    let rgba = match diffuse {
        Some(diffuse) => Some(diffuse.content::<4>(&subject)?),
        None => None,
    };
    link.rgba = link.rgba.or(rgba);
    let Some(geometry) = element.child("geometry") else {
        return Err(element.error(&subject, "<visual> needs a <geometry>"));
    };
    let plane = turned_plane(Some(geometry), &subject)?;
    let geometry = match mesh_of(geometry) {
        Some(mesh) => match mesh_file(file, mesh, &subject) {
            Ok((path, _)) if !is_surface_file(&path) => {
                remarks.suspicious(
                    &mesh.place,
                    format!("{subject}: visual mesh {}; not shown", unsupported(&path)),
                );
                return Ok(());
            }
            Ok((path, scale)) => GeometryDescription::Mesh {
                path,
                scale,
                hull: MeshHull::AsWritten,
            },
            Err(Ok(error)) => return Err(error),
            Err(Err(text)) => {
                remarks.suspicious(
                    &mesh.place,
                    format!("{subject}: visual mesh {text}; not shown"),
                );
                return Ok(());
            }
        },
        None => GeometryDescription::Analytic(analytic(geometry, &subject)?),
    };
    let unnamed = || format!("{}_visual_{}", link.name, link.visuals.len());
    let name = element
        .attribute("name")
        .map_or_else(unnamed, str::to_owned);
    link.visuals.push(Visual {
        name,
        X_LG: X_LG * plane,
        geometry,
        rgba,
    });
    Ok(())
}

/// The pose of a shape in its link.
fn in_link(
    file: &File<'_>,
    element: &Element,
    link: &LinkSpec,
) -> Result<Isometry3<f64>, MultibodyError> {
    let written = element.child("pose");
    match written.and_then(|pose| pose.attribute("relative_to")) {
        Some(frame) if !frame.is_empty() => {
            let X_ML = file.frames.in_model(&link.name, element)?;
            Ok(X_ML.inverse() * file.frames.of(element, &link.name)?)
        }
        // Without rounding by way of the model.
        _ => written.map_or(Ok(Isometry3::identity()), super::frames::pose),
    }
}

fn mesh_of(geometry: &Element) -> Option<&Element> {
    geometry.child("mesh")
}

/// The file and scale of a mesh; the error is one of the file, or the reason why the mesh was not found.
type MeshFile = Result<(std::path::PathBuf, Vector3<f64>), Result<MultibodyError, String>>;

fn mesh_file(file: &File<'_>, mesh: &Element, subject: &str) -> MeshFile {
    let Some(uri) = mesh.child("uri") else {
        return Err(Ok(mesh.error(subject, "<mesh> needs <uri>FILE</uri>")));
    };
    let scale = match mesh.child("scale") {
        Some(scale) => Vector3::from(scale.content::<3>(subject).map_err(Ok)?),
        None => Vector3::repeat(1.0),
    };
    if scale.iter().any(|&s| s == 0.0) {
        return Err(Ok(mesh.error(subject, "<scale> must not be zero")));
    }
    if mesh.holds("submesh") {
        let text = "<submesh> is not supported; write the part to a file of its own";
        return Err(Ok(mesh.error(subject, text)));
    }
    let path = file.options.packages.resolve(&uri.text, file.path);
    Ok((path.map_err(Err)?, scale))
}

fn solid(
    mesh: &Element,
    (path, scale): (&std::path::Path, Vector3<f64>),
    hull: &mut MeshHull,
    subject: &str,
    remarks: &mut Remarks,
) -> Result<CollisionMesh, MultibodyError> {
    if !is_surface_file(path) {
        let text = format!("collision mesh {}", unsupported(path));
        return Err(mesh.error(subject, text));
    }
    let read = collision_mesh(path, scale, hull).map_err(|text| mesh.error(subject, text))?;
    if let Some(text) = &read.replaced {
        remarks.suspicious(&mesh.place, format!("{subject}: {text}"));
    }
    for entry in &read.report.entries {
        let text = format!("{subject}: in {}: {}", entry.at, entry.text);
        remarks.add(entry.severity, &mesh.place, text);
    }
    Ok(read.mesh)
}

fn analytic(geometry: &Element, subject: &str) -> Result<AnalyticShape, MultibodyError> {
    let Some(shape) = geometry.children.first() else {
        return Err(geometry.error(subject, "<geometry> has no shape"));
    };
    let length = |tag: &str| -> Result<f64, MultibodyError> {
        let value = shape.number_in(tag, subject)?;
        let value = value
            .ok_or_else(|| shape.error(subject, format!("<{}> needs <{tag}>, in m", shape.tag)))?;
        positive(shape, tag, value, subject)
    };
    let lengths = |tag: &str| -> Result<Vector3<f64>, MultibodyError> {
        let child = shape
            .child(tag)
            .ok_or_else(|| shape.error(subject, format!("<{}> needs <{tag}>, in m", shape.tag)))?;
        let values = child.content::<3>(subject)?;
        for value in values {
            positive(shape, tag, value, subject)?;
        }
        Ok(Vector3::from(values))
    };
    Ok(match &*shape.tag {
        "box" => AnalyticShape::Box {
            size: lengths("size")?,
        },
        "sphere" => AnalyticShape::Sphere {
            radius: length("radius")?,
        },
        "cylinder" => AnalyticShape::Cylinder {
            radius: length("radius")?,
            length: length("length")?,
        },
        "capsule" | "drake:capsule" => AnalyticShape::Capsule {
            radius: length("radius")?,
            length: length("length")?,
        },
        "cone" => AnalyticShape::Cone {
            radius: length("radius")?,
            height: length("length")?,
        },
        "ellipsoid" => AnalyticShape::Ellipsoid {
            semi_axes: lengths("radii")?,
        },
        "drake:ellipsoid" => AnalyticShape::Ellipsoid {
            semi_axes: Vector3::new(length("a")?, length("b")?, length("c")?),
        },
        "plane" => AnalyticShape::HalfSpace {},
        other => {
            let text = format!(
                "<{other}> is not supported; use box, sphere, cylinder, capsule, cone, ellipsoid, plane or mesh"
            );
            return Err(shape.error(subject, text));
        }
    })
}

fn positive(shape: &Element, tag: &str, value: f64, subject: &str) -> Result<f64, MultibodyError> {
    if value > 0.0 {
        return Ok(value);
    }
    let text = format!("<{}> {tag} = {value} m must be positive", shape.tag);
    Err(shape.error(subject, text))
}

/// The rotation of z to the normal of a plane; the identity for other shapes.
fn turned_plane(
    geometry: Option<&Element>,
    subject: &str,
) -> Result<UnitQuaternion<f64>, MultibodyError> {
    let normal = geometry.and_then(|g| g.child("plane")?.child("normal"));
    let Some(normal) = normal else {
        return Ok(UnitQuaternion::identity());
    };
    let direction = Unit::try_new(Vector3::from(normal.content::<3>(subject)?), 1e-12);
    let direction = direction.ok_or_else(|| normal.error(subject, "<normal> must not be zero"))?;
    let turn = UnitQuaternion::rotation_between(&Vector3::z(), &direction);
    let half_turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), core::f64::consts::PI);
    Ok(turn.unwrap_or(half_turn))
}

fn proximity(
    element: &Element,
    subject: &str,
    remarks: &mut Remarks,
) -> Result<ProximityProperties, MultibodyError> {
    let mut properties = ProximityProperties::default();
    if let Some(surface) = element.child("surface") {
        remarks.only_children(surface, &["friction"]);
        let friction = surface.child("friction");
        if let Some(friction) = friction {
            remarks.only_children(friction, &["ode", "torsional"]);
        }
        if let Some(ode) = friction.and_then(|f| f.child("ode")) {
            remarks.only_children(ode, &["mu"]);
            properties.mu_dynamic = ode.number_in("mu", subject)?;
            properties.mu_static = properties.mu_dynamic;
        }
        if let Some(torsional) = friction.and_then(|f| f.child("torsional")) {
            properties.torsional_friction = super::torsional::length(torsional, subject, remarks)?;
        }
    }
    let Some(written) = element.child("drake:proximity_properties") else {
        return Ok(properties);
    };
    for child in &written.children {
        let slot = match child.tag.trim_start_matches("drake:") {
            "rigid_hydroelastic" => {
                properties.hydroelastic_compliance = Some(HydroelasticCompliance::Rigid);
                continue;
            }
            "compliant_hydroelastic" | "soft_hydroelastic" => {
                properties.hydroelastic_compliance = Some(HydroelasticCompliance::Compliant);
                continue;
            }
            name => match properties.number_named(name) {
                Some(slot) => slot,
                None => {
                    remarks.left_out(child);
                    continue;
                }
            },
        };
        let [value] = child.content::<1>(subject)?;
        if value < 0.0 {
            let text = format!("<{}> = {value} must not be negative", child.tag);
            return Err(child.error(subject, text));
        }
        *slot = Some(value);
    }
    Ok(properties)
}
