//! Hydroelastic patch contact of rods, whose segments have a pressure field.

use crate::support::close::close;
use crate::support::worlds::{
    DAMPED, MODULUS, add_rod, coil, hard_floor, nearest_strands, rope, run, soft, throw,
};
use nalgebra::{Isometry3, Point3, Vector3};
use pliant_coupling::{
    BodyIdx, Geometry, GeometryIdx, Mount, PatchFinder, State, World, WorldBuilder, WorldError,
};
use pliant_der::{Centreline, NaturalShape, Rayleigh, Rod};
use pliant_hydroelastic::{ContactMaterial, PatchGeometry, Shape};

const RADIUS: f64 = 0.001;

fn damped(line: Centreline) -> Rod {
    rope(line, RADIUS).damping(DAMPED).build().unwrap()
}

fn surface(friction: f64) -> ContactMaterial {
    ContactMaterial {
        friction,
        ..ContactMaterial::default()
    }
}

fn add_soft(builder: &mut WorldBuilder, name: &str, rod: &Rod) -> (BodyIdx, GeometryIdx) {
    add_rod(builder, name, rod, |body| {
        Geometry::of_segments(name, body, surface(0.3)).with_compliance(soft())
    })
}

/// Penetration, in radii, at which ∫ E (1 − √(h² + x²)/r) dx equals `load` (N/m).
fn depth_under(load: f64) -> f64 {
    let force = |depth: f64| {
        let h = 1.0 - depth;
        let a = (1.0 - h * h).sqrt();
        MODULUS * RADIUS * (a - h * h * (a / h).asinh())
    };
    let (mut low, mut high) = (0.0, 0.9);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if force(middle) < load {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn the_penetration_of_a_rope_on_the_floor_balances_its_weight() {
    let line = Centreline::straight(
        Point3::new(-0.05, 0.0, RADIUS),
        Point3::new(0.05, 0.0, RADIUS),
        10,
    );
    let rod = damped(line);
    // As heavy as ten such ropes.
    let g = 98.1;
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::new(0.0, 0.0, -g));
    let (body, _) = add_soft(&mut builder, "rope", &rod);
    builder.add_geometry(hard_floor(surface(0.3)));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let mut force = Vector3::zeros();
    run(&world, &mut state, 1e-3, 0.3, |report, _| {
        force = report.contacts.iter().map(|c| c.force_W).sum();
    });
    let weight = rod.total_mass() * g;
    close("force", force.z.abs() / weight, 1.0, 1e-6);
    let depth = depth_under(weight / 0.1);
    let z = rod.position(&state.bodies[body.0], 5).z;
    // A corner of the polygon that approximates the circle protrudes by three tenths of this depth.
    close("depth", (RADIUS - z) / RADIUS / depth, 1.0, 0.05);
    // Patches for visualisation.
    let mut finder = PatchFinder::default();
    let patches = finder.find(&world, &state).unwrap();
    assert_eq!(patches.len(), 1);
    let patch = &patches[0].patch;
    let load = patch.polygons().iter().map(|p| p.area * p.pressure);
    close("pressure", load.sum::<f64>() / weight, 1.0, 0.01);
}

/// An undamped rope in equilibrium on the floor, set in motion across its axis.
struct OnFloor {
    rod: Rod,
    body: BodyIdx,
    world: World,
    state: State,
    rolling_radius: f64,
}

impl OnFloor {
    fn new() -> Self {
        let end = |x: f64| Point3::new(x, 0.0, RADIUS);
        let rod = rope(Centreline::straight(end(-0.02), end(0.02), 4), RADIUS)
            .build()
            .unwrap();
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::new(0.0, 0.0, -98.1));
        let (body, _) = add_soft(&mut builder, "rope", &rod);
        builder.add_geometry(hard_floor(surface(0.3)));
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        run(&world, &mut state, 2e-3, 1.0, |_, _| {});
        let rolling_radius = rod.position(&state.bodies[body.0], 2).z;
        Self {
            rod,
            body,
            world,
            state,
            rolling_radius,
        }
    }

    fn y(&self) -> f64 {
        self.rod.position(&self.state.bodies[self.body.0], 2).y
    }

    fn spins(&self) -> impl Iterator<Item = f64> + '_ {
        let v = &self.state.bodies[self.body.0].v;
        (0..self.rod.n_edges()).map(|edge| v[self.rod.angle_dof(edge).unwrap()])
    }

    fn set_spins(&mut self, spin: f64) {
        let v = &mut self.state.bodies[self.body.0].v;
        for edge in 0..self.rod.n_edges() {
            v[self.rod.angle_dof(edge).unwrap()] = spin;
        }
    }
}

/// The polygon that approximates the disc rests on a side or a corner, so its pressure has a moment about the axis. An earlier
/// version accelerated the rope to 54 rad/s in 0.3 s.
#[test]
fn a_rope_at_rest_on_the_floor_stays_at_rest() {
    let mut rope = OnFloor::new();
    let (world, mut state) = (rope.world.clone(), rope.state.clone());
    run(&world, &mut state, 5e-3, 60.0, |_, _| {});
    rope.state = state;
    close("y (radii)", rope.y() / RADIUS, 0.0, 1e-6);
    for spin in rope.spins() {
        close("spin (rad/s)", spin, 0.0, 1e-5);
    }
}

#[test]
fn a_rolling_rope_keeps_its_speed_and_gains_no_energy() {
    let mut rope = OnFloor::new();
    let speed = 0.05;
    throw(
        &mut rope.state,
        rope.body,
        &rope.rod,
        Vector3::new(0.0, speed, 0.0),
    );
    rope.set_spins(-speed / rope.rolling_radius);
    let (world, mut state) = (rope.world.clone(), rope.state.clone());
    let energy = |state: &State| {
        let e = world.energy(state);
        e.kinetic + e.potential
    };
    let (start, kinetic) = (energy(&state), world.energy(&state).kinetic);
    run(&world, &mut state, 1e-3, 1.0, |_, now| {
        let gained = (energy(now) - start) / kinetic;
        // The energy stored in the contact is not counted: the tolerance equals 2 nm of settling.
        assert!(gained < 1e-4, "{gained} of its motion");
    });
    let start = rope.y();
    rope.state = state;
    close("way", (rope.y() - start) / speed, 1.0, 1e-3);
    for spin in rope.spins() {
        close("spin", spin * rope.rolling_radius / speed, -1.0, 1e-3);
    }
}

#[test]
fn a_sliding_rope_comes_to_roll_at_the_speed_of_conserved_angular_momentum() {
    let mut rope = OnFloor::new();
    let speed = 0.3;
    throw(
        &mut rope.state,
        rope.body,
        &rope.rod,
        Vector3::new(0.0, speed, 0.0),
    );
    let (world, mut state) = (rope.world.clone(), rope.state.clone());
    run(&world, &mut state, 1e-3, 0.3, |_, _| {});
    rope.state = state;
    // v + k²/(r ρ) v = v0 with k² = ρ²/2 of a cylinder of radius ρ that rolls on r.
    let r = rope.rolling_radius;
    let rolling = speed / (1.0 + 0.5 * (RADIUS / r).powi(2));
    for spin in rope.spins() {
        close("spin", -spin * r / rolling, 1.0, 0.01);
    }
}

#[test]
fn ropes_in_patch_contact_conserve_momentum_and_gain_no_energy() {
    let across = |y: bool, z: f64| {
        let end = |s: f64| {
            if y {
                Point3::new(0.003, s, z)
            } else {
                Point3::new(s, 0.002, z)
            }
        };
        rope(Centreline::straight(end(-0.05), end(0.05), 10), RADIUS)
            .build()
            .unwrap()
    };
    let (low, high) = (across(false, 0.0), across(true, 0.00205));
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let (a, _) = add_soft(&mut builder, "low", &low);
    let (b, _) = add_soft(&mut builder, "high", &high);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    throw(&mut state, b, &high, Vector3::new(0.2, 0.3, -0.4));
    let before = world.energy(&state);
    let (mut most, mut in_patches) = (0.0_f64, 0);
    run(&world, &mut state, 1e-4, 0.01, |report, _| {
        let forces = report.contacts.iter().map(|c| c.force_W.norm());
        most = forces.fold(most, f64::max);
        in_patches += report.contacts.iter().filter(|c| c.patch.is_some()).count();
    });
    assert!(most > 0.0 && in_patches > 10, "they touch in patches");
    let after = world.energy(&state);
    let p = before.linear_momentum_W.norm();
    let lost = (after.linear_momentum_W - before.linear_momentum_W).norm();
    close("linear momentum", lost / p, 0.0, 1e-6);
    let turned = (after.angular_momentum_W - before.angular_momentum_W).norm();
    close("angular momentum", turned / (p * 0.05), 0.0, 5e-3);
    let [e_0, e_1] = [before, after].map(|e| e.kinetic + e.potential);
    assert!(e_1 <= e_0 && e_1 > 0.3 * e_0, "{e_0} to {e_1}");
    let moved = state.bodies[a.0]
        .v
        .iter()
        .fold(0.0_f64, |m, v| m.max(v.abs()));
    assert!(moved > 0.01, "the lower one was pushed");
}

#[test]
fn a_collapsed_coil_is_supported_by_the_patches_between_its_turns() {
    // The spring is too soft to carry its weight: its turns come to rest on each other.
    let rod = coil(RADIUS)
        .natural_shape(NaturalShape::AsBuilt)
        .damping(Rayleigh {
            mass: 5.0,
            ..DAMPED
        })
        .build()
        .unwrap();
    let mut builder = WorldBuilder::default();
    let (body, coil) = add_soft(&mut builder, "coil", &rod);
    let floor = builder.add_geometry(hard_floor(surface(0.3)));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    for _ in 0..50 {
        run(&world, &mut state, 1e-3, 0.01, |_, _| {});
        let (least, i, j) = nearest_strands(&rod, &state.bodies[body.0]);
        assert!(least > 1.5 * RADIUS, "edges {i} and {j}: {least}");
    }
    // At rest the floor carries the whole weight, and the patches between turns that of the turns above.
    let (mut on_floor, mut between, mut steps) = (Vector3::zeros(), 0.0, 0.0);
    run(&world, &mut state, 1e-3, 0.1, |report, _| {
        for c in &report.contacts {
            assert!(c.patch.is_some());
            if c.a == floor || c.b == floor {
                on_floor += if c.a == coil { c.force_W } else { -c.force_W };
            } else {
                between += c.force_W.z.abs();
            }
        }
        steps += 1.0;
    });
    let weight = rod.total_mass() * 9.81;
    let part = |force: f64| force / steps / weight;
    close("carried by the floor", part(on_floor.z), 1.0, 0.01);
    close("sideways", part(on_floor.xy().norm()), 0.0, 0.01);
    // Of three turns, the lowest carries the upper two, and the second carries the third.
    close("carried from turn to turn", part(between), 1.0, 0.2);
}

#[test]
fn friction_of_patches_rolls_a_rope_between_two_belts() {
    let line = Centreline::straight(
        Point3::new(-0.05, 0.0, RADIUS),
        Point3::new(0.05, 0.0, RADIUS),
        10,
    );
    let rod = damped(line);
    let speed = 0.05;
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let (body, _) = add_soft(&mut builder, "rope", &rod);
    let mut belt = |name: &str, shape: Shape, z: f64, v: f64| {
        let mount = Mount::World(Isometry3::translation(0.0, 0.0, z));
        let patch = PatchGeometry::rigid(&shape, 0.1).unwrap();
        let mut belt = Geometry::new(name, mount, shape, surface(0.3)).with_patch(patch);
        belt.surface_velocity = Vector3::new(0.0, v, 0.0);
        builder.add_geometry(belt);
    };
    belt("floor", Shape::half_space(), 0.0, -speed);
    let lid = Shape::cuboid(Vector3::new(0.3, 0.3, 0.1)).unwrap();
    belt("lid", lid, 1.9 * RADIUS + 0.05, speed);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 1e-3, 0.2, |_, _| {});
    for edge in 0..rod.n_edges() {
        let spin = state.bodies[body.0].v[rod.angle_dof(edge).unwrap()];
        // Compressed by a tenth of its radius, it rolls on the remaining height.
        close("spin", spin * 0.95 * RADIUS, -speed, 0.03 * speed);
    }
    for node in 0..rod.n_nodes() {
        let y = rod.position(&state.bodies[body.0], node).y;
        close("place", y, 0.0, 0.05 * RADIUS);
    }
    let twist = rod.total_twist(&state.bodies[body.0]).unwrap();
    // Relative to the 1.7 turns that it has rolled.
    close("net twist (turns)", twist, 0.0, 5e-3);
}

#[test]
fn patch_contact_requires_a_field_or_a_surface_on_both_sides() {
    let rod = damped(Centreline::straight(
        Point3::origin(),
        Point3::new(0.1, 0.0, 0.0),
        4,
    ));
    let mut builder = WorldBuilder::default();
    let (_, rope) = add_soft(&mut builder, "rope", &rod);
    let mount = Mount::World(Isometry3::identity());
    let bare = builder.add_geometry(Geometry::new(
        "bare",
        mount,
        Shape::half_space(),
        surface(0.3),
    ));
    let rule = pliant_coupling::PairRule {
        choice: Some(pliant_hydroelastic::ContactChoice::Patch),
        ..pliant_coupling::PairRule::default()
    };
    builder.pair_rule(rope, bare, rule);
    let refused = builder.build().err().unwrap();
    assert!(refused.to_string().contains("\"bare\""), "{refused}");

    let mut builder = WorldBuilder::default();
    let floor = Geometry::new("floor", mount, Shape::half_space(), surface(0.3));
    builder.add_geometry(floor.with_compliance(soft()));
    let refused = builder.build().err().unwrap();
    assert!(matches!(refused, WorldError::ComplianceOffSegments { .. }));
}
