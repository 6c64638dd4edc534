//! Filling closed shapes with particles.

mod poisson;
#[cfg(test)]
mod tests;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::{GeometryError, Shape};

use crate::error::{MpmError, positive, within};

/// Sampling of a shape by particles.
///
/// ```
/// use nalgebra::{Isometry3, Vector3};
/// use pliant_hydroelastic::Shape;
/// use pliant_mpm::{Sampling, fill};
///
/// // 27 particles in each of 2 × 2 × 2 cells.
/// let cube = Shape::cuboid(Vector3::repeat(0.04))?;
/// let regular = Sampling::Regular { per_cell: 27.0 };
/// assert_eq!(fill("cube", &cube, &Isometry3::identity(), 0.02, regular)?.points.len(), 216);
/// // Random points: the same seed gives the same ones.
/// let random = || fill("cube", &cube, &Isometry3::identity(), 0.02, Sampling::PoissonDisk { per_cell: 8.0, seed: 1 });
/// assert_eq!(random()?, random()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampling {
    /// A lattice along the axes of the shape's frame, scaled so that it ends at the sides of the shape's bounding box.
    Regular {
        /// Particles per grid cell; 8 is usual, a solid needs at least 2.
        per_cell: f64,
    },
    /// Poisson-disk sampling: random points at least a radius apart, without a preferred direction (Bridson 2007).
    PoissonDisk {
        /// Mean number of particles per grid cell.
        per_cell: f64,
        /// Seed of the random numbers.
        seed: u64,
    },
    /// As [`Self::PoissonDisk`], with the outermost particles in a layer half a particle spacing below the surface. With the default
    /// contact radius this gives the smoothest contact surface; a ball rolls with the least disturbance.
    Conforming {
        /// Mean number of particles per grid cell.
        per_cell: f64,
        /// Seed of the random numbers.
        seed: u64,
    },
}

impl Sampling {
    fn per_cell(&self) -> f64 {
        match *self {
            Self::Regular { per_cell }
            | Self::PoissonDisk { per_cell, .. }
            | Self::Conforming { per_cell, .. } => per_cell,
        }
    }
}

impl Default for Sampling {
    /// Two along each edge of a cell.
    fn default() -> Self {
        Self::Regular { per_cell: 8.0 }
    }
}

/// Particles of one object at rest.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_mpm::ParticleSet;
///
/// // Two particles of a cubic centimetre.
/// let pair = ParticleSet { points: vec![Point3::origin(), Point3::new(0.01, 0.0, 0.0)], particle_volume: 1e-6 };
/// assert!((pair.spacing() - 0.01).abs() < 1e-15);
/// assert_eq!(pair.volume(), 2e-6);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParticleSet {
    /// Positions, world frame, m.
    pub points: Vec<Point3<f64>>,
    /// V₀ of each, m³.
    pub particle_volume: f64,
}

impl ParticleSet {
    /// Particle spacing: the edge length of a cube of a particle's volume, m.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.particle_volume.cbrt()
    }

    /// Total volume, m³.
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.particle_volume * self.points.len() as f64
    }
}

/// The most particles of a shape: of so many the state has 5 GB.
const PARTICLES_MAX: f64 = 2e7;
/// The most places that are tried in the box around a shape.
const CELLS_MAX: f64 = 1e9;

/// Fills `shape` at pose `X_WS` with particles, for a grid of spacing `spacing` (m).
///
/// The shape's volume is divided evenly among its particles, so that the total mass is exact. `object` is the name in errors. Shapes are
/// closed: [`Shape::mesh`] rejects a mesh with a hole.
///
/// # Errors
/// [`MpmError::Unresolved`] if the particles' cubes cover less than three quarters or more than four thirds of the shape;
/// [`MpmError::Geometry`] for unbounded shapes; [`MpmError::Parameter`].
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant_hydroelastic::Shape;
/// use pliant_mpm::{Sampling, fill};
///
/// let ball = fill("ball", &Shape::sphere(0.05)?, &Isometry3::identity(), 0.02, Sampling::default())?;
/// assert_eq!(ball.points.len(), 552);
/// assert!((ball.volume() - 4.0 / 3.0 * std::f64::consts::PI * 0.05_f64.powi(3)).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fill(
    object: &str,
    shape: &Shape,
    X_WS: &Isometry3<f64>,
    spacing: f64,
    sampling: Sampling,
) -> Result<ParticleSet, MpmError> {
    positive(object, "grid spacing", spacing)?;
    let per_cell = sampling.per_cell();
    within(
        object,
        "per_cell",
        per_cell,
        (0.1..=1000.0).contains(&per_cell),
        "must lie in [0.1, 1000]",
    )?;
    let geometry = |source: GeometryError| MpmError::Geometry {
        object: object.into(),
        source,
    };
    let bounds = shape.local_aabb();
    if !bounds.is_bounded() {
        return Err(geometry(GeometryError::Unbounded {
            shape: shape.name(),
        }));
    }
    let volume = shape.mass_properties(1.0).map_err(geometry)?.mass;
    let distance = spacing / per_cell.cbrt();
    let size = bounds.max - bounds.min;
    let cells = size.map(|l| (l / distance).max(1.0)).product();
    let count = volume / distance.powi(3);
    if !(cells <= CELLS_MAX && count <= PARTICLES_MAX) {
        return Err(MpmError::TooMany {
            object: object.into(),
            size_m: [size.x, size.y, size.z],
            spacing_m: distance,
            count,
        });
    }
    let inside = |p: &Point3<f64>| shape.signed_distance(p).value < 0.0;
    let (local, cube) = match sampling {
        Sampling::Regular { .. } => lattice(&bounds.min, &bounds.max, distance, inside),
        Sampling::PoissonDisk { seed, .. } => {
            let points = poisson::disk(&bounds.min, &bounds.max, distance, seed, inside);
            (points, distance.powi(3))
        }
        Sampling::Conforming { seed, .. } => {
            let surface = |p: &Point3<f64>| shape.signed_distance(p);
            let points = poisson::conforming(&bounds.min, &bounds.max, distance, seed, surface);
            (points, distance.powi(3))
        }
    };
    let filled = cube * local.len() as f64;
    if !(0.75..=4.0 / 3.0).contains(&(filled / volume)) {
        return Err(MpmError::Unresolved {
            object: object.into(),
            volume_m3: volume,
            spacing_m: distance,
            filled_m3: filled,
            count: local.len(),
        });
    }
    Ok(ParticleSet {
        particle_volume: volume / local.len() as f64,
        points: local.iter().map(|p| X_WS * p).collect(),
    })
}

/// Points of a lattice of about the given `distance` that lie inside, and the volume of its cell.
fn lattice(
    min: &Point3<f64>,
    max: &Point3<f64>,
    distance: f64,
    inside: impl Fn(&Point3<f64>) -> bool,
) -> (Vec<Point3<f64>>, f64) {
    let size = max - min;
    // Thinner than half the distance: no layer fits.
    let counts = size.map(|l| (l / distance).round());
    let step: Vector3<f64> = size.component_div(&counts);
    let mut points = Vec::new();
    for i in 0..counts.x as usize {
        for j in 0..counts.y as usize {
            for k in 0..counts.z as usize {
                let at = Vector3::new(i as f64, j as f64, k as f64).add_scalar(0.5);
                let p = min + at.component_mul(&step);
                if inside(&p) {
                    points.push(p);
                }
            }
        }
    }
    let cube = step.x * step.y * step.z;
    (points, if cube.is_finite() { cube } else { 0.0 })
}
