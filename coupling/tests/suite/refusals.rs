//! What a world and a step refuse, and what they say of it.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::conformance::{BlobSettings, ParticleBlob};
use pliant_contact_sap::{
    BasisIdx, BodyError, BodyReport, BodyState, BodyStep, DeformableModel, Dynamics, Energy,
    Interpolation, MaterialPoint, Rows, SolverKind, StepInput, StopCriteria, Surface,
};
use pliant_coupling::{
    Exclusion, Geometry, Mount, State, StepError, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};

fn blob() -> ParticleBlob {
    ParticleBlob::new(BlobSettings {
        n: 2,
        ..BlobSettings::default()
    })
    .expect("legal settings")
}

/// A blob whose surface shows a vertex more than it has particles, in the floor.
struct Boastful(ParticleBlob);

/// Its step, with the surface of the model alone.
struct BoastfulStep(Box<dyn BodyStep>);

impl BodyStep for BoastfulStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        self.0.begin(state, input)
    }
    fn start_velocity(&self) -> &[f64] {
        self.0.start_velocity()
    }
    fn linearise(&mut self, v: &[f64]) -> Result<(), BodyError> {
        self.0.linearise(v)
    }
    fn dynamics(&self) -> &dyn Dynamics {
        self.0.dynamics()
    }
    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        self.0.interpolation(p, out)
    }
    fn basis(&self, basis: BasisIdx, p_WO: &Point3<f64>, out: &mut Rows) {
        self.0.basis(basis, p_WO, out);
    }
    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        self.0.advance(v, next)
    }
}

impl DeformableModel for Boastful {
    fn default_state(&self) -> BodyState {
        self.0.default_state()
    }
    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(BoastfulStep(self.0.new_step()))
    }
    fn surface(&self, state: &BodyState, out: &mut Surface) {
        self.0.surface(state, out);
        out.vertices.push(Point3::new(0.0, 0.0, -0.001));
        out.radii.push(0.005);
    }
    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        self.0.energy(state, gravity)
    }
}

fn on_a_floor(model: Box<dyn DeformableModel>) -> World {
    let mut builder = WorldBuilder::default();
    let mount = Mount::World(Isometry3::identity());
    let material = ContactMaterial::default();
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    let body = builder.add_body("jelly", model);
    builder.add_geometry(Geometry::of_vertices("skin", body, material));
    builder.exclude(Exclusion::Bodies(body, body));
    builder.build().expect("a legal world")
}

fn step(world: &World, state: &State, time_step_s: f64) -> Result<State, StepError> {
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let mut next = State::default();
    let report = stepper.step(world, state, time_step_s, &mut next)?;
    assert!(report.is_trusted());
    Ok(next)
}

#[test]
fn a_point_that_a_body_shows_but_does_not_know_is_an_error_that_names_both() {
    let world = on_a_floor(Box::new(Boastful(blob())));
    let error = step(&world, &world.default_state(), 1e-3).expect_err("particle 8 of 8");
    assert!(matches!(error, StepError::Point { .. }), "{error:?}");
    let text = error.to_string();
    for part in ["\"skin\"", "\"jelly\"", "Vertex(8)", "8 vertices"] {
        assert!(text.contains(part), "{text}");
    }
    let honest = on_a_floor(Box::new(blob()));
    step(&honest, &honest.default_state(), 1e-3).expect("a blob above a floor");
}

#[test]
fn states_and_time_steps_that_do_not_fit_are_refused() {
    let world = on_a_floor(Box::new(blob()));
    let good = world.default_state();
    for length_s in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let error = step(&world, &good, length_s).expect_err("no time step");
        assert!(matches!(error, StepError::TimeStep(_)), "{error}");
    }
    type Spoil = fn(&mut State);
    let spoils: [(Spoil, &str); 3] = [
        (|s| s.bodies.clear(), "0 bodies, the world needs 1"),
        (|s| s.controls.clear(), "0 controls, the world needs 1"),
        (
            |s| s.constraints.push(Default::default()),
            "1 constraints, the world needs 0",
        ),
    ];
    for (spoil, says) in spoils {
        let mut state = good.clone();
        spoil(&mut state);
        let error = step(&world, &state, 1e-3).expect_err("a state of another world");
        assert!(error.to_string().contains(says), "{error}");
    }
    let mut state = good.clone();
    state.bodies[0].q[4] = f64::NAN;
    state.step = 7;
    let error = step(&world, &state, 1e-3).expect_err("NaN").to_string();
    assert!(error.starts_with("step 7"), "{error}");
    assert!(
        error.contains("\"jelly\"") && error.contains("entry 4"),
        "{error}"
    );
}
