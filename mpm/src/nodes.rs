//! Numbering of the grid nodes with mass, whose velocities are the unknowns of an implicit step.

use nalgebra::{Matrix3, Vector3};

use crate::colours::{for_each_block, scatter};
use crate::mirrors::Mirrors;
use crate::sparse_grid::{BLOCK_NODES, Cell, NONE, SparseGrid};
use crate::spline::Stencil;
use crate::transfer::NodeField;

/// Nodes with less than this fraction of the largest nodal mass are ignored: their weight gradients are of the order of its square
/// root, and their contributions are below round-off.
const MASS_FRACTION_MIN: f64 = 1e-32;

/// Nodes of a cell that are the images of others of its nodes.
#[derive(Clone, Debug)]
struct Reflection {
    /// The node of the 27 that each is or is the image of.
    originals: [u8; 27],
    /// The factor of each component in the image; 1 of nodes that are none.
    signs: [[f64; 3]; 27],
}

/// Values at the 27 nodes of a cell.
pub(crate) type Local = [Vector3<f64>; 27];

/// Indices of the nodes with mass, block by block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    /// Nodes of each occupied cell; [`NONE`] where there is no mass. That of an image is its original.
    pub(crate) of_cell: Vec<[u32; 27]>,
    /// Of the cells with images; empty without mirrors.
    reflections: Vec<Option<Box<Reflection>>>,
    /// End of the indices of each block.
    ends: Vec<u32>,
    /// Index of each stored node.
    indices: Vec<u32>,
    /// In units of the spacing.
    pub(crate) coordinates: Vec<[i32; 3]>,
}

impl Nodes {
    /// Numbers the nodes of `field`, which holds momentum and mass, and writes their masses and velocities.
    pub(crate) fn number(
        &mut self,
        grid: &SparseGrid,
        field: &NodeField<f64>,
        mass: &mut Vec<f64>,
        velocity: &mut Vec<f64>,
    ) {
        let heaviest = field.nodes().map(|n| n[3]).fold(0.0, f64::max);
        let mass_min = MASS_FRACTION_MIN * heaviest;
        self.ends.clear();
        self.indices.clear();
        self.coordinates.clear();
        mass.clear();
        velocity.clear();
        let mut nodes = field.nodes();
        for block in 0..grid.n_blocks() {
            for (slot, node) in nodes.by_ref().take(BLOCK_NODES).enumerate() {
                if node[3] > mass_min {
                    self.indices.push(mass.len() as u32);
                    self.coordinates.push(grid.node_coordinates(block, slot));
                    mass.push(node[3]);
                    velocity.extend(node[..3].iter().map(|p| p / node[3]));
                } else {
                    self.indices.push(NONE);
                }
            }
            self.ends.push(mass.len() as u32);
        }
        self.of_cell.clear();
        for block in &grid.blocks {
            for cell in &grid.cells[block.cells.start as usize..block.cells.end as usize] {
                let local = cell.local();
                self.of_cell.push(std::array::from_fn(|n| {
                    let (octant, slot) = locate(local, n);
                    let block = block.plus[octant];
                    if block == NONE {
                        NONE
                    } else {
                        self.indices[block as usize * BLOCK_NODES + slot]
                    }
                }));
            }
        }
        self.reflections.clear();
    }

    /// Lets images, which have no mass, move with their originals. Returns, by storage, the node that each stands for, and the signs of its
    /// velocity; nothing without mirrors.
    pub(crate) fn reflect(&mut self, grid: &SparseGrid, mirrors: &Mirrors) -> Vec<(u32, [f64; 3])> {
        if mirrors.is_empty() {
            return Vec::new();
        }
        let mut stands_for: Vec<(u32, [f64; 3])> = Vec::new();
        stands_for.extend((0..self.indices.len() as u32).map(|node| (node, [1.0; 3])));
        for (image, original, signs) in mirrors.originals().collect::<Vec<_>>().into_iter().rev() {
            let (root, of_root) = stands_for[original as usize];
            stands_for[image as usize] = (root, [0, 1, 2].map(|k| signs[k] * of_root[k]));
        }
        let blocks = grid.blocks.iter();
        let cells = blocks.flat_map(|b| b.cells.clone().map(move |cell| (b, cell as usize)));
        for (block, cell) in cells {
            let at = |n: usize| {
                let (octant, slot) = locate(grid.cells[cell].local(), n);
                let block = block.plus[octant];
                (block != NONE).then_some(block * BLOCK_NODES as u32 + slot as u32)
            };
            let stored: [Option<u32>; 27] = std::array::from_fn(at);
            let mut reflection = Reflection {
                originals: std::array::from_fn(|n| n as u8),
                signs: [[1.0; 3]; 27],
            };
            let mut any = false;
            for n in 0..27 {
                let Some(node) = stored[n] else { continue };
                let (root, signs) = stands_for[node as usize];
                if root == node {
                    continue;
                }
                // An original out of reach: the particle is far behind the wall, and the image at rest.
                let Some(original) = stored.iter().position(|s| *s == Some(root)) else {
                    continue;
                };
                any = true;
                self.of_cell[cell][n] = self.indices[root as usize];
                reflection.originals[n] = original as u8;
                reflection.signs[n] = signs;
            }
            self.reflections.push(any.then(|| Box::new(reflection)));
        }
        stands_for
    }

    /// The factor of each component of the velocity of node `n` of a cell, −1 in images where it is reversed.
    pub(crate) fn signs(&self, cell: usize, n: usize) -> [f64; 3] {
        match self.reflections.get(cell) {
            Some(Some(reflection)) => reflection.signs[n],
            _ => [1.0; 3],
        }
    }

    /// Number of the node with a storage index, if it has mass.
    pub(crate) fn numbered(&self, stored: u32) -> Option<usize> {
        let node = self.indices[stored as usize];
        (node != NONE).then_some(node as usize)
    }

    pub(crate) fn len(&self) -> usize {
        self.coordinates.len()
    }

    /// Index of the first node of a block.
    pub(crate) fn start(&self, block: usize) -> usize {
        if block == 0 {
            0
        } else {
            self.ends[block - 1] as usize
        }
    }

    pub(crate) fn end(&self, block: usize) -> usize {
        self.ends[block] as usize
    }

    /// Vectors at the nodes of a cell, zero where there is no mass.
    #[inline(always)]
    pub(crate) fn local(&self, cell: usize, values: &[f64]) -> Local {
        let mut local = [Vector3::zeros(); 27];
        for (local, &node) in local.iter_mut().zip(&self.of_cell[cell]) {
            if node != NONE {
                let at = 3 * node as usize;
                let x = &values[at..at + 3];
                *local = Vector3::new(x[0], x[1], x[2]);
            }
        }
        if let Some(Some(reflection)) = self.reflections.get(cell) {
            for (local, signs) in local.iter_mut().zip(&reflection.signs) {
                local.component_mul_assign(&Vector3::from(*signs));
            }
        }
        local
    }

    /// Calls `visit` for every particle with its index in sorted order, the `values` at its nodes, and its entry of `out`, which has
    /// one entry for each sorted particle.
    pub(crate) fn gather<V: Send>(
        &self,
        grid: &SparseGrid,
        values: &[f64],
        out: &mut [V],
        visit: impl Fn(usize, &Local, &mut V) + Sync,
    ) {
        for_each_block(grid, out, |block, out| {
            let cells = grid.blocks[block].cells.clone();
            let first = grid.cells[cells.start as usize].particles.start;
            for cell in cells {
                let local = self.local(cell as usize, values);
                for p in grid.cells[cell as usize].particles.clone() {
                    visit(p as usize, &local, &mut out[(p - first) as usize]);
                }
            }
        });
    }

    /// Adds the values that `fill` computes for the 27 nodes of every occupied cell to `out`, which has `W` values per node.
    pub(crate) fn scatter<const W: usize>(
        &self,
        grid: &SparseGrid,
        out: &mut [f64],
        fill: impl Fn(usize, &Cell, &mut [[f64; W]; 27]) + Sync,
    ) {
        scatter(
            grid,
            |block| W * self.end(block),
            out,
            |block, octants| {
                let plus = grid.blocks[block].plus;
                let starts = plus.map(|b| if b == NONE { 0 } else { self.start(b as usize) });
                for cell in grid.blocks[block].cells.clone() {
                    let cell_data = &grid.cells[cell as usize];
                    let mut local = [[0.0; W]; 27];
                    fill(cell as usize, cell_data, &mut local);
                    let reflection = self.reflections.get(cell as usize);
                    let reflection = reflection.and_then(Option::as_deref);
                    for (n, values) in local.iter().enumerate() {
                        let node = self.of_cell[cell as usize][n];
                        if node == NONE {
                            continue;
                        }
                        let original = reflection.map_or(n, |r| r.originals[n] as usize);
                        let (octant, _) = locate(cell_data.local(), original);
                        let at = W * (node as usize - starts[octant]);
                        let to = &mut octants[octant][at..at + W];
                        match reflection {
                            None => to.iter_mut().zip(values).for_each(|(to, v)| *to += v),
                            Some(r) => add_reflected(to, values, &r.signs[n]),
                        }
                    }
                }
            },
        );
    }
}

/// Adds a vector (three values), or the blocks of a matrix (nine), of an image to its original.
fn add_reflected<const W: usize>(to: &mut [f64], values: &[f64; W], signs: &[f64; 3]) {
    for (k, (to, value)) in to.iter_mut().zip(values).enumerate() {
        let sign = match W {
            9 => signs[k / 3] * signs[k % 3],
            _ => signs[k],
        };
        *to += sign * value;
    }
}

/// Octant and storage index of node `n` of the 27 of a cell at `local` within its block.
#[inline(always)]
pub(crate) fn locate(local: [usize; 3], n: usize) -> (usize, usize) {
    let [x, y, z] = [local[0] + n / 9, local[1] + n / 3 % 3, local[2] + n % 3];
    (
        x / 4 + (y / 4) * 2 + (z / 4) * 4,
        (x % 4) * 16 + (y % 4) * 4 + z % 4,
    )
}

/// Σ u_i ∇w_iᵀ.
#[inline(always)]
pub(crate) fn gradient(s: &Stencil<f64>, u: &Local) -> Matrix3<f64> {
    let ([wx, wy, wz], [dx, dy, dz]) = (&s.weights, &s.slopes);
    let zero = Vector3::zeros();
    let (mut by_x, mut by_y, mut by_z) = (zero, zero, zero);
    for i in 0..3 {
        let (mut plain, mut along_y, mut along_z) = (zero, zero, zero);
        for j in 0..3 {
            let row = &u[9 * i + 3 * j..9 * i + 3 * j + 3];
            let sum = row[0] * wz[0] + row[1] * wz[1] + row[2] * wz[2];
            let sloped = row[0] * dz[0] + row[1] * dz[1] + row[2] * dz[2];
            plain += sum * wy[j];
            along_y += sum * dy[j];
            along_z += sloped * wy[j];
        }
        by_x += plain * dx[i];
        by_y += along_y * wx[i];
        by_z += along_z * wx[i];
    }
    Matrix3::from_columns(&[by_x, by_y, by_z])
}

/// Adds S ∇w_i to every node: the transpose of [`gradient`].
#[inline(always)]
pub(crate) fn add_divergence(s: &Stencil<f64>, stress: &Matrix3<f64>, out: &mut [[f64; 3]; 27]) {
    let ([wx, wy, wz], [dx, dy, dz]) = (&s.weights, &s.slopes);
    let column = |k: usize| Vector3::new(stress[(0, k)], stress[(1, k)], stress[(2, k)]);
    let (sx, sy, sz) = (column(0), column(1), column(2));
    for i in 0..3 {
        let (px, py, pz) = (sx * dx[i], sy * wx[i], sz * wx[i]);
        for j in 0..3 {
            let (plain, sloped) = (px * wy[j] + py * dy[j], pz * wy[j]);
            for k in 0..3 {
                let share = plain * wz[k] + sloped * dz[k];
                let to = &mut out[9 * i + 3 * j + k];
                (0..3).for_each(|a| to[a] += share[a]);
            }
        }
    }
}

/// Σ w_i u_i.
#[inline(always)]
pub(crate) fn interpolate(s: &Stencil<f64>, u: &Local) -> Vector3<f64> {
    let [wx, wy, wz] = &s.weights;
    let mut sum = Vector3::zeros();
    for (i, wx) in wx.iter().enumerate() {
        let mut plane = Vector3::zeros();
        for (j, wy) in wy.iter().enumerate() {
            let row = &u[9 * i + 3 * j..9 * i + 3 * j + 3];
            plane += (row[0] * wz[0] + row[1] * wz[1] + row[2] * wz[2]) * *wy;
        }
        sum += plane * *wx;
    }
    sum
}

/// (4/h²) Σ w_i u_i (x_i − x)ᵀ.
#[inline(always)]
pub(crate) fn affine(s: &Stencil<f64>, u: &Local, spacing: f64) -> Matrix3<f64> {
    let mut sum = Matrix3::zeros();
    for (n, u) in u.iter().enumerate() {
        let n = crate::spline::corner(n);
        sum += u * s.weight(n) * s.arm(n, spacing).transpose();
    }
    sum * (4.0 / (spacing * spacing))
}
