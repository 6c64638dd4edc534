//! What the surface of a rigid shape has besides its contact material.

/// Impacts and resistance to turning, where a rigid shape touches another at points. Soft bodies, and pairs with patches, have neither.
///
/// ```
/// use pliant_coupling::RigidSurface;
///
/// let rubber = RigidSurface { restitution: Some(0.8), rolling_friction: 1e-3, ..RigidSurface::default() };
/// let steel = RigidSurface { restitution: Some(0.6), torsional_friction: 5e-3, ..RigidSurface::default() };
/// let pair = rubber.combined_with(&steel); // the larger of two values
/// assert_eq!((pair.restitution, pair.rolling_friction, pair.torsional_friction), (Some(0.8), 1e-3, 5e-3));
/// // The compliance of the contact decides about its rebound where neither surface has a coefficient.
/// assert_eq!(RigidSurface::default().combined_with(&RigidSurface::default()).restitution, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidSurface {
    /// e of Newton's law of impact, from 0 to 1: the normal speed after an impact over that before it, for any time step and stiffness.
    /// `None`: stiffness and dissipation of the contact decide.
    pub restitution: Option<f64>,
    /// Largest torque about the normal per normal force, m: for a disc of radius R under even pressure 2/3 μ R. Friction at the point alone
    /// does not resist turns about the normal.
    pub torsional_friction: f64,
    /// Largest torque against rolling per normal force, m: how far ahead of the centre the ground carries a wheel.
    pub rolling_friction: f64,
}

impl RigidSurface {
    /// The values of a pair: the larger of each two.
    #[must_use]
    pub fn combined_with(&self, other: &Self) -> Self {
        Self {
            restitution: match (self.restitution, other.restitution) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            },
            torsional_friction: self.torsional_friction.max(other.torsional_friction),
            rolling_friction: self.rolling_friction.max(other.rolling_friction),
        }
    }

    /// The first property that acts: its name and value.
    pub(crate) fn first_given(&self) -> Option<(&'static str, f64)> {
        let acts = |(_, length): &(&str, f64)| *length != 0.0;
        (self.restitution.map(|e| ("restitution", e)))
            .or_else(|| self.lengths().into_iter().find(acts))
    }

    fn lengths(&self) -> [(&'static str, f64); 2] {
        [
            ("torsional friction (m)", self.torsional_friction),
            ("rolling friction (m)", self.rolling_friction),
        ]
    }

    /// The first value out of its range: its name, the value and what is allowed.
    pub(crate) fn fault(&self) -> Option<(&'static str, f64, &'static str)> {
        let restitution = self.restitution.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&restitution) {
            return Some(("restitution", restitution, "must be from 0 to 1"));
        }
        let mut lengths = self.lengths().into_iter();
        lengths
            .find(|(_, length)| !(*length >= 0.0 && length.is_finite()))
            .map(|(name, length)| (name, length, "must be finite and not negative"))
    }
}
