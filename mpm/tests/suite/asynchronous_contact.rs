//! Contact in explicit substeps, compared with Coulomb's law, waves in bars, and Archimedes.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::PdGains;
use pliant_coupling::{
    AsynchronousSettings, BodyIdx, ContactSettings, Geometry, GeometryIdx, Mount, Precision, World,
    WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_mpm::{
    LinearCorotated, Liquid, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Sampling, Wall,
    WallKind, fill,
};

use crate::support::G;
use crate::support::substepped::{BoxSpec, PRECISIONS, Substepped, double};

/// Where it is the only body.
const POINTS: BodyIdx = BodyIdx(0);
/// After the wall.
const PANEL: GeometryIdx = GeometryIdx(1);

fn contact(stiffness: f64, dissipation: f64, friction: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness,
        dissipation,
        friction,
        ..ContactMaterial::default()
    }
}

const SLOPE: f64 = 0.4;
/// Edge of the cube on the slope and grid spacing, m.
const EDGE: f64 = 0.08;
const H: f64 = 0.04;

/// A cube of E = 1 MPa and 500 kg/m³ on a floor with slope [`SLOPE`] and friction μ.
fn on_slope(friction: f64, stiction_speed: f64) -> World {
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), SLOPE);
    let X_WF = Isometry3::from_parts(Translation3::identity(), turn);
    let pose = X_WF * Isometry3::translation(0.0, 0.0, 0.5 * EDGE);
    let material = contact(1e4, 5.0, friction);
    let shape = Shape::cuboid(Vector3::repeat(EDGE)).unwrap();
    let set = fill("cube", &shape, &pose, H, Sampling::default()).unwrap();
    let rubber = LinearCorotated::new(Lame::from_young_poisson(1e6, 0.3).unwrap());
    let mut points = MpmBuilder::new(MpmSettings::new(H));
    points.object(ObjectSpec::new("cube", Arc::new(rubber), 500.0, set));
    let mut builder = WorldBuilder::default();
    builder.contact(ContactSettings {
        stiction_speed,
        ..ContactSettings::default()
    });
    let floor = Geometry::new("floor", Mount::World(X_WF), Shape::half_space(), material);
    builder.add_geometry(floor);
    let body = builder.add_body("points", Box::new(points.build().unwrap()));
    builder.add_geometry(Geometry::of_vertices("points", body, material));
    builder.build().unwrap()
}

/// Mean velocity down the slope, m/s.
fn down_the_slope(run: &Substepped) -> f64 {
    let along = Vector3::new(SLOPE.cos(), 0.0, -SLOPE.sin());
    run.momentum().dot(&along) / (500.0 * EDGE.powi(3))
}

#[test]
fn a_block_slides_just_outside_the_friction_cone_and_sticks_just_inside() {
    let stiction_speed = 1e-4;
    for share in [0.95, 1.05] {
        let friction = share * SLOPE.tan();
        let world = on_slope(friction, stiction_speed);
        let mut run = Substepped::new(world, AsynchronousSettings::default());
        let (dt, steps) = (0.005, 40);
        for _ in 0..steps {
            let _ = run.step(dt);
        }
        let before = down_the_slope(&run);
        for _ in 0..steps {
            let _ = run.step(dt);
        }
        let gained = down_the_slope(&run) - before;
        let found = gained / (dt * f64::from(steps));
        let expected = (G * (SLOPE.sin() - friction * SLOPE.cos())).max(0.0);
        assert!(
            (found - expected).abs() < 1e-4 * G,
            "{share}: {found} for {expected}"
        );
    }
}

#[test]
fn a_block_that_sticks_creeps_by_the_regularisation_of_friction_and_nothing_else() {
    // μ N u/√(u² + v_s²) = m g sin θ: u = v_s a/√(1 − a²) at the share a = tan θ/μ of the bound, however many substeps there are.
    let share: f64 = 0.6;
    let friction = SLOPE.tan() / share;
    for (stiction_speed, dt, settled) in [(1e-3, 1e-3, 500), (1e-3, 1e-2, 50), (1e-4, 1e-2, 120)] {
        let mut run = Substepped::new(on_slope(friction, stiction_speed), double());
        for _ in 0..settled {
            let _ = run.step(dt);
        }
        let (start, t) = (run.centre(POINTS), run.state.time_s);
        for _ in 0..settled / 2 {
            let _ = run.step(dt);
        }
        let along = Vector3::new(SLOPE.cos(), 0.0, -SLOPE.sin());
        let creep = (run.centre(POINTS) - start).dot(&along) / (run.state.time_s - t);
        let expected = stiction_speed * share / (1.0 - share * share).sqrt();
        assert!(
            (creep / expected - 1.0).abs() < 0.005,
            "{stiction_speed}, {dt}: {creep:e} for {expected:e}"
        );
    }
}

/// Length of a bar, m; its density and modulus.
const LENGTH: f64 = 0.4;
const DENSITY: f64 = 500.0;
const MODULUS: f64 = 1e6;

/// An elastic bar along x from `from`, with velocity `speed`; two cells of h wide; ν = 0, so that waves are one-dimensional.
fn bar(from: f64, speed: f64, h: f64) -> ObjectSpec {
    let lame = Lame::from_young_poisson(MODULUS, 0.0).unwrap();
    let shape = Shape::cuboid(Vector3::new(LENGTH, 2.0 * h, 2.0 * h)).unwrap();
    let pose = Isometry3::translation(from + 0.5 * LENGTH, 0.0, 0.0);
    let set = fill("bar", &shape, &pose, h, Sampling::default()).unwrap();
    let mut spec = ObjectSpec::new("bar", Arc::new(LinearCorotated::new(lame)), DENSITY, set);
    spec.velocity_W.x = speed;
    spec
}

fn bars(each: &[(f64, f64)], h: f64) -> MaterialPoints {
    let mut points = MpmBuilder::new(MpmSettings::new(h));
    for &(from, speed) in each {
        points.object(bar(from, speed, h));
    }
    points.build().unwrap()
}

/// The limit of a sequence whose errors form a geometric series (Aitken).
fn limit([a, b, c]: [f64; 3]) -> f64 {
    c - (c - b) * (c - b) / ((c - b) - (b - a))
}

/// A free bar at rest that a box of `ratio` times its mass hits; the spacing is `h`.
fn struck(ratio: f64, h: f64, precision: Precision) -> (f64, [f64; 2]) {
    let (c, speed) = ((MODULUS / DENSITY).sqrt(), 0.1);
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let hammer = BoxSpec {
        lengths: Vector3::repeat(0.08),
        mass: ratio * DENSITY * 4.0 * h * h * LENGTH,
        p_WB: Vector3::new(-0.04 - 1e-4, 0.0, 0.0),
        contact: contact(1e5, 0.0, 0.0),
    };
    let hammer_body = hammer.free(&mut builder, Vector3::new(speed, 0.0, 0.0));
    let body = builder.add_body("points", Box::new(bars(&[(0.0, 0.0)], h)));
    builder.add_geometry(Geometry::of_vertices("points", body, hammer.contact));
    let settings = AsynchronousSettings {
        precision,
        ..AsynchronousSettings::default()
    };
    let mut run = Substepped::new(builder.build().unwrap(), settings);
    let before = run.world.energy(&run.state);
    while run.state.time_s < 3.0 * LENGTH / c + 1e-4 / speed {
        let _ = run.step(1e-3);
    }
    let after = run.world.energy(&run.state);
    let scale = before.linear_momentum_W.norm();
    let linear = (after.linear_momentum_W - before.linear_momentum_W).norm() / scale;
    let turned = after.angular_momentum_W - before.angular_momentum_W;
    let left = run.state.bodies[hammer_body.0].v[3] / speed;
    (left, [linear, turned.norm() / (scale * LENGTH)])
}

#[test]
fn a_mass_that_strikes_a_free_bar_keeps_what_its_wave_does_not_carry_away() {
    // M dv/dt = −ρ c A v until the wave comes back from the free end as tension, after 2 L/c:
    // v = v₀ exp(−2 m/M) (Timoshenko and Goodier, Theory of Elasticity, § 168).
    for (precision, round_off) in PRECISIONS {
        for ratio in [0.5, 4.0] {
            let (left, lost) = struck(ratio, LENGTH / 20.0, precision);
            let expected = (-2.0 / ratio).exp();
            assert!(
                (left - expected).abs() < 0.03,
                "{precision:?}, {ratio}: {left} for {expected}"
            );
            assert!(
                lost.iter().all(|lost| *lost < round_off),
                "{precision:?}, {ratio}: {lost:?}"
            );
        }
    }
    // The front of the wave is as wide as a few cells, whose energy is lost.
    let each = [10.0, 20.0, 40.0].map(|cells| struck(1.0, LENGTH / cells, Precision::Double).0);
    let found = limit(each);
    assert!((found - (-2.0_f64).exp()).abs() < 0.01, "{each:?}: {found}");
}

/// Restitution of a bar that flies against a rigid wall, and the duration of contact over 2 L/c.
fn rebound(cells: f64) -> [f64; 2] {
    let (c, speed) = ((MODULUS / DENSITY).sqrt(), 0.1);
    let h = LENGTH / cells;
    let material = contact(1e5, 0.0, 0.0);
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let facing = UnitQuaternion::rotation_between(&Vector3::z(), &Vector3::x()).unwrap();
    let mount = Mount::World(Isometry3::from_parts(Translation3::identity(), facing));
    builder.add_geometry(Geometry::new("wall", mount, Shape::half_space(), material));
    let body = builder.add_body("points", Box::new(bars(&[(0.0, -speed)], h)));
    builder.add_geometry(Geometry::of_vertices("points", body, material));
    let mut run = Substepped::new(builder.build().unwrap(), double());
    // The force is ρ c A v throughout.
    let force = DENSITY * c * 4.0 * h * h * speed;
    let (dt, mut until) = (2e-4, 0.0);
    while run.state.time_s < 3.0 * LENGTH / c {
        let report = run.step(dt);
        let pushed: f64 = report.contacts.iter().map(|c| c.force_W.x.abs()).sum();
        if pushed > 0.5 * force {
            until = run.state.time_s;
        }
    }
    let momentum = force * LENGTH / c;
    [run.momentum().x / momentum, until / (2.0 * LENGTH / c)]
}

#[test]
fn a_bar_leaves_a_rigid_wall_after_two_passages_of_its_wave_as_fast_as_it_came() {
    // Saint-Venant: σ = ρ c v for 2 L/c, then it flies off with −v. What the front of the wave loses decreases with the spacing.
    let each = [10.0, 20.0, 40.0].map(rebound);
    let loss = each.map(|[restitution, _]| 1.0 - restitution);
    assert!(loss[2] < 0.06 && loss[2] > 0.0, "{each:?}");
    let orders = [(loss[0] / loss[1]).log2(), (loss[1] / loss[2]).log2()];
    assert!(orders.iter().all(|order| *order > 0.6), "{orders:?}");
    assert!((each[2][1] - 1.0).abs() < 0.03, "{each:?}");
}

/// A bar that hits an equal one at rest: the duration of its loss from three to one quarter of its velocity over L/c, and the largest mean
/// velocity of the other over that of the first at the start.
fn collision(cells: f64) -> [f64; 2] {
    let c = (MODULUS / DENSITY).sqrt();
    let speed = 0.1 * c;
    let h = LENGTH / cells;
    let gap = 2.0 * h;
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let model = bars(&[(-LENGTH - gap, speed), (0.0, 0.0)], h);
    builder.add_body("points", Box::new(model));
    let mut run = Substepped::new(builder.build().unwrap(), double());
    let before = run.momentum();
    // Both have equally many particles.
    let mean = |run: &Substepped| {
        let v = &run.state.bodies[POINTS.0].v;
        let n = v.len() / 2;
        [0, n].map(|first| v[first..][..n].iter().step_by(3).sum::<f64>() / (n / 3) as f64 / speed)
    };
    let dt = 0.1 * LENGTH / c;
    let (mut last, mut crossings, mut most) = (1.0, Vec::new(), 0.0_f64);
    while run.state.time_s < 3.0 * LENGTH / c + gap / speed {
        let _ = run.step(dt);
        let [first, second] = mean(&run);
        for level in [0.75, 0.25] {
            if last > level && first <= level {
                crossings.push(run.state.time_s - dt * (level - first) / (last - first));
            }
        }
        most = most.max(second);
        last = first;
    }
    let lost = (run.momentum() - before).norm() / before.norm();
    assert!(lost < 1e-11, "{lost:e}");
    [(crossings[1] - crossings[0]) / (LENGTH / c), most]
}

#[test]
fn two_equal_bars_that_collide_exchange_their_velocities_in_two_passages_of_their_waves() {
    // F = ρ c A v/2 for 2 L/c (Saint-Venant). Objects on one grid meet at a distance of about a cell, with a soft layer in between; what it
    // and the front of the wave lose decreases with the spacing.
    let [coarse, fine] = [16.0, 32.0].map(collision);
    assert!((fine[0] - 1.0).abs() < 0.05, "{coarse:?} {fine:?}");
    assert!(
        fine[1] > 0.94 && fine[1] < 1.0 && coarse[1] < fine[1],
        "{coarse:?} {fine:?}"
    );
}

#[test]
fn an_actuator_with_a_period_of_the_step_holds_an_undamped_cube_still() {
    // 0.3 kg between 4560 N/m, held by implicit position control at 10 ms, and a cube of 50 kN/m, which swings it within a step.
    let gains = PdGains {
        proportional: 4560.0,
        derivative: 20.0,
        effort_limit: f64::INFINITY,
    };
    let (edge, spacing) = (0.1, 0.05);
    let material = contact(1e6, 10.0, 0.8);
    let shape = Shape::cuboid(Vector3::repeat(edge)).unwrap();
    let set = fill(
        "cube",
        &shape,
        &Isometry3::identity(),
        spacing,
        Sampling::default(),
    )
    .unwrap();
    let rubber = LinearCorotated::new(Lame::from_young_poisson(5e5, 0.4).unwrap());
    let mut points = MpmBuilder::new(MpmSettings::new(spacing));
    points.object(ObjectSpec::new("cube", Arc::new(rubber), 100.0, set));
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let facing = UnitQuaternion::rotation_between(&Vector3::z(), &Vector3::x()).unwrap();
    let wall = Isometry3::from_parts(Translation3::new(-0.5 * edge, 0.0, 0.0), facing);
    let wall = Geometry::new("wall", Mount::World(wall), Shape::half_space(), material);
    builder.add_geometry(wall);
    let panel = BoxSpec {
        lengths: Vector3::new(0.02, 0.2, 0.2),
        mass: 0.3,
        p_WB: Vector3::new(0.5 * edge + 0.01, 0.0, 0.0),
        contact: material,
    };
    let panel = panel.on_rail(&mut builder, Vector3::x(), Some(gains));
    let body = builder.add_body("points", Box::new(points.build().unwrap()));
    builder.add_geometry(Geometry::of_vertices("points", body, material));
    let mut run = Substepped::new(builder.build().unwrap(), AsynchronousSettings::default());
    let mut forces = Vec::new();
    for k in 0..60 {
        // Pressed for 0.2 s, then held.
        let target = -0.05 * f64::min(f64::from(k) / 20.0, 1.0);
        run.state.controls[panel.0].position = vec![target];
        let report = run.step(0.01);
        let on_panel = report.contact_wrench(&Point3::origin(), |g| g == PANEL);
        forces.push(on_panel.force.x);
    }
    let held = &forces[45..];
    let mean = held.iter().sum::<f64>() / held.len() as f64;
    let spread = held.iter().map(|f| (f - mean).abs()).fold(0.0, f64::max);
    assert!(spread < 0.01 * mean, "{mean} N, {forces:?}");
    // The actuator's force where the panel is.
    let at = run.state.bodies[panel.0].q[0];
    let expected = gains.proportional * (at + 0.05);
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean} of {expected}");
}

/// A slice of water two cells thick between sliding walls, with a guided box as thick as the slice at its surface.
fn floating(share: f64) -> (Substepped, BodyIdx, f64) {
    let (h, depth, width) = (0.02, 0.12, 0.32);
    let water = Liquid::for_depth(depth, 1000.0, G)
        .unwrap()
        .with_viscosity(2.0)
        .unwrap();
    let size = Vector3::new(width, 2.0 * h, depth);
    let shape = Shape::cuboid(size).unwrap();
    let pose = Isometry3::from(0.5 * size);
    let set = fill("water", &shape, &pose, h, Sampling::default()).unwrap();
    let mut points = MpmBuilder::new(MpmSettings::new(h));
    points.object(ObjectSpec::new("water", Arc::new(water), 1000.0, set));
    for (p_WQ, normal_W) in [
        (Point3::origin(), Vector3::x()),
        (Point3::origin(), Vector3::y()),
        (Point3::origin(), Vector3::z()),
        (Point3::from(size), -Vector3::x()),
        (Point3::from(size), -Vector3::y()),
    ] {
        points.wall(Wall {
            p_WQ,
            normal_W,
            kind: WallKind::Slides,
        });
    }
    let (wide, high) = (0.12, 0.08);
    let mut builder = WorldBuilder::default();
    let floater = BoxSpec {
        lengths: Vector3::new(wide, 6.0 * h, high),
        mass: share * 1000.0 * wide * high * 2.0 * h,
        p_WB: Vector3::new(0.5 * width, h, depth + 0.5 * high),
        contact: contact(1e4, 1.0, 0.0),
    };
    let body = floater.on_rail(&mut builder, Vector3::z(), None);
    let water = builder.add_body("points", Box::new(points.build().unwrap()));
    builder.add_geometry(Geometry::of_vertices("points", water, floater.contact));
    // The surface rises by what the box displaces: depth + share·high·wide/width.
    let bottom = depth + share * high * (wide / width - 1.0);
    let run = Substepped::new(builder.build().unwrap(), AsynchronousSettings::default());
    (run, body, bottom - depth)
}

#[test]
fn a_box_sinks_to_the_depth_at_which_it_displaces_its_weight() {
    for share in [0.3, 0.6] {
        let (mut run, floater, expected) = floating(share);
        let mut found = 0.0;
        // It heaves with a period of 0.3 to 0.45 s, which the water hardly damps: the mean over the last second.
        for k in 0..300 {
            let _ = run.step(0.01);
            if k >= 200 {
                found += run.state.bodies[floater.0].q[0] / 100.0;
            }
        }
        eprintln!("{share}: {:.2} mm too high", 1e3 * (found - expected));
        // A quarter of a cell.
        assert!(
            (found - expected).abs() < 0.005,
            "{share}: {found} for {expected}"
        );
    }
}
