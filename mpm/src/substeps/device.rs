//! What a backend on a device needs of a model: its particles in f64 at the start of a time step, its laws as numbers, and the way back.

use std::sync::Arc;

use pliant_contact_sap::{BodyError, BodyReport, BodyState};

use super::SubstepLimit;
use super::time_step::present_limit;
use crate::material::ShaderLaw;
use crate::model::{MaterialPoints, Parts, Records, Wall};
use crate::particle::Particle;
use crate::spline::GradientForm;
use crate::step::{Crushed, finish};

/// The particles of a model, for a [`SubstepBackend`](super::SubstepBackend) of your own.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// use pliant_mpm::{DeviceParticles, ShaderLaw};
///
/// # let points = fill("sand", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("sand", Preset::DrySand.material(), 2200.0, points));
/// # let model = builder.build()?;
/// // A cube of 64 particles of sand, whose law a shader gets as numbers.
/// let mut device = DeviceParticles::new(&model);
/// device.begin(&model.default_state())?;
/// assert_eq!(device.particles().len(), 64);
/// assert!(matches!(device.objects()[0].law, Some(ShaderLaw::Sand { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DeviceParticles {
    parts: Arc<Parts>,
    records: Records,
}

/// An object of a model, as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceObject {
    /// Its name.
    pub name: String,
    /// The name of its material.
    pub material: &'static str,
    /// Its law; `None` for a material of another crate.
    pub law: Option<ShaderLaw>,
    /// Radius of its particles in contact, m.
    pub radius: f64,
    /// Mass of a particle, kg.
    pub particle_mass: f64,
    /// Whether it is a cloth.
    pub is_cloth: bool,
}

impl DeviceParticles {
    /// Those of `model`; none before [`begin`](Self::begin).
    #[must_use]
    pub fn new(model: &MaterialPoints) -> Self {
        Self {
            parts: Arc::clone(&model.parts),
            records: Records::default(),
        }
    }

    /// The objects of the model.
    #[must_use]
    pub fn objects(&self) -> Vec<DeviceObject> {
        let each = self.parts.objects.iter();
        each.map(|o| DeviceObject {
            name: o.name.clone(),
            material: o.material.name(),
            law: o.material.shader_law(),
            radius: o.radius,
            particle_mass: o.particle_mass,
            is_cloth: o.cloth.is_some(),
        })
        .collect()
    }

    /// The walls of the grid.
    #[must_use]
    pub fn walls(&self) -> &[Wall] {
        &self.parts.walls
    }

    /// h of the grid, m.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.parts.settings.spacing
    }

    /// How velocity gradients are discretised.
    #[must_use]
    pub fn gradient(&self) -> GradientForm {
        self.parts.settings.gradient
    }

    /// Reads a state.
    ///
    /// # Errors
    /// A state that does not belong to the model, or is not finite.
    pub fn begin(&mut self, state: &BodyState) -> Result<(), BodyError> {
        self.records.read_again(&self.parts, state)
    }

    /// The particles in the order of the state.
    #[must_use]
    pub fn particles(&self) -> &[Particle<f64>] {
        &self.records.particles
    }

    /// The same, to be moved.
    pub fn particles_mut(&mut self) -> &mut [Particle<f64>] {
        &mut self.records.particles
    }

    /// Identities of the particles, ascending.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.records.ids
    }

    /// The longest stable substep from the particles as they are; `None` without particles.
    #[must_use]
    pub fn limit(&self) -> Option<SubstepLimit> {
        present_limit(&self.parts, &self.records.particles)
    }

    /// Writes the state after `passed_s`; lets sinks and sources act. `crushed` is how often a particle was compressed to zero volume, and the
    /// first of these particles.
    ///
    /// # Errors
    /// A particle that left the model's bounds or is not finite, named.
    pub fn end(
        &mut self,
        passed_s: f64,
        crushed: Option<(u32, u32)>,
        next: &mut BodyState,
    ) -> Result<BodyReport, BodyError> {
        let mut report = BodyReport::default();
        if let Some((count, first)) = crushed {
            let crushed = Crushed::of(count, first);
            let warning = crushed.describe(&self.parts, &self.records);
            report.warnings.extend(warning);
        }
        finish(&self.parts, &mut self.records, passed_s, next)?;
        Ok(report)
    }
}
