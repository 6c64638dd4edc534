//! Which geometries do not touch, and pairs with parameters of their own.

use pliant_coupling::{Exclusion, GeometryIdx};
use pliant_hydroelastic::PairMaterial;

use super::Draft;
use crate::scene::{FilterEntry, SceneError};

impl Draft<'_> {
    pub(super) fn add_pairs(&mut self) -> Result<(), SceneError> {
        for filter in &self.scene.filters {
            match filter {
                FilterEntry::Between([a, b]) => {
                    let a = self.directory.geometries(self.scene, a)?;
                    let b = self.directory.geometries(self.scene, b)?;
                    self.exclude(&a, &b);
                }
                FilterEntry::Within(list) => {
                    let mut all = Vec::new();
                    for mention in list {
                        all.extend(self.directory.geometries(self.scene, mention)?);
                    }
                    self.exclude(&all, &all);
                }
            }
        }
        for pair in &self.scene.pairs {
            let a = self.directory.geometries(self.scene, &pair.between[0])?;
            let b = self.directory.geometries(self.scene, &pair.between[1])?;
            for &a in &a {
                for &b in b.iter().filter(|&&b| b != a) {
                    let combined = self.materials[a.0].combined_with(&self.materials[b.0]);
                    let given = &pair.surface;
                    let material = PairMaterial {
                        stiffness: given.stiffness.unwrap_or(combined.stiffness),
                        dissipation: given.dissipation.unwrap_or(combined.dissipation),
                        relaxation_time_s: given
                            .relaxation_time_s
                            .unwrap_or(combined.relaxation_time_s),
                        friction: given.friction.unwrap_or(combined.friction),
                    };
                    self.builder.pair_material(a, b, material);
                }
            }
        }
        Ok(())
    }

    pub(super) fn exclude(&mut self, a: &[GeometryIdx], b: &[GeometryIdx]) {
        for &a in a {
            for &b in b.iter().filter(|&&b| b != a) {
                self.builder
                    .exclude(Exclusion::Geometries(a.min(b), a.max(b)));
            }
        }
    }
}
