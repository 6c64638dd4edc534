//! External force fields.

use std::fmt::Debug;

use nalgebra::{Point3, Vector3};

/// A body force that depends on position: wind, buoyancy, a magnetic field.
///
/// It is evaluated at the positions of the vertices at the start of a step, and constant within it.
pub trait ForceField: Send + Sync + Debug {
    /// Force per m³ of rest volume at a point, N/m³, world axes.
    fn force_density(&self, p_WQ: &Point3<f64>) -> Vector3<f64>;
}

/// A uniform force per rest volume, N/m³, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformForce(pub Vector3<f64>);

impl ForceField for UniformForce {
    fn force_density(&self, _: &Point3<f64>) -> Vector3<f64> {
        self.0
    }
}
