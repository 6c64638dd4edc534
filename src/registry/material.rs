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
    /// `keys` are its constants, which stand beside `law`; `read` makes the material from them. The program
    /// `examples/own_material.rs` has a law of its own.
    ///
    /// ```
    /// use pliant::Registry;
    /// use pliant::scene::{Key, Matter, REQUIRED, Scene, SceneOptions, ValueKind};
    /// use pliant_constitutive::MooneyRivlin;
    ///
    /// const SHEAR: Key = Key { name: "shear_modulus", value: ValueKind::Positive, unit: "Pa", default: REQUIRED, about: "at rest" };
    /// let mut registry = Registry::default();
    /// registry.fem_material("soft-rubber", &[SHEAR], |table| {
    ///     // c1 : c2 = 4 : 1 and a bulk modulus of 100 shear moduli; 2(c1 + c2) is the shear modulus.
    ///     let shear = table.number("shear_modulus")?;
    ///     MooneyRivlin::new(0.4 * shear, 0.1 * shear, 100.0 * shear).map_err(|error| table.conflict(error.to_string()))
    /// });
    /// let options = SceneOptions { registry, ..SceneOptions::default() };
    /// let text = r#"
    ///     schema = 1
    ///     title = "a cushion"
    ///     simulation = { smoke_s = 1 }
    ///     [[fem]]
    ///     name = "cushion"
    ///     mesh = { box = { size = [0.2, 0.2, 0.06], cells = [4, 4, 2] } }
    ///     constitutive_material = { law = "soft-rubber", shear_modulus = 3e5 }
    /// "#;
    /// let scene = Scene::parse("cushion.toml", text, &options)?;
    /// let Matter::Fem(cushion) = &scene.soft.entries[0].matter else { panic!("it is made of finite elements") };
    /// assert!((cushion.material.lame().mu() / 3e5 - 1.0).abs() < 1e-12);
    /// # Ok::<(), pliant::scene::SceneError>(())
    /// ```
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
    /// `keys` are its constants, which stand beside `law`; `read` makes the material from them. The program
    /// `examples/own_particle_material.rs` has a law of its own.
    ///
    /// ```
    /// use pliant::Registry;
    /// use pliant::scene::{Key, Matter, Scene, SceneOptions, ValueKind};
    /// use pliant_mpm::Liquid;
    ///
    /// // Pressure waves travel at this speed: κ γ = ρ c² in p = κ(J^-γ − 1).
    /// const SPEED: Key = Key { name: "sound_speed", value: ValueKind::Positive, unit: "m/s", default: "20", about: "of small waves" };
    /// let mut registry = Registry::default();
    /// registry.particle_material("slow-water", &[SPEED], |table| {
    ///     let bulk_modulus = 1000.0 * table.number("sound_speed")?.powi(2);
    ///     Liquid::new(bulk_modulus / 7.0, 7.0).map_err(|error| table.conflict(error.to_string()))
    /// });
    /// let options = SceneOptions { registry, ..SceneOptions::default() };
    /// let text = r#"
    ///     schema = 1
    ///     title = "a pool"
    ///     simulation = { smoke_s = 1 }
    ///     grid = { spacing = 0.05 }
    ///     [[material_points]]
    ///     name = "water"
    ///     shape = { box = { size = [0.4, 0.4, 0.2] } }
    ///     constitutive_material = { law = "slow-water", sound_speed = 10 }
    /// "#;
    /// let scene = Scene::parse("pool.toml", text, &options)?;
    /// let Matter::Points(water) = &scene.soft.entries[0].matter else { panic!("it is made of points") };
    /// assert!((water.material.wave_modulus() - 1e5).abs() < 1e-6);
    /// # Ok::<(), pliant::scene::SceneError>(())
    /// ```
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
