//! The stiffness blocks of a group of domains, in the order of assembly.

use nalgebra::{Matrix3, Vector3};

use crate::domain_law::DomainLaw;
use crate::domains::Domains;
use crate::part_material::PerElement;

/// Stiffness blocks of groups of domains.
pub(crate) trait DomainBlocks: Sync {
    /// Calls `add(a, K_ab)` for all vertices a of a group and its vertex b = `local`.
    fn for_each(&self, group: usize, local: usize, add: impl FnMut(usize, Matrix3<f64>));
}

/// Hooke's law in rotated axes, by the rotated and scaled gradients √(cV) R∇N of every entry.
pub(crate) struct HookeBlocks<'a> {
    pub(crate) domains: &'a Domains,
    pub(crate) laws: &'a PerElement<DomainLaw>,
    pub(crate) gradients: &'a [Vector3<f64>],
}

impl DomainBlocks for HookeBlocks<'_> {
    #[inline]
    fn for_each(&self, group: usize, local: usize, mut add: impl FnMut(usize, Matrix3<f64>)) {
        let group = self.domains.group(group);
        if group.len() == 1 {
            let h = &self.gradients[self.domains.entries(group.start)];
            let hooke = self.laws.at(group.start).hooke;
            for (a, g) in h.iter().enumerate() {
                add(a, hooke.block(g, &h[local]));
            }
            return;
        }
        let n = self.domains.entries(group.start).len();
        for a in 0..n {
            let blocks = group.clone().map(|domain| {
                let h = &self.gradients[self.domains.entries(domain)];
                self.laws.at(domain).hooke.block(&h[a], &h[local])
            });
            add(a, blocks.sum());
        }
    }
}

/// K_ab of a ≤ b for any law, n(n + 1)/2 blocks of each group of n vertices.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockTable {
    /// First block of each group, and one past the last.
    starts: Vec<u32>,
    blocks: Vec<Matrix3<f64>>,
}

impl BlockTable {
    /// Makes room for the blocks of all groups.
    pub(crate) fn lay_out(&mut self, domains: &Domains) {
        if self.starts.len() == domains.n_groups() + 1 {
            return;
        }
        self.starts.clear();
        self.starts.push(0);
        let mut count = 0;
        for group in 0..domains.n_groups() {
            let n = domains.vertices(group).len() as u32;
            count += n * (n + 1) / 2;
            self.starts.push(count);
        }
        self.blocks.resize(count as usize, Matrix3::zeros());
    }

    /// The blocks of each group, to be written.
    pub(crate) fn blocks_mut(&mut self) -> Vec<&mut [Matrix3<f64>]> {
        let mut rest = self.blocks.as_mut_slice();
        let sizes = self.starts.windows(2).map(|w| (w[1] - w[0]) as usize);
        sizes
            .map(|size| {
                let (own, others) = std::mem::take(&mut rest).split_at_mut(size);
                rest = others;
                own
            })
            .collect()
    }

    /// Index of block (a, b), a ≤ b: by columns, so that it does not depend on n.
    pub(crate) fn index(a: usize, b: usize) -> usize {
        b * (b + 1) / 2 + a
    }
}

impl DomainBlocks for BlockTable {
    #[inline]
    fn for_each(&self, group: usize, local: usize, mut add: impl FnMut(usize, Matrix3<f64>)) {
        let [first, end] = [group, group + 1].map(|k| self.starts[k] as usize);
        let blocks = &self.blocks[first..end];
        for a in 0..=local {
            add(a, blocks[Self::index(a, local)]);
        }
        let mut a = local + 1;
        while let Some(block) = blocks.get(Self::index(local, a)) {
            add(a, block.transpose());
            a += 1;
        }
    }
}
