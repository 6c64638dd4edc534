#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! [`FemBuilder`] makes a [`FemBody`] of a tetrahedral mesh and a [`Material`]; the body is a
//! [`DeformableModel`](pliant_contact_sap::DeformableModel), which any stepper takes. A law of your own is a
//! [`PrincipalLaw`] (isotropic) or a [`Material`].
#![allow(
    non_snake_case,
    reason = "monogram frame names such as p_WQ and the field's F, P, R are the notation of the theory"
)]

mod body;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod dofs;
mod error;
mod free_motion;
mod loads;
mod mass;
mod material;
mod matrix;
mod mesh_links;
mod parallel;
mod polar_decomposition;
mod region;
mod rest;
mod signed_svd;
mod step;
mod stuff;

pub use body::{AnchorCompliance, FemBody, FemBuilder, Preconditioning, Rayleigh, Rotation};
pub use error::FemError;
pub use loads::{ForceField, UniformForce};
pub use mass::MassKind;
pub use material::{
    Corotational, Domain, Lag, Lame, LawKind, Linear, LinearCorotated, Linearity, MATERIAL_PRESETS,
    Material, MaterialPreset, MooneyRivlin, NeoHookean, Principal, PrincipalLaw, Spectrum,
    StVenantKirchhoff, StableNeoHookean, Tangent, lame_parameters, material_preset,
};
pub use region::{Axis, Elements, Region};
pub use rest::Kinematics;
