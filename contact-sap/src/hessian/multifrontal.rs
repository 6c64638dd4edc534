//! A block-sparse Cholesky factorisation by fronts: dense work only, on few and small matrices.

use std::ops::Range;

use crate::hessian::front::{FrontMemory, backward, eliminate, forward};
use crate::hessian::ordering::{Elimination, Graph};
use crate::hessian::{Place, Real};

/// The symbolic factorisation: supernodes, where their panels lie, how fronts pass on what is left of them.
///
/// Source: Duff and Reid (1983); amalgamation after Ashcraft and Grimes (1989).
#[derive(Clone, Debug, Default)]
pub(crate) struct Multifrontal {
    supernodes: Vec<Supernode>,
    /// How many of them are eliminated: all, or all but the last.
    n_eliminated: usize,
    /// Position and row in the front of every block of all fronts, own columns first.
    blocks: Vec<(u32, u32)>,
    runs: Vec<Run>,
    /// Supernode of each position.
    supernode_of: Vec<u32>,
    dofs: Vec<Dofs>,
    n_values: usize,
    stack_max: usize,
    below_max: usize,
}

/// Velocities of one position: where they begin in the island and in the factor, and how many.
#[derive(Clone, Copy, Debug)]
struct Dofs {
    island: usize,
    permuted: usize,
    size: usize,
}

/// What becomes of the last node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Border {
    Eliminated,
    Kept,
}

/// A supernode in the making.
#[derive(Clone, Debug)]
struct Candidate {
    first: usize,
    end: usize,
    /// Positions below its own.
    rows: Vec<u32>,
    n_children: usize,
    /// Pivots, rows below, and entries of its panel that are stored zeros.
    pivots: usize,
    below: usize,
    zeros: usize,
}

#[derive(Clone, Debug)]
struct Supernode {
    /// Own positions.
    positions: Range<usize>,
    blocks: Range<usize>,
    /// Pivots k and rows m.
    k: usize,
    m: usize,
    /// Offset of its panel, m×k, in the values.
    panel: usize,
    /// Rows below the pivots, as they lie in the parent's front.
    runs: Range<usize>,
    n_children: usize,
}

impl Supernode {
    fn rows_below(&self) -> usize {
        self.m - self.k
    }
}

/// Consecutive rows of a child's remainder that are consecutive in its parent's front.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: usize,
    to: usize,
    length: usize,
}

/// Factor values and the memory to compute them.
#[derive(Default)]
pub(crate) struct Factor<T = f64> {
    /// Panels of all supernodes: H before, L after the factorisation.
    pub(crate) values: Vec<T>,
    stack: Vec<T>,
    /// Supernodes whose remainders lie on the stack.
    waiting: Vec<usize>,
    x: Vec<T>,
    /// x after the last [`Multifrontal::reduce`].
    reduced: Vec<T>,
    below: Vec<T>,
    memory: FrontMemory,
}

impl Multifrontal {
    /// For `graph` in the order of `elimination`; node i has `node_starts[i + 1] − node_starts[i]` velocities.
    pub(crate) fn new(graph: &Graph, elimination: &Elimination, node_starts: &[usize]) -> Self {
        let mut this = Self::with_border(graph, elimination, node_starts, Border::Eliminated);
        this.n_eliminated = this.supernodes.len();
        this
    }

    /// [`Multifrontal::new`] up to the last node, whose panel receives the Schur complement in place of a factor.
    pub(crate) fn up_to_the_last(
        graph: &Graph,
        elimination: &Elimination,
        node_starts: &[usize],
    ) -> Self {
        let mut this = Self::with_border(graph, elimination, node_starts, Border::Kept);
        this.n_eliminated = this.supernodes.len() - 1;
        this
    }

    fn with_border(
        graph: &Graph,
        elimination: &Elimination,
        node_starts: &[usize],
        border: Border,
    ) -> Self {
        let mut permuted = 0;
        let dofs: Vec<Dofs> = elimination
            .order
            .iter()
            .map(|&node| {
                let node = node as usize;
                let size = node_starts[node + 1] - node_starts[node];
                permuted += size;
                Dofs {
                    island: node_starts[node],
                    permuted: permuted - size,
                    size,
                }
            })
            .collect();
        let n = dofs.len();
        let mut this = Self {
            supernode_of: vec![0; n],
            dofs,
            ..Self::default()
        };

        // Columns of L by position, first those of supernodes of one column, merged with their parents on the way.
        let mut open: Vec<Candidate> = Vec::new();
        let mut finished: Vec<Candidate> = Vec::new();
        for k in 0..n {
            let mut rows: Vec<u32> = graph
                .neighbours(elimination.order[k] as usize)
                .iter()
                .map(|&neighbour| elimination.position[neighbour as usize])
                .filter(|&row| row as usize > k)
                .collect();
            // Children end before k, one after the other: they lie on top of `open`.
            let mut children = Vec::new();
            while open
                .last()
                .is_some_and(|child| child.rows.first() == Some(&(k as u32)))
            {
                children.extend(open.pop());
            }
            for child in &children {
                rows.extend(child.rows.iter().skip(1));
            }
            rows.sort_unstable();
            rows.dedup();
            let mut own = Candidate {
                first: k,
                end: k + 1,
                pivots: this.dofs[k].size,
                below: rows.iter().map(|&row| this.dofs[row as usize].size).sum(),
                zeros: 0,
                rows,
                n_children: 0,
            };
            // The child that ends right before k may become part of it; the others are done.
            children.reverse();
            for (c, child) in children.iter().enumerate() {
                let last = c + 1 == children.len();
                let kept = border == Border::Kept && k + 1 == n;
                if last && !kept && own.absorb(child) {
                    own.n_children += child.n_children;
                } else {
                    finished.push(child.clone());
                    own.n_children += 1;
                }
            }
            open.push(own);
        }
        finished.extend(open);
        finished.sort_unstable_by_key(|candidate| candidate.first);
        this.lay_out(&finished);
        this
    }

    fn lay_out(&mut self, supernodes: &[Candidate]) {
        for (s, candidate) in supernodes.iter().enumerate() {
            let first_block = self.blocks.len();
            let mut row = 0;
            for position in candidate.first..candidate.end {
                self.supernode_of[position] = s as u32;
                self.blocks.push((position as u32, row as u32));
                row += self.dofs[position].size;
            }
            let k = row;
            for &position in &candidate.rows {
                self.blocks.push((position, row as u32));
                row += self.dofs[position as usize].size;
            }
            self.supernodes.push(Supernode {
                positions: candidate.first..candidate.end,
                blocks: first_block..self.blocks.len(),
                k,
                m: row,
                panel: self.n_values,
                runs: 0..0,
                n_children: candidate.n_children,
            });
            self.n_values += row * k;
            self.below_max = self.below_max.max(row - k);
        }
        for s in 0..self.supernodes.len() {
            let first_run = self.runs.len();
            let supernode = &self.supernodes[s];
            let below = supernode.blocks.start + supernode.positions.len()..supernode.blocks.end;
            for &(position, row) in &self.blocks[below.clone()] {
                let parent = self.supernode_of[self.blocks[below.start].0 as usize] as usize;
                let from = row as usize - supernode.k;
                let to = self.row_in_front(parent, position);
                let length = self.dofs[position as usize].size;
                match self.runs[first_run..].last_mut() {
                    Some(run) if run.to + run.length == to => run.length += length,
                    _ => self.runs.push(Run { from, to, length }),
                }
            }
            self.supernodes[s].runs = first_run..self.runs.len();
        }
        // Peak of the stack of remainders.
        let mut sizes: Vec<usize> = Vec::new();
        let mut height = 0;
        for supernode in &self.supernodes {
            let below = (supernode.m - supernode.k).pow(2);
            self.stack_max = self.stack_max.max(height + below);
            for _ in 0..supernode.n_children {
                height -= sizes.pop().unwrap_or(0);
            }
            height += below;
            sizes.push(below);
        }
    }

    /// Row of the block at `position` in the front of supernode `s`.
    fn row_in_front(&self, s: usize, position: u32) -> usize {
        let blocks = &self.blocks[self.supernodes[s].blocks.clone()];
        let at = blocks.partition_point(|(p, _)| *p < position);
        debug_assert_eq!(
            blocks[at].0, position,
            "the front has every row of its children"
        );
        blocks[at].1 as usize
    }

    /// Where the block at positions (`row`, `column`), row ≥ column, lies in [`Factor::values`].
    pub(crate) fn block(&self, row: u32, column: u32) -> Place {
        let s = self.supernode_of[column as usize] as usize;
        let supernode = &self.supernodes[s];
        let first = supernode.blocks.start + column as usize - supernode.positions.start;
        let column = self.blocks[first].1 as usize;
        Place {
            offset: supernode.panel + column * supernode.m + self.row_in_front(s, row),
            stride: supernode.m,
        }
    }

    /// Multiplications of a factorisation: Σ over the pivots of half the square of the column below.
    pub(crate) fn work(&self) -> f64 {
        let pivot_work = |s: &Supernode| {
            let columns = (s.m - s.k + 1..=s.m).map(|below| (below * below) as f64 / 2.0);
            columns.sum::<f64>()
        };
        self.supernodes.iter().map(pivot_work).sum()
    }

    /// Makes room in `factor`.
    pub(crate) fn reserve<T: Real>(&self, factor: &mut Factor<T>, n_dofs: usize) {
        factor.values.resize(self.n_values, T::ZERO);
        factor.stack.resize(self.stack_max, T::ZERO);
        factor.waiting.clear();
        factor.waiting.reserve(self.supernodes.len());
        factor.x.resize(n_dofs, T::ZERO);
        factor.below.resize(self.below_max, T::ZERO);
        let pivots = self.supernodes.iter().map(|s| s.k).max().unwrap_or(0);
        factor.memory.reserve::<T>(pivots);
    }

    /// H = LLᵀ in place.
    ///
    /// # Errors
    /// The velocity whose pivot was not positive.
    pub(crate) fn factor<T: Real>(&self, factor: &mut Factor<T>) -> Result<(), usize> {
        let Factor {
            values,
            stack,
            waiting,
            memory,
            ..
        } = factor;
        waiting.clear();
        let mut height = 0;
        for (s, supernode) in self.supernodes.iter().enumerate() {
            let (k, m) = (supernode.k, supernode.m);
            let r = m - k;
            let panel = &mut values[supernode.panel..supernode.panel + m * k];
            let (remainders, rest) = stack.split_at_mut(height);
            let rest = &mut rest[..r * r];
            for (t, column) in rest.chunks_exact_mut(r.max(1)).enumerate() {
                column[t..].fill(T::ZERO);
            }
            // Children on top of the stack, the last one first.
            let mut end = height;
            let first_child = waiting.len() - supernode.n_children;
            for child in (first_child..waiting.len()).rev() {
                let child_rows = self.supernodes[waiting[child]].rows_below();
                let start = end - child_rows * child_rows;
                let runs = &self.runs[self.supernodes[waiting[child]].runs.clone()];
                add_remainder(&remainders[start..end], child_rows, runs, panel, rest, m, k);
                end = start;
            }
            if s < self.n_eliminated {
                eliminate(panel, rest, m, k, memory).map_err(|pivot| self.dof_of(s, pivot))?;
            }
            // The lower triangle of the remainder moves down to where its children were.
            if end < height {
                for t in 0..r {
                    let from = height + t * (r + 1);
                    stack.copy_within(from..from + r - t, end + t * (r + 1));
                }
            }
            height = end + r * r;
            waiting.truncate(first_child);
            waiting.push(s);
        }
        Ok(())
    }

    fn dof_of(&self, s: usize, row: usize) -> usize {
        let supernode = &self.supernodes[s];
        let blocks = &self.blocks[supernode.blocks.clone()];
        let block = blocks.partition_point(|(_, first)| *first as usize <= row) - 1;
        let (position, first) = blocks[block];
        self.dofs[position as usize].island + row - first as usize
    }

    /// x ← H⁻¹x.
    pub(crate) fn solve<T: Real>(&self, factor: &mut Factor<T>, x: &mut [T]) {
        self.permute(factor, x);
        self.forward(factor);
        self.backward(factor);
        self.permute_back(factor, x);
    }

    /// The Schur complement S of the last node, in its lower triangle column-major, once all before it are eliminated.
    pub(crate) fn schur_complement<'a>(&self, factor: &'a Factor) -> &'a [f64] {
        let last = &self.supernodes[self.n_eliminated];
        &factor.values[last.panel..last.panel + last.m * last.k]
    }

    /// Eliminates all but the last node from the right-hand side `x`; returns what is left of it there.
    pub(crate) fn reduce<'a>(&self, factor: &'a mut Factor, x: &[f64]) -> &'a [f64] {
        self.permute(factor, x);
        self.forward(factor);
        factor.reduced.clone_from(&factor.x);
        &factor.reduced[self.last_dofs()]
    }

    /// The solution x that has the values `last` at the last node, after [`Multifrontal::reduce`].
    pub(crate) fn expand(&self, factor: &mut Factor, last: &[f64], x: &mut [f64]) {
        factor.x.copy_from_slice(&factor.reduced);
        factor.x[self.last_dofs()].copy_from_slice(last);
        self.backward(factor);
        self.permute_back(factor, x);
    }

    /// Where the velocities of the last node are in the factor.
    fn last_dofs(&self) -> Range<usize> {
        let last = &self.supernodes[self.n_eliminated];
        let start = self.dofs[last.positions.start].permuted;
        start..start + last.k
    }

    fn permute<T: Real>(&self, factor: &mut Factor<T>, x: &[T]) {
        for d in &self.dofs {
            let own = &x[d.island..d.island + d.size];
            factor.x[d.permuted..d.permuted + d.size].copy_from_slice(own);
        }
    }

    fn permute_back<T: Real>(&self, factor: &Factor<T>, x: &mut [T]) {
        for d in &self.dofs {
            let own = &factor.x[d.permuted..d.permuted + d.size];
            x[d.island..d.island + d.size].copy_from_slice(own);
        }
    }

    /// x ← L⁻¹x of what is eliminated, and what it explains of the rest.
    fn forward<T: Real>(&self, factor: &mut Factor<T>) {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || self.forward_in_registers(factor),
        );
    }

    #[inline(always)]
    fn forward_in_registers<T: Real>(&self, factor: &mut Factor<T>) {
        let Factor {
            values, x, below, ..
        } = factor;
        for supernode in &self.supernodes[..self.n_eliminated] {
            let (k, m) = (supernode.k, supernode.m);
            let start = self.dofs[supernode.positions.start].permuted;
            let panel = &values[supernode.panel..supernode.panel + m * k];
            let below = &mut below[..m - k];
            below.fill(T::ZERO);
            forward(panel, m, k, &mut x[start..start + k], below);
            for (row, d) in self.below(supernode) {
                let below = &below[row..row + d.size];
                let x = &mut x[d.permuted..d.permuted + d.size];
                x.iter_mut().zip(below).for_each(|(x, b)| *x += *b);
            }
        }
    }

    /// x ← L⁻ᵀx of what is eliminated.
    fn backward<T: Real>(&self, factor: &mut Factor<T>) {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || self.backward_in_registers(factor),
        );
    }

    #[inline(always)]
    fn backward_in_registers<T: Real>(&self, factor: &mut Factor<T>) {
        let Factor {
            values, x, below, ..
        } = factor;
        for supernode in self.supernodes[..self.n_eliminated].iter().rev() {
            let (k, m) = (supernode.k, supernode.m);
            let start = self.dofs[supernode.positions.start].permuted;
            let panel = &values[supernode.panel..supernode.panel + m * k];
            let below = &mut below[..m - k];
            for (row, d) in self.below(supernode) {
                let x = &x[d.permuted..d.permuted + d.size];
                below[row..row + d.size].copy_from_slice(x);
            }
            backward(panel, m, k, &mut x[start..start + k], below);
        }
    }

    /// Blocks below the pivots of a supernode: first row counted from there, and velocities.
    fn below(&self, supernode: &Supernode) -> impl Iterator<Item = (usize, Dofs)> {
        let first = supernode.blocks.start + supernode.positions.len();
        let blocks = self.blocks[first..supernode.blocks.end].iter();
        let k = supernode.k;
        blocks.map(move |&(position, row)| (row as usize - k, self.dofs[position as usize]))
    }
}

impl Candidate {
    /// Takes in the child that ends right before it, unless that stores too many zeros.
    ///
    /// Larger fronts run faster for each multiplication but do more of them: small ones may be half empty.
    fn absorb(&mut self, child: &Self) -> bool {
        let pivots = self.pivots + child.pivots;
        let zeros =
            self.zeros + child.zeros + child.pivots * (self.pivots + self.below - child.below);
        let entries = pivots * (pivots + self.below);
        let allowed = match pivots {
            0..=16 => 0.5,
            17..=48 => 0.2,
            _ => 0.05,
        };
        if zeros as f64 > allowed * entries as f64 {
            return false;
        }
        self.first = child.first;
        self.pivots = pivots;
        self.zeros = zeros;
        true
    }
}

/// Adds a child's remainder (r×r) to its parent's front: m×m of which `panel` holds the first k columns, `rest` the others.
#[inline]
fn add_remainder<T: Real>(
    remainder: &[T],
    r: usize,
    runs: &[Run],
    panel: &mut [T],
    rest: &mut [T],
    m: usize,
    k: usize,
) {
    for (a, columns) in runs.iter().enumerate() {
        for j in 0..columns.length {
            let from = &remainder[(columns.from + j) * r..(columns.from + j + 1) * r];
            let to = columns.to + j;
            let (column, first_row) = if to < k {
                (&mut panel[to * m..(to + 1) * m], 0)
            } else {
                (&mut rest[(to - k) * (m - k)..(to - k + 1) * (m - k)], k)
            };
            for (b, rows) in runs[a..].iter().enumerate() {
                let skip = if b == 0 { j } else { 0 };
                let from = &from[rows.from + skip..rows.from + rows.length];
                let to = &mut column[rows.to + skip - first_row..][..from.len()];
                to.iter_mut().zip(from).for_each(|(to, from)| *to += *from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;
    use crate::hessian::ordering::minimum_degree;

    /// A random graph of nodes of sizes 1 to 6, its matrix, and the solution against a dense one.
    #[track_caller]
    fn check(n: usize, edges_per_node: usize, seed: u64) {
        let mut state = seed;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let mut node_starts = vec![0];
        for i in 0..n {
            node_starts.push(node_starts[i] + 1 + random() % 6);
        }
        let mut edges = Vec::new();
        for i in 0..n {
            for _ in 0..edges_per_node {
                let j = random() % n;
                if i != j {
                    edges.push((i as u32, j as u32));
                }
            }
        }
        let graph = Graph::from_edges(n, &mut edges);
        let elimination = Elimination::new(&graph, minimum_degree(&graph));
        let symbolic = Multifrontal::new(&graph, &elimination, &node_starts);

        let dofs = node_starts[n];
        let mut a = DMatrix::<f64>::zeros(dofs, dofs);
        let mut factor = Factor::<f64>::default();
        symbolic.reserve(&mut factor, dofs);
        let pairs = (0..n).flat_map(|i| {
            let neighbours = graph.neighbours(i).iter().map(|&j| j as usize);
            neighbours
                .filter(move |&j| j < i)
                .chain([i])
                .map(move |j| (i, j))
        });
        for (i, j) in pairs {
            for p in node_starts[i]..node_starts[i + 1] {
                for q in node_starts[j]..node_starts[j + 1] {
                    let value = ((p * 13 + q * 13 + p * q) as f64).sin();
                    a[(p, q)] = value;
                    a[(q, p)] = value;
                }
            }
        }
        for i in 0..dofs {
            a[(i, i)] += 1.0 + a.row(i).abs().sum();
        }
        for i in 0..n {
            for &j in graph.neighbours(i).iter().chain([&(i as u32)]) {
                let j = j as usize;
                let (row, column) = (elimination.position[i], elimination.position[j]);
                if row < column {
                    continue;
                }
                let place = symbolic.block(row, column);
                for (q, global_q) in (node_starts[j]..node_starts[j + 1]).enumerate() {
                    for (p, global_p) in (node_starts[i]..node_starts[i + 1]).enumerate() {
                        factor.values[place.offset + p + q * place.stride] =
                            a[(global_p, global_q)];
                    }
                }
            }
        }
        symbolic.factor(&mut factor).expect("diagonally dominant");
        let x = DVector::from_fn(dofs, |i, _| (i as f64).cos());
        let mut y = &a * &x;
        symbolic.solve(&mut factor, y.as_mut_slice());
        assert!(
            (y - x).amax() < 1e-12,
            "{n} nodes, {edges_per_node} edges each"
        );
    }

    #[test]
    fn sparse_systems_are_solved() {
        for seed in 0..20 {
            check(1, 0, seed);
            check(7, 1, seed);
            check(30, 0, seed);
            check(60, 2, seed);
            check(90, 4, seed);
        }
    }

    #[test]
    fn all_but_the_last_node_leave_its_schur_complement() {
        // A path of five nodes of two velocities and a last one of three that the first, the third and the fifth touch.
        let node_starts = [0, 2, 4, 6, 8, 10, 13];
        let mut edges = vec![(1, 0), (2, 1), (3, 2), (4, 3), (5, 0), (5, 2), (5, 4)];
        let graph = Graph::from_edges(6, &mut edges);
        let elimination = Elimination::new(&graph, (0..6).collect());
        let symbolic = Multifrontal::up_to_the_last(&graph, &elimination, &node_starts);
        let mut factor = Factor::<f64>::default();
        symbolic.reserve(&mut factor, 13);
        let mut a = DMatrix::<f64>::zeros(13, 13);
        for i in 0..6 {
            for j in graph.neighbours(i).iter().map(|j| *j as usize).chain([i]) {
                for p in node_starts[i]..node_starts[i + 1] {
                    for q in node_starts[j]..node_starts[j + 1] {
                        a[(p, q)] =
                            ((p + q + 3 * p * q) as f64).cos() + if p == q { 12.0 } else { 0.0 };
                    }
                }
                let (row, column) = (elimination.position[i], elimination.position[j]);
                if row < column {
                    continue;
                }
                let place = symbolic.block(row, column);
                for (c, q) in (node_starts[j]..node_starts[j + 1]).enumerate() {
                    for (r, p) in (node_starts[i]..node_starts[i + 1]).enumerate() {
                        factor.values[place.offset + r + c * place.stride] = a[(p, q)];
                    }
                }
            }
        }
        symbolic.factor(&mut factor).expect("diagonally dominant");
        let inverse = a
            .view((0, 0), (10, 10))
            .clone_owned()
            .try_inverse()
            .expect("regular");
        let border = a.view((10, 0), (3, 10)).clone_owned();
        let expected = a.view((10, 10), (3, 3)) - &border * &inverse * border.transpose();
        let found = DMatrix::from_column_slice(3, 3, symbolic.schur_complement(&factor));
        assert!((found - &expected).lower_triangle().norm() < 1e-12);

        let x = DVector::from_fn(13, |i, _| (i as f64).sin());
        let b = &a * &x;
        let left = symbolic.reduce(&mut factor, b.as_slice()).to_vec();
        let last = x.rows(10, 3).clone_owned();
        assert!((DVector::from_vec(left) - expected * &last).norm() < 1e-12);
        let mut found = DVector::zeros(13);
        for _ in 0..2 {
            symbolic.expand(&mut factor, last.as_slice(), found.as_mut_slice());
            assert!((&found - &x).norm() < 1e-12);
        }
    }

    #[test]
    fn a_bad_pivot_names_its_velocity() {
        let graph = Graph::from_edges(3, &mut vec![(0, 1), (1, 2)]);
        let elimination = Elimination::new(&graph, vec![2, 0, 1]);
        let node_starts = [0, 2, 4, 6];
        let symbolic = Multifrontal::new(&graph, &elimination, &node_starts);
        let mut factor = Factor::<f64>::default();
        symbolic.reserve(&mut factor, 6);
        for node in 0..3 {
            let position = elimination.position[node];
            let place = symbolic.block(position, position);
            for i in 0..2 {
                let bad = node == 2 && i == 1;
                factor.values[place.offset + i * (place.stride + 1)] = if bad { -1.0 } else { 1.0 };
            }
        }
        assert_eq!(symbolic.factor(&mut factor), Err(5));
    }
}
