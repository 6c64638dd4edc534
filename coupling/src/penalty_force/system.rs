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
use super::islands::{Island, islands_of};
use super::line_search::Sliding;
use super::linearised::{Contacts, Linearised};
use super::places::Places;
use super::preconditioner::Renewal;
use super::pull::PenaltyDamping;
use super::report::{PenaltyForceTimes, WalkCounts};
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
    /// L⁻¹ of what a residual is measured by beside the contacts: m(v₀), and the impulses of gravity and loads.
    scales: [Vec<f64>; 2],
    pub(super) v: Vec<f64>,
    /// m at `v`.
    m: Vec<f64>,
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

/// Sizes of g in an island, in the norm of D⁻¹.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    /// ‖g‖.
    pub(super) residual: f64,
    /// The largest of ‖m(v₀)‖, ‖δt Sᵀf‖ and the impulses of gravity and loads.
    pub(super) scale: f64,
    /// What round-off of momenta, positions and forces leaves of g.
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
            scales: Default::default(),
            v: Vec::new(),
            m: Vec::new(),
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
        self.linearised
            .preconditioner
            .begin(self.bodies.steps.len());
        self.touched.begin(&self.bodies, &self.places.vertices);
        self.rows.begin(world, state, &self.bodies)?;
        self.metric.gather(&self.bodies.steps, &self.bodies.offsets);
        // Blocks that are not positive definite have been refused by the rows' factors.
        self.metric.factor_cholesky();
        self.v.clone_from(&self.bodies.start);
        self.g.resize(self.v.len(), 0.0);
        self.applied.clear();
        self.applied.resize(self.v.len(), 0.0);
        self.m.clear();
        self.m.resize(self.v.len(), 0.0);
        let [m, external] = &mut self.scales;
        for scale in [&mut *m, &mut *external] {
            scale.clear();
            scale.resize(self.v.len(), 0.0);
        }
        self.bodies.residual(&self.v, m).map_err(fault)?;
        self.bodies.external_impulses(external).map_err(fault)?;
        self.metric.solve_lower(m);
        self.metric.solve_lower(external);
        self.places
            .move_to(&mut self.bodies, &self.v)
            .map_err(fault)
    }

    pub(super) fn shape(&self, geometry: GeometryIdx) -> Option<&Shape> {
        self.world.geometries()[geometry.0].shape.as_ref()
    }

    /// Of a geometry that moves over its body, such as a belt, in its frame, m/s.
    pub(super) fn surface_velocity(&self, geometry: GeometryIdx) -> Vector3<f64> {
        self.world.geometries()[geometry.0].surface_velocity
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

    /// Moves all bodies from now on.
    pub(super) fn move_all(&mut self) {
        self.bodies.move_all();
    }

    /// Moves these bodies alone from now on; contacts between others keep their forces.
    pub(super) fn move_alone(&mut self, bodies: impl Iterator<Item = BodyIdx>) {
        self.bodies.move_alone(bodies);
    }

    /// Bodies that contacts and rows couple.
    pub(super) fn islands(&self) -> Vec<Island> {
        let pairs = self.attached.iter().filter_map(|a| match a.bodies {
            [Some(a), Some(b)] => Some((a, b)),
            _ => None,
        });
        islands_of(&self.bodies, pairs.chain(self.rows.couplings(&self.bodies)))
    }

    /// Bodies of the contacts from this one on.
    pub(super) fn bodies_of_contacts(&self, first: usize) -> impl Iterator<Item = BodyIdx> {
        let contacts = self.attached[first..].iter();
        contacts.flat_map(|contact| contact.bodies.into_iter().flatten())
    }

    /// Which of the islands each contact belongs to.
    pub(super) fn island_of_each_contact<'a>(
        &self,
        islands: impl Iterator<Item = &'a Island>,
    ) -> Vec<Option<usize>> {
        let mut of_body = vec![None; self.bodies.steps.len()];
        for (k, island) in islands.enumerate() {
            island.bodies.iter().for_each(|b| of_body[b.0] = Some(k));
        }
        let of = |contact: &Attached| {
            let mut bodies = contact.bodies.iter().flatten();
            bodies.find_map(|b| of_body[b.0])
        };
        self.attached.iter().map(of).collect()
    }

    /// Moves to end velocities `v` and evaluates g there.
    pub(super) fn move_to(&mut self, v: &[f64]) -> Result<(), BodyFault> {
        self.v.copy_from_slice(v);
        self.places.move_to(&mut self.bodies, v)?;
        let clock = Instant::now();
        for k in 0..self.attached.len() {
            if !self.attached[k].moves(&self.bodies) {
                continue;
            }
            self.attached[k].evaluate(&self.world, &self.places, self.slide);
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
        let clock = Instant::now();
        let outcome = self.bodies.residual(&self.v, &mut self.m);
        self.times.material += clock.elapsed();
        let mut g = std::mem::take(&mut self.g);
        g.copy_from_slice(&self.m);
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

    /// Sizes of g of each island where it was evaluated last.
    pub(super) fn sizes(&mut self, islands: &[&Island]) -> Vec<Sizes> {
        let n = self.n_dofs();
        let mut contact = vec![0.0; n];
        self.add_contact_impulses(&mut contact);
        let mut noise = vec![0.0; n];
        self.add_contact_noise(&mut noise);
        let mut residual = self.g.clone();
        for x in [&mut contact, &mut noise, &mut residual] {
            self.metric.solve_lower(x);
        }
        // ‖D x‖ in the norm of D⁻¹ is |Lᵀx|.
        let mut momenta = vec![0.0; n];
        self.bodies.position_noise(&mut momenta);
        for (noise, v) in momenta.iter_mut().zip(&self.v) {
            *noise += f64::EPSILON * v.abs();
        }
        self.metric.multiply_transposed(&mut momenta);
        let [start, external] = &self.scales;
        let of = |island: &&Island| Sizes {
            residual: island.norm(&residual),
            scale: (island.norm(start).max(island.norm(external))).max(island.norm(&contact)),
            round_off: 8.0 * (island.norm(&noise) + island.norm(&momenta)),
        };
        islands.iter().map(of).collect()
    }

    /// Adds what the rounding of particles' positions leaves of their impulses.
    fn add_contact_noise(&self, noise: &mut [f64]) {
        let dt = self.bodies.time_step.length_s;
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
    }

    /// Of the impulses of gravity and loads on an island, √J.
    pub(super) fn external_size(&self, island: &Island) -> f64 {
        island.norm(&self.scales[1])
    }

    /// Linearises about `v`.
    pub(super) fn linearise(&mut self) -> Result<(), BodyFault> {
        let bodies = &self.bodies;
        for attached in self.attached.iter_mut().filter(|a| a.moves(bodies)) {
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

    /// Leaves the factors of these bodies out of the preconditioner for the rest of the step.
    pub(super) fn precondition_by_blocks(&mut self, bodies: &[BodyIdx]) {
        let preconditioner = &mut self.linearised.preconditioner;
        bodies
            .iter()
            .for_each(|b| preconditioner.leave_out_factor(*b));
    }

    /// Sets whether the factors of these bodies are computed at the next iterate.
    pub(super) fn set_renewal(&mut self, bodies: &[BodyIdx], renewal: Renewal) {
        for body in bodies {
            self.linearised.preconditioner.set_renewal(*body, renewal);
        }
    }

    /// Computes the factors of these bodies at this iterate, if some are of an earlier one; false if none is.
    pub(super) fn renew_factors(&mut self, bodies: &[BodyIdx]) -> Result<bool, BodyFault> {
        let preconditioner = &mut self.linearised.preconditioner;
        let mut any_kept = false;
        for body in bodies {
            let were = preconditioner.set_renewal(*body, Renewal::Computed);
            any_kept |= were == Renewal::Kept;
        }
        if any_kept {
            self.linearise()?;
        }
        Ok(any_kept)
    }

    /// Forces of contacts, rows and constraints.
    pub(super) fn describe(&self, time_step_s: f64, report: &mut StepReport) {
        report.n_dofs = self.n_dofs();
        let active = self.attached.iter().filter(|a| a.is_active());
        report.contacts.clear();
        report.rows.clear();
        report.constraints.clear();
        report.contacts.extend(active.map(Attached::describe));
        report.contacts.sort_by_key(|c| (c.a, c.b));
        self.rows.describe(time_step_s, report);
    }

    /// How far the attachments of the last evaluation walked over their meshes.
    pub(super) fn walks(&self) -> WalkCounts {
        let mut walks = WalkCounts::default();
        let active = self.attached.iter().filter(|a| a.is_active());
        active
            .filter_map(Attached::walk_states)
            .for_each(|states| walks.count(states));
        walks
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
