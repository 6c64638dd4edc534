//! Assembly of A: each column of a vertex by one thread.

use std::ops::Range;

use nalgebra::Matrix3;

use super::blocks::DomainBlocks;
use crate::dofs::{DofMap, HELD};
use crate::domain_links::{DomainLinks, Incidence};
use crate::domains::Domains;
use crate::mass::SparseMass;

/// With fewer vertices one thread is faster than two.
pub(super) const PARALLEL_MIN: usize = 512;
pub(super) const CHUNK: usize = 64;

/// The mass part of A.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MassPart<'a> {
    /// On the diagonal: scale · mass of each vertex, kg.
    Lumped(f64, &'a [f64]),
    /// scale · consistent mass.
    Consistent(f64, &'a SparseMass),
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
    /// Range of its neighbours.
    pub(super) neighbours: Range<usize>,
}

/// A vertex with stored rows in a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbour {
    pub(super) vertex: u32,
    /// The first of its rows.
    pub(super) row: u32,
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
    pub(super) domains: &'a Domains,
    pub(super) links: &'a DomainLinks,
    pub(super) dofs: &'a DofMap,
    pub(super) row_starts: &'a [u32],
    pub(super) rows: &'a [u32],
    pub(super) neighbours: &'a [Neighbour],
    pub(super) whole: bool,
    pub(super) mass: MassPart<'a>,
    pub(super) stiffness: &'a S,
}

impl<S: DomainBlocks> Assembly<'_, S> {
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
            let Incidence { group, local } = self.links.incidences()[incidence];
            let (group, local) = (group as usize, local as usize);
            let rows = &self.rows[self.row_starts[incidence] as usize..];
            if self.whole {
                let length = column.length;
                self.stiffness.for_each(group, local, |a, block| {
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
                let vertices = self.domains.vertices(group);
                self.stiffness.for_each(group, local, |a, block| {
                    let (vertex, row) = (vertices[a], rows[a]);
                    if row != HELD {
                        self.add_block(column, Neighbour { vertex, row }, &block, values);
                    }
                });
            }
        }
        if let MassPart::Consistent(scale, mass) = self.mass {
            self.add_consistent(column, scale, mass.row(column.vertex), values);
        }
    }

    /// Adds scale · a row of the consistent mass. Both it and the neighbours ascend.
    fn add_consistent(&self, column: &Column, scale: f64, mass: &[(u32, f64)], values: &mut [f64]) {
        let mut neighbours = self.neighbours[column.neighbours.clone()].iter();
        for (vertex, mass) in mass {
            // Vertices that are held are no neighbours.
            if self.dofs.column(*vertex).is_some()
                && let Some(neighbour) = neighbours.find(|n| n.vertex == *vertex)
            {
                let block = Matrix3::from_diagonal_element(scale * mass);
                self.add_block(column, *neighbour, &block, values);
            }
        }
    }

    /// Adds the free rows and columns of the block of a neighbour.
    fn add_block(
        &self,
        column: &Column,
        neighbour: Neighbour,
        block: &Matrix3<f64>,
        values: &mut [f64],
    ) {
        let columns = (0..3).filter(|c| column.free[*c]);
        for (c, values) in columns.zip(values.chunks_exact_mut(column.length)) {
            let values = &mut values[neighbour.row as usize..];
            for (value, (r, _)) in values.iter_mut().zip(self.dofs.free(neighbour.vertex)) {
                *value += block[(r, c)];
            }
        }
    }
}
