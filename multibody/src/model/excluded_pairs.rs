//! Pairs of links without contact: neighbours in the tree, and those that collision filter groups exclude.

use super::{LinkIdx, Model};

impl Model {
    /// Pairs of links (ascending) that are connected by a joint or welded into one body: no contact is computed between
    /// them.
    pub fn adjacent_links(&self) -> Vec<(LinkIdx, LinkIdx)> {
        let mut pairs = Vec::new();
        for b in 0..self.links.len() {
            for a in 0..b {
                let (body_a, body_b) = (self.links[a].body.0, self.links[b].body.0);
                // Links welded to the two sides of a joint overlap at the joint, like the two links of the joint.
                let joined = |x: usize, y: usize| y != 0 && self.bodies[y].parent == x && x != 0;
                let by_joint = self.links[b]
                    .parent_joint
                    .is_some_and(|j| self.joints[j.0].parent == Some(LinkIdx(a)));
                if body_a == body_b || by_joint || joined(body_a, body_b) || joined(body_b, body_a)
                {
                    pairs.push((LinkIdx(a), LinkIdx(b)));
                }
            }
        }
        pairs
    }

    /// Pairs of links (ascending) that collision filter groups exclude from contact.
    pub fn filtered_links(&self) -> Vec<(LinkIdx, LinkIdx)> {
        let mut pairs = Vec::new();
        let group = |name: &str| self.filter_groups.iter().find(|g| g.name == name);
        let link = |name: &String| self.links.iter().position(|l| l.name == *name);
        for first in &self.filter_groups {
            for second in first.ignored_groups.iter().filter_map(|name| group(name)) {
                for a in first.members.iter().filter_map(link) {
                    for b in second.members.iter().filter_map(link).filter(|&b| b != a) {
                        pairs.push((LinkIdx(a.min(b)), LinkIdx(a.max(b))));
                    }
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}
