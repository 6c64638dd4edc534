//! Fields, patches and meshes: one binary for all tests, so that they are linked once and run side by side.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod broken_meshes;
mod mesh_checks;
mod mesh_readers;
mod patch_soak;
mod patch_truth;
mod published_meshes;
mod shared_data;
mod tet_mesh_checks;
mod tetrahedralise;
mod vtu_files;
