//! Sensors on links: accelerometer, gyroscope, and the wrench through the joint of a link. Each reads in the axes of its frame.
//!
//! An accelerometer measures the specific force Rᵀ(a − g): 0 in free fall, g upward at rest. a is the mean acceleration of its point
//! over the last step, (v − v₀)/Δt, and R the orientation half way, so that the error of a rotating sensor is of second order in Δt.
//!
//! The wrench through a joint is what the parent exerts on the link: that which the acceleration of the link and all that it carries
//! requires, less contacts, constraints and loads on them. It is evaluated where the step evaluates its dynamics: at the pose of the
//! start of the step, with the mean acceleration over it.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::Primitive;
use pliant_coupling::{Anchor, BodyIdx, State, StepReport, World};
use pliant_multibody::{
    AccelerationKinematics, LinkIdx, Model, Workspace, Wrench, joint_reactions,
};

use crate::registry::{SensorKind, Snapshot, Value};
use crate::runner::assembly::{Directory, FrameRef};

/// A sensor of one quantity.
pub(super) struct Sensor {
    kind: SensorKind,
    frame: FrameRef,
    /// In the frame.
    point: Point3<f64>,
    /// At the start and at the end of the step.
    workspaces: Option<[Workspace; 2]>,
}

/// A frame on a link.
#[derive(Clone, Copy)]
struct Mount {
    body: BodyIdx,
    link: LinkIdx,
    X_LF: Isometry3<f64>,
}

impl Sensor {
    /// A sensor at `point` (m) of `frame`; for reactions the frame is on a link with a joint.
    pub(super) fn new(
        kind: SensorKind,
        frame: FrameRef,
        point: Point3<f64>,
        directory: &Directory,
    ) -> Self {
        let workspaces = match frame {
            FrameRef::World(_) => None,
            FrameRef::Link { body, .. } => {
                let workspace = Workspace::new(directory.tree(body));
                Some([workspace.clone(), workspace])
            }
        };
        Self {
            kind,
            frame,
            point,
            workspaces,
        }
    }

    /// The reading, in the axes of the frame; `None` before the first step.
    pub(super) fn read(&mut self, directory: &Directory, snapshot: &Snapshot<'_>) -> Option<Value> {
        let gravity = snapshot.world.gravity();
        let reading = match (self.frame, &mut self.workspaces) {
            (FrameRef::Link { body, link, X_LF }, Some(workspaces)) => {
                let (report, from) = snapshot.step?;
                let tree = directory.tree(body);
                for (workspace, state) in workspaces.iter_mut().zip([from, snapshot.state]) {
                    let state = &state.bodies[body.0];
                    workspace.update(tree, &state.q, &state.v);
                }
                let mount = Mount { body, link, X_LF };
                let dt = snapshot.state.time_s - from.time_s;
                match self.kind {
                    SensorKind::Accelerometer => {
                        specific_force(tree, &mount, &self.point, workspaces, dt, gravity)
                    }
                    SensorKind::Gyroscope => {
                        let [_, now] = workspaces;
                        let (R_WF, twist) = motion(tree, &mount, &self.point, now);
                        R_WF.inverse() * twist.angular
                    }
                    SensorKind::ReactionForce | SensorKind::ReactionTorque => {
                        let scene = (directory, snapshot.world, report);
                        let on_link =
                            reaction(scene, tree, &mount, workspaces, (from, snapshot.state))?;
                        let [start, _] = workspaces;
                        let X_WF = start.positions.link_pose(tree, link) * X_LF;
                        let origin = start.positions.link_position(tree, link);
                        let p_WQ = X_WF * self.point;
                        let about_point = on_link.shifted_back(&(origin - p_WQ.coords));
                        let wanted = match self.kind {
                            SensorKind::ReactionForce => about_point.force,
                            _ => about_point.torque,
                        };
                        X_WF.rotation.inverse() * wanted
                    }
                }
            }
            (FrameRef::World(X_WF), _) => match self.kind {
                SensorKind::Accelerometer => X_WF.rotation.inverse() * -gravity,
                _ => Vector3::zeros(),
            },
            (FrameRef::Link { .. }, None) => return None,
        };
        Some(Value::Vector(reading))
    }
}

/// Orientation of the frame, and the twist of its point in world axes.
fn motion(
    tree: &Model,
    mount: &Mount,
    point: &Point3<f64>,
    workspace: &Workspace,
) -> (UnitQuaternion<f64>, pliant_multibody::Twist) {
    let X_WF = workspace.positions.link_pose(tree, mount.link) * mount.X_LF;
    let p_WQ = (X_WF * point).coords;
    let twist = (workspace.velocities).twist_at(tree, &workspace.positions, mount.link, &p_WQ);
    (X_WF.rotation, twist)
}

fn specific_force(
    tree: &Model,
    mount: &Mount,
    point: &Point3<f64>,
    [start, end]: &[Workspace; 2],
    time_step_s: f64,
    gravity: &Vector3<f64>,
) -> Vector3<f64> {
    let (R_start, before) = motion(tree, mount, point, start);
    let (R_end, after) = motion(tree, mount, point, end);
    let acceleration = (after.linear - before.linear) / time_step_s;
    // The rotation vector has the shorter way, and no division where there is no rotation.
    let turned = (R_start.inverse() * R_end).scaled_axis();
    let half_way = R_start * UnitQuaternion::from_scaled_axis(0.5 * turned);
    half_way.inverse() * (acceleration - gravity)
}

/// The wrench of the parent on the link, about the link's origin, world axes; `None` without a joint.
fn reaction(
    (directory, world, report): (&Directory, &World, &StepReport),
    tree: &Model,
    mount: &Mount,
    [start, _]: &[Workspace; 2],
    (from, to): (&State, &State),
) -> Option<Wrench> {
    let joint = tree.link(mount.link).parent_joint?;
    let dt = to.time_s - from.time_s;
    let (v0, v1) = (&from.bodies[mount.body.0].v, &to.bodies[mount.body.0].v);
    let vdot: Vec<f64> = v0.iter().zip(v1).map(|(v0, v1)| (v1 - v0) / dt).collect();
    let root = -tree.gravity_from(world.gravity());
    let mut accelerations = AccelerationKinematics::new(tree);
    accelerations.update(tree, &start.positions, &start.velocities, &vdot, &root);
    let mut external = External::new(tree, start);
    for contact in &report.contacts {
        for (side, at, force) in [
            (contact.a, contact.p_WCa, contact.force_W),
            (contact.b, contact.p_WCb, -contact.force_W),
        ] {
            if let Some(link) = directory.link_of(side, mount.body) {
                external.add(link, &at.coords, &force, &Vector3::zeros());
            }
        }
    }
    for held in &report.constraints {
        let constraint = &world.constraints()[held.constraint.0];
        for (anchor, sign) in [(&constraint.a, 1.0), (&constraint.b, -1.0)] {
            if let Anchor::Frame { body, frame, .. } = anchor
                && *body == mount.body
            {
                let (force, torque) = (held.on_a.force * sign, held.on_a.torque * sign);
                external.add(LinkIdx(*frame as usize), &held.p_WO.coords, &force, &torque);
            }
        }
    }
    for load in &from.controls[mount.body.0].loads {
        if let Primitive::Frame(frame) = load.point.primitive {
            let link = LinkIdx(frame as usize);
            let X_WL = start.positions.link_pose(tree, link);
            let at = X_WL * Point3::from(load.point.offset);
            external.add(link, &at.coords, &load.force_W, &load.torque_W);
        }
    }
    let reactions = joint_reactions(
        tree,
        &start.positions,
        &start.velocities,
        &accelerations,
        &external.wrenches,
    );
    reactions.get(joint.0).copied()
}

/// The wrench on each link about its origin, world axes.
struct External {
    origins: Vec<Vector3<f64>>,
    wrenches: Vec<Wrench>,
}

impl External {
    fn new(tree: &Model, start: &Workspace) -> Self {
        let links = (0..tree.links().len()).map(LinkIdx);
        Self {
            origins: links
                .map(|link| start.positions.link_position(tree, link))
                .collect(),
            wrenches: vec![Wrench::zero(); tree.links().len()],
        }
    }

    fn add(
        &mut self,
        link: LinkIdx,
        at: &Vector3<f64>,
        force: &Vector3<f64>,
        torque: &Vector3<f64>,
    ) {
        let about_point = Wrench {
            force: *force,
            torque: *torque,
        };
        self.wrenches[link.0] += about_point.shifted_back(&(at - self.origins[link.0]));
    }
}
