//! Quadratic tetrahedra: patch test of curved elements, bending and compression without locking, vibration, stability, contact, and the checks of every
//! element.

use std::sync::Arc;

use crate::support::elements::{STATIC_S, beam, check, deflection, modes};
use crate::support::touching::{
    TOUCHES, add_floor, add_soft, center_velocity, run, surface, wrench_from_outside,
};
use crate::support::{Alone, GRAVITY, UNDAMPED, built, corotated, place};
use nalgebra::{Isometry3, Matrix3, Rotation3, Vector3};
use pliant_constitutive::{Lame, MooneyRivlin};
use pliant_contact_sap::{BodyState, DeformableModel, Integration, TimeStep};
use pliant_coupling::WorldBuilder;
use pliant_fem::{
    Axis, Element, Elements, FemBuilder, FemError, Kinematics, LawKind, MassKind, Preconditioning,
    Region, Rotation, UniformForce,
};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{QuadraticMesh, TetIdx, TetMesh, TetOptions};

/// A box whose inner nodes, vertices and those on edges, are off their places by up to `share` of a cell.
fn curved_box(share: f64) -> TetMesh {
    let (half, cells) = (Vector3::new(0.3, 0.2, 0.25), [3, 2, 2]);
    let straight = tet_cuboid(half, cells).unwrap();
    let (nodes, elements) = QuadraticMesh::of(&straight).unwrap().into_parts();
    let inside = |p: &Vector3<f64>| (0..3).all(|k| p[k].abs() < half[k] - 1e-9);
    let moved = nodes.vertices().iter().enumerate().map(|(i, p)| {
        let noise = Vector3::from_fn(|k, _| 0.2 * share * ((5 * i + 3 * k) as f64).sin());
        if inside(p) { p + noise } else { *p }
    });
    let elements = elements.iter().map(|nodes| nodes.map(|node| node.0));
    let options = TetOptions::default();
    TetMesh::build_quadratic(moved.collect(), elements.collect(), &options)
        .unwrap()
        .0
}

#[test]
fn an_affine_boundary_gives_an_affine_interior_of_curved_elements() {
    let mesh = curved_box(0.1);
    let nodes = Element::Quadratic.mesh_of_nodes(&mesh).unwrap();
    let mut skin: Vec<u32> = (nodes.boundary().triangles.iter().flatten())
        .map(|v| v.0)
        .collect();
    skin.sort_unstable();
    skin.dedup();
    assert!(skin.len() + 20 < nodes.vertices().len());
    let turn = Rotation3::new(Vector3::new(0.3, -0.2, 0.9));
    let stretch = Matrix3::new(1.1, 0.05, 0.0, 0.0, 0.95, 0.1, 0.02, 0.0, 1.03);
    let rubber = MooneyRivlin::new(1.2e4, 0.7e4, 8e4).unwrap();
    let laws = LawKind::ALL.map(|law| {
        let lame = Lame::from_young_poisson(1e5, 0.3).unwrap();
        (law == LawKind::Linear, law.of(lame).unwrap())
    });
    for (linear, material) in laws
        .into_iter()
        .chain([(false, Arc::new(rubber) as Arc<_>)])
    {
        let name = format!("{material:?}");
        let F = match linear {
            true => stretch,
            false => turn.matrix() * stretch,
        };
        let builder = FemBuilder::new(mesh.clone(), material, 1000.0).damping(UNDAMPED);
        let body = built(builder.element(Element::Quadratic));
        let mut state = body.default_state();
        // The inner nodes start with the rotation of the boundary, but not stretched.
        let start = match linear {
            true => Matrix3::identity(),
            false => *turn.matrix(),
        };
        for (i, q) in state.q.chunks_exact_mut(3).enumerate() {
            let on_skin = skin.binary_search(&(i as u32)).is_ok();
            let map = if on_skin { F } else { start };
            let moved = map * Vector3::from_column_slice(q);
            q.copy_from_slice(moved.as_slice());
        }
        let held = body.holding(&skin, &Axis::ALL, &Vector3::zeros());
        Alone::new(&body, STATIC_S)
            .driven(held)
            .steps(&mut state, 12);
        for (i, p) in body.mesh().vertices().iter().enumerate() {
            let error = (place(&state, i) - F * p).norm();
            assert!(error < 1e-9, "{name}: node {i} is {error:e} m off");
        }
    }
}

#[test]
fn few_cells_across_bend_as_a_beam_at_any_poisson_ratio() {
    for (n, nu, error) in [
        (1, 0.3, 0.04),
        (1, 0.47, 0.04),
        (1, 0.499, 0.04),
        (2, 0.0, 0.03),
        (2, 0.3, 0.03),
        (2, 0.47, 0.03),
        (2, 0.499, 0.03),
    ] {
        let mesh = beam(n, 0.0);
        let found = deflection(Element::Quadratic, mesh, LawKind::LinearCorotated, nu);
        eprintln!("{n} cells, nu {nu}: {found:.4}");
        assert!((found - 1.0).abs() < error, "{n} cells, nu {nu}: {found}");
    }
}

#[test]
#[ignore = "half a minute"]
fn four_cells_across_bend_as_a_beam() {
    for nu in [0.3, 0.47, 0.499] {
        let law = LawKind::LinearCorotated;
        let found = deflection(Element::Quadratic, beam(4, 0.0), law, nu);
        eprintln!("4 cells, nu {nu}: {found:.4}");
        assert!((found - 1.0).abs() < 0.03, "nu {nu}: {found}");
    }
}

#[test]
fn crooked_beams_of_any_law_bend_right() {
    for nu in [0.3, 0.47, 0.499] {
        let law = LawKind::LinearCorotated;
        let found = deflection(Element::Quadratic, beam(2, 0.2), law, nu);
        eprintln!("crooked, nu {nu}: {found:.4}");
        assert!((found - 1.0).abs() < 0.04, "nu {nu}: {found}");
    }
    for law in LawKind::ALL {
        let found = deflection(Element::Quadratic, beam(2, 0.2), law, 0.49);
        eprintln!("{law}: {found:.4}");
        assert!((found - 1.0).abs() < 0.03, "{law}: {found}");
    }
}

#[test]
fn a_free_body_has_six_zero_modes_and_no_soft_ones() {
    for nu in [0.3, 0.499] {
        for n in [1, 2] {
            let mesh = tet_cuboid(Vector3::repeat(0.05), [n; 3]).unwrap();
            let builder = FemBuilder::new(mesh, corotated(1e5, nu), 1000.0).damping(UNDAMPED);
            let found = modes(&built(builder.element(Element::Quadratic)));
            let zero = found.iter().filter(|x| (**x - 1.0).abs() < 1e-3).count();
            assert_eq!(zero, 6, "{n} cells, nu {nu}: {:?}", &found[..8]);
            // As for smoothed elements of half the width: ω²ρa²/E is 2.8 and 2.45 at ν 0.3 and 0.4999 by an independent program with finer ones,
            // and lumped masses lower it on coarse ones.
            let lowest = (found[6] - 1.0) * 1000.0 * 0.01 / 1e5;
            eprintln!("{n} cells, nu {nu}: lowest {lowest:.3}");
            assert!(
                lowest > if n == 1 { 1.3 } else { 1.8 } && lowest < 3.2,
                "{n} cells, nu {nu}: {lowest}"
            );
        }
    }
}

#[test]
fn a_clamped_bar_vibrates_at_the_frequency_of_its_beam() {
    // ω₀ = 1.8751² √(EI/ρA)/L² for a slender beam. Rotary inertia and shear, by Rayleigh's quotients of its mode with ∫w′²/∫w² = 4.648/L²:
    // ω/ω₀ ≈ 1 − (r/L)²/2 · 4.648 (1 + E/κG), r² = h²/12, κ = 5/6.
    let (E, nu, density) = (1e6, 0.3, 1000.0);
    let (side, length) = (0.1_f64, 1.0_f64);
    let slender = 1.8751_f64.powi(2) * (E * side * side / (12.0 * density)).sqrt() / length.powi(2);
    let thickness = side * side / 12.0 / length.powi(2);
    let expected = 1.0 - 0.5 * thickness * 4.648 * (1.0 + 2.0 * (1.0 + nu) * 6.0 / 5.0);
    for mass in [MassKind::Lumped, MassKind::Consistent] {
        let wall = Region::HalfSpace {
            point: Vector3::new(-0.5, 0.0, 0.0),
            normal: Vector3::x(),
        };
        let builder = FemBuilder::new(beam(1, 0.0), corotated(E, nu), density)
            .element(Element::Quadratic)
            .mass(mass)
            .damping(UNDAMPED)
            .fix(wall, &Axis::ALL);
        let body = built(builder);
        let tip = body.mesh().vertices().iter().position(|p| p.x > 0.499);
        let tip = tip.expect("the beam has an end");
        // The first mode, by a cubic in x; the rest of it is small.
        let mut state = body.default_state();
        for (v, p) in state.v.chunks_exact_mut(3).zip(body.mesh().vertices()) {
            let x = p.x + 0.5;
            v[2] = 1e-3 * (6.0 * x * x - 4.0 * x.powi(3) + x.powi(4)) / 3.0;
        }
        let dt = 1e-3;
        let step = TimeStep {
            length_s: dt,
            integration: Integration::Midpoint,
        };
        let mut alone = Alone::new(&body, step);
        let (mut before, mut crossings) = (0.0, Vec::new());
        for k in 0..3000 {
            alone.step(&mut state);
            let now = place(&state, tip).z - body.mesh().vertices()[tip].z;
            if k > 0 && before * now < 0.0 {
                crossings.push(f64::from(k) + before / (before - now));
            }
            before = now;
        }
        let halves = (crossings.len() - 1) as f64;
        let period = 2.0 * dt * (crossings[crossings.len() - 1] - crossings[0]) / halves;
        let found = 2.0 * std::f64::consts::PI / period / slender;
        eprintln!("{mass:?}: {found:.4} of a slender beam, expected {expected:.4}");
        assert!((found / expected - 1.0).abs() < 0.006, "{mass:?}: {found}");
    }
}

fn block() -> TetMesh {
    tet_cuboid(Vector3::new(0.06, 0.04, 0.03), [2, 1, 1]).unwrap()
}

fn of_law(law: LawKind, nu: f64) -> FemBuilder {
    let material = law.of(Lame::from_young_poisson(1e5, nu).unwrap()).unwrap();
    FemBuilder::new(block(), material, 1000.0).element(Element::Quadratic)
}

#[test]
fn a_quadratic_body_of_any_law_and_setting_passes_the_conformance_checks() {
    for law in LawKind::ALL {
        for nu in [0.4, 0.495] {
            check(of_law(law, nu), false);
        }
    }
    let rubber = MooneyRivlin::new(1e4, 5e3, 1e6).unwrap();
    let rubber = FemBuilder::new(block(), Arc::new(rubber), 1000.0);
    check(rubber.element(Element::Quadratic), false);
    let wall = || Region::HalfSpace {
        point: Vector3::new(-0.06, 0.0, 0.0),
        normal: Vector3::x(),
    };
    for law in [LawKind::LinearCorotated, LawKind::StableNeoHookean] {
        let builder = || of_law(law, 0.47);
        check(builder().mass(MassKind::Consistent), false);
        check(builder().rotation(Rotation::Lagged), false);
        check(builder().fix(wall(), &Axis::ALL), false);
        let held = builder().fix(wall(), &[Axis::X]);
        check(held.mass(MassKind::Consistent), false);
        check(builder().preconditioning(Preconditioning::RestShape), false);
        check(builder().kinematics(Kinematics::PlaneStrain), true);
        check(builder().contact_radius(2e-3), false);
        let field = UniformForce(Vector3::new(3e3, 0.0, 1e3));
        check(builder().force_field(Arc::new(field)), false);
        let stiffer = law.of(Lame::from_young_poisson(1e6, 0.3).unwrap()).unwrap();
        let half = Region::HalfSpace {
            point: Vector3::zeros(),
            normal: Vector3::x(),
        };
        let layered = builder().part(Elements::Within(half), stiffer, 500.0);
        check(layered, false);
    }
    // No volumetric part.
    check(of_law(LawKind::Corotational, -0.2), false);
}

#[test]
fn a_curved_body_has_its_volume_mass_and_weight() {
    // One octant's worth of a bent element: a tetrahedron whose edges bulge. Its volume is that of the integral of det J.
    let straight = tet_cuboid(Vector3::repeat(0.05), [1, 1, 1]).unwrap();
    let (nodes, elements) = QuadraticMesh::of(&straight).unwrap().into_parts();
    let bulged = nodes.vertices().iter().map(|p| {
        // The nodes of the cube's edges and faces on a sphere of their distance and a little more.
        p * (1.0 + 2.0 * (0.0075 - p.norm_squared()) / 0.0075 * 0.1)
    });
    let elements = elements.iter().map(|nodes| nodes.map(|node| node.0));
    let options = TetOptions::default();
    let mesh = TetMesh::build_quadratic(bulged.collect(), elements.collect(), &options);
    let mesh = mesh.unwrap().0;
    for mass in [MassKind::Lumped, MassKind::Consistent] {
        let builder = FemBuilder::new(mesh.clone(), corotated(1e5, 0.3), 1000.0);
        let body = built(builder.element(Element::Quadratic).mass(mass));
        let state = body.default_state();
        let flat = body.mesh().solid_moments().volume;
        let volume = body.volume(&state);
        assert!(volume > 1.01 * flat, "{volume} and {flat}");
        assert!((body.mass() - 1000.0 * volume).abs() < 1e-12);
        let lumped: f64 = body.vertex_masses().iter().sum();
        assert!(
            (lumped - body.mass()).abs() < 1e-14 && body.vertex_masses().iter().all(|m| *m > 0.0)
        );
        let moving = body.rigid_state(&Isometry3::identity(), &Vector3::zeros(), &Vector3::x());
        let energy = body.energy(&moving, &Vector3::zeros());
        assert!((energy.linear_momentum_W.x - body.mass()).abs() < 1e-12);
        assert!((energy.kinetic - 0.5 * body.mass()).abs() < 1e-12);
    }
}

#[test]
fn a_uniform_field_carries_a_body_as_gravity_does() {
    // A field against the weight: nothing moves, at any node.
    let field = UniformForce(Vector3::new(0.0, 0.0, 9810.0));
    let builder = of_law(LawKind::StableNeoHookean, 0.4).force_field(Arc::new(field));
    let body = built(builder.damping(UNDAMPED));
    let mut state = body.default_state();
    Alone::new(&body, 1e-3).under(GRAVITY).steps(&mut state, 5);
    let fastest = state.v.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
    assert!(fastest < 1e-12, "{fastest:e}");
}

#[test]
fn a_cube_rests_on_a_floor_with_its_weight() {
    for touch in TOUCHES {
        let mesh = tet_cuboid(Vector3::repeat(0.05), [1, 1, 1]).unwrap();
        let above = Isometry3::translation(0.0, 0.0, 0.0501);
        let cube = FemBuilder::new(mesh, corotated(1e5, 0.3), 1000.0).pose(above);
        let mut builder = WorldBuilder::default();
        add_floor(&mut builder, surface(0.5));
        let cube = built(cube.element(Element::Quadratic));
        let (cube, _) = add_soft(&mut builder, "cube", cube, surface(0.5), touch);
        let world = builder.build().unwrap();
        let (mut state, dt) = (world.default_state(), 5e-3);
        run(&world, &mut state, dt, 1.0, |_, _| {});
        let before = state.clone();
        run(&world, &mut state, dt, dt, |_, _| {});
        let force = wrench_from_outside(&world, cube, (&before, &state), dt).force;
        let speed = center_velocity(&state, cube).norm();
        eprintln!("{touch:?}: {:.6} N, {speed:.1e} m/s", force.z);
        assert!((force.z - 9.81).abs() < 1e-2, "{touch:?}: {force}");
        assert!(speed < 1e-3, "{touch:?}: {speed}");
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
        for tet in 0..body.mesh().tets().len() as u32 {
            let stress = body.cauchy_stress(&state, TetIdx(tet));
            assert!((stress[(0, 0)] - 100.0).abs() < 0.3, "{stress}");
            assert!(stress[(1, 1)].abs() < 1e-6 && stress[(0, 1)].abs() < 1e-6);
        }
    }
}

#[test]
fn stress_of_a_bent_beam_is_linear_across_it() {
    // u_x = κxz, u_z = −κ(x² + ν(z² − y²))/2, u_y = −κνyz: σ_xx = Eκz and no other.
    let (E, nu, kappa) = (1e6, 0.2, 0.01);
    let mesh = tet_cuboid(Vector3::new(0.2, 0.05, 0.05), [4, 1, 1]).unwrap();
    let material = LawKind::Linear.of(Lame::from_young_poisson(E, nu).unwrap());
    let builder = FemBuilder::new(mesh, material.unwrap(), 1000.0);
    let body = built(builder.element(Element::Quadratic));
    let mut state = body.default_state();
    for p in state.q.chunks_exact_mut(3) {
        let [x, y, z] = [p[0], p[1], p[2]];
        p[0] += kappa * x * z;
        p[1] -= kappa * nu * y * z;
        p[2] -= 0.5 * kappa * (x * x + nu * (z * z - y * y));
    }
    for tet in (0..body.mesh().tets().len() as u32).map(TetIdx) {
        let middle = body.mesh().corners(tet).iter().sum::<Vector3<f64>>() / 4.0;
        let mut stress = body.cauchy_stress(&state, tet);
        stress[(0, 0)] -= E * kappa * middle.z;
        // P Fᵀ/det F of strains of 5e-4 and rotations of 2e-3.
        let largest = E * kappa * 0.05;
        assert!(
            stress.amax() < 5e-3 * largest,
            "{tet:?} at {middle}: {stress}"
        );
    }
}

/// A body of the corner tetrahedron of a cube of 1 m, with nodes of edges at these places.
fn single(places: [[f64; 3]; 6]) -> FemBuilder {
    let corners = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    let nodes = corners.into_iter().chain(places.map(Vector3::from));
    let element = std::array::from_fn(|k| k as u32);
    let options = TetOptions::default();
    let mesh = TetMesh::build_quadratic(nodes.collect(), vec![element], &options);
    let builder = FemBuilder::new(mesh.unwrap().0, corotated(1e5, 0.3), 1000.0);
    builder.element(Element::Quadratic)
}

#[test]
fn a_folded_element_is_refused_and_one_that_folds_at_a_corner_is_reported() {
    // Upright tetrahedra between the nodes, and det J = −0.15 at a point of the rule of degree 5.
    let folded = single([
        [0.55, -0.04, 0.3],
        [0.59, 0.9, -0.16],
        [0.05, 0.75, 0.17],
        [0.03, -0.28, 0.62],
        [0.54, 0.42, 0.63],
        [0.43, 0.48, 0.58],
    ]);
    match folded.build() {
        Err(error @ FemError::FoldedElement { element: 0, .. }) => {
            let text = error.to_string();
            assert!(
                text.contains("det J = -") && text.contains("move the nodes"),
                "{text}"
            );
        }
        other => panic!("{:?}", other.err()),
    }
    // Nodes at 0.18 of three edges: only at the corner between them.
    let (_, report) = single([
        [0.18, 0.0, 0.0],
        [0.5, 0.5, 0.0],
        [0.0, 0.18, 0.0],
        [0.0, 0.0, 0.18],
        [0.5, 0.0, 0.5],
        [0.0, 0.5, 0.5],
    ])
    .build()
    .unwrap();
    assert!(
        report.to_string().contains("folded at a corner"),
        "{report}"
    );
}

#[test]
fn linear_elements_report_that_they_ignore_nodes_on_edges() {
    for element in [Element::Linear, Element::Smoothed] {
        let builder = FemBuilder::new(curved_box(0.05), corotated(1e5, 0.3), 1000.0);
        let (body, report) = builder.element(element).build().unwrap();
        assert_eq!(body.mesh().vertices().len(), 4 * 3 * 3);
        let words = ["nodes on edges", "\"quadratic\""];
        assert!(
            words.iter().all(|word| report.to_string().contains(word)),
            "{report}"
        );
    }
}

#[test]
fn steps_are_equal_to_the_last_bit_on_any_number_of_threads() {
    let steps = |threads: usize, law: LawKind| -> BodyState {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mesh = tet_cuboid(Vector3::repeat(0.05), [4, 4, 4]).unwrap();
            let material = law
                .of(Lame::from_young_poisson(1e5, 0.45).unwrap())
                .unwrap();
            let body = built(FemBuilder::new(mesh, material, 1000.0).element(Element::Quadratic));
            let pose = Isometry3::identity();
            let mut state = body.rigid_state(&pose, &Vector3::new(3.0, 5.0, -2.0), &Vector3::x());
            Alone::new(&body, 2e-3).under(GRAVITY).steps(&mut state, 2);
            state
        })
    };
    for law in [LawKind::LinearCorotated, LawKind::StableNeoHookean] {
        let (one, two) = (steps(1, law), steps(2, law));
        assert!(one.q == two.q && one.v == two.v, "{law}");
    }
}
