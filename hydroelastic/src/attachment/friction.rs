//! Friction of an attachment.

use nalgebra::RealField;

/// Coefficients of Coulomb friction of an attachment.
///
/// An attachment that the force holds within the cone of `sticking` stays where it is; any other slides to the cone of `sliding`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlidingFriction<T> {
    /// μ_s, not less than `sliding`.
    pub sticking: T,
    /// μ_k, not negative.
    pub sliding: T,
}

impl<T: RealField + Copy> SlidingFriction<T> {
    /// One coefficient μ for both.
    #[must_use]
    pub fn coulomb(mu: T) -> Self {
        Self {
            sticking: mu,
            sliding: mu,
        }
    }
}
