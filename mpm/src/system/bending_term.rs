//! The bending of a cloth in the balance of a step: forces and tangents of its hinges.
//!
//! Hinges by themselves have E = Σ ½ c (θ − θ₀)², a plate E = ½ |G s|² with the strains s of all its hinges. The positive semidefinite tangents are
//! those of Gauss and Newton: c ∇θ ∇θᵀ, and (∇s)ᵀ GᵀG ∇s.

use nalgebra::{Matrix3, SMatrix, SVector, Vector3};

use super::at_nodes::AtNodes;
use super::cloth_term::in_parallel;
use crate::cloth::{Cloth, PlateStiffness};
use crate::material::Definiteness;

type Gradient = SVector<f64, 12>;
type Curvature = SMatrix<f64, 12, 12>;
/// Forces on the four vertices of a hinge.
type Corners = [Vector3<f64>; 4];

/// ∂²E/∂x² of the bending energy.
#[derive(Clone, Debug, Default)]
pub(crate) struct BendingTangent {
    /// √c ∇θ of each hinge, or ∇s of those of a plate; empty where curvatures are the whole.
    gradients: Vec<Gradient>,
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
fn moments(plate: &PlateStiffness<f64>, strains: &[f64]) -> Vec<f64> {
    let n = strains.len();
    let combined = in_parallel(n, |k| plate.combined(k, strains));
    in_parallel(n, |k| plate.moment(k, &combined))
}

fn stacked(corners: &Corners) -> Gradient {
    SVector::from_fn(|i, _| corners[i / 3][i % 3])
}

fn of_corners(stacked: &Gradient) -> Corners {
    [0, 1, 2, 3].map(|k| stacked.fixed_rows::<3>(3 * k).into_owned())
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
                gradients: in_parallel(n, |k| cloth.hinges()[k].root_stiffness(&corners(k))),
                curvatures: Vec::new(),
            },
            Some(plate) => {
                let (strains, gradients): (Vec<_>, Vec<_>) = in_parallel(n, |k| {
                    let (strain, gradient) = cloth.hinges()[k].strain(&corners(k));
                    (strain, stacked(&gradient))
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
    pub(super) fn apply(
        &self,
        cloth: &Cloth<f64>,
        changes: &[Vector3<f64>],
        out: &mut [Vector3<f64>],
    ) {
        let hinges = cloth.hinges();
        let change = |k: usize| stacked(&hinges[k].vertices.map(|v| changes[v as usize]));
        let mut add = |k: usize, forces: &Gradient| {
            for (v, force) in hinges[k].vertices.iter().zip(of_corners(forces)) {
                out[*v as usize] += force;
            }
        };
        let slopes = in_parallel(self.gradients.len(), |k| self.gradients[k].dot(&change(k)));
        let factors = match cloth.plate() {
            Some(plate) => moments(plate, &slopes),
            None => slopes,
        };
        for (k, (gradient, factor)) in self.gradients.iter().zip(factors).enumerate() {
            add(k, &(gradient * factor));
        }
        for (k, curvature) in self.curvatures.iter().enumerate() {
            add(k, &(curvature * change(k)));
        }
    }

    /// Adds the 3×3 blocks of the nodes on the diagonal.
    pub(super) fn add_diagonal(
        &self,
        cloth: &Cloth<f64>,
        at_nodes: &AtNodes,
        add: &mut impl FnMut(u32, &Matrix3<f64>),
    ) {
        let hinges = cloth.hinges();
        let mut sums = Vec::new();
        for k in 0..self.gradients.len() {
            let own = [(k as u32, 1.0)];
            let row = cloth.plate().map_or(&own[..], |plate| plate.row(k));
            let slopes = row.iter().flat_map(|(hinge, entry)| {
                let corners = of_corners(&self.gradients[*hinge as usize]);
                let vertices = hinges[*hinge as usize].vertices;
                (0..4).map(move |c| (vertices[c], corners[c] * *entry))
            });
            let slopes = merged(slopes);
            at_nodes.add_square(&slopes, &mut sums, add);
        }
        for (hinge, curvature) in hinges.iter().zip(&self.curvatures) {
            let block =
                |a: usize, b: usize| curvature.fixed_view::<3, 3>(3 * a, 3 * b).into_owned();
            at_nodes.add_element(&hinge.vertices, block, add);
        }
    }
}

/// One slope for each vertex.
fn merged(slopes: impl Iterator<Item = (u32, Vector3<f64>)>) -> Vec<(u32, Vector3<f64>)> {
    let mut merged: Vec<(u32, Vector3<f64>)> = Vec::with_capacity(64);
    for (v, slope) in slopes {
        match merged.iter_mut().find(|(known, _)| *known == v) {
            Some((_, sum)) => *sum += slope,
            None => merged.push((v, slope)),
        }
    }
    merged
}
