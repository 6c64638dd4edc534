//! Bodies at rest, and in free fall, against closed forms.

use std::sync::Arc;

use crate::support::{Alone, GRAVITY, UNDAMPED, built, corotated, largest_speed, place};
use nalgebra::{Isometry3, Matrix3, Rotation3, Vector3};
use pliant_constitutive::{
    Corotational, Lame, MooneyRivlin, NeoHookean, PrincipalLaw, StableNeoHookean,
};
use pliant_contact_sap::{Control, DeformableModel, Integration, TimeStep};
use pliant_fem::{
    AnchorCompliance, Axis, Element, FemBuilder, Kinematics, LawKind, MassKind, Material, Region,
};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{TetMesh, TetOptions};

/// Steps so long that inertia is negligible: each is a Newton iteration for the static state.
const STATIC_S: f64 = 1e4;

/// Every law by its name, all of about the same stiffness.
fn laws() -> Vec<(&'static str, Arc<dyn Material>)> {
    let of_hooke = LawKind::ALL.into_iter().map(|law| {
        let lame = Lame::from_young_poisson(1e5, 0.3).unwrap();
        (law.name(), law.of(lame).unwrap())
    });
    let mooney_rivlin = Arc::new(MooneyRivlin::new(1.2e4, 0.7e4, 8e4).unwrap());
    let own: (_, Arc<dyn Material>) = ("mooney-rivlin", mooney_rivlin);
    of_hooke.chain([own]).collect()
}

/// A box whose inner vertices are perturbed by a tenth of a cell.
fn crooked_box() -> TetMesh {
    let half = Vector3::new(0.3, 0.2, 0.25);
    let straight = tet_cuboid(half, [4, 3, 3]).unwrap();
    let inside = |p: &Vector3<f64>| (0..3).all(|k| p[k].abs() < half[k] - 1e-9);
    let vertices = straight.vertices().iter().enumerate().map(|(i, p)| {
        if inside(p) {
            p + Vector3::from_fn(|k, _| 0.015 * ((5 * i + 3 * k) as f64).sin())
        } else {
            *p
        }
    });
    let tets = straight.tets().iter().map(|t| t.map(|v| v.0)).collect();
    TetMesh::build(vertices.collect(), tets, &TetOptions::default())
        .unwrap()
        .0
}

#[test]
fn an_affine_boundary_gives_an_affine_interior() {
    let mesh = crooked_box();
    let mut skin: Vec<u32> = mesh
        .boundary()
        .triangles
        .iter()
        .flatten()
        .map(|v| v.0)
        .collect();
    skin.sort_unstable();
    skin.dedup();
    assert!(skin.len() < mesh.vertices().len());
    let turn = Rotation3::new(Vector3::new(0.3, -0.2, 0.9));
    let stretch = Matrix3::new(1.1, 0.05, 0.0, 0.0, 0.95, 0.1, 0.02, 0.0, 1.03);
    let elements = [Element::Linear, Element::Smoothed];
    for (element, (law, material)) in elements
        .into_iter()
        .flat_map(|element| laws().into_iter().map(move |law| (element, law)))
    {
        let F = if law == LawKind::Linear.name() {
            stretch
        } else {
            turn.matrix() * stretch
        };
        let builder = FemBuilder::new(mesh.clone(), material, 1000.0).damping(UNDAMPED);
        let body = built(builder.element(element));
        let mut state = body.default_state();
        // The inner vertices start with the rotation of the boundary, but not stretched.
        let start = if law == LawKind::Linear.name() {
            Matrix3::identity()
        } else {
            *turn.matrix()
        };
        for (i, q) in state.q.chunks_exact_mut(3).enumerate() {
            let map = if skin.binary_search(&(i as u32)).is_ok() {
                F
            } else {
                start
            };
            let moved = map * Vector3::from_column_slice(q);
            q.copy_from_slice(moved.as_slice());
        }
        let held = body.holding(&skin, &Axis::ALL, &Vector3::zeros());
        let mut alone = Alone::new(&body, STATIC_S).driven(held);
        alone.steps(&mut state, 12);
        for (i, p) in mesh.vertices().iter().enumerate() {
            let error = (place(&state, i) - F * p).norm();
            assert!(
                error < 1e-9,
                "{element:?}, {law}: vertex {i} is {error:e} m off"
            );
        }
    }
}

#[test]
fn free_fall_is_exact_by_every_integration() {
    for integration in Integration::ALL {
        for mass in [MassKind::Lumped, MassKind::Consistent] {
            let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
            // Symplectic Euler takes no damping and only steps shorter than a wave needs through an element.
            let builder = FemBuilder::new(mesh, corotated(1e5, 0.4), 1000.0).damping(UNDAMPED);
            let body = built(builder.mass(mass));
            let turn = Rotation3::new(Vector3::new(0.5, -1.0, 0.3));
            let pose = Isometry3::from_parts(Vector3::new(0.0, 0.0, 10.0).into(), turn.into());
            let v0 = Vector3::new(1.0, -2.0, 3.0);
            let mut state = body.rigid_state(&pose, &Vector3::zeros(), &v0);
            let start = state.clone();
            let time_step = TimeStep {
                length_s: 5e-4,
                integration,
            };
            let mut alone = Alone::new(&body, time_step).under(GRAVITY);
            let n = 50;
            alone.steps(&mut state, n);
            let (n, dt) = (n as f64, 5e-4);
            let velocity = v0 + GRAVITY * (n * dt);
            // The sum of n steps: trapezoids for the midpoint rule, upper sums for the others.
            let more = match integration {
                Integration::Midpoint => 0.5 * n * n,
                _ => 0.5 * n * (n + 1.0),
            };
            let way = v0 * (n * dt) + GRAVITY * (more * dt * dt);
            for i in 0..body.mesh().vertices().len() {
                let v = Vector3::from_column_slice(&state.v[3 * i..3 * i + 3]);
                // Fifty solves with matrices of condition 1e4.
                assert!(
                    (v - velocity).norm() < 1e-10,
                    "{integration:?}: {:e}",
                    (v - velocity).norm()
                );
                assert!((place(&state, i) - place(&start, i) - way).norm() < 1e-11);
            }
        }
    }
}

#[test]
fn linear_momentum_is_conserved_by_a_tumbling_body() {
    let mesh = tet_cuboid(Vector3::new(0.06, 0.04, 0.03), [3, 2, 2]).unwrap();
    for (law, material) in laws() {
        let body = built(FemBuilder::new(mesh.clone(), material, 1000.0));
        let mut state = body.rigid_state(
            &Isometry3::identity(),
            &Vector3::new(5.0, 3.0, -4.0),
            &Vector3::new(1.0, 0.0, 2.0),
        );
        let momentum = |state: &_| body.energy(state, &Vector3::zeros()).linear_momentum_W;
        let before = momentum(&state);
        Alone::new(&body, 2e-3).steps(&mut state, 100);
        let change = (momentum(&state) - before).norm() / before.norm();
        assert!(change < 1e-11, "{law}: {change:e}");
    }
}

/// Tip deflection of a beam of 1 × 0.1 × 0.1 m under its own weight, clamped at one end, `n` cells through its depth.
fn deflection(n: u32, law: LawKind) -> f64 {
    let mesh = tet_cuboid(Vector3::new(0.5, 0.05, 0.05), [10 * n, n, n]).unwrap();
    let material = law.of(Lame::from_young_poisson(1e9, 0.0).unwrap()).unwrap();
    let wall = Region::HalfSpace {
        point: Vector3::new(-0.5, 0.0, 0.0),
        normal: Vector3::x(),
    };
    let builder = FemBuilder::new(mesh, material, 1000.0).element(Element::Linear);
    let body = built(builder.damping(UNDAMPED).fix(wall, &Axis::ALL));
    let mut state = body.default_state();
    let mut alone = Alone::new(&body, STATIC_S).under(GRAVITY);
    alone.steps(&mut state, 2);
    let tip = body.points_in(&Region::Box {
        min: Vector3::new(0.5, -1.0, -1.0),
        max: Vector3::repeat(1.0),
    });
    let tip = tip.unwrap();
    let heights = tip.iter().map(|p| match p.primitive {
        pliant_contact_sap::Primitive::Vertex(i) => {
            body.mesh().vertices()[i as usize].z - place(&state, i as usize).z
        }
        _ => unreachable!("a region has vertices"),
    });
    heights.sum::<f64>() / tip.len() as f64
}

#[test]
fn a_cantilever_converges_to_timoshenko_s_beam_at_second_order() {
    // w = ρgA L⁴/8EI + ρgA L²/2κGA with κ = 5/6 and G = E/2 for ν = 0.
    let (E, q, side) = (1e9, 1000.0 * 9.81 * 0.01, 0.1_f64);
    let second_moment = side.powi(4) / 12.0;
    let exact = q / (8.0 * E * second_moment) + q / (2.0 * 5.0 / 6.0 * 0.5 * E * side * side);
    // Linear elements are too stiff in bending, by a share that falls with h²: it is stiffness that is extrapolated.
    let found = [2, 4, 8].map(|n| deflection(n, LawKind::LinearCorotated));
    let stiffness = found.map(|w| 1.0 / w);
    let order = ((stiffness[0] - stiffness[1]) / (stiffness[1] - stiffness[2])).log2();
    let limit = 1.0 / (stiffness[2] - (stiffness[1] - stiffness[2]) / 3.0);
    eprintln!("deflections {found:?}, order {order:.3}, limit {limit:.6e}, beam {exact:.6e}");
    assert!((1.85..2.1).contains(&order), "order {order}");
    // The beam knows nothing of the clamp's edges, where the solid is stiffer by some tenths of a percent.
    assert!(
        (limit / exact - 1.0).abs() < 0.004,
        "{limit} against {exact}"
    );
    // Small strains: all laws agree.
    let other = deflection(2, LawKind::StableNeoHookean);
    assert!(
        (other / found[0] - 1.0).abs() < 0.01,
        "{other} against {}",
        found[0]
    );
}

#[test]
fn a_hanging_block_pulls_its_anchors_by_its_weight_and_stretches_by_theory() {
    let (length, E, density) = (0.2, 2e5, 1000.0);
    let mesh = tet_cuboid(Vector3::new(0.05, 0.05, 0.5 * length), [2, 2, 8]).unwrap();
    let top = Region::HalfSpace {
        point: Vector3::new(0.0, 0.0, 0.5 * length),
        normal: -Vector3::z(),
    };
    let builder = FemBuilder::new(mesh, corotated(E, 0.0), density);
    let body = built(builder.anchor(top, AnchorCompliance::NearRigid));
    let mut state = body.default_state();
    let mut alone = Alone::new(&body, 0.02).under(GRAVITY);
    alone.steps(&mut state, 500);
    let forces = alone.row_forces();
    let sum = |axis: usize| forces.iter().skip(axis).step_by(3).sum::<f64>();
    let weight = body.mass() * 9.81;
    assert!(
        (sum(2) / weight - 1.0).abs() < 1e-6,
        "{} of {weight}",
        sum(2)
    );
    assert!(sum(0).abs() < 1e-6 * weight && sum(1).abs() < 1e-6 * weight);
    let speed = largest_speed(&state);
    assert!(speed < 1e-7, "{speed:e}");
    let bottom = (0..9).map(|i| place(&state, i).z).sum::<f64>() / 9.0;
    let stretch = -0.5 * length - bottom;
    let exact = density * 9.81 * length * length / (2.0 * E);
    assert!(
        (stretch / exact - 1.0).abs() < 0.005,
        "{stretch} against {exact}"
    );
}

/// Lateral stretch of a bar stretched by λ, free at its sides: ∂ψ/∂σ₂ = 0.
fn lateral(law: &dyn PrincipalLaw, stretch: f64) -> f64 {
    let (mut low, mut high) = (0.2, 1.5);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if law.stresses(&Vector3::new(stretch, middle, middle)).y > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

#[track_caller]
fn check_tension(law: impl PrincipalLaw + Clone + 'static, stretch: f64) {
    let across = lateral(&law, stretch);
    let stress = law.stresses(&Vector3::new(stretch, across, across)).x;
    let (half_length, half_side) = (0.1, 0.02);
    let mesh = tet_cuboid(Vector3::new(half_length, half_side, half_side), [4, 2, 2]).unwrap();
    let at = |k: usize, sign: f64, half: f64| {
        let mut direction = Vector3::zeros();
        direction[k] = sign;
        Region::HalfSpace {
            point: -direction * -half,
            normal: -direction,
        }
    };
    // Symmetry planes at three faces, the fourth is pulled by the stress on its rest area.
    let right = at(0, 1.0, half_length)
        .vertices(&mesh, "the right end")
        .unwrap();
    let triangles = mesh.boundary().triangles.iter();
    let mut effort = vec![0.0; 3 * mesh.vertices().len()];
    for corners in triangles.map(|t| t.map(|v| v.0)) {
        if corners.iter().all(|v| right.binary_search(v).is_ok()) {
            let [a, b, c] = corners.map(|v| mesh.vertices()[v as usize]);
            let area = 0.5 * (b - a).cross(&(c - a)).norm();
            for vertex in corners {
                effort[3 * vertex as usize] += stress * area / 3.0;
            }
        }
    }
    let builder = FemBuilder::new(mesh, Arc::new(law), 1000.0)
        .damping(UNDAMPED)
        .fix(at(0, -1.0, half_length), &[Axis::X])
        .fix(at(1, -1.0, half_side), &[Axis::Y])
        .fix(at(2, -1.0, half_side), &[Axis::Z]);
    let body = built(builder);
    let mut state = body.default_state();
    // Newton from afar needs its steps held back: by inertia, at first.
    for (time_step, count) in [(0.002, 400), (0.02, 100), (STATIC_S, 10)] {
        let mut alone = Alone::new(&body, time_step);
        alone.control = Control {
            effort: effort.clone(),
            ..Control::default()
        };
        alone.steps(&mut state, count);
    }
    let x = right.iter().map(|v| place(&state, *v as usize).x);
    let found = (x.sum::<f64>() / right.len() as f64 + half_length) / (2.0 * half_length);
    assert!(
        (found / stretch - 1.0).abs() < 1e-8,
        "{found} against {stretch}"
    );
    let volume = body.volume(&state) / body.volume(&body.default_state());
    assert!((volume / (stretch * across * across) - 1.0).abs() < 1e-8);
}

#[test]
fn a_bar_pulled_to_half_again_its_length_has_the_law_s_stress() {
    check_tension(
        StableNeoHookean::new(Lame::from_young_poisson(1e5, 0.4).unwrap()),
        1.5,
    );
    check_tension(MooneyRivlin::new(2e4, 1e4, 3e5).unwrap(), 1.5);
    check_tension(
        NeoHookean::new(Lame::from_young_poisson(1e5, 0.4).unwrap()).unwrap(),
        1.5,
    );
    check_tension(
        Corotational::new(Lame::from_young_poisson(1e5, 0.3).unwrap()),
        1.2,
    );
}

#[test]
fn a_plane_strip_under_pressure_has_the_plane_strain_modulus() {
    // Between x faces pulled by t, free in y, nothing in z: ε = t (1 − ν²)/E.
    let (E, nu, strain) = (1e6, 0.3, 1e-6);
    let mesh = tet_cuboid(Vector3::new(0.5, 0.1, 0.05), [5, 2, 2]).unwrap();
    let stress = strain * E / (1.0 - nu * nu);
    let builder = FemBuilder::new(mesh, corotated(E, nu), 1000.0)
        .kinematics(Kinematics::PlaneStrain)
        .damping(UNDAMPED)
        .fix(
            Region::HalfSpace {
                point: Vector3::x() * -0.5,
                normal: Vector3::x(),
            },
            &[Axis::X],
        )
        .fix(
            Region::HalfSpace {
                point: Vector3::y() * -0.1,
                normal: Vector3::y(),
            },
            &[Axis::Y],
        );
    let body = built(builder);
    let mesh = body.mesh();
    let right = |v: u32| mesh.vertices()[v as usize].x > 0.5 - 1e-9;
    let mut effort = vec![0.0; 3 * mesh.vertices().len()];
    for corners in mesh.boundary().triangles.iter().map(|t| t.map(|v| v.0)) {
        if corners.iter().all(|v| right(*v)) {
            let [a, b, c] = corners.map(|v| mesh.vertices()[v as usize]);
            let share = stress * 0.5 * (b - a).cross(&(c - a)).norm() / 3.0;
            corners
                .iter()
                .for_each(|v| effort[3 * *v as usize] += share);
        }
    }
    let mut state = body.default_state();
    let mut alone = Alone::new(&body, STATIC_S).driven(Control {
        effort,
        ..Control::default()
    });
    alone.steps(&mut state, 3);
    for (i, p) in mesh.vertices().iter().enumerate() {
        let expected = strain * (p.x + 0.5);
        assert!(
            (place(&state, i).x - p.x - expected).abs() < 1e-4 * strain,
            "vertex {i}"
        );
        assert_eq!(place(&state, i).z, p.z);
    }
}
