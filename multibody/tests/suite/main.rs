//! Tests of the crate in one binary, so that they are linked once and run in parallel.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod broken_robots;
mod collision_meshes;
mod conservation;
mod dynamics;
mod equivalent_joints;
mod file_budget;
mod fixed_links;
mod gravity_compensation;
mod inverse_kinematics;
mod joint_forces;
mod kinematics;
mod mjcf_condim;
mod mjcf_copies;
mod mjcf_faults;
mod mjcf_inertias;
mod mjcf_loops;
mod mjcf_models;
mod mjcf_tendons;
mod project_robots;
mod properties;
mod published_files;
mod published_mjcf;
mod published_sdf;
mod random_trees;
mod rigid_tree;
mod robots;
mod screw_and_universal;
mod sdf_auto_inertia;
mod sdf_axes;
mod sdf_loops;
mod sdf_models;
mod sdf_nested;
mod shared_data;
mod unknown_attributes;
mod urdf_dialects;
