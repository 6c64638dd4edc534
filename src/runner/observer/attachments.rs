//! Whether attachments of penalty forces stay where they are: in static friction not one bit of them changes.

use pliant_coupling::{Attachment, GeometryIdx, State};

/// The attachments of one side to another at the last measurement.
pub(super) struct Attachments {
    of: Vec<bool>,
    with: Vec<bool>,
    before: Vec<Attachment>,
}

impl Attachments {
    pub(super) fn new(of: Vec<bool>, with: Vec<bool>) -> Self {
        Self {
            of,
            with,
            before: Vec::new(),
        }
    }

    /// How many have moved, begun or ended since the last call.
    pub(super) fn changed(&mut self, state: &State) -> f64 {
        let Self { of, with, .. } = self;
        let is_between = |a: GeometryIdx, b: GeometryIdx| of[a.0] && with[b.0];
        let observed = |a: &&Attachment| {
            is_between(a.object, a.particles) || is_between(a.particles, a.object)
        };
        let attachments = state.memory.attachments.iter();
        let now: Vec<Attachment> = attachments.filter(observed).copied().collect();
        let same = |a: &&Attachment| {
            let found = self.before.binary_search_by_key(&a.key(), Attachment::key);
            found.is_ok_and(|i| self.before[i] == **a)
        };
        let kept = now.iter().filter(same).count();
        let changed = now.len().max(self.before.len()) - kept;
        self.before = now;
        changed as f64
    }
}
