//! The sparse matrix A of a step, assembled vertex by vertex; the pattern is computed once.
//!
//! The columns of each moving vertex are gathered from the elements around it, in their order, by one thread: results are bit-identical
//! for any number of threads. If all vertices move in all directions, the matrix consists of 3×3 blocks, and products run over blocks.

mod assembly;
mod blocks;

use pliant_contact_sap::{Assembled, BlockDiagonal, Dynamics};
use rayon::prelude::*;
use sprs::CsMatI;

use crate::dofs::{DofMap, HELD};
use crate::mesh_links::MeshLinks;

use assembly::{Assembly, CHUNK, Column, PARALLEL_MIN};

pub(crate) use assembly::MassPart;
pub(crate) use blocks::{BlockTable, ElementBlocks, HookeBlocks};

/// A and b.
#[derive(Clone, Debug)]
pub(crate) struct System {
    matrix: CsMatI<f64, u32>,
    columns: Vec<Column>,
    /// For each incidence of the mesh the first row of each of the element's vertices within the incidence's column.
    rows: Vec<[u32; 4]>,
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
            diagonal: Vec::new(),
            sizes: Vec::new(),
            whole: true,
            right_hand_side: Vec::new(),
        }
    }
}

impl System {
    /// Lays out the pattern for the velocities of `dofs`.
    pub(crate) fn lay_out(&mut self, links: &MeshLinks, dofs: &DofMap) {
        let n = dofs.n_dofs();
        self.whole = dofs.is_whole();
        self.columns.clear();
        self.rows.clear();
        self.rows.resize(links.n_incidences(), [HELD; 4]);
        self.sizes.clear();
        let (mut starts, mut indices) = (vec![0_u32], Vec::new());
        let mut neighbours: Vec<u32> = Vec::new();
        // First row of each neighbour in the present column.
        let mut row_of = vec![HELD; links.n_vertices()];
        for &vertex in dofs.moving() {
            neighbours.clear();
            for incidence in links.incidences(vertex) {
                neighbours.extend(links.corners(incidence));
            }
            neighbours.sort_unstable();
            neighbours.dedup();
            neighbours.retain(|other| dofs.column(*other).is_some());
            let mut pattern: Vec<u32> = Vec::new();
            for &other in &neighbours {
                row_of[other as usize] = pattern.len() as u32;
                pattern.extend(dofs.free(other).map(|(_, dof)| dof));
            }
            for incidence in links.incidences(vertex) {
                self.rows[incidence] = links.corners(incidence).map(|v| row_of[v as usize]);
            }
            let of = dofs.of(vertex);
            let free = of.map(|dof| dof != HELD);
            let column = Column {
                vertex,
                first_dof: of.into_iter().find(|dof| *dof != HELD).unwrap_or(0) as usize,
                length: pattern.len(),
                own_row: row_of[vertex as usize] as usize,
                free,
                incidences: links.incidences(vertex),
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
        links: &MeshLinks,
        dofs: &DofMap,
        mass: MassPart<'_>,
        stiffness: &impl ElementBlocks,
    ) {
        let work = Assembly {
            links,
            dofs,
            rows: &self.rows,
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
mod tests {
    use super::*;
    use nalgebra::{DMatrix, Matrix3, Vector3};
    use pliant_contact_sap::conformance::check_dynamics;
    use pliant_hydroelastic::mesh::generate::tet_cuboid;

    use pliant_constitutive::Lame;

    use crate::part_material::PerElement;

    fn lame() -> Lame {
        Lame::new(2.0, 5.0).unwrap()
    }

    /// A by dense sums.
    fn dense(links: &MeshLinks, gradients: &[[Vector3<f64>; 4]], mass: &[f64]) -> DMatrix<f64> {
        let n = 3 * links.n_vertices();
        let mut a = DMatrix::zeros(n, n);
        for (vertex, mass) in mass.iter().enumerate() {
            for k in 0..3 {
                a[(3 * vertex + k, 3 * vertex + k)] += mass;
            }
        }
        for (element, h) in gradients.iter().enumerate() {
            let corners = links.corners_of(element);
            for i in 0..4 {
                for j in 0..4 {
                    let block = lame().hooke().block(&h[i], &h[j]);
                    let at = (3 * corners[i] as usize, 3 * corners[j] as usize);
                    let mut view = a.fixed_view_mut::<3, 3>(at.0, at.1);
                    view += block;
                }
            }
        }
        a
    }

    #[track_caller]
    fn check(held: impl Fn(usize) -> [bool; 3]) {
        let mesh = tet_cuboid(Vector3::new(0.5, 0.4, 0.3), [3, 2, 2]).unwrap();
        let links = MeshLinks::new(&mesh);
        let n = links.n_vertices();
        let n_elements = mesh.tets().len();
        let gradients: Vec<[Vector3<f64>; 4]> = (0..n_elements)
            .map(|e| {
                let g = |k: usize| {
                    Vector3::from_fn(|r, _| ((3 * e + 5 * k + 7 * r) as f64 * 1.7).sin())
                };
                [-(g(1) + g(2) + g(3)), g(1), g(2), g(3)]
            })
            .collect();
        let mass: Vec<f64> = (0..n).map(|v| 1.0 + 0.1 * v as f64).collect();
        let mut dofs = DofMap::default();
        dofs.update(&(0..n).map(held).collect::<Vec<_>>());
        let mut system = System::default();
        system.lay_out(&links, &dofs);
        let blocks = HookeBlocks {
            lames: &PerElement::new(vec![lame()], Vec::new()),
            gradients: &gradients,
        };
        system.assemble(&links, &dofs, MassPart::Lumped(1.0, &mass), &blocks);
        check_dynamics(&system).unwrap();
        let all = dense(&links, &gradients, &mass);
        let kept: Vec<usize> = (0..n as u32)
            .flat_map(|v| dofs.free(v).map(move |(k, _)| 3 * v as usize + k))
            .collect();
        let expected = all.select_rows(&kept).select_columns(&kept);
        let mut found = DMatrix::zeros(kept.len(), kept.len());
        let mut x = vec![0.0; kept.len()];
        for j in 0..kept.len() {
            x[j] = 1.0;
            system.apply(&x, found.column_mut(j).as_mut_slice());
            x[j] = 0.0;
        }
        assert!((&found - &expected).norm() <= 1e-14 * expected.norm());

        // Any law's table of blocks, and consistent mass.
        let table: Vec<[Matrix3<f64>; 10]> = gradients
            .iter()
            .map(|h| {
                let mut blocks = [Matrix3::zeros(); 10];
                for a in 0..4 {
                    for b in a..4 {
                        blocks[BlockTable::index(a, b)] = lame().hooke().block(&h[a], &h[b]);
                    }
                }
                blocks
            })
            .collect();
        let element_mass = vec![20.0; n_elements];
        let mass = MassPart::Consistent(0.5, &element_mass);
        system.assemble(&links, &dofs, mass, &BlockTable(&table));
        check_dynamics(&system).unwrap();
        let ones = vec![1.0; kept.len()];
        let mut y = vec![0.0; kept.len()];
        system.apply(&ones, &mut y);
        let stiff = dense(&links, &gradients, &vec![0.0; n])
            .select_rows(&kept)
            .select_columns(&kept);
        let only_mass: f64 =
            y.iter().sum::<f64>() - (&stiff * DMatrix::repeat(kept.len(), 1, 1.0)).sum();
        if kept.len() == 3 * n {
            // 1ᵀM1 over three directions is three times the mass.
            let whole = 3.0 * 0.5 * 20.0 * n_elements as f64;
            assert!((only_mass - whole).abs() < 1e-9 * whole);
        }
    }

    #[test]
    fn assembly_by_columns_is_the_plain_sum_whatever_is_held() {
        check(|_| [false; 3]);
        check(|v| [v < 5; 3]);
        check(|v| [false, false, v % 2 == 0]);
        check(|v| [v == 3, v % 4 == 1, true]);
    }
}
