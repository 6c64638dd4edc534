//! The sparse matrix A of a step, assembled vertex by vertex; the pattern is computed once.
//!
//! The columns of each moving vertex are gathered from the domains around it, in their order, by one thread: results are bit-identical
//! for any number of threads. If all vertices move in all directions, the matrix consists of 3×3 blocks, and products run over blocks.

mod assembly;
mod blocks;

use pliant_contact_sap::{Assembled, BlockDiagonal, Dynamics};
use rayon::prelude::*;
use sprs::CsMatI;

use crate::dofs::{DofMap, HELD};
use crate::domain_links::DomainLinks;
use crate::domains::Domains;

use assembly::{Assembly, CHUNK, Column, Neighbour, PARALLEL_MIN};

pub(crate) use assembly::MassPart;
pub(crate) use blocks::{BlockTable, DomainBlocks, HookeBlocks};

/// A and b.
#[derive(Clone, Debug)]
pub(crate) struct System {
    matrix: CsMatI<f64, u32>,
    columns: Vec<Column>,
    /// For each incidence the first row of each of the group's vertices within the incidence's column.
    rows: Vec<u32>,
    /// First of an incidence's rows.
    row_starts: Vec<u32>,
    neighbours: Vec<Neighbour>,
    diagonal: Vec<f64>,
    sizes: Vec<usize>,
    whole: bool,
    pub(crate) right_hand_side: Vec<f64>,
}

impl Default for System {
    fn default() -> Self {
        Self {
            matrix: CsMatI::zero((0, 0)).into_csc(),
            columns: Vec::new(),
            rows: Vec::new(),
            row_starts: Vec::new(),
            neighbours: Vec::new(),
            diagonal: Vec::new(),
            sizes: Vec::new(),
            whole: true,
            right_hand_side: Vec::new(),
        }
    }
}

impl System {
    /// Lays out the pattern for the velocities of `dofs`.
    pub(crate) fn lay_out(&mut self, domains: &Domains, links: &DomainLinks, dofs: &DofMap) {
        let n = dofs.n_dofs();
        self.whole = dofs.is_whole();
        self.columns.clear();
        self.rows.clear();
        self.row_starts.clear();
        self.neighbours.clear();
        let mut n_rows = 0;
        for incidence in links.incidences() {
            self.row_starts.push(n_rows);
            n_rows += domains.vertices(incidence.group as usize).len() as u32;
        }
        self.rows.resize(n_rows as usize, HELD);
        self.sizes.clear();
        let (mut starts, mut indices) = (vec![0_u32], Vec::new());
        let mut neighbours: Vec<u32> = Vec::new();
        // First row of each neighbour in the present column.
        let mut row_of = vec![HELD; links.n_vertices()];
        for &vertex in dofs.moving() {
            neighbours.clear();
            for incidence in links.of(vertex) {
                neighbours.extend(domains.vertices(incidence.group as usize));
            }
            neighbours.sort_unstable();
            neighbours.dedup();
            neighbours.retain(|other| dofs.column(*other).is_some());
            let mut pattern: Vec<u32> = Vec::new();
            let first_neighbour = self.neighbours.len();
            for &other in &neighbours {
                let row = pattern.len() as u32;
                row_of[other as usize] = row;
                self.neighbours.push(Neighbour { vertex: other, row });
                pattern.extend(dofs.free(other).map(|(_, dof)| dof));
            }
            for k in links.range(vertex) {
                let group = links.incidences()[k].group as usize;
                let rows = &mut self.rows[self.row_starts[k] as usize..];
                for (row, other) in rows.iter_mut().zip(domains.vertices(group)) {
                    *row = row_of[*other as usize];
                }
            }
            let of = dofs.of(vertex);
            let free = of.map(|dof| dof != HELD);
            let column = Column {
                vertex,
                first_dof: of.into_iter().find(|dof| *dof != HELD).unwrap_or(0) as usize,
                length: pattern.len(),
                own_row: row_of[vertex as usize] as usize,
                free,
                incidences: links.range(vertex),
                neighbours: first_neighbour..self.neighbours.len(),
            };
            for &other in &neighbours {
                row_of[other as usize] = HELD;
            }
            for _ in 0..column.n_free() {
                indices.extend_from_slice(&pattern);
                starts.push(indices.len() as u32);
            }
            self.sizes.push(column.n_free());
            self.columns.push(column);
        }
        let values = vec![0.0; indices.len()];
        self.matrix = CsMatI::new_csc((n, n), starts, indices, values);
        self.diagonal.clear();
        self.diagonal
            .resize(self.sizes.iter().map(|n| n * n).sum(), 0.0);
        self.right_hand_side.clear();
        self.right_hand_side.resize(n, 0.0);
    }

    /// A = mass + stiffness; b is left as it is.
    pub(crate) fn assemble(
        &mut self,
        domains: &Domains,
        links: &DomainLinks,
        dofs: &DofMap,
        mass: MassPart<'_>,
        stiffness: &impl DomainBlocks,
    ) {
        let work = Assembly {
            domains,
            links,
            dofs,
            row_starts: &self.row_starts,
            rows: &self.rows,
            neighbours: &self.neighbours,
            whole: self.whole,
            mass,
            stiffness,
        };
        work.columns(&self.columns, self.matrix.data_mut());
        let mut diagonal = self.diagonal.as_mut_slice();
        let mut values = self.matrix.data();
        for column in &self.columns {
            let n = column.n_free();
            let (block, rest) = diagonal.split_at_mut(n * n);
            diagonal = rest;
            let (own, others) = values.split_at(column.n_values());
            values = others;
            for (block, own) in block
                .chunks_exact_mut(n)
                .zip(own.chunks_exact(column.length))
            {
                block.copy_from_slice(&own[column.own_row..column.own_row + n]);
            }
        }
    }

    /// Writes diag(A)^(−1/2).
    pub(crate) fn write_scale(&self, scale: &mut Vec<f64>) {
        scale.clear();
        let mut blocks = self.diagonal.as_slice();
        for column in &self.columns {
            let n = column.n_free();
            let (block, rest) = blocks.split_at(n * n);
            blocks = rest;
            scale.extend((0..n).map(|k| block[k * (n + 1)].sqrt().recip()));
        }
    }

    fn product_of_column(&self, column: &Column, x: &[f64], y: &mut [f64]) {
        let starts = self.matrix.indptr();
        let start = starts.outer_inds_sz(column.first_dof).start;
        let length = column.length;
        let rows = &self.matrix.indices()[start..start + length];
        let values = &self.matrix.data()[start..start + column.n_values()];
        // A is symmetric: row i is column i.
        if self.whole {
            let (a, rest) = values.split_at(length);
            let (b, c) = rest.split_at(length);
            let mut sum = [0.0; 3];
            let blocks = a
                .chunks_exact(3)
                .zip(b.chunks_exact(3))
                .zip(c.chunks_exact(3));
            for (row, ((a, b), c)) in rows.chunks_exact(3).zip(blocks) {
                let first = row[0] as usize;
                let x = &x[first..first + 3];
                for k in 0..3 {
                    sum[0] += a[k] * x[k];
                    sum[1] += b[k] * x[k];
                    sum[2] += c[k] * x[k];
                }
            }
            y.copy_from_slice(&sum);
            return;
        }
        for (y, values) in y.iter_mut().zip(values.chunks_exact(length)) {
            let terms = rows.iter().zip(values);
            *y = terms.map(|(row, a)| a * x[*row as usize]).sum();
        }
    }

    fn products(&self, columns: &[Column], x: &[f64], mut y: &mut [f64]) {
        for column in columns {
            let (own, rest) = y.split_at_mut(column.n_free());
            self.product_of_column(column, x, own);
            y = rest;
        }
    }
}

impl Dynamics for System {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        if self.whole && self.columns.len() >= PARALLEL_MIN {
            let chunks = self
                .columns
                .par_chunks(CHUNK)
                .zip(y.par_chunks_mut(3 * CHUNK));
            chunks.for_each(|(columns, y)| self.products(columns, x, y));
        } else {
            self.products(&self.columns, x, y);
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        if self.whole {
            return BlockDiagonal::Vertices(&self.diagonal);
        }
        BlockDiagonal::Mixed {
            sizes: &self.sizes,
            values: &self.diagonal,
        }
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Sparse(self.matrix.view()))
    }
}

#[cfg(test)]
mod tests;
