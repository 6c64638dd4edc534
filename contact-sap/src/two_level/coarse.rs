//! The coarse level PᵀHP: rigid motions of groups, as a block-sparse matrix of its own.

use nalgebra::{Matrix3, Vector3};

use super::{Indefinite, MemberGroups, Motions, turn_about};
use crate::dynamics::{Assembled, BlockDiagonal};
use crate::evaluation::Evaluation;
use crate::hessian::{Elimination, Factor, Graph, Multifrontal, Place, minimum_degree};
use crate::island::{IslandBasis, IslandProblem};

/// A share of the diagonal that keeps motions of groups that are points or straight lines from being singular; what it
/// changes is nothing that P could see.
const SHIFT: f64 = 1e-10;

#[derive(Default)]
pub(super) struct Coarse {
    key: Key,
    next_key: Key,
    symbolic: Option<Symbolic>,
    factor: Factor,
    /// PᵀAP: 6×6 column-major for each group and neighbour of the sparse members.
    a: Vec<[f64; 36]>,
    /// Row and column group of each of them.
    a_pairs: Vec<(u32, u32)>,
    /// Columns of A P while they are summed, one set for each neighbour.
    sums: Vec<[Vector3<f64>; 2]>,
    block_sums: Vec<[Matrix3<f64>; 2]>,
    slot: Vec<u32>,
    /// B P of the groups of one basis, r rows a column.
    motion: Vec<f64>,
    touched: Vec<u32>,
    product: Vec<f64>,
    aggregate: Vec<f64>,
}

/// What the pattern follows from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Key {
    starts: Vec<usize>,
    /// Groups that A or constraints couple, row > column.
    pairs: Vec<(u32, u32)>,
}

struct Symbolic {
    position: Vec<u32>,
    fronts: Multifrontal,
}

impl Coarse {
    pub(super) fn begin(
        &mut self,
        p: &IslandProblem<'_>,
        members: &[MemberGroups],
        motions: &Motions,
    ) {
        self.a_pairs.clear();
        for member in members.iter().filter(|m| !m.groups.is_dense()) {
            for group in 0..member.groups.count {
                let column = (member.first_group + group) as u32;
                let near = &member.groups.neighbours[member.groups.neighbour_range(group)];
                let first = member.first_group as u32;
                self.a_pairs
                    .extend(near.iter().map(|row| (first + row, column)));
            }
        }
        self.read_key(p, motions);
        if self.symbolic.is_none() || self.key != self.next_key {
            // A copy, so that the next step finds room in both.
            self.key.clone_from(&self.next_key);
            let starts = &self.key.starts;
            let graph = Graph::from_edges(starts.len() - 1, &self.key.pairs);
            let elimination = Elimination::new(&graph, minimum_degree(&graph));
            let fronts = Multifrontal::new(&graph, &elimination, starts);
            self.symbolic = Some(Symbolic {
                position: elimination.position,
                fronts,
            });
        }
        if let Some(symbolic) = &self.symbolic {
            let n = motions.starts.last().copied().unwrap_or(0);
            symbolic.fronts.reserve(&mut self.factor, n);
        }
        self.project(p, members, motions);
    }

    fn read_key(&mut self, p: &IslandProblem<'_>, motions: &Motions) {
        let key = &mut self.next_key;
        key.starts.clone_from(&motions.starts);
        key.pairs.clear();
        let apart = self.a_pairs.iter().filter(|(row, column)| row != column);
        key.pairs.extend(apart);
        for basis in &p.island.bases {
            let pieces = &p.island.pieces[basis.pieces.clone()];
            for (k, a) in pieces.iter().enumerate() {
                for b in &pieces[..k] {
                    let (a, b) = (motions.group[a.node], motions.group[b.node]);
                    if a != b {
                        key.pairs.push((a.max(b), a.min(b)));
                    }
                }
            }
        }
        key.pairs.sort_unstable();
        key.pairs.dedup();
    }

    /// PᵀAP of the sparse members.
    fn project(&mut self, p: &IslandProblem<'_>, members: &[MemberGroups], motions: &Motions) {
        self.a.clear();
        self.a.resize(self.a_pairs.len(), [0.0; 36]);
        let mut blocks = self.a.as_mut_slice();
        for (member, own) in p.island.members.iter().zip(members) {
            let dynamics = p.dynamics(member);
            let Some(Assembled::Sparse(a)) = dynamics.assembled() else {
                continue;
            };
            let by_vertex = matches!(dynamics.diagonal_blocks(), BlockDiagonal::Vertices(_));
            self.slot.clear();
            self.slot.resize(own.groups.count, u32::MAX);
            for group in 0..own.groups.count {
                let near = &own.groups.neighbours[own.groups.neighbour_range(group)];
                for (k, other) in near.iter().enumerate() {
                    self.slot[*other as usize] = k as u32;
                }
                let (own_blocks, rest) = blocks.split_at_mut(near.len());
                blocks = rest;
                let slots = &self.slot;
                let slot = |node: usize| slots[motions.group[node] as usize - own.first_group];
                for &node in &own.groups.nodes[own.groups.range(group)] {
                    let node = own.first_node + node as usize;
                    let first_dof = p.island.node_starts[node];
                    let last_dof = p.island.node_starts[node + 1];
                    let column = |dof: usize| Column::of(&a, dof - member.first_dof);
                    let offset = &motions.offset[node];
                    let vertex = by_vertex.then(|| [0, 1, 2].map(|k| column(first_dof + k)));
                    if let Some(columns) = vertex.filter(are_blocks) {
                        self.block_sums.clear();
                        self.block_sums.resize(near.len(), [Matrix3::zeros(); 2]);
                        sum_blocks(
                            &columns,
                            own.first_node,
                            motions,
                            slot,
                            &mut self.block_sums,
                        );
                        for (block, [moved, turned]) in own_blocks.iter_mut().zip(&self.block_sums)
                        {
                            for axis in 0..3 {
                                let (m, t) = (moved.column(axis), turned.column(axis));
                                let column = (&m.into_owned(), &t.into_owned());
                                add_motions(block, axis as u8, offset, column);
                            }
                        }
                        continue;
                    }
                    for dof in first_dof..last_dof {
                        self.sums.clear();
                        self.sums.resize(near.len(), [Vector3::zeros(); 2]);
                        let firsts = (member.first_dof, own.first_node);
                        column(dof).sum(p, firsts, motions, slot, &mut self.sums);
                        for (block, [moved, turned]) in own_blocks.iter_mut().zip(&self.sums) {
                            add_motions(block, motions.axis[dof], offset, (moved, turned));
                        }
                    }
                }
                for other in near {
                    self.slot[*other as usize] = u32::MAX;
                }
            }
        }
    }

    /// Factors PᵀHP.
    pub(super) fn factor(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
        motions: &Motions,
    ) -> Result<(), Indefinite> {
        let Some(Symbolic { position, fronts }) = &self.symbolic else {
            return Ok(());
        };
        let values = &mut self.factor.values;
        values.fill(0.0);
        for ((row, column), block) in self.a_pairs.iter().zip(&self.a) {
            let (i, j) = (position[*row as usize], position[*column as usize]);
            let place = fronts.block(i.max(j), i.min(j));
            for c in 0..6 {
                for r in 0..6 {
                    // Whatever is lower in the order of elimination is stored.
                    let (r_at, c_at) = if i >= j { (r, c) } else { (c, r) };
                    values[place.offset + r_at + c_at * place.stride] = block[6 * c + r];
                }
            }
        }
        for member in &p.island.members {
            if let Some(Assembled::Dense(a)) = p.dynamics(member).assembled()
                && member.n_dofs > 0
            {
                let node = p
                    .island
                    .node_starts
                    .partition_point(|s| *s <= member.first_dof)
                    - 1;
                let at = position[motions.group[node] as usize];
                let place = fronts.block(at, at);
                for (j, a_j) in a.chunks_exact(member.n_dofs).enumerate() {
                    values[place.offset + j * place.stride..][..member.n_dofs].copy_from_slice(a_j);
                }
            }
        }
        let active = p.island.bases.iter().zip(&e.active).filter(|(_, a)| **a);
        for (basis, _) in active {
            let r = basis.n_rows;
            gather_motion(p, basis, motions, &mut self.touched, &mut self.motion);
            let k = e.aggregate(p, basis, &mut self.aggregate);
            self.product.resize(r, 0.0);
            let mut first_column = 0;
            for &h in &self.touched {
                let h_size = size(motions, h);
                for c in 0..h_size {
                    let b = &self.motion[(first_column + c) * r..(first_column + c + 1) * r];
                    self.product.fill(0.0);
                    for (k, b) in k.chunks_exact(r).zip(b) {
                        if *b != 0.0 {
                            self.product
                                .iter_mut()
                                .zip(k)
                                .for_each(|(y, k)| *y += k * b);
                        }
                    }
                    let mut first_row = 0;
                    for &g in &self.touched {
                        let g_size = size(motions, g);
                        let (i, j) = (position[g as usize], position[h as usize]);
                        if i >= j {
                            let place = fronts.block(i, j);
                            for a in 0..g_size {
                                let row = &self.motion[(first_row + a) * r..][..r];
                                let sum: f64 =
                                    row.iter().zip(&self.product).map(|(m, y)| m * y).sum();
                                values[place.offset + a + c * place.stride] += sum;
                            }
                        }
                        first_row += g_size;
                    }
                }
                first_column += h_size;
            }
        }
        for (group, range) in motions.starts.windows(2).enumerate() {
            let at = position[group];
            let Place { offset, stride } = fronts.block(at, at);
            for k in 0..range[1] - range[0] {
                let diagonal = &mut values[offset + k * (stride + 1)];
                *diagonal = if *diagonal == 0.0 {
                    1.0
                } else {
                    *diagonal * (1.0 + SHIFT)
                };
            }
        }
        fronts.factor(&mut self.factor).map_err(|_| Indefinite)
    }

    /// c ← (PᵀHP)⁻¹c.
    pub(super) fn solve(&mut self, c: &mut [f64]) {
        if let Some(symbolic) = &self.symbolic {
            symbolic.fronts.solve(&mut self.factor, c);
        }
    }
}

fn size(motions: &Motions, group: u32) -> usize {
    motions.starts[group as usize + 1] - motions.starts[group as usize]
}

/// Adds Pᵀa times the row of P that belongs to the velocity of column a: along `axis`, `offset` from the centre.
#[inline]
fn add_motions(
    block: &mut [f64; 36],
    axis: u8,
    offset: &Vector3<f64>,
    (moved, turned): (&Vector3<f64>, &Vector3<f64>),
) {
    let mut add = |column: usize, scale: f64| {
        let to = &mut block[6 * column..6 * column + 6];
        for k in 0..3 {
            to[k] += scale * moved[k];
            to[3 + k] += scale * turned[k];
        }
    };
    add(axis as usize, 1.0);
    let turn = turn_about(offset, axis);
    for k in 0..3 {
        if turn[k] != 0.0 {
            add(3 + k, turn[k]);
        }
    }
}

/// One column of a sparse A.
#[derive(Clone, Copy)]
struct Column<'a> {
    rows: &'a [u32],
    values: &'a [f64],
}

/// Whether three columns have one pattern, in threes.
fn are_blocks(columns: &[Column<'_>; 3]) -> bool {
    let [x, y, z] = columns;
    let threes = x.rows.as_chunks::<3>();
    let whole = |rows: &[u32; 3]| rows[0].is_multiple_of(3) && rows[2] == rows[0] + 2;
    x.rows == y.rows && x.rows == z.rows && threes.1.is_empty() && threes.0.iter().all(whole)
}

/// Adds Pᵀ of the columns of one vertex to the sums of the groups that `slot` knows; all nodes of the body are vertices.
fn sum_blocks(
    columns: &[Column<'_>; 3],
    first_node: usize,
    motions: &Motions,
    slot: impl Fn(usize) -> u32,
    sums: &mut [[Matrix3<f64>; 2]],
) {
    let [x, y, z] = columns.map(|column| column.values.as_chunks::<3>().0);
    let rows = columns[0].rows.as_chunks::<3>().0;
    for (((rows, x), y), z) in rows.iter().zip(x).zip(y).zip(z) {
        let node = first_node + rows[0] as usize / 3;
        let slot = slot(node);
        if slot == u32::MAX {
            continue;
        }
        let [moved, turned] = &mut sums[slot as usize];
        let p = &motions.offset[node];
        for (axis, a) in [x, y, z].into_iter().enumerate() {
            for k in 0..3 {
                moved[(k, axis)] += a[k];
            }
            turned[(0, axis)] += p.y * a[2] - p.z * a[1];
            turned[(1, axis)] += p.z * a[0] - p.x * a[2];
            turned[(2, axis)] += p.x * a[1] - p.y * a[0];
        }
    }
}

impl<'a> Column<'a> {
    fn of(a: &sprs::CsMatViewI<'a, f64, u32>, column: usize) -> Self {
        let range = a.indptr().outer_inds_sz(column);
        let (_, rows, values) = a.into_raw_storage();
        Self {
            rows: &rows[range.clone()],
            values: &values[range],
        }
    }

    /// Adds Pᵀ of the column to the sums of the groups that `slot` knows.
    fn sum(
        &self,
        p: &IslandProblem<'_>,
        (first_dof, first_node): (usize, usize),
        motions: &Motions,
        slot: impl Fn(usize) -> u32,
        sums: &mut [[Vector3<f64>; 2]],
    ) {
        let starts = &p.island.node_starts;
        let mut node = first_node;
        let mut k = 0;
        while k < self.rows.len() {
            let dof = first_dof + self.rows[k] as usize;
            if starts[node + 1] <= dof {
                // Mostly the next but one; a search where it is far.
                node = match starts.get(node + 2) {
                    Some(end) if *end > dof => node + 1,
                    _ => starts.partition_point(|start| *start <= dof) - 1,
                };
            }
            let in_node = self.rows[k..]
                .iter()
                .take_while(|row| first_dof + (**row as usize) < starts[node + 1])
                .count();
            let slot = slot(node);
            if slot != u32::MAX {
                let [moved, turned] = &mut sums[slot as usize];
                let offset = &motions.offset[node];
                let values = &self.values[k..k + in_node];
                if let ([x, y, z], 3) = (values, starts[node + 1] - starts[node]) {
                    let a = Vector3::new(*x, *y, *z);
                    *moved += a;
                    *turned += offset.cross(&a);
                } else {
                    for (row, a) in self.rows[k..k + in_node].iter().zip(values) {
                        let axis = motions.axis[first_dof + *row as usize];
                        match axis {
                            0..3 => moved[axis as usize] += a,
                            _ => turned[axis as usize - 3] += a,
                        }
                        *turned += turn_about(offset, axis) * *a;
                    }
                }
            }
            k += in_node;
        }
    }
}

/// B P of the groups that a basis touches, in the order they are met.
fn gather_motion(
    p: &IslandProblem<'_>,
    basis: &IslandBasis,
    motions: &Motions,
    touched: &mut Vec<u32>,
    motion: &mut Vec<f64>,
) {
    let r = basis.n_rows;
    touched.clear();
    motion.clear();
    for piece in &p.island.pieces[basis.pieces.clone()] {
        let group = motions.group[piece.node];
        let mut first_column = 0;
        let mut known = false;
        for &g in touched.iter() {
            if g == group {
                known = true;
                break;
            }
            first_column += size(motions, g);
        }
        if !known {
            touched.push(group);
            motion.resize((first_column + size(motions, group)) * r, 0.0);
        }
        let whole = motions.whole[group as usize];
        let values = piece.values(p.set());
        let node_start = p.island.node_starts[piece.node];
        for j in 0..piece.n_dofs {
            let dof = piece.dof + j;
            let mut add = |column: usize, scale: f64| {
                let to = &mut motion[(first_column + column) * r + piece.row..][..piece.n_rows];
                match values {
                    None => to[j] += scale,
                    Some(values) => {
                        let from = &values[j * piece.n_rows..(j + 1) * piece.n_rows];
                        to.iter_mut().zip(from).for_each(|(to, b)| *to += scale * b);
                    }
                }
            };
            if whole {
                add(dof - node_start, 1.0);
                continue;
            }
            let axis = motions.axis[dof];
            add(axis as usize, 1.0);
            let turn = turn_about(&motions.offset[piece.node], axis);
            for k in 0..3 {
                if turn[k] != 0.0 {
                    add(3 + k, turn[k]);
                }
            }
        }
    }
}
