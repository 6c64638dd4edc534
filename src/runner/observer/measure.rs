//! The value of a column at one time.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_multibody::Workspace;

use super::{Column, Reading};
use crate::registry::Snapshot;
use crate::runner::assembly::{Directory, FrameRef, SoftPart};
use crate::runner::views::{ConstraintView, ContactView, FrameView, JointView, MassView, SoftView};
use crate::scene::Among;
use crate::scene::expression::Scope;

impl Column {
    /// NaN where there is no value.
    pub(super) fn measure(
        &mut self,
        directory: &Directory,
        workspaces: &[Option<Workspace>],
        scope: &Scope,
        snapshot: &Snapshot<'_>,
    ) -> f64 {
        let component = self.component;
        let bodies = &snapshot.state.bodies;
        match &mut self.reading {
            Reading::Frames(frames, point, measure) => {
                let value = |frame: &FrameRef| {
                    let view = frame_view(frame, point, directory, workspaces);
                    view.map_or(f64::NAN, |view| measure(&view).component(component))
                };
                combined(self.among, frames.iter().map(value))
            }
            Reading::Soft(parts, measure) => {
                let value = |part: &SoftPart| {
                    let body = &directory.soft[part.soft];
                    let view = SoftView {
                        body,
                        region: part.points.as_deref(),
                        state: &bodies[body.body.0],
                        component,
                    };
                    measure(&view).component(component)
                };
                combined(self.among, parts.iter().map(value))
            }
            Reading::Sensor(sensor) => sensor
                .read(directory, snapshot)
                .map_or(f64::NAN, |value| value.component(component)),
            Reading::Joint(joint, measure) => measure(&JointView {
                joint: *joint,
                state: &bodies[joint.body.0],
                step: snapshot.step,
            }),
            Reading::Contact { of, with, measure } => match snapshot.step {
                Some((report, _)) => {
                    let contacts = &report.contacts;
                    measure(&ContactView { of, with, contacts }).component(component)
                }
                None => f64::NAN,
            },
            Reading::Mass(bodies, measure) => {
                let view = MassView {
                    bodies,
                    directory,
                    snapshot: *snapshot,
                };
                measure(&view).component(component)
            }
            Reading::Constraints(constraints, measure) => match snapshot.step {
                Some((report, _)) => {
                    let view = ConstraintView {
                        constraints,
                        report,
                    };
                    measure(&view).component(component)
                }
                None => f64::NAN,
            },
            Reading::Strands(strands) => strands.watch(directory, snapshot.state),
            Reading::Attachments(attachments) => attachments.changed(snapshot.state),
            Reading::Layers(layers) => layers.count(directory, snapshot.state),
            Reading::Step(measure) => snapshot
                .step
                .map_or(f64::NAN, |(report, _)| measure(report)),
            Reading::Expression(expression) => expression.evaluate(scope).unwrap_or(f64::NAN),
            Reading::Own(measure) => measure(snapshot),
        }
    }
}

/// The combined value of several bodies; without a rule, that of the first.
fn combined(among: Option<Among>, mut values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len();
    match among {
        None => values.next().unwrap_or(f64::NAN),
        Some(Among::Min) => values.fold(f64::NAN, f64::min),
        Some(Among::Max) => values.fold(f64::NAN, f64::max),
        Some(Among::Sum) => values.sum(),
        Some(Among::Mean) => values.sum::<f64>() / count as f64,
    }
}

fn frame_view(
    frame: &FrameRef,
    point: &Point3<f64>,
    directory: &Directory,
    workspaces: &[Option<Workspace>],
) -> Option<FrameView> {
    let at_rest = |X_WF: Isometry3<f64>| FrameView {
        X_WF,
        p_WQ: X_WF * point,
        linear_velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
    };
    match frame {
        FrameRef::World(X_WF) => Some(at_rest(*X_WF)),
        FrameRef::Link { body, link, X_LF } => {
            let tree = directory.tree(*body);
            let workspace = workspaces[body.0].as_ref()?;
            let view = at_rest(workspace.positions.link_pose(tree, *link) * X_LF);
            let positions = &workspace.positions;
            let twist = workspace
                .velocities
                .twist_at(tree, positions, *link, &view.p_WQ.coords);
            Some(FrameView {
                linear_velocity: twist.linear,
                angular_velocity: twist.angular,
                ..view
            })
        }
    }
}
