//! Static condensation: an island whose sparse bodies are reduced to the Schur complements of their participating vertices.
//!
//! The cost is quadratic in the velocities of vertices without constraints (n). Their elimination leaves a problem of the same
//! form in the velocities of the participating vertices (p), with S = A_pp − A_pn A_nn⁻¹ A_np in place of each A. After
//! Newton's iteration there, one back substitution gives the others. It pays for many iterations and few participating
//! vertices.
//!
//! Measured gain against single-precision factors of the whole Hessian, CPU time: 2.5 to 2.7 on a torus of 29,520 velocities
//! with 142 contacts, 1.5 on a foam ring of 8,928 velocities with 164 contacts.
//!
//! Source: Han, Masterjohn, Castro (2023), section VI.

mod complement;
mod elimination_cost;
mod reduced_body;

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
    /// Start and solution of its iteration.
    pub(crate) answer: IslandAnswer,
    /// For each node of the full island: whether a constraint involves it.
    participating: Vec<bool>,
    /// For each node of the full island: its first velocity and its node in the reduced island.
    index: Vec<(u32, u32)>,
}

impl Condensed {
    /// Finds the participating nodes and lays out the reduced island; false if there is nothing to eliminate.
    pub(super) fn begin(&mut self, p: &IslandProblem<'_>) -> bool {
        self.find_participating(p);
        let any = self.bodies.iter().any(|body| body.is_reduced);
        if any {
            self.update_graphs(p);
            self.lay_out(p);
        }
        any
    }

    /// Finds the participating nodes and the bodies that have others.
    fn find_participating(&mut self, p: &IslandProblem<'_>) {
        let n_nodes = p.island.n_nodes();
        self.participating.clear();
        self.participating.resize(n_nodes, false);
        for piece in &p.island.pieces {
            self.participating[piece.node] = true;
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
                if self.participating[node] {
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

    /// Updates the graphs of sparse bodies.
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
        let participating = &self.participating;
        let lay_out = |(body, _): (&mut ReducedBody, &Member)| {
            if body.is_reduced {
                let nodes = body.first_node..body.first_node + body.n_nodes;
                body.find_cliques(&participating[nodes]);
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
        self.index.clear();
        self.index.resize(p.island.n_nodes(), (0, 0));
        for (member, body) in p.island.members.iter().zip(&self.bodies) {
            let first_dof = self.island.n_dofs as u32;
            let nodes = body.first_node..body.first_node + body.n_nodes;
            if let Some(complement) = body.complement.as_ref().filter(|_| body.is_reduced) {
                let first_node = self.island.n_nodes();
                for (own, node) in nodes.enumerate() {
                    if let Some((number, dof)) = body.number_of(own) {
                        let node_here = if complement.is_full() { 0 } else { number };
                        self.index[node] = (first_dof + dof, (first_node + node_here) as u32);
                    }
                }
                self.island.add_reduced(member, complement.node_ends());
            } else {
                for (k, node) in nodes.clone().enumerate() {
                    let offset = p.island.node_starts[node] - member.first_dof;
                    self.index[node] = (
                        first_dof + offset as u32,
                        (self.island.n_nodes() + k) as u32,
                    );
                }
                self.island.add_member_of(p.island, member, nodes);
            }
        }
        for b in 0..p.island.bases.len() {
            let to_reduced = |node: usize| {
                let (dof, own) = self.index[node];
                Some((
                    dof as isize - p.island.node_starts[node] as isize,
                    own as isize - node as isize,
                ))
            };
            self.island.add_basis_of(p, b, &[], to_reduced);
        }
        self.island.held.clear();
        self.island.held.extend_from_slice(&p.island.held);
    }

    /// Whether the elimination is done for these dynamics and participating vertices.
    pub(super) fn is_eliminated(&self, p: &IslandProblem<'_>) -> bool {
        let bodies = self.bodies.iter().zip(&p.island.members);
        let mut reduced = bodies.filter(|(body, _)| body.is_reduced);
        reduced.all(|(body, member)| body.source == Some((member.participant, p.generation)))
    }

    /// Eliminates the other nodes, in parallel over bodies; returns the number of reduced bodies.
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

    /// Copies the velocities `v` of the full island to the reduced one.
    pub(super) fn restrict(&mut self, p: &IslandProblem<'_>, v: &[f64]) {
        self.answer.velocity.resize(self.island.n_dofs, 0.0);
        let starts = &p.island.node_starts;
        for body in &self.bodies {
            for node in body.first_node..body.first_node + body.n_nodes {
                if !body.is_reduced || self.participating[node] {
                    let from = &v[starts[node]..starts[node + 1]];
                    let first = self.index[node].0 as usize;
                    self.answer.velocity[first..first + from.len()].copy_from_slice(from);
                }
            }
        }
    }

    /// The reverse of [`Condensed::restrict`]; returns the number of eliminated velocities, which are left unchanged.
    pub(super) fn extend_participating(&self, p: &IslandProblem<'_>, v: &mut [f64]) -> usize {
        let starts = &p.island.node_starts;
        for body in &self.bodies {
            for node in body.first_node..body.first_node + body.n_nodes {
                if !body.is_reduced || self.participating[node] {
                    let to = &mut v[starts[node]..starts[node + 1]];
                    let first = self.index[node].0 as usize;
                    to.copy_from_slice(&self.answer.velocity[first..first + to.len()]);
                }
            }
        }
        p.island.n_dofs - self.island.n_dofs
    }

    /// The velocities of the full island, with the eliminated ones by back substitution.
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

/// Does `work` for every body and its member, in parallel for islands with many velocities.
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
