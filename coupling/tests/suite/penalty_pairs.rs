//! What a pair may choose under penalty forces: damping, stiffness per area, friction along an axis.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_coupling::{
    Anisotropy, Geometry, GeometryIdx, Mount, PairRule, PenaltyDamping, PenaltyForce,
    PenaltyForceSettings, State, Stepper, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::SpatialInertia;

use crate::penalty_worlds::{FLOOR, G, add_free_body, surface};

const BODY: GeometryIdx = GeometryIdx(1);

fn run(world: &World, settings: PenaltyForceSettings, dt: f64, until: f64) -> State {
    let mut stepper = PenaltyForce::new(settings).expect("legal settings");
    let mut state = world.default_state();
    for _ in 0..(until / dt).round() as usize {
        let mut next = State::default();
        let report = stepper.step(world, &state, dt, &mut next).expect("a step");
        assert!(report.is_trusted(), "{:?}", report.penalty_force);
        state = next;
    }
    state
}

/// The rebound speed of a cone of 1 kg that falls on its apex, the only particle that touches.
fn rebound(speed: f64, material: ContactMaterial, damping: PenaltyDamping, dt: f64) -> f64 {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    let upside_down = Isometry3::rotation(Vector3::x() * std::f64::consts::PI);
    add_free_body(
        &mut builder,
        "cone",
        Shape::cone(0.1, 0.4).expect("a cone"),
        SpatialInertia::solid_box(1.0, Vector3::repeat(0.2)),
        material,
        Isometry3::translation(0.0, 0.0, 0.2) * upside_down,
        [0.0, 0.0, 0.0, 0.0, 0.0, -speed],
    );
    let world = builder.build().expect("a legal world");
    let settings = PenaltyForceSettings {
        damping,
        tolerance: 1e-10,
        ..PenaltyForceSettings::default()
    };
    let end = run(&world, settings, dt, 0.15);
    end.bodies[0].v[5]
}

/// Extrapolates first-order errors of two time steps.
fn extrapolated(of: impl Fn(f64) -> f64) -> f64 {
    2.0 * of(5e-5) - of(1e-4)
}

#[test]
fn kelvin_voigt_damping_restores_what_the_damped_oscillator_does() {
    // Schwager, Pöschel (2007), eq. 21: until the force is zero, not until the depth is.
    let (k, tau, speed) = (4e3_f64, 5e-3, 0.5);
    let (beta, omega0) = (0.5 * k * tau, k.sqrt());
    let omega = (omega0 * omega0 - beta * beta).sqrt();
    let angle = (2.0 * beta * omega).atan2(omega * omega - beta * beta);
    let expected = (-beta / omega * (std::f64::consts::PI - angle)).exp();
    let material = ContactMaterial {
        relaxation_time_s: 0.5 * tau,
        ..surface(k, 0.3)
    };
    let found =
        extrapolated(|dt| rebound(speed, material, PenaltyDamping::KelvinVoigt, dt)) / speed;
    assert!((found - expected).abs() < 2e-3, "{found} {expected}");
}

#[test]
fn hunt_crossley_damping_restores_what_its_equation_does() {
    let (k, chi) = (4e3, 0.8);
    for speed in [0.25, 1.0] {
        // m v dv/dd = −k d (1 + χ v): between turning points d² k/2 = ∫ v/(1 + χ v) dv over the speed.
        let work = |v: f64| (v - (1.0 + chi * v).ln() / chi) / chi;
        let (mut low, mut high) = (-speed, 0.0);
        for _ in 0..100 {
            let v = 0.5 * (low + high);
            if work(v) > work(speed) {
                low = v;
            } else {
                high = v;
            }
        }
        let expected = -low;
        let material = ContactMaterial {
            dissipation: chi,
            ..surface(k, 0.3)
        };
        let found = extrapolated(|dt| rebound(speed, material, PenaltyDamping::HuntCrossley, dt));
        assert!((found / expected - 1.0).abs() < 3e-3, "{found} {expected}");
        assert!(found < 1.0 / chi);
    }
}

/// A ridge along y or x, upwards or downwards, 0.4 m long and 0.1 m high, below or above z = 0.
fn ridge(along: &Vector3<f64>, apex: f64) -> Shape {
    let across = along.cross(&Vector3::z());
    let corners = [-0.2, 0.2].into_iter().flat_map(|end| {
        let p = along * end;
        let foot = Vector3::z() * (apex - 0.1 * apex.signum());
        [
            p + Vector3::z() * apex,
            p + foot + across * 0.1,
            p + foot - across * 0.1,
        ]
    });
    let corners: Vec<Point3<f64>> = corners.map(Point3::from).collect();
    Shape::convex_hull(&corners).expect("six corners")
}

/// The same triangles as a rigid mesh.
fn as_mesh(hull: &Shape) -> Shape {
    let Shape::ConvexHull(hull) = hull else {
        unreachable!("a ridge is a hull")
    };
    let triangles: Vec<[u32; 3]> = hull.triangles().collect();
    Shape::mesh(hull.vertices(), &triangles).expect("a closed mesh")
}

/// The height at which a ridge comes to rest across another, or to which it has fallen.
fn ridge_on_ridge(shape: impl Fn(Shape) -> Shape, edge_spacing_m: f64) -> f64 {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::z() * -G);
    let material = surface(2e4, 0.5);
    let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.05));
    let below = shape(ridge(&Vector3::x(), 0.05));
    builder.add_geometry(Geometry::new("below", mount, below, material));
    add_free_body(
        &mut builder,
        "above",
        shape(ridge(&Vector3::y(), -0.05)),
        SpatialInertia::solid_box(1.0, Vector3::repeat(0.1)),
        material,
        Isometry3::translation(0.0, 0.0, 0.051),
        [0.0; 6],
    );
    let world = builder.build().expect("a legal world");
    let settings = PenaltyForceSettings {
        edge_spacing_m,
        tolerance: 1e-9,
        ..PenaltyForceSettings::default()
    };
    let mut stepper = PenaltyForce::new(settings).expect("legal settings");
    let mut state = world.default_state();
    state.controls[0].held = vec![Some(0.0), Some(0.0), Some(0.0), None, None, None];
    for _ in 0..300 {
        let mut next = State::default();
        let report = stepper
            .step(&world, &state, 1e-3, &mut next)
            .expect("a step");
        assert!(report.is_trusted(), "{:?}", report.warnings);
        state = next;
    }
    state.bodies[0].q[2]
}

#[test]
fn edges_of_hulls_that_cross_hold_and_those_of_meshes_with_particles_along_them() {
    // Apex on apex at 0.05 m; a particle of each edge sinks into a face of the other, which pushes it aside too.
    for (height, of) in [
        (ridge_on_ridge(|hull| hull, f64::INFINITY), "hulls"),
        (ridge_on_ridge(|hull| hull, 0.01), "hulls with particles"),
        (
            ridge_on_ridge(|hull| as_mesh(&hull), 0.01),
            "meshes with particles",
        ),
    ] {
        assert!(height > 0.04, "{of}: {height}");
    }
    assert!(ridge_on_ridge(|hull| as_mesh(&hull), f64::INFINITY) < 0.0);
}

/// A box of 1 kg on the floor, sliding at `v`.
fn on_floor(rule: PairRule, v: [f64; 3]) -> World {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::z() * -G);
    let mount = Mount::World(Isometry3::identity());
    let material = surface(1e4, 0.4);
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    let lengths = Vector3::new(0.4, 0.3, 0.05);
    add_free_body(
        &mut builder,
        "box",
        Shape::cuboid(lengths).expect("lengths"),
        SpatialInertia::solid_box(1.0, lengths),
        material,
        Isometry3::translation(0.0, 0.0, 0.5 * lengths.z),
        [0.0, 0.0, 0.0, v[0], v[1], v[2]],
    );
    builder.pair_rule(FLOOR, BODY, rule);
    builder.build().expect("a legal world")
}

#[test]
fn the_depth_of_a_box_with_stiffness_per_area_depends_on_neither_its_particles_nor_its_edges() {
    let per_area = 5e4;
    let rule = PairRule {
        stiffness_per_area: Some(per_area),
        ..PairRule::default()
    };
    for box_particles in [2, 3, 6] {
        let settings = PenaltyForceSettings {
            box_particles,
            tolerance: 1e-9,
            ..PenaltyForceSettings::default()
        };
        let end = run(&on_floor(rule, [0.0; 3]), settings, 0.02, 4.0);
        let depth = 0.025 - end.bodies[0].q[2];
        let expected = G / (per_area * 0.4 * 0.3);
        assert!((depth / expected - 1.0).abs() < 1e-6, "{depth} {expected}");
    }
}

#[test]
fn friction_along_an_axis_stops_a_box_later_than_across() {
    let settings = PenaltyForceSettings {
        tolerance: 1e-9,
        box_particles: 2,
        ..PenaltyForceSettings::default()
    };
    let dt = 1e-3;
    // The axis of the floor, and the same one fixed in the box.
    for of in [FLOOR, BODY] {
        let rule = PairRule {
            anisotropy: Some(Anisotropy {
                of,
                direction: Vector3::x_axis(),
                friction: 0.1,
            }),
            ..PairRule::default()
        };
        for (v, mu) in [([0.6, 0.0, 0.0], 0.1), ([0.0, 0.6, 0.0], 0.4)] {
            let speed = 0.6;
            let half_way = 0.5 * speed / (mu * G);
            let end = run(&on_floor(rule, v), settings, dt, half_way);
            let left = end.bodies[0].v[3].hypot(end.bodies[0].v[4]);
            // The first attachments are where the corners entered: friction builds up over μ d.
            assert!((left / (0.5 * speed) - 1.0).abs() < 0.03, "{of:?}: {left}");
        }
    }
}

#[test]
fn axes_that_do_not_move_with_a_rigid_geometry_are_refused() {
    let mount = Mount::World(Isometry3::identity());
    let axis = |of, friction| PairRule {
        anisotropy: Some(Anisotropy {
            of: GeometryIdx(of),
            direction: Vector3::x_axis(),
            friction,
        }),
        ..PairRule::default()
    };
    for (rule, needed) in [
        (axis(2, 0.1), "neither of the two"),
        (axis(0, 0.0), "positive"),
        (
            PairRule {
                friction: Some(0.0),
                ..axis(0, 0.1)
            },
            "friction",
        ),
        (
            PairRule {
                stiffness_per_area: Some(-1.0),
                ..PairRule::default()
            },
            "N/m³",
        ),
    ] {
        let mut builder = WorldBuilder::default();
        for name in ["floor", "wall", "roof"] {
            let geometry = Geometry::new(name, mount, Shape::half_space(), surface(1e3, 0.3));
            builder.add_geometry(geometry);
        }
        builder.pair_rule(FLOOR, BODY, rule);
        let refused = builder.build().err().expect("an illegal rule").to_string();
        assert!(refused.contains(needed), "{refused}");
    }
}
