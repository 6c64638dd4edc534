//! What each element is made of: one material for a body, or one for each of its parts.

use std::sync::Arc;

use pliant_constitutive::{Domain, Lame};

use crate::material::Material;

/// A material and its density.
#[derive(Clone, Debug)]
pub(crate) struct Stuff {
    pub(crate) material: Arc<dyn Material>,
    pub(crate) lame: Lame,
    /// kg per m³ of rest volume.
    pub(crate) density: f64,
}

impl Stuff {
    pub(crate) fn new(material: Arc<dyn Material>, density: f64) -> Self {
        Self {
            lame: material.lame(),
            material,
            density,
        }
    }

    /// Whether inversion costs infinite energy.
    pub(crate) fn has_barrier(&self) -> bool {
        self.material.domain() == Domain::PositiveVolume
    }
}

/// A value for every element, of which there are few different ones.
#[derive(Clone, Debug)]
pub(crate) struct PerElement<T> {
    values: Vec<T>,
    /// Which value an element has; empty where all have the first.
    of: Vec<u16>,
}

impl<T> PerElement<T> {
    /// `of` names one of `values` for each element.
    pub(crate) fn new(values: Vec<T>, of: Vec<u16>) -> Self {
        let uniform = of.iter().all(|k| *k == 0);
        Self {
            values,
            of: if uniform { Vec::new() } else { of },
        }
    }

    #[inline]
    pub(crate) fn at(&self, element: usize) -> &T {
        &self.values[self.of.get(element).map_or(0, |k| usize::from(*k))]
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
