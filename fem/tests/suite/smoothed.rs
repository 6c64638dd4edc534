//! Smoothed tetrahedra: bending and compression without locking, stability, and the checks of every element; compression of quadratic ones, too.

use std::sync::Arc;

use crate::support::elements::{STATIC_S, beam, check, deflection, modes};
use crate::support::{Alone, GRAVITY, UNDAMPED, built, corotated, place};
use nalgebra::{Matrix3, Vector3};
use pliant_constitutive::{Lame, MooneyRivlin};
use pliant_contact_sap::DeformableModel;
use pliant_fem::{
    Axis, Element, Elements, FemBuilder, Kinematics, LawKind, MassKind, Material, Preconditioning,
    Region,
};
use pliant_hydroelastic::mesh::TetMesh;
use pliant_hydroelastic::mesh::generate::tet_cuboid;

#[test]
fn two_cells_across_bend_as_a_beam_at_any_poisson_ratio() {
    for nu in [0.0, 0.3, 0.47, 0.49, 0.499] {
        let found = deflection(
            Element::Smoothed,
            beam(2, 0.0),
            LawKind::LinearCorotated,
            nu,
        );
        let linear = deflection(Element::Linear, beam(2, 0.0), LawKind::LinearCorotated, nu);
        eprintln!("nu {nu}: smoothed {found:.4}, linear {linear:.4}");
        assert!((found - 1.0).abs() < 0.03, "nu {nu}: {found}");
        // An independent program has 0.5035, 0.2235 and 0.0239 for the linear element at 0.3, 0.47, 0.499.
        assert!(linear < 0.65, "nu {nu}: {linear}");
    }
}

#[test]
fn crooked_and_finer_beams_bend_right() {
    for (n, nu) in [(2, 0.3), (2, 0.47), (2, 0.499), (4, 0.3), (4, 0.499)] {
        let mesh = beam(n, 0.2);
        let found = deflection(Element::Smoothed, mesh, LawKind::LinearCorotated, nu);
        eprintln!("{n} crooked cells, nu {nu}: {found:.4}");
        assert!((found - 1.0).abs() < 0.03, "{n} cells, nu {nu}: {found}");
    }
}

#[test]
fn every_law_bends_alike_at_small_strain() {
    for law in LawKind::ALL {
        let found = deflection(Element::Smoothed, beam(2, 0.0), law, 0.499);
        assert!((found - 1.0).abs() < 0.03, "{law}: {found}");
    }
}

#[test]
fn a_free_body_has_six_zero_modes_and_no_soft_ones() {
    for nu in [0.3, 0.499] {
        for n in [1, 2, 3] {
            let body = |element| {
                let mesh = tet_cuboid(Vector3::repeat(0.05), [n, n, n]).unwrap();
                let builder = FemBuilder::new(mesh, corotated(1e5, nu), 1000.0);
                built(builder.damping(UNDAMPED).element(element))
            };
            let found = modes(&body(Element::Smoothed));
            let zero = found.iter().filter(|x| (**x - 1.0).abs() < 1e-3).count();
            assert_eq!(zero, 6, "{n} cells, nu {nu}: {:?}", &found[..8]);
            // 6 × 6 × 6 cells of an independent program, both elements: ω²ρa²/E is 2.82 and 2.45 at ν = 0.3 and 0.4999, and it has 20 modes
            // below 10. Hour-glass modes of nodal averages are near 1.0.
            let lowest = (found[6] - 1.0) * 1000.0 * 0.01 / 1e5;
            eprintln!("{n} cells, nu {nu}: lowest {lowest:.3}");
            assert!(lowest > if n == 1 { 1.0 } else { 1.4 }, "{lowest}");
        }
    }
}

#[test]
fn a_confined_block_has_the_wave_modulus() {
    for element in [Element::Smoothed, Element::Quadratic] {
        // Between rigid walls at its sides, compressed by its own weight: ρgh²/2(λ + 2μ), which patches must not soften.
        let (E, nu, h) = (1e6, 0.49, 0.2);
        let mesh = tet_cuboid(Vector3::new(0.05, 0.05, 0.5 * h), [2, 2, 8]).unwrap();
        let bottom = Region::HalfSpace {
            point: Vector3::new(0.0, 0.0, -0.5 * h),
            normal: Vector3::z(),
        };
        let builder = FemBuilder::new(mesh, corotated(E, nu), 1000.0)
            .element(element)
            .damping(UNDAMPED)
            .fix(Region::All, &[Axis::X, Axis::Y])
            .fix(bottom, &Axis::ALL);
        let body = built(builder);
        let mut state = body.default_state();
        Alone::new(&body, STATIC_S)
            .under(GRAVITY)
            .steps(&mut state, 3);
        let volume = body.volume(&state) / body.volume(&body.default_state());
        // The mean over the top: within quadratic elements, lumped weights press corners and edges unlike.
        let sunk = (1.0 - volume) * h;
        let modulus = Lame::from_young_poisson(E, nu).unwrap().wave_modulus();
        let exact = 1000.0 * 9.81 * h * h / (2.0 * modulus);
        assert!(
            (sunk / exact - 1.0).abs() < 0.02,
            "{element:?}: {sunk} of {exact}"
        );
        assert!(volume < 1.0);
    }
}

fn block() -> TetMesh {
    tet_cuboid(Vector3::new(0.06, 0.04, 0.03), [3, 2, 1]).unwrap()
}

fn of_law(law: LawKind, nu: f64) -> FemBuilder {
    let material = law.of(Lame::from_young_poisson(1e5, nu).unwrap()).unwrap();
    FemBuilder::new(block(), material, 1000.0).element(Element::Smoothed)
}

#[test]
fn a_smoothed_body_of_any_law_and_setting_passes_the_conformance_checks() {
    for law in LawKind::ALL {
        for nu in [0.4, 0.495] {
            check(of_law(law, nu), false);
        }
    }
    let rubber = MooneyRivlin::new(1e4, 5e3, 1e6).unwrap();
    let rubber = FemBuilder::new(block(), Arc::new(rubber), 1000.0);
    check(rubber.element(Element::Smoothed), false);
    let wall = || Region::HalfSpace {
        point: Vector3::new(-0.06, 0.0, 0.0),
        normal: Vector3::x(),
    };
    for law in [LawKind::LinearCorotated, LawKind::StableNeoHookean] {
        let builder = || of_law(law, 0.47);
        check(builder().mass(MassKind::Consistent), false);
        check(builder().fix(wall(), &Axis::ALL), false);
        let held = builder().fix(wall(), &[Axis::X]);
        check(held.mass(MassKind::Consistent), false);
        check(builder().preconditioning(Preconditioning::RestShape), false);
        check(builder().kinematics(Kinematics::PlaneStrain), true);
        let stiffer = law.of(Lame::from_young_poisson(1e6, 0.3).unwrap()).unwrap();
        let half = Region::HalfSpace {
            point: Vector3::zeros(),
            normal: Vector3::x(),
        };
        check(
            builder().part(Elements::Within(half), stiffer, 500.0),
            false,
        );
    }
    // No volumetric part: the law is averaged over edges alone.
    check(of_law(LawKind::Corotational, -0.2), false);
}

#[test]
fn a_layered_block_strains_each_layer_by_its_modulus() {
    for element in [Element::Smoothed, Element::Quadratic] {
        // Two halves of E and 10 E, ν = 0, pulled along x: F is uniform in each, which needs smoothing to stop at the interface.
        let mesh = tet_cuboid(Vector3::new(0.1, 0.02, 0.02), [4, 2, 2]).unwrap();
        let left = Region::HalfSpace {
            point: Vector3::new(-0.1, 0.0, 0.0),
            normal: Vector3::x(),
        };
        let right = Region::HalfSpace {
            point: Vector3::zeros(),
            normal: -Vector3::x(),
        };
        let builder = FemBuilder::new(mesh, corotated(1e6, 0.0), 1000.0)
            .element(element)
            .damping(UNDAMPED)
            .part(Elements::Within(right), corotated(1e7, 0.0), 1000.0)
            .fix(left, &Axis::ALL);
        let body = built(builder);
        let end: Vec<u32> = (0..body.mesh().vertices().len() as u32)
            .filter(|v| body.mesh().vertices()[*v as usize].x > 0.1 - 1e-9)
            .collect();
        let stretch = 1.1e-5;
        let mut state = body.default_state();
        for v in &end {
            state.q[3 * *v as usize] += stretch;
        }
        let held = body.holding(&end, &[Axis::X], &Vector3::zeros());
        Alone::new(&body, STATIC_S)
            .driven(held)
            .steps(&mut state, 3);
        for (i, p) in body.mesh().vertices().iter().enumerate() {
            // Ten elevenths of the stretch in the soft half.
            let expected = match p.x < 0.0 {
                true => 1e-4 * (p.x + 0.1),
                false => 1e-5 + 1e-5 * p.x,
            };
            let error = (place(&state, i) - p - Vector3::x() * expected).norm();
            assert!(error < 1e-11, "vertex {i}: {error:e}");
        }
    }
}

#[test]
fn stress_of_a_stretched_bar_is_hooke_s() {
    for nu in [0.3, 0.49] {
        let body = built(of_law(LawKind::LinearCorotated, nu));
        let mut state = body.default_state();
        let across = 1.0 - 1e-3 * nu;
        let F = Matrix3::from_diagonal(&Vector3::new(1.001, across, across));
        for q in state.q.chunks_exact_mut(3) {
            let moved = F * Vector3::from_column_slice(q);
            q.copy_from_slice(moved.as_slice());
        }
        let stress = body.cauchy_stress(&state, 7.into());
        assert!((stress[(0, 0)] - 100.0).abs() < 0.3, "{stress}");
        assert!(stress[(1, 1)].abs() < 1e-6 && stress[(0, 1)].abs() < 1e-6);
    }
}

#[test]
fn a_rubber_cube_pressed_between_rough_plates_keeps_its_volume() {
    for (element, n) in [(Element::Smoothed, 4), (Element::Quadratic, 2)] {
        let mesh = tet_cuboid(Vector3::repeat(0.05), [n; 3]).unwrap();
        let law = LawKind::StableNeoHookean;
        let material: Arc<dyn Material> = law
            .of(Lame::from_young_poisson(1e5, 0.4995).unwrap())
            .unwrap();
        let body = built(FemBuilder::new(mesh, material, 1000.0).element(element));
        let mut state = body.default_state();
        let volume = body.volume(&state);
        let caps: Vec<u32> = (0..body.mesh().vertices().len() as u32)
            .filter(|v| body.mesh().vertices()[*v as usize].z.abs() > 0.05 - 1e-9)
            .collect();
        let [low, high]: [Vec<u32>; 2] = [-1.0, 1.0].map(|sign| {
            let side = |v: &&u32| body.mesh().vertices()[**v as usize].z * sign > 0.0;
            caps.iter().filter(side).copied().collect()
        });
        let mut control = body.holding(&low, &Axis::ALL, &Vector3::zeros());
        let pressed = body.holding(&high, &Axis::ALL, &Vector3::new(0.0, 0.0, -0.1));
        for (held, other) in control.held.iter_mut().zip(pressed.held) {
            *held = held.or(other);
        }
        let mut alone = Alone::new(&body, 5e-3).driven(control);
        alone.steps(&mut state, 40);
        assert!(alone.warnings.is_empty(), "{:?}", alone.warnings);
        let change = body.volume(&state) / volume - 1.0;
        eprintln!("{element:?}: volume changed by {:.3} %", 100.0 * change);
        assert!(change.abs() < 0.005, "{element:?}: {change}");
    }
}
