//! Penalty forces with sliding attachments: relaxation, blocks on a slope, a pyramid, collisions, rolling and wedges.
//!
//! Numbers without another source are derived in `docs/theory/ding-2020.md`.

mod derivatives;
mod entries;
mod motion;
mod pyramid;
mod relaxation;
mod shapes;
mod slope;
mod spread;

use pliant_coupling::{PenaltyForce, PenaltyForceSettings, State, StepReport, Stepper, World};

use super::test_world::Outcome;
use super::{Case, CaseKind};

pub(super) const RELAXATION: Case = Case {
    name: "penalty-relaxation",
    about: "attachments relax to the friction cone, on planes, shapes, triangles and edges, with their derivatives; no entry is missed",
    kind: CaseKind::Function(relaxation::run),
    needs: None,
};

pub(super) const SLOPE: Case = Case {
    name: "penalty-slope",
    about: "a block on penalty forces slides, stops and sticks by the discrete laws, in any unit of mass",
    kind: CaseKind::Function(slope::run),
    needs: None,
};

pub(super) const PYRAMID: Case = Case {
    name: "penalty-pyramid",
    about: "a pyramid stands on implicit friction to the last bit, and falls on lagged friction",
    kind: CaseKind::Function(pyramid::run),
    needs: None,
};

pub(super) const MOTION: Case = Case {
    name: "penalty-motion",
    about: "collisions keep momentum with any number of vectors of GMRES; spheres roll or slip, wedges jam or fall",
    kind: CaseKind::Function(motion::run),
    needs: None,
};

pub(super) const SHAPES: Case = Case {
    name: "penalty-shapes",
    about: "balls roll and spin on one point, bricks stand over an edge or tip, soft blocks with equal faces gain no energy",
    kind: CaseKind::Function(shapes::run),
    needs: None,
};

/// A world under penalty forces.
struct PenaltyRun {
    world: World,
    state: State,
    next: State,
    stepper: PenaltyForce,
    time_step_s: f64,
}

impl PenaltyRun {
    fn new(world: World, settings: PenaltyForceSettings, time_step_s: f64) -> Outcome<Self> {
        Ok(Self {
            state: world.default_state(),
            next: State::default(),
            stepper: PenaltyForce::new(settings)?,
            world,
            time_step_s,
        })
    }

    /// Takes one step, trusted or not.
    fn step(&mut self) -> Outcome<StepReport> {
        let step = (self.stepper).step(&self.world, &self.state, self.time_step_s, &mut self.next);
        let report = step?;
        std::mem::swap(&mut self.state, &mut self.next);
        Ok(report)
    }

    /// Takes one step; an untrusted one is an error.
    fn trusted_step(&mut self) -> Outcome<StepReport> {
        let report = self.step()?;
        match report.untrusted() {
            None => Ok(report),
            Some(untrusted) => Err(untrusted.describe(&self.world).into()),
        }
    }
}
