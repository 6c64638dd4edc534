#![doc = include_str!("../README.md")]
#![allow(
    non_snake_case,
    reason = "F, J, P, R, U and V are the notation of continuum mechanics"
)]
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "`!(x > bound)` is also true for NaN"
)]

mod corotated;
mod corotational;
mod error;
mod fixed_corotated;
mod hencky;
mod hooke;
mod lame;
mod mooney_rivlin;
mod neo_hookean;
mod number;
mod polar;
mod principal;
mod real;
mod signed_svd;
mod st_venant_kirchhoff;
mod stable_neo_hookean;
mod tensor;
mod terms;
#[cfg(test)]
mod tests;

pub use corotated::{corotated_stretch, corotated_stretches, rest_stretch};
pub use corotational::Corotational;
pub use error::ParameterError;
pub use fixed_corotated::FixedCorotated;
pub use hencky::Hencky;
pub use hooke::Hooke;
pub use lame::Lame;
pub use mooney_rivlin::MooneyRivlin;
pub use neo_hookean::NeoHookean;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub use number::Packed;
pub use number::{Mask, Number, SideBySide, Tensor, side_by_side};
pub use polar::{polar_rotation, polar_rotations};
pub use principal::{Domain, PrincipalLaw, Spectrum, principal_pair};
pub use real::Real;
pub use signed_svd::{SignedSvd, SignedSvds};
pub use st_venant_kirchhoff::StVenantKirchhoff;
pub use stable_neo_hookean::StableNeoHookean;
pub use tensor::{axial_vector, cofactor, deviator, symmetric_eigen, symmetric_part};
