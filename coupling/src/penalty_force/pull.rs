//! The force of an attachment as a function of depth, f = κ(d) (Y − Z').
//!
//! ```text
//! none            κ = k
//! Hunt-Crossley   κ = k (1 + χ ḋ)₊               ḋ = (d − d₀)/δt
//! Kelvin-Voigt    κ = k (1 + τ ḋ/d)₊             ḋ = (d − (d₀)₊)/δt
//! ```
//!
//! d₀ is the depth at the start of the step, negative outside. The normal force is κ d, and friction stays within μ κ d since Y − Z' is in the friction
//! cone. At rest κ = k. The damper of Kelvin and Voigt acts on the part of the motion within the object, so that the force begins at zero. Neither
//! pulls.
//!
//! Sources: Hunt, Crossley (1975); Kelvin-Voigt with tension cut: Schwager, Pöschel (2007).

use pliant_hydroelastic::SlidingFriction;

/// How the normal force of a penalty depends on the rate of depth.
///
/// ```
/// # use std::sync::Arc;
/// # use nalgebra::{Isometry3, Vector3};
/// # use pliant_hydroelastic::{ContactMaterial, Shape};
/// # use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
/// # let mut model = ModelBuilder::new("box");
/// # model.root(Root::Floating);
/// # model.link(LinkSpec::new("box", SpatialInertia::solid_sphere(1.0, 0.1)));
/// # let q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
/// # let tree = RigidTree::new(Arc::new(model.build()?)).starting_at(&q, &[0.0, 0.0, 0.0, 0.0, 0.0, -0.1]);
/// # let mut builder = WorldBuilder::default();
/// # let body = builder.add_body("box", Box::new(tree));
/// # use pliant_coupling::{Geometry, Mount, State, Stepper, WorldBuilder};
/// use pliant_coupling::{PenaltyDamping, PenaltyForce, PenaltyForceSettings};
///
/// // A box of 1 kg meets the floor with 0.1 m/s, on four corners of k = 10³ N/m and τ = 0.05 s: v = v0/(1 + 4 k δt (δt + τ)/m).
/// # let material = ContactMaterial { stiffness: 2e3, relaxation_time_s: 0.025, ..ContactMaterial::default() };
/// # let mount = Mount::Frame { body, frame: 0, X_FG: Isometry3::identity() };
/// # let cube = builder.add_geometry(Geometry::new("box", mount, Shape::cuboid(Vector3::repeat(0.2))?, material));
/// # let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.1));
/// # let floor = builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
/// # builder.gravity(Vector3::zeros());
/// # let (world, mut next) = (builder.build()?, State::default());
/// let damping = PenaltyDamping::KelvinVoigt;
/// let settings = PenaltyForceSettings { damping, box_particles: 2, ..PenaltyForceSettings::default() };
/// assert!(PenaltyForce::new(settings)?.step(&world, &world.default_state(), 1e-3, &mut next)?.is_trusted());
/// assert!((next.bodies[0].v[5] + 0.1 / (1.0 + 4.0 * 0.051)).abs() < 1e-7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PenaltyDamping {
    /// Not at all, as published. Backward Euler is the only damping.
    #[default]
    None,
    /// k d (1 + χ ḋ), with the pair's dissipation χ (s/m).
    HuntCrossley,
    /// k d + k τ ḋ, with the pair's relaxation time τ (s).
    KelvinVoigt,
}

impl PenaltyDamping {
    /// Names in scenes.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("none", Self::None),
        ("hunt-crossley", Self::HuntCrossley),
        ("kelvin-voigt", Self::KelvinVoigt),
    ];
}

/// What a particle is pulled with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull {
    /// k, N/m.
    pub(super) stiffness: f64,
    pub(super) friction: SlidingFriction<f64>,
    /// The particle is kept at this distance from the object, m: Z' = Z − distance n.
    pub(super) distance: f64,
    pub(super) damping: Damping,
}

/// Damping in one step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Damping {
    None,
    HuntCrossley {
        /// χ/δt, 1/m.
        rate: f64,
        /// d₀, m.
        start: f64,
    },
    KelvinVoigt {
        /// τ/δt.
        rate: f64,
        /// (d₀)₊, m.
        start: f64,
    },
}

impl Pull {
    /// κ and dκ/dd.
    pub(super) fn secant(&self, depth: f64) -> (f64, f64) {
        let (factor, slope) = match self.damping {
            Damping::None => (1.0, 0.0),
            Damping::HuntCrossley { rate, start } => (1.0 + rate * (depth - start), rate),
            Damping::KelvinVoigt { rate, start } => {
                // The plane of X may be above a particle that is below Y.
                let depth = depth.max(f64::MIN_POSITIVE);
                let change = rate * start / depth;
                (1.0 + rate - change, change / depth)
            }
        };
        match factor > 0.0 {
            true => (self.stiffness * factor, self.stiffness * slope),
            false => (0.0, 0.0),
        }
    }

    /// Whether κ depends on the depth.
    pub(super) fn is_damped(&self) -> bool {
        !matches!(self.damping, Damping::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pull(damping: Damping) -> Pull {
        Pull {
            stiffness: 3e3,
            friction: SlidingFriction::coulomb(0.5),
            distance: 0.0,
            damping,
        }
    }

    #[test]
    fn the_slope_is_that_of_differences_and_nothing_pulls() {
        for start in [-2e-3, 0.0, 1.5e-3, 4e-3] {
            for damping in [
                Damping::None,
                Damping::HuntCrossley { rate: 400.0, start },
                Damping::KelvinVoigt {
                    rate: 3.0,
                    start: f64::max(start, 0.0),
                },
            ] {
                let pull = pull(damping);
                for depth in [1e-4, 1e-3, 1.7e-3, 3.1e-3, 6e-3] {
                    let (kappa, slope) = pull.secant(depth);
                    let h = 1e-6 * depth;
                    let up = pull.secant(depth + h).0;
                    let difference = (up - pull.secant(depth - h).0) / (2.0 * h);
                    assert!(kappa >= 0.0);
                    assert!(
                        (slope - difference).abs() <= 1e-7 * (slope.abs() + kappa / depth),
                        "{damping:?} at {depth}: {slope} {difference}"
                    );
                }
            }
        }
    }

    #[test]
    fn at_rest_it_is_the_spring() {
        for damping in [
            Damping::HuntCrossley {
                rate: 400.0,
                start: 1e-3,
            },
            Damping::KelvinVoigt {
                rate: 3.0,
                start: 1e-3,
            },
        ] {
            assert_eq!(pull(damping).secant(1e-3).0, 3e3);
        }
    }
}
