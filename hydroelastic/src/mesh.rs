//! Triangle and tetrahedral meshes: checked on construction, then immutable, with the adjacency that contact needs.
//!
//! A mesh comes from a file ([`read_surface`], [`read_tets`]; OBJ, STL, PLY, legacy VTK, VTU, Gmsh, MuJoCo's MSH), from bytes in memory
//! ([`surface_from_bytes`], [`tets_from_bytes`]), from arrays ([`TriMesh::build`], [`TetMesh::build`]) or from
//! [`generate`]. All of them pass the same checks, and all but the last return a [`LoadReport`] with the mesh:
//! everything ignored, repaired or suspicious, each with its location. Nothing is dropped silently.
//!
//! The requirements on a surface depend on its purpose ([`SurfaceUse`]): a solid is closed, 2-manifold and oriented
//! outwards; a cloth may be open. Of a convex hull ([`read_hull`]) only the points matter, and of what is only drawn
//! ([`read_drawn`]) nothing but finite coordinates.
//!
//! ```
//! use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, surface_from_bytes};
//!
//! let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
//! let (mesh, report) = surface_from_bytes(obj, "corner.obj", SurfaceUse::Solid, &SurfaceOptions::default())?;
//! assert!(report.entries.is_empty() && mesh.is_closed());
//! assert!((mesh.solid_moments().unwrap().volume - 1.0 / 6.0).abs() < 1e-15);
//! # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
//! ```

mod base64;
mod cells;
mod components;
mod cursor;
mod drawn;
mod edge_nodes;
mod error;
mod faces;
mod format;
pub mod generate;
mod gmsh;
mod hull;
mod index;
mod moments;
mod mujoco_msh;
mod names;
mod obj;
mod options;
mod orientation;
mod ply;
mod quadratic;
mod read;
mod repair;
mod report;
mod scalar;
mod self_intersection;
mod shells;
mod soup;
mod stl;
mod surface_build;
mod tet_build;
mod tet_mesh;
mod tetrahedralise;
mod topology;
mod tri_mesh;
mod vertex_checks;
mod vtk;
mod vtk_cells;
mod vtu;
mod vtu_write;
mod weld;

pub use drawn::{DrawnPart, SURFACE_FILES, drawn_from_bytes, is_surface_file, read_drawn};
pub use error::{FilePosition, Flaw, Location, MeshError};
pub(crate) use faces::crowded_face;
pub use hull::{hull_from_bytes, read_hull};
pub use index::{EdgeIdx, TetIdx, TriangleIdx, VertexIdx};
pub use moments::{Bounds, SolidMoments};
pub use options::{
    Degenerate, Orientation, SelfIntersections, SurfaceOptions, SurfaceUse, TetOptions, Weld,
    WeldWhen,
};
pub use quadratic::{MID_EDGES, QuadraticMesh};
pub use read::{read_bounded, read_surface, read_tets, surface_from_bytes, tets_from_bytes};
pub use report::{LoadEntry, LoadReport, Severity};
pub use tet_mesh::{Boundary, TetMesh, tet_quality};
pub use tetrahedralise::{Crossings, FillSettings, tetrahedralise};
pub use topology::Edge;
pub(crate) use topology::{Topology, edge_groups, sorted_half_edges};
pub use tri_mesh::{TriMesh, triangle_quality};
pub use vtu_write::{PvdSeries, VtuArray, VtuCells, VtuEncoding, VtuFile, VtuValues};
