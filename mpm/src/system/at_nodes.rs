//! From the grid nodes to the points of a cloth and back, and from matrices on the points to the 3×3 blocks of the nodes on the diagonal of A.

use nalgebra::{Matrix3, Vector3, Vector4};
use rayon::prelude::*;

use super::GridSystem;
use super::cloth_term::{PARALLEL_MIN, in_parallel};
use super::motion::ClothPoint;
use super::vertex_stiffness::{VertexPattern, VertexStiffness};
use crate::sparse_grid::NONE;
use crate::spline::corner;

/// A vector in four lanes, the last of them zero: half of the instructions of three.
pub(super) type Padded = Vector4<f64>;

pub(super) fn padded(v: &Vector3<f64>) -> Padded {
    Padded::new(v.x, v.y, v.z, 0.0)
}

/// Positions or normals of points of a cloth as sums over the grid nodes around each.
#[derive(Clone, Debug, Default)]
pub(super) struct AtNodes {
    /// 1 for each component of a point that moves with the grid, 0 where it is held.
    free: Vec<Padded>,
    nodes: Vec<[u32; 27]>,
    /// Zero for nodes without mass, whose numbers are then those of others.
    weights: Vec<[f64; 27]>,
    n_nodes: usize,
    /// One past the last of `around` of each node.
    ends: Vec<u32>,
    /// Points and weights around each node.
    around: Vec<(u32, f64)>,
}

impl AtNodes {
    /// Of these particles, in sorted order: w of vertices, and ∇w·d₃ of centroids.
    pub(super) fn new(system: &GridSystem, particles: impl Iterator<Item = usize>) -> Self {
        let mut made = Self {
            n_nodes: system.nodes.len(),
            ..Self::default()
        };
        for p in particles {
            let stencil = &system.stencils[p];
            let (free, normal) = match &system.cloth_points[p] {
                ClothPoint::Other => (Vector3::zeros(), None),
                ClothPoint::Vertex(vertex) => (vertex.free, None),
                ClothPoint::Centroid(normal) => (Vector3::repeat(1.0), Some(normal)),
            };
            let around = &system.nodes.of_cell[system.cell_of[p] as usize];
            let weight = |n: usize| match normal {
                _ if around[n] == NONE => 0.0,
                Some(normal) => stencil.gradient(corner(n)).dot(normal),
                None => stencil.weight(corner(n)),
            };
            made.free.push(padded(&free));
            made.nodes
                .push(around.map(|node| if node == NONE { 0 } else { node }));
            made.weights.push(std::array::from_fn(weight));
        }
        made.turn();
        made
    }

    /// Lists the points around each node.
    fn turn(&mut self) {
        let each = self
            .nodes
            .iter()
            .flatten()
            .zip(self.weights.iter().flatten());
        let present = each.enumerate().filter(|(_, (_, weight))| **weight != 0.0);
        self.ends = vec![0; self.n_nodes];
        present
            .clone()
            .for_each(|(_, (node, _))| self.ends[*node as usize] += 1);
        let mut start = 0;
        for end in &mut self.ends {
            (start, *end) = (start + *end, start);
        }
        self.around = vec![(0, 0.0); start as usize];
        for (k, (node, weight)) in present {
            let next = &mut self.ends[*node as usize];
            self.around[*next as usize] = ((k / 27) as u32, *weight);
            *next += 1;
        }
    }

    fn present(&self, point: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let each = self.nodes[point].iter().zip(&self.weights[point]);
        let present = each.filter(|(_, weight)| **weight != 0.0);
        present.map(|(node, weight)| (*node, *weight))
    }

    /// The changes of the points for values at the nodes.
    #[inline(always)]
    pub(super) fn gather(&self, values: &[f64]) -> Vec<Padded> {
        let mut longer = Vec::with_capacity(values.len() + 1);
        longer.extend_from_slice(values);
        longer.push(0.0);
        in_parallel(
            self.free.len(),
            #[inline(always)]
            |point| {
                let each = self.nodes[point].iter().zip(&self.weights[point]);
                let mut sum = Padded::zeros();
                for (node, weight) in each {
                    let at = 3 * *node as usize;
                    sum += Padded::from_column_slice(&longer[at..at + 4]) * *weight;
                }
                sum.component_mul(&self.free[point])
            },
        )
    }

    /// Adds `scale` times forces on the points to the nodes: the transpose of [`Self::gather`].
    #[inline(always)]
    pub(super) fn scatter(&self, forces: &mut [Padded], scale: f64, out: &mut [f64]) {
        for (force, free) in forces.iter_mut().zip(&self.free) {
            *force = force.component_mul(free) * scale;
        }
        let forces = &*forces;
        if self.n_nodes < PARALLEL_MIN {
            for (node, out) in out.chunks_exact_mut(3).enumerate() {
                self.add_at(node, forces, out);
            }
        } else {
            let nodes = out.par_chunks_exact_mut(3).enumerate();
            let parts = nodes.with_min_len(PARALLEL_MIN / 8);
            parts.for_each(|(node, out)| self.add_at(node, forces, out));
        }
    }

    #[inline(always)]
    fn add_at(&self, node: usize, forces: &[Padded], out: &mut [f64]) {
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut sum = Padded::zeros();
        for (point, weight) in &self.around[start as usize..self.ends[node] as usize] {
            sum += forces[*point as usize] * *weight;
        }
        (0..3).for_each(|k| out[k] += sum[k]);
    }

    /// Adds the blocks of a stiffness on pairs of vertices.
    pub(super) fn add_pairs(
        &self,
        pattern: &VertexPattern,
        stiffness: &VertexStiffness,
        add: &mut impl FnMut(u32, &Matrix3<f64>),
    ) {
        let mut own = vec![0.0; self.n_nodes];
        for row in 0..self.free.len() {
            for (node, weight) in self.present(row) {
                own[node as usize] = weight;
            }
            for (column, block) in stiffness.row(pattern, row) {
                let block = self.masked(&block, row, column as usize);
                for (node, weight) in self.present(column as usize) {
                    let both = own[node as usize] * weight;
                    if both != 0.0 {
                        add(node, &(block * both));
                    }
                }
            }
            for (node, _) in self.present(row) {
                own[node as usize] = 0.0;
            }
        }
    }

    /// A block without the rows and columns of held components.
    fn masked(&self, block: &Matrix3<f64>, row: usize, column: usize) -> Matrix3<f64> {
        block.component_mul(&(self.free[row].xyz() * self.free[column].xyz().transpose()))
    }

    /// Adds y yᵀ of every node, y the derivative by its velocity of a number that depends on points with these slopes. `sums` is zero for
    /// all nodes before and after.
    pub(super) fn add_square(
        &self,
        slopes: &[(u32, Padded)],
        sums: &mut Vec<Padded>,
        add: &mut impl FnMut(u32, &Matrix3<f64>),
    ) {
        sums.resize(self.n_nodes, Padded::zeros());
        for (point, slope) in slopes {
            let point = *point as usize;
            let slope = slope.component_mul(&self.free[point]);
            for (node, weight) in self.nodes[point].iter().zip(&self.weights[point]) {
                sums[*node as usize] += slope * *weight;
            }
        }
        for node in slopes
            .iter()
            .flat_map(|(point, _)| &self.nodes[*point as usize])
        {
            let y = sums[*node as usize];
            if y != Padded::zeros() {
                add(*node, &(y.xyz() * y.xyz().transpose()));
                sums[*node as usize] = Padded::zeros();
            }
        }
    }

    /// Adds the blocks of a matrix on the coordinates of a few vertices.
    pub(super) fn add_element<const N: usize>(
        &self,
        vertices: &[u32; N],
        block: impl Fn(usize, usize) -> Matrix3<f64>,
        add: &mut impl FnMut(u32, &Matrix3<f64>),
    ) {
        for (a, row) in vertices.iter().enumerate() {
            for (b, column) in vertices.iter().enumerate() {
                let block = self.masked(&block(a, b), *row as usize, *column as usize);
                for (node, weight) in self.present(*column as usize) {
                    let of_row = self.present(*row as usize);
                    for (_, own) in of_row.filter(|(other, _)| *other == node) {
                        add(node, &(block * (own * weight)));
                    }
                }
            }
        }
    }
}

/// How the coordinates of an element, `N` vectors, depend on the nodes: for each node and each component, the share of each vector.
#[derive(Clone, Debug)]
pub(super) struct NodeRows<const N: usize> {
    nodes: Vec<(u32, [[f64; N]; 3])>,
}

impl<const N: usize> Default for NodeRows<N> {
    fn default() -> Self {
        Self {
            nodes: Vec::with_capacity(64),
        }
    }
}

impl<const N: usize> NodeRows<N> {
    /// Adds a point of the cloth whose changes enter the vectors with these shares.
    pub(super) fn add(&mut self, system: &GridSystem, p: usize, shares: &[f64; N]) {
        let around = &system.nodes.of_cell[system.cell_of[p] as usize];
        let present = around.iter().enumerate();
        for (n, &node) in present.filter(|(_, node)| **node != NONE) {
            let at = corner(n);
            let stencil = &system.stencils[p];
            let rates = match &system.cloth_points[p] {
                ClothPoint::Other => continue,
                ClothPoint::Vertex(vertex) => vertex.free * stencil.weight(at),
                ClothPoint::Centroid(normal) => Vector3::repeat(stencil.gradient(at).dot(normal)),
            };
            let row = match self.nodes.iter().position(|(known, _)| *known == node) {
                Some(row) => row,
                None => {
                    self.nodes.push((node, [[0.0; N]; 3]));
                    self.nodes.len() - 1
                }
            };
            for (of_component, rate) in self.nodes[row].1.iter_mut().zip(rates.iter()) {
                let each = of_component.iter_mut().zip(shares);
                each.for_each(|(to, share)| *to += rate * share);
            }
        }
    }

    /// The diagonal blocks of each node, of a matrix on the `N` vectors with these entries.
    pub(super) fn blocks(&self, entry: impl Fn(usize, usize) -> f64) -> Vec<(u32, Matrix3<f64>)> {
        let each = self.nodes.iter().map(|(node, rates)| {
            let block = Matrix3::from_fn(|k, l| {
                let mut sum = 0.0;
                for (a, first) in rates[k].iter().enumerate() {
                    for (b, second) in rates[l].iter().enumerate() {
                        sum += first * second * entry(3 * a + k, 3 * b + l);
                    }
                }
                sum
            });
            (*node, block)
        });
        each.collect()
    }
}
