//! The equations of a step, g(v) = 0, and their derivative.

use std::time::Instant;

use nalgebra::{Vector3, Vector6};
use pliant_contact_sap::{BodyError, Cancellation};
use pliant_hydroelastic::{Shape, Slide};

use super::BodyFault;
use super::attached::{Attached, Carrier, Object};
use super::attachment::Attachment;
use super::blocks::Blocks;
use super::bodies::Bodies;
use super::derivative::Derivative;
use super::line_search::Sliding;
use super::linearised::{Contacts, Linearised};
use super::places::Places;
use super::preconditioner::Renewal;
use super::pull::PenaltyDamping;
use super::report::PenaltyForceTimes;
use super::rows::ScalarRows;
use super::settings::PenaltyForceSettings;
use super::touched::Touched;
use crate::error::StepError;
use crate::report::StepReport;
use crate::state::State;
use crate::world::{BodyIdx, GeometryIdx, World};

/// Bodies, contacts and rows of a step at an iterate.
pub(super) struct System {
    world: World,
    pub(super) bodies: Bodies,
    pub(super) places: Places,
    pub(super) rows: ScalarRows,
    pub(super) attached: Vec<Attached>,
    pub(super) touched: Touched,
    /// Of each touched vertex.
    forces: Vec<Vector3<f64>>,
    pub(super) slide: Slide,
    pub(super) damping: PenaltyDamping,
    /// L of the metric D = LLᵀ.
    pub(super) metric: Blocks,
    /// ‖m(v₀)‖.
    pub(super) start_size: f64,
    pub(super) v: Vec<f64>,
    /// g at `v`.
    pub(super) g: Vec<f64>,
    /// Impulses that do not depend on the end velocities: those of the baselines.
    pub(super) applied: Vec<f64>,
    /// Since the step began.
    pub(super) times: PenaltyForceTimes,
    linearised: Linearised,
    /// Asked at each evaluation.
    pub(super) cancellation: Cancellation,
}

/// Sizes of g and of its terms, in the norm of D⁻¹.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    /// ‖g‖.
    pub(super) residual: f64,
    /// ‖δt Sᵀf‖.
    pub(super) contact: f64,
    /// What round-off of the momenta and of the forces leaves of g.
    pub(super) round_off: f64,
}

/// Penalty forces have no impacts, and no resistance to turning at a contact.
fn refuse_rigid_surfaces(world: &World, state: &State) -> Result<(), StepError> {
    let Some((geometry, name, value)) = world.first_rigid_surface() else {
        return Ok(());
    };
    let body = geometry.mount.body().unwrap_or(BodyIdx(0));
    let text = format!(
        "geometry {:?}: {name} = {value} does not act with penalty forces; take another stepper, or drop it",
        geometry.name
    );
    Err(StepError::of_body(
        world,
        state,
        body,
        BodyError::Model(text),
    ))
}

impl System {
    /// # Errors
    /// Surfaces that attachments cannot slide on.
    pub(super) fn of(
        world: &World,
        state: &State,
        settings: &PenaltyForceSettings,
    ) -> Result<Self, StepError> {
        refuse_rigid_surfaces(world, state)?;
        Ok(Self {
            world: world.clone(),
            cancellation: Cancellation::default(),
            bodies: Bodies::of(world),
            places: Places::of(world, state, settings)?,
            rows: ScalarRows::default(),
            attached: Vec::new(),
            touched: Touched::default(),
            forces: Vec::new(),
            slide: settings.slide,
            damping: settings.damping,
            metric: Blocks::default(),
            start_size: 0.0,
            v: Vec::new(),
            g: Vec::new(),
            applied: Vec::new(),
            times: PenaltyForceTimes::default(),
            linearised: Linearised::default(),
        })
    }

    /// Opens a step at `state`, with v = v₀.
    pub(super) fn begin(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
    ) -> Result<(), StepError> {
        self.times = PenaltyForceTimes::default();
        self.bodies.begin(world, state, time_step_s)?;
        let fault = |(body, source)| StepError::of_body(world, state, body, source);
        self.places.begin(&self.bodies).map_err(fault)?;
        self.linearised.preconditioner.begin();
        self.touched.begin(&self.bodies, &self.places.vertices);
        self.rows.begin(world, state, &self.bodies)?;
        self.metric.gather(&self.bodies.steps, &self.bodies.offsets);
        // Blocks that are not positive definite have been refused by the rows' factors.
        self.metric.factor_cholesky();
        self.v.clone_from(&self.bodies.start);
        self.g.resize(self.v.len(), 0.0);
        self.applied.clear();
        self.applied.resize(self.v.len(), 0.0);
        let mut m = vec![0.0; self.v.len()];
        self.bodies.residual(&self.v, &mut m).map_err(fault)?;
        self.start_size = self.norm(m);
        self.places
            .move_to(&mut self.bodies, &self.v)
            .map_err(fault)
    }

    pub(super) fn shape(&self, geometry: GeometryIdx) -> Option<&Shape> {
        self.world.geometries()[geometry.0].shape.as_ref()
    }

    /// τ of a pair, s.
    pub(super) fn relaxation_time_s(&self, object: GeometryIdx, particles: GeometryIdx) -> f64 {
        self.world.pair(object, particles).relaxation_time_s
    }

    /// Every attachment relative to its particle.
    pub(super) fn sliding(&self) -> impl Iterator<Item = Sliding> + '_ {
        self.attached.iter().map(Attached::sliding)
    }

    pub(super) fn n_dofs(&self) -> usize {
        self.v.len()
    }

    fn norm(&self, mut x: Vec<f64>) -> f64 {
        self.metric.solve_lower(&mut x);
        super::gmres::norm(&x)
    }

    /// Moves to end velocities `v` and evaluates g there.
    pub(super) fn move_to(&mut self, v: &[f64]) -> Result<(), BodyFault> {
        self.v.copy_from_slice(v);
        self.places.move_to(&mut self.bodies, v)?;
        let clock = Instant::now();
        for attached in &mut self.attached {
            attached.evaluate(&self.world, &self.places, self.slide);
        }
        for k in 0..self.attached.len() {
            self.touch(k)?;
        }
        self.times.forces += clock.elapsed();
        self.evaluate()
    }

    /// Touches the vertices that an attached particle's force acts on.
    pub(super) fn touch(&mut self, k: usize) -> Result<(), BodyFault> {
        let vertices = &self.places.vertices;
        for load in self.attached[k].loads(&self.places) {
            let of = (load.place, load.vertex);
            self.touched.touch(&self.bodies, vertices, of)?;
        }
        Ok(())
    }

    /// Evaluates g with the contacts as they are.
    pub(super) fn evaluate(&mut self) -> Result<(), BodyFault> {
        if self.cancellation.is_requested() {
            return Err((BodyIdx(0), BodyError::Cancelled));
        }
        let mut g = std::mem::take(&mut self.g);
        let clock = Instant::now();
        let outcome = self.bodies.residual(&self.v, &mut g);
        self.times.material += clock.elapsed();
        self.rows.add_residual(&self.v, &mut g);
        let mut contact = vec![0.0; g.len()];
        self.add_contact_impulses(&mut contact);
        let explicit = contact.iter().zip(&self.applied).map(|(c, a)| c + a);
        g.iter_mut().zip(explicit).for_each(|(g, p)| *g -= p);
        self.g = g;
        outcome
    }

    /// out += δt Sᵀf. Sums the wrenches on frames and the forces on vertices on the way.
    pub(super) fn add_contact_impulses(&mut self, out: &mut [f64]) {
        let dt = self.bodies.time_step.length_s;
        for place in &mut self.places.frames {
            place.impulse = Vector6::zeros();
        }
        self.forces.clear();
        self.forces.resize(self.touched.len(), Vector3::zeros());
        for attached in self.attached.iter().filter(|a| a.is_active()) {
            let mut add = |carrier: Carrier, sign: f64| match carrier {
                Carrier::Frame(place) => {
                    let place = &mut self.places.frames[place];
                    place.impulse += attached.wrench_about(&place.origin()) * (sign * dt);
                }
                Carrier::Vertex(vertex) => self.forces[vertex] += attached.force() * sign,
                Carrier::World => {}
            };
            add(attached.carrier, 1.0);
            if let Object::Shape(_, carrier) = &attached.object {
                add(*carrier, -1.0);
            }
            for load in attached.loads(&self.places) {
                let vertex = self.touched.known(load.place, load.vertex);
                self.forces[vertex] += attached.force() * load.weight;
            }
        }
        self.touched.add_generalised(&self.forces, dt, out);
        for place in &self.places.frames {
            if place.impulse != Vector6::zeros() {
                let range = self.bodies.range(place.body);
                place.add_generalised(&place.impulse, 1.0, &mut out[range]);
            }
        }
    }

    /// Sizes of g and its terms where it was evaluated last.
    pub(super) fn sizes(&mut self) -> Sizes {
        let n = self.n_dofs();
        let mut contact = vec![0.0; n];
        self.add_contact_impulses(&mut contact);
        let dt = self.bodies.time_step.length_s;
        let mut noise = vec![0.0; n];
        for attached in self.attached.iter().filter(|a| a.is_active()) {
            let reach = attached.particle.coords.norm();
            let error = f64::EPSILON * dt * attached.pull.stiffness * reach;
            let mut add = |carrier: Carrier, error: f64| match carrier {
                Carrier::Frame(place) => {
                    let place = &self.places.frames[place];
                    let range = self.bodies.range(place.body);
                    let columns = place.jacobian.chunks_exact(6);
                    for (noise, column) in noise[range].iter_mut().zip(columns) {
                        *noise += error * column[3..].iter().map(|c| c.abs()).sum::<f64>();
                    }
                }
                Carrier::Vertex(vertex) => {
                    for (dof, column) in self.touched.columns(vertex) {
                        noise[*dof as usize] += error * column.abs().sum();
                    }
                }
                Carrier::World => {}
            };
            add(attached.carrier, error);
            if let Object::Shape(_, carrier) = &attached.object {
                add(*carrier, error);
            }
            for load in attached.loads(&self.places) {
                let vertex = self.touched.known(load.place, load.vertex);
                add(Carrier::Vertex(vertex), error * load.weight.abs());
            }
        }
        Sizes {
            residual: self.norm(self.g.clone()),
            contact: self.norm(contact),
            round_off: 8.0 * (self.norm(noise) + f64::EPSILON * self.momentum_size()),
        }
    }

    /// ‖D v‖ in the norm of D⁻¹.
    fn momentum_size(&self) -> f64 {
        let mut v = self.v.clone();
        self.metric.multiply_transposed(&mut v);
        super::gmres::norm(&v)
    }

    /// Linearises about `v`.
    pub(super) fn linearise(&mut self) -> Result<(), BodyFault> {
        for attached in &mut self.attached {
            attached.linearise(&self.places);
            for (place, vertex) in attached.variables() {
                let vertices = &self.places.vertices;
                self.touched
                    .touch(&self.bodies, vertices, (place, vertex))?;
            }
        }
        self.places.linearise(&mut self.bodies)?;
        let contacts = Contacts {
            bodies: &self.bodies,
            places: &self.places,
            touched: &self.touched,
            attached: &self.attached,
        };
        self.linearised.about(&contacts, &mut self.rows, &self.v);
        Ok(())
    }

    /// H where it was linearised.
    pub(super) fn derivative(&mut self) -> Result<Derivative<'_>, BodyFault> {
        let clock = Instant::now();
        let tangents = self.bodies.tangents(&self.v)?;
        self.times.material += clock.elapsed();
        Ok(Derivative {
            tangents,
            contacts: Contacts {
                bodies: &self.bodies,
                places: &self.places,
                touched: &self.touched,
                attached: &self.attached,
            },
            rows: &self.rows,
            metric: &self.metric,
            linearised: &mut self.linearised,
            times: &mut self.times,
        })
    }

    /// Leaves the factors of bodies out of the preconditioner for the rest of the step.
    pub(super) fn precondition_by_blocks(&mut self) {
        self.linearised.preconditioner.leave_out_factors();
    }

    /// Sets whether the factors of bodies are computed at the next iterate.
    pub(super) fn set_renewal(&mut self, renewal: Renewal) {
        self.linearised.preconditioner.set_renewal(renewal);
    }

    /// Computes the factors of bodies at this iterate, if they are of an earlier one; false if they are not.
    pub(super) fn renew_factors(&mut self) -> Result<bool, BodyFault> {
        let preconditioner = &mut self.linearised.preconditioner;
        let were = preconditioner.set_renewal(Renewal::Computed);
        if were == Renewal::Kept {
            self.linearise()?;
        }
        Ok(were == Renewal::Kept)
    }

    /// Forces of contacts, rows and constraints.
    pub(super) fn describe(&self, time_step_s: f64, report: &mut StepReport) {
        report.n_dofs = self.n_dofs();
        let active = self.attached.iter().filter(|a| a.is_active());
        report.contacts.extend(active.map(Attached::describe));
        report.contacts.sort_by_key(|c| (c.a, c.b));
        self.rows.describe(time_step_s, report);
    }

    /// Moves every body.
    pub(super) fn advance(
        &mut self,
        world: &World,
        state: &State,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        next.bodies
            .resize_with(state.bodies.len(), Default::default);
        for b in 0..state.bodies.len() {
            let v = &self.v[self.bodies.range(BodyIdx(b))];
            let step = &mut self.bodies.steps[b];
            // Where they were solved, so that their balance is that of the step.
            let linearised = match step.as_nonlinear() {
                Some(_) => step.linearise(v),
                None => Ok(()),
            };
            let advanced = linearised.and_then(|()| step.advance(v, &mut next.bodies[b]));
            let fault = |source| StepError::of_body(world, state, BodyIdx(b), source);
            let warnings = advanced.map_err(fault)?.warnings.into_iter();
            let name = world.body_name(BodyIdx(b));
            report
                .warnings
                .extend(warnings.map(|w| format!("body \"{name}\": {w}")));
        }
        let untrusted = report.untrusted().map(|reason| reason.describe(world));
        report.warnings.extend(untrusted);
        next.controls.clone_from(&state.controls);
        next.constraints.clone_from(&state.constraints);
        next.step = state.step + 1;
        next.time_s = state.time_s + self.bodies.time_step.length_s;
        Ok(())
    }

    /// Attachments for the next step, in their order.
    pub(super) fn remember(&self, out: &mut Vec<Attachment>) {
        out.clear();
        out.extend(self.attached.iter().filter_map(Attached::kept));
        out.sort_unstable_by_key(Attachment::key);
    }
}
