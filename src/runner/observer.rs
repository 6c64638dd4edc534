//! Measures the observables of a scene after each step.

mod attachments;
mod layers;
mod measure;
mod quantities;
mod sensors;
mod strands;

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::Point3;
use pliant_coupling::{BodyIdx, ConstraintIdx, StepReport};
use pliant_multibody::Workspace;

use self::attachments::Attachments;
pub(crate) use self::layers::LayerCount;
use self::layers::Layers;
pub(crate) use self::quantities::built_in_quantities;
use self::sensors::Sensor;
use self::strands::Strands;
use super::assembly::{Assembly, Directory, FrameRef, JointRef, MassRef, SoftPart};
use crate::registry::{Measure, Snapshot, Value};
use crate::runner::views::{ConstraintView, ContactView, FrameView, JointView, MassView, SoftView};
use crate::scene::expression::{Expression, Scope};
use crate::scene::{
    Among, Component, NamedReference, ObservableEntry, Scene, SceneError, SceneFault,
};

/// What a column measures.
enum Reading {
    Frames(Vec<FrameRef>, Point3<f64>, fn(&FrameView) -> Value),
    Soft(Vec<SoftPart>, fn(&SoftView<'_>) -> Value),
    Sensor(Box<Sensor>),
    Joint(JointRef, fn(&JointView<'_>) -> f64),
    /// Whether each geometry belongs to the first and to the second side.
    Contact {
        of: Vec<bool>,
        with: Vec<bool>,
        measure: fn(&ContactView<'_>) -> Value,
    },
    Mass(Vec<MassRef>, fn(&MassView<'_>) -> Value),
    Constraints(Vec<ConstraintIdx>, fn(&ConstraintView<'_>) -> Value),
    /// Statistics over all steps so far.
    Strands(Strands),
    Attachments(Attachments),
    Layers(Layers),
    Step(fn(&StepReport) -> f64),
    Expression(Expression),
    Own(Arc<dyn Fn(&Snapshot<'_>) -> f64 + Send + Sync>),
}

struct Column {
    name: String,
    reading: Reading,
    component: Component,
    among: Option<Among>,
}

/// Measures all columns of a scene.
pub(super) struct Observer {
    columns: Vec<Column>,
    /// Kinematics of each observed body.
    workspaces: Vec<Option<Workspace>>,
    scope: Scope,
}

impl Observer {
    /// Measures `entries`: those of the scene, or what is measured by default.
    pub(super) fn new(
        scene: &Scene,
        entries: &[ObservableEntry],
        assembly: &Assembly,
    ) -> Result<Self, SceneError> {
        let directory = &assembly.directory;
        let mut workspaces: Vec<Option<Workspace>> = directory.trees.iter().map(|_| None).collect();
        let mut columns = Vec::new();
        for entry in entries {
            let reading = reading(scene, directory, assembly.world.geometries().len(), entry)?;
            for body in reading.links() {
                workspaces[body.0].get_or_insert_with(|| Workspace::new(directory.tree(body)));
            }
            columns.push(Column {
                name: entry.name.name.clone(),
                reading,
                component: entry.component,
                among: entry.among,
            });
        }
        let mut observer = Self {
            columns,
            workspaces,
            scope: Scope::default(),
        };
        observer.set_parameters(&scene.parameters);
        (observer.scope).set("dt", scene.simulation.time_step_s);
        Ok(observer)
    }

    /// Expressions have these values of parameters from now on.
    pub(super) fn set_parameters(&mut self, parameters: &BTreeMap<String, f64>) {
        for (name, value) in parameters {
            self.scope.set(name.clone(), *value);
        }
    }

    /// The unit of each column; rotational joints have other units than prismatic joints.
    pub(super) fn units(&self, entries: &[ObservableEntry], directory: &Directory) -> Vec<String> {
        let unit = |(column, entry): (&Column, &ObservableEntry)| {
            let Reading::Joint(joint, _) = &column.reading else {
                return entry.unit.clone();
            };
            let turns = !directory.tree(joint.body).dof_kind(joint.dof).is_linear();
            let (turning, sliding) = entry
                .unit
                .split_once(" or ")
                .unwrap_or((&entry.unit, &entry.unit));
            if turns { turning } else { sliding }.to_owned()
        };
        self.columns.iter().zip(entries).map(unit).collect()
    }

    /// Appends one number for each column; NaN for values that do not exist yet, such as forces before the first step.
    pub(super) fn measure(
        &mut self,
        directory: &Directory,
        snapshot: &Snapshot<'_>,
        out: &mut Vec<f64>,
    ) {
        for (body, workspace) in self.workspaces.iter_mut().enumerate() {
            if let Some(workspace) = workspace {
                let state = &snapshot.state.bodies[body];
                workspace.update(directory.tree(BodyIdx(body)), &state.q, &state.v);
            }
        }
        self.scope.set("t", snapshot.state.time_s);
        for column in &mut self.columns {
            let value = column.measure(directory, &self.workspaces, &self.scope, snapshot);
            // Tables have no infinity: it counts as no value.
            let value = if value.is_finite() { value } else { f64::NAN };
            self.scope.set(column.name.as_str(), value);
            out.push(value);
        }
    }
}

impl Reading {
    /// The bodies whose kinematics the column requires.
    fn links(&self) -> impl Iterator<Item = BodyIdx> + '_ {
        let frames = match self {
            Self::Frames(frames, ..) => frames.as_slice(),
            _ => &[],
        };
        frames.iter().filter_map(|frame| match frame {
            FrameRef::Link { body, .. } => Some(*body),
            FrameRef::World(_) => None,
        })
    }
}

fn reading(
    scene: &Scene,
    directory: &Directory,
    n_geometries: usize,
    entry: &ObservableEntry,
) -> Result<Reading, SceneError> {
    let flags = |name: &Option<NamedReference>| -> Result<Vec<bool>, SceneError> {
        let Some(name) = name else {
            return Ok(vec![true; n_geometries]);
        };
        let mut flags = vec![false; n_geometries];
        for geometry in directory.geometries(scene, name)? {
            flags[geometry.0] = true;
        }
        Ok(flags)
    };
    // The scene reader has checked that `of` is given if it is required.
    let of = || {
        entry.of.as_ref().ok_or_else(|| {
            let fault = SceneFault::World(format!(
                "the quantity `{}` needs `of`",
                entry.quantity.name()
            ));
            scene.text.error(entry.name.at, fault)
        })
    };
    Ok(match &entry.quantity.measure {
        Measure::Point { soft, .. } if directory.is_soft(of()?) => {
            Reading::Soft(soft_parts(scene, directory, entry, of()?)?, *soft)
        }
        Measure::Point { rigid, .. } => {
            Reading::Frames(directory.frames(scene, of()?)?, entry.point, *rigid)
        }
        Measure::Frame(_) if directory.is_soft(of()?) => {
            return Err(refused(
                scene,
                entry,
                of()?,
                "is of rigid bodies; the rotation of a soft one varies from point to point",
            ));
        }
        Measure::Frame(measure) => {
            Reading::Frames(directory.frames(scene, of()?)?, entry.point, *measure)
        }
        Measure::Soft(measure) => {
            Reading::Soft(soft_parts(scene, directory, entry, of()?)?, *measure)
        }
        Measure::SamePoints(measure) => {
            let parts = soft_parts(scene, directory, entry, of()?)?;
            if parts.iter().any(|s| !directory.soft[s.soft].points_stay) {
                let reason = "is of a body whose particles stay; this scene has sources or sinks";
                return Err(refused(scene, entry, of()?, reason));
            }
            Reading::Soft(parts, *measure)
        }
        Measure::SoftBody(measure) => {
            let parts = soft_parts(scene, directory, entry, of()?)?;
            if parts.iter().any(|part| part.points.is_some()) {
                let reason = "is of a whole body, not of a region";
                return Err(refused(scene, entry, of()?, reason));
            }
            Reading::Soft(parts, *measure)
        }
        Measure::ClothLayers(count) => {
            let parts = match &entry.of {
                Some(of) => cloths(scene, directory, entry, of)?,
                None => directory.cloths().collect(),
            };
            if parts.is_empty() {
                let reason = "is of `[[cloth]]`; this scene has none";
                return Err(refused(scene, entry, &entry.name, reason));
            }
            Reading::Layers(Layers::new(directory, parts, *count))
        }
        Measure::StrandCrossings => Reading::Strands(strands(scene, directory, entry, of()?)?),
        Measure::AttachmentsChanged => {
            Reading::Attachments(Attachments::new(flags(&entry.of)?, flags(&entry.with)?))
        }
        Measure::Sensor(kind) => {
            let frame = directory.frame_or_joint(scene, of()?)?;
            if kind.is_of_a_joint() && !has_joint(directory, &frame) {
                let reason = "is of a link that a joint connects to its parent";
                return Err(refused(scene, entry, of()?, reason));
            }
            Reading::Sensor(Box::new(Sensor::new(*kind, frame, entry.point, directory)))
        }
        Measure::Joint(measure) => Reading::Joint(directory.joint_path(scene, of()?)?, *measure),
        Measure::Contact(measure) => Reading::Contact {
            of: flags(&entry.of)?,
            with: flags(&entry.with)?,
            measure: *measure,
        },
        Measure::Mass(measure) => {
            let bodies = match &entry.of {
                Some(of) => directory.with_mass(scene, of)?,
                None => directory.all_with_mass(),
            };
            Reading::Mass(bodies, *measure)
        }
        Measure::Constraint(measure) => {
            Reading::Constraints(directory.constraints(scene, of()?)?.to_vec(), *measure)
        }
        Measure::Step(measure) => Reading::Step(*measure),
        Measure::Expression => {
            let expression = entry.expression.clone();
            Reading::Expression(expression.unwrap_or(Expression::number(f64::NAN)))
        }
        Measure::Own(measure) => Reading::Own(Arc::clone(measure)),
    })
}

fn has_joint(directory: &Directory, frame: &FrameRef) -> bool {
    let FrameRef::Link { body, link, .. } = frame else {
        return false;
    };
    let tree = directory.tree(*body);
    let joint = tree.link(*link).parent_joint.map(|joint| tree.joint(joint));
    joint.is_some_and(|joint| joint.parent.is_some())
}

/// A column about whole rods.
fn strands(
    scene: &Scene,
    directory: &Directory,
    entry: &ObservableEntry,
    of: &NamedReference,
) -> Result<Strands, SceneError> {
    let parts = directory.soft_parts(scene, of)?;
    let whole = parts.iter().all(|part| {
        part.points.is_none() && !directory.soft[part.soft].model.segments().is_empty()
    });
    if whole {
        return Ok(Strands::new(directory, parts));
    }
    let fault = SceneFault::Conflict {
        table: format!("[[observables]] {:?}", entry.name.name),
        reason: format!(
            "the quantity `{}` is of `[[rods]]`, each of them whole",
            entry.quantity.name()
        ),
    };
    Err(scene.text.error(of.at, fault))
}

/// Whole cloths.
fn cloths(
    scene: &Scene,
    directory: &Directory,
    entry: &ObservableEntry,
    of: &NamedReference,
) -> Result<Vec<SoftPart>, SceneError> {
    let parts = soft_parts(scene, directory, entry, of)?;
    let whole = |part: &SoftPart| {
        part.points.is_none() && !directory.soft[part.soft].model.triangles().is_empty()
    };
    match parts.iter().all(whole) {
        true => Ok(parts),
        false => Err(refused(
            scene,
            entry,
            of,
            "is of `[[cloth]]`, each of them whole",
        )),
    }
}

/// Soft bodies or a region, without a `point`.
fn soft_parts(
    scene: &Scene,
    directory: &Directory,
    entry: &ObservableEntry,
    of: &NamedReference,
) -> Result<Vec<SoftPart>, SceneError> {
    if entry.point != Point3::origin() {
        return Err(refused(
            scene,
            entry,
            of,
            "takes no `point` on a soft body; name a region, such as `{ nearest = { to = [...] } }`",
        ));
    }
    directory.soft_parts(scene, of)
}

fn refused(
    scene: &Scene,
    entry: &ObservableEntry,
    of: &NamedReference,
    reason: &str,
) -> SceneError {
    let fault = SceneFault::Conflict {
        table: format!("[[observables]] {:?}", entry.name.name),
        reason: format!("the quantity `{}` {reason}", entry.quantity.name()),
    };
    scene.text.error(of.at, fault)
}
