//! Constitutive material of each element: one for a body, or one for each of its parts.

use std::sync::Arc;

use pliant_constitutive::Lame;

use crate::material::Material;

/// A material and its density.
#[derive(Clone, Debug)]
pub(crate) struct PartMaterial {
    pub(crate) material: Arc<dyn Material>,
    pub(crate) lame: Lame,
    /// kg per m³ of rest volume.
    pub(crate) density: f64,
}

impl PartMaterial {
    pub(crate) fn new(material: Arc<dyn Material>, density: f64) -> Self {
        Self {
            lame: material.lame(),
            material,
            density,
        }
    }
}

/// Values of elements, few of them distinct.
#[derive(Clone, Debug)]
pub(crate) struct PerElement<T> {
    values: Vec<T>,
    /// Index of each element's value; empty if all have the first.
    of: Vec<u16>,
}

impl<T> PerElement<T> {
    /// `of` is the index in `values` of each element.
    pub(crate) fn new(values: Vec<T>, of: Vec<u16>) -> Self {
        let uniform = of.iter().all(|k| *k == 0);
        Self {
            values,
            of: if uniform { Vec::new() } else { of },
        }
    }

    #[inline]
    pub(crate) fn at(&self, element: usize) -> &T {
        &self.values[usize::from(self.kind(element))]
    }

    /// Index of an element's value.
    #[inline]
    pub(crate) fn kind(&self, element: usize) -> u16 {
        self.of.get(element).copied().unwrap_or(0)
    }

    /// The value of each element for `n` successive ones.
    pub(crate) fn repeated(&self, n: usize) -> Self
    where
        T: Clone,
    {
        let of = self.of.iter().flat_map(|k| std::iter::repeat_n(*k, n));
        Self {
            values: self.values.clone(),
            of: of.collect(),
        }
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    pub(crate) fn map<U>(&self, f: impl FnMut(&T) -> U) -> PerElement<U> {
        PerElement {
            values: self.values.iter().map(f).collect(),
            of: self.of.clone(),
        }
    }
}
