//! User-defined shapes, given by their signed distance.

use nalgebra::Point3;

use super::MassProperties;
use crate::signed_distance::SignedDistance;
use crate::{Aabb, GeometryError};

/// A user-defined shape, such as a terrain or an implicit surface.
///
/// Contact with deforming surfaces uses its signed distance. Contact with rigid shapes needs a
/// [`ContactGeometry`](crate::ContactGeometry) of the user, which can downcast it with [`as_any`](Self::as_any); see
/// `examples/own_geometry.rs`.
///
/// ```
/// use nalgebra::{Matrix3, Point3};
/// use pliant_hydroelastic::{Aabb, CustomShape, Shape, SignedDistance};
///
/// /// Everything outside a ball: a bowl, seen from inside.
/// #[derive(Debug)]
/// struct Bowl { radius: f64 }
/// impl CustomShape for Bowl {
///     fn name(&self) -> &'static str { "bowl" }
///     fn local_aabb(&self) -> Aabb { Aabb::ALL }
///     fn signed_distance(&self, p: &Point3<f64>) -> SignedDistance<f64> {
///         let (r, n) = (p.coords.norm(), p.coords.normalize());
///         SignedDistance { value: self.radius - r, gradient: -n, hessian: (n * n.transpose() - Matrix3::identity()) / r }
///     }
///     fn as_any(&self) -> &dyn std::any::Any { self }
/// }
/// let bowl = Shape::custom(Bowl { radius: 1.0 });
/// assert!((bowl.signed_distance(&Point3::new(0.0, 0.0, -0.9)).value - 0.1).abs() < 1e-15);
/// ```
pub trait CustomShape: std::fmt::Debug + Send + Sync + 'static {
    /// Name in messages.
    fn name(&self) -> &'static str;
    /// The smallest axis-aligned box in its own frame; [`Aabb::ALL`] if it is unbounded.
    fn local_aabb(&self) -> Aabb;
    /// φ at a point of its own frame, m. |φ| must not exceed the true distance: conservative advancement uses it as
    /// step length.
    fn signed_distance(&self, p_GQ: &Point3<f64>) -> SignedDistance<f64>;
    /// For downcasting in a user's [`ContactGeometry`](crate::ContactGeometry).
    fn as_any(&self) -> &dyn std::any::Any;
    /// Mass, centroid and inertia at a density (kg/m³).
    ///
    /// # Errors
    /// [`GeometryError::Unbounded`] by default.
    fn mass_properties(&self, density: f64) -> Result<MassProperties, GeometryError> {
        let _ = density;
        Err(GeometryError::Unbounded { shape: self.name() })
    }
}
