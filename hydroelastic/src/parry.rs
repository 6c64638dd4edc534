//! Conversions to parry: the only file that uses both its glam types and our nalgebra types.
//!
//! parry provides bounding volume trees. Hulls, distances, normals and manifolds are computed here, because a solver needs them exact
//! and continuous.

use nalgebra::{Point3, Vector3};
use parry3d_f64::bounding_volume::Aabb as ParryAabb;
use parry3d_f64::math::Vector as ParryVector;

use crate::aabb::Aabb;

pub(crate) fn vector(v: &Vector3<f64>) -> ParryVector {
    ParryVector::new(v.x, v.y, v.z)
}

pub(crate) fn point(p: &Point3<f64>) -> ParryVector {
    ParryVector::new(p.x, p.y, p.z)
}

pub(crate) fn aabb(b: &Aabb) -> ParryAabb {
    ParryAabb::new(vector(&b.min.coords), vector(&b.max.coords))
}
