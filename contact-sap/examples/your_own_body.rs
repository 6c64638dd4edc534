//! A body of your own, in full: a bead of 20 g, checked by the conformance kit and dropped for 0.1 s.
use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{conformance::check_body, *};

const MASS: f64 = 0.02; // kg

#[rustfmt::skip]
#[derive(Clone, Default)]
struct Bead { step: TimeStep, start: BodyState, dynamics: DenseDynamics }

#[rustfmt::skip]
impl DeformableModel for Bead {
    fn default_state(&self) -> BodyState { BodyState::new(vec![0.0, 0.0, 0.1], vec![0.5, 0.0, 0.0]) }
    fn new_step(&self) -> Box<dyn BodyStep> { Box::new(self.clone()) }
    fn surface(&self, state: &BodyState, out: &mut Surface) {
        out.clear();
        out.vertices.push(Point3::from_slice(&state.q));
    }
    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let [x, v] = [&state.q, &state.v].map(|x| Vector3::from_column_slice(x));
        Energy::of_point_mass(MASS, &x, &v, gravity)
    }
}
#[rustfmt::skip]
impl BodyStep for Bead {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        state.check(3, 3, 0)?;
        // m v = m (v0 + δt g) is linear: the same A and b about any velocities.
        let b = |i: usize| MASS * (state.v[i] + input.time_step.length_s * input.gravity[i]);
        let dynamics = DenseDynamics::diagonal(&[MASS; 3], (0..3).map(b).collect());
        *self = Self { step: input.time_step, start: state.clone(), dynamics };
        Ok(())
    }
    fn start_velocity(&self) -> &[f64] { &self.start.v }
    fn linearise(&mut self, _: &[f64]) -> Result<(), BodyError> { Ok(()) }
    fn dynamics(&self) -> &dyn Dynamics { &self.dynamics }
    fn interpolation(&self, p: &MaterialPoint, out: &mut Interpolation) -> Result<BasisIdx, BodyError> {
        out.set_weights([1.0]);
        let missing = BodyError::NoSuchPoint { point: p.primitive, available: "one vertex".into() };
        (p.primitive == Primitive::Vertex(0)).then_some(BasisIdx(0)).ok_or(missing)
    }
    fn basis(&self, _: BasisIdx, _: &Point3<f64>, out: &mut Rows) { out.reset(3); out.identity(0, 0, 3); }
    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let mean = |i: usize| self.step.mean_velocity(self.start.v[i], v[i]);
        let q = (0..3).map(|i| self.start.q[i] + self.step.length_s * mean(i));
        *next = BodyState::new(q.collect(), v.to_vec());
        Ok(BodyReport::default())
    }
}
#[cfg_attr(test, test)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (bead, control) = (Bead::default(), Control::default());
    let input = StepInput::new(0.1, Vector3::new(0.0, 0.0, -9.81), &control);
    check_body(&bead, &bead.default_state(), &input)?;
    let (mut step, mut next) = (bead.new_step(), BodyState::default());
    step.begin(&bead.default_state(), &input)?;
    let _ = step.advance(&[0.5, 0.0, -0.981], &mut next)?; // the end velocity is the solver's to find
    assert!((next.q[2] - 0.0019).abs() < 1e-12, "{:?}", next.q);
    Ok(())
}
