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
        Particle {
            x: vector(&self.x),
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
}

impl<T: Real> Default for Particle<T> {
    /// At the origin, at rest, undeformed, without mass.
    fn default() -> Self {
        Self {
            x: Vector3::zeros(),
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
