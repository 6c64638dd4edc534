//! `<geom>`: shape, pose, inertia, and whether it touches or is only seen.

use nalgebra::{Isometry3, Unit, Vector3};
use pliant_hydroelastic::AnalyticShape;

use super::File;
use super::assets::MeshAsset;
use super::defaults::Settings;
use super::height_field;
use super::orientation::{pose, z_along};
use super::shell_inertia;
use crate::error::MultibodyError;
use crate::geometry::{CollisionMesh, GeometryDescription, MeshHull};
use crate::inertia::SpatialInertia;
use crate::markup::Remarks;

/// Density of geoms without mass and density, kg/m³: MuJoCo's.
const DENSITY: f64 = 1000.0;
/// Groups from this one on are not shown.
const FIRST_HIDDEN_GROUP: f64 = 3.0;

/// What the inertia of a body comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InertiaSource {
    /// The masses and densities of its geoms.
    Geoms,
    /// Its `<inertial>`, or nothing.
    Element,
}

/// A geom in the frame of its body.
pub(super) struct Geom {
    pub(super) name: Option<String>,
    pub(super) X_BG: Isometry3<f64>,
    /// In its own frame; zero if the inertia of the body does not come from its geoms.
    pub(super) inertia: SpatialInertia,
    group: f64,
    pub(super) rule: ContactRule,
    /// Whether a `<pair>` names it.
    is_paired: bool,
    pub(super) rgba: Option<[f64; 4]>,
    /// `None` for a mesh that cannot be shown and does not touch.
    pub(super) shape: Option<GeometryDescription>,
    /// The hull of a mesh in contact.
    pub(super) mesh: Option<CollisionMesh>,
}

/// Sliding (1), torsional (m) and rolling friction (m) of geoms without `friction`: MuJoCo's.
pub(super) const UNWRITTEN_FRICTION: [f64; 3] = [1.0, 0.005, 0.0001];

/// What decides on the contact of a geom with another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ContactRule {
    pub(super) mask: ContactMask,
    /// 1: no friction; 3: sliding friction; 4: torsional friction, too; 6: rolling friction, too.
    pub(super) condim: u8,
    pub(super) priority: i64,
    /// Sliding (1), torsional (m) and rolling friction (m), if the file gives it.
    pub(super) friction: Option<[f64; 3]>,
}

/// `contype` and `conaffinity`: two geoms touch if a bit of one's type is in the other's affinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ContactMask {
    pub(super) kind: i64,
    pub(super) affinity: i64,
}

impl ContactMask {
    /// The mask of geoms without one.
    pub(super) const USUAL: Self = Self {
        kind: 1,
        affinity: 1,
    };

    pub(super) fn touches(self, other: Self) -> bool {
        (self.kind & other.affinity) != 0 || (other.kind & self.affinity) != 0
    }

    pub(super) fn touches_anything(self) -> bool {
        self.kind != 0 || self.affinity != 0
    }
}

impl Geom {
    pub(super) fn is_in_contact(&self) -> bool {
        self.is_paired || self.rule.mask.touches_anything()
    }

    pub(super) fn is_shown(&self) -> bool {
        self.group < FIRST_HIDDEN_GROUP
    }

    pub(super) fn read(
        file: &File<'_>,
        settings: &Settings<'_>,
        (body, source): (&str, InertiaSource),
        remarks: &mut Remarks,
    ) -> Result<Self, MultibodyError> {
        let own = settings.own();
        let name = own.attribute("name").map(|name| name.trim().to_owned());
        let subject = match &name {
            Some(name) => format!("geom \"{name}\""),
            None => format!("geom of body \"{body}\""),
        };
        let fail = |text: String| own.error(&subject, text);
        let mask = ContactMask {
            kind: integer(settings, "contype", 1, &subject)?,
            affinity: integer(settings, "conaffinity", 1, &subject)?,
        };
        let group = settings.number("group", &subject)?.unwrap_or(0.0);
        let friction = match settings.holder("friction") {
            Some(_) => Some(settings.leading::<3>("friction", &subject, UNWRITTEN_FRICTION)?),
            None => None,
        };
        if let Some(mu) = friction.iter().flatten().find(|mu| **mu < 0.0) {
            return Err(fail(format!("friction = {mu} must not be negative")));
        }
        let rule = ContactRule {
            mask,
            condim: condim(settings, &subject)?,
            priority: integer(settings, "priority", 0, &subject)?,
            friction,
        };
        let is_shell = settings.text("shellinertia") == Some("true");
        let rgba = match settings.numbers::<4>("rgba", &subject)? {
            Some(rgba) => Some(rgba),
            None => match settings.text("material") {
                Some(material) => file.assets.colour(material, own, &subject)?,
                None => None,
            },
        };
        let kind = match settings.text("type") {
            Some(kind) => kind,
            None if settings.holder("mesh").is_some() => "mesh",
            None => "sphere",
        };
        let mut geom = Self {
            name,
            X_BG: pose(settings, file.compiler, &subject)?,
            inertia: SpatialInertia::zero(),
            group,
            rule,
            is_paired: own
                .attribute("name")
                .is_some_and(|name| file.paired.contains(name.trim())),
            rgba,
            shape: None,
            mesh: None,
        };
        let [first, last] = file.compiler.inertia_groups;
        let source = match (first..=last).contains(&group) {
            true => source,
            false => InertiaSource::Element,
        };
        match kind {
            "mesh" if is_shell => {
                let text = "shellinertia is for shapes given by their sizes; set inertia=\"shell\" of the mesh";
                return Err(fail(text.to_owned()));
            }
            "mesh" => {
                let Some(mesh) = settings.text("mesh") else {
                    return Err(fail("type=\"mesh\" needs mesh=\"NAME\"".to_owned()));
                };
                let mesh = file.assets.mesh(mesh, own, &subject)?;
                geom.use_mesh((file, mesh), settings, (&subject, source), remarks)?;
            }
            "hfield" => {
                let Some(name) = settings.text("hfield") else {
                    return Err(fail("type=\"hfield\" needs hfield=\"NAME\"".to_owned()));
                };
                let surface = height_field::surface(file, name, own, &subject)?;
                geom.mesh = Some(CollisionMesh::Surface(surface));
                geom.shape = Some(GeometryDescription::HeightField {
                    name: name.to_owned(),
                });
            }
            _ if settings.holder("mesh").is_some() => {
                let text = format!(
                    "a {kind} fitted to a mesh is not supported; give its size, or use type=\"mesh\""
                );
                return Err(fail(text));
            }
            _ => {
                let shape = geom.analytic(kind, settings, &subject)?;
                if source == InertiaSource::Geoms {
                    let unit = match is_shell {
                        true => shell_inertia::of_shape(&shape),
                        false => solid_inertia(&shape),
                    };
                    geom.inertia = match unit {
                        Some(unit) => scaled_to_mass(unit, settings, &subject)?,
                        None => SpatialInertia::zero(),
                    };
                }
                geom.shape = Some(GeometryDescription::Analytic(shape));
            }
        }
        Ok(geom)
    }

    /// A shape given by its sizes; `fromto` also sets the pose.
    fn analytic(
        &mut self,
        kind: &str,
        settings: &Settings<'_>,
        subject: &str,
    ) -> Result<AnalyticShape, MultibodyError> {
        let own = settings.own();
        let mut size = settings.leading::<3>("size", subject, [0.0; 3])?;
        if let Some([a, b, c, d, e, f]) = settings.numbers::<6>("fromto", subject)? {
            if !["capsule", "cylinder", "box", "ellipsoid"].contains(&kind) {
                let text = format!("fromto is not for type=\"{kind}\"; give pos and size");
                return Err(own.error(subject, text));
            }
            let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
            let Some(direction) = Unit::try_new(from - to, 1e-14) else {
                return Err(own.error(subject, "the two points of fromto are equal"));
            };
            let half_length = 0.5 * (from - to).norm();
            size = match kind {
                "box" | "ellipsoid" => [size[0], size[0], half_length],
                _ => [size[0], half_length, 0.0],
            };
            let middle = 0.5 * (from + to);
            self.X_BG = Isometry3::from_parts(middle.into(), z_along(&direction));
        }
        let needed = match kind {
            "sphere" => 1,
            "capsule" | "cylinder" => 2,
            "box" | "ellipsoid" => 3,
            _ => 0,
        };
        if let Some(k) = (0..needed).find(|&k| size[k] <= 0.0) {
            let text = format!(
                "number {} of size is {}, but the sizes of a {kind} must be positive: it needs {needed}",
                k + 1,
                size[k]
            );
            return Err(own.error(subject, text));
        }
        let [a, b, c] = size;
        Ok(match kind {
            "plane" => AnalyticShape::HalfSpace {},
            "sphere" => AnalyticShape::Sphere { radius: a },
            "capsule" => AnalyticShape::Capsule {
                radius: a,
                length: 2.0 * b,
            },
            "cylinder" => AnalyticShape::Cylinder {
                radius: a,
                length: 2.0 * b,
            },
            "ellipsoid" => AnalyticShape::Ellipsoid {
                semi_axes: Vector3::new(a, b, c),
            },
            "box" => AnalyticShape::Box {
                size: 2.0 * Vector3::new(a, b, c),
            },
            other => {
                let text = format!(
                    "type=\"{other}\" is not supported; use plane, hfield, sphere, capsule, ellipsoid, cylinder, box or mesh"
                );
                return Err(own.error(subject, text));
            }
        })
    }

    /// A mesh; its file is read if it touches or has mass.
    fn use_mesh(
        &mut self,
        (file, mesh): (&File<'_>, &MeshAsset),
        settings: &Settings<'_>,
        (subject, source): (&str, InertiaSource),
        remarks: &mut Remarks,
    ) -> Result<(), MultibodyError> {
        let own = settings.own();
        self.X_BG *= mesh.X_GM;
        let is_weightless = settings.number("mass", subject)? == Some(0.0);
        let has_mass = source == InertiaSource::Geoms && !is_weightless;
        let path = match mesh.path(file) {
            Ok(path) => path,
            Err(text) if self.is_in_contact() || has_mass => {
                return Err(own.error(subject, format!("mesh {text}")));
            }
            Err(text) => {
                remarks.suspicious(&own.place, format!("{subject}: mesh {text}; not shown"));
                return Ok(());
            }
        };
        if has_mass {
            let unit = mesh
                .unit_density(&path)
                .map_err(|text| own.error(subject, text))?;
            self.inertia = scaled_to_mass(unit, settings, subject)?;
        }
        let mut hull = MeshHull::AsWritten;
        if self.is_in_contact() {
            hull = MeshHull::Convex;
            let solid = mesh.hull(&path).map_err(|text| own.error(subject, text))?;
            self.mesh = Some(CollisionMesh::Hull(solid));
        }
        self.shape = Some(GeometryDescription::Mesh {
            path,
            scale: mesh.scale,
            hull,
        });
        Ok(())
    }
}

/// The inertia of a shape at 1 kg/m³; `None` for a plane.
fn solid_inertia(shape: &AnalyticShape) -> Option<SpatialInertia> {
    use core::f64::consts::PI;
    Some(match *shape {
        AnalyticShape::Sphere { radius: r } => {
            SpatialInertia::solid_sphere(4.0 / 3.0 * PI * r.powi(3), r)
        }
        AnalyticShape::Box { size } => SpatialInertia::solid_box(size.product(), size),
        AnalyticShape::Cylinder { radius, length } => {
            SpatialInertia::solid_cylinder(PI * radius * radius * length, radius, length)
        }
        AnalyticShape::Capsule { radius, length } => {
            let volume = PI * radius * radius * (length + 4.0 / 3.0 * radius);
            SpatialInertia::solid_capsule(volume, radius, length)
        }
        AnalyticShape::Ellipsoid { semi_axes } => {
            SpatialInertia::solid_ellipsoid(4.0 / 3.0 * PI * semi_axes.product(), semi_axes)
        }
        AnalyticShape::HalfSpace {} | AnalyticShape::Cone { .. } => return None,
    })
}

/// `unit`, the inertia at a density of 1 kg/m³, or 1 kg/m² for a shell, scaled to the mass or density of the geom.
fn scaled_to_mass(
    unit: SpatialInertia,
    settings: &Settings<'_>,
    subject: &str,
) -> Result<SpatialInertia, MultibodyError> {
    let factor = match settings.number("mass", subject)? {
        Some(mass) => mass / unit.mass,
        None => settings.number("density", subject)?.unwrap_or(DENSITY),
    };
    if factor < 0.0 {
        let text = "mass and density must not be negative";
        return Err(settings.own().error(subject, text));
    }
    Ok(SpatialInertia::new(
        unit.mass * factor,
        unit.com,
        unit.rotational * factor,
    ))
}

/// `condim` of a geom or a pair.
pub(super) fn condim(settings: &Settings<'_>, subject: &str) -> Result<u8, MultibodyError> {
    match integer(settings, "condim", 3, subject)? {
        written @ (1 | 3 | 4 | 6) => Ok(written as u8),
        other => {
            let text = format!("condim = {other} must be 1, 3, 4 or 6");
            Err(settings.own().error(subject, text))
        }
    }
}

fn integer(
    settings: &Settings<'_>,
    name: &str,
    missing: i64,
    subject: &str,
) -> Result<i64, MultibodyError> {
    match settings.number(name, subject)? {
        None => Ok(missing),
        Some(x) if x.fract() == 0.0 && x.abs() < 2f64.powi(52) => Ok(x as i64),
        Some(x) => {
            let text = format!("{name} = {x} must be an integer");
            Err(settings.own().error(subject, text))
        }
    }
}
