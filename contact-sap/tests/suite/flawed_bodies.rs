//! The conformance kit finds every broken promise of a body, and names it.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::conformance::{MassSpringNet, NetSettings, check_body};
use pliant_contact_sap::*;

/// What is wrong with a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    LinearisedElsewhere,
    StartLinearisation,
    Residual,
    Tangent,
    Potential,
    LaggedTerms,
    ExplicitVelocity,
    PointMasses,
    StartSurface,
    VertexVelocities,
    Positions,
    Reactions,
}

/// A net with capabilities of its own, one of which may be broken.
struct Flawed(MassSpringNet, Defect);

struct FlawedStep {
    step: Box<dyn BodyStep>,
    /// The same step without gravity, and whether A and b are those of it.
    weightless: Box<dyn BodyStep>,
    is_weightless: bool,
    net: MassSpringNet,
    start: BodyState,
    defect: Defect,
    /// Of the lagged terms: the velocity they were updated at, and that of the last residual.
    lagged: [f64; 2],
}

impl FlawedStep {
    fn balance(&self) -> &dyn MomentumBalance {
        self.step.as_balance().unwrap()
    }
}

fn net() -> MassSpringNet {
    let settings = NetSettings {
        n: 3,
        ..NetSettings::default()
    };
    MassSpringNet::new(settings).unwrap()
}

impl DeformableModel for Flawed {
    fn default_state(&self) -> BodyState {
        let mut state = self.0.default_state();
        for (i, (q, v)) in state.q.iter_mut().zip(&mut state.v).enumerate() {
            *q += 0.004 * (1.7 * i as f64).sin();
            *v += 0.5 * (2.3 * i as f64).cos();
        }
        state
    }
    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(FlawedStep {
            step: self.0.new_step(),
            weightless: self.0.new_step(),
            is_weightless: false,
            net: self.0.clone(),
            start: BodyState::default(),
            defect: self.1,
            lagged: [0.0; 2],
        })
    }
    fn surface(&self, state: &BodyState, out: &mut Surface) {
        self.0.surface(state, out);
    }
    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        self.0.energy(state, gravity)
    }
}

impl BodyStep for FlawedStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        self.start.clone_from(state);
        self.weightless.begin(
            state,
            &StepInput {
                gravity: Vector3::zeros(),
                ..*input
            },
        )?;
        self.step.begin(state, input)
    }
    fn start_velocity(&self) -> &[f64] {
        self.step.start_velocity()
    }
    fn linearise(&mut self, v: &[f64]) -> Result<(), BodyError> {
        self.is_weightless = false;
        match self.defect {
            Defect::LinearisedElsewhere => self.step.linearise(&vec![0.0; v.len()]),
            _ => self.step.linearise(v),
        }
    }
    fn dynamics(&self) -> &dyn Dynamics {
        match self.is_weightless {
            true => self.weightless.dynamics(),
            false => self.step.dynamics(),
        }
    }
    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        self.step.interpolation(p, out)
    }
    fn basis(&self, basis: BasisIdx, p_WO: &Point3<f64>, out: &mut Rows) {
        self.step.basis(basis, p_WO, out);
    }
    fn constraints(&self, out: &mut InternalConstraints<'_>) {
        self.step.constraints(out);
    }
    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let report = self.step.advance(v, next)?;
        if self.defect == Defect::Positions {
            let moved = next.q.iter_mut().zip(&self.start.q);
            moved.for_each(|(q, q0)| *q += 0.1 * (*q - q0));
        }
        Ok(report)
    }
    fn as_start_linearisation(&mut self) -> Option<&mut dyn StartLinearisation> {
        Some(self)
    }
    fn as_balance(&self) -> Option<&dyn MomentumBalance> {
        Some(self)
    }
    fn as_nonlinear(&self) -> Option<&dyn NonlinearBalance> {
        match self.defect {
            Defect::Potential => Some(self),
            _ => None,
        }
    }
    fn as_lagged(&mut self) -> Option<&mut dyn LaggedTerms> {
        Some(self)
    }
    fn as_explicit(&self) -> Option<&dyn ExplicitStep> {
        Some(self)
    }
    fn as_point_masses(&self) -> Option<&dyn PointMasses> {
        Some(self)
    }
    fn as_reactions(&self) -> Option<&dyn Reactions> {
        Some(self)
    }
    fn as_surface(&self) -> Option<&dyn SurfaceMotion> {
        Some(self)
    }
}

impl StartLinearisation for FlawedStep {
    fn linearise_start(&mut self, v: &mut Vec<f64>) -> Result<(), BodyError> {
        v.clear();
        v.extend_from_slice(self.step.start_velocity());
        self.is_weightless = self.defect == Defect::StartLinearisation;
        self.weightless.linearise(v)?;
        self.step.linearise(v)
    }
}

impl MomentumBalance for FlawedStep {
    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        self.balance().residual(v, out)?;
        if self.defect == Defect::Residual {
            out.iter_mut().for_each(|m| *m += 1e-3);
        }
        Ok(())
    }
    fn tangent(&self, v: &[f64]) -> Result<BalanceTangent<'_>, BodyError> {
        let mut exact = self.balance().tangent(v)?;
        Ok(Box::new(move |x, y| {
            exact(x, y);
            if self.defect == Defect::Tangent {
                y[0] *= 1.01;
            }
        }))
    }
}

impl NonlinearBalance for FlawedStep {
    fn potential(&self, v: &[f64]) -> Result<f64, BodyError> {
        Ok(v.iter().map(|v| v * v).sum())
    }
}

impl LaggedTerms for FlawedStep {
    fn residual(&mut self, v: &[f64]) -> f64 {
        self.lagged[1] = v[0];
        (self.lagged[1] - self.lagged[0]).abs()
    }
    fn update(&mut self) {
        if self.defect != Defect::LaggedTerms {
            self.lagged[0] = self.lagged[1];
        }
    }
    fn update_in_free_motion(&mut self) -> Result<Option<&[f64]>, BodyError> {
        Ok(None)
    }
}

impl ExplicitStep for FlawedStep {
    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        match self.defect {
            Defect::ExplicitVelocity => Ok(()),
            _ => self.step.as_explicit().unwrap().explicit_velocity(out),
        }
    }
}

impl PointMasses for FlawedStep {
    fn point_masses(&self, out: &mut Vec<PointMass>) {
        let factor = match self.defect {
            Defect::PointMasses => 1.1,
            _ => 1.0,
        };
        out.clear();
        out.extend(self.start.q.chunks_exact(3).map(|q| PointMass {
            p_WQ: Point3::from_slice(q),
            mass: factor * NetSettings::default().node_mass,
            part: 0,
        }));
    }
}

impl Reactions for FlawedStep {
    fn support_reactions(&self, _: &[f64], _: &[PointForce], out: &mut Vec<SupportReaction>) {
        if self.defect != Defect::Reactions {
            out.clear();
        }
        out.push(SupportReaction {
            vertex: 0,
            p_WV: Point3::origin(),
            force_W: Vector3::zeros(),
        });
    }
}

impl SurfaceMotion for FlawedStep {
    fn start_surface(&self, out: &mut Surface) {
        self.net.surface(&self.start, out);
        if self.defect == Defect::StartSurface {
            out.vertices[0].x += 1e-9; // a thousand times round-off
        }
    }
    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) {
        out.clear();
        out.extend(v.chunks_exact(3).map(Vector3::from_column_slice));
        if self.defect == Defect::VertexVelocities {
            out.swap(0, 1);
        }
    }
}

#[test]
fn violations_are_found_and_named() {
    let control = Control::default();
    let input = StepInput::new(0.005, Vector3::new(0.0, 0.0, -9.81), &control);
    let check = |defect| {
        let model = Flawed(net(), defect);
        check_body(&model, &model.default_state(), &input)
    };
    check(Defect::None).unwrap();
    for (defect, says) in [
        (Defect::LinearisedElsewhere, "linearised about v"),
        (Defect::StartLinearisation, "not the linearised residual"),
        (Defect::Residual, "is not the residual there"),
        (Defect::Tangent, "the tangent is not the derivative"),
        (Defect::Potential, "not the gradient of the potential"),
        (Defect::LaggedTerms, "lagged terms updated"),
        (
            Defect::ExplicitVelocity,
            "the explicit velocity is not finite",
        ),
        (Defect::PointMasses, "point masses are not the limit of A"),
        (Defect::StartSurface, "start_surface is not the surface"),
        (Defect::VertexVelocities, "vertex_velocities has"),
        (Defect::Positions, "by advance with"),
        (Defect::Reactions, "reactions do not overwrite"),
    ] {
        match check(defect) {
            Err(violation) => {
                let violation = violation.to_string();
                assert!(violation.contains(says), "{defect:?}: {violation}");
            }
            Ok(()) => panic!("{defect:?} is not found"),
        }
    }
}
