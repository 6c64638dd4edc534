//! Index types of vertices, triangles, tetrahedra and edges.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! index_type {
    ($(#[$meaning:meta])* $name:ident) => {
        $(#[$meaning])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the array it indexes.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $name {
            fn from(index: u32) -> Self {
                Self(index)
            }
        }

        impl From<$name> for u32 {
            fn from(index: $name) -> Self {
                index.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index_type! {
    /// A vertex of one mesh, counted from 0.
    VertexIdx
}
index_type! {
    /// A triangle of one [`TriMesh`](super::TriMesh), or of a [`Boundary`](super::Boundary), counted from 0.
    TriangleIdx
}
index_type! {
    /// A tetrahedron of one [`TetMesh`](super::TetMesh), counted from 0.
    TetIdx
}
index_type! {
    /// An edge of one [`TriMesh`](super::TriMesh), counted from 0.
    EdgeIdx
}
