//! How long an explicit substep may be.
//!
//! Waves travel at c² = a/ρ₀ with a the largest eigenvalue of the acoustic tensor of ∂²ψ/∂G² in any direction: at rest λ + 2μ. G is the gradient
//! in space of the displacement from now on, and ψ and ρ₀ are of rest volume, as masses and stresses of particles are; so h/c is the time
//! from node to node at any deformation.
//!
//! The limit is that of the fastest particle. A particle under a stress below [`STRESSED`] of λ + 2μ is taken as at rest: its waves are
//! faster by less than the margin of the Courant number.

use std::fmt;

use nalgebra::Matrix3;
use pliant_constitutive::Real;
use rayon::prelude::*;

use crate::cloth::StepLimitCause;
use crate::material::{Definiteness, Lagged, Law, Material, Strain};
use crate::model::{MaterialPoints, Object, Parts};
use crate::particle::Particle;

/// The limit of an explicit substep, and what sets it.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::Shape;
/// use pliant_mpm::LimitReason;
/// # use pliant_mpm::{MpmBuilder, MpmSettings, ObjectSpec, Preset, Sampling, fill};
///
/// # let points = fill("dough", &Shape::cuboid(Vector3::repeat(0.04))?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # builder.object(ObjectSpec::new("dough", Preset::CookieDough.material(), 1000.0, points));
/// # let model = builder.build()?;
/// // Cookie dough, in which waves travel at √((λ + 2μ)/ρ) = 14.6 m/s, on a grid of 2 cm: 0.4 h/c.
/// let limit = model.substep_limit().expect("it has an object");
/// assert!(matches!(limit.reason, LimitReason::Waves(c) if (c - 14.64).abs() < 0.01));
/// assert!((limit.length_s - 0.4 * 0.02 / 14.64).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SubstepLimit {
    /// The length that is recommended, s.
    pub length_s: f64,
    /// The longest stable one, s.
    pub stable_s: f64,
    /// The object that sets it.
    pub object: String,
    /// The name of its material.
    pub material: &'static str,
    /// Why.
    pub reason: LimitReason,
}

/// What limits a substep.
///
/// ```
/// # use nalgebra::{DMatrix, Isometry3, Vector3};
/// # use pliant_contact_sap::{BodyState, Control, DeformableModel};
/// # use pliant_hydroelastic::Shape;
/// # use pliant_mpm::{CpuSubsteps, MpmBuilder, MpmSettings, ObjectSpec, Preset, RigidLinks, Sampling};
/// # use pliant_mpm::{SubstepBackend, fill};
/// use pliant_mpm::LimitReason;
///
/// // Foam, whose waves travel at 23 m/s, is thrown at 1000 m/s: a particle should cross no more than half a cell of 2 cm.
/// # let at = Isometry3::translation(0.0, 0.0, 0.02);
/// # let points = fill("foam", &Shape::cuboid(Vector3::repeat(0.04))?, &at, 0.02, Sampling::default())?;
/// # let mut builder = MpmBuilder::new(MpmSettings::new(0.02));
/// # let mut foam = ObjectSpec::new("foam", Preset::FoamCube.material(), 400.0, points);
/// # foam.velocity_W = Vector3::new(0.0, 0.0, -1000.0);
/// # builder.object(foam);
/// # let (model, control, mut next) = (builder.build()?, Control::default(), BodyState::default());
/// # let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
/// let mut backend = CpuSubsteps::<f64>::new(&model);
/// backend.begin(&model.default_state())?;
/// let limit = backend.limit().expect("there are particles");
/// assert_eq!(limit.reason, LimitReason::Particles(1000.0));
/// assert!((limit.length_s - 0.5 * 0.02 / 1000.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitReason {
    /// Elastic waves of this speed, m/s.
    Waves(f64),
    /// A particle of this speed, m/s, which would leave the nodes that it was sorted to.
    Particles(f64),
    /// The mesh and the material of a cloth.
    Cloth(StepLimitCause),
}

/// Courant number: h ≤ 0.4 of the time that a wave takes from node to node.
const COURANT: f64 = 0.4;
/// Courant number up to which every sampling of a linear material at rest is stable, with free surfaces.
const COURANT_STABLE: f64 = 0.6;
/// Part of the spacing that a particle may cross in a substep.
const CROSSED_MAX: f64 = 0.5;
/// ‖τ‖ relative to λ + 2μ from which waves are looked for in the deformed material.
const STRESSED: f64 = 0.1;
/// Particles that a thread looks at at a time.
const CHUNK: usize = 512;

impl fmt::Display for SubstepLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (object, material, stable) = (&self.object, self.material, self.stable_s);
        write!(f, "\"{object}\" ({material}) allows {stable:.2e} s: ")?;
        match self.reason {
            LimitReason::Waves(c) => write!(f, "elastic waves of {c:.3} m/s"),
            LimitReason::Particles(v) => write!(f, "a particle of {v:.3} m/s"),
            LimitReason::Cloth(cause) => write!(f, "{cause:?} stiffness of the cloth"),
        }
    }
}

impl MaterialPoints {
    /// The longest explicit substep of this model at rest: 0.4 h/c of the material with the fastest waves, or the
    /// [limit](crate::ClothMaterial::step_limit) of a cloth; `None` for a model without objects.
    #[must_use]
    pub fn substep_limit(&self) -> Option<SubstepLimit> {
        let limits =
            (self.parts.objects.iter()).map(|o| limit_at_rest(o, self.parts.settings.spacing));
        limits.min_by(|a, b| a.length_s.total_cmp(&b.length_s))
    }
}

fn limit_at_rest(o: &Object, spacing: f64) -> SubstepLimit {
    if let Some(cloth) = &o.cloth {
        let limit = cloth.material.step_limit(&cloth.mesh);
        return SubstepLimit {
            length_s: limit.time_step_s,
            stable_s: limit.time_step_s,
            object: o.name.clone(),
            material: "cloth",
            reason: LimitReason::Cloth(limit.cause),
        };
    }
    limit_of_waves(o, spacing, o.material.wave_modulus())
}

fn limit_of_waves(o: &Object, spacing: f64, modulus: f64) -> SubstepLimit {
    let density = o.particle_mass / o.particle_volume;
    let speed = (modulus / density).sqrt();
    SubstepLimit {
        length_s: COURANT * spacing / speed,
        stable_s: COURANT_STABLE * spacing / speed,
        object: o.name.clone(),
        material: o.material.name(),
        reason: LimitReason::Waves(speed),
    }
}

/// No bound of the stress of any particle.
pub(crate) const ANY_STRESS: StressBound<'static> = &|_| f64::INFINITY;

/// An upper bound of the norm of the Kirchhoff stress of each particle, Pa.
pub(crate) type StressBound<'a> = &'a (dyn Fn(usize) -> f64 + Sync);

/// The longest substep from the present state of `particles`; `None` without particles. The stress is computed where its bound is not small.
pub(crate) fn present_limit<T: Real>(
    parts: &Parts,
    particles: &[Particle<T>],
    bound: StressBound<'_>,
) -> Option<SubstepLimit> {
    let none = || vec![None; parts.objects.len()];
    let chunks = particles.par_chunks(CHUNK).enumerate();
    let fastest = chunks.map(|(k, chunk)| fastest_of(parts, chunk, &|i| bound(k * CHUNK + i)));
    let fastest = fastest.reduce(none, |mut all, other| {
        for (all, other) in all.iter_mut().zip(other) {
            *all = match (*all, other) {
                (Some((a, u)), Some((b, v))) => Some((f64::max(a, b), f64::max(u, v))),
                (one, other) => one.or(other),
            };
        }
        all
    });
    let spacing = parts.settings.spacing;
    let objects = parts.objects.iter().zip(&fastest);
    let limits = objects.filter_map(|(o, fastest)| {
        let (modulus, speed) = (*fastest)?;
        let elastic = match o.cloth {
            Some(_) => limit_at_rest(o, spacing),
            None => limit_of_waves(o, spacing, modulus),
        };
        let speed = speed.sqrt();
        let crossing = CROSSED_MAX * spacing / speed;
        Some(match crossing < elastic.length_s {
            true => SubstepLimit {
                length_s: crossing,
                stable_s: elastic.stable_s.min(2.0 * crossing),
                reason: LimitReason::Particles(speed),
                ..elastic
            },
            false => elastic,
        })
    });
    limits.min_by(|a, b| a.length_s.total_cmp(&b.length_s))
}

/// The largest modulus and squared speed of the particles of each object.
fn fastest_of<T: Real>(
    parts: &Parts,
    particles: &[Particle<T>],
    bound: StressBound<'_>,
) -> Vec<Option<(f64, f64)>> {
    let mut fastest = vec![None; parts.objects.len()];
    for (i, p) in particles.iter().enumerate() {
        let o = &parts.objects[p.object as usize];
        let at_rest = o.material.wave_modulus();
        let (modulus, speed) = fastest[p.object as usize].get_or_insert((at_rest, 0.0));
        *speed = f64::max(*speed, p.v.norm_squared().wide());
        if o.cloth.is_none() && bound(i) > STRESSED * at_rest {
            *modulus = f64::max(
                *modulus,
                stressed_modulus(&*o.material, p).unwrap_or(at_rest),
            );
        }
    }
    fastest
}

/// ρ₀c² of the fastest wave along a principal direction of a particle, Pa; `None` if its stress is small.
fn stressed_modulus<T: Real>(material: &dyn Material, p: &Particle<T>) -> Option<f64> {
    let law: &dyn Law<f64> = material;
    let strain = Strain {
        f: p.strain.f.map(T::wide),
        internal: p.strain.internal.map(T::wide),
    };
    let mut lagged = Lagged {
        velocity_gradient: p.c.map(T::wide),
        ..Lagged::default()
    };
    law.lag(&strain, None, &mut lagged);
    let stress = law.stress(&strain, &lagged, &Matrix3::zeros());
    if stress.norm() <= STRESSED * material.wave_modulus() {
        return None;
    }
    let tangent = law.tangent(&strain, &lagged, &Matrix3::zeros(), Definiteness::Projected);
    let stretch = strain.f * strain.f.transpose();
    let directions = stretch.symmetric_eigen().eigenvectors;
    let along = directions.column_iter().map(|n| {
        let n = n.into_owned();
        let acoustic = tangent.block(&n, &n);
        let symmetric = (acoustic + acoustic.transpose()) * 0.5;
        symmetric.symmetric_eigenvalues().max()
    });
    Some(along.fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use nalgebra::{Isometry3, Vector3};
    use pliant_hydroelastic::Shape;

    use super::*;
    use crate::fill::{Sampling, fill};
    use crate::material::Liquid;
    use crate::model::{MpmBuilder, MpmSettings, ObjectSpec, Records};

    const H: f64 = 0.02;

    fn cube(material: Arc<dyn Material>, velocity_W: Vector3<f64>) -> MaterialPoints {
        let shape = Shape::cuboid(Vector3::repeat(0.04)).unwrap();
        let set = fill(
            "cube",
            &shape,
            &Isometry3::identity(),
            H,
            Sampling::default(),
        )
        .unwrap();
        let mut object = ObjectSpec::new("cube", material, 1000.0, set);
        object.velocity_W = velocity_W;
        let mut builder = MpmBuilder::new(MpmSettings::new(H));
        builder.object(object);
        builder.build().unwrap()
    }

    fn particles(model: &MaterialPoints) -> Vec<Particle<f64>> {
        Records::read(&model.parts, &model.parts.start)
            .unwrap()
            .particles
    }

    /// c² = κγ J^(1−γ)/ρ₀ of the equation of state.
    #[test]
    fn compressed_liquid_has_the_sound_speed_of_its_equation_of_state() {
        let (kappa, gamma, ratio) = (1e5, 7.0, 0.9_f64);
        let model = cube(
            Arc::new(Liquid::new(kappa, gamma).unwrap()),
            Vector3::zeros(),
        );
        let mut particles = particles(&model);
        particles[5].strain.internal[0] = ratio;
        let limit = present_limit(&model.parts, &particles, ANY_STRESS).unwrap();
        let speed = (kappa * gamma * ratio.powf(1.0 - gamma) / 1000.0).sqrt();
        let LimitReason::Waves(found) = limit.reason else {
            panic!("{limit}");
        };
        assert!((found / speed - 1.0).abs() < 1e-9, "{found} for {speed}");
        assert!((limit.length_s / (0.4 * H / speed) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_stress_is_computed_where_its_bound_is_not_small() {
        let kappa = 1e5;
        let model = cube(Arc::new(Liquid::new(kappa, 7.0).unwrap()), Vector3::zeros());
        let mut particles = particles(&model);
        particles[5].strain.internal[0] = 0.9;
        let limit = |bound| present_limit(&model.parts, &particles, bound).unwrap();
        // Pressures are 1.1e5 Pa in the compressed particle and zero elsewhere, the modulus 7e5 Pa.
        let of_compressed = |p: usize| if p == 5 { 1.2e5 } else { 0.0 };
        assert_eq!(limit(&of_compressed), limit(ANY_STRESS));
        let rest = model.substep_limit().unwrap();
        assert!(limit(ANY_STRESS).length_s < rest.length_s);
        assert_eq!(limit(&|_| 6.9e4), rest);
    }

    #[test]
    fn a_fast_particle_stays_within_half_a_cell() {
        let model = cube(
            Arc::new(Liquid::new(1e3, 7.0).unwrap()),
            Vector3::new(0.0, 50.0, 0.0),
        );
        let limit = present_limit(&model.parts, &particles(&model), ANY_STRESS).unwrap();
        assert_eq!(limit.reason, LimitReason::Particles(50.0));
        assert!((limit.length_s - 0.5 * H / 50.0).abs() < 1e-12);
        assert!(present_limit::<f64>(&model.parts, &[], ANY_STRESS).is_none());
    }
}
