//! Steps of a single body without contact.

pub(crate) mod elements;
pub(crate) mod touching;

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_constitutive::Lame;
use pliant_contact_sap::{
    BlockFactors, BodyError, BodyState, BodyStep, ConstraintSet, ContactProblem, Control,
    ConvexContactSolver, DeformableModel, Newton, ParticipantIdx, Solution, StepInput, TimeStep,
};
use pliant_fem::{FemBody, FemBuilder, LinearCorotated, Material, Rayleigh};

pub(crate) const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

pub(crate) const UNDAMPED: Rayleigh = Rayleigh {
    mass: 0.0,
    stiffness: 0.0,
};

pub(crate) fn corotated(youngs_modulus: f64, poissons_ratio: f64) -> Arc<dyn Material> {
    let lame = Lame::from_young_poisson(youngs_modulus, poissons_ratio).unwrap();
    Arc::new(LinearCorotated::new(lame))
}

pub(crate) fn built(builder: FemBuilder) -> FemBody {
    builder.build().unwrap().0
}

/// A body without contact, and its workspace.
pub(crate) struct Alone {
    step: Box<dyn BodyStep>,
    solver: Newton,
    factors: BlockFactors,
    set: ConstraintSet,
    solution: Solution,
    pub(crate) time_step: TimeStep,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) control: Control,
    pub(crate) warnings: Vec<String>,
}

impl Alone {
    pub(crate) fn new(body: &FemBody, time_step: impl Into<TimeStep>) -> Self {
        Self {
            step: body.new_step(),
            solver: Newton::default(),
            factors: BlockFactors::default(),
            set: ConstraintSet::default(),
            solution: Solution::default(),
            time_step: time_step.into(),
            gravity: Vector3::zeros(),
            control: Control::default(),
            warnings: Vec::new(),
        }
    }

    pub(crate) fn under(mut self, gravity: Vector3<f64>) -> Self {
        self.gravity = gravity;
        self
    }

    pub(crate) fn driven(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    #[track_caller]
    pub(crate) fn step(&mut self, state: &mut BodyState) {
        self.try_step(state).unwrap();
    }

    #[track_caller]
    pub(crate) fn try_step(&mut self, state: &mut BodyState) -> Result<(), BodyError> {
        let input = StepInput {
            time_step: self.time_step,
            gravity: self.gravity,
            control: &self.control,
        };
        self.step.begin(state, &input)?;
        self.step.linearise_start(&mut Vec::new())?;
        self.factors.factor(&[self.step.dynamics()]).unwrap();
        self.set.clear();
        self.step
            .constraints(&mut self.set.internal(ParticipantIdx(0), &self.factors));
        if self.set.n_rows() == 0 {
            if let Some(lagged) = self.step.as_lagged() {
                let _ = lagged.update_in_free_motion()?;
            }
            self.solve();
        } else {
            self.solve();
            if let Some(lagged) = self.step.as_lagged()
                && lagged.residual(&self.solution.velocity) > 1.0
            {
                lagged.update();
                self.solve();
            }
        }
        let report = self.step.advance(&self.solution.velocity, state)?;
        self.warnings = report.warnings;
        Ok(())
    }

    #[track_caller]
    fn solve(&mut self) {
        let dynamics = [self.step.dynamics()];
        let problem = ContactProblem {
            dynamics: &dynamics,
            constraints: &self.set,
        };
        let start = self.step.start_velocity();
        let report = self
            .solver
            .solve(&problem, start, &mut self.solution)
            .unwrap();
        assert!(report.is_trusted(), "{report:?}");
    }

    #[track_caller]
    pub(crate) fn steps(&mut self, state: &mut BodyState, count: usize) {
        for _ in 0..count {
            self.step(state);
        }
    }

    /// Forces of the body's own constraints in the last step, N.
    pub(crate) fn row_forces(&self) -> Vec<f64> {
        let dt = self.time_step.length_s;
        self.solution
            .row_impulse
            .iter()
            .map(|gamma| gamma / dt)
            .collect()
    }
}

/// Position of a vertex.
pub(crate) fn place(state: &BodyState, vertex: usize) -> Vector3<f64> {
    Vector3::from_column_slice(&state.q[3 * vertex..3 * vertex + 3])
}

pub(crate) fn largest_speed(state: &BodyState) -> f64 {
    let speeds = state
        .v
        .chunks_exact(3)
        .map(|v| Vector3::from_column_slice(v).norm());
    speeds.fold(0.0, f64::max)
}
