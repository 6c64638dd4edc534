//! What a backend on a device needs of a model: its particles in f64 at the start of a time step, its laws as numbers, and the way back.

use std::sync::Arc;

use pliant_contact_sap::{BodyError, BodyReport, BodyState, Load};

use super::SubstepLimit;
use super::prescribed::held_sets;
use super::time_step::present_limit;
use crate::cloth::{Cloth, ClothMaterial};
use crate::loads::sorted_index_of_load;
use crate::material::ShaderLaw;
use crate::model::{Comparison, MaterialPoints, Parts, Records, Wall};
use crate::particle::Particle;
use crate::spline::GradientForm;
use crate::step::{Crushed, finish};
use crate::transfer::TransferScheme;

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
    /// Whether the end of the last time step added or removed particles.
    has_flowed: bool,
    comparison: Comparison,
}

/// An object of a model, as numbers.
///
/// ```
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// use pliant_mpm::DeviceParticles;
///
/// // A cube of foam of 4 cm and 400 kg/m³ in 64 particles, 1 cm apart.
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// # let model = builder.build()?;
/// let objects = DeviceParticles::new(&model).objects();
/// let foam = &objects[0];
/// assert_eq!((foam.name.as_str(), foam.material), ("foam", "linear_corotated"));
/// assert!((foam.particle_mass - 400.0 * 0.01_f64.powi(3)).abs() < 1e-15);
/// assert!((foam.radius - 0.005).abs() < 1e-12 && foam.cloth.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
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
    /// The mesh that carries its forces, of a cloth.
    pub cloth: Option<DeviceCloth>,
}

/// A cloth of a model, as numbers. Its particles are the vertices and then the centroids of the triangles, without gaps.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
/// use pliant_mpm::{ClothMaterial, ClothMesh, ClothSpec, DeviceParticles, InPlaneLaw, MpmBuilder, MpmSettings};
///
/// let cotton = ClothMaterial::new(InPlaneLaw::FixedCorotated, 1e5, 0.3, 1000.0, 4e-4)?;
/// let (mesh, _) = ClothMesh::new("cloth", generate::sheet([0.02, 0.02], [2, 2])?, 0.02)?;
/// let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// builder.cloth(ClothSpec::new("cloth", mesh, cotton));
/// let model = builder.build()?;
/// let objects = DeviceParticles::new(&model).objects();
/// let cloth = objects[0].cloth.as_ref().expect("it is one");
/// assert_eq!((cloth.first, cloth.forces.vertex_masses().len(), cloth.forces.triangles().len()), (0, 9, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeviceCloth {
    /// Index in the state of its first vertex.
    pub first: u32,
    /// Its material.
    pub material: ClothMaterial,
    /// Its triangles and hinges.
    pub forces: Cloth<f64>,
}

/// A set of particles that is held.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
/// use pliant_mpm::DeviceParticles;
///
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points));
/// // Two particles, drawn along x at 0.1 m/s.
/// builder.grip("hand", vec![0, 5]);
/// let model = builder.build()?;
/// let mut device = DeviceParticles::new(&model);
/// device.begin(&model.default_state())?;
/// let hand = &device.held_sets(&[Some(0.1), None, None])?[0];
/// assert_eq!(hand.members.iter().filter(|held| **held).count(), 2);
/// assert!(hand.velocity[0] == 0.1 && hand.velocity[1].is_nan());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HeldSet {
    /// Whether each particle of the state belongs to it.
    pub members: Vec<bool>,
    /// Its velocity, m/s, world axes; NaN where a component is free.
    pub velocity: [f64; 3],
}

impl DeviceParticles {
    /// Those of `model`; none before [`begin`](Self::begin).
    #[must_use]
    pub fn new(model: &MaterialPoints) -> Self {
        Self {
            parts: Arc::clone(&model.parts),
            records: Records::default(),
            has_flowed: false,
            comparison: Comparison::Other,
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
            cloth: o.cloth.as_deref().map(|cloth| DeviceCloth {
                first: cloth.first,
                material: cloth.material,
                forces: cloth.cloth.clone(),
            }),
        })
        .collect()
    }

    /// What of the model is not in the formulas of this interface, for an error message: a device refuses it.
    #[must_use]
    pub fn beyond(&self) -> Option<String> {
        let follows = self.parts.objects.iter();
        let mut packed = follows.filter(|o| o.material.follows_packing());
        if let Some(object) = packed.next() {
            return Some(format!(
                "the volume of \"{}\", which follows the packing of its particles (choose volume = \"advected\" in its material)",
                object.name
            ));
        }
        if self.parts.settings.transfer != TransferScheme::Apic {
            return Some("affine FLIP (choose transfer = \"apic\" of the grid)".into());
        }
        let mirrors = !self.parts.mirrors.is_empty();
        mirrors.then(|| "mirrored walls (choose wall_form = \"held\" of the grid)".into())
    }

    /// The walls that hold nodes of the grid.
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
        self.comparison = Comparison::Other;
        let comparison = self.records.read_again(&self.parts, state)?;
        self.records.check_cloths(&self.parts)?;
        if !std::mem::take(&mut self.has_flowed) {
            self.comparison = comparison;
        }
        Ok(())
    }

    /// Whether the state that [`begin`](Self::begin) read has exactly the particles that were here before, as
    /// [`particles_mut`](Self::particles_mut) left them: a device that still has these needs no others.
    #[must_use]
    pub fn are_as_left(&self) -> bool {
        self.comparison == Comparison::Same
    }

    /// The sets that `held`, three entries for each set of the model, prescribe a velocity of.
    ///
    /// # Errors
    /// A wrong number of entries.
    pub fn held_sets(&self, held: &[Option<f64>]) -> Result<Vec<HeldSet>, BodyError> {
        held_sets(&self.parts, &self.records.ids, held)
    }

    /// Indices of the particles that loads act on.
    ///
    /// # Errors
    /// A point that is no particle, or a torque.
    pub fn loaded_particles(&self, loads: &[Load]) -> Result<Vec<usize>, BodyError> {
        let places: Vec<u32> = match loads.is_empty() {
            true => Vec::new(),
            false => (0..self.records.ids.len() as u32).collect(),
        };
        let each = loads.iter().map(|load| sorted_index_of_load(load, &places));
        each.collect()
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
    ///
    /// `stress_bound` is an upper bound of the norm of the Kirchhoff stress of each particle in Pa, infinity where nothing is known. A particle with
    /// a bound below a tenth of its modulus λ + 2μ has the waves of rest, and its stress is not computed.
    #[must_use]
    pub fn limit(&self, stress_bound: &(dyn Fn(usize) -> f64 + Sync)) -> Option<SubstepLimit> {
        present_limit(&self.parts, &self.records.particles, stress_bound)
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
        // A source counts the identities that it gives.
        let flow = |records: &Records| (records.ids.len(), records.header.get(1).copied());
        let before = flow(&self.records);
        finish(&self.parts, &mut self.records, passed_s, next)?;
        self.has_flowed = flow(&self.records) != before;
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{Isometry3, Point3, Vector3};
    use pliant_contact_sap::DeformableModel;
    use pliant_hydroelastic::Shape;

    use super::*;
    use crate::fill::ParticleSet;
    use crate::material::Preset;
    use crate::model::{MpmBuilder, MpmSettings, ObjectSpec, Sink, Source};

    /// Two particles; in the second step a source adds one, and a sink takes the first.
    fn jet() -> MaterialPoints {
        let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
        let points = vec![Point3::origin(), Point3::new(0.5, 0.0, 1.0)];
        let set = ParticleSet {
            points: points.clone(),
            particle_volume: 1e-6,
        };
        let material = Preset::ShallowWater.material();
        let object = builder.object(ObjectSpec::new("water", material, 1000.0, set));
        builder.source(Source {
            object,
            points: points[1..].to_vec(),
            velocity_W: Vector3::zeros(),
            start_s: 0.015,
            interval_s: 1.0,
            batches: 1,
        });
        builder.sink(Sink {
            shape: Shape::half_space(),
            X_WS: Isometry3::translation(0.0, 0.0, 0.5),
        });
        builder.build().unwrap()
    }

    #[test]
    fn particles_are_as_left_until_a_number_or_an_identity_changes() {
        let model = jet();
        let (start, mut next) = (model.default_state(), BodyState::default());
        let mut device = DeviceParticles::new(&model);
        device.begin(&start).unwrap();
        assert!(!device.are_as_left());
        device.begin(&start).unwrap();
        assert!(device.are_as_left());
        let mut changed = start.clone();
        changed.v[4] = -0.0;
        device.begin(&changed).unwrap();
        assert!(!device.are_as_left());
        device.particles_mut()[0].x.z = 0.6;
        let _ = device.end(0.01, None, &mut next).unwrap();
        device.begin(&next).unwrap();
        assert!(device.are_as_left());
        // One comes and one goes.
        device.particles_mut()[0].x.z = 0.4;
        let _ = device.end(0.01, None, &mut next).unwrap();
        assert_eq!(device.ids(), [1, 2]);
        device.begin(&next).unwrap();
        assert!(!device.are_as_left());
        device.begin(&next).unwrap();
        assert!(device.are_as_left());
    }
}
