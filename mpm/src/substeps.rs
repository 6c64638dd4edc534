//! Explicit substeps of material points in contact with rigid bodies, inside one time step.
//!
//! The interface between the asynchronous stepper and whatever computes the substeps is [`SubstepBackend`]: a backend holds the
//! particles, takes all N substeps of a time step, and returns the impulses of the rigid bodies. [`CpuSubsteps`] is the one of this crate.
//!
//! A substep of length h = Δt/N:
//!
//! ```text
//! p, m ← particles, with the impulses −h V τ of their stress       scatter
//! v*   = p/m + h g                                                explicit, prescribed nodes apart
//! v, V = argmin ½|v − v*|²_M + ½|V − V*|²_Λ⁻¹ + Σ ℓ(J v − J_r V)    contact, with the velocities V of the rigid links
//! x, F ← x + h v, (I + h ∇v) F, return mapping                     gather
//! ```
//!
//! Links have velocities of their own in every substep. Λ = J_r (A + B/N)⁻¹J_rᵀ is the response of their velocities to impulses on them,
//! with A and B of the rigid problem of the step ([`RigidMotion`]). With Λ = 0 their motion is prescribed: the coupling that Yu et al. (2025)
//! publish.
//!
//! Source: Yu, Du, Zong, Castro, Jiang, Han (2025), "A convex formulation of material points and rigid bodies with GPU-accelerated
//! async-coupling for interactive simulation", sections III to V.

mod arrow;
mod clock;
mod cloth;
mod contact_problem;
mod cpu;
mod detection;
mod device;
mod friction_bounds;
mod gauss_seidel;
mod input;
mod laws;
mod links;
mod majoriser;
mod newton_cg;
mod node_numbers;
mod obstacle;
mod pair_sums;
mod prescribed;
mod primal;
mod quasi_newton;
mod report;
mod solver;
mod solver_kind;
#[cfg(test)]
mod tests;
mod time_step;
mod warm_start;

use pliant_contact_sap::{BodyError, BodyReport, BodyState, Cancellation};

pub use cpu::{CpuSubsteps, Precision};
pub use device::{DeviceCloth, DeviceObject, DeviceParticles, HeldSet};
pub use input::{SubstepContact, SubstepInput};
pub use laws::{LaggedLaws, SubstepLaws};
pub use links::{LinkIdx, LinkImpulse, LinkMotion, RigidLinks, RigidMotion};
pub use obstacle::{Obstacle, ObstaclePair};
pub use report::{PairImpulse, StageTimes, SubstepReport};
pub use solver_kind::SubstepSolver;
pub(crate) use time_step::{ANY_STRESS, present_limit};
pub use time_step::{LimitReason, SubstepLimit};
pub use warm_start::ParticleImpulse;

/// Takes the substeps of one model of material points, on the processor or on a device.
///
/// [`begin`](Self::begin), [`limit`](Self::limit), [`run`](Self::run) and [`end`](Self::end) follow one another in every time step. What they write is a
/// function of their arguments alone.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{LaggedLaws, MpmBuilder, MpmSettings, ObjectSpec, Preset, RigidLinks, Sampling, SubstepContact, SubstepSolver, fill};
/// use pliant_mpm::{CpuSubsteps, SubstepBackend, SubstepInput, SubstepReport};
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// # let contact = SubstepContact { stiction_speed: 1e-4, near_rigid: 0.1, solver: SubstepSolver::GaussSeidel, tolerance: 1e-2, iterations_max: 100 };
/// // A cube of foam falls for 1 ms in four substeps of symplectic Euler: v = −g Δt.
/// let input = SubstepInput {
///     time_step_s: 1e-3,
///     substeps: 4,
///     gravity: Vector3::new(0.0, 0.0, -9.81),
///     obstacles: &[],
/// #   control: &control, contact, laws: &LaggedLaws,
///     // and the model of contact
/// };
/// let mut backend = CpuSubsteps::<f64>::new(&model);
/// backend.begin(&model.default_state())?;
/// let mut report = SubstepReport::default();
/// backend.run(&input, &mut links, &mut Vec::new(), &mut report)?;
/// let _ = backend.end(&mut next)?;
/// assert_eq!(report.substeps, 4);
/// assert!(model.particles(&next).all(|p| (p.v_WP.z + 9.81e-3).abs() < 1e-12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SubstepBackend: Send {
    /// Reads the particles of a state.
    ///
    /// # Errors
    /// A state that does not belong to the model, or is not finite.
    fn begin(&mut self, state: &BodyState) -> Result<(), BodyError>;

    /// The longest stable substep from the state that was read, and what sets it; `None` without particles.
    fn limit(&self) -> Option<SubstepLimit>;

    /// Announces the time step that [`SubstepBackend::run`] will take with the same arguments, between it and [`SubstepBackend::begin`]. A device that
    /// takes the substeps of many worlds together has to know all of them before the first `run`; others need no announcement.
    ///
    /// # Errors
    /// An input that the backend refuses.
    fn prepare(
        &mut self,
        _input: &SubstepInput<'_>,
        _links: &RigidLinks,
        _memory: &[ParticleImpulse],
    ) -> Result<(), BodyError> {
        Ok(())
    }

    /// Begins the time steps that were announced to the device of this backend, those of other worlds included, without waiting for them. Returns whether a
    /// device takes that of this one while the thread goes on. Without it [`SubstepBackend::run`] begins them.
    fn start(&mut self) -> bool {
        false
    }

    /// Takes all substeps of a time step. `links` moves on; `memory` holds the contact impulses of the last substep, in and out.
    ///
    /// # Errors
    /// A particle that leaves the grid or is not finite, named.
    fn run(
        &mut self,
        input: &SubstepInput<'_>,
        links: &mut RigidLinks,
        memory: &mut Vec<ParticleImpulse>,
        report: &mut SubstepReport,
    ) -> Result<(), BodyError>;

    /// Writes the particles to the state after the time step.
    ///
    /// # Errors
    /// A particle that left the model's bounds or is not finite, named.
    fn end(&mut self, next: &mut BodyState) -> Result<BodyReport, BodyError>;

    /// Substeps end with [`BodyError::Cancelled`] once `cancellation` is requested. A backend without an implementation takes those of a step to
    /// their end.
    fn cancel_with(&mut self, cancellation: &Cancellation) {
        let _ = cancellation;
    }
}
