//! A block on an incline under penalty forces: the discrete laws of sliding, stopping and sticking.
//!
//! Numbers without another source are derived in `docs/theory/ding-2020.md`.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, Attachment, AttachmentMotion, AttachmentPlace, Geometry,
    GeometryIdx, Mount, PairRule, State, StepReport, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_multibody::SpatialInertia;

use crate::penalty_worlds::{FLOOR, G, add_free_body, stepper, surface};

const BLOCK: GeometryIdx = GeometryIdx(1);

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
        Self::ruled(slope, friction, k, speed, mass, PairRule::default())
    }

    fn ruled(slope: f64, friction: f64, k: f64, speed: f64, mass: f64, rule: PairRule) -> Self {
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
        builder.pair_rule(FLOOR, BLOCK, rule);
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
                    on_edge: None,
                    motion: AttachmentMotion::default(),
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
fn static_friction_holds_what_sliding_friction_would_not() {
    let of = |slope, speed| {
        let rule = PairRule {
            static_friction: Some(0.125),
            ..PairRule::default()
        };
        Incline::ruled(slope, 0.1, 1e3, speed, 1.0, rule)
    };
    // Between the two coefficients it stays where it rests,
    let mut resting = of(0.1125, 0.0).preloaded(0.1125, 1.0);
    resting.run(1e-2, 2.0, |_, _| {});
    assert!(resting.x().abs() < 1e-12, "{:e}", resting.x());
    // and slides on where it slides, by the law of the smaller one.
    let mut sliding = of(0.1125, 0.1).preloaded(0.1, 1.0);
    for attachment in &mut sliding.state.memory.attachments {
        attachment.motion = AttachmentMotion::Slid;
    }
    let a = sliding.acceleration(0.1);
    sliding.run(1e-2, 1.0, |_, _| {});
    let expected = 0.1 + a * 1e-2 * 101.0 / 2.0;
    assert!((sliding.x() - expected).abs() < 1e-10, "{}", sliding.x());
    // Beyond the larger one it starts, and gains speed by the smaller one.
    let mut starting = of(0.2, 0.0).preloaded(0.125, 1.0);
    starting.run(1e-2, 1.0, |_, _| {});
    let v = starting.state.bodies[0].v[3];
    let expected = starting.acceleration(0.1);
    assert!((v / expected - 1.0).abs() < 0.01, "{v} {expected}");
}

#[test]
fn a_static_friction_below_that_of_sliding_is_refused() {
    let mut builder = WorldBuilder::default();
    let mount = Mount::World(Isometry3::identity());
    for name in ["floor", "wall"] {
        let geometry = Geometry::new(name, mount, Shape::half_space(), surface(1e3, 0.3));
        builder.add_geometry(geometry);
    }
    let rule = PairRule {
        static_friction: Some(0.2),
        ..PairRule::default()
    };
    builder.pair_rule(FLOOR, BLOCK, rule);
    let refused = builder
        .build()
        .err()
        .expect("0.2 is less than 0.3")
        .to_string();
    assert!(
        refused.contains("static friction") && refused.contains("0.2"),
        "{refused}"
    );
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
