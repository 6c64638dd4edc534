//! Actuators on the joints and tendons of a robot, with the gains of the scene or of the file.

use pliant_contact_sap::PdGains;
use pliant_multibody::{DriveGains, JointIdx, Model, TendonIdx};

use super::super::Draft;
use super::super::directory::joint_in;
use crate::scene::{
    ActuatorEntry, ModelEntry, NamedReference, SceneError, SceneFault, SourceLocation,
};

/// What an actuator acts on.
#[derive(Clone, Copy)]
pub(super) enum Target {
    Joint(JointIdx),
    Tendon(TendonIdx),
}

/// An actuator of a robot.
pub(super) struct Actuator {
    pub(super) target: Target,
    pub(super) gains: PdGains,
    pub(super) at: SourceLocation,
}

impl Target {
    fn name(self, tree: &Model) -> String {
        match self {
            Self::Joint(joint) => format!("joint {:?}", tree.joint(joint).name),
            Self::Tendon(TendonIdx(tendon)) => format!("tendon {:?}", tree.tendons()[tendon].name),
        }
    }

    pub(super) fn is_joint(self, joint: JointIdx) -> bool {
        matches!(self, Self::Joint(own) if own == joint)
    }

    /// Gains of the file.
    fn gains(self, tree: &Model) -> Option<DriveGains> {
        match self {
            Self::Joint(joint) => tree.joint(joint).drive.gains,
            Self::Tendon(TendonIdx(tendon)) => tree.tendons()[tendon].drive.gains,
        }
    }

    /// Effort limit of the file.
    fn effort_limit(self, tree: &Model) -> f64 {
        match self {
            Self::Joint(joint) => tree.joint(joint).limits.effort,
            Self::Tendon(TendonIdx(tendon)) => tree.tendons()[tendon].drive.effort_limit,
        }
    }
}

impl Draft<'_> {
    /// Joints and tendons with actuators; `*` stands for every movable joint without an entry that is not locked and no mimic joint.
    pub(super) fn actuators(
        &self,
        entry: &ModelEntry,
        tree: &Model,
    ) -> Result<Vec<Actuator>, SceneError> {
        let named = |index: JointIdx| {
            let name = &tree.joint(index).name;
            let held = entry.held.iter().any(|m| m.name == *name);
            let follows = tree.couplers().iter().any(|c| c.joint == index);
            held || follows || entry.actuators.iter().any(|(m, _)| m.name == *name)
        };
        let mut actuators = Vec::new();
        for (reference, actuator) in &entry.actuators {
            let targets: Vec<Target> = if reference.name == "*" {
                let movable = |index: &JointIdx| tree.joint(*index).kind.n_v() == 1;
                let all = (0..tree.joints().len()).map(JointIdx).filter(movable);
                all.filter(|index| !named(*index))
                    .map(Target::Joint)
                    .collect()
            } else if let Some(tendon) = tree.tendon_named(&reference.name) {
                vec![Target::Tendon(tendon)]
            } else {
                vec![Target::Joint(joint_in(self.scene, tree, reference)?.joint)]
            };
            for target in targets {
                actuators.push(self.actuator((reference, actuator), target, tree)?);
            }
        }
        Ok(actuators)
    }

    fn actuator(
        &self,
        (reference, actuator): (&NamedReference, &ActuatorEntry),
        target: Target,
        tree: &Model,
    ) -> Result<Actuator, SceneError> {
        let written = target.gains(tree);
        let gain = |given: Option<f64>, key: &str, of_file: fn(&DriveGains) -> f64| {
            given.or(written.as_ref().map(of_file)).ok_or_else(|| {
                let fault = SceneFault::Clash {
                    what: target.name(tree),
                    reason: format!("has no gains in its file; give `{key}`"),
                };
                self.scene.text.error(reference.at, fault)
            })
        };
        let gains = PdGains {
            proportional: gain(actuator.proportional, "proportional", |g| g.proportional)?,
            derivative: gain(actuator.derivative, "derivative", |g| g.derivative)?,
            effort_limit: actuator.effort_limit.unwrap_or(target.effort_limit(tree)),
        };
        Ok(Actuator {
            target,
            gains,
            at: reference.at,
        })
    }

    /// A drive never exceeds the limit of its file.
    pub(super) fn note_cut_efforts(
        &mut self,
        entry: &ModelEntry,
        tree: &Model,
        actuators: &[Actuator],
    ) {
        for actuator in actuators {
            let (asked, most) = (
                actuator.gains.effort_limit,
                actuator.target.effort_limit(tree),
            );
            if asked.is_finite() && asked > most {
                self.notes.push(format!(
                    "robot {:?}: {}: effort_limit = {asked} is more than the {most} of its file, which holds",
                    entry.name.name, actuator.target.name(tree)
                ));
            }
        }
    }
}
