//! Drives over time: targets, prescribed motions and loads of each step.
//!
//! Actuators are implicit, so a step is given the targets at its end.

mod reach;
mod shares;

use std::sync::Arc;

use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use pliant_contact_sap::{BodyState, Load, MaterialPoint};
use pliant_coupling::{BodyIdx, ConstraintIdx, ConstraintState, State};
use pliant_multibody::joint::write_floating_position;
use pliant_multibody::{
    DofIdx, HeldDofs, IkSettings, IkStop, InverseKinematics, LinkIdx, Model, PositionKinematics,
};

use super::assembly::{Assembly, Directory, FrameRef, Hold, JointRef};
use super::drive_conflicts::DriveConflicts;
use crate::scene::{
    Follow, FrameTarget, JointDrive, LoadAxes, LoadEntry, PoseTrack, Scene, SceneError, SceneFault,
    Track,
};

/// Joints and their prescribed positions.
struct Motion {
    joints: Vec<JointRef>,
    track: Track,
}

/// Controls of joints and tendons over time.
struct Controls {
    controls: Vec<(BodyIdx, usize)>,
    track: Track,
}

/// A frame that follows target poses through the targets of its actuators.
struct Follower {
    body: BodyIdx,
    tree: Arc<Model>,
    solver: InverseKinematics,
    track: PoseTrack,
    /// Degrees of freedom that are controlled.
    driven: Vec<usize>,
}

struct MovedBody {
    body: BodyIdx,
    tree: Arc<Model>,
    track: PoseTrack,
}

struct Pull {
    body: BodyIdx,
    /// The points with their shares of the force.
    points: Vec<(MaterialPoint, f64)>,
    /// The axes of force and torque; `None`: those of the world.
    axes: Option<MovingAxes>,
    track: Track,
}

/// The axes of a frame that is fixed on a link.
struct MovingAxes {
    tree: Arc<Model>,
    link: LinkIdx,
    X_LF: Isometry3<f64>,
    positions: PositionKinematics,
    q: Vec<f64>,
}

impl MovingAxes {
    /// R_WF after half a step at the present velocities.
    fn in_mid_step(&mut self, body: &BodyState, time_step_s: f64) -> UnitQuaternion<f64> {
        self.q.resize(body.q.len(), 0.0);
        self.tree
            .integrate(&body.q, &body.v, 0.5 * time_step_s, &mut self.q);
        self.positions.update(&self.tree, &self.q);
        let X_WL = self.positions.link_pose(&self.tree, self.link);
        X_WL.rotation * self.X_LF.rotation
    }
}

/// All drives of a scene.
pub(super) struct Actuation {
    targets: Vec<Controls>,
    efforts: Vec<Controls>,
    motions: Vec<Motion>,
    followers: Vec<Follower>,
    moved: Vec<MovedBody>,
    pulls: Vec<Pull>,
    releases: Vec<(ConstraintIdx, f64)>,
    holds: Vec<Hold>,
    values: Vec<f64>,
    rates: Vec<f64>,
}

impl Actuation {
    /// Looks up every name, and sets prescribed joints and bodies to their first values.
    pub(super) fn new(scene: &Scene, assembly: &mut Assembly) -> Result<Self, SceneError> {
        let directory = &assembly.directory;
        let drives = &scene.drives;
        let mut conflicts = DriveConflicts::new(scene, directory)?;
        let controls = |list: &[JointDrive]| -> Result<Vec<Controls>, SceneError> {
            let one = |drive: &JointDrive| {
                let find = |reference| {
                    if let Some(tendon) = directory.tendon(scene, &drive.model, reference)? {
                        return Ok((tendon.body, tendon.control));
                    }
                    let joint = directory.joint(scene, &drive.model, reference)?;
                    Ok((joint.body, joint.dof.0))
                };
                Ok(Controls {
                    controls: drive.joints.iter().map(find).collect::<Result<_, _>>()?,
                    track: drive.track.clone(),
                })
            };
            list.iter().map(one).collect()
        };
        let motion = |drive: &JointDrive| -> Result<Motion, SceneError> {
            let find = |reference| directory.joint(scene, &drive.model, reference);
            Ok(Motion {
                joints: drive.joints.iter().map(find).collect::<Result<_, _>>()?,
                track: drive.track.clone(),
            })
        };
        let mut actuation = Self {
            targets: controls(&drives.joint_targets)?,
            efforts: controls(&drives.joint_efforts)?,
            motions: drives
                .joint_motions
                .iter()
                .map(motion)
                .collect::<Result<_, _>>()?,
            followers: drives
                .frame_targets
                .iter()
                .map(|target| follower(scene, directory, target, &mut conflicts))
                .collect::<Result<_, _>>()?,
            moved: Vec::new(),
            pulls: drives
                .loads
                .iter()
                .map(|load| pull(scene, assembly, load))
                .collect::<Result<_, _>>()?,
            releases: Vec::new(),
            holds: std::mem::take(&mut assembly.holds),
            values: Vec::new(),
            rates: Vec::new(),
        };
        for motion in &drives.body_motions {
            let body = directory.bodies(scene, &motion.body)?[0];
            actuation.moved.push(MovedBody {
                body,
                tree: Arc::clone(directory.tree(body)),
                track: motion.track.clone(),
            });
        }
        for constraint in &scene.constraints {
            if let Some(at_s) = constraint.release_at_s {
                let constraints = directory.constraints(scene, &constraint.name)?.iter();
                actuation
                    .releases
                    .extend(constraints.map(|index| (*index, at_s)));
            }
        }
        for entry in &scene.models {
            for reference in &entry.held {
                let joint = directory.joint(scene, &entry.name, reference)?;
                let v = &mut assembly.state.bodies[joint.body.0].v[joint.dof.0];
                *v = 0.0;
                assembly.state.controls[joint.body.0].held[joint.dof.0] = Some(0.0);
            }
        }
        assembly.notes.append(&mut conflicts.notes);
        actuation.place(&mut assembly.state);
        for (follower, target) in actuation.followers.iter_mut().zip(&drives.frame_targets) {
            follower.place(scene, target, &mut assembly.state)?;
            let q = &assembly.state.bodies[follower.body.0].q;
            assembly
                .notes
                .extend(reach::note(scene, follower, target, q));
        }
        Ok(actuation)
    }

    /// Prescribed values start at their first knot.
    fn place(&mut self, state: &mut State) {
        for motion in &self.motions {
            self.values.resize(motion.track.width(), 0.0);
            motion.track.value(state.time_s, &mut self.values);
            for (joint, value) in motion.joints.iter().zip(&self.values) {
                state.bodies[joint.body.0].q[joint.q] = *value;
            }
        }
        for moved in &self.moved {
            write_floating_position(
                &moved.track.pose(state.time_s),
                &mut state.bodies[moved.body.0].q,
            );
        }
    }

    /// Sets the controls of `state` for a step of `time_step_s`.
    pub(super) fn apply(&mut self, state: &mut State, time_step_s: f64) {
        let end_s = state.time_s + time_step_s;
        for drive in &self.targets {
            self.values.resize(drive.track.width(), 0.0);
            self.rates.resize(drive.track.width(), 0.0);
            drive.track.value(end_s, &mut self.values);
            drive.track.rate(end_s, &mut self.rates);
            for ((body, entry), (value, rate)) in drive
                .controls
                .iter()
                .zip(self.values.iter().zip(&self.rates))
            {
                let control = &mut state.controls[body.0];
                control.position[*entry] = *value;
                control.velocity[*entry] = *rate;
            }
        }
        for drive in &self.efforts {
            self.values.resize(drive.track.width(), 0.0);
            drive.track.value(end_s, &mut self.values);
            for ((body, entry), value) in drive.controls.iter().zip(&self.values) {
                state.controls[body.0].effort[*entry] = *value;
            }
        }
        for motion in &self.motions {
            self.values.resize(motion.track.width(), 0.0);
            motion.track.value(end_s, &mut self.values);
            for (joint, value) in motion.joints.iter().zip(&self.values) {
                let q = state.bodies[joint.body.0].q[joint.q];
                state.controls[joint.body.0].held[joint.dof.0] = Some((value - q) / time_step_s);
            }
        }
        for follower in &mut self.followers {
            follower.apply(state, time_step_s);
        }
        for moved in &self.moved {
            moved.apply(state, time_step_s);
        }
        self.apply_loads(state, time_step_s);
        for hold in &self.holds {
            let set = &mut state.controls[hold.body.0].held[3 * hold.set..3 * hold.set + 3];
            // Half a step of tolerance: times are sums of steps.
            let midpoint_s = state.time_s + 0.5 * time_step_s;
            if midpoint_s < hold.from_s || midpoint_s >= hold.until_s {
                set.fill(None);
                continue;
            }
            let (mut from, mut to) = ([0.0; 3], [0.0; 3]);
            if let Some(path) = &hold.path {
                path.value(state.time_s, &mut from);
                path.value(end_s, &mut to);
            }
            for (v, (from, to)) in set.iter_mut().zip(from.iter().zip(to)) {
                *v = Some((to - from) / time_step_s);
            }
        }
        for (constraint, at_s) in &self.releases {
            // Half a step of tolerance: times are sums of steps.
            if state.time_s >= at_s - 0.5 * time_step_s {
                state.constraints[constraint.0] = ConstraintState::Released;
            }
        }
    }

    /// Replaces the loads of the scene by those at the end of the step.
    fn apply_loads(&mut self, state: &mut State, time_step_s: f64) {
        let end_s = state.time_s + time_step_s;
        for pull in &self.pulls {
            state.controls[pull.body.0].loads.clear();
        }
        for pull in &mut self.pulls {
            let body = &state.bodies[pull.body.0];
            let R_W = match &mut pull.axes {
                None => UnitQuaternion::identity(),
                Some(axes) => axes.in_mid_step(body, time_step_s),
            };
            let mut wrench = [0.0; 6];
            pull.track.value(end_s, &mut wrench);
            let loads = pull.points.iter().map(|(point, share)| Load {
                point: *point,
                force_W: R_W * Vector3::new(wrench[0], wrench[1], wrench[2]) * *share,
                torque_W: R_W * Vector3::new(wrench[3], wrench[4], wrench[5]) * *share,
            });
            state.controls[pull.body.0].loads.extend(loads);
        }
    }
}

impl Follower {
    /// If the first knot is at the start, the initial joint positions are solved for, from those of the model.
    fn place(
        &mut self,
        scene: &Scene,
        target: &FrameTarget,
        state: &mut State,
    ) -> Result<(), SceneError> {
        if self.track.span_s().0 > state.time_s {
            return Ok(());
        }
        let body = &mut state.bodies[self.body.0];
        let report = self
            .solver
            .reach(&self.tree, &mut body.q, &self.track.pose(state.time_s));
        if report.stop != IkStop::Reached {
            let text = format!(
                "{:?} does not reach its first pose from the given joint positions: it stays {:.2e} m and {:.2e} rad away. Move the pose, or begin nearer to it by `positions` of the model",
                target.frame.name, report.position_error, report.rotation_error
            );
            return Err(scene.text.error(target.frame.at, SceneFault::File(text)));
        }
        let control = &mut state.controls[self.body.0];
        for &k in &self.driven {
            if let Some(entry) = self.tree.position_of_dof(DofIdx(k)) {
                control.position[k] = body.q[entry];
            }
        }
        Ok(())
    }

    /// Sets the targets of the driven joints so that the frame moves to its target within the step. Before the first knot nothing
    /// is set.
    fn apply(&mut self, state: &mut State, time_step_s: f64) {
        let end_s = state.time_s + time_step_s;
        if end_s < self.track.span_s().0 {
            return;
        }
        let (body, control) = (&state.bodies[self.body.0], &mut state.controls[self.body.0]);
        // From the positions that were requested last, and those of what is not controlled.
        let mut q = body.q.clone();
        for &k in &self.driven {
            if let Some(entry) = self.tree.position_of_dof(DofIdx(k)) {
                q[entry] = control.position[k];
            }
        }
        let mut v = vec![0.0; self.tree.n_v()];
        let target = self.track.pose(end_s);
        let _ = self
            .solver
            .velocity_towards(&self.tree, &q, &target, time_step_s, &mut v);
        let mut next = q.clone();
        self.tree.integrate(&q, &v, time_step_s, &mut next);
        for &k in &self.driven {
            if let Some(entry) = self.tree.position_of_dof(DofIdx(k)) {
                control.position[k] = next[entry];
                control.velocity[k] = v[k];
            }
        }
    }
}

impl MovedBody {
    /// Prescribes the velocity that takes the body exactly to its pose at the end of the step.
    fn apply(&self, state: &mut State, time_step_s: f64) {
        let mut to = vec![0.0; self.tree.n_q()];
        write_floating_position(&self.track.pose(state.time_s + time_step_s), &mut to);
        let mut way = vec![0.0; self.tree.n_v()];
        self.tree
            .difference(&state.bodies[self.body.0].q, &to, &mut way);
        let held = &mut state.controls[self.body.0].held;
        for (held, way) in held.iter_mut().zip(way) {
            *held = Some(way / time_step_s);
        }
    }
}

/// Finds the frame and the actuated joints between it and the root, and reports joints that something else drives already.
fn follower(
    scene: &Scene,
    directory: &Directory,
    target: &FrameTarget,
    conflicts: &mut DriveConflicts<'_>,
) -> Result<Follower, SceneError> {
    let fault = |text: String| scene.text.error(target.frame.at, SceneFault::File(text));
    let FrameRef::Link { body, link, X_LF } = directory.frame(scene, &target.frame)? else {
        return Err(fault(format!(
            "{:?} is not part of a robot",
            target.frame.name
        )));
    };
    let tree = Arc::clone(directory.tree(body));
    let frame = pliant_multibody::NamedFrame {
        name: target.frame.name.clone(),
        link,
        X_LF,
    };
    let follows = |dof: &DofIdx| {
        directory.is_actuated(body, tree.joint_of_dof(*dof)) && !conflicts.is_prescribed(body, *dof)
    };
    let moves = tree.support(tree.link(link).body);
    let mut driven: Vec<usize> = moves.filter(follows).map(|dof| dof.0).collect();
    driven.sort_unstable();
    if driven.is_empty() {
        return Err(fault(format!(
            "no actuated joint moves {:?}; give the model `actuators`",
            target.frame.name
        )));
    }
    let from_s = target.track.span_s().0;
    conflicts.follow(directory, body, &driven, &target.frame, from_s)?;
    let others = (0..tree.n_v()).filter(|k| !driven.contains(k)).map(DofIdx);
    let held = HeldDofs::of(&tree, others);
    let settings = IkSettings {
        rotation_weight: match target.follow {
            Follow::Pose => IkSettings::default().rotation_weight,
            Follow::Position => 0.0,
        },
        ..IkSettings::default()
    };
    Ok(Follower {
        body,
        solver: InverseKinematics::new(&tree, frame, held, settings),
        tree,
        track: target.track.clone(),
        driven,
    })
}

/// The points and the force over time of a load. A load on what cannot move is an error.
fn pull(scene: &Scene, assembly: &Assembly, load: &LoadEntry) -> Result<Pull, SceneError> {
    if assembly.directory.is_soft(&load.on) {
        return pull_on_soft(scene, assembly, load);
    }
    match assembly.directory.frame(scene, &load.on)? {
        FrameRef::Link { body, link, X_LF } => Ok(Pull {
            body,
            points: vec![(
                MaterialPoint::on_frame(link.0 as u32, (X_LF * load.point).coords),
                1.0,
            )],
            axes: (load.axes == LoadAxes::Body).then(|| {
                let tree = Arc::clone(assembly.directory.tree(body));
                MovingAxes {
                    positions: PositionKinematics::new(&tree),
                    q: Vec::new(),
                    tree,
                    link,
                    X_LF,
                }
            }),
            track: load.track.clone(),
        }),
        FrameRef::World(_) => Err(scene.text.error(
            load.on.at,
            SceneFault::File(format!(
                "{:?} does not move; a load on it does nothing",
                load.on.name
            )),
        )),
    }
}

/// A load on a region of a soft body, or on all its points: a force without torque, on points that stay.
fn pull_on_soft(scene: &Scene, assembly: &Assembly, load: &LoadEntry) -> Result<Pull, SceneError> {
    let complain = |text: &str| {
        let fault = SceneFault::File(format!("{:?}: {text}", load.on.name));
        scene.text.error(load.on.at, fault)
    };
    if load.axes == LoadAxes::Body {
        return Err(complain(
            "a soft body has no axes; drop `axes`, or give the force on a rigid body that it is attached to",
        ));
    }
    let directory = &assembly.directory;
    let parts = directory.soft_parts(scene, &load.on)?;
    let [part] = parts.as_slice() else {
        return Err(complain("a load acts on one body; name one of the copies"));
    };
    if load.point != nalgebra::Point3::origin() {
        return Err(complain(
            "a load on a soft body acts on all points of a region, not at `point`; name a region",
        ));
    }
    // Force first, then torque.
    if (3..6).any(|column| load.track.knots_of(column).any(|x| x != 0.0)) {
        return Err(complain(
            "points take no torque; give a pair of forces on two regions",
        ));
    }
    let soft = &directory.soft[part.soft];
    if !soft.points_stay {
        return Err(complain(
            "a load acts on points that stay; this scene has sources or sinks",
        ));
    }
    let start = &assembly.state.bodies[soft.body.0];
    let shares = shares::shares(soft, start, part.points.as_deref());
    let on_vertex = |point: u32| MaterialPoint::on_vertex(soft.first_vertex + point);
    Ok(Pull {
        body: soft.body,
        points: (shares.into_iter())
            .map(|(point, share)| (on_vertex(point), share))
            .collect(),
        axes: None,
        track: load.track.clone(),
    })
}
