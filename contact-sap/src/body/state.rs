//! The state of a body, and what a finished step reports.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::error::BodyError;

/// Everything of a body that changes from step to step. Plain data.
///
/// ```
/// use pliant_contact_sap::{BodyError, BodyState};
///
/// let state = BodyState::new(vec![0.0, 0.0, 1.0], vec![0.0, f64::NAN, 0.0]);
/// let error = state.check(3, 3, 0).unwrap_err();
/// assert!(error.to_string().starts_with("v, entry 1 is NaN"));
/// assert!(matches!(state.check(3, 6, 0), Err(BodyError::StateLength { what: "v", .. })));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyState {
    /// Generalised positions.
    pub q: Vec<f64>,
    /// Generalised velocities.
    pub v: Vec<f64>,
    /// Everything else that affects the next step: plastic strains, reference frames, last rotations.
    pub history: Vec<f64>,
}

impl BodyState {
    /// A state without history.
    #[must_use]
    pub fn new(q: Vec<f64>, v: Vec<f64>) -> Self {
        let history = Vec::new();
        Self { q, v, history }
    }

    /// Checks the lengths of q, v and history, and that all numbers are finite.
    ///
    /// # Errors
    /// [`BodyError::StateLength`] and [`BodyError::NotFinite`].
    pub fn check(&self, n_q: usize, n_v: usize, n_history: usize) -> Result<(), BodyError> {
        let vectors = [
            ("q", &self.q, n_q),
            ("v", &self.v, n_v),
            ("history", &self.history, n_history),
        ];
        for (what, values, expected) in vectors {
            let found = values.len();
            if found != expected {
                return Err(BodyError::StateLength {
                    what,
                    found,
                    expected,
                });
            }
            if let Some(i) = values.iter().position(|x| !x.is_finite()) {
                return Err(BodyError::NotFinite {
                    location: format!("{what}, entry {i}"),
                    value: values[i],
                });
            }
        }
        Ok(())
    }
}

/// Energies and momenta of a body.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::Energy;
///
/// // 2 kg at 1 m height and 3 m along x, moving at 5 m/s along y.
/// let (p, v) = (Vector3::new(3.0, 0.0, 1.0), Vector3::new(0.0, 5.0, 0.0));
/// let energy = Energy::of_point_mass(2.0, &p, &v, &Vector3::new(0.0, 0.0, -9.81));
/// assert_eq!((energy.kinetic, energy.potential), (25.0, 19.62));
/// assert_eq!(energy.angular_momentum_W.z, 30.0); // x m v_y
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// J.
    pub kinetic: f64,
    /// Of gravity and springs, J.
    pub potential: f64,
    /// kg·m/s, world axes.
    pub linear_momentum_W: Vector3<f64>,
    /// About the world origin, kg·m²/s.
    pub angular_momentum_W: Vector3<f64>,
}

impl Energy {
    /// Of a mass (kg) at `p_W` (m) with velocity `v_W` (m/s).
    #[must_use]
    pub fn of_point_mass(
        mass: f64,
        p_W: &Vector3<f64>,
        v_W: &Vector3<f64>,
        gravity: &Vector3<f64>,
    ) -> Self {
        Self {
            kinetic: 0.5 * mass * v_W.norm_squared(),
            potential: -mass * gravity.dot(p_W),
            linear_momentum_W: v_W * mass,
            angular_momentum_W: p_W.cross(v_W) * mass,
        }
    }
}

/// The report of a finished step.
///
/// ```
/// use pliant_contact_sap::BodyReport;
///
/// /// What a rope reports whose edges have these lengths, m.
/// fn report(lengths: &[f64], longest: f64) -> BodyReport {
///     let stretched = lengths.iter().enumerate().filter(|(_, length)| **length > longest);
///     BodyReport { warnings: stretched.map(|(i, length)| format!("edge {i} has a length of {length} m")).collect() }
/// }
/// assert_eq!(report(&[0.01, 0.03, 0.01], 0.02).warnings, ["edge 1 has a length of 0.03 m"]);
/// ```
#[must_use]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodyReport {
    /// Anything suspicious, with the part of the body that is affected.
    pub warnings: Vec<String>,
}
