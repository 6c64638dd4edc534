//! A model without contact, and its steps.

pub(crate) mod substepped;

use nalgebra::Vector3;
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, ConstraintSet, ContactProblem, ConvexContactSolver,
    DeformableModel, Integration, Newton, Solution, StepInput, TimeStep,
};
use pliant_mpm::MaterialPoints;

pub(crate) const G: f64 = 9.81;

/// A simulation of a single model.
pub(crate) struct Run {
    pub(crate) model: MaterialPoints,
    pub(crate) state: BodyState,
    step: Box<dyn BodyStep>,
    solver: Newton,
}

impl Run {
    pub(crate) fn new(model: MaterialPoints) -> Self {
        Self {
            state: model.default_state(),
            step: model.new_step(),
            model,
            solver: Newton::default(),
        }
    }

    /// Begins a step under gravity downwards.
    pub(crate) fn begin(
        &mut self,
        length_s: f64,
        integration: Integration,
        gravity: f64,
    ) -> Result<(), BodyError> {
        let control = self.model.default_control();
        let input = StepInput {
            time_step: TimeStep {
                length_s,
                integration,
            },
            gravity: Vector3::new(0.0, 0.0, -gravity),
            control: &control,
        };
        self.step.begin(&self.state, &input)
    }

    /// One step under gravity downwards.
    pub(crate) fn step(&mut self, length_s: f64, integration: Integration, gravity: f64) {
        self.begin(length_s, integration, gravity).unwrap();
        self.step.linearise_start(&mut Vec::new()).unwrap();
        if let Some(lagged) = self.step.as_lagged() {
            let _ = lagged.update_in_free_motion().unwrap();
        }
        let problem = ContactProblem {
            dynamics: &[self.step.dynamics()],
            constraints: &ConstraintSet::default(),
        };
        let mut solution = Solution::default();
        let report = self
            .solver
            .solve(&problem, self.step.start_velocity(), &mut solution)
            .unwrap();
        assert!(report.is_trusted());
        let mut next = BodyState::default();
        let report = self.step.advance(&solution.velocity, &mut next).unwrap();
        assert!(report.warnings.is_empty(), "{:?}", report.warnings);
        self.state = next;
    }

    /// Height of a particle, m.
    pub(crate) fn height(&self, particle: usize) -> f64 {
        self.state.q[3 * particle + 2]
    }

    /// The particle that is highest.
    pub(crate) fn top(&self) -> usize {
        let n = self.state.q.len() / 3;
        (0..n)
            .max_by(|a, b| self.height(*a).total_cmp(&self.height(*b)))
            .unwrap()
    }
}
