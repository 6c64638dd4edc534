//! The program and its scenes: one binary for all tests, so that they are linked once and run side by side.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod backlash;
mod benchmark_tables;
mod bundled_scenes;
mod check_command;
mod checkpoint_faults;
mod command_line;
mod contact_models;
mod coverage;
mod crowned_pulley;
mod default_observables;
mod documentation_links;
mod drive_faults;
mod endless_steps;
mod equilibria;
mod flush_shapes;
mod force_fields;
mod friction_of_geoms;
mod gallery;
#[cfg(feature = "gpu")]
mod gpu_batch;
#[cfg(feature = "gpu")]
mod gpu_scenes;
mod heavy_bodies;
mod height_fields;
mod image_sensors;
mod impacts_and_forces;
mod impulse_exchange;
mod interrupted_runs;
mod line_contacts;
mod live_runs;
mod looks_and_keyframes;
mod loops_in_robot_files;
mod material_point_faults;
mod material_points_in_scenes;
mod mimic_chains;
#[allow(dead_code, reason = "unit tests of the recording use the rest")]
mod npz;
mod oversized_input;
mod particle_states;
mod patch_forces;
mod penalty_force_bodies;
mod penalty_pyramid;
mod penalty_scenes;
mod pictures_of_scenes;
mod points_and_patches;
mod points_on_finite_elements;
mod press_in_long_steps;
mod program;
mod quadratic_bodies;
mod recordings_in_files;
mod rendered_pictures;
mod replay_in_browser;
mod replay_size;
mod results;
mod robot_files;
mod rod_baselines;
mod rod_faults;
mod rods_in_scenes;
mod rods_on_points;
mod scene_documentation;
mod scene_faults;
mod scene_features;
mod scene_patches;
mod scene_settings;
mod screw_and_universal_joints;
mod sensors;
mod shoelace_in_points;
mod simulation_batch;
mod soft_body_faults;
mod soft_rest;
mod soft_scene_features;
mod steered_hand;
mod tunnelling;
mod tutorial_scenes;
mod validate;
