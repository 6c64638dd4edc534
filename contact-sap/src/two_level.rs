//! A preconditioner for bodies of thousands of vertices: M⁻¹ = D⁻¹ + P (PᵀHP)⁻¹Pᵀ.
//!
//! D are the diagonal blocks of H. The columns of P are the rigid motions of groups of neighbouring vertices, which block
//! diagonals know nothing of and which elasticity leaves to slow convergence; participants whose A is dense take part in
//! the coarse level with all of their velocities. Both levels are made from H, contact included: for stiff contact a
//! preconditioner made from A alone takes as many iterations as there are loaded contacts.
//!
//! Source: Mandel (1993), "Balancing domain decomposition", for rigid motions as coarse space; Vaněk, Mandel, Brezina (1996)
//! for groups of vertices.

mod coarse;
mod groups;

use nalgebra::{Matrix3, Vector3};

use crate::block_hessian::BlockHessian;
use crate::dynamics::{BlockDiagonal, Points};
use crate::evaluation::Evaluation;
use crate::island::{IslandProblem, Member};
use crate::two_level::coarse::Coarse;
use crate::two_level::groups::Groups;

/// A participant whose factor costs more than this many products with its A is better off iterating (measured: a beam of
/// 10,000 velocities takes 54 iterations, a torus of 28,000 about 100 in all Newton steps together).
const PRODUCTS_PER_FACTOR: f64 = 100.0;

/// Multiplications of a factorisation that take as long as one of an iteration, whose matrices stream through memory (from the
/// times of the beam, 6, and of the torus, 13), halved: a system is given up when it has cost two factors.
const FACTOR_SPEED: f64 = 4.0;

/// Participants of fewer velocities are never worth iterating for; their factors aren't even estimated.
const THICK_DOFS_MIN: usize = 1500;

/// Both levels. Memory is reused; symbolic work is reused while patterns stand.
#[derive(Default)]
pub(crate) struct TwoLevel {
    members: Vec<MemberGroups>,
    motions: Motions,
    coarse: Coarse,
    blocks: BlockHessian,
    /// D⁻¹, block by block.
    inverses: Vec<f64>,
    reduced: Vec<f64>,
    node_ends: Vec<usize>,
}

/// A member of the island and its groups.
#[derive(Default)]
struct MemberGroups {
    groups: Groups,
    first_node: usize,
    first_group: usize,
}

/// P, as where velocities sit.
#[derive(Default)]
struct Motions {
    /// Group of each node.
    group: Vec<u32>,
    /// From the centre of its group to each node; zero where positions are unknown.
    offset: Vec<Vector3<f64>>,
    /// Which of its group's motions each velocity is: an axis of a point, or just its place within its node.
    axis: Vec<u8>,
    /// First coarse velocity of each group, and one past the last.
    starts: Vec<usize>,
    /// Whether the group is one node with all its velocities.
    whole: Vec<bool>,
}

/// A coarse or smoothing matrix that round-off has made indefinite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indefinite;

impl TwoLevel {
    /// Whether an island holds a participant that makes conjugate gradients worth it. Looks at nothing but patterns.
    ///
    /// One that does not say where its points are has no rigid motions of groups to offer: a grid of material points, whose
    /// nodes of little mass no coarse level helps, takes thousands of iterations (measured: three times its factor's time).
    pub(crate) fn pays(&mut self, p: &IslandProblem<'_>) -> bool {
        let members = &p.island.members;
        let may_pay = |m: &Member| m.n_dofs >= THICK_DOFS_MIN && p.dynamics(m).points().is_some();
        if !members.iter().any(may_pay) {
            return false;
        }
        self.group(p);
        let thick = |(member, own): (&Member, &MemberGroups)| {
            let body = &own.groups.body;
            let products = PRODUCTS_PER_FACTOR * body.entries() as f64;
            may_pay(member) && body.factor_work > products && own.groups.count > 1
        };
        members.iter().zip(&self.members).any(thick)
    }

    /// Iterations that take as long as two factorisations, once [`TwoLevel::pays`] has looked. Whoever has not converged by then is
    /// better off with factors: nearly incompressible bodies, whose stiffness no rigid motions of groups carry.
    pub(crate) fn patience(&self) -> usize {
        let (mut work, mut entries) = (0.0, 0.0);
        for own in &self.members {
            work += own.groups.body.factor_work;
            entries += own.groups.body.entries() as f64;
        }
        (work / (FACTOR_SPEED * entries)) as usize
    }

    /// Groups the nodes of every member.
    fn group(&mut self, p: &IslandProblem<'_>) {
        let members = &p.island.members;
        self.members.resize_with(members.len(), Default::default);
        let (mut node, mut group) = (0, 0);
        let ends = &mut self.node_ends;
        for (member, own) in members.iter().zip(&mut self.members) {
            (own.first_node, own.first_group) = (node, group);
            ends.clear();
            while node < p.island.n_nodes() && p.island.node_starts[node] < member.dofs().end {
                node += 1;
                ends.push(p.island.node_starts[node] - member.first_dof);
            }
            own.groups.update(p.dynamics(member), ends);
            group += own.groups.count;
        }
    }

    /// Lays out both levels for the island and forms what A gives the coarse one.
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        self.group(p);
        self.motions.place(p, &self.members);
        self.coarse.begin(p, &self.members, &self.motions);
        self.blocks.begin(p);
        self.reduced
            .resize(self.motions.starts.last().copied().unwrap_or(0), 0.0);
    }

    /// Forms and factors both levels of H, with the aggregates of `e`.
    ///
    /// # Errors
    /// [`Indefinite`], whereupon H is to be factored as a whole.
    pub(crate) fn factor(
        &mut self,
        p: &IslandProblem<'_>,
        e: &Evaluation,
    ) -> Result<(), Indefinite> {
        self.blocks.assemble(p, e);
        invert_blocks(p, self.blocks.values_mut(), &mut self.inverses)?;
        self.coarse.factor(p, e, &self.motions)
    }

    /// z = M⁻¹r.
    pub(crate) fn apply(&mut self, p: &IslandProblem<'_>, r: &[f64], z: &mut [f64]) {
        let Self {
            motions,
            coarse,
            inverses,
            reduced,
            ..
        } = self;
        motions.restrict(p, r, reduced);
        coarse.solve(reduced);
        motions.extend_and_smooth(p, reduced, inverses, r, z);
    }
}

impl Motions {
    fn place(&mut self, p: &IslandProblem<'_>, members: &[MemberGroups]) {
        self.group.clear();
        self.axis.clear();
        self.starts.clear();
        self.starts.push(0);
        self.whole.clear();
        self.offset.clear();
        self.offset.resize(p.island.n_nodes(), Vector3::zeros());
        for (member, own) in p.island.members.iter().zip(members) {
            let dynamics = p.dynamics(member);
            let n_nodes = own.groups.of_node.len();
            let nodes = own.first_node..own.first_node + n_nodes;
            let first = own.first_group as u32;
            self.group
                .extend(own.groups.of_node.iter().map(|group| first + group));
            let size = |node: usize| p.island.node_starts[node + 1] - p.island.node_starts[node];
            let dense = own.groups.is_dense();
            let mut last = self.starts[self.starts.len() - 1];
            for group in 0..own.groups.count {
                last += if dense {
                    size(own.first_node + group)
                } else {
                    6
                };
                self.starts.push(last);
                self.whole.push(dense);
            }
            let points = dynamics.points().filter(|points| {
                !dense
                    && points.positions.len() == n_nodes
                    && (points.axes.is_empty() || points.axes.len() == n_nodes)
                    && !matches!(dynamics.diagonal_blocks(), BlockDiagonal::Whole(_))
            });
            for (k, node) in nodes.enumerate() {
                let axes = points.and_then(|points| axes_of(&points, k, size(node)));
                for i in 0..size(node) {
                    self.axis.push(match axes {
                        Some(axes) => axes[i],
                        None if dense => 0,
                        None => (i % 6) as u8,
                    });
                }
                if let (Some(_), Some(points)) = (axes, points) {
                    self.offset[node] = points.positions[k];
                }
            }
            if points.is_some() {
                for group in 0..own.groups.count {
                    let nodes = &own.groups.nodes[own.groups.range(group)];
                    let nodes = || nodes.iter().map(|node| own.first_node + *node as usize);
                    let sum: Vector3<f64> = nodes().map(|node| self.offset[node]).sum();
                    let center = sum / nodes().count() as f64;
                    nodes().for_each(|node| self.offset[node] -= center);
                }
            }
        }
    }

    /// c = Pᵀr.
    fn restrict(&self, p: &IslandProblem<'_>, r: &[f64], c: &mut [f64]) {
        c.fill(0.0);
        for (node, range) in p.island.node_starts.windows(2).enumerate() {
            let group = self.group[node] as usize;
            let start = self.starts[group];
            let r = &r[range[0]..range[1]];
            if self.whole[group] {
                c[start..start + r.len()].copy_from_slice(r);
                continue;
            }
            let offset = &self.offset[node];
            let c = &mut c[start..start + 6];
            if let [x, y, z] = *r {
                let r = Vector3::new(x, y, z);
                let turn = offset.cross(&r);
                for k in 0..3 {
                    c[k] += r[k];
                    c[3 + k] += turn[k];
                }
                continue;
            }
            for (r, axis) in r.iter().zip(&self.axis[range[0]..]) {
                c[*axis as usize] += r;
                let turn = turn_about(offset, *axis) * *r;
                for k in 0..3 {
                    c[3 + k] += turn[k];
                }
            }
        }
    }

    /// z = D⁻¹r + P c.
    fn extend_and_smooth(
        &self,
        p: &IslandProblem<'_>,
        c: &[f64],
        mut inverses: &[f64],
        r: &[f64],
        z: &mut [f64],
    ) {
        for (node, range) in p.island.node_starts.windows(2).enumerate() {
            let group = self.group[node] as usize;
            let start = self.starts[group];
            let size = range[1] - range[0];
            let (inverse, rest) = inverses.split_at(size * size);
            inverses = rest;
            let r = &r[range[0]..range[1]];
            let z = &mut z[range[0]..range[1]];
            let offset = &self.offset[node];
            if let ([x, y, t], false, Some(d)) = (r, self.whole[group], inverse.first_chunk::<9>())
            {
                let c = &c[start..start + 6];
                let turn = Vector3::new(c[3], c[4], c[5]).cross(offset);
                for k in 0..3 {
                    z[k] = d[k] * x + d[3 + k] * y + d[6 + k] * t + (c[k] + turn[k]);
                }
                continue;
            }
            z.fill(0.0);
            for (column, r) in inverse.chunks_exact(size).zip(r) {
                z.iter_mut().zip(column).for_each(|(z, d)| *z += d * r);
            }
            if self.whole[group] {
                let c = &c[start..start + size];
                z.iter_mut().zip(c).for_each(|(z, c)| *z += c);
                continue;
            }
            let c = &c[start..start + 6];
            for (z, axis) in z.iter_mut().zip(&self.axis[range[0]..]) {
                let turn = turn_about(offset, *axis);
                *z += c[*axis as usize] + turn.x * c[3] + turn.y * c[4] + turn.z * c[5];
            }
        }
    }
}

/// p × e_axis: the turns about the centre that move a point at p along an axis; none for what is no axis.
fn turn_about(p: &Vector3<f64>, axis: u8) -> Vector3<f64> {
    match axis {
        0 => Vector3::new(0.0, p.z, -p.y),
        1 => Vector3::new(-p.z, 0.0, p.x),
        2 => Vector3::new(p.y, -p.x, 0.0),
        _ => Vector3::zeros(),
    }
}

/// Axes of the velocities of node `k`, if they are as many as its size.
fn axes_of(points: &Points<'_>, k: usize, size: usize) -> Option<[u8; 3]> {
    let Some(free) = points.axes.get(k) else {
        return (size == 3).then_some([0, 1, 2]);
    };
    let mut axes = [0; 3];
    let mut n = 0;
    for axis in 0..3 {
        if free[axis as usize] {
            axes[n] = axis;
            n += 1;
        }
    }
    (n == size).then_some(axes)
}

/// The inverses of all blocks, which are overwritten.
fn invert_blocks(
    p: &IslandProblem<'_>,
    mut blocks: &mut [f64],
    inverses: &mut Vec<f64>,
) -> Result<(), Indefinite> {
    use crate::small_cholesky::{cholesky_in_place, solve_lower, solve_lower_transposed};
    inverses.resize(blocks.len(), 0.0);
    let mut out = inverses.as_mut_slice();
    for range in p.island.node_starts.windows(2) {
        let size = range[1] - range[0];
        let (block, blocks_left) = blocks.split_at_mut(size * size);
        let (inverse, out_left) = out.split_at_mut(size * size);
        (blocks, out) = (blocks_left, out_left);
        if let Some(block) = block.first_chunk::<9>().filter(|_| size == 3) {
            let block = Matrix3::from_column_slice(block);
            let [a, b, c] = [0, 1, 2].map(|j| block.column(j).into_owned());
            let first = b.cross(&c);
            let determinant = a.dot(&first);
            // Negated so that NaN fails too.
            if !(determinant > 0.0 && determinant.is_finite()) {
                return Err(Indefinite);
            }
            let rows = [first, c.cross(&a), a.cross(&b)].map(|row| row / determinant);
            // Rows of the inverse, which is symmetric.
            for (column, row) in inverse.chunks_exact_mut(3).zip(&rows) {
                column.copy_from_slice(row.as_slice());
            }
            continue;
        }
        cholesky_in_place(block, size).map_err(|_| Indefinite)?;
        for (j, column) in inverse.chunks_exact_mut(size.max(1)).enumerate() {
            column.fill(0.0);
            column[j] = 1.0;
            solve_lower(block, size, column);
            solve_lower_transposed(block, size, column);
        }
    }
    Ok(())
}
