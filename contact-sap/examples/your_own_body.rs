//! A body of your own, in full: a bead that knows nothing of contact, and lands on a floor.
//!
//! What a downstream crate writes is `Bead`, `BeadStep` and their two impls; `main` checks and drops it.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::conformance::check_body;
use pliant_contact_sap::{
    BasisIdx, BodyError, BodyReport, BodyState, BodyStep, ConstraintSet, ContactLaw,
    ContactParameters, ContactProblem, Control, ConvexContactSolver, DeformableModel,
    DenseDynamics, Dissipation, Dynamics, Energy, FrictionLimit, Interpolation, Lagged,
    MaterialPoint, NEAR_RIGID_CONTACT, Newton, NormalPrediction, ParticipantIdx, Primitive, Rows,
    Solution, StepInput, Surface, TimeStep,
};

struct Bead {
    mass: f64,
}

struct BeadStep {
    mass: f64,
    state: BodyState,
    time_step: TimeStep,
    gravity: Vector3<f64>,
    dynamics: DenseDynamics,
}

impl DeformableModel for Bead {
    fn default_state(&self) -> BodyState {
        BodyState {
            q: vec![0.0, 0.0, 0.1],
            v: vec![0.0; 3],
            history: vec![],
        }
    }
    fn new_step(&self) -> Box<dyn BodyStep> {
        let (state, dynamics) = (BodyState::default(), DenseDynamics::default());
        let gravity = Vector3::zeros();
        Box::new(BeadStep {
            mass: self.mass,
            state,
            time_step: TimeStep::default(),
            gravity,
            dynamics,
        })
    }
    fn surface(&self, state: &BodyState, out: &mut Surface) {
        out.clear();
        out.vertices.push(Point3::from_slice(&state.q));
    }
    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let (x, v) = (
            Vector3::from_column_slice(&state.q),
            Vector3::from_column_slice(&state.v),
        );
        Energy {
            kinetic: 0.5 * self.mass * v.norm_squared(),
            potential: -self.mass * gravity.dot(&x),
            linear_momentum_W: v * self.mass,
            angular_momentum_W: x.cross(&v) * self.mass,
        }
    }
}

impl BeadStep {
    fn moved(&self, v: &[f64]) -> [f64; 3] {
        let (step, state) = (&self.time_step, &self.state);
        let mean = |i: usize| step.mean_velocity(state.v[i], v[i]);
        std::array::from_fn(|i| state.q[i] + step.length_s * mean(i))
    }
}

impl BodyStep for BeadStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        if state.q.len() != 3 || state.v.len() != 3 {
            let found = state.q.len().min(state.v.len());
            return Err(BodyError::StateLength {
                what: "the state of a bead",
                found,
                expected: 3,
            });
        }
        if let Some(value) = state.q.iter().chain(&state.v).find(|x| !x.is_finite()) {
            let place = "the state of a bead".into();
            return Err(BodyError::NotFinite {
                place,
                value: *value,
            });
        }
        self.state.clone_from(state);
        (self.time_step, self.gravity) = (input.time_step, input.gravity);
        Ok(())
    }
    fn start_velocity(&self) -> &[f64] {
        &self.state.v
    }
    fn linearise(&mut self) -> Result<(), BodyError> {
        let (a, b) = self.dynamics.resize(3);
        for i in 0..3 {
            a[4 * i] = self.mass;
            b[i] = self.mass * (self.state.v[i] + self.time_step.length_s * self.gravity[i]);
        }
        Ok(())
    }
    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }
    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        let Primitive::Vertex(0) = p.primitive else {
            let (point, places) = (p.primitive, "one vertex".into());
            return Err(BodyError::NoSuchPoint { point, places });
        };
        out.set_weights([1.0]);
        Ok(BasisIdx(0))
    }
    fn basis(&self, _: BasisIdx, _: &Point3<f64>, out: &mut Rows) {
        out.reset(3);
        out.identity(0, 0, 3);
    }
    fn advance(&self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        *next = BodyState {
            q: self.moved(v).to_vec(),
            v: v.to_vec(),
            history: vec![],
        };
        Ok(BodyReport::default())
    }
    fn point(&self, v: &[f64], p: &MaterialPoint) -> Result<Point3<f64>, BodyError> {
        self.interpolation(p, &mut Interpolation::Twist)?;
        Ok(Point3::from(self.moved(v)) + p.offset)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (bead, control, dt) = (Bead { mass: 0.02 }, Control::default(), 0.005);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let input = StepInput {
        time_step: dt.into(),
        gravity,
        control: &control,
    };
    let mut state = bead.default_state();
    state.v = vec![0.5, 0.0, 0.0];
    check_body(&bead, &state, &input)?;

    // Half a second above a floor at z = 0.
    let (mut solver, mut solution) = (Newton::default(), Solution::default());
    let (mut constraints, mut rows, mut interpolation) = (
        ConstraintSet::default(),
        Rows::default(),
        Interpolation::Twist,
    );
    let (mut step, mut next) = (bead.new_step(), BodyState::default());
    let mut pushed = 0.0; // what contact did to v_z in the last step
    for _ in 0..100 {
        step.begin(&state, &input)?;
        step.linearise()?;
        let free = state.v[2] + dt * gravity.z;
        let contact = ContactParameters {
            time_step: dt.into(),
            signed_distance: state.q[2],
            start_velocity: state.v[2],
            stiffness: 1e4,
            dissipation: Dissipation::HuntCrossley(10.0),
            friction: 0.5,
            stiction_speed: 1e-4,
            inverse_inertia: 1.0 / bead.mass,
            near_rigid: NEAR_RIGID_CONTACT,
        };
        let predicted = NormalPrediction {
            free,
            constrained: Some(pushed),
            row_sum: contact.inverse_inertia,
        };
        let n0 = contact.friction_limit(FrictionLimit::LocalImplicit, &predicted);
        let law = ContactLaw::Lagged(Lagged::new(&contact, Vector3::z(), n0));

        constraints.clear();
        let basis_idx = step.interpolation(&MaterialPoint::on_vertex(0), &mut interpolation)?;
        step.basis(basis_idx, &Point3::origin(), &mut rows);
        let mut basis = constraints.basis(rows.n_rows());
        basis.rows(ParticipantIdx(0), &rows, 0, 1.0);
        let Interpolation::Weights(weights) = &interpolation else {
            unreachable!("a bead's interpolation is a weight")
        };
        basis.stencil_contact(weights.iter().copied(), None, Vector3::zeros(), law);
        let problem = ContactProblem {
            dynamics: &[step.dynamics()],
            constraints: &constraints,
        };
        let report = solver.solve(&problem, &state.v, &mut solution)?;
        assert!(report.is_trusted());

        pushed = solution.velocity[2] - free;
        let _ = step.advance(&solution.velocity, &mut next)?;
        std::mem::swap(&mut state, &mut next);
    }
    // It fell 10 cm and came to rest, sunk in by its weight.
    let resting = bead.mass * gravity.z / 1e4;
    assert!((state.q[2] - resting).abs() < 1e-6, "z = {}", state.q[2]);
    assert!(
        state.v[0].abs() < 1e-3,
        "friction stopped it: {}",
        state.v[0]
    );
    Ok(())
}

#[test]
fn the_bead_keeps_its_promises_and_comes_to_rest() {
    main().unwrap();
}
