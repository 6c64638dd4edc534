//! Random participants: rigid bodies, trees, and vertices in a chain of springs.

use nalgebra::{DMatrix, DVector};
use pliant_contact_sap::{Assembled, BlockDiagonal, DenseDynamics, Dynamics};
use rand::RngExt;

use super::{Body, BodyKind, Random, Recipe, Stiffness, TIME_STEP_S};

/// A sparse participant: vertices in a chain of springs, A = M + δt²K.
pub(crate) struct SparseBody {
    matrix: sprs::CsMatI<f64, u32>,
    blocks: Vec<f64>,
    right_hand_side: Vec<f64>,
}

impl SparseBody {
    pub(crate) fn chain(n_vertices: usize, mass: f64, stiffness: f64, v_star: &[f64]) -> Self {
        let n = 3 * n_vertices;
        let mut dense = DMatrix::<f64>::identity(n, n) * (mass / n_vertices as f64);
        for a in 1..n_vertices {
            let k = TIME_STEP_S * TIME_STEP_S * stiffness;
            for i in 0..3 {
                // Not a multiple of the identity, so that blocks are full.
                for j in 0..3 {
                    let k = if i == j { k } else { 0.25 * k };
                    let (p, q) = (3 * a - 3, 3 * a);
                    dense[(p + i, p + j)] += k;
                    dense[(q + i, q + j)] += k;
                    dense[(p + i, q + j)] -= k;
                    dense[(q + i, p + j)] -= k;
                }
            }
        }
        let b = &dense * DVector::from_column_slice(v_star);
        let (mut starts, mut indices, mut values) = (vec![0u32], Vec::new(), Vec::new());
        for j in 0..n {
            for i in 0..n {
                if dense[(i, j)] != 0.0 {
                    indices.push(i as u32);
                    values.push(dense[(i, j)]);
                }
            }
            starts.push(indices.len() as u32);
        }
        let mut blocks = Vec::new();
        for a in 0..n_vertices {
            blocks.extend(dense.view((3 * a, 3 * a), (3, 3)).iter());
        }
        Self {
            matrix: sprs::CsMatI::new_csc((n, n), starts, indices, values),
            blocks,
            right_hand_side: b.as_slice().to_vec(),
        }
    }
}

impl Dynamics for SparseBody {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (column, x) in self.matrix.outer_iterator().zip(x) {
            for (i, a) in column.iter() {
                y[i] += a * x;
            }
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Vertices(&self.blocks)
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Sparse(self.matrix.view()))
    }
}

/// A symmetric matrix with eigenvalues about `scale`, condition up to 100.
fn spd(random: &mut Random, n: usize, scale: f64) -> DMatrix<f64> {
    let root = DMatrix::from_fn(n, n, |_, _| random.random_range(-1.0f64..1.0));
    let a = &root * root.transpose() / n as f64 + DMatrix::identity(n, n) * 0.05;
    a * scale
}

pub(super) fn random_body(random: &mut Random, recipe: &Recipe, v0: &mut Vec<f64>) -> Body {
    let (low, high) = recipe.mass_exponent;
    let mass = 10f64.powf(random.random_range(low..=high));
    let kind = match random.random_range(0..10) {
        0..6 => BodyKind::Rigid,
        6..8 => BodyKind::Tree,
        _ => BodyKind::Vertices(random.random_range(1..6)),
    };
    let n = match kind {
        BodyKind::Rigid => 6,
        BodyKind::Tree => random.random_range(1..9),
        BodyKind::Vertices(n) => 3 * n,
    };
    let speed = if random.random_range(0..4) == 0 {
        0.0
    } else {
        1.0
    };
    let start: Vec<f64> = (0..n)
        .map(|_| speed * random.random_range(-1.0f64..1.0))
        .collect();
    let mut v_star = start.clone();
    for x in v_star
        .iter_mut()
        .skip(if n == 6 { 3 } else { 0 })
        .skip(2)
        .step_by(3)
    {
        *x -= 9.81 * TIME_STEP_S;
    }
    v0.extend_from_slice(&start);
    let dense = |a: DMatrix<f64>| {
        let b = &a * DVector::from_column_slice(&v_star);
        Box::new(DenseDynamics::new(
            a.as_slice().to_vec(),
            b.as_slice().to_vec(),
        )) as Box<dyn Dynamics>
    };
    let dynamics = match kind {
        BodyKind::Rigid => {
            let mut a = DMatrix::zeros(6, 6);
            let size: f64 = 10f64.powf(random.random_range(-1.5..0.0));
            let inertia = spd(random, 3, mass * size * size);
            a.view_mut((0, 0), (3, 3)).copy_from(&inertia);
            for i in 3..6 {
                a[(i, i)] = mass;
            }
            dense(a)
        }
        BodyKind::Tree => dense(spd(random, n, mass)),
        BodyKind::Vertices(n) => {
            // δt²k/m from soft to stiff.
            let stiffest = match recipe.stiffness {
                Stiffness::Absolute(..) => 3.0,
                Stiffness::Relative(..) => 0.0,
            };
            let ratio = 10f64.powf(random.random_range(-2.0..stiffest));
            let k = ratio * mass / (TIME_STEP_S * TIME_STEP_S);
            Box::new(SparseBody::chain(n, mass, k, &v_star))
        }
    };
    Body { dynamics, kind }
}
