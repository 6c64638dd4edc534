//! Measures the observables of a scene after each step.

mod measure;
mod strands;

use nalgebra::Point3;
use pliant_coupling::{BodyIdx, ConstraintIdx, State, StepReport, World};
use pliant_multibody::{DofKind, Workspace};

use self::strands::Strands;
use super::assembly::{Assembly, Directory, JointRef, SoftSpot, Spot, Weighed};
use crate::scene::expression::{Expression, Scope};
use crate::scene::{
    Among, Component, Mention, ObservableEntry, Quantity, Scene, SceneError, SceneFault, Subject,
};

/// What a column is read from.
enum Reading {
    /// The moment.
    Moment(View),
    /// All moments so far.
    Strands(Strands),
}

/// A number of a moment.
struct View {
    quantity: Quantity,
    target: Target,
    point: Point3<f64>,
    component: Component,
    among: Option<Among>,
}

/// What a view looks at.
enum Target {
    Spots(Vec<Spot>),
    Joint(JointRef),
    /// Whether each geometry belongs to the one side and to the other.
    Contact {
        of: Vec<bool>,
        with: Vec<bool>,
    },
    Weighed(Vec<Weighed>),
    Soft(Vec<SoftSpot>),
    Constraints(Vec<ConstraintIdx>),
    Whole,
}

struct Column {
    name: String,
    reading: Reading,
    expression: Option<Expression>,
}

/// Measures all columns of a scene.
pub(super) struct Observer {
    columns: Vec<Column>,
    /// Kinematics of each body, for those that are looked at.
    workspaces: Vec<Option<Workspace>>,
    scope: Scope,
}

/// What is known of a moment.
pub(super) struct Moment<'a> {
    pub(super) world: &'a World,
    pub(super) state: &'a State,
    /// The step that led here, and the state it started from.
    pub(super) step: Option<(&'a StepReport, &'a State)>,
}

impl Observer {
    pub(super) fn new(scene: &Scene, assembly: &Assembly) -> Result<Self, SceneError> {
        let directory = &assembly.directory;
        let mut workspaces: Vec<Option<Workspace>> = directory.trees.iter().map(|_| None).collect();
        let mut columns = Vec::new();
        for entry in &scene.observables {
            let reading = reading(scene, directory, assembly.world.geometries().len(), entry)?;
            for body in reading.links() {
                workspaces[body.0].get_or_insert_with(|| Workspace::new(directory.tree(body)));
            }
            columns.push(Column {
                name: entry.name.name.clone(),
                reading,
                expression: entry.expression.clone(),
            });
        }
        let mut scope = Scope::default();
        for (name, value) in &scene.parameters {
            scope.set(name.clone(), *value);
        }
        scope.set("dt", scene.simulation.time_step_s);
        Ok(Self {
            columns,
            workspaces,
            scope,
        })
    }

    /// The unit of each column; joints that turn have others than joints that slide.
    pub(super) fn units(&self, scene: &Scene, directory: &Directory) -> Vec<String> {
        let unit = |(column, entry): (&Column, &ObservableEntry)| {
            let Reading::Moment(View {
                target: Target::Joint(joint),
                ..
            }) = &column.reading
            else {
                return entry.unit.clone();
            };
            let turns = directory.tree(joint.body).dof_kind(joint.dof) == DofKind::Angular;
            let (turning, sliding) = entry
                .unit
                .split_once(" or ")
                .unwrap_or((&entry.unit, &entry.unit));
            if turns { turning } else { sliding }.to_owned()
        };
        self.columns
            .iter()
            .zip(&scene.observables)
            .map(unit)
            .collect()
    }

    /// Appends one number for each column; NaN where there is none yet, such as forces before the first step.
    pub(super) fn measure(
        &mut self,
        directory: &Directory,
        moment: &Moment<'_>,
        out: &mut Vec<f64>,
    ) {
        for (body, workspace) in self.workspaces.iter_mut().enumerate() {
            if let Some(workspace) = workspace {
                let state = &moment.state.bodies[body];
                workspace.update(directory.tree(BodyIdx(body)), &state.q, &state.v);
            }
        }
        self.scope.set("t", moment.state.time_s);
        for column in &mut self.columns {
            let value = match &column.expression {
                Some(expression) => expression.evaluate(&self.scope).unwrap_or(f64::NAN),
                None => column.reading.measure(directory, &self.workspaces, moment),
            };
            // Infinity has no place in a table: no value.
            let value = if value.is_finite() { value } else { f64::NAN };
            self.scope.set(column.name.as_str(), value);
            out.push(value);
        }
    }
}

impl Reading {
    /// The bodies whose kinematics it needs.
    fn links(&self) -> impl Iterator<Item = BodyIdx> + '_ {
        let spots = match self {
            Self::Moment(View {
                target: Target::Spots(spots),
                ..
            }) => spots.as_slice(),
            Self::Moment(_) | Self::Strands(_) => &[],
        };
        spots.iter().filter_map(|spot| match spot {
            Spot::Link { body, .. } => Some(*body),
            Spot::World(_) => None,
        })
    }

    fn measure(
        &mut self,
        directory: &Directory,
        workspaces: &[Option<Workspace>],
        moment: &Moment<'_>,
    ) -> f64 {
        match self {
            Self::Moment(view) => view.measure(directory, workspaces, moment),
            Self::Strands(strands) => strands.watch(directory, moment.state),
        }
    }
}

fn reading(
    scene: &Scene,
    directory: &Directory,
    n_geometries: usize,
    entry: &ObservableEntry,
) -> Result<Reading, SceneError> {
    if let (Subject::Filament, Some(of)) = (entry.quantity.info().subject, &entry.of) {
        return strands(scene, directory, entry, of).map(Reading::Strands);
    }
    Ok(Reading::Moment(View {
        quantity: entry.quantity,
        target: target(scene, directory, n_geometries, entry)?,
        point: entry.point,
        component: entry.component,
        among: entry.among,
    }))
}

fn target(
    scene: &Scene,
    directory: &Directory,
    n_geometries: usize,
    entry: &ObservableEntry,
) -> Result<Target, SceneError> {
    let flags = |mention| -> Result<Vec<bool>, SceneError> {
        let mut flags = vec![false; n_geometries];
        for geometry in directory.geometries(scene, mention)? {
            flags[geometry.0] = true;
        }
        Ok(flags)
    };
    Ok(match (entry.quantity.info().subject, &entry.of) {
        (Subject::Frame | Subject::Soft, Some(of)) if directory.is_soft(of) => {
            let spots = directory.soft_spots(scene, of)?;
            soft_target(scene, directory, entry, of, spots)?
        }
        (Subject::Frame, Some(of)) => Target::Spots(directory.spots(scene, of)?),
        (Subject::Joint, Some(of)) => Target::Joint(directory.joint_path(scene, of)?),
        (Subject::Touching, of) => {
            let of = of.as_ref().map_or(Ok(vec![true; n_geometries]), flags)?;
            let with = match &entry.with {
                Some(with) => flags(with)?,
                None => vec![true; n_geometries],
            };
            Target::Contact { of, with }
        }
        (Subject::Mass, of) => Target::Weighed(match of {
            Some(of) => directory.weighed(scene, of)?,
            None => directory.all_weighed(),
        }),
        (Subject::Constraint, Some(of)) => Target::Constraints(directory.constraints(of).to_vec()),
        _ => Target::Whole,
    })
}

/// A column about rods, all of each.
fn strands(
    scene: &Scene,
    directory: &Directory,
    entry: &ObservableEntry,
    of: &Mention,
) -> Result<Strands, SceneError> {
    let spots = directory.soft_spots(scene, of)?;
    let whole = spots.iter().all(|spot| {
        spot.points.is_none() && !directory.soft[spot.soft].model.segments().is_empty()
    });
    if whole {
        return Ok(Strands::new(directory, spots));
    }
    let fault = SceneFault::Conflict {
        table: format!("[[observables]] {:?}", entry.name.name),
        reason: format!(
            "the quantity `{}` is of `[[rods]]`, each of them whole",
            entry.quantity.info().name
        ),
    };
    Err(scene.text.error(of.at, fault))
}

/// A column about a soft body; refuses what only rigid ones have.
fn soft_target(
    scene: &Scene,
    directory: &Directory,
    entry: &ObservableEntry,
    of: &Mention,
    spots: Vec<SoftSpot>,
) -> Result<Target, SceneError> {
    let refused = |reason: &str| {
        let info = entry.quantity.info();
        let reason = format!("the quantity `{}` {reason}", info.name);
        let table = format!("[[observables]] {:?}", entry.name.name);
        Err(scene
            .text
            .error(of.at, SceneFault::Conflict { table, reason }))
    };
    match entry.quantity {
        Quantity::Orientation | Quantity::AngularVelocity => {
            refused("is of rigid bodies; a soft one turns differently everywhere")
        }
        Quantity::Volume | Quantity::FirstPiece | Quantity::SecondPiece
            if spots.iter().any(|spot| spot.points.is_some()) =>
        {
            refused("is of a whole body, not of a region")
        }
        Quantity::Displacement if spots.iter().any(|s| !directory.soft[s.soft].points_stay) => {
            refused("is of a body whose particles stay; this scene has sources or sinks")
        }
        _ if entry.point != Point3::origin() => refused(
            "takes no `point` on a soft body; name a region, such as `{ nearest = { to = [...] } }`",
        ),
        _ => Ok(Target::Soft(spots)),
    }
}
