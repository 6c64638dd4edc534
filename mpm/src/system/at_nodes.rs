//! From matrices on the points of a cloth to the 3×3 blocks of the grid nodes on the diagonal of A.

use nalgebra::{Matrix3, Vector3};

use super::GridSystem;
use super::motion::ClothPoint;
use super::vertex_stiffness::{VertexPattern, VertexStiffness};

/// The nodes around each vertex of a cloth.
pub(super) struct AtNodes {
    /// 1 for each component of a vertex that moves with the grid, 0 where it is held.
    free: Vec<Vector3<f64>>,
    /// Nodes and weights.
    weights: Vec<Vec<(u32, f64)>>,
    n_nodes: usize,
}

impl AtNodes {
    /// `sorted` are the places of the vertices among the particles.
    pub(super) fn new(system: &GridSystem, sorted: &[u32]) -> Self {
        let free = |p: &u32| match &system.cloth_points[*p as usize] {
            ClothPoint::Vertex(vertex) => vertex.free,
            _ => Vector3::zeros(),
        };
        let weights = |p: &u32| system.weights(*p as usize).collect();
        Self {
            free: sorted.iter().map(free).collect(),
            weights: sorted.iter().map(weights).collect(),
            n_nodes: system.nodes.len(),
        }
    }

    /// Adds the blocks of a stiffness on pairs of vertices.
    pub(super) fn add_pairs(
        &self,
        pattern: &VertexPattern,
        stiffness: &VertexStiffness,
        add: &mut impl FnMut(u32, &Matrix3<f64>),
    ) {
        let mut own = vec![0.0; self.n_nodes];
        for (row, weights) in self.weights.iter().enumerate() {
            for (node, weight) in weights {
                own[*node as usize] = *weight;
            }
            for (column, block) in stiffness.row(pattern, row) {
                let block = self.masked(block, row, column as usize);
                for (node, weight) in &self.weights[column as usize] {
                    let both = own[*node as usize] * weight;
                    if both != 0.0 {
                        add(*node, &(block * both));
                    }
                }
            }
            for (node, _) in weights {
                own[*node as usize] = 0.0;
            }
        }
    }

    /// A block without the rows and columns of held components.
    fn masked(&self, block: &Matrix3<f64>, row: usize, column: usize) -> Matrix3<f64> {
        block.component_mul(&(self.free[row] * self.free[column].transpose()))
    }

    /// Adds y yᵀ of every node, y the derivative by its velocity of a number that depends on vertices with these slopes. `sums` is zero for
    /// all nodes before and after.
    pub(super) fn add_square(
        &self,
        slopes: impl Iterator<Item = (u32, Vector3<f64>)>,
        (sums, touched): (&mut Vec<Vector3<f64>>, &mut Vec<u32>),
        add: &mut impl FnMut(u32, &Matrix3<f64>),
    ) {
        sums.resize(self.n_nodes, Vector3::zeros());
        touched.clear();
        for (v, slope) in slopes {
            let slope = slope.component_mul(&self.free[v as usize]);
            for (node, weight) in &self.weights[v as usize] {
                sums[*node as usize] += slope * *weight;
                touched.push(*node);
            }
        }
        for node in touched.iter() {
            let y = std::mem::replace(&mut sums[*node as usize], Vector3::zeros());
            if y != Vector3::zeros() {
                add(*node, &(y * y.transpose()));
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
                for (node, weight) in &self.weights[*column as usize] {
                    let mut of_row = self.weights[*row as usize].iter();
                    if let Some((_, own)) = of_row.find(|(other, _)| other == node) {
                        add(*node, &(block * (own * weight)));
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
        for (n, &node) in present.filter(|(_, node)| **node != crate::sparse_grid::NONE) {
            let at = crate::spline::corner(n);
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
