//! Round bodies on an incline: they roll where friction suffices, and slide with the right spin elsewhere.

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::ContactMaterial;

use super::Finding;
use super::test_world::{G, Growth, MODELS, Model, Run, TestWorld, material};

pub(super) const TIME_STEP_S: f64 = 1e-3;

/// An incline, and the pair of materials on it.
#[derive(Clone, Copy)]
pub(super) struct Incline {
    /// Name of the case.
    pub(super) case: &'static str,
    pub(super) model: Model,
    pub(super) angle_deg: f64,
    pub(super) friction: f64,
    /// Stiffness of the pair at each contact point, N/m.
    pub(super) stiffness: f64,
}

/// How a round body moves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Motion {
    Rolling,
    Sliding,
}

/// Accelerations from the momentum balance.
#[derive(Clone, Copy)]
pub(super) struct Law {
    pub(super) motion: Motion,
    /// Downhill, m/s².
    pub(super) acceleration: f64,
    /// rad/s².
    pub(super) angular_acceleration: f64,
}

impl Incline {
    /// Each contact model on each incline, given as angle (degrees) and friction.
    pub(super) fn all<const N: usize>(
        case: &'static str,
        stiffness: f64,
        inclines: [(f64, f64); N],
    ) -> impl Iterator<Item = Self> {
        MODELS.into_iter().flat_map(move |model| {
            inclines.map(|(angle_deg, friction)| Self {
                case,
                model,
                angle_deg,
                friction,
                stiffness,
            })
        })
    }

    pub(super) fn angle(&self) -> f64 {
        self.angle_deg.to_radians()
    }

    /// Its frame: x downhill, z out of it.
    pub(super) fn X_WG(&self) -> Isometry3<f64> {
        Isometry3::rotation(Vector3::y() * self.angle())
    }

    pub(super) fn downhill(&self) -> Vector3<f64> {
        self.X_WG().rotation * Vector3::x()
    }

    pub(super) fn surface(&self) -> ContactMaterial {
        material(self.stiffness, self.friction)
    }

    /// A world that contains only the incline.
    pub(super) fn test_world(&self) -> TestWorld {
        let mut setup = TestWorld::new(self.model, self.surface());
        setup.floor(self.X_WG());
        setup
    }

    /// Accelerations of a body whose contact lies r below its centre, with the square k² of its radius of gyration (m²).
    ///
    /// With F the friction, m a = m g sin θ − F and m k² α = F r.
    ///
    /// ```text
    /// rolling   a = α r = g sin θ/(1 + k²/r²),   as long as g sin θ − a ≤ μ g cos θ
    /// sliding   a = g(sin θ − μ cos θ),          α = μ g cos θ · r/k²
    /// ```
    pub(super) fn law(&self, r: f64, gyration: f64) -> Law {
        let downhill = G * self.angle().sin();
        let most = self.friction * G * self.angle().cos();
        let rolling = downhill / (1.0 + gyration / (r * r));
        if downhill - rolling <= most {
            return Law {
                motion: Motion::Rolling,
                acceleration: rolling,
                angular_acceleration: rolling / r,
            };
        }
        Law {
            motion: Motion::Sliding,
            acceleration: downhill - most,
            angular_acceleration: most * r / gyration,
        }
    }

    pub(super) fn name(&self, motion: Motion, what: &str) -> String {
        let Self {
            case,
            friction,
            angle_deg,
            ..
        } = self;
        let model = self.model.name();
        format!("{case}: {motion:?}, {what} at μ = {friction}, θ = {angle_deg}°, {model}")
    }

    /// Compares growth of speed and spin with the law, within the solver's error and `besides`.
    pub(super) fn findings(
        &self,
        law: &Law,
        run: &Run,
        growth: &Growth<2>,
        besides: [f64; 2],
        source: &str,
    ) -> [Finding; 2] {
        let whats = ["acceleration (m/s²)", "angular acceleration (rad/s²)"];
        let expected = [law.acceleration, law.angular_acceleration];
        std::array::from_fn(|k| {
            Finding::equals(
                self.name(law.motion, whats[k]),
                growth.rate[k],
                expected[k],
                run.solver_acceleration(growth.after[k]) + besides[k],
                source,
            )
        })
    }
}
