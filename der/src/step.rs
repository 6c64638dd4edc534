//! One step of a rod: the free motion, and what contact and constraints need of it.

mod loads;
mod material_point;
mod point_location;
mod surface;

use std::sync::Arc;

use nalgebra::{Matrix3, Point3};
use pliant_contact_sap::{
    BalanceTangent, BasisIdx, BodyError, BodyReport, BodyState, BodyStep, Dynamics, ExplicitStep,
    Interpolation, MaterialPoint, MomentumBalance, NonlinearBalance, Rows, StartLinearisation,
    StepInput, SurfaceMotion,
};

use crate::dynamics::RodDynamics;
use crate::elasticity::{edge_direction, node};
use crate::frames::reference_twist;
use crate::free_motion::{FreeMotion, FreeMotionReport, FreeMotionStop};
use crate::free_motion_settings::FreeMotionSettings;
use crate::impossible::Impossible;
use crate::rod::Rod;
use crate::rod_parts::RodParts;
use crate::strain::EdgeKinematics;

use point_location::PointLocation;
pub(crate) use surface::write_surface;

/// A step of a [`Rod`]: what [`DeformableModel::new_step`](pliant_contact_sap::DeformableModel::new_step) makes, with the
/// report of its free motion.
///
/// A θ-method in the unknowns of the rod, Li and Chou (2025), eqs. (8) to (10), with the natural shape at the time at which the
/// elastic forces act. Material points, in world axes:
///
/// | point | basis u | velocity |
/// |---|---|---|
/// | vertex i | x_i', three rows | u |
/// | edge i | (x_i', γ', x_i+1'), seven rows | (1 − s) x_i' + s x_i+1' + (t × r) γ' − t (r·(x_i+1' − x_i'))/l |
/// | named frame | its twist (ω, v_O), six rows | v_O + ω × p |
///
/// with s the weight of the edge's second node, l its length, t its tangent and r the offset from its centreline, all at the start.
/// A point with an offset from a vertex is one of an adjacent edge. A torque of a load acts on the angle of its edge by the component
/// along the edge, and as a couple on the edge's two nodes by the others. Actuators are refused: a rod has forces
/// ([`Control::effort`](pliant_contact_sap::Control::effort)), held velocities and loads.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::{BodyState, BodyStep, Control, DeformableModel, StartLinearisation, StepInput};
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
/// use pliant_der::RodStep;
///
/// // A free rod falls for 10 ms without deforming.
/// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 10);
/// # let rod = RodBuilder::new(line).section(Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?).build()?;
/// let (mut step, control, mut v) = (RodStep::new(&rod), Control::default(), Vec::new());
/// step.begin(&rod.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// StartLinearisation::linearise_start(&mut step, &mut v)?;
/// let mut next = BodyState::default();
/// let report = step.advance(&v, &mut next)?;
/// assert!(report.warnings.is_empty());
/// assert!((rod.velocity(&next, 7).z + 0.0981).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RodStep {
    rod: Arc<RodParts>,
    motion: FreeMotion,
    dynamics: RodDynamics,
    report: FreeMotionReport,
    q: Vec<f64>,
    end_time_s: f64,
    /// Frames at the start of the step.
    start: Vec<EdgeKinematics>,
    force: Vec<f64>,
}

impl RodStep {
    /// A workspace for steps of `rod`.
    #[must_use]
    pub fn new(rod: &Rod) -> Self {
        Self {
            rod: Arc::clone(&rod.parts),
            motion: FreeMotion::new(rod.parts.settings),
            dynamics: RodDynamics::default(),
            report: FreeMotionReport::default(),
            q: Vec::new(),
            end_time_s: 0.0,
            start: Vec::new(),
            force: Vec::new(),
        }
    }

    /// How the free motion of the last [`StartLinearisation::linearise_start`] was found.
    pub fn report(&self) -> FreeMotionReport {
        self.report
    }

    /// The velocity of free motion, A⁻¹b of the last linearisation, n values in the order of v; `out` is overwritten. With it,
    /// [`advance`](BodyStep::advance) is a step without contact.
    pub fn free_velocity(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(self.dynamics.right_hand_side());
        let _ = self.dynamics.precondition(out);
    }

    /// Other settings than the rod's.
    pub(crate) fn set_free_motion(&mut self, settings: FreeMotionSettings) {
        self.motion.settings = settings;
    }

    /// Where the iterations of the last [`StartLinearisation::linearise_start`] ended.
    pub(crate) fn last_iterate(&self) -> &[f64] {
        &self.motion.velocity
    }

    /// Static residual at the start of the step, relative, and the centreline's node with the largest force left.
    pub(crate) fn static_residual(&mut self) -> Result<(f64, usize), BodyError> {
        let rod = Arc::clone(&self.rod);
        let found = self.motion.static_residual(&rod, &self.q, &self.force);
        let (residual, node) = found.map_err(|i| self.impossible(i))?;
        Ok((residual, node.saturating_sub(rod.first_node())))
    }

    /// A and b of where the motion was last evaluated, for solvers.
    fn offer_linearisation(&mut self) {
        let motion = &mut self.motion;
        self.dynamics.adopt(
            &mut motion.matrix,
            &mut motion.factor,
            &motion.velocity,
            &motion.residual,
        );
    }

    fn impossible(&self, impossible: Impossible) -> BodyError {
        BodyError::Model(self.rod.describe(impossible))
    }

    /// Anything suspicious about the state just reached.
    fn warnings(&self, twists: impl Iterator<Item = f64>) -> Vec<String> {
        let mut warnings = Vec::new();
        let report = &self.report;
        let suspicious = report.residual > 1e3 * self.motion.settings.relative_tolerance;
        if report.stop == FreeMotionStop::IterationLimit
            || (report.stop == FreeMotionStop::RoundOff && suspicious)
        {
            warnings.push(format!(
                "the free motion stopped after {} iterations with a relative residual of {:.1e}; take a smaller time step",
                report.iterations, report.residual
            ));
        }
        let (mut worst, mut most) = (0, 0.0);
        for (joint, twist) in twists.enumerate() {
            if twist.abs() > most {
                (worst, most) = (joint, twist.abs());
            }
        }
        // Bending stiffness falls by cos²(τ/2): 6 % here.
        if most > 0.5 {
            warnings.push(format!(
                "the twist at {} is {most:.2} rad, which makes the rod {:.0} % softer in bending there; use shorter edges",
                self.rod.node_name(self.rod.node_of_joint(worst)),
                100.0 * (0.5 * most).sin().powi(2)
            ));
        }
        warnings
    }
}

impl BodyStep for RodStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        let rod = Arc::clone(&self.rod);
        rod.check_state(state)?;
        let step = input.time_step;
        self.motion.time_step = step;
        let start_s = rod.history().time_s(&state.history);
        self.end_time_s = start_s + step.length_s;
        // Natural shape where the forces act: at the end of the step for backward Euler.
        let forces_s = start_s + step.forces_s();
        let reference = &mut self.motion.reference;
        reference.read(&rod, &state.history, forces_s);
        self.q.clone_from(&state.q);
        self.motion.start.clone_from(&state.v);
        let anchored = self
            .motion
            .reference
            .move_to(&rod, &self.q, &mut self.start);
        anchored.map_err(|i| self.impossible(i))?;
        self.read_control(input)?;
        let opened = self.motion.set_up(&rod, &self.q, &self.force);
        opened.map_err(|i| self.impossible(i))?;
        self.report = FreeMotionReport::default();
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.motion.start
    }

    fn linearise(&mut self, v: &[f64]) -> Result<(), BodyError> {
        let rod = Arc::clone(&self.rod);
        let done = self.motion.linearise(&rod, v);
        done.map_err(|i| self.impossible(i))?;
        self.offer_linearisation();
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
        let place = self.locate(p)?;
        match &place {
            PointLocation::Frame { .. } => *out = Interpolation::Twist,
            PointLocation::Node(_) => out.set_weights([1.0]),
            PointLocation::Edge {
                edge,
                fraction,
                offset,
            } => {
                let phi = Self::edge_interpolation(&self.start[*edge], *fraction, offset);
                out.set_dense(phi.iter().copied());
            }
        }
        Ok(self.basis_of(&place))
    }

    fn basis(&self, basis: BasisIdx, p_WO: &Point3<f64>, out: &mut Rows) {
        let (n_edges, n_nodes) = (self.rod.n_edges, self.rod.n_nodes);
        let i = basis.0 as usize;
        if i < n_edges {
            let (a, angle, b) = self.edge_dofs(i);
            out.reset(7);
            if b == a + 4 {
                self.identity(0, a, 7, out);
            } else {
                self.identity(0, a, 3, out);
                self.identity(3, angle, 1, out);
                self.identity(4, b, 3, out);
            }
        } else if i < n_edges + n_nodes {
            out.reset(3);
            self.identity(0, 4 * (i - n_edges), 3, out);
        } else {
            let frame = &self.rod.frames[i - n_edges - n_nodes];
            let edge = &self.start[frame.edge];
            let (a, angle, b) = self.edge_dofs(frame.edge);
            // ω = t × (x_b' − x_a')/l + t γ'.
            let turn = edge.tangent.cross_matrix() / edge.length;
            let origin = node(&self.q, a / 4) + edge.tangent * (edge.length * frame.fraction);
            let interpolation = p_WO.coords - origin;
            let swing = -interpolation.cross_matrix();
            out.reset(6);
            let identity = Matrix3::identity();
            let of_a = (-turn, identity * (1.0 - frame.fraction) - swing * turn);
            let of_b = (turn, identity * frame.fraction + swing * turn);
            for (dof, (angular, linear)) in [(a, of_a), (b, of_b)] {
                for k in 0..3 {
                    self.column(
                        dof + k,
                        &angular.column(k).into(),
                        &linear.column(k).into(),
                        out,
                    );
                }
            }
            let linear = edge.tangent.cross(&interpolation);
            self.column(angle, &edge.tangent, &linear, out);
        }
    }

    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let rod = &*self.rod;
        next.v.clear();
        let end = v.iter().zip(&self.motion.start).zip(&self.motion.held);
        next.v
            .extend(end.map(|((v, v0), held)| if *held { *v0 } else { *v }));
        next.q.clear();
        next.q.extend((0..v.len()).map(|i| self.moved(v, i)));
        let layout = rod.history();
        let history = &mut next.history;
        layout.resize(history);
        layout.set_time_s(history, self.end_time_s);
        for edge in 0..rod.n_edges {
            let (a, b) = rod.nodes_of_edge(edge);
            let e = node(&next.q, b) - node(&next.q, a);
            let frame = &self.motion.reference.frames[edge];
            let direction = edge_direction(rod.rest_length[edge], frame, &e, edge);
            let (_, tangent) = direction.map_err(|i| self.impossible(i))?;
            layout.set_frame(history, edge, &frame.transported_to(&tangent));
        }
        for (joint, near) in self.motion.reference.betas.iter().enumerate() {
            let (a, b) = rod.edges_of_joint(joint);
            let (a, b) = (layout.frame(history, a), layout.frame(history, b));
            if 1.0 + a.tangent.dot(&b.tangent) < 1e-4 {
                return Err(self.impossible(Impossible::Folded { joint }));
            }
            let (from, to) = ((&a.tangent, &a.director), (&b.tangent, &b.director));
            layout.twists_mut(history)[joint] = reference_twist(from, to, *near);
        }
        let betas = layout.twists(history).iter().enumerate();
        let warnings = self.warnings(betas.map(|(joint, beta)| {
            let (a, b) = rod.edges_of_joint(joint);
            next.q[4 * b + 3] - next.q[4 * a + 3] + beta
        }));
        Ok(BodyReport { warnings })
    }

    fn as_start_linearisation(&mut self) -> Option<&mut dyn StartLinearisation> {
        Some(self)
    }

    fn as_balance(&self) -> Option<&dyn MomentumBalance> {
        Some(self)
    }

    fn as_nonlinear(&self) -> Option<&dyn NonlinearBalance> {
        self.motion.depends_on_end_velocity().then_some(self)
    }

    fn as_explicit(&self) -> Option<&dyn ExplicitStep> {
        Some(self)
    }

    fn as_surface(&self) -> Option<&dyn SurfaceMotion> {
        Some(self)
    }
}

impl StartLinearisation for RodStep {
    /// About the free motion, or the start velocities: [`Linearised`](crate::Linearised).
    fn linearise_start(&mut self, v: &mut Vec<f64>) -> Result<(), BodyError> {
        let rod = Arc::clone(&self.rod);
        self.motion.velocity.clone_from(&self.motion.start);
        self.report = match self.motion.solve(&rod) {
            Ok(report) => report,
            Err(i) => return Err(self.impossible(i)),
        };
        v.clone_from(&self.motion.velocity);
        self.offer_linearisation();
        Ok(())
    }

    fn solves_free_motion(&self) -> bool {
        true
    }
}

impl MomentumBalance for RodStep {
    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        let mut motion = self.motion.evaluation_copy();
        let done = motion.residual_at(&self.rod, v, out);
        done.map_err(|i| self.impossible(i))
    }

    fn tangent(&self, v: &[f64]) -> Result<BalanceTangent<'_>, BodyError> {
        let tangent = self.motion.evaluation_copy().into_tangent(&self.rod, v);
        let matrix = tangent.map_err(|i| self.impossible(i))?;
        Ok(Box::new(move |x, y| matrix.apply(x, y)))
    }

    fn external_impulse(&self, out: &mut [f64]) {
        let dt = self.motion.time_step.length_s;
        let forces = self.force.iter().zip(&self.motion.held);
        for (p, (force, held)) in out.iter_mut().zip(forces) {
            *p = if *held { 0.0 } else { dt * force };
        }
    }
}

impl NonlinearBalance for RodStep {
    /// Infinite where an edge would collapse or reverse, or the rod fold flat.
    fn potential(&self, v: &[f64]) -> Result<f64, BodyError> {
        let mut motion = self.motion.evaluation_copy();
        Ok(motion.potential_at(&self.rod, v).unwrap_or(f64::INFINITY))
    }
}

impl ExplicitStep for RodStep {
    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let mut motion = self.motion.clone();
        let v0 = motion.start.clone();
        motion.time_step.integration = pliant_contact_sap::Integration::Symplectic;
        let opened = motion.set_up(&self.rod, &self.q, &self.force);
        opened
            .and_then(|()| motion.residual_at(&self.rod, &v0, out))
            .map_err(|i| self.impossible(i))?;
        for (i, out) in out.iter_mut().enumerate() {
            let change = if motion.held[i] {
                0.0
            } else {
                *out / self.rod.mass[i]
            };
            *out = v0[i] - change;
        }
        Ok(())
    }
}
