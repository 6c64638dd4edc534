//! The stiffness blocks of an element, in the order of assembly.

use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::Lame;

use crate::part_material::PerElement;

/// Stiffness blocks of elements.
pub(crate) trait ElementBlocks: Sync {
    /// Calls `add(a, K_ab)` for the four vertices a of an element and its vertex b = `local`.
    fn for_each(&self, element: usize, local: usize, add: impl FnMut(usize, Matrix3<f64>));
}

/// Hooke's law in rotated axes, by the rotated and scaled shape gradients √(cV) R∇N of every element.
pub(crate) struct HookeBlocks<'a> {
    pub(crate) lames: &'a PerElement<Lame>,
    pub(crate) gradients: &'a [[Vector3<f64>; 4]],
}

impl ElementBlocks for HookeBlocks<'_> {
    #[inline]
    fn for_each(&self, element: usize, local: usize, mut add: impl FnMut(usize, Matrix3<f64>)) {
        let h = &self.gradients[element];
        let hooke = self.lames.at(element).hooke();
        for a in 0..4 {
            add(a, hooke.block(&h[a], &h[local]));
        }
    }
}

/// K_ab of a ≤ b for any law, ten blocks per element, in the order of [`BlockTable::index`].
pub(crate) struct BlockTable<'a>(pub(crate) &'a [[Matrix3<f64>; 10]]);

impl BlockTable<'_> {
    /// Index of block (a, b), a ≤ b.
    pub(crate) fn index(a: usize, b: usize) -> usize {
        [0, 4, 7, 9][a] + b - a
    }
}

impl ElementBlocks for BlockTable<'_> {
    #[inline]
    fn for_each(&self, element: usize, local: usize, mut add: impl FnMut(usize, Matrix3<f64>)) {
        let blocks = &self.0[element];
        for a in 0..4 {
            if a <= local {
                add(a, blocks[Self::index(a, local)]);
            } else {
                add(a, blocks[Self::index(local, a)].transpose());
            }
        }
    }
}
