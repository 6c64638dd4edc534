//! Contact geometry: shapes, meshes and their readers, signed distance, pressure fields, contact points and contact
//! patches.
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod aabb;
mod attachment;
mod broad_phase;
mod cells;
mod collision_filter;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod contact_geometry;
mod contact_point;
mod contact_workspace;
mod dispatcher;
mod exposure;
mod field;
mod filament;
mod filament_contact;
mod geometry_error;
mod material;
pub mod mesh;
mod narrow_phase;
mod parry;
mod particle_contact;
mod patch;
mod patch_geometry;
mod point_contact;
mod posed;
mod pressure_bvh;
mod self_exclusion;
mod shape;
mod shape_of_surface;
pub mod signed_distance;
mod soft_contact;
mod soft_mesh;
mod sweep;
#[cfg(test)]
mod test_support;
mod twist;

pub use aabb::Aabb;
pub use attachment::{
    Branch, Convexity, Crossable, EdgeHit, EdgesCrossing, EdgesRelaxed, Facing, FrictionAxis,
    MeshPlace, MeshRelaxed, Path, Relaxed, RigidPath, Share, Slide, SlidingFriction, SurfaceHit,
    SweptSurface, Variable, VertexHit, WalkEnd, WalkSurface, WeightDerivative, closest_attachment,
    distance_on_side_of, edge_meets_edge, edge_meets_edge_rigidly, entry_point, first_zero,
    relax_on_level_set, vertex_meets_triangle, vertex_meets_triangle_rigidly,
};
pub use broad_phase::{BroadPhase, Proxy};
pub use collision_filter::{
    CollisionFilter, CollisionFilterBuilder, GeometryIdx, GroupIdx, OwnerIdx,
};
pub use contact_geometry::{ContactChoice, ContactGeometry, Query};
pub use contact_point::{
    ContactKey, ContactPoint, MaterialPoint, PatchShare, PointStiffness, Primitive,
};
pub use contact_workspace::ContactWorkspace;
pub use dispatcher::GeometryDispatcher;
pub use exposure::{is_exposed, is_faced};
pub use field::{Attachment, Compliance, PressureField};
pub use filament::{Filament, FlatSection, Outline, Tips};
pub use filament_contact::FilamentContact;
pub use geometry_error::GeometryError;
pub use material::{ContactMaterial, PairMaterial};
pub use particle_contact::ParticleContact;
pub use patch::{ContactPatch, PatchContact, PatchPolygon, PatchSummary};
pub use patch_geometry::{PatchGeometry, RigidSurface, Slab};
pub use point_contact::PointContact;
pub use posed::{DeformingSurface, Posed, RigidShape};
pub use self_exclusion::SelfExclusion;
pub use shape::gyration;
pub use shape::{
    AnalyticShape, Capsule, Cone, ConvexHull, Cuboid, CustomShape, Cylinder, Ellipsoid,
    EllipticCylinder, HullEdge, HullFace, MassProperties, MeshShape, PseudoNormals, SampledShape,
    Shape, Sphere,
};
pub use signed_distance::SignedDistance;
pub use soft_contact::SoftContact;
pub use soft_mesh::SoftMesh;
pub use twist::Twist;

/// The program of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeProgram;
