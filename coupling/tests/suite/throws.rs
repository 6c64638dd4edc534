//! Random throws of every shape at every shape, fast and spinning: no body ends up inside or behind what it hits, or the step says so.
//!
//! The check knows nothing of the search for contacts: it samples the motion between the poses before and after each step and evaluates the
//! signed distance of one body at the inner points of the other, points at least half of its thickness below its surface.
//!
//! Four hundred throws run in every test, with none lost; ten thousand, of which four were lost and 46 reported, with
//! `cargo nextest run -p pliant-coupling --run-ignored only throws`.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::sync::Arc;

use crate::rigid_contact::{material, solver};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_coupling::{Geometry, Mount, State, Stepper, StrongImplicit, Untrusted, WorldBuilder};
use pliant_hydroelastic::Shape;
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const THROWN: [&str; 8] = [
    "sphere",
    "box",
    "capsule",
    "cylinder",
    "ellipsoid",
    "cone",
    "hull",
    "mesh",
];
const TARGETS: [&str; 12] = [
    "plate",
    "mesh plate",
    "hull plate",
    "disc",
    "flat ellipsoid",
    "rod",
    "sphere",
    "box",
    "cone",
    "hull",
    "tub",
    "half space",
];

/// A shape and the points that no other body may reach.
struct Solid {
    shape: Shape,
    core: Vec<Point3<f64>>,
}

fn log_uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    rng.random_range(low.ln()..high.ln()).exp()
}

fn unit(rng: &mut ChaCha8Rng) -> Vector3<f64> {
    loop {
        let v = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if (0.1..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}

fn rotation(rng: &mut ChaCha8Rng) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(unit(rng) * rng.random_range(0.0..3.1))
}

/// The corners of a box.
fn corners(half: Vector3<f64>) -> Vec<Point3<f64>> {
    let sign = |i: u32, bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
    (0..8)
        .map(|i| half.component_mul(&Vector3::new(sign(i, 0), sign(i, 1), sign(i, 2))))
        .map(Point3::from)
        .collect()
}

const QUADS: [[u32; 4]; 6] = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
];

fn triangles(quads: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let halves = quads
        .iter()
        .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]);
    halves.collect()
}

impl Solid {
    fn cuboid(lengths: Vector3<f64>) -> Self {
        let half = lengths * 0.5;
        let mut core = corners(half - Vector3::repeat(0.5 * half.min()));
        core.push(Point3::origin());
        Self {
            shape: Shape::cuboid(lengths).unwrap(),
            core,
        }
    }

    fn into_mesh(self, lengths: Vector3<f64>) -> Self {
        let shape = Shape::mesh(&corners(lengths * 0.5), &triangles(&QUADS)).unwrap();
        Self { shape, ..self }
    }

    fn into_hull(self, lengths: Vector3<f64>) -> Self {
        let shape = Shape::convex_hull(&corners(lengths * 0.5)).unwrap();
        Self { shape, ..self }
    }

    fn round(radius: f64, length: f64, inner: f64, shape: Shape) -> Self {
        let mut core = vec![Point3::origin()];
        for z in [-1.0, 1.0] {
            for (x, y) in [(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
                let r = radius - inner;
                core.push(Point3::new(x * r, y * r, z * (0.5 * length - inner)));
            }
        }
        Self { shape, core }
    }

    fn cylinder(radius: f64, length: f64) -> Self {
        let inner = 0.5 * radius.min(0.5 * length);
        Self::round(
            radius,
            length,
            inner,
            Shape::cylinder(radius, length).unwrap(),
        )
    }

    fn capsule(radius: f64, length: f64) -> Self {
        let core = [-0.5, 0.0, 0.5].map(|z| Point3::new(0.0, 0.0, z * length));
        Self {
            shape: Shape::capsule(radius, length).unwrap(),
            core: core.to_vec(),
        }
    }

    fn sphere(radius: f64) -> Self {
        Self {
            shape: Shape::sphere(radius).unwrap(),
            core: vec![Point3::origin()],
        }
    }

    fn ellipsoid(axes: Vector3<f64>) -> Self {
        let mut core = vec![Point3::origin()];
        for k in 0..3 {
            core.push(Point3::from(Vector3::ith(k, 0.5 * axes[k])));
            core.push(Point3::from(Vector3::ith(k, -0.5 * axes[k])));
        }
        Self {
            shape: Shape::ellipsoid(axes).unwrap(),
            core,
        }
    }

    fn cone(radius: f64, height: f64) -> Self {
        Self {
            shape: Shape::cone(radius, height).unwrap(),
            core: vec![Point3::new(0.0, 0.0, -0.25 * height)],
        }
    }

    /// The hull of random points of an ellipsoid.
    fn hull(rng: &mut ChaCha8Rng, lengths: Vector3<f64>) -> Self {
        let points: Vec<_> = (0..12)
            .map(|_| Point3::from(unit(rng).component_mul(&lengths) * 0.5))
            .collect();
        let mean = points.iter().map(|p| p.coords).sum::<Vector3<f64>>() / 12.0;
        let points: Vec<_> = points.iter().map(|p| p - mean).collect();
        Self {
            shape: Shape::convex_hull(&points).unwrap(),
            core: vec![Point3::origin()],
        }
    }

    /// An open box with thin walls.
    fn tub(lengths: Vector3<f64>, wall: f64) -> Self {
        let outer = corners(lengths * 0.5);
        let inner = corners(lengths * 0.5 - Vector3::repeat(wall));
        let up = |p: &Point3<f64>| {
            Point3::new(
                p.x,
                p.y,
                p.z.max(0.0) / inner[7].z * outer[7].z + p.z.min(0.0),
            )
        };
        let vertices: Vec<_> = outer.iter().copied().chain(inner.iter().map(up)).collect();
        // Without lids; the cavity faces inwards; the rim joins both.
        let mut quads: Vec<[u32; 4]> = [0, 2, 3, 4, 5].map(|k| QUADS[k]).to_vec();
        quads.extend([0, 2, 3, 4, 5].map(|k: usize| {
            let q = QUADS[k].map(|v| v + 8);
            [q[0], q[3], q[2], q[1]]
        }));
        let top = [4, 5, 7, 6];
        quads.extend((0..4).map(|k| {
            let (v, w) = (top[k], top[(k + 1) % 4]);
            [v, w, w + 8, v + 8]
        }));
        Self {
            shape: Shape::mesh(&vertices, &triangles(&quads)).unwrap(),
            core: Vec::new(),
        }
    }

    fn random(rng: &mut ChaCha8Rng, kind: &str) -> Self {
        let size = log_uniform(rng, 2e-3, 2e-2);
        let long = size * log_uniform(rng, 1.0, 6.0);
        let h = log_uniform(rng, 5e-4, 2e-2);
        let box_like = 2.0 * Vector3::new(size, size * rng.random_range(0.5..1.0), long);
        let wide = Vector3::new(0.3, 0.3, h);
        match kind {
            "sphere" => Self::sphere(size),
            "box" => Self::cuboid(box_like),
            "capsule" => Self::capsule(size, 2.0 * long),
            "cylinder" => Self::cylinder(size, 2.0 * long),
            "ellipsoid" => Self::ellipsoid(0.5 * box_like),
            "cone" => Self::cone(size, 2.0 * long),
            "hull" => Self::hull(rng, box_like),
            "mesh" => Self::cuboid(box_like).into_mesh(box_like),
            "plate" => Self::cuboid(wide),
            "mesh plate" => Self::cuboid(wide).into_mesh(wide),
            "hull plate" => Self::cuboid(wide).into_hull(wide),
            "disc" => Self::cylinder(0.15, h),
            "flat ellipsoid" => Self::ellipsoid(Vector3::new(0.15, 0.15, 0.5 * h)),
            "rod" => Self::capsule(0.5 * h, 0.3),
            "tub" => Self::tub(Vector3::new(0.06, 0.07, 0.06), log_uniform(rng, 5e-4, 5e-3)),
            "half space" => Self {
                shape: Shape::half_space(),
                core: Vec::new(),
            },
            _ => unreachable!("a kind of solid"),
        }
    }
}

/// The motion of A in the frame of B within a step: constant velocities.
struct Path {
    start: Isometry3<f64>,
    shift: Vector3<f64>,
    turn: Vector3<f64>,
}

impl Path {
    fn pose(&self, s: f64) -> Isometry3<f64> {
        let start = &self.start;
        Isometry3::from_parts(
            Translation3::from(start.translation.vector + self.shift * s),
            UnitQuaternion::from_scaled_axis(self.turn * s) * start.rotation,
        )
    }

    /// Whether an inner point of one solid enters the other; resolved to 0.05 mm.
    fn enters(&self, a: &Solid, b: &Solid) -> bool {
        let far = self.start.translation.vector.norm() + self.shift.norm();
        let enter =
            |core: &[Point3<f64>], reach: f64, distance: &dyn Fn(f64, &Point3<f64>) -> f64| {
                core.iter().any(|p| {
                    let length =
                        self.shift.norm() + self.turn.norm() * (p.coords.norm() + reach) + 1e-12;
                    let mut s: f64 = 0.0;
                    loop {
                        let now = distance(s, p);
                        if now < 0.0 || s >= 1.0 {
                            return now < 0.0;
                        }
                        s = (s + now.max(5e-5) / length).min(1.0);
                    }
                })
            };
        enter(&a.core, 0.0, &|s, p| {
            b.shape.signed_distance(&(self.pose(s) * p)).value
        }) || enter(&b.core, far, &|s, p| {
            a.shape
                .signed_distance(&self.pose(s).inverse_transform_point(p))
                .value
        })
    }
}

/// The rotation vector from one rotation to another that is closest to `expected`: of at most half a turn, plus whole turns.
fn turn_between(
    from: &UnitQuaternion<f64>,
    to: &UnitQuaternion<f64>,
    expected: &Vector3<f64>,
) -> Vector3<f64> {
    let least = (to * from.inverse()).scaled_axis();
    match least.try_normalize(0.0) {
        Some(axis) => least + axis * (((expected - least).dot(&axis) / TAU).round() * TAU),
        None => least,
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    throws: u32,
    hits: u32,
    lost: u32,
    reported: u32,
}

/// How a body starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// In free flight towards the target.
    Aimed,
    /// Resting on the floor of a tub that moves.
    Carried,
}

fn throw(seed: u64, thrown: &str, target: &str, start: Start, count: &mut Count) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rng = &mut rng;
    let (mut a, b) = (Solid::random(rng, thrown), Solid::random(rng, target));
    let dt = log_uniform(rng, 1e-3, 1e-2);
    let speed = log_uniform(rng, 3.0, 20.0);
    let mut X_WB = Isometry3::from_parts(Translation3::identity(), rotation(rng));
    let radius = a.shape.radius_about_origin();
    let (X_WA, velocity, spin);
    match start {
        Start::Aimed => {
            spin = unit(rng) * log_uniform(rng, 1.0, 1.0 / dt);
            let aim = b.shape.local_aabb();
            let at = match b.shape {
                Shape::HalfSpace => Vector3::zeros(),
                _ => Vector3::from_fn(|k, _| rng.random_range(-0.7..0.7) * aim.half_extents()[k]),
            };
            let direction = match (&b.shape, target) {
                (Shape::HalfSpace, _) => -(X_WB * Vector3::z()) + unit(rng) * 0.7,
                (_, "tub") => -(X_WB * Vector3::z()) + unit(rng) * 0.5,
                _ => unit(rng),
            }
            .normalize();
            let reach = if let Shape::HalfSpace = b.shape {
                3.0 * radius
            } else {
                at.norm() + b.shape.radius_about_origin() + 1.1 * radius
            };
            let before = reach + speed * dt * rng.random_range(0.0..1.0);
            let p = X_WB * Point3::from(at) - direction * before;
            X_WA = Isometry3::from_parts(p.into(), rotation(rng));
            velocity = direction * speed;
        }
        Start::Carried => {
            spin = Vector3::zeros();
            X_WB = Isometry3::identity();
            // Small enough to have room in the tub, its long side flat on the floor.
            if radius > 0.02 {
                a = Solid::sphere(log_uniform(rng, 2e-3, 1e-2));
            }
            let floor = b.shape.local_aabb().min.z;
            let wall = {
                let inside = |z: f64| {
                    b.shape
                        .signed_distance(&Point3::new(0.0, 0.0, floor + z))
                        .value
                        < 0.0
                };
                (1..)
                    .map(|k| 1e-5 * f64::from(k))
                    .find(|z| !inside(*z))
                    .unwrap()
            };
            let upright = a.shape.aabb(&Isometry3::identity()).half_extents().z;
            X_WA = Isometry3::translation(0.0, 0.0, floor + wall + upright - 2e-5);
            let angle: f64 = rng.random_range(0.0..6.3);
            velocity = Vector3::new(angle.cos(), angle.sin(), 0.0) * speed;
        }
    }
    let mut builder = WorldBuilder::default();
    let friction = rng.random_range(0.0..0.8);
    let half = a.shape.local_aabb().half_extents();
    let mut model = ModelBuilder::new("thrown");
    model.root(Root::Floating);
    let mass = 1000.0 * 4.0 * half.product();
    model.link(LinkSpec::new(
        "body",
        SpatialInertia::solid_box(mass, 2.0 * half),
    ));
    let (p, r) = (X_WA.translation.vector, X_WA.rotation);
    let q = [p.x, p.y, p.z, r.w, r.i, r.j, r.k];
    let v = [spin.x, spin.y, spin.z, velocity.x, velocity.y, velocity.z];
    let tree = RigidTree::new(Arc::new(model.build().unwrap())).starting_at(&q, &v);
    let body = builder.add_body("thrown", Box::new(tree));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    builder.add_geometry(Geometry::new(
        "thrown",
        mount,
        a.shape.clone(),
        material(friction),
    ));
    let mount = Mount::World(X_WB);
    builder.add_geometry(Geometry::new(
        "target",
        mount,
        b.shape.clone(),
        material(friction),
    ));
    let world = builder.build().unwrap();

    let mut stepper = StrongImplicit::new(solver());
    let (mut state, mut next) = (world.default_state(), State::default());
    let pose = |state: &State| {
        let q = &state.bodies[0].q;
        let r = UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q[3], q[4], q[5], q[6]));
        X_WB.inv_mul(&Isometry3::from_parts(
            Translation3::new(q[0], q[1], q[2]),
            r,
        ))
    };
    count.throws += 1;
    let mut hit = false;
    let flight = match start {
        Start::Aimed => (3.5 * b.shape.size() + 4.0 * radius) / speed,
        Start::Carried => 0.05,
    };
    let steps = (flight / dt) as usize + 4;
    for _ in 0..steps.min(60) {
        let report = stepper.step(&world, &state, dt, &mut next).unwrap();
        hit |= !report.contacts.is_empty();
        let (start, end, v) = (pose(&state), pose(&next), &next.bodies[0].v);
        let turn_at_end = X_WB.inverse_transform_vector(&Vector3::new(v[0], v[1], v[2])) * dt;
        let path = Path {
            start,
            shift: end.translation.vector - start.translation.vector,
            turn: turn_between(&start.rotation, &end.rotation, &turn_at_end),
        };
        if let Some(Untrusted::MissedContact(_)) = report.untrusted() {
            count.reported += 1;
            break;
        }
        if path.enters(&a, &b) {
            count.lost += 1;
            break;
        }
        std::mem::swap(&mut state, &mut next);
    }
    count.hits += u32::from(hit);
}

/// Throws every pair so often; of all throws, at most `lost_max` may end inside or behind the target without a report.
fn check(throws_of_pair: u64, lost_max: u32) {
    let mut counts = BTreeMap::<(&str, &str), Count>::new();
    for seed in 0..throws_of_pair {
        for (i, thrown) in (0..).zip(THROWN) {
            for (j, target) in (0..).zip(TARGETS) {
                let number = (seed * 64 + i) * 64 + j;
                let count = counts.entry((thrown, target)).or_default();
                throw(number, thrown, target, Start::Aimed, count);
            }
            let count = counts.entry((thrown, "moving tub")).or_default();
            throw(seed * 64 + i, thrown, "tub", Start::Carried, count);
        }
    }
    let mut sum = Count::default();
    for ((thrown, target), c) in &counts {
        eprintln!(
            "{thrown:>10} {target:<15} {:>4} throws {:>4} hits {:>4} lost {:>4} reported",
            c.throws, c.hits, c.lost, c.reported
        );
        sum.throws += c.throws;
        sum.hits += c.hits;
        sum.lost += c.lost;
        sum.reported += c.reported;
    }
    eprintln!("{sum:?}");
    assert!(sum.lost <= lost_max, "{sum:?}");
    assert!(
        2 * sum.hits > sum.throws && 20 * sum.reported <= sum.throws,
        "{sum:?}"
    );
}

#[test]
fn no_fast_body_passes_another_unreported() {
    check(4, 0);
}

#[test]
#[ignore = "ten thousand throws: a minute"]
fn of_ten_thousand_fast_bodies_hardly_one_passes_another_unreported() {
    check(100, 4);
}
