//! The bending of a cloth in the balance of a step: forces and tangents of its hinges.
//!
//! Hinges by themselves have E = Σ ½ c (θ − θ₀)², a plate E = ½ |G s|² with the strains s of all its hinges. The positive semidefinite tangents are
//! those of Gauss and Newton: c ∇θ ∇θᵀ, and (∇s)ᵀ GᵀG ∇s.

use nalgebra::{Matrix3, SMatrix, SVector, Vector3};

use super::at_nodes::{AtNodes, Padded, padded};
use super::cloth_term::in_parallel;
use crate::cloth::{Cloth, PlateStiffness};
use crate::material::Definiteness;

/// Forces on the four vertices of a hinge.
type Corners = [Vector3<f64>; 4];
type Curvature = SMatrix<f64, 12, 12>;

/// ∂²E/∂x² of the bending energy.
#[derive(Clone, Debug, Default)]
pub(crate) struct BendingTangent {
    /// √c ∇θ of each hinge, or ∇s of those of a plate; empty where curvatures are the whole.
    gradients: Vec<[Padded; 4]>,
    /// What the gradients do not have of an exact second derivative.
    curvatures: Vec<Curvature>,
}

/// −∂E/∂x at the vertices of the hinges, N.
pub(super) fn bending_forces(cloth: &Cloth<f64>, positions: &[Vector3<f64>]) -> Vec<Corners> {
    let corners = |k: usize| cloth.hinges()[k].vertices.map(|v| positions[v as usize]);
    let n = cloth.hinges().len();
    let Some(plate) = cloth.plate() else {
        return in_parallel(n, |k| cloth.hinges()[k].forces(&corners(k)));
    };
    let (strains, gradients): (Vec<_>, Vec<_>) =
        in_parallel(n, |k| cloth.hinges()[k].strain(&corners(k)))
            .into_iter()
            .unzip();
    let moments = moments(plate, &strains);
    let each = gradients.into_iter().zip(moments);
    each.map(|(gradient, moment)| gradient.map(|g| g * -moment))
        .collect()
}

/// GᵀG s, J.
#[inline(always)]
fn moments(plate: &PlateStiffness<f64>, strains: &[f64]) -> Vec<f64> {
    let n = strains.len();
    let combined = in_parallel(n, |k| plate.combined(k, strains));
    in_parallel(n, |k| plate.moment(k, &combined))
}

fn of_corners(stacked: &SVector<f64, 12>) -> [Padded; 4] {
    [0, 1, 2, 3].map(|k| padded(&stacked.fixed_rows::<3>(3 * k).into_owned()))
}

impl BendingTangent {
    /// Positive semidefinite unless exact second derivatives are asked for.
    pub(super) fn of(
        cloth: &Cloth<f64>,
        positions: &[Vector3<f64>],
        definiteness: Definiteness,
    ) -> Self {
        let corners = |k: usize| cloth.hinges()[k].vertices.map(|v| positions[v as usize]);
        let n = cloth.hinges().len();
        let is_exact = definiteness == Definiteness::Exact;
        match cloth.plate() {
            None if is_exact => Self {
                gradients: Vec::new(),
                curvatures: in_parallel(n, |k| cloth.hinges()[k].second_derivative(&corners(k))),
            },
            None => Self {
                gradients: in_parallel(n, |k| {
                    of_corners(&cloth.hinges()[k].root_stiffness(&corners(k)))
                }),
                curvatures: Vec::new(),
            },
            Some(plate) => {
                let (strains, gradients): (Vec<_>, Vec<_>) = in_parallel(n, |k| {
                    let (strain, gradient) = cloth.hinges()[k].strain(&corners(k));
                    (strain, gradient.map(|g| padded(&g)))
                })
                .into_iter()
                .unzip();
                let curvatures = match is_exact {
                    true => {
                        let moments = moments(plate, &strains);
                        let curvature = |k: usize| cloth.hinges()[k].strain_curvature(&corners(k));
                        in_parallel(n, |k| curvature(k) * moments[k])
                    }
                    false => Vec::new(),
                };
                Self {
                    gradients,
                    curvatures,
                }
            }
        }
    }

    /// Adds the product with `changes` of the vertices to `out`.
    #[inline(always)]
    pub(super) fn apply(&self, cloth: &Cloth<f64>, changes: &[Padded], out: &mut [Padded]) {
        let hinges = cloth.hinges();
        let slopes = in_parallel(
            self.gradients.len(),
            #[inline(always)]
            |k| {
                let mut along = Padded::zeros();
                for (gradient, v) in self.gradients[k].iter().zip(hinges[k].vertices) {
                    along += gradient.component_mul(&changes[v as usize]);
                }
                along.sum()
            },
        );
        let factors = match cloth.plate() {
            Some(plate) => moments(plate, &slopes),
            None => slopes,
        };
        for ((hinge, gradients), factor) in hinges.iter().zip(&self.gradients).zip(factors) {
            for (v, gradient) in hinge.vertices.iter().zip(gradients) {
                out[*v as usize] += gradient * factor;
            }
        }
        for (hinge, curvature) in hinges.iter().zip(&self.curvatures) {
            let change = hinge.vertices.map(|v| changes[v as usize]);
            let stacked = SVector::<f64, 12>::from_fn(|i, _| change[i / 3][i % 3]);
            for (v, force) in hinge
                .vertices
                .iter()
                .zip(of_corners(&(curvature * stacked)))
            {
                out[*v as usize] += force;
            }
        }
    }

    /// Adds the 3×3 blocks of the nodes on the diagonal.
    pub(super) fn add_diagonal(
        &self,
        cloth: &Cloth<f64>,
        (at_nodes, blocks): (&AtNodes, Blocks),
        add: &mut impl FnMut(u32, &Matrix3<f64>),
    ) {
        let hinges = cloth.hinges();
        let mut sums = Vec::new();
        for k in 0..self.gradients.len() {
            let by_itself = [(k as u32, cloth.plate().map_or(1.0, |plate| plate.root(k)))];
            let row = match (cloth.plate(), blocks) {
                (Some(plate), Blocks::Exact) => plate.row(k),
                _ => &by_itself[..],
            };
            let slopes = row.iter().flat_map(|(hinge, entry)| {
                let gradients = &self.gradients[*hinge as usize];
                let vertices = hinges[*hinge as usize].vertices;
                (0..4).map(move |c| (vertices[c], gradients[c] * *entry))
            });
            at_nodes.add_square(&merged(slopes), &mut sums, add);
        }
        for (hinge, curvature) in hinges.iter().zip(&self.curvatures) {
            let block =
                |a: usize, b: usize| curvature.fixed_view::<3, 3>(3 * a, 3 * b).into_owned();
            at_nodes.add_element(&hinge.vertices, block, add);
        }
    }
}

/// Which blocks on the diagonal of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocks {
    /// Those of A.
    Exact,
    /// For a preconditioner: each hinge of a plate resists by itself.
    Near,
}

/// One slope for each vertex.
fn merged(slopes: impl Iterator<Item = (u32, Padded)>) -> Vec<(u32, Padded)> {
    let mut merged: Vec<(u32, Padded)> = Vec::with_capacity(64);
    for (v, slope) in slopes {
        match merged.iter_mut().find(|(known, _)| *known == v) {
            Some((_, sum)) => *sum += slope,
            None => merged.push((v, slope)),
        }
    }
    merged
}
