//! Constitutive materials by name.

use std::sync::Arc;

use super::Registry;
use crate::scene::{Key, SceneError, TableReader};

/// Reads the constants of a material of finite elements.
pub type ReadFemMaterial =
    dyn Fn(&TableReader<'_>) -> Result<Arc<dyn pliant_fem::Material>, SceneError> + Send + Sync;

/// Reads the constants of a material of material points.
pub type ReadParticleMaterial =
    dyn Fn(&TableReader<'_>) -> Result<Arc<dyn pliant_mpm::Material>, SceneError> + Send + Sync;

impl Registry {
    /// Registers a hyperelastic material for `[[fem]] constitutive_material = { law = "...", ... }`.
    ///
    /// `keys` are its constants, which stand beside `law`; `read` makes the material from them.
    pub fn fem_material<M: pliant_fem::Material + 'static>(
        &mut self,
        name: impl Into<String>,
        keys: &'static [Key],
        read: impl Fn(&TableReader<'_>) -> Result<M, SceneError> + Send + Sync + 'static,
    ) -> &mut Self {
        self.shared_fem_material(name, keys, move |table| Ok(Arc::new(read(table)?)))
    }

    /// [`Registry::fem_material`] of a type that is known only at run time.
    pub(crate) fn shared_fem_material(
        &mut self,
        name: impl Into<String>,
        keys: &'static [Key],
        read: impl Fn(&TableReader<'_>) -> Result<Arc<dyn pliant_fem::Material>, SceneError>
        + Send
        + Sync
        + 'static,
    ) -> &mut Self {
        self.fem_materials.add(name.into(), keys, Box::new(read));
        self
    }

    /// Registers a material for `[[material_points]] constitutive_material = { law = "...", ... }`.
    ///
    /// `keys` are its constants, which stand beside `law`; `read` makes the material from them.
    pub fn particle_material<M: pliant_mpm::Material + 'static>(
        &mut self,
        name: impl Into<String>,
        keys: &'static [Key],
        read: impl Fn(&TableReader<'_>) -> Result<M, SceneError> + Send + Sync + 'static,
    ) -> &mut Self {
        let read: Box<ReadParticleMaterial> = Box::new(move |table| Ok(Arc::new(read(table)?)));
        self.particle_materials.add(name.into(), keys, read);
        self
    }
}
