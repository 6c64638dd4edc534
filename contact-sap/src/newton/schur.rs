//! The island seen from the vertices that constraints touch: sparse bodies reduced to their Schur complements.
//!
//! Vertices that no constraint touches take part in the cost quadratically. Eliminating them leaves a problem of the same
//! kind in the velocities of the others, with S = A_pp − A_pn A_nn⁻¹ A_np in place of each A, as sparse as its body lets it be. Newton's
//! iteration runs there; at its end the others follow by one back substitution. Worth it where iterations are many and
//! vertices touched few.
//!
//! Source: Han, Masterjohn, Castro (2023), section VI.

mod complement;
mod reduced_body;
mod worth;

use rayon::prelude::*;

use crate::dynamics::Assembled;
use crate::error::SolveError;
use crate::island::{Island, IslandProblem, Member, PARALLEL_DOFS_MIN};
use crate::islands::IslandAnswer;

pub(crate) use reduced_body::ReducedBody;

/// The reduced problem of an island; memory and symbolic work are reused.
#[derive(Default)]
pub(crate) struct Condensed {
    pub(crate) island: Island,
    /// One for each member of the island; those with a dense A stay as they are.
    pub(crate) bodies: Vec<ReducedBody>,
    /// Where it begins and ends.
    pub(crate) answer: IslandAnswer,
    /// Of each node of the whole island: whether a constraint touches it.
    touched: Vec<bool>,
    /// Of each node of the whole island: first velocity and node here.
    home: Vec<(u32, u32)>,
}

impl Condensed {
    /// Finds what constraints touch and lays out the reduced island; false if no body has anything to eliminate.
    pub(super) fn begin(&mut self, p: &IslandProblem<'_>) -> bool {
        self.find_touched(p);
        let any = self.bodies.iter().any(|body| body.is_reduced);
        if any {
            self.update_graphs(p);
            self.lay_out(p);
        }
        any
    }

    /// Finds the nodes that constraints touch, and which bodies have others.
    fn find_touched(&mut self, p: &IslandProblem<'_>) {
        let n_nodes = p.island.n_nodes();
        self.touched.clear();
        self.touched.resize(n_nodes, false);
        for piece in &p.island.pieces {
            self.touched[piece.node] = true;
        }
        let members = &p.island.members;
        self.bodies.resize_with(members.len(), Default::default);
        let starts = &p.island.node_starts;
        let mut node = 0;
        for (member, reduced) in members.iter().zip(&mut self.bodies) {
            reduced.first_node = node;
            reduced.n_kept = 0;
            reduced.node_ends.clear();
            while node < n_nodes && starts[node] < member.dofs().end {
                if self.touched[node] {
                    reduced.n_kept += starts[node + 1] - starts[node];
                }
                node += 1;
                reduced.node_ends.push(starts[node] - member.first_dof);
            }
            reduced.n_nodes = node - reduced.first_node;
            reduced.first_dof = member.first_dof;
            reduced.n_dofs = member.n_dofs;
            let sparse = matches!(p.dynamics(member).assembled(), Some(Assembled::Sparse(_)));
            reduced.is_reduced = sparse && reduced.n_kept < reduced.n_dofs;
        }
    }

    /// Brings the graphs of sparse bodies up to date.
    fn update_graphs(&mut self, p: &IslandProblem<'_>) {
        let update = |(reduced, member): (&mut ReducedBody, &Member)| {
            let source = Some((member.participant, p.generation));
            if reduced.is_reduced && reduced.graph_source != source {
                if reduced.body.update(p.dynamics(member), &reduced.node_ends) {
                    reduced.forget();
                }
                reduced.graph_source = source;
            }
        };
        each(&mut self.bodies, &p.island.members, p.island.n_dofs, update);
    }

    fn lay_out(&mut self, p: &IslandProblem<'_>) {
        let touched = &self.touched;
        let lay_out = |(body, _): (&mut ReducedBody, &Member)| {
            if body.is_reduced {
                let nodes = body.first_node..body.first_node + body.n_nodes;
                body.find_cliques(&touched[nodes]);
                body.lay_out_complement();
                body.lay_out_elimination();
            }
        };
        each(
            &mut self.bodies,
            &p.island.members,
            p.island.n_dofs,
            lay_out,
        );
        self.island.clear();
        self.home.clear();
        self.home.resize(p.island.n_nodes(), (0, 0));
        for (member, body) in p.island.members.iter().zip(&self.bodies) {
            let first_dof = self.island.n_dofs as u32;
            let nodes = body.first_node..body.first_node + body.n_nodes;
            if let Some(complement) = body.complement.as_ref().filter(|_| body.is_reduced) {
                let first_node = self.island.n_nodes();
                for (own, node) in nodes.enumerate() {
                    if let Some((number, dof)) = body.number_of(own) {
                        let node_here = if complement.is_full() { 0 } else { number };
                        self.home[node] = (first_dof + dof, (first_node + node_here) as u32);
                    }
                }
                self.island.add_reduced(member, complement.node_ends());
            } else {
                for (k, node) in nodes.clone().enumerate() {
                    let offset = p.island.node_starts[node] - member.first_dof;
                    self.home[node] = (
                        first_dof + offset as u32,
                        (self.island.n_nodes() + k) as u32,
                    );
                }
                self.island.add_member_of(p.island, member, nodes);
            }
        }
        for b in 0..p.island.bases.len() {
            let home = |node: usize| {
                let (dof, own) = self.home[node];
                Some((
                    dof as isize - p.island.node_starts[node] as isize,
                    own as isize - node as isize,
                ))
            };
            self.island.add_basis_of(p, b, &[], home);
        }
        // Nobody is outside.
        self.island.held.clear();
        self.island.held.extend_from_slice(&p.island.held);
    }

    /// Whether that was done for these dynamics and touched vertices already.
    pub(super) fn is_eliminated(&self, p: &IslandProblem<'_>) -> bool {
        let bodies = self.bodies.iter().zip(&p.island.members);
        let mut reduced = bodies.filter(|(body, _)| body.is_reduced);
        reduced.all(|(body, member)| body.source == Some((member.participant, p.generation)))
    }

    /// Eliminates what no constraint touches, body by body, on all threads.
    pub(super) fn eliminate(&mut self, p: &IslandProblem<'_>) -> Result<usize, SolveError> {
        let members = &p.island.members;
        let eliminate = |(body, member): (&mut ReducedBody, &Member)| {
            if body.is_reduced {
                let source = (member.participant, p.generation);
                body.eliminate(source, p.dynamics(member));
            }
        };
        each(&mut self.bodies, members, p.island.n_dofs, eliminate);
        for (body, member) in self.bodies.iter().zip(members) {
            if let Some(dof) = body.failed.filter(|_| body.is_reduced) {
                return Err(p.island.indefinite_at(member.first_dof + dof));
            }
        }
        Ok(self.bodies.iter().filter(|body| body.is_reduced).count())
    }

    /// Takes the velocities `v` of the whole to those of the reduced island.
    pub(super) fn restrict(&mut self, p: &IslandProblem<'_>, v: &[f64]) {
        self.answer.velocity.resize(self.island.n_dofs, 0.0);
        let starts = &p.island.node_starts;
        for body in &self.bodies {
            for node in body.first_node..body.first_node + body.n_nodes {
                if !body.is_reduced || self.touched[node] {
                    let from = &v[starts[node]..starts[node + 1]];
                    let first = self.home[node].0 as usize;
                    self.answer.velocity[first..first + from.len()].copy_from_slice(from);
                }
            }
        }
    }

    /// The reverse of [`Condensed::restrict`]; returns how many velocities it has left as they were.
    pub(super) fn extend_touched(&self, p: &IslandProblem<'_>, v: &mut [f64]) -> usize {
        let starts = &p.island.node_starts;
        for body in &self.bodies {
            for node in body.first_node..body.first_node + body.n_nodes {
                if !body.is_reduced || self.touched[node] {
                    let to = &mut v[starts[node]..starts[node + 1]];
                    let first = self.home[node].0 as usize;
                    to.copy_from_slice(&self.answer.velocity[first..first + to.len()]);
                }
            }
        }
        p.island.n_dofs - self.island.n_dofs
    }

    /// The velocities of the whole that belong to those of the reduced island.
    pub(super) fn extend(&mut self, v: &mut [f64]) {
        let kept = &self.answer.velocity;
        let members = &self.island.members;
        let expand = |(body, member): (&mut ReducedBody, &Member)| {
            if body.is_reduced {
                body.expand(&kept[member.dofs()]);
            }
        };
        each(&mut self.bodies, members, v.len(), expand);
        for (body, member) in self.bodies.iter().zip(members) {
            let v = &mut v[body.first_dof..body.first_dof + body.n_dofs];
            match body.is_reduced {
                true => body.expanded(v),
                false => v.copy_from_slice(&kept[member.dofs()]),
            }
        }
    }
}

/// Does `work` to every body and its member of an island with so many velocities, on all threads where there are many.
fn each(
    bodies: &mut [ReducedBody],
    members: &[Member],
    n_dofs: usize,
    work: impl Fn((&mut ReducedBody, &Member)) + Sync + Send,
) {
    if n_dofs >= PARALLEL_DOFS_MIN && members.len() > 1 {
        let pairs = bodies.par_iter_mut().zip(members.par_iter());
        pairs.with_max_len(1).for_each(work);
    } else {
        bodies.iter_mut().zip(members).for_each(work);
    }
}
