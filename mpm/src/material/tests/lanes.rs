//! Several particles side by side against one at a time.

use super::*;
use crate::lanes::{InstructionSet, LaneScalar};
use crate::particle::Particle;
use crate::substeps::Precision;

/// Particles of all states in which the stress is defined: at rest, deformed, far beyond the yield stress, flat, and inverted if the energy
/// of the material allows it. Their number fills no register.
fn particles<T: LaneScalar>(material: &dyn Material) -> Vec<Particle<T>> {
    let mut draw = Draw::new(11);
    let sizes = [0.0, 0.02, 0.1, 0.3, 0.6, 0.05, 0.9];
    let drawn = sizes.iter().cycle().map(|size| Particle {
        strain: draw.strain(material, *size),
        c: draw.matrix(3.0),
        ..Particle::<f64>::default()
    });
    // Logarithmic strains of an inverted particle do not exist.
    let is_logarithmic = ["neo_hookean", "hencky_von_mises", "sand"].contains(&material.name());
    let is_defined = |p: &Particle<f64>| !is_logarithmic || p.strain.f.determinant() > 0.0;
    let defined = drawn.filter(is_defined).take(45).enumerate();
    let numbered = defined.map(|(index, p)| Particle {
        index: index as u32,
        ..p
    });
    numbered.map(|p| p.cast()).collect()
}

/// `found` equals `expected` to round-off of the scalar, relative to `scale`.
fn check_near<T: Real>(found: &Matrix3<T>, expected: &Matrix3<T>, scale: f64, what: &str) {
    let error = (found - expected).norm().wide();
    let bound = 1e3 * T::default_epsilon().wide() * scale;
    assert!(error <= bound, "{what}: off by {error:e} of {scale:e}");
}

fn check<T: Precision>(material: &dyn Material, law: &dyn Law<T>) {
    let name = material.name();
    let particles = particles::<T>(material);
    let mut draw = Draw::new(12);
    let gradients = particles.iter().map(|_| draw.matrix(20.0).map(T::of));
    let gradients: Vec<Matrix3<T>> = gradients.collect();
    let time = T::of(0.01);
    let crushed_ones = |law: &MaterialLaw<'_, T>, set, moved: &mut [Particle<T>]| {
        let crushed = std::sync::Mutex::new(Vec::new());
        law.advance_all(set, time, &gradients, moved, &|p| {
            crushed.lock().unwrap().push(p);
        });
        crushed.into_inner().unwrap()
    };
    let mut expected = particles.clone();
    let mut stresses = vec![Matrix3::zeros(); particles.len()];
    let one_by_one = MaterialLaw::OneByOne(law);
    let set = InstructionSet::widest();
    one_by_one.stresses(set, &particles, &mut stresses);
    let crushed = crushed_ones(&one_by_one, set, &mut expected);
    for set in InstructionSet::available() {
        let law = T::law(material);
        assert!(matches!(law, MaterialLaw::InLanes(_)), "{name}");
        let mut found = stresses.clone();
        law.stresses(set, &particles, &mut found);
        for (found, stress) in found.iter().zip(&stresses) {
            check_near(
                found,
                stress,
                material.wave_modulus() + stress.norm().wide(),
                name,
            );
        }
        let mut moved = particles.clone();
        assert_eq!(crushed_ones(&law, set, &mut moved), crushed, "{name}");
        for (moved, expected) in moved.iter().zip(&expected) {
            let scale = 1.0 + expected.strain.f.norm().wide();
            check_near(&moved.strain.f, &expected.strain.f, scale, name);
            for (a, b) in moved.strain.internal.iter().zip(expected.strain.internal) {
                let bound = 1e3 * T::default_epsilon().wide() * (1.0 + b.wide().abs());
                assert!((*a - b).wide().abs() <= bound, "{name}: {a} for {b}");
            }
        }
    }
}

#[test]
fn every_law_gives_the_same_in_every_instruction_set_and_one_by_one() {
    for material in all() {
        check::<f64>(material.as_ref(), material.as_ref());
        check::<f32>(material.as_ref(), material.as_ref());
    }
}

/// A particle's result is its own, whatever particles share its register.
#[test]
fn neighbours_in_a_register_do_not_matter() {
    for material in all() {
        let particles = particles::<f32>(material.as_ref());
        let law = <f32 as Precision>::law(material.as_ref());
        let set = InstructionSet::widest();
        let mut together = vec![Matrix3::zeros(); particles.len()];
        law.stresses(set, &particles, &mut together);
        for (p, together) in particles.iter().zip(&together) {
            let mut alone = [Matrix3::zeros()];
            law.stresses(set, &[*p], &mut alone);
            assert_eq!(alone[0], *together, "{}", material.name());
        }
    }
}
