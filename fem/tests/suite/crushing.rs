//! Recovery of bodies from extreme compression.

use crate::support::{Alone, built, largest_speed, place};
use nalgebra::Vector3;
use pliant_constitutive::Lame;
use pliant_contact_sap::{Control, DeformableModel};
use pliant_fem::{Axis, FemBuilder, LawKind, Region};
use pliant_hydroelastic::mesh::generate::tet_cuboid;

/// Compresses a cube of 0.1 m to 5 % of its height within half a second, holds it and releases it; returns whether any element was
/// inverted meanwhile.
#[track_caller]
fn crush_and_release(law: LawKind) -> bool {
    let half = 0.05;
    let mesh = tet_cuboid(Vector3::repeat(half), [3, 3, 3]).unwrap();
    let face = |sign: f64| Region::HalfSpace {
        point: Vector3::z() * (sign * half),
        normal: Vector3::z() * -sign,
    };
    let bottom = face(-1.0).vertices(&mesh, "the bottom").unwrap();
    let top = face(1.0).vertices(&mesh, "the top").unwrap();
    assert_eq!((bottom.len(), top.len()), (16, 16));
    let material = law.of(Lame::from_young_poisson(1e5, 0.4).unwrap()).unwrap();
    let body = built(FemBuilder::new(mesh, material, 1000.0).fix(face(-1.0), &Axis::ALL));
    let mut state = body.default_state();
    let rest = state.clone();
    let mut inverted = false;
    let mut alone = Alone::new(&body, 0.01);
    for (speed, steps) in [(-0.95 * 0.1 / 0.5, 50), (0.0, 20)] {
        alone.control = body.holding(&top, &Axis::ALL, &(Vector3::z() * speed));
        for _ in 0..steps {
            alone.step(&mut state);
            inverted |= alone.warnings.iter().any(|w| w.contains("inverted"));
        }
    }
    let height = place(&state, top[0] as usize).z + half;
    assert!((height / 0.1 - 0.05).abs() < 1e-9, "{law}: {height}");
    alone.control = Control::default();
    alone.steps(&mut state, 500);
    let worst = (0..rest.q.len() / 3).map(|i| (place(&state, i) - place(&rest, i)).norm());
    let worst = worst.fold(0.0, f64::max);
    eprintln!(
        "{law}: inverted {inverted}, {:.2e} m from rest after release",
        worst
    );
    assert!(worst < 1e-4, "{law}: {worst} m from rest");
    assert!(largest_speed(&state) < 1e-3);
    inverted
}

#[test]
fn a_cube_crushed_to_a_twentieth_recovers() {
    for law in [LawKind::LinearCorotated, LawKind::StableNeoHookean] {
        crush_and_release(law);
    }
}

#[test]
fn an_inverted_element_recovers() {
    // One vertex of a free cube is pulled through the opposite face and released: the law is finite there, with a warning.
    for law in [LawKind::LinearCorotated, LawKind::StableNeoHookean] {
        let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
        let material = law.of(Lame::from_young_poisson(1e5, 0.4).unwrap()).unwrap();
        let body = built(FemBuilder::new(mesh, material, 1000.0));
        let mut state = body.default_state();
        let rest_volume = body.volume(&state);
        // The corner at (−, −, −).
        state.q[..3].copy_from_slice(&[0.07, 0.06, 0.07]);
        let mut alone = Alone::new(&body, 0.005);
        alone.step(&mut state);
        let mut warned = !alone.warnings.is_empty();
        for _ in 0..600 {
            alone.step(&mut state);
            warned |= !alone.warnings.is_empty();
        }
        assert!(warned, "{law}");
        let volume = body.volume(&state) / rest_volume;
        let energy = body.energy(&state, &Vector3::zeros());
        eprintln!(
            "{law}: volume {volume:.6}, energy {:.2e} J",
            energy.potential
        );
        assert!(
            (volume - 1.0).abs() < 1e-3 && energy.potential < 1e-3,
            "{law}: {volume}"
        );
    }
}
