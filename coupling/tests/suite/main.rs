//! Bodies of every kind together: one binary for all tests, so that they are linked once and run side by side.

#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]

mod adaptive;
mod adhesion;
mod adjoint;
mod batch;
mod before_touch;
mod closed_loops;
mod impacts;
mod integration;
mod joint_reactions;
mod patches;
mod penalty_baselines;
mod penalty_edges;
mod penalty_force;
mod penalty_force_surfaces;
mod penalty_incline;
mod penalty_pairs;
mod penalty_shapes;
mod penalty_soft;
mod penalty_tiles;
mod penalty_worlds;
mod properties;
mod random_rigid;
mod refusals;
mod reports;
mod restitution;
mod rigid_contact;
mod soft_bodies;
mod stiction;
mod throws;
mod turning;
mod who_touches_whom;
