//! The groups of domains of integration around each vertex.

use std::ops::Range;

use crate::domains::Domains;

/// A vertex in a group of domains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incidence {
    pub(crate) group: u32,
    /// Its place among the vertices of the group.
    pub(crate) local: u32,
}

/// Incidences of all vertices; those of a vertex are consecutive, in the order of their groups.
#[derive(Clone, Debug)]
pub(crate) struct DomainLinks {
    /// First incidence of each vertex, and one past the last.
    starts: Vec<u32>,
    incidences: Vec<Incidence>,
}

impl DomainLinks {
    pub(crate) fn new(n_vertices: usize, domains: &Domains) -> Self {
        let mut starts = vec![0_u32; n_vertices + 1];
        let all = || (0..domains.n_groups()).flat_map(|g| domains.vertices(g));
        for vertex in all() {
            starts[*vertex as usize + 1] += 1;
        }
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        let mut next = starts.clone();
        let none = Incidence { group: 0, local: 0 };
        let mut incidences = vec![none; all().count()];
        for group in 0..domains.n_groups() {
            for (local, vertex) in domains.vertices(group).iter().enumerate() {
                let next = &mut next[*vertex as usize];
                incidences[*next as usize] = Incidence {
                    group: group as u32,
                    local: local as u32,
                };
                *next += 1;
            }
        }
        Self { starts, incidences }
    }

    pub(crate) fn n_vertices(&self) -> usize {
        self.starts.len() - 1
    }

    /// All incidences, those of each vertex in turn.
    pub(crate) fn incidences(&self) -> &[Incidence] {
        &self.incidences
    }

    /// Range of the incidences of a vertex.
    pub(crate) fn range(&self, vertex: u32) -> Range<usize> {
        let v = vertex as usize;
        self.starts[v] as usize..self.starts[v + 1] as usize
    }

    /// Incidences of a vertex.
    #[inline]
    pub(crate) fn of(&self, vertex: u32) -> &[Incidence] {
        &self.incidences[self.range(vertex)]
    }
}
