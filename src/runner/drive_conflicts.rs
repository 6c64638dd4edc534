//! Rejects scenes that drive a joint or a body in two incompatible ways, or drive one that cannot move.

use std::collections::BTreeMap;

use pliant_coupling::BodyIdx;
use pliant_multibody::{DofIdx, Joint, JointKind};

use super::assembly::{Directory, FrameRef, JointRef, TendonRef};
use crate::scene::{
    JointDrive, LoadEntry, NamedReference, Scene, SceneError, SceneFault, SourceLocation,
};

/// How a joint or body is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    Held,
    Motion,
    Target,
    FrameTarget,
    Effort,
}

impl Claim {
    /// As in "joint x is locked".
    fn phrase(self) -> &'static str {
        match self {
            Claim::Held => "is `held`",
            Claim::Motion => "has a prescribed motion",
            Claim::Target => "has a joint target",
            Claim::FrameTarget => "follows a frame target",
            Claim::Effort => "has an effort",
        }
    }

    /// Whether both may drive one joint.
    fn goes_with(self, other: Claim) -> bool {
        let driven = |claim| matches!(claim, Claim::Target | Claim::FrameTarget);
        (self == Claim::Effort && driven(other)) || (other == Claim::Effort && driven(self))
    }
}

/// The claims on all joints and bodies of a scene.
pub(super) struct DriveConflicts<'s> {
    scene: &'s Scene,
    joints: BTreeMap<(usize, usize), Vec<(Claim, SourceLocation)>>,
    /// Suspicious but allowed settings.
    pub(super) notes: Vec<String>,
}

impl<'s> DriveConflicts<'s> {
    /// Collects and checks the claims of the scene on joints, but for those of frame targets.
    pub(super) fn new(scene: &'s Scene, directory: &Directory) -> Result<Self, SceneError> {
        let mut claims = Self {
            scene,
            joints: BTreeMap::new(),
            notes: Vec::new(),
        };
        for entry in &scene.models {
            for reference in &entry.held {
                let joint = directory.joint(scene, &entry.name, reference)?;
                let what = format!("joint {:?}", reference.name);
                claims.claim((joint.body, joint.dof.0), what, reference, Claim::Held)?;
            }
        }
        let drives = &scene.drives;
        let lists = [
            (&drives.joint_motions, Claim::Motion),
            (&drives.joint_targets, Claim::Target),
            (&drives.joint_efforts, Claim::Effort),
        ];
        for (list, claim) in lists {
            for drive in list {
                claims.claim_all(directory, drive, claim)?;
            }
        }
        claims.check_bodies(directory)?;
        Ok(claims)
    }

    /// A frame target takes over the joints of `dofs` at `from_s`; joint targets may control them before.
    pub(super) fn follow(
        &mut self,
        directory: &Directory,
        body: BodyIdx,
        dofs: &[usize],
        frame: &NamedReference,
        from_s: f64,
    ) -> Result<(), SceneError> {
        for &dof in dofs {
            let held = self.joints.entry((body.0, dof)).or_default();
            let clash = held.iter().find(|(claim, _)| match claim {
                Claim::Target => from_s <= 0.0,
                claim => !claim.goes_with(Claim::FrameTarget),
            });
            if let Some(&(first, place)) = clash {
                let tree = directory.tree(body);
                let joint = &tree.joint(tree.joint_of_dof(DofIdx(dof))).name;
                let what = format!("joint {joint:?}, which moves {:?},", frame.name);
                return Err(self.clash(frame, what, first, place));
            }
            held.push((Claim::FrameTarget, frame.at));
        }
        Ok(())
    }

    fn claim_all(
        &mut self,
        directory: &Directory,
        drive: &JointDrive,
        claim: Claim,
    ) -> Result<(), SceneError> {
        for (k, reference) in drive.joints.iter().enumerate() {
            if claim != Claim::Motion
                && let Some(tendon) = directory.tendon(self.scene, &drive.model, reference)?
            {
                self.claim_tendon(directory, &tendon, reference, claim)?;
                continue;
            }
            let joint = directory.joint(self.scene, &drive.model, reference)?;
            let what = format!("joint {:?}", reference.name);
            self.claim((joint.body, joint.dof.0), what, reference, claim)?;
            if claim == Claim::Target && !directory.is_actuated(joint.body, joint.joint) {
                let tree = directory.tree(joint.body);
                let mut couplers = tree.couplers().iter();
                let source = couplers
                    .find(|coupler| coupler.joint == joint.joint)
                    .and_then(|coupler| Some(&tree.joint(coupler.source?).name));
                let fault = SceneFault::Clash {
                    what: format!("joint {:?}", reference.name),
                    reason: match source {
                        Some(source) => format!(
                            "mimics joint {source:?}, which alone has a target; leave {:?} out of `joints`, and its column out of the values",
                            reference.name
                        ),
                        None => format!(
                            "has no actuator, so a target does nothing; give the model `actuators`, as in `actuators = {{ {} = {{ proportional = 100, derivative = 10 }} }}`",
                            toml_key(&reference.name)
                        ),
                    },
                };
                return Err(self.scene.text.error(reference.at, fault));
            }
            if claim != Claim::Effort {
                self.note_speed(directory, &joint, drive, k);
                self.check_limits(directory, &joint, reference, drive.track.knots_of(k), claim)?;
            }
        }
        Ok(())
    }

    /// Prescribed motions must stay within joint limits; targets outside load the limit, which may be intended.
    fn check_limits(
        &mut self,
        directory: &Directory,
        joint: &JointRef,
        reference: &NamedReference,
        mut knots: impl Iterator<Item = f64>,
        claim: Claim,
    ) -> Result<(), SceneError> {
        let limits = directory.tree(joint.body).joint(joint.joint).limits;
        // The tolerance is for limits and positions that were rounded to four digits.
        let allowed = limits.lower - 1e-4..=limits.upper + 1e-4;
        let Some(outside) = knots.find(|x| !allowed.contains(x)) else {
            return Ok(());
        };
        let what = format!("joint {:?}", reference.name);
        let reason = format!(
            "shall be at {outside}, outside its limits [{}, {}]",
            limits.lower, limits.upper
        );
        if claim == Claim::Motion {
            let hint = as_degrees(directory.tree(joint.body).joint(joint.joint), outside);
            let remedy = hint.unwrap_or_else(|| "keep its motion within them".into());
            let reason = format!("{reason}; {remedy}");
            let fault = SceneFault::Clash { what, reason };
            return Err(self.scene.text.error(reference.at, fault));
        }
        let (line, _) = self.scene.text.line_and_column(reference.at.start);
        let joint = directory.tree(joint.body).joint(joint.joint);
        let consequence = match as_degrees(joint, outside) {
            Some(hint) => format!("suspicious: {hint}"),
            None => "its actuator will press against them".into(),
        };
        self.notes.push(format!(
            "{}:{line}: {what} {reason}; {consequence}",
            self.scene.text.name()
        ));
        Ok(())
    }

    /// Targets and efforts of tendons act through an actuator.
    fn claim_tendon(
        &mut self,
        directory: &Directory,
        tendon: &TendonRef,
        reference: &NamedReference,
        claim: Claim,
    ) -> Result<(), SceneError> {
        let what = format!("tendon {:?}", reference.name);
        if !directory.is_tendon_actuated(tendon) {
            let fault = SceneFault::Clash {
                what,
                reason: format!(
                    "has no actuator, so that it exerts no force; give the model `actuators`, as in `actuators = {{ {} = {{ proportional = 100, derivative = 10 }} }}`",
                    toml_key(&reference.name)
                ),
            };
            return Err(self.scene.text.error(reference.at, fault));
        }
        self.claim((tendon.body, tendon.control), what, reference, claim)
    }

    /// A control of a body: a degree of freedom, or a tendon.
    fn claim(
        &mut self,
        (body, control): (BodyIdx, usize),
        what: String,
        reference: &NamedReference,
        claim: Claim,
    ) -> Result<(), SceneError> {
        let held = self.joints.entry((body.0, control)).or_default();
        let clash = held.iter().find(|(first, _)| !claim.goes_with(*first));
        if let Some(&(first, place)) = clash {
            return Err(self.clash(reference, what, first, place));
        }
        held.push((claim, reference.at));
        Ok(())
    }

    /// Bodies with prescribed motion have one motion, and loads on them have no effect.
    fn check_bodies(&self, directory: &Directory) -> Result<(), SceneError> {
        let mut moved: BTreeMap<usize, SourceLocation> = BTreeMap::new();
        for motion in &self.scene.drives.body_motions {
            for body in directory.bodies(self.scene, &motion.body)? {
                if let Some(place) = moved.insert(body.0, motion.body.at) {
                    let what = format!("body {:?}", motion.body.name);
                    return Err(self.clash(&motion.body, what, Claim::Motion, place));
                }
            }
        }
        // Deformable bodies have no prescribed motion.
        let on_rigid = |load: &&LoadEntry| !directory.is_soft(&load.on);
        for load in self.scene.drives.loads.iter().filter(on_rigid) {
            if let FrameRef::Link { body, .. } = directory.frame(self.scene, &load.on)?
                && let Some(&place) = moved.get(&body.0)
            {
                let what = format!("body {:?}", load.on.name);
                return Err(self.clash(&load.on, what, Claim::Motion, place));
            }
        }
        Ok(())
    }

    /// The velocity limits of robot files bind neither targets nor prescribed motions: those that exceed them are noted.
    fn note_speed(
        &mut self,
        directory: &Directory,
        joint: &JointRef,
        drive: &JointDrive,
        k: usize,
    ) {
        const SAMPLES: u32 = 256;
        let spec = directory.tree(joint.body).joint(joint.joint);
        let limit = spec.limits.velocity;
        if !limit.is_finite() {
            return;
        }
        let (from_s, to_s) = drive.track.span_s();
        let mut rates = vec![0.0; drive.track.width()];
        let mut speed_at = |sample: u32| {
            let share = (f64::from(sample) + 0.5) / f64::from(SAMPLES);
            drive
                .track
                .rate(from_s + share * (to_s - from_s), &mut rates);
            rates[k].abs()
        };
        let fastest = (0..SAMPLES).map(&mut speed_at).fold(0.0, f64::max);
        if fastest > limit * (1.0 + 1e-9) {
            let unit = match spec.kind {
                JointKind::Prismatic => "m/s",
                _ => "rad/s",
            };
            let line = self.scene.text.line_and_column(drive.joints[k].at.start).0;
            self.notes.push(format!(
                "{}:{line}: suspicious: joint {:?} is moved at up to {fastest:.3} {unit}, and the limit of {limit} {unit} in its file binds no target; move it more slowly",
                self.scene.text.name(),
                spec.name
            ));
        }
    }

    fn clash(
        &self,
        reference: &NamedReference,
        what: String,
        first: Claim,
        place: SourceLocation,
    ) -> SceneError {
        let line = self.scene.text.line_and_column(place.start).0;
        let fault = SceneFault::Clash {
            what,
            reason: format!("{} in line {line}; drop one of the two", first.phrase()),
        };
        self.scene.text.error(reference.at, fault)
    }

    /// Whether the joint of a degree of freedom is locked, mimics another or has a prescribed motion.
    pub(super) fn is_prescribed(&self, body: BodyIdx, dof: DofIdx) -> bool {
        self.joints.get(&(body.0, dof.0)).is_some_and(|claims| {
            claims
                .iter()
                .any(|(claim, _)| matches!(claim, Claim::Held | Claim::Motion))
        })
    }
}

/// How to write an angle outside of the limits of `joint`, if it lies within them as a number of degrees and is too large for radians.
pub(super) fn as_degrees(joint: &Joint, angle: f64) -> Option<String> {
    const TURN: f64 = std::f64::consts::TAU;
    let limits = joint.limits;
    let fits = (limits.lower..=limits.upper).contains(&angle.to_radians());
    (joint.kind == JointKind::Revolute && angle.abs() > TURN && fits).then(|| {
        format!(
            "positions are in rad: write \"{angle}*deg\" if {angle} degrees are meant ({:.4} rad)",
            angle.to_radians()
        )
    })
}

/// A key as it has to be written in TOML.
fn toml_key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.chars().all(bare) {
        name.into()
    } else {
        format!("{name:?}")
    }
}
