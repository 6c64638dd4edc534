//! Deformable bodies: models, surfaces, regions.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{BodyState, DeformableModel, Surface};
use pliant_coupling::{BodyIdx, Exclusion, Geometry, GeometryIdx};
use pliant_fem::{FemBody, FemBuilder, Region};
use pliant_hydroelastic::Tips;

use super::Draft;
use super::directory::{Owner, WeldedEnd};
use super::solid_meshes::solid_mesh;
use crate::recording::{Color, PointsLook, ValueScale, VisualShape};
use crate::runner::soft::{OwnBody, SoftModel, shown};
use crate::scene::{
    FemEntry, Matter, OwnBodyEntry, RegionShape, SceneError, SceneFault, SelfContact, Shown,
    SoftEntry, TouchesBy,
};

/// A deformable body of the world, by name.
#[derive(Clone)]
pub(crate) struct SoftBody {
    pub(crate) body: BodyIdx,
    pub(crate) geometry: GeometryIdx,
    /// Index of its first point among the vertices of the body; the others follow.
    pub(crate) first_vertex: u32,
    pub(crate) model: Arc<dyn SoftModel>,
    /// The points of each region.
    pub(crate) regions: BTreeMap<String, Arc<[u32]>>,
    /// Initial positions of its points.
    pub(crate) start: Arc<[Point3<f64>]>,
    /// Whether the number of points is constant.
    pub(crate) points_stay: bool,
    /// Points that are fixed along all axes, ascending.
    pub(crate) held: Arc<[u32]>,
    /// Ends of a rod that constraints hold with tangent and spin.
    pub(crate) welds: Vec<WeldedEnd>,
}

impl std::fmt::Debug for SoftBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SoftBody")
            .field("body", &self.body)
            .field("regions", &self.regions.keys())
            .finish_non_exhaustive()
    }
}

/// A deformable body of any kind, ready to be added to the world.
pub(super) struct Made {
    pub(super) model: Box<dyn DeformableModel>,
    pub(super) soft: Arc<dyn SoftModel>,
    pub(super) start: BodyState,
    pub(super) regions: Vec<Vec<u32>>,
    pub(super) held: Vec<u32>,
    pub(super) welds: Vec<WeldedEnd>,
    pub(super) look: VisualShape,
    pub(super) self_contact: SelfContact,
    pub(super) touches: Touches,
}

/// Radius of drawn points without a contact radius, m.
const OWN_POINT_RADIUS_M: f64 = 0.005;

/// Contact geometry.
pub(super) enum Touches {
    Surface,
    Vertices,
    Segments(Tips),
}

impl Draft<'_> {
    pub(super) fn add_soft(&mut self, entry: &SoftEntry) -> Result<(), SceneError> {
        let name = &entry.name.name;
        let made = match &entry.matter {
            Matter::Fem(fem) => self.finite_elements(entry, fem)?,
            // They share one body of the world.
            Matter::Points(_) | Matter::Cloth(_) => return Ok(()),
            Matter::Rod(rod) => self.rod(entry, rod)?,
            Matter::Own(own) => own_body(own),
        };
        let index = self.directory.trees.len() + self.directory.soft.len();
        let body = self.builder.add_body(name, made.model);
        debug_assert_eq!(body.0, index, "soft bodies come after all others");
        let of = match made.touches {
            Touches::Surface => Geometry::of_surface,
            Touches::Vertices => Geometry::of_vertices,
            Touches::Segments(_) => Geometry::of_segments,
        };
        let mut geometry = of(name, body, self.material(entry.surface));
        if let Touches::Segments(tips) = made.touches {
            geometry = geometry.with_tips(tips);
            geometry.compliance = self.filament_compliance(entry)?;
        }
        let geometry = self.add_geometry(Owner::Soft(body), entry.surface, geometry);
        if made.self_contact == SelfContact::Absent {
            self.builder
                .exclude(Exclusion::Geometries(geometry, geometry));
        }
        let mut points = Vec::new();
        made.soft.points(&made.start, &mut points);
        let color = entry
            .color
            .map_or(Color::palette(index), super::picture::color);
        self.picture.add_soft(
            name,
            self.directory.soft.len(),
            entry.shown,
            made.look,
            color,
            entry.shown_max,
            usize::MAX,
        );
        let regions = entry.regions.iter().zip(made.regions);
        self.directory.add_soft(
            name,
            SoftBody {
                body,
                geometry,
                first_vertex: 0,
                regions: regions
                    .map(|(r, points)| (r.name.name.clone(), points.into()))
                    .collect(),
                start: points.into(),
                points_stay: true,
                held: made.held.into(),
                welds: made.welds,
                model: made.soft,
            },
        );
        self.soft_starts.push((body, made.start));
        Ok(())
    }

    fn finite_elements(&mut self, entry: &SoftEntry, fem: &FemEntry) -> Result<Made, SceneError> {
        let name = &entry.name.name;
        let mesh = solid_mesh(self.scene, &fem.mesh, fem.at, name, &mut self.notes)?;
        let nodes = fem.element.mesh_of_nodes(&mesh).map_err(|error| {
            let text = format!("soft body {name:?}: {error}");
            self.scene.text.error(fem.at, SceneFault::World(text))
        })?;
        let regions = self.regions(entry, nodes.vertices())?;
        drop(nodes);
        let mut builder = FemBuilder::new(mesh, Arc::clone(&fem.material), fem.density)
            .element(fem.element)
            .damping(fem.damping)
            .mass(fem.mass_kind)
            .rotation(fem.rotation)
            .kinematics(fem.kinematics)
            .contact_radius(fem.contact_radius)
            .pose(entry.pose);
        if let Some(force) = &fem.force_density {
            builder = builder.force_field(Arc::new(force.clone()));
        }
        for fixed in &fem.fixed {
            let vertices = regions[fixed.region].clone();
            builder = builder.fix(Region::Vertices(vertices), &fixed.axes);
        }
        let (body, report) = builder.build().map_err(|error| {
            let text = format!("soft body {name:?}: {error}");
            self.scene
                .text
                .error(entry.name.at, SceneFault::World(text))
        })?;
        let remarks = report.entries.iter();
        self.notes
            .extend(remarks.map(|e| format!("soft body {name:?}: {e}")));
        let n = body.mesh().vertices().len() as u32;
        Ok(Made {
            start: body.rigid_state(
                &Isometry3::identity(),
                &entry.angular_velocity,
                &entry.velocity,
            ),
            held: (0..n).filter(|v| body.is_fixed(*v)).collect(),
            welds: Vec::new(),
            look: skin(&body, entry),
            soft: Arc::new(body.clone()),
            model: Box::new(body),
            regions,
            self_contact: fem.self_contact,
            touches: match fem.touches_by {
                TouchesBy::Surface => Touches::Surface,
                TouchesBy::Vertices => Touches::Vertices,
            },
        })
    }

    /// The points of each region, at least one.
    pub(super) fn regions(
        &self,
        entry: &SoftEntry,
        points: &[Vector3<f64>],
    ) -> Result<Vec<Vec<u32>>, SceneError> {
        let of = |region: &crate::scene::RegionEntry| {
            let what = format!(
                "soft body {:?}: region {:?}",
                entry.name.name, region.name.name
            );
            let complain = |text: String| {
                let fault = SceneFault::World(format!("{what} {text}"));
                Err(self.scene.text.error(region.name.at, fault))
            };
            if let RegionShape::Vertices(numbers) = &region.shape
                && let Some(beyond) = numbers.iter().find(|k| **k as usize >= points.len())
            {
                return complain(format!(
                    "names vertex {beyond}; the body has {}, counted from 0",
                    points.len()
                ));
            }
            let points_of_region = region.shape.select(points);
            if points_of_region.is_empty() {
                let bound = |pick: fn(f64, f64) -> f64, from: f64| {
                    let end = points
                        .iter()
                        .fold(Vector3::repeat(from), |a, p| a.zip_map(p, pick));
                    format!("({:.4}, {:.4}, {:.4})", end.x, end.y, end.z)
                };
                return complain(format!(
                    "contains no point: in its own frame the body lies between {} and {} m",
                    bound(f64::min, f64::INFINITY),
                    bound(f64::max, f64::NEG_INFINITY)
                ));
            }
            Ok(points_of_region)
        };
        entry.regions.iter().map(of).collect()
    }
}

/// A body of a registered kind.
fn own_body(entry: &OwnBodyEntry) -> Made {
    let body = OwnBody(entry.make());
    let start = body.default_state();
    let mut surface = Surface::default();
    body.surface(&start, &mut surface);
    let touches = match (surface.triangles.is_empty(), surface.edges.is_empty()) {
        (false, _) => Touches::Surface,
        (true, false) => Touches::Segments(Tips::Round),
        (true, true) => Touches::Vertices,
    };
    let look = match touches {
        Touches::Surface => VisualShape::DeformingMesh {
            n_vertices: surface.vertices.len() as u32,
            triangles: surface.triangles,
            tetrahedra: surface.tetrahedra,
            scale: None,
        },
        Touches::Segments(_) | Touches::Vertices => VisualShape::Points {
            radius: surface
                .radii
                .iter()
                .fold(OWN_POINT_RADIUS_M, |a, b| a.max(*b)),
            look: PointsLook::Grains,
            scale: None,
        },
    };
    Made {
        model: Box::new(body.clone()),
        soft: Arc::new(body),
        start,
        regions: Vec::new(),
        held: Vec::new(),
        welds: Vec::new(),
        look,
        self_contact: SelfContact::Present,
        touches,
    }
}

/// Visual of a body of finite elements: its boundary, and its tetrahedra for other programs.
fn skin(body: &FemBody, entry: &SoftEntry) -> VisualShape {
    let boundary = body.mesh().boundary();
    VisualShape::DeformingMesh {
        n_vertices: body.mesh().vertices().len() as u32,
        triangles: boundary.triangles.iter().map(|t| t.map(|v| v.0)).collect(),
        tetrahedra: body.mesh().tets().iter().map(|t| t.map(|v| v.0)).collect(),
        scale: scale(entry.shown, entry.shown_max),
    }
}

/// Colour scale of the recorded quantity; without a given maximum, it ends at the largest value of the run.
pub(super) fn scale(of: Shown, max: Option<f64>) -> Option<ValueScale> {
    shown(of).map(|(name, unit)| ValueScale {
        name: name.into(),
        unit: unit.into(),
        min: 0.0,
        max: max.unwrap_or(1.0),
    })
}
