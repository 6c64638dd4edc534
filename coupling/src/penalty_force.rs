//! The penalty-force stepper: particles pulled back to attachments that slide by Coulomb's law, in one implicit step of all bodies.
//!
//! ```text
//! g(v) = m(v) − δt Σ Sᵀf(v) − Jᵀγ(v) = 0        f = k (P(X, Z(v)) − Z(v)),    |f_t| ≤ μ f_n
//! ```
//!
//! m is the balance of momentum of the bodies, Z the position of a particle at the end of the step, P the relaxation of its attachment X
//! (`pliant_hydroelastic`), S the Jacobian of the particle relative to the object, γ the impulses of joints, actuators and constraints. Forces act where
//! the bodies are at the end of the step, friction included: nothing lags. An attachment in static friction stays bit for bit where it is, so nothing
//! creeps, even where the solution is only approximate.
//!
//! 1. Attachments of the last step, and those of particles that have come to an object at any iterate.
//! 2. Newton's method on g with the exact, unsymmetric derivative: GMRES, preconditioned from the right, and a line search on ½‖g‖².
//! 3. Steps that have not converged, or in which contacts gave more energy than they had, are taken again in halves.
//! 4. Bodies advance, attachments move to where they slid, those of separated particles are dropped.
//!
//! Islands, groups of bodies that nothing couples, are solved apart. Norms are those of D⁻¹ with D the diagonal blocks of the bodies' A, so results don't depend on the unit of mass.
//!
//! Source: Ding, Schroeder (2020), "Penalty force for coupling materials with Coulomb friction"; derivations: `docs/theory/ding-2020.md`.

mod attached;
mod attachment;
mod baselines;
mod blocks;
mod bodies;
mod crossings;
mod derivative;
mod detection;
mod energy;
mod flush;
mod gmres;
mod halves;
mod islands;
mod line_search;
mod linearised;
mod newton;
mod on_edges;
mod on_surface;
mod overlap;
mod pair;
mod particles;
mod places;
mod preconditioner;
mod pull;
mod report;
mod retreat;
mod rings;
mod rolling;
mod rows;
mod settings;
mod sparse_factor;
mod surfaces;
mod system;
mod touched;
mod vertex_place;

use std::sync::Arc;

use pliant_contact_sap::{BodyError, Cancellation};

pub use attachment::{Attachment, AttachmentMotion, AttachmentPlace, EdgeCrossing};
pub use baselines::PenaltyBaseline;
pub use pull::PenaltyDamping;
pub use report::{PenaltyForceReport, PenaltyForceTimes, WalkCounts};
pub use settings::PenaltyForceSettings;

use crate::error::{StepError, WorldError};
use crate::report::StepReport;
use crate::state::State;
use crate::stepper::Stepper;
use crate::strong_implicit::check_lengths;
use crate::world::{BodyIdx, World};
use detection::Detection;
use halves::{Remedy, TakeStep};
use islands::Island;
use newton::Newton;
use retreat::Retreat;
use system::System;

/// Steps a [`World`] by penalty forces with sliding attachments.
///
/// Contact is between the particles of one geometry and the surface of another: vertices of deformable bodies, and the corners, points on the
/// surface, or balls of rigid shapes, on the signed distance of rigid shapes, and on the triangles of rigid meshes and of deformable bodies; and, for pairs with
/// [`EdgeContact::Crossing`](crate::EdgeContact), between the edges of deforming surfaces. The stiffness of a pair is that of each particle. Steps
/// are of backward Euler.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut ball = ModelBuilder::new("ball");
/// # ball.root(Root::Floating);
/// # ball.link(LinkSpec::new("ball", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let ball = RigidTree::new(Arc::new(ball.build()?)).starting_at(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("box", Box::new(ball));
/// # use pliant_coupling::{Geometry, Mount, State, WorldBuilder};
/// use pliant_coupling::{PenaltyForce, PenaltyForceSettings, Stepper};
///
/// // A box of 1 kg on a floor, with particles at its corners alone. The stiffness is that of each corner:
/// // four of them at the depth m g/4k carry the weight.
/// let k = 1e4;
/// # let material = ContactMaterial { stiffness: 2.0 * k, ..ContactMaterial::default() };
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let lengths = Vector3::repeat(0.2);
/// # builder.add_geometry(Geometry::new("box", mount, Shape::cuboid(lengths)?, material));
/// # let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.1));
/// # builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// # let (world, mut next) = (builder.build()?, State::default());
/// let settings = PenaltyForceSettings { box_particles: 2, ..PenaltyForceSettings::default() };
/// let mut state = world.default_state();
/// state.bodies[0].q[2] = -9.81 / (4.0 * k);
/// let report = PenaltyForce::new(settings)?.step(&world, &state, 1e-3, &mut next)?;
/// assert!(report.is_trusted() && next.bodies[0].v[5].abs() < 1e-6);
/// assert_eq!(next.memory.attachments.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PenaltyForce {
    settings: PenaltyForceSettings,
    known: Option<Known>,
    cancellation: Cancellation,
}

/// Workspaces for one world.
struct Known {
    world: World,
    system: System,
    detection: Detection,
    newton: Newton,
}

impl PenaltyForce {
    /// # Errors
    /// [`WorldError::Parameter`] for settings out of range.
    pub fn new(settings: PenaltyForceSettings) -> Result<Self, WorldError> {
        settings.validate()?;
        Ok(Self {
            settings,
            known: None,
            cancellation: Cancellation::default(),
        })
    }

    /// The settings.
    pub fn settings(&self) -> &PenaltyForceSettings {
        &self.settings
    }
}

impl Stepper for PenaltyForce {
    /// Places and distances in the report are those at the end of the step. A step that has not converged, or in which contacts gave more energy than they had,
    /// is taken again in up to eight parts; the report is then of the last. A part whose balance was not met to the tolerance keeps the best iterate, and the
    /// step is not trusted.
    ///
    /// # Errors
    /// [`StepError::Body`] for bodies without what this stepper needs, and pairs that it does not have; [`StepError::Geometry`] for surfaces that
    /// attachments can't slide on.
    fn step_into(
        &mut self,
        world: &World,
        state: &State,
        time_step_s: f64,
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        StepError::check_time_step(time_step_s)?;
        let mut whole = WholeSteps {
            stepper: self,
            world,
        };
        match whole.stepper.settings.baseline {
            None => halves::cover(&mut whole, state, time_step_s, next, report)?,
            // The baselines are there to show what they lack.
            Some(_) => whole.take(state, (time_step_s, Remedy::Halves), next, report)?,
        }
        let reason = report.untrusted().map(|reason| reason.describe(world));
        report.warnings.extend(reason);
        next.memory.proposed_step_s = state.memory.proposed_step_s;
        Ok(())
    }

    fn cancel_with(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
    }
}

/// Steps that are not divided.
struct WholeSteps<'a> {
    stepper: &'a mut PenaltyForce,
    world: &'a World,
}

impl TakeStep for WholeSteps<'_> {
    fn take(
        &mut self,
        state: &State,
        (length_s, remedy): (f64, Remedy),
        next: &mut State,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let (stepper, world) = (&mut *self.stepper, self.world);
        let settings = &stepper.settings;
        let is_of = |known: &Known| Arc::ptr_eq(&known.world.parts, &world.parts);
        let mut known = match stepper.known.take().filter(is_of) {
            Some(known) => known,
            None => {
                let system = System::of(world, state, settings)?;
                Known {
                    world: world.clone(),
                    detection: Detection::of(world, state, &system.places)?,
                    system,
                    newton: Newton::default(),
                }
            }
        };
        let Known {
            system,
            detection,
            newton,
            ..
        } = &mut known;
        check_lengths(world, state)?;
        system.cancellation = stepper.cancellation.clone();
        system.begin(world, state, length_s)?;
        let fault = |(body, source)| StepError::of_body(world, state, body, source);
        detection.begin(system, state).map_err(fault)?;
        let kept = &mut next.memory.attachments;
        let outcome = match settings.baseline {
            None => newton.solve(system, detection, settings),
            Some(method) => {
                baselines::solve(method, system, (detection, state), newton, settings, kept)
            }
        };
        let mut outcome = outcome.map_err(fault)?;
        outcome.times = system.times;
        outcome.walks = system.walks();
        if settings.baseline.is_none() {
            system.remember(kept);
        }
        *report = StepReport::default();
        system.describe(length_s, report);
        outcome.describe(report);
        system.advance(world, state, next, report)?;
        let gaining = energy::gained(system, newton.islands(), world, (state, next));
        report.convergence.energy_gain = gaining.first().map(|island| island.bodies[0]);
        let failed: Vec<Island> = newton.unsolved().chain(gaining).cloned().collect();
        if remedy == Remedy::Retreat && !failed.is_empty() {
            let mut retreat = Retreat {
                system,
                world,
                state,
            };
            retreat.run(&failed, next, report).map_err(fault)?;
            system.remember(&mut next.memory.attachments);
            system.describe(length_s, report);
        }
        let memory = &mut next.memory;
        memory.contacts.clear();
        memory.loads.clear();
        memory.velocity_change.clear();
        memory.frame_forces.clear();
        memory.particle_forces.clear();
        stepper.known = Some(known);
        Ok(())
    }
}

/// An error of a body, and which.
type BodyFault = (BodyIdx, BodyError);

#[cfg(test)]
mod tests;
