//! External force fields.

use std::fmt::Debug;

use nalgebra::{Point3, Vector3};

/// A force that acts on a body wherever it is: wind, buoyancy, a magnet.
///
/// Evaluated at the vertices where they are when a step starts, and constant in it.
pub trait ForceField: Send + Sync + Debug {
    /// Force per m³ of rest volume at a point, N/m³, world axes.
    fn force_density(&self, p_WQ: &Point3<f64>) -> Vector3<f64>;
}

/// The same force on every m³ of rest volume, N/m³, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformForce(pub Vector3<f64>);

impl ForceField for UniformForce {
    fn force_density(&self, _: &Point3<f64>) -> Vector3<f64> {
        self.0
    }
}
