//! A shape of your own: known by its signed distance.

use nalgebra::Point3;

use super::MassProperties;
use crate::signed_distance::SignedDistance;
use crate::{Aabb, GeometryError};

/// A shape that this crate does not know, such as a terrain or an implicit surface.
///
/// Deforming surfaces touch it at once, through its signed distance. Contact with rigid shapes is what its author's
/// [`ContactGeometry`](crate::ContactGeometry) says, which recognises it by [`as_any`](Self::as_any); see
/// `examples/own_geometry.rs`.
pub trait CustomShape: std::fmt::Debug + Send + Sync + 'static {
    /// The word for it in messages.
    fn name(&self) -> &'static str;
    /// The smallest box around it, in its own frame; [`Aabb::ALL`] if it has no end.
    fn local_aabb(&self) -> Aabb;
    /// φ at a point of its own frame, m. |φ| must not exceed the true distance: paths are followed by steps of that length.
    fn signed_distance(&self, p_GQ: &Point3<f64>) -> SignedDistance<f64>;
    /// To be downcast by the geometry that knows it.
    fn as_any(&self) -> &dyn std::any::Any;
    /// Mass, centroid and inertia at a density (kg/m³).
    ///
    /// # Errors
    /// [`GeometryError::Unbounded`] unless it says otherwise.
    fn mass_properties(&self, density: f64) -> Result<MassProperties, GeometryError> {
        let _ = density;
        Err(GeometryError::Unbounded { shape: self.name() })
    }
}
