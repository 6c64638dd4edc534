//! The θ-family with soft bodies: predicted gaps, states of rest, and orders of convergence of the default law and of contact.

use crate::support::touching::{Touch, add_floor, add_soft, run, run_by};
use crate::support::{Alone, GRAVITY, UNDAMPED, built, corotated, place};
use nalgebra::{Isometry3, Point3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::{BodyError, DeformableModel, Integration, TimeStep};
use pliant_coupling::{
    ContactSettings, DissipationRule, Geometry, Mount, State, World, WorldBuilder,
};
use pliant_fem::{Axis, Element, FemBody, FemBuilder, LawKind, MassKind, Region};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};

fn rubber() -> ContactMaterial {
    ContactMaterial {
        stiffness: 2e3,
        dissipation: 0.5,
        ..ContactMaterial::default()
    }
}

/// A cube of 0.1 m and 1 kg with its lower side at `height`, undamped.
fn world_with_cube(height: f64) -> World {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    let pose = Isometry3::translation(0.0, 0.0, 0.05 + height);
    let cube = FemBuilder::new(mesh, corotated(1e5, 0.3), 1000.0)
        .element(Element::Linear)
        .damping(UNDAMPED);
    let mut builder = WorldBuilder::default();
    add_floor(&mut builder, rubber());
    add_soft(
        &mut builder,
        "cube",
        built(cube.pose(pose)),
        rubber(),
        Touch::Vertices,
    );
    builder.build().unwrap()
}

#[test]
fn the_predicted_gap_of_a_soft_body_is_the_gap_of_the_next_state() {
    let pair = rubber().combined_with(&rubber());
    for integration in Integration::ALL {
        let world = world_with_cube(1e-3);
        let mut state = world.default_state();
        for v in state.bodies[0].v.chunks_exact_mut(3) {
            v.copy_from_slice(&[0.2, 0.0, -1.0]);
        }
        let (mut closed, mut worst) = (0, 0.0_f64);
        run_by(
            integration,
            &world,
            &mut state,
            1e-3,
            0.3,
            |report, after| {
                // The floor is A, and its force is the reaction.
                let force: f64 = report.contacts.iter().map(|c| -c.force_W.z).sum();
                let body = &after.bodies[0];
                let law = body
                    .q
                    .chunks_exact(3)
                    .zip(body.v.chunks_exact(3))
                    .map(|(q, v)| {
                        pair.stiffness * (-q[2]).max(0.0) * (1.0 - pair.dissipation * v[2]).max(0.0)
                    });
                worst = worst.max((force - law.sum::<f64>()).abs());
                closed += usize::from(force > 0.0);
            },
        );
        eprintln!("{integration:?}: in contact for {closed} steps, off by {worst:.1e} N");
        assert!(worst < 1e-3, "{integration:?}: {worst:e} N");
        assert!(closed > 20, "{integration:?}: {closed} steps");
    }
}

#[test]
fn a_soft_body_at_rest_stays_at_rest_with_every_integration() {
    // Backward Euler brings it to rest.
    let mut resting = {
        let world = world_with_cube(-1e-3);
        let mut state = world.default_state();
        run(&world, &mut state, 0.01, 20.0, |_, _| {});
        state
    };
    resting.time_s = 0.0;
    for integration in Integration::ALL {
        let world = world_with_cube(-1e-3);
        let mut state = State {
            bodies: resting.bodies.clone(),
            ..world.default_state()
        };
        let mut force = 0.0;
        run_by(integration, &world, &mut state, 1e-3, 0.5, |report, _| {
            let on_cube = report.contact_wrench(&Point3::origin(), |g| g.0 == 1);
            force = on_cube.force.z;
        });
        let moved = state.bodies[0].q.iter().zip(&resting.bodies[0].q);
        let moved = moved.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        eprintln!("{integration:?}: {force:.9} N, moved by {moved:.1e} m");
        assert!((force - 9.81).abs() < 1e-5, "{integration:?}: {force} N");
        // It creeps at 1e-7 m/s, as vertices do, a millimetre deep.
        assert!(moved < 2e-7, "{integration:?}: {moved:e} m");
    }
}

/// Position of a corner of a stretched, rotating, falling cube of the default law after a twentieth of a second in `n` steps.
fn swing(integration: Integration, n: usize) -> Vector3<f64> {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    let body = built(FemBuilder::new(mesh, corotated(3e4, 0.3), 1000.0).damping(UNDAMPED));
    let omega = Vector3::new(2.0, -5.0, 8.0);
    let mut state = body.rigid_state(&Isometry3::identity(), &omega, &Vector3::x());
    for q in state.q.chunks_exact_mut(3) {
        q[0] *= 1.2;
        q[1] += 0.1 * q[0];
    }
    let time_step = TimeStep {
        length_s: 0.05 / n as f64,
        integration,
    };
    Alone::new(&body, time_step)
        .under(GRAVITY)
        .steps(&mut state, n);
    place(&state, 0)
}

/// It is linear about the rotation at the start of a step, which makes every rule one of first order. Nonlinear laws are of second order by
/// the midpoint rule (`implicit`).
#[test]
fn the_default_law_converges_at_the_order_of_the_integration() {
    for integration in Integration::ALL {
        let ends = [800, 1600, 3200].map(|n| swing(integration, n));
        let order = ((ends[0] - ends[1]).norm() / (ends[1] - ends[2]).norm()).log2();
        eprintln!("{integration:?}: order {order:.3}");
        let expected = match integration {
            Integration::Midpoint => 2.0,
            Integration::BackwardEuler | Integration::Symplectic => 1.0,
        };
        assert!((order - expected).abs() < 0.1, "{integration:?}: {order}");
    }
}

/// Position of a corner of a block of Hooke's law 50 ms after the release of a plate that penetrates it by 6 mm, in `n` steps. They stay in
/// contact, with the given relaxation time.
fn pressed(integration: Integration, n: usize, relaxation_time_s: f64) -> Vector3<f64> {
    let lame = Lame::from_young_poisson(3e4, 0.3).unwrap();
    let law = LawKind::Linear.of(lame).unwrap();
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    let foot = Region::HalfSpace {
        point: Vector3::z() * -0.05,
        normal: Vector3::z(),
    };
    let block = FemBuilder::new(mesh, law, 1000.0).damping(UNDAMPED);
    let block = built(block.fix(foot, &Axis::ALL));
    let material = ContactMaterial {
        stiffness: 200.0,
        friction: 0.0,
        relaxation_time_s: 0.5 * relaxation_time_s,
        ..ContactMaterial::default()
    };
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros()).contact(ContactSettings {
        dissipation: DissipationRule::RelaxationTime,
        ..ContactSettings::default()
    });
    let above = Mount::World(Isometry3::translation(0.0, 0.0, 0.044 + 0.05));
    let plate = Shape::cuboid(Vector3::new(1.0, 1.0, 0.1)).unwrap();
    builder.add_geometry(Geometry::new("plate", above, plate, material));
    add_soft(&mut builder, "block", block, material, Touch::Vertices);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let mut least = f64::INFINITY;
    let dt = 0.05 / n as f64;
    run_by(integration, &world, &mut state, dt, 0.05, |report, _| {
        let pressing = report.contacts.iter().filter(|c| c.force_W.norm() > 0.0);
        least = least.min(pressing.count() as f64);
    });
    assert!(least >= 9.0, "{least} vertices press");
    place(&state.bodies[0], 26)
}

/// Contact forces depend on the gap at the end of a step: of first order by every rule.
#[test]
fn with_contact_every_integration_converges_at_first_order() {
    for integration in Integration::ALL {
        let ends = [800, 1600, 3200].map(|n| pressed(integration, n, 0.0));
        let order = ((ends[0] - ends[1]).norm() / (ends[1] - ends[2]).norm()).log2();
        eprintln!("{integration:?} with contact: order {order:.3}");
        assert!((order - 1.0).abs() < 0.1, "{integration:?}: {order}");
    }
}

/// By the midpoint rule the gap at the end is that at the midpoint plus δt v/2: the error of first order is that of a relaxation time of
/// δt/2, k(−φ − τ v_n) with τ = δt/2. Compared with contact of this relaxation time in very short steps, the rule is of second order.
#[test]
fn the_midpoint_rule_adds_half_a_step_of_relaxation_to_contact_up_to_second_order() {
    let exact = pressed(Integration::Midpoint, 12_800, 0.0);
    let [(first, left), (halved, left_halved)] = [400, 800].map(|n| {
        let (dt, shorter) = (0.05 / n as f64, 0.05 / (8 * n) as f64);
        let found = pressed(Integration::Midpoint, n, 0.0);
        let relaxing = pressed(Integration::Midpoint, 8 * n, 0.5 * (dt - shorter));
        ((found - exact).norm(), (found - relaxing).norm())
    });
    let (order, of_left) = ((first / halved).log2(), (left / left_halved).log2());
    eprintln!(
        "off by {first:.2e} m, order {order:.3}; from contact that relaxes by {left:.2e} m, order {of_left:.3}"
    );
    assert!((order - 1.0).abs() < 0.1, "{order}");
    assert!((of_left - 2.0).abs() < 0.2, "{of_left}");
    assert!(left < 0.1 * first);
}

/// The largest factor by which the energy of a cube that vibrates freely grows within 400 explicit steps.
fn growth(body: &FemBody, length_s: f64) -> Result<f64, BodyError> {
    let time_step = TimeStep {
        length_s,
        integration: Integration::Symplectic,
    };
    let mut state = body.default_state();
    for (i, v) in state.v.iter_mut().enumerate() {
        *v = 0.01 * (1.7 * i as f64).sin();
    }
    let total = |state: &_| {
        let energy = body.energy(state, &Vector3::zeros());
        energy.kinetic + energy.potential
    };
    let before = total(&state);
    let mut alone = Alone::new(body, time_step);
    let mut most = 1.0_f64;
    for _ in 0..400 {
        alone.try_step(&mut state)?;
        most = most.max(total(&state) / before);
    }
    Ok(most)
}

#[test]
fn explicit_steps_are_stable_up_to_the_limit_and_refused_beyond() {
    for (element, mass) in [
        (Element::Linear, MassKind::Lumped),
        (Element::Linear, MassKind::Consistent),
        (Element::Smoothed, MassKind::Lumped),
        (Element::Smoothed, MassKind::Consistent),
        (Element::Quadratic, MassKind::Lumped),
        (Element::Quadratic, MassKind::Consistent),
    ] {
        let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
        let builder = FemBuilder::new(mesh, corotated(1e5, 0.4), 1000.0).damping(UNDAMPED);
        let body = built(builder.element(element).mass(mass));
        let Err(BodyError::Unstable { stable_s, .. }) = growth(&body, 0.1) else {
            panic!("{element:?}, {mass:?}: 0.1 s is far too long");
        };
        let within = growth(&body, 0.98 * stable_s).expect("short enough");
        // Symplectic Euler keeps a modified energy, which differs from E most near the limit.
        assert!(
            within < 20.0,
            "{element:?}, {mass:?}: energy grows {within} times"
        );
        assert!(
            growth(&body, 1.02 * stable_s).is_err(),
            "{element:?}, {mass:?}"
        );
    }
}
