//! Attachments: points of a surface that pull particles back to it, and slide by Coulomb's law.
//!
//! A particle at Z inside an object is pulled to the attachment Y on the object's surface by f = k (Y − Z). The attachment moves from its
//! old place X only as far as keeps f in the friction cone at Y:
//!
//! ```text
//! Y = P(X, Z)        |f_t| ≤ μ f_n        P(P(X, Z), Z) = P(X, Z)
//! ```
//!
//! P and its first derivatives are here, for [level sets](relax_on_level_set), for [triangle meshes](WalkSurface) and for two
//! [edges that cross](EdgesRelaxed), together with where an
//! attachment begins: on the way into a [level set](entry_point), or where a [moving vertex](vertex_meets_triangle) meets a triangle.
//!
//! Source: Ding, Schroeder (2020), "Penalty force for coupling materials with Coulomb friction", section 2. Derivatives:
//! `docs/theory/ding-2020.md`.

mod edge_pair;
mod entry;
mod exact_slide;
mod friction;
mod level_set;
mod mesh_walk;
mod swept;
mod swept_surface;

pub use edge_pair::{EdgesCrossing, EdgesRelaxed};
pub use entry::{Convexity, closest_attachment, entry_point, first_zero};
pub use friction::{FrictionAxis, SlidingFriction};
pub use level_set::{Branch, Relaxed, Slide, distance_on_side_of, relax_on_level_set};
pub use mesh_walk::{
    Facing, MeshPlace, MeshRelaxed, Share, Variable, WalkEnd, WalkSurface, WeightDerivative,
};
pub use swept::{
    EdgeHit, Path, RigidPath, VertexHit, edge_meets_edge, edge_meets_edge_rigidly,
    vertex_meets_triangle, vertex_meets_triangle_rigidly,
};
pub use swept_surface::{Crossable, SurfaceHit, SweptSurface};
