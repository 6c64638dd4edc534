//! Affine functions of position.

use nalgebra::Vector3;

/// The function `gradient · x + offset`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Affine {
    pub(crate) gradient: Vector3<f64>,
    pub(crate) offset: f64,
}

impl Affine {
    #[inline]
    pub(crate) fn at(&self, x: &Vector3<f64>) -> f64 {
        self.gradient.dot(x) + self.offset
    }

    pub(crate) fn times(&self, factor: f64) -> Self {
        Self {
            gradient: self.gradient * factor,
            offset: self.offset * factor,
        }
    }
}
