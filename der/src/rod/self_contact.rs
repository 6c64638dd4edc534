//! Which edges of a rod may touch each other.

use super::Rod;
use crate::centreline::Closure;

impl Rod {
    /// Rest arc length between two edges, m, from the end of one to the beginning of the other: the shorter of both arcs
    /// of a closed rod. Zero for neighbours.
    fn arc_length_between(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (a.min(b), a.max(b));
        let between: f64 = (a + 1..b).map(|i| self.rest_length(i)).sum();
        match self.parts.closure {
            Closure::Open => between,
            Closure::Closed => {
                let all = self.total_rest_length();
                let own = self.rest_length(a) + if a == b { 0.0 } else { self.rest_length(b) };
                between.min(all - between - own).max(0.0)
            }
        }
    }

    /// Whether self-contact is considered between two edges: only if the arc length between them exceeds the largest width
    /// of the section. Closer edges overlap by construction; bending stiffness keeps them apart.
    ///
    /// # Panics
    /// If the rod has no such edges.
    #[must_use]
    pub fn can_self_contact(&self, a: usize, b: usize) -> bool {
        a != b && self.arc_length_between(a, b) > self.exclusion_length()
    }

    /// Arc length up to which self-contact is excluded, m: the largest width of the section.
    fn exclusion_length(&self) -> f64 {
        let radius = self.parts.contact_radius;
        self.parts
            .section
            .map_or(2.0 * radius, |section| section.largest_width())
    }
}
