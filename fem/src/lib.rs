#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! [`FemBuilder`] makes a [`FemBody`] of a tetrahedral mesh and a [`Material`]; the body is a
//! [`DeformableModel`](pliant_contact_sap::DeformableModel), which any stepper takes. A user-defined law is a
//! [`PrincipalLaw`](pliant_constitutive::PrincipalLaw) (isotropic) or a [`Material`].
#![allow(
    non_snake_case,
    reason = "monogram frame names such as p_WQ and the field's F, P, R are the notation of the theory"
)]

mod body;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod dofs;
mod domain_law;
mod domain_links;
mod domains;
mod element;
mod error;
mod field_forces;
mod free_motion;
mod loads;
mod mass;
mod material;
mod matrix;
mod parallel;
mod part_material;
mod parts;
mod patches;
mod quadratic;
mod quadrature;
mod region;
mod rest;
mod skin;
mod smoothing;
mod step;
mod thickness;

pub use body::{FemBody, FemBuilder};
pub use element::Element;
pub use error::FemError;
pub use loads::{ForceField, UniformForce};
pub use mass::MassKind;
pub use material::{
    Lag, LawKind, Linear, LinearCorotated, Linearity, MATERIAL_PRESETS, Material, MaterialPreset,
    Principal, Tangent, material_preset,
};
pub use parts::{AnchorCompliance, Preconditioning, Rayleigh, Rotation};
pub use region::{Axis, Elements, Region};
pub use rest::Kinematics;
