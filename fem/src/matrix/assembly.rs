//! Assembly of A: each column of a vertex by one thread.

use std::ops::Range;

use nalgebra::Matrix3;

use super::blocks::ElementBlocks;
use crate::dofs::{DofMap, HELD};
use crate::mesh_links::MeshLinks;

/// With fewer vertices one thread is faster than two.
pub(super) const PARALLEL_MIN: usize = 512;
pub(super) const CHUNK: usize = 64;

/// The mass part of A.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MassPart<'a> {
    /// On the diagonal: scale · mass of each vertex, kg.
    Lumped(f64, &'a [f64]),
    /// scale · mass of each element, kg, as consistent mass.
    Consistent(f64, &'a [f64]),
}

/// The columns of one moving vertex.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) vertex: u32,
    pub(super) first_dof: usize,
    /// Stored rows of each column.
    pub(super) length: usize,
    /// First row of the vertex itself.
    pub(super) own_row: usize,
    /// Axes in the solve.
    pub(super) free: [bool; 3],
    pub(super) incidences: Range<usize>,
}

impl Column {
    pub(super) fn n_free(&self) -> usize {
        self.free.iter().filter(|free| **free).count()
    }

    pub(super) fn n_values(&self) -> usize {
        self.n_free() * self.length
    }
}

/// The input of every thread.
pub(super) struct Assembly<'a, S> {
    pub(super) links: &'a MeshLinks,
    pub(super) dofs: &'a DofMap,
    pub(super) rows: &'a [[u32; 4]],
    pub(super) whole: bool,
    pub(super) mass: MassPart<'a>,
    pub(super) stiffness: &'a S,
}

impl<S: ElementBlocks> Assembly<'_, S> {
    /// Computes the values of `columns`; large ranges are split in half between threads.
    pub(super) fn columns(&self, columns: &[Column], values: &mut [f64]) {
        if columns.len() >= PARALLEL_MIN.max(2 * CHUNK) {
            let (left, right) = columns.split_at(columns.len() / 2);
            let (mine, theirs) = values.split_at_mut(left.iter().map(Column::n_values).sum());
            rayon::join(|| self.columns(left, mine), || self.columns(right, theirs));
            return;
        }
        let mut values = values;
        for column in columns {
            let (own, rest) = values.split_at_mut(column.n_values());
            self.column(column, own);
            values = rest;
        }
    }

    fn column(&self, column: &Column, values: &mut [f64]) {
        values.fill(0.0);
        if let MassPart::Lumped(scale, mass) = self.mass {
            let mass = scale * mass[column.vertex as usize];
            for (k, values) in values.chunks_exact_mut(column.length).enumerate() {
                values[column.own_row + k] += mass;
            }
        }
        for incidence in column.incidences.clone() {
            let (element, local) = self.links.element(incidence);
            let rows = &self.rows[incidence];
            if self.whole {
                let length = column.length;
                self.stiffness.for_each(element, local, |a, block| {
                    if rows[a] == HELD {
                        return;
                    }
                    let mut at = rows[a] as usize;
                    for c in 0..3 {
                        let values = &mut values[at..at + 3];
                        values[0] += block[(0, c)];
                        values[1] += block[(1, c)];
                        values[2] += block[(2, c)];
                        at += length;
                    }
                });
            } else {
                self.stiffness.for_each(element, local, |a, block| {
                    self.add_block(column, incidence, a, &block, values);
                });
            }
            if let MassPart::Consistent(scale, mass) = self.mass {
                let mass = scale * mass[element];
                for a in 0..4 {
                    let entry = crate::mass::consistent_entry(mass, a, local);
                    let block = Matrix3::from_diagonal_element(entry);
                    self.add_block(column, incidence, a, &block, values);
                }
            }
        }
    }

    /// Adds the free rows and columns of a block of vertex a of an incidence.
    fn add_block(
        &self,
        column: &Column,
        incidence: usize,
        a: usize,
        block: &Matrix3<f64>,
        values: &mut [f64],
    ) {
        let row = self.rows[incidence][a];
        if row == HELD {
            return;
        }
        let vertex = self.links.corners(incidence)[a];
        let columns = (0..3).filter(|c| column.free[*c]);
        for (c, values) in columns.zip(values.chunks_exact_mut(column.length)) {
            let values = &mut values[row as usize..];
            for (value, (r, _)) in values.iter_mut().zip(self.dofs.free(vertex)) {
                *value += block[(r, c)];
            }
        }
    }
}
