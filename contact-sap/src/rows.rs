//! Bases and interpolations: constraint velocities from the velocities of bodies.
//!
//! Contacts of one pair of links, one triangle or one grid cell share a *basis* u = B v + b: a handful of velocity
//! coordinates (a twist, the velocities of three vertices). An *interpolation* Φ takes them to one contact point,
//! v_c = Φ u. Hessians of all contacts are summed in u before they reach the bodies: Bᵀ(Σ ΦᵀGΦ)B.

use nalgebra::Vector3;

use crate::participant::ParticipantIdx;

/// Rows of a basis that one participant contributes: u = B v + b, B by dense or identity blocks.
///
/// ```
/// use pliant_contact_sap::Rows;
///
/// // u_0 = v_2 and u_1 = 3 v_0 − v_1 + 0.5.
/// let mut rows = Rows::default();
/// rows.reset(2);
/// rows.identity(0, 2, 1);
/// rows.dense(1, 1, 0, 2).copy_from_slice(&[3.0, -1.0]);
/// rows.bias_mut()[1] = 0.5;
/// let mut u = [0.0; 2];
/// rows.apply(&[1.0, 2.0, 7.0], &mut u);
/// assert_eq!(u, [7.0, 1.5]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub(crate) n_rows: usize,
    pub(crate) blocks: Vec<RowBlock>,
    pub(crate) values: Vec<f64>,
    pub(crate) bias: Vec<f64>,
}

/// A block of B: `n_rows` rows from `row`, `n_dofs` velocities from `dof`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowBlock {
    pub(crate) row: usize,
    pub(crate) n_rows: usize,
    pub(crate) dof: usize,
    pub(crate) n_dofs: usize,
    pub(crate) entries: Entries,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entries {
    Identity,
    /// Column-major `n_rows`×`n_dofs` from this offset of `values`.
    Dense(usize),
}

/// B of a basis: the blocks of all its participants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BasisRows<'a> {
    pub(crate) n_rows: usize,
    pub(crate) blocks: &'a [(ParticipantIdx, RowBlock)],
    pub(crate) values: &'a [f64],
}

impl Rows {
    /// Empties the rows and makes room for `n_rows` of them, bias zero.
    pub fn reset(&mut self, n_rows: usize) {
        self.n_rows = n_rows;
        self.blocks.clear();
        self.values.clear();
        self.bias.clear();
        self.bias.resize(n_rows, 0.0);
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Adds a dense block: rows `row..row + n_rows`, velocities `dof..dof + n_dofs`; returns its `n_rows`×`n_dofs`
    /// values, column-major and zero, to be filled.
    ///
    /// # Panics
    /// The rows exceed [`Rows::n_rows`].
    pub fn dense(&mut self, row: usize, n_rows: usize, dof: usize, n_dofs: usize) -> &mut [f64] {
        assert!(row + n_rows <= self.n_rows, "the block exceeds the rows");
        let start = self.values.len();
        self.values.resize(start + n_rows * n_dofs, 0.0);
        self.blocks.push(RowBlock {
            row,
            n_rows,
            dof,
            n_dofs,
            entries: Entries::Dense(start),
        });
        &mut self.values[start..]
    }

    /// Adds an identity block of size `n`: row `row + i` is velocity `dof + i`.
    ///
    /// # Panics
    /// The rows exceed [`Rows::n_rows`].
    pub fn identity(&mut self, row: usize, dof: usize, n: usize) {
        assert!(row + n <= self.n_rows, "the block exceeds the rows");
        self.blocks.push(RowBlock {
            row,
            n_rows: n,
            dof,
            n_dofs: n,
            entries: Entries::Identity,
        });
    }

    /// Whether u does not depend on velocities of the solve: the point is held.
    #[must_use]
    pub fn is_prescribed(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The bias b, one value a row: velocities that are prescribed and not solved for.
    pub fn bias_mut(&mut self) -> &mut [f64] {
        &mut self.bias
    }

    /// u = B v + b for the participant's velocities `v`; `u` has [`Rows::n_rows`] entries.
    pub fn apply(&self, v: &[f64], u: &mut [f64]) {
        u.copy_from_slice(&self.bias);
        for block in &self.blocks {
            block.add_product(&self.values, v, u);
        }
    }
}

impl Rows {
    /// v += Bᵀ u: generalised impulses from impulses on the coordinates of the basis.
    pub fn add_transposed(&self, u: &[f64], v: &mut [f64]) {
        for block in &self.blocks {
            let u = &u[block.row..block.row + block.n_rows];
            let v = &mut v[block.dof..block.dof + block.n_dofs];
            match block.entries {
                Entries::Identity => v.iter_mut().zip(u).for_each(|(v, u)| *v += u),
                Entries::Dense(start) => {
                    let columns = self.values[start..].chunks_exact(block.n_rows);
                    for (column, v) in columns.zip(v) {
                        *v += column.iter().zip(u).map(|(b, u)| b * u).sum::<f64>();
                    }
                }
            }
        }
    }

    /// Calls `visit` with row, velocity and value of every entry of B.
    pub fn for_each(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for block in &self.blocks {
            match block.entries {
                Entries::Identity => {
                    (0..block.n_rows).for_each(|i| visit(block.row + i, block.dof + i, 1.0));
                }
                Entries::Dense(start) => {
                    let values = self.values[start..]
                        .iter()
                        .take(block.n_rows * block.n_dofs);
                    for (k, value) in values.enumerate() {
                        let (i, j) = (k % block.n_rows, k / block.n_rows);
                        visit(block.row + i, block.dof + j, *value);
                    }
                }
            }
        }
    }

    /// u = B v, for a change of velocities.
    pub fn apply_without_bias(&self, v: &[f64], u: &mut [f64]) {
        u.fill(0.0);
        for block in &self.blocks {
            block.add_product(&self.values, v, u);
        }
    }
}

impl RowBlock {
    /// u += B v.
    pub(crate) fn add_product(&self, values: &[f64], v: &[f64], u: &mut [f64]) {
        let u = &mut u[self.row..self.row + self.n_rows];
        let v = &v[self.dof..self.dof + self.n_dofs];
        match self.entries {
            Entries::Identity => u.iter_mut().zip(v).for_each(|(u, v)| *u += v),
            Entries::Dense(start) => {
                let columns = values[start..].chunks_exact(self.n_rows);
                for (column, v_j) in columns.zip(v) {
                    u.iter_mut().zip(column).for_each(|(u, b)| *u += b * v_j);
                }
            }
        }
    }
}

/// The world velocity of one material point as a function of its basis.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// # use pliant_contact_sap::conformance::MassSpringNet;
/// use pliant_contact_sap::{Control, DeformableModel, Interpolation, MaterialPoint, Primitive, Rows, StepInput};
///
/// // The centre of a triangle of a net whose nodes have the velocities 0, 1, 2, ... m/s along x.
/// # let (net, control) = (MassSpringNet::default(), Control::default());
/// # let mut step = net.new_step();
/// # step.begin(&net.default_state(), &StepInput::new(0.01, Vector3::zeros(), &control))?;
/// let v: Vec<f64> = (0..100).flat_map(|i| [f64::from(i), 0.0, 0.0]).collect();
/// let third = 1.0 / 3.0;
/// let weights = [third, third, third, 0.0];
/// let point = MaterialPoint { primitive: Primitive::Triangle(0), weights, offset: Vector3::zeros() };
/// let (mut interpolation, mut rows) = (Interpolation::Twist, Rows::default());
/// let basis = step.interpolation(&point, &mut interpolation)?;
/// step.basis(basis, &Point3::origin(), &mut rows);
/// let mut u = [0.0; 9];
/// rows.apply(&v, &mut u);
/// let Interpolation::Weights(w) = interpolation else { panic!("a net has no frames") };
/// let v_Q: f64 = w.iter().zip(u.chunks(3)).map(|(w, u)| w * u[0]).sum();
/// assert!((v_Q - (0.0 + 10.0 + 11.0) / 3.0).abs() < 1e-12); // nodes 0, 10 and 11
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Interpolation {
    /// The basis is a twist u = (ω, v_O), six rows: v_Q = v_O + ω × p_OQ. The caller provides p_OQ.
    Twist,
    /// The basis is k point velocities, 3k rows: v_Q = Σ w_j u_j.
    Weights(Vec<f64>),
    /// v_Q = Φ u with Φ 3×r, column-major.
    Dense(Vec<f64>),
}

impl Interpolation {
    /// Sets this to [`Interpolation::Weights`]; memory is reused.
    pub fn set_weights(&mut self, weights: impl IntoIterator<Item = f64>) {
        match self {
            Self::Weights(known) => {
                known.clear();
                known.extend(weights);
            }
            other => *other = Self::Weights(weights.into_iter().collect()),
        }
    }

    /// Sets this to [`Interpolation::Dense`]; memory is reused. `phi` is 3×r, column-major.
    pub fn set_dense(&mut self, phi: impl IntoIterator<Item = f64>) {
        match self {
            Self::Dense(known) => {
                known.clear();
                known.extend(phi);
            }
            other => *other = Self::Dense(phi.into_iter().collect()),
        }
    }
}

/// Φu of a twist: v_O + ω × p.
pub(crate) fn twist_point_velocity(u: &[f64], p: &Vector3<f64>) -> Vector3<f64> {
    let omega = Vector3::new(u[0], u[1], u[2]);
    Vector3::new(u[3], u[4], u[5]) + omega.cross(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_with_a_basis_and_its_transpose_are_adjoint() {
        let mut rows = Rows::default();
        rows.reset(5);
        rows.identity(0, 4, 2);
        let dense = rows.dense(2, 3, 0, 3);
        (dense.iter_mut().enumerate()).for_each(|(k, x)| *x = (1.3 * k as f64).sin());
        let (v, u) = ([0.3, -1.0, 2.0, 0.7, 0.1, -0.4], [1.0, 0.5, -0.2, 0.9, 3.0]);
        let (mut bv, mut btu) = ([0.0; 5], [0.0; 6]);
        rows.apply_without_bias(&v, &mut bv);
        rows.add_transposed(&u, &mut btu);
        let mut by_entries = [0.0; 5];
        rows.for_each(|i, j, value| by_entries[i] += value * v[j]);
        assert_eq!(by_entries, bv);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        assert!((dot(&u, &bv) - dot(&btu, &v)).abs() < 1e-14);
    }
}
