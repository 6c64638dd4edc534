//! A blob of particles on a grid: a body whose number of velocities changes from step to step.

mod stencil;
mod step;
#[cfg(test)]
mod tests;

use nalgebra::{Matrix3, Point3, Vector3};

use crate::body::{BodyState, BodyStep, DeformableModel, Energy, Surface, VelocityLayout};
use crate::error::BodyError;

use step::BlobStep;

/// Settings of a [`ParticleBlob`].
///
/// ```
/// use pliant_contact_sap::conformance::{BlobSettings, ParticleBlob};
///
/// let blob = ParticleBlob::new(BlobSettings { density: 500.0, ..BlobSettings::default() })?;
/// let mass = blob.n_particles() as f64 * blob.particle_mass();
/// assert!((mass - 0.0625).abs() < 1e-15); // 5 × 5 × 5 cm of 500 kg/m³
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlobSettings {
    /// Particles along each edge of the block it starts as, at least 1.
    pub n: usize,
    /// Distance of neighbouring particles at the start, m.
    pub spacing: f64,
    /// Width of a grid cell, m; twice the spacing puts eight particles in a cell.
    pub cell: f64,
    /// kg/m³.
    pub density: f64,
    /// κ, Pa.
    pub bulk_modulus: f64,
    /// Place of the first particle, m.
    pub corner_W: Point3<f64>,
}

impl Default for BlobSettings {
    /// A small drop of soft jelly: 5 × 5 × 5 particles, 1 cm apart, 125 g.
    fn default() -> Self {
        Self {
            n: 5,
            spacing: 0.01,
            cell: 0.02,
            density: 1000.0,
            bulk_modulus: 1e4,
            corner_W: Point3::new(0.0, 0.0, 0.2),
        }
    }
}

/// A weakly compressible blob in the manner of the material point method: particles carry mass, velocity and volume, a grid
/// that is forgotten after the step carries the velocities of the solve.
///
/// Each particle has the energy ½V₀κ(J − 1)², J its volume ratio. A step takes J to J₀(1 + δt ∇·v), so the momentum
/// balance is linear in v as it stands; by backward Euler, and for the rest of the θ-family accordingly,
///
/// ```text
/// A = M + δt² Σ V₀κJ₀² g gᵀ,    b = p + δt M g⃗ − δt Σ V₀κ(J₀ − 1)J₀ g,    g = ∇w
/// ```
///
/// Quadratic B-splines; velocities go to the grid and back with their affine part (APIC), which keeps linear and angular
/// momentum. The velocities of the solve are those of the nodes that have mass: their number changes as the blob moves.
/// Every particle is a vertex of the surface; its velocity is a weighted sum of the 27 nodes about its cell, which is its
/// basis.
///
/// State: q and v hold particles, history the affine velocity C (nine values, row by row) and J of each.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_contact_sap::conformance::{BlobSettings, ParticleBlob};
/// use pliant_contact_sap::{Control, DeformableModel, StepInput};
///
/// // Eight particles of 1 g. Their velocities are solved for on the nodes of the grid around them.
/// let blob = ParticleBlob::new(BlobSettings { n: 2, ..BlobSettings::default() })?;
/// let (control, mut step, mut v0) = (Control::default(), blob.new_step(), Vec::new());
/// step.begin(&blob.default_state(), &StepInput::new(0.01, Vector3::new(0.0, 0.0, -9.81), &control))?;
/// step.linearise_start(&mut v0)?;
/// assert!(v0.len() > 3 * blob.n_particles());
/// // Together the nodes receive the impulse of the weight, δt m g.
/// let weight: f64 = step.dynamics().right_hand_side().iter().skip(2).step_by(3).sum();
/// assert!((weight + 0.01 * 8e-3 * 9.81).abs() < 1e-15);
/// # Ok::<(), pliant_contact_sap::BodyError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ParticleBlob {
    settings: BlobSettings,
}

const HISTORY: usize = 10;

impl ParticleBlob {
    /// A cubic block of particles at rest.
    ///
    /// # Errors
    /// [`BodyError::Model`] naming the first setting that is out of range.
    pub fn new(settings: BlobSettings) -> Result<Self, BodyError> {
        if settings.n < 1 {
            return Err(BodyError::Model(
                "a blob needs at least one particle".into(),
            ));
        }
        for (name, value) in [
            ("spacing", settings.spacing),
            ("cell", settings.cell),
            ("density", settings.density),
            ("bulk modulus", settings.bulk_modulus),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(BodyError::Model(format!(
                    "{name} of a blob cannot be {value}"
                )));
            }
        }
        Ok(Self { settings })
    }

    /// Number of particles.
    #[must_use]
    pub fn n_particles(&self) -> usize {
        self.settings.n.pow(3)
    }

    /// V₀ of a particle, m³.
    fn volume(&self) -> f64 {
        self.settings.spacing.powi(3)
    }

    /// Mass of a particle, kg.
    #[must_use]
    pub fn particle_mass(&self) -> f64 {
        self.settings.density * self.volume()
    }
}

impl DeformableModel for ParticleBlob {
    fn default_state(&self) -> BodyState {
        let BlobSettings {
            n,
            spacing,
            corner_W,
            ..
        } = self.settings;
        let mut state = BodyState::default();
        for i in 0..self.n_particles() {
            let place = [i / (n * n), i / n % n, i % n].map(|k| k as f64 * spacing);
            state
                .q
                .extend_from_slice((corner_W.coords + Vector3::from(place)).as_slice());
            state.history.extend_from_slice(&[0.0; 9]);
            state.history.push(1.0);
        }
        state.v = vec![0.0; state.q.len()];
        state
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(BlobStep::new(*self))
    }

    fn velocity_layout(&self) -> VelocityLayout {
        VelocityLayout::RebuiltEachStep
    }

    fn surface(&self, state: &BodyState, out: &mut Surface) {
        out.clear();
        out.vertices
            .extend(state.q.chunks_exact(3).map(Point3::from_slice));
        out.radii
            .resize(out.vertices.len(), 0.5 * self.settings.spacing);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let mass = self.particle_mass();
        // Σ_i w_i d_i d_iᵀ of quadratic B-splines.
        let spread = 0.25 * self.settings.cell * self.settings.cell;
        let mut energy = Energy::default();
        for p in 0..self.n_particles() {
            let (x, v) = (vector(&state.q, p), vector(&state.v, p));
            let (affine, ratio) = history(&state.history, p);
            energy.kinetic += 0.5 * mass * (v.norm_squared() + spread * affine.norm_squared());
            energy.potential +=
                0.5 * self.volume() * self.settings.bulk_modulus * (ratio - 1.0).powi(2)
                    - mass * gravity.dot(&x);
            let turning = affine - affine.transpose();
            let axial = Vector3::new(turning[(2, 1)], turning[(0, 2)], turning[(1, 0)]);
            energy.linear_momentum_W += v * mass;
            energy.angular_momentum_W += (x.cross(&v) + axial * spread) * mass;
        }
        energy
    }
}

fn vector(values: &[f64], i: usize) -> Vector3<f64> {
    Vector3::from_column_slice(&values[3 * i..3 * i + 3])
}

/// C and J of a particle.
fn history(values: &[f64], p: usize) -> (Matrix3<f64>, f64) {
    let values = &values[HISTORY * p..HISTORY * (p + 1)];
    (Matrix3::from_row_slice(&values[..9]), values[9])
}
