//! External force fields.

use std::fmt::Debug;

use nalgebra::{Point3, Vector3};

/// A body force that depends on position: wind, buoyancy, a magnetic field.
///
/// It is evaluated at positions at the start of a step, and constant within it. Its force on a vertex is ∫N f dV with the vertex's shape
/// function N, by adaptive quadrature: elements in which it changes fast are split into smaller pieces. A step warns of fields that are
/// narrower than the elements.
///
/// ```
/// use std::sync::Arc;
/// use nalgebra::{Point3, Vector3};
/// # use pliant_constitutive::Lame;
/// use pliant_contact_sap::{BodyStep, Control, DeformableModel, StepInput};
/// use pliant_fem::{FemBuilder, ForceField};
/// # use pliant_fem::Linear;
/// # use pliant_hydroelastic::mesh::generate::tet_cuboid;
///
/// /// Buoyancy in water below z = 0.
/// #[derive(Debug)]
/// struct Water;
/// impl ForceField for Water {
///     fn force_density(&self, p_WQ: &Point3<f64>) -> Vector3<f64> {
///         if p_WQ.z <= 0.0 { Vector3::new(0.0, 0.0, 9810.0) } else { Vector3::zeros() }
///     }
/// }
/// # // A cube of 10 cm, its top at z = 0.
/// # let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2])?;
/// # let material = Arc::new(Linear::new(Lame::new(1e4, 1e4)?));
/// # let pose = nalgebra::Isometry3::translation(0.0, 0.0, -0.05);
/// // A litre below the surface: the impulse of 9.81 N over 10 ms is on the right-hand side.
/// let (cube, _) = FemBuilder::new(mesh, material, 500.0).pose(pose).force_field(Arc::new(Water)).build()?;
/// let (mut step, control, mut v0) = (cube.new_step(), Control::default(), Vec::new());
/// step.begin(&cube.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// step.linearise_start(&mut v0)?;
/// let lift: f64 = step.dynamics().right_hand_side().iter().skip(2).step_by(3).sum();
/// assert!((lift - 0.0981).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ForceField: Send + Sync + Debug {
    /// Force per m³ of rest volume at a point, N/m³, world axes.
    fn force_density(&self, p_WQ: &Point3<f64>) -> Vector3<f64>;

    /// Lower and upper bounds of the components in the box between two corners, N/m³; `None` if they are unknown.
    ///
    /// They may be wider than the range of the field. With them the quadrature finds peaks that lie between its points.
    fn bounds(&self, _low: &Point3<f64>, _high: &Point3<f64>) -> Option<[Vector3<f64>; 2]> {
        None
    }
}

/// A uniform force per rest volume, N/m³, world axes.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_fem::{ForceField, UniformForce};
///
/// // A magnet's pull of 200 N/m³ along x, everywhere.
/// let pull = UniformForce(Vector3::new(200.0, 0.0, 0.0));
/// assert_eq!(pull.force_density(&Point3::new(3.0, 0.0, 1.0)).x, 200.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformForce(pub Vector3<f64>);

impl ForceField for UniformForce {
    fn force_density(&self, _: &Point3<f64>) -> Vector3<f64> {
        self.0
    }

    fn bounds(&self, _: &Point3<f64>, _: &Point3<f64>) -> Option<[Vector3<f64>; 2]> {
        Some([self.0; 2])
    }
}
