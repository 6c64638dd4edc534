//! Random contact problems: bodies of very different masses with redundant and inconsistent constraints.
#![allow(
    dead_code,
    unused_imports,
    non_snake_case,
    reason = "each test file uses a part; monogram names"
)]

pub(crate) mod clutter;
mod random_bodies;
mod random_constraints;
mod recipe;
mod scene;

use nalgebra::{DMatrix, Matrix3, Vector3};
use pliant_contact_sap::{BlockFactors, ConstraintSet, ContactProblem};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use random_bodies::random_body;
use random_constraints::{add_contacts, add_row};
pub(crate) use recipe::{Extras, Models, Recipe, Stiffness};
pub(crate) use scene::{Body, BodyKind, PlainContact, PlainRow, Scene};

pub(crate) type Random = ChaCha8Rng;

pub(crate) const TIME_STEP_S: f64 = 0.01;

pub(crate) fn random_scene(seed: u64, recipe: &Recipe) -> Scene {
    let random = &mut Random::seed_from_u64(seed);
    let (low, high) = recipe.participants;
    let n = random.random_range(low..=high);
    let mut v0 = Vec::new();
    let bodies: Vec<Body> = (0..n)
        .map(|_| random_body(random, recipe, &mut v0))
        .collect();
    let mut scene = Scene {
        bodies,
        set: ConstraintSet::default(),
        v0,
        contacts: Vec::new(),
        rows: Vec::new(),
    };
    let mut factors = BlockFactors::default();
    factors.factor(&scene.dynamics()).expect("every A is SPD");
    let n_bases = (n as f64 * recipe.bases_per_participant).ceil() as usize;
    for _ in 0..n_bases {
        add_contacts(random, recipe, &mut scene, &mut factors);
        if recipe.extras == Extras::All && random.random_range(0..3) == 0 {
            add_row(random, &mut scene, &mut factors);
        }
    }
    scene
}

/// Runs `check` with the scene as a [`ContactProblem`].
pub(crate) fn with_problem<R>(scene: &Scene, check: impl FnOnce(&ContactProblem<'_>) -> R) -> R {
    let dynamics = scene.dynamics();
    check(&ContactProblem {
        dynamics: &dynamics,
        constraints: &scene.set,
    })
}

pub(crate) fn unit_vector(random: &mut Random) -> Vector3<f64> {
    let z: f64 = random.random_range(-1.0..1.0);
    let angle: f64 = random.random_range(0.0..std::f64::consts::TAU);
    let r = (1.0 - z * z).sqrt();
    Vector3::new(r * angle.cos(), r * angle.sin(), z)
}

pub(crate) fn vector(random: &mut Random, size: f64) -> Vector3<f64> {
    unit_vector(random) * size * random.random_range(0.0f64..1.0)
}

/// Φ of a contact at `p` from the origin of its twist.
pub(crate) fn twist_interpolation(p: &Vector3<f64>) -> DMatrix<f64> {
    let mut phi = DMatrix::zeros(3, 6);
    phi.view_mut((0, 0), (3, 3)).copy_from(&-p.cross_matrix());
    phi.view_mut((0, 3), (3, 3)).copy_from(&Matrix3::identity());
    phi
}
