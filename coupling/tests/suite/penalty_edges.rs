//! Penalty forces between the edges of deforming surfaces that cross where no vertex meets a triangle: an eight-pointed star of two square sheets.

use nalgebra::{Point3, Rotation3, Vector3};
use pliant_contact_sap::conformance::{MassSpringNet, NetSettings};
use pliant_coupling::{
    AttachmentPlace, EdgeContact, Geometry, GeometryIdx, Mount, PairRule, PenaltyForce,
    PenaltyForceSettings, State, StepReport, Stepper, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};

const G: f64 = 9.81;
const SIDE: f64 = 0.1;
const NODE_MASS: f64 = 0.01;

/// A sheet at rest and one `above` it (m), turned by 45 degrees: all corners of each are outside of the other.
fn star(edges: EdgeContact, radius: f64, above: f64, gravity: f64) -> (World, State) {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::z() * -gravity);
    for (name, z) in [("low", 0.0), ("high", above)] {
        let net = MassSpringNet::new(NetSettings {
            n: 2,
            spacing: SIDE,
            node_mass: NODE_MASS,
            stiffness: 200.0,
            damping: 0.2,
            radius,
            corner_W: Point3::new(-0.5 * SIDE, -0.5 * SIDE, z),
        });
        let body = builder.add_body(name, Box::new(net.expect("legal settings")));
        let material = ContactMaterial {
            stiffness: 200.0,
            friction: 0.4,
            ..ContactMaterial::default()
        };
        builder.add_geometry(Geometry::of_vertices(name, body, material));
    }
    let rule = PairRule {
        edges,
        ..PairRule::default()
    };
    builder.pair_rule(GeometryIdx(0), GeometryIdx(1), rule);
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), std::f64::consts::FRAC_PI_4);
    for p in state.bodies[1].q.chunks_exact_mut(3) {
        let turned = turn * Vector3::from_column_slice(p);
        p.copy_from_slice(turned.as_slice());
    }
    (world, state)
}

/// Holds all nodes of the lower sheet.
fn hold(state: &mut State) {
    state.controls[0].held = vec![Some(0.0); 12];
}

fn run(
    world: &World,
    state: &mut State,
    (dt, steps): (f64, usize),
    mut watch: impl FnMut(&StepReport),
) {
    let settings = PenaltyForceSettings {
        tolerance: 1e-10,
        ..PenaltyForceSettings::default()
    };
    let mut stepper = PenaltyForce::new(settings).expect("legal settings");
    let (mut next, mut report) = (State::default(), StepReport::default());
    for _ in 0..steps {
        stepper
            .step_into(world, state, dt, &mut next, &mut report)
            .expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.penalty_force);
        std::mem::swap(state, &mut next);
        watch(&report);
    }
}

fn lowest(state: &State) -> f64 {
    let heights = state.bodies[1].q.chunks_exact(3).map(|p| p[2]);
    heights.fold(f64::INFINITY, f64::min)
}

#[test]
fn crossing_edges_carry_a_sheet_and_keep_every_bit() {
    for radius in [0.0, 2e-3] {
        let (world, mut state) = star(EdgeContact::Crossing, radius, 2.0 * radius + 2e-3, G);
        hold(&mut state);
        run(&world, &mut state, (5e-3, 600), |_| {});
        let attachments = state.memory.attachments.clone();
        assert!(attachments.len() >= 8, "{attachments:?}");
        for attachment in &attachments {
            assert!(matches!(attachment.place, AttachmentPlace::Crossing(_)));
        }
        let (mut lifted, before) = (0.0, state.bodies[1].q.clone());
        run(&world, &mut state, (5e-3, 100), |report| {
            let on = report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1));
            lifted = on.force.z;
        });
        let weight = 4.0 * NODE_MASS * G;
        assert!((lifted - weight).abs() < 1e-6 * weight, "{lifted} {weight}");
        assert_eq!(state.memory.attachments, attachments);
        let moved = before.iter().zip(&state.bodies[1].q);
        let crept = moved.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(crept < 1e-9, "{crept:e}");
    }
}

#[test]
fn edges_pass_each_other_where_the_pair_has_none() {
    let (world, mut state) = star(EdgeContact::None, 0.0, 2e-3, G);
    hold(&mut state);
    run(&world, &mut state, (5e-3, 60), |_| {});
    assert!(lowest(&state) < -0.3, "{}", lowest(&state));
    assert!(state.memory.attachments.is_empty());
}

#[test]
fn a_collision_of_edges_keeps_momentum() {
    let (world, mut state) = star(EdgeContact::Crossing, 0.0, 2e-3, 0.0);
    for v in state.bodies[1].v.chunks_exact_mut(3) {
        v.copy_from_slice(&[0.2, -0.1, -0.5]);
    }
    let before = world.energy(&state);
    let mut met = 0.0_f64;
    run(&world, &mut state, (2e-3, 100), |report| {
        let on = report.contact_wrench(&Point3::origin(), |g| g == GeometryIdx(1));
        met += on.force.norm() * 2e-3;
    });
    let after = world.energy(&state);
    assert!(met > 1e-2, "they have met: {met}");
    let off = (after.linear_momentum_W - before.linear_momentum_W).norm();
    assert!(off < 1e-12, "{off:e}");
    // What came from above stays above.
    let mean = |b: usize| state.bodies[b].q.chunks_exact(3).map(|p| p[2]).sum::<f64>() / 4.0;
    assert!(mean(1) > mean(0), "{} {}", mean(1), mean(0));
}

#[test]
fn edges_with_a_rigid_geometry_are_refused() {
    let mut builder = WorldBuilder::default();
    let material = ContactMaterial::default();
    let net = MassSpringNet::new(NetSettings::default()).expect("legal settings");
    let body = builder.add_body("net", Box::new(net));
    builder.add_geometry(Geometry::of_vertices("net", body, material));
    let mount = Mount::World(nalgebra::Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    let rule = PairRule {
        edges: EdgeContact::Crossing,
        ..PairRule::default()
    };
    builder.pair_rule(GeometryIdx(0), GeometryIdx(1), rule);
    let error = builder.build().err().expect("a floor has no edges");
    let text = error.to_string();
    assert!(
        text.contains("edge_spacing") && text.contains("floor"),
        "{text}"
    );
}
