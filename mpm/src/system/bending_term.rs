//! The bending of a cloth in the balance of a step: forces and tangents of its hinges.
//!
//! Hinges by themselves have E = Σ ½ c (θ − θ₀)², a plate E = ½ |G s|² with the strains s of all its hinges. The positive semidefinite tangents are
//! those of Gauss and Newton: c ∇θ ∇θᵀ, and (∇s)ᵀ GᵀG ∇s.

use nalgebra::{SMatrix, SVector, Vector3};

use super::GridSystem;
use super::cloth_term::{NodeRows, in_parallel};
use super::motion::ClothPoint;
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

    /// The product with `changes` of the vertices, at the vertices of the hinges.
    pub(super) fn apply(
        &self,
        cloth: &Cloth<f64>,
        changes: impl Fn(u32) -> Vector3<f64> + Sync,
    ) -> Vec<Corners> {
        let n = cloth.hinges().len();
        let change = |k: usize| stacked(&cloth.hinges()[k].vertices.map(&changes));
        let slopes = in_parallel(self.gradients.len(), |k| self.gradients[k].dot(&change(k)));
        let factors = match cloth.plate() {
            Some(plate) => moments(plate, &slopes),
            None => slopes,
        };
        in_parallel(n, |k| {
            let along = match self.gradients.get(k) {
                Some(gradient) => gradient * factors[k],
                None => Gradient::zeros(),
            };
            match self.curvatures.get(k) {
                Some(curvature) => of_corners(&(along + curvature * change(k))),
                None => of_corners(&along),
            }
        })
    }

    /// The 3×3 blocks on the diagonal, by nodes, one list after the other. `sorted` are the places of the vertices among the particles.
    pub(super) fn diagonal(
        &self,
        cloth: &Cloth<f64>,
        (system, sorted): (&GridSystem, &[u32]),
    ) -> Vec<Vec<(u32, [f64; 9])>> {
        let n = cloth.hinges().len();
        let mut blocks = match cloth.plate() {
            Some(plate) => self.diagonal_of_plate(cloth, plate, (system, sorted)),
            None => Vec::new(),
        };
        let is_by_hinge = cloth.plate().is_none() || !self.curvatures.is_empty();
        if is_by_hinge {
            blocks.extend(in_parallel(n, |k| {
                let mut nodes = NodeRows::<4>::default();
                for (corner, v) in cloth.hinges()[k].vertices.iter().enumerate() {
                    let mut slot = [0.0; 4];
                    slot[corner] = 1.0;
                    nodes.add(system, sorted[*v as usize] as usize, &slot);
                }
                match self.curvatures.get(k) {
                    Some(full) => nodes.blocks(|r, c| full[(r, c)]),
                    None => nodes.blocks(|r, c| self.gradients[k][r] * self.gradients[k][c]),
                }
            }));
        }
        blocks
    }

    /// y yᵀ of each row of G ∇s, y its derivatives by the velocity of a node.
    fn diagonal_of_plate(
        &self,
        cloth: &Cloth<f64>,
        plate: &PlateStiffness<f64>,
        (system, sorted): (&GridSystem, &[u32]),
    ) -> Vec<Vec<(u32, [f64; 9])>> {
        in_parallel(cloth.hinges().len(), |row| {
            let of_vertices = self.row_at_vertices(cloth, plate, row);
            let mut at_nodes: Vec<(u32, Vector3<f64>)> = Vec::with_capacity(27 * of_vertices.len());
            for (v, slope) in of_vertices {
                let p = sorted[v as usize] as usize;
                let ClothPoint::Vertex(vertex) = &system.cloth_points[p] else {
                    continue;
                };
                let slope = slope.component_mul(&vertex.free);
                at_nodes.extend(
                    system
                        .weights(p)
                        .map(|(node, weight)| (node, slope * weight)),
                );
            }
            at_nodes.sort_unstable_by_key(|(node, _)| *node);
            at_nodes
                .chunk_by(|a, b| a.0 == b.0)
                .map(|of_node| {
                    let y: Vector3<f64> = of_node.iter().map(|(_, y)| y).sum();
                    let block = y * y.transpose();
                    (of_node[0].0, std::array::from_fn(|at| block[at]))
                })
                .collect()
        })
    }

    /// Row of G ∇s: vertices and derivatives by their positions.
    fn row_at_vertices(
        &self,
        cloth: &Cloth<f64>,
        plate: &PlateStiffness<f64>,
        row: usize,
    ) -> Vec<(u32, Vector3<f64>)> {
        let mut of_vertices: Vec<(u32, Vector3<f64>)> = Vec::new();
        for (hinge, entry) in plate.row(row) {
            let corners = of_corners(&self.gradients[*hinge as usize]);
            for (v, gradient) in cloth.hinges()[*hinge as usize].vertices.iter().zip(corners) {
                let share = gradient * *entry;
                match of_vertices.iter_mut().find(|(known, _)| known == v) {
                    Some((_, sum)) => *sum += share,
                    None => of_vertices.push((*v, share)),
                }
            }
        }
        of_vertices
    }
}
