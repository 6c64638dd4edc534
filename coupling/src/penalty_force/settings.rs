//! Settings of the penalty-force stepper.

use pliant_hydroelastic::Slide;

use super::baselines::PenaltyBaseline;
use super::pull::PenaltyDamping;
use crate::error::{WorldError, WorldPart};

/// Settings of [`PenaltyForce`](crate::PenaltyForce).
///
/// ```
/// use pliant_coupling::PenaltyForceSettings;
///
/// let settings = PenaltyForceSettings { box_particles: 1, ..PenaltyForceSettings::default() };
/// let error = settings.validate().unwrap_err();
/// assert!(error.to_string().contains("particles along each edge of a box"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltyForceSettings {
    /// ε: an island has converged where ‖g‖ ≤ ε max(‖m(v₀)‖, ‖δt Sᵀf‖, ‖p‖), in the norm of D⁻¹, with p the impulses of gravity and loads.
    pub tolerance: f64,
    /// Bound of the Newton iterations of a step.
    pub iterations_max: u32,
    /// Bound of the vectors of GMRES in one iteration.
    pub krylov_max: u32,
    /// A baseline in place of the implicit step.
    pub baseline: Option<PenaltyBaseline>,
    /// How normal forces depend on the rate of depth.
    pub damping: PenaltyDamping,
    /// How far attachments slide on curved surfaces.
    pub slide: Slide,
    /// Particles around a round shape: a sphere has about as many on each great circle. Spheres and capsules are balls instead where they touch rigid convex
    /// shapes, unless stiffness is per area.
    pub round_particles: u32,
    /// Particles along each edge of a box: a grid on each face; 2: the corners alone, which miss equal boxes on top of each other.
    pub box_particles: u32,
    /// Particles around each segment of a round rod, so that rods roll; 0: its nodes, at the distance of their radius.
    pub rod_particles: u32,
    /// Largest distance of particles along the edges of convex hulls and rigid meshes, m; infinite: corners alone, so that edges of meshes which cross do
    /// not touch.
    pub edge_spacing_m: f64,
}

impl Default for PenaltyForceSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-6,
            iterations_max: 200,
            krylov_max: 20,
            baseline: None,
            damping: PenaltyDamping::None,
            slide: Slide::Planar,
            round_particles: 40,
            box_particles: 4,
            rod_particles: 0,
            edge_spacing_m: f64::INFINITY,
        }
    }
}

impl PenaltyForceSettings {
    /// Checks every number.
    ///
    /// # Errors
    /// [`WorldError::Parameter`].
    pub fn validate(&self) -> Result<(), WorldError> {
        let checks = [
            (
                "tolerance of the force balance",
                self.tolerance,
                self.tolerance > 0.0 && self.tolerance < 1.0,
                "must be positive and less than 1",
            ),
            (
                "Newton iterations",
                f64::from(self.iterations_max),
                self.iterations_max >= 1,
                "must be at least 1",
            ),
            (
                "vectors of GMRES",
                f64::from(self.krylov_max),
                self.krylov_max >= 1,
                "must be at least 1",
            ),
            (
                "particles around a round shape",
                f64::from(self.round_particles),
                (5..=1000).contains(&self.round_particles),
                "must be from 5 to 1000",
            ),
            (
                "particles along each edge of a box",
                f64::from(self.box_particles),
                (2..=100).contains(&self.box_particles),
                "must be from 2 to 100",
            ),
            (
                "particles around each segment of a rod",
                f64::from(self.rod_particles),
                self.rod_particles == 0 || (3..=100).contains(&self.rod_particles),
                "must be 0, or from 3 to 100",
            ),
        ];
        let spacing = (
            "spacing of particles along edges (m)",
            self.edge_spacing_m,
            self.edge_spacing_m > 0.0,
            "must be positive",
        );
        for (what, value, holds, allowed) in checks.into_iter().chain([spacing]) {
            if !holds {
                return Err(WorldError::Parameter {
                    part: WorldPart::Stepper,
                    parameter: what.into(),
                    value,
                    allowed,
                });
            }
        }
        Ok(())
    }
}
