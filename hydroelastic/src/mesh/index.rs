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
    ///
    /// ```
    /// use pliant_hydroelastic::mesh::{VertexIdx, generate};
    ///
    /// // The rim of a square of cloth passes through its four corners.
    /// let square = generate::sheet([2.0, 2.0], [1, 1])?;
    /// let rim: &[VertexIdx] = &square.boundary_loops()[0];
    /// assert_eq!(rim.len(), 4);
    /// assert!(rim.iter().all(|v| (square.vertices()[v.index()].norm() - 2f64.sqrt()).abs() < 1e-15));
    /// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
    /// ```
    VertexIdx
}
index_type! {
    /// A triangle of one [`TriMesh`](super::TriMesh), or of a [`Boundary`](super::Boundary), counted from 0.
    ///
    /// ```
    /// use pliant_hydroelastic::mesh::{TriangleIdx, generate};
    ///
    /// // The worst triangle of a ball, and its neighbours across its three edges.
    /// let ball = generate::sphere(1.0, 3)?;
    /// let (worst, quality): (TriangleIdx, f64) = ball.min_quality();
    /// assert_eq!(ball.quality(worst), quality);
    /// for neighbour in ball.neighbours(worst) {
    ///     let neighbour = neighbour.expect("a closed surface has no boundary");
    ///     assert!(ball.neighbours(neighbour).contains(&Some(worst)));
    /// }
    /// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
    /// ```
    TriangleIdx
}
index_type! {
    /// A tetrahedron of one [`TetMesh`](super::TetMesh), counted from 0.
    ///
    /// ```
    /// use nalgebra::Vector3;
    /// use pliant_hydroelastic::mesh::{TetIdx, generate};
    ///
    /// // Half of a cube of 2 m: tetrahedra whose centroid is below the middle.
    /// let cube = generate::tet_cuboid(Vector3::repeat(1.0), [2, 2, 2])?;
    /// let centroid = |tet: TetIdx| cube.corners(tet).iter().sum::<Vector3<f64>>() / 4.0;
    /// let lower = (0..cube.tets().len() as u32).map(TetIdx).filter(|tet| centroid(*tet).z < 0.0);
    /// let volume: f64 = lower.map(|tet| cube.tet_volume(tet)).sum();
    /// assert!((volume - 4.0).abs() < 1e-12);
    /// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
    /// ```
    TetIdx
}
index_type! {
    /// An edge of one [`TriMesh`](super::TriMesh), counted from 0.
    ///
    /// ```
    /// use pliant_hydroelastic::mesh::{EdgeIdx, TriangleIdx, generate};
    ///
    /// // Edge k of a triangle runs from its corner k to its corner k + 1.
    /// let ball = generate::sphere(1.0, 2)?;
    /// let corners = ball.triangles()[7];
    /// let sides: [EdgeIdx; 3] = ball.triangle_edges(TriangleIdx(7));
    /// for (k, side) in sides.iter().enumerate() {
    ///     let ends = ball.edges()[side.index()].vertices;
    ///     assert!(ends.contains(&corners[k]) && ends.contains(&corners[(k + 1) % 3]));
    /// }
    /// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
    /// ```
    EdgeIdx
}
