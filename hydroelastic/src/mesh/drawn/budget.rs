//! One bound on everything that is read of a scene: its nodes, numbers, vertices and triangles.

use super::fault;
use crate::mesh::error::MeshError;

/// Parts of a scene refer to one another, so that a short file may describe a scene of any size. No drawn mesh needs more than this.
const AMOUNT_MAX: u64 = 1 << 25;

/// A node, which costs more time than a number.
const NODE_AMOUNT: usize = 64;

/// What may still be read of a file.
pub(super) struct Budget<'a> {
    file: &'a str,
    left: u64,
}

impl<'a> Budget<'a> {
    pub(super) fn new(file: &'a str) -> Self {
        Self {
            file,
            left: AMOUNT_MAX,
        }
    }

    /// Counts one more visit of a node.
    ///
    /// # Errors
    /// When the file describes too much.
    pub(super) fn visit(&mut self) -> Result<(), MeshError> {
        self.spend(NODE_AMOUNT)
    }

    /// Counts `amount` more, before memory is requested for it.
    ///
    /// # Errors
    /// When the file describes too much.
    pub(super) fn spend(&mut self, amount: usize) -> Result<(), MeshError> {
        let left = self.left.checked_sub(amount as u64);
        self.left = left.ok_or_else(|| {
            let what = format!(
                "describes more than {AMOUNT_MAX} nodes, numbers, vertices and triangles, which instances of instances repeat"
            );
            fault(self.file, what, "Write each part of the scene once")
        })?;
        Ok(())
    }
}
