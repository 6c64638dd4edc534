//! The state of one material point.

use nalgebra::{Matrix3, Vector3};

use crate::material::Strain;
use pliant_constitutive::Real;

/// One material point: the quantities that transfers and materials read, contiguous in memory.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_mpm::{Particle, momenta};
///
/// // A particle of 2 g at x = 1 m that moves at 3 m/s along y.
/// let particle = Particle { x: Vector3::x(), v: Vector3::new(0.0, 3.0, 0.0), mass: 2e-3, ..Particle::<f64>::default() };
/// let (linear, angular) = momenta(&[particle], 0.02);
/// assert_eq!((linear.y, angular.z), (6e-3, 6e-3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle<T> {
    /// Position, m, world frame.
    pub x: Vector3<T>,
    /// What `x` lacks of the position by round-off, m. In f32 a substep moves a particle by no more than some hundred times the last bit of `x`, and all particles of
    /// a place would be rounded in the same direction: the sum of the substeps is compensated (Kahan 1965). Zero in f64.
    pub x_rest: Vector3<T>,
    /// kg.
    pub mass: T,
    /// Velocity, m/s.
    pub v: Vector3<T>,
    /// Volume at rest V₀, m³.
    pub volume: T,
    /// Affine velocity C, C_jk = ∂v_j/∂x_k, 1/s.
    pub c: Matrix3<T>,
    /// Internal state of the material.
    pub strain: Strain<T>,
    /// The object it belongs to.
    pub object: u32,
    /// Index in the state.
    pub index: u32,
}

impl<T: Real> Particle<T> {
    /// The same in another precision.
    pub(crate) fn cast<U: Real>(&self) -> Particle<U> {
        let vector = |x: &Vector3<T>| x.map(|x| U::of(x.wide()));
        let matrix = |x: &Matrix3<T>| x.map(|x| U::of(x.wide()));
        let position = self.x.map(T::wide) + self.x_rest.map(T::wide);
        let x = position.map(U::of);
        Particle {
            x,
            x_rest: (position - x.map(U::wide)).map(U::of),
            mass: U::of(self.mass.wide()),
            v: vector(&self.v),
            volume: U::of(self.volume.wide()),
            c: matrix(&self.c),
            strain: Strain {
                f: matrix(&self.strain.f),
                internal: self.strain.internal.map(|x| U::of(x.wide())),
            },
            object: self.object,
            index: self.index,
        }
    }

    /// Moves it by `step`, m. In f64 the last bit is far below any step.
    #[inline(always)]
    pub(crate) fn advance(&mut self, step: Vector3<T>) {
        if size_of::<T>() == size_of::<f64>() {
            self.x += step;
            return;
        }
        let step = step + self.x_rest;
        let next = self.x + step;
        self.x_rest = step - (next - self.x);
        self.x = next;
    }
}

impl<T: Real> Default for Particle<T> {
    /// At the origin, at rest, undeformed, without mass.
    fn default() -> Self {
        Self {
            x: Vector3::zeros(),
            x_rest: Vector3::zeros(),
            mass: T::zero(),
            v: Vector3::zeros(),
            volume: T::zero(),
            c: Matrix3::zeros(),
            strain: Strain {
                f: Matrix3::identity(),
                internal: [T::zero(); 2],
            },
            object: 0,
            index: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_steps_in_f32_are_not_rounded_each() {
        let step = 4.1e-6_f32;
        let start = Particle::<f64> {
            x: Vector3::repeat(0.27),
            ..Particle::default()
        };
        let mut particle: Particle<f32> = start.cast();
        let (mut plain, mut expected) = (0.27_f32, 0.27_f64);
        for _ in 0..10_000 {
            particle.advance(Vector3::repeat(step));
            plain += step;
            expected += f64::from(step);
        }
        let end: Particle<f64> = particle.cast();
        let error = (end.x.x - expected).abs();
        assert!(error < 1e-8, "{error:e}");
        // What it is for: the plain sum is off by a thousand times that.
        assert!((f64::from(plain) - expected).abs() > 1e-5, "{plain}");
    }
}
