//! Penalty forces with sliding attachments: the discrete laws of a block on an incline, stiction without creep, momentum, and what is refused.
//!
//! Numbers without another source are derived in `docs/theory/ding-2020.md`.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, Attachment, AttachmentPlace, BodyIdx, Geometry,
    GeometryIdx, Mount, PenaltyForce, PenaltyForceSettings, State, StepReport, Stepper,
    StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

const G: f64 = 9.81;
const FLOOR: GeometryIdx = GeometryIdx(0);
const BLOCK: GeometryIdx = GeometryIdx(1);

fn stepper() -> PenaltyForce {
    with_tolerance(1e-10)
}

fn with_tolerance(tolerance: f64) -> PenaltyForce {
    PenaltyForce::new(PenaltyForceSettings {
        tolerance,
        box_particles: 2,
        ..PenaltyForceSettings::default()
    })
    .expect("legal settings")
}

/// A surface whose pairs have stiffness `k` per particle.
fn surface(k: f64, friction: f64) -> ContactMaterial {
    ContactMaterial {
        stiffness: 2.0 * k,
        friction,
        ..ContactMaterial::default()
    }
}

fn add_free_body(
    builder: &mut WorldBuilder,
    name: &str,
    shape: Shape,
    inertia: SpatialInertia,
    material: ContactMaterial,
    X_WB: Isometry3<f64>,
    v: [f64; 6],
) -> BodyIdx {
    let mut model = ModelBuilder::new(name);
    model.root(Root::Floating);
    model.link(LinkSpec::new(name, inertia));
    let (p, r) = (X_WB.translation.vector, X_WB.rotation);
    let tree = RigidTree::new(Arc::new(model.build().expect("a legal model")))
        .starting_at(&[p.x, p.y, p.z, r.w, r.i, r.j, r.k], &v);
    let body = builder.add_body(name, Box::new(tree));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    builder.add_geometry(Geometry::new(name, mount, shape, material));
    body
}

/// A block of 1 kg on four corners, on a floor under gravity along a slope of `tan θ`, with total stiffness `k`; it does not rotate.
struct Incline {
    world: World,
    state: State,
    /// Normal force over stiffness, m.
    depth: f64,
    slope: f64,
}

impl Incline {
    fn new(slope: f64, friction: f64, k: f64, speed: f64) -> Self {
        Self::scaled(slope, friction, k, speed, 1.0)
    }

    fn scaled(slope: f64, friction: f64, k: f64, speed: f64, mass: f64) -> Self {
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::new(slope, 0.0, -1.0).normalize() * G);
        let material = surface(0.25 * k * mass, friction);
        let mount = Mount::World(Isometry3::identity());
        builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
        let cosine = 1.0 / 1.0_f64.hypot(slope);
        let depth = G * cosine / k;
        let lengths = Vector3::repeat(0.1);
        add_free_body(
            &mut builder,
            "block",
            Shape::cuboid(lengths).expect("positive lengths"),
            SpatialInertia::solid_box(mass, lengths),
            material,
            Isometry3::translation(0.0, 0.0, 0.05 - depth),
            [0.0, 0.0, 0.0, speed, 0.0, 0.0],
        );
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        state.controls[0].held = vec![Some(0.0), Some(0.0), Some(0.0), None, None, None];
        Self {
            world,
            state,
            depth,
            slope,
        }
    }

    /// Attachments behind the corners by `share` of μ d, as a contact that has slid has them with share 1.
    fn preloaded(mut self, friction: f64, share: f64) -> Self {
        // Corners of the box in the order of its particles: −x first, then −y; those below come first.
        self.state.memory.attachments = (0..4)
            .map(|particle| {
                let side = |axis: u32| {
                    if particle >> axis & 1 == 0 {
                        -0.05
                    } else {
                        0.05
                    }
                };
                let x = side(0) - share * friction * self.depth;
                Attachment {
                    object: FLOOR,
                    particles: BLOCK,
                    particle,
                    place: AttachmentPlace::InFrame(Point3::new(x, side(1), 0.0)),
                }
            })
            .collect();
        self
    }

    /// Steps until `until`, with every step trusted; calls `each` with state and report.
    fn run(&mut self, dt: f64, until: f64, mut each: impl FnMut(&State, &StepReport)) {
        let mut stepper = stepper();
        let (mut next, mut report) = (State::default(), StepReport::default());
        let steps = (until / dt).round() as usize;
        for _ in 0..steps {
            stepper
                .step_into(&self.world, &self.state, dt, &mut next, &mut report)
                .expect("a step that can be taken");
            assert!(report.is_trusted(), "{:?}", report.penalty_force);
            std::mem::swap(&mut self.state, &mut next);
            each(&self.state, &report);
        }
    }

    fn x(&self) -> f64 {
        self.state.bodies[0].q[0]
    }

    /// g (sin θ − μ cos θ).
    fn acceleration(&self, friction: f64) -> f64 {
        G * (self.slope - friction) / 1.0_f64.hypot(self.slope)
    }
}

#[test]
fn a_sliding_block_follows_the_discrete_law() {
    for (k, dt) in [(1e3, 1e-2), (1e3, 1e-3), (1e6, 1e-2)] {
        let mut incline = Incline::new(0.1125, 0.1, k, 0.1).preloaded(0.1, 1.0);
        let a = incline.acceleration(0.1);
        assert!((a - 0.121_856_3).abs() < 1e-7);
        let mut n = 0.0;
        incline.run(dt, 0.5, |state, _| {
            n += 1.0;
            let expected = n * dt * 0.1 + a * dt * dt * n * (n + 1.0) / 2.0;
            let x = state.bodies[0].q[0];
            assert!((x - expected).abs() < 1e-10, "{x} {expected}");
        });
    }
}

#[test]
fn a_block_stops_where_coulomb_friction_stops_it() {
    // v₀²/(2|a|) less the first-order error of backward Euler; at k = 1e6 and dt = 0.01 the range of velocities that stick is 1.2e-4 m/s wide,
    // and Newton's method without a search passes 0.0607 m.
    for (k, dt) in [(1e3, 1e-2), (1e3, 1e-3), (1e5, 1e-2), (1e6, 1e-2)] {
        let mut incline = Incline::new(0.1125, 0.125, k, 0.1).preloaded(0.125, 1.0);
        let mut farthest = 0.0_f64;
        incline.run(dt, 1.2, |state, _| {
            farthest = farthest.max(state.bodies[0].q[0])
        });
        let expected = 0.041_031_9 * (1.0 - dt / 0.820_639);
        assert!(
            (farthest / expected - 1.0).abs() < 5e-4,
            "k {k}, dt {dt}: {farthest} {expected}"
        );
        // Then it springs back by (μ − tan θ) d, and rings about that place where the step is short.
        let back = farthest - incline.x();
        assert!((0.0..=2.01 * (0.125 - 0.1125) * incline.depth).contains(&back));
    }
}

#[test]
fn attachments_that_stick_keep_every_bit_and_nothing_creeps() {
    for share in [0.0, 0.9] {
        let mut incline = Incline::new(0.1125, 0.125, 1e3, 0.0).preloaded(0.125, share);
        incline.run(1e-2, 20.0, |_, _| {});
        let (attachments, x) = (incline.state.memory.attachments.clone(), incline.x());
        assert_eq!(attachments.len(), 4);
        incline.run(1e-2, 30.0, |_, _| {});
        assert_eq!(incline.state.memory.attachments, attachments);
        assert!((incline.x() - x).abs() < 1e-12, "{:e}", incline.x() - x);
    }
}

#[test]
fn on_a_ramp_a_block_slides_where_the_slope_exceeds_the_friction() {
    let dt = 1e-2;
    for slope in [0.05, 0.2, 0.8] {
        for ratio in [0.95, 0.99, 1.01, 1.05, 1.2] {
            let friction = ratio * slope;
            let mut incline =
                Incline::new(slope, friction, 1e4, 0.0).preloaded(friction, 1.0 / ratio.max(1.0));
            let mut n = 0.0;
            incline.run(dt, 3.0, |_, _| n += 1.0);
            let v = incline.state.bodies[0].v[3];
            let expected = incline.acceleration(friction).max(0.0) * n * dt;
            assert!(
                (v - expected).abs() < 1e-9,
                "tan θ {slope}, ratio {ratio}: {v} {expected}"
            );
        }
    }
}

#[test]
fn the_unit_of_mass_changes_no_trajectory() {
    let run = |mass: f64| {
        let mut incline = Incline::scaled(0.1125, 0.125, 1e4, 0.1, mass);
        let mut path = Vec::new();
        incline.run(1e-2, 1.5, |state, _| path.push(state.bodies[0].q[0]));
        path
    };
    // A power of two changes no rounding.
    assert_eq!(run(1.0), run(2.0_f64.powi(-20)));
    let apart = run(1.0)
        .iter()
        .zip(run(1e-6))
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    assert!(apart < 1e-9, "{apart:e}");
}

#[test]
fn a_stack_of_equal_cubes_stands_and_keeps_every_bit() {
    let (k, side) = (1e3, 0.2);
    let mut builder = WorldBuilder::default();
    let material = surface(k, 0.2);
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
    let lengths = Vector3::repeat(side);
    for (i, name) in ["low", "middle", "high"].into_iter().enumerate() {
        add_free_body(
            &mut builder,
            name,
            Shape::cuboid(lengths).expect("positive lengths"),
            SpatialInertia::solid_box(1.0, lengths),
            material,
            Isometry3::translation(0.0, 0.0, (i as f64 + 0.5) * side),
            [0.0; 6],
        );
    }
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let mut stepper = PenaltyForce::new(PenaltyForceSettings::default()).expect("legal settings");
    let mut next = State::default();
    let mut run = |state: &mut State, steps: usize| {
        for _ in 0..steps {
            let report = stepper
                .step(&world, state, 1e-2, &mut next)
                .expect("a step");
            assert!(report.is_trusted(), "{:?}", report.penalty_force);
            std::mem::swap(state, &mut next);
        }
    };
    run(&mut state, 1500);
    // 16 particles on the floor, 4 within each face of a pair; those on its rim are on the sides of the other.
    let sag = G / k * (3.0 / 16.0 + 2.0 / 8.0 + 1.0 / 8.0);
    let height = state.bodies[2].q[2];
    assert!((height - (2.5 * side - sag)).abs() < 1e-6, "{height}");
    // Those on the rim touch the sides of the other cube by round-off, and come and go.
    let bearing = |state: &State| -> Vec<Attachment> {
        let within = |a: &&Attachment| {
            let AttachmentPlace::InFrame(p) = a.place else {
                return false;
            };
            a.object == FLOOR || p.x.abs().max(p.y.abs()) < 0.45 * side
        };
        let attachments = state.memory.attachments.iter();
        attachments.filter(within).copied().collect()
    };
    let before = bearing(&state);
    assert_eq!(before.len(), 16 + 2 * 8);
    run(&mut state, 1500);
    assert_eq!(bearing(&state), before);
    assert!((state.bodies[2].q[2] - height).abs() < 1e-10);
}

/// Two cubes that meet off centre, spinning, without gravity.
fn collision(friction: f64) -> World {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let lengths = Vector3::repeat(0.2);
    let turned = UnitQuaternion::from_euler_angles(0.5, 0.7, 0.2);
    let second = Isometry3::from_parts(Translation3::new(0.27, 0.04, 0.03), turned);
    for (name, mass, pose, v) in [
        (
            "left",
            1.0,
            Isometry3::identity(),
            [0.3, -0.2, 0.5, 1.0, 0.0, 0.1],
        ),
        ("right", 2.0, second, [0.0, 0.4, -0.3, -0.8, 0.1, 0.0]),
    ] {
        add_free_body(
            &mut builder,
            name,
            Shape::cuboid(lengths).expect("positive lengths"),
            SpatialInertia::solid_box(mass, lengths),
            surface(2e3, friction),
            pose,
            v,
        );
    }
    builder.build().expect("a legal world")
}

#[test]
fn a_collision_keeps_momentum_and_angular_momentum_up_to_the_defect_of_backward_euler() {
    let (world, dt) = (collision(0.4), 2e-3);
    let mut state = world.default_state();
    let before = world.energy(&state);
    let mut stepper = with_tolerance(1e-12);
    let (mut next, mut report) = (State::default(), StepReport::default());
    let mut expected = before.angular_momentum_W;
    let mut impulse = 0.0_f64;
    for _ in 0..150 {
        stepper
            .step_into(&world, &state, dt, &mut next, &mut report)
            .expect("a step that can be taken");
        assert!(report.is_trusted(), "{:?}", report.penalty_force);
        // c₁ × m v₁ − c₀ × m v₀ = c₀ × δt f, while torques about the centres have arms from c₁ = c₀ + δt v₁.
        let v = |b: usize| Vector3::from_column_slice(&next.bodies[b].v[3..]);
        let force = report
            .contact_wrench(&Point3::origin(), |g| g == GeometryIdx(0))
            .force;
        expected -= (v(0) - v(1)).cross(&force) * (dt * dt);
        impulse += force.norm() * dt;
        std::mem::swap(&mut state, &mut next);
    }
    let after = world.energy(&state);
    assert!(impulse > 0.5, "they have met: {impulse}");
    assert!((after.linear_momentum_W - before.linear_momentum_W).norm() < 1e-10);
    let off = (after.angular_momentum_W - expected).norm();
    assert!(off < 1e-9, "{off:e}");
    // Backward Euler takes energy out, never in.
    assert!(after.kinetic < before.kinetic);
}

#[test]
fn a_sphere_rolls_or_slips_down_a_plane() {
    // g sin θ 5/7, and g (sin θ − μ cos θ) with the spin 5 μ g cos θ/(2 r); particles on the sphere make it a polyhedron.
    let slope = 20.0_f64.to_radians().tan();
    for (friction, expected, spin) in [(0.3, 2.396_58, 2.396_58), (0.01, 3.263_00, 0.230_460)] {
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::new(slope, 0.0, -1.0).normalize() * G);
        let material = surface(2e3, friction);
        let mount = Mount::World(Isometry3::identity());
        builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material));
        let sphere = SpatialInertia::solid_sphere(1.0, 0.5);
        add_free_body(
            &mut builder,
            "sphere",
            Shape::sphere(0.5).expect("a positive radius"),
            sphere,
            material,
            Isometry3::translation(0.0, 0.0, 0.497),
            [0.0; 6],
        );
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        let mut stepper = PenaltyForce::new(PenaltyForceSettings {
            round_particles: 80,
            ..PenaltyForceSettings::default()
        })
        .expect("legal settings");
        let mut next = State::default();
        let (dt, until) = (5e-3, 1.0);
        for _ in 0..(until / dt) as usize {
            let report = stepper.step(&world, &state, dt, &mut next).expect("a step");
            assert!(report.is_trusted(), "{:?}", report.penalty_force);
            std::mem::swap(&mut state, &mut next);
        }
        let v = &state.bodies[0].v;
        assert!(
            (v[3] / (expected * until) - 1.0).abs() < 0.05,
            "μ {friction}: {}",
            v[3]
        );
        assert!(
            (v[1] * 0.5 - spin * until).abs() < 0.05 * expected,
            "μ {friction}: {}",
            v[1]
        );
    }
}

#[test]
fn a_saved_state_goes_on_with_the_same_bits() {
    let world = collision(0.4);
    let mut state = world.default_state();
    let mut next = State::default();
    let mut stepper = with_tolerance(1e-8);
    for _ in 0..40 {
        let _ = stepper
            .step(&world, &state, 2e-3, &mut next)
            .expect("a step");
        std::mem::swap(&mut state, &mut next);
    }
    assert!(!state.memory.attachments.is_empty());
    let saved = serde_json::to_string(&state).expect("plain data");
    let restored: State = serde_json::from_str(&saved).expect("what was written");
    let _ = stepper
        .step(&world, &state, 2e-3, &mut next)
        .expect("a step");
    let mut other = State::default();
    let _ = with_tolerance(1e-8)
        .step(&world, &restored, 2e-3, &mut other)
        .expect("a step");
    assert_eq!(next, other);
}

#[test]
fn settings_out_of_range_and_rigid_pairs_are_refused() {
    let bad = [
        PenaltyForceSettings {
            tolerance: 0.0,
            ..Default::default()
        },
        PenaltyForceSettings {
            tolerance: f64::NAN,
            ..Default::default()
        },
        PenaltyForceSettings {
            iterations_max: 0,
            ..Default::default()
        },
        PenaltyForceSettings {
            krylov_max: 0,
            ..Default::default()
        },
        PenaltyForceSettings {
            round_particles: 2,
            ..Default::default()
        },
        PenaltyForceSettings {
            box_particles: 1,
            ..Default::default()
        },
    ];
    for settings in bad {
        assert!(PenaltyForce::new(settings).is_err(), "{settings:?}");
    }
    let mut builder = WorldBuilder::default();
    let rigid = ContactMaterial {
        stiffness: f64::INFINITY,
        ..ContactMaterial::default()
    };
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), rigid));
    let lengths = Vector3::repeat(0.1);
    let cube = Shape::cuboid(lengths).expect("positive lengths");
    let inertia = SpatialInertia::solid_box(1.0, lengths);
    add_free_body(
        &mut builder,
        "cube",
        cube,
        inertia,
        rigid,
        Isometry3::identity(),
        [0.0; 6],
    );
    let world = builder.build().expect("a legal world");
    let error = stepper()
        .step(&world, &world.default_state(), 1e-2, &mut State::default())
        .expect_err("no finite stiffness");
    assert!(error.to_string().contains("must be finite"), "{error}");
}

/// The end of a step is a function of the start alone, whatever another stepper left in the memory that it is written to.
#[test]
fn other_steppers_leave_no_attachments_in_a_state_that_they_write() {
    let Incline { world, state, .. } = Incline::new(0.1, 0.5, 1e4, 0.2).preloaded(0.5, 1.0);
    assert!(!state.memory.attachments.is_empty());
    let strong = || StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let asynchronous = Asynchronous::new(strong(), AsynchronousSettings::default());
    let steppers: [Box<dyn Stepper>; 2] = [
        Box::new(strong()),
        Box::new(asynchronous.expect("legal settings")),
    ];
    for mut stepper in steppers {
        let (mut fresh, mut reused) = (State::default(), state.clone());
        let _ = stepper
            .step(&world, &state, 1e-3, &mut fresh)
            .expect("a step");
        let _ = stepper
            .step(&world, &state, 1e-3, &mut reused)
            .expect("a step");
        assert!(reused.memory.attachments.is_empty());
        assert_eq!(fresh, reused);
    }
}
