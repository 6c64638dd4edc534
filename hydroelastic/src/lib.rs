//! Contact geometry: shapes, their signed distance, and the points at which two of them touch.
#![allow(non_snake_case, reason = "monogram frame names such as X_WB are the field's notation")]

mod aabb;
mod geometry_error;
mod material;
pub mod mesh;
mod parry;
mod shape;
#[cfg(test)]
mod test_support;
pub mod signed_distance;

pub use aabb::Aabb;
pub use geometry_error::GeometryError;
pub use material::{ContactMaterial, PairMaterial};
pub use shape::{
    Capsule, Cone, ConvexHull, Cuboid, Cylinder, Ellipsoid, HullEdge, HullFace, MassProperties, MeshShape, Shape, Sphere,
};
pub use signed_distance::SignedDistance;
