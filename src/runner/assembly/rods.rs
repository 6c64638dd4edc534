//! Rods: their models and how they are drawn.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, DeformableModel, Surface};
use pliant_der::{
    Centreline, Closure, End, EndCondition, FreeMotionSettings, NaturalShape, NaturalStrain, Rod,
    RodBuilder, RodError,
};

use super::Draft;
use super::directory::WeldedEnd;
use super::soft::{Made, Touches, scale};
use crate::recording::{ThreadEnds, VisualShape};
use crate::runner::soft::{is_flat, ribbon_triangles};
use crate::scene::{
    CentrelineEntry, RodEnd, RodEntry, RodModel, SceneError, SceneFault, SoftEntry,
};

impl Draft<'_> {
    pub(super) fn rod(&mut self, entry: &SoftEntry, given: &RodEntry) -> Result<Made, SceneError> {
        let name = &entry.name.name;
        let complain = |error: RodError| {
            let text = format!("rod {name:?}: {error}");
            self.scene
                .text
                .error(entry.name.at, SceneFault::World(text))
        };
        let line = match &given.centreline {
            CentrelineEntry::Nodes(line) => line.clone(),
            CentrelineEntry::File { file, closure } => {
                let (text, path) = self.scene.open(file)?;
                let text = String::from_utf8_lossy(&text);
                Centreline::parse(&text, path, *closure).map_err(complain)?
            }
        };
        let places: Vec<Vector3<f64>> = line.nodes.iter().map(|p| p.coords).collect();
        let regions = self.regions(entry, &places)?;
        if given.model == RodModel::CapsuleChain {
            return self.capsule_chain(entry, given, &line.transformed(&entry.pose), regions);
        }
        let natural = match (given.scatter, &given.natural) {
            (Some(scatter), NaturalShape::Uniform(mean)) => {
                NaturalShape::PerNode(scatter.strains(mean, line.nodes.len()))
            }
            (Some(scatter), _) => {
                let straight = NaturalStrain::default();
                NaturalShape::PerNode(scatter.strains(&straight, line.nodes.len()))
            }
            (None, shape) => shape.clone(),
        };
        let mut builder = RodBuilder::new(line.transformed(&entry.pose))
            .properties(given.properties)
            .outline(given.section)
            .natural_shape(natural)
            .rest_length_scale(given.rest_length_scale)
            .damping(given.damping)
            .free_motion(FreeMotionSettings {
                linearised: given.linearised,
                ..FreeMotionSettings::default()
            });
        if let Some(director) = given.director {
            builder = builder.director(entry.pose * director);
        }
        if let Some(drive) = &given.drive {
            builder = builder.natural_shape_schedule(drive.clone());
        }
        for (end, held) in [End::Start, End::Finish].into_iter().zip(given.ends) {
            builder = match held {
                RodEnd::Free => builder,
                RodEnd::Pinned => builder.end(end, EndCondition::Pinned),
                RodEnd::Clamped => builder.end(end, EndCondition::Clamped { tangent: None }),
                RodEnd::Welded => builder
                    .end(end, EndCondition::Welded { tangent: None })
                    .frame_at_end(name_of(end), end),
            };
        }
        let rod = builder.build().map_err(complain)?;
        let held = held(&rod).map_err(complain)?;
        let start = thrown(&rod, entry).map_err(complain)?;
        let welds = welds(&rod, &start, &given.ends).map_err(complain)?;
        Ok(Made {
            start,
            held,
            welds,
            look: look(&rod, entry, given),
            soft: std::sync::Arc::new(rod.clone()),
            model: Box::new(rod),
            regions,
            self_contact: given.self_contact,
            touches: Touches::Segments(given.tips),
        })
    }
}

/// A round thread, or a ribbon that shows the twist.
fn look(rod: &Rod, entry: &SoftEntry, given: &RodEntry) -> VisualShape {
    let scale = scale(entry.shown, entry.shown_max);
    if is_flat(&given.section) {
        let (triangles, n_vertices) = ribbon_triangles(rod, &given.section);
        return VisualShape::DeformingMesh {
            n_vertices,
            triangles,
            tetrahedra: Vec::new(),
            scale,
        };
    }
    VisualShape::Thread {
        radius: (given.section.area() / std::f64::consts::PI).sqrt(),
        ends: match rod.closure() {
            Closure::Open => ThreadEnds::Open,
            Closure::Closed => ThreadEnds::Joined,
        },
        scale,
    }
}

fn name_of(end: End) -> &'static str {
    match end {
        End::Start => "start",
        End::Finish => "finish",
    }
}

/// Ends that constraints hold with tangent and spin.
fn welds(rod: &Rod, start: &BodyState, ends: &[RodEnd; 2]) -> Result<Vec<WeldedEnd>, RodError> {
    let mut surface = Surface::default();
    rod.surface(start, &mut surface);
    let last = rod.n_nodes() - 1;
    let mut welds = Vec::new();
    for ((end, node), held) in [(End::Start, 0), (End::Finish, last)].into_iter().zip(ends) {
        if *held == RodEnd::Welded {
            let frame = rod.frame(name_of(end))?;
            welds.push(WeldedEnd {
                key: name_of(end),
                point: node as u32,
                frame,
                X_WF: surface.frames[frame as usize],
            });
        }
    }
    Ok(welds)
}

/// Fixed nodes.
fn held(rod: &Rod) -> Result<Vec<u32>, RodError> {
    let control = rod.default_control();
    let mut nodes = Vec::new();
    for node in 0..rod.n_nodes() {
        let dofs = rod.node_dofs(node)?;
        if control
            .held
            .get(dofs)
            .is_some_and(|held| held.iter().all(Option::is_some))
        {
            nodes.push(node as u32);
        }
    }
    Ok(nodes)
}

/// The initial state: every free node has the velocity of a rigid body.
fn thrown(rod: &Rod, entry: &SoftEntry) -> Result<BodyState, RodError> {
    let mut state = rod.default_state();
    let held = held(rod)?;
    let mut center = Vector3::zeros();
    for node in 0..rod.n_nodes() {
        center += rod.position(&state, node).coords * rod.node_mass(node);
    }
    let center = Point3::from(center / rod.total_mass());
    for node in 0..rod.n_nodes() {
        if held.binary_search(&(node as u32)).is_err() {
            let arm = rod.position(&state, node) - center;
            let velocity = entry.velocity + entry.angular_velocity.cross(&arm);
            let dofs = rod.node_dofs(node)?;
            state.v[dofs].copy_from_slice(velocity.as_slice());
        }
    }
    Ok(state)
}
