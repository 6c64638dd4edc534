//! Integration tests of fields, patches and meshes, in one binary to save link time.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod broken_meshes;
mod convex_hulls;
mod hull_files;
mod mesh_checks;
mod mesh_readers;
mod mesh_repairs;
mod patch_accuracy;
mod patch_soak;
mod properties;
mod published_meshes;
mod scenes_of_meshes;
mod shared_data;
mod tet_mesh_checks;
mod tetrahedralise;
mod vtu_files;
