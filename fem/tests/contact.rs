//! Finite-element bodies in contact: with fixed shapes, with robots' links, with each other and with themselves. Surfaces
//! touch by their vertices or by their triangles and tetrahedra.
#![allow(
    non_snake_case,
    reason = "monogram frame names and the field's F are the notation of the theory"
)]

mod support;

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::{
    FrictionLimit, MaterialPoint, Primitive, SolverKind, StopCriteria, SupportReaction,
};
use pliant_coupling::{
    Anchor, BodyIdx, ContactModel, ContactSettings, Exclusion, Geometry, GeometryIdx, Mount, State,
    StepReport, StrongImplicit, Tie, TieCompliance, TieKind, World, WorldBuilder,
};
use pliant_fem::{Axis, FemBody, FemBuilder, Region};
use pliant_hydroelastic::mesh::generate::{tet_cuboid, tet_torus};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{
    JointKind, JointSpec, LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia,
};
use support::{GRAVITY, built, corotated};

const MODELS: [ContactModel; 3] = [
    ContactModel::Lagged(FrictionLimit::LocalImplicit),
    ContactModel::Similar,
    ContactModel::Sap,
];

fn surface(friction: f64) -> ContactMaterial {
    ContactMaterial {
        friction,
        stiffness: 1e5,
        relaxation_time_s: 0.01,
        ..ContactMaterial::default()
    }
}

/// What of a body touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    Vertices,
    Surface,
}

const TOUCHES: [Touch; 2] = [Touch::Vertices, Touch::Surface];

fn add_soft(
    builder: &mut WorldBuilder,
    name: &str,
    body: FemBody,
    material: ContactMaterial,
    touch: Touch,
) -> (BodyIdx, GeometryIdx) {
    let body = builder.add_body(name, Box::new(body));
    let geometry = builder.add_geometry(match touch {
        Touch::Vertices => Geometry::of_vertices(name, body, material),
        Touch::Surface => Geometry::of_surface(name, body, material),
    });
    (body, geometry)
}

fn add_floor(builder: &mut WorldBuilder, material: ContactMaterial) -> GeometryIdx {
    let mount = Mount::World(Isometry3::identity());
    builder.add_geometry(Geometry::new("floor", mount, Shape::half_space(), material))
}

/// A cube of 0.1 m, 1 kg, standing with its lower corner at the origin of `X_WM`.
fn cube(youngs_modulus: f64, X_WM: Isometry3<f64>) -> FemBody {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    let builder = FemBuilder::new(mesh, corotated(youngs_modulus, 0.3), 1000.0);
    built(builder.pose(X_WM))
}

/// Steps `state`, showing each report and the state after it to `watch`; every step must be trusted.
fn run(
    world: &World,
    state: &mut State,
    time_step_s: f64,
    seconds: f64,
    mut watch: impl FnMut(&StepReport, &State),
) {
    let tight = StopCriteria {
        relative_tolerance: 1e-9,
        ..StopCriteria::default()
    };
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(tight));
    let mut next = State::default();
    for _ in 0..(seconds / time_step_s).round() as usize {
        let report = stepper.step(world, state, time_step_s, &mut next).unwrap();
        assert!(report.is_trusted(), "{:?}", report.solve);
        std::mem::swap(state, &mut next);
        watch(&report, state);
    }
}

fn center(state: &State, body: BodyIdx) -> Vector3<f64> {
    let q = &state.bodies[body.0].q;
    let sum: Vector3<f64> = q.chunks_exact(3).map(Vector3::from_column_slice).sum();
    sum / (q.len() / 3) as f64
}

fn center_velocity(state: &State, body: BodyIdx) -> Vector3<f64> {
    let v = &state.bodies[body.0].v;
    let sum: Vector3<f64> = v.chunks_exact(3).map(Vector3::from_column_slice).sum();
    sum / (v.len() / 3) as f64
}

fn every_contact() -> impl Iterator<Item = (ContactModel, Touch)> {
    MODELS
        .into_iter()
        .flat_map(|model| TOUCHES.map(|touch| (model, touch)))
}

/// A soft block on a plane tilted by tan θ = 0.364 (that is, under tilted gravity): its acceleration along the plane over
/// the last of two seconds, m/s², and its speed at the end.
fn on_incline(model: ContactModel, touch: Touch, friction: f64) -> (f64, f64) {
    let angle = 0.364_f64.atan();
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::new(angle.sin(), 0.0, -angle.cos()) * 9.81);
    builder.contact(ContactSettings {
        model,
        stiction_speed: 1e-7,
        ..ContactSettings::default()
    });
    add_floor(&mut builder, surface(friction));
    // Stiff rubber: what a contact creeps goes with the inverse of what resists at its vertex.
    let body = cube(1e7, Isometry3::translation(0.0, 0.0, 0.05));
    let (block, _) = add_soft(&mut builder, "block", body, surface(friction), touch);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 0.01, 1.0, |_, _| {});
    let before = center_velocity(&state, block).x;
    run(&world, &mut state, 0.01, 1.0, |_, _| {});
    let after = center_velocity(&state, block).x;
    (after - before, after)
}

#[test]
fn a_block_on_an_incline_sticks_above_its_critical_friction_and_slides_below() {
    let angle = 0.364_f64.atan();
    for (model, touch) in every_contact() {
        let (_, speed) = on_incline(model, touch, 0.4);
        eprintln!("{model:?}, {touch:?}: creeps at {speed:.2e} m/s");
        assert!(
            speed.abs() < 1e-6,
            "{model:?}, {touch:?}: {speed:e} m/s at μ 0.4"
        );
        let (acceleration, _) = on_incline(model, touch, 0.3);
        let exact = 9.81 * (angle.sin() - 0.3 * angle.cos());
        eprintln!("{model:?}, {touch:?}: slides with {acceleration:.5} of {exact:.5} m/s²");
        assert!(
            (acceleration / exact - 1.0).abs() < 0.01,
            "{model:?}, {touch:?}: {acceleration}"
        );
    }
}

/// A link that slides along x, pushed by a motor.
fn add_plate(
    builder: &mut WorldBuilder,
    name: &str,
    x: f64,
    friction: f64,
) -> (BodyIdx, GeometryIdx) {
    let size = Vector3::new(0.02, 0.3, 0.3);
    let mut model = ModelBuilder::new(name);
    model.root(Root::Fixed(Isometry3::translation(x, 0.0, 0.0)));
    model.link(LinkSpec::new("rail", SpatialInertia::zero()));
    model.link(LinkSpec::new("plate", SpatialInertia::solid_box(1.0, size)));
    model.joint(JointSpec::new("slide", JointKind::Prismatic, "rail", "plate").about(Vector3::x()));
    let body = builder.add_body(
        name,
        Box::new(RigidTree::new(Arc::new(model.build().unwrap()))),
    );
    let mount = Mount::Frame {
        body,
        frame: 1,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(size).unwrap();
    let geometry = builder.add_geometry(Geometry::new(name, mount, shape, surface(friction)));
    (body, geometry)
}

/// A block of 1 kg between two plates that press with 10 N: the force from the left at the end, N, and the block's speed.
fn between_plates(model: ContactModel, touch: Touch, friction: f64) -> (f64, f64) {
    let mut builder = WorldBuilder::default();
    builder.contact(ContactSettings {
        model,
        ..ContactSettings::default()
    });
    let (left, left_surface) = add_plate(&mut builder, "left", -0.06, friction);
    let (right, _) = add_plate(&mut builder, "right", 0.06, friction);
    builder.exclude(Exclusion::Bodies(left, right));
    let (block, block_surface) = add_soft(
        &mut builder,
        "block",
        cube(1e5, Isometry3::identity()),
        surface(friction),
        touch,
    );
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    state.controls[left.0].effort = vec![10.0];
    state.controls[right.0].effort = vec![-10.0];
    let mut push = 0.0;
    run(&world, &mut state, 0.01, 2.0, |report, _| {
        let pair = report.pair(left_surface, block_surface);
        push = pair.map_or(0.0, |pair| pair.force_on_a().x.abs());
    });
    (push, center_velocity(&state, block).z)
}

#[test]
fn a_block_between_plates_is_held_above_its_critical_friction_and_falls_below() {
    // 2 · 10 N · μ = 9.81 N at μ = 0.4905.
    for (model, touch) in every_contact() {
        let (push, speed) = between_plates(model, touch, 0.6);
        eprintln!("{model:?}, {touch:?}: pressed by {push:.9} N, creeps at {speed:.2e} m/s");
        assert!(
            (push - 10.0).abs() < 1e-6 * 10.0,
            "{model:?}, {touch:?}: {push} N"
        );
        assert!(speed.abs() < 1e-3, "{model:?}, {touch:?}: {speed} m/s");
        let (_, speed) = between_plates(model, touch, 0.4);
        // Until it has left the plates: g(1 − 0.4/0.4905) for two seconds, at most.
        assert!(speed < -0.5, "{model:?}, {touch:?}: {speed} m/s at μ 0.4");
    }
}

#[test]
fn soft_bodies_that_collide_keep_their_momentum() {
    TOUCHES.into_iter().for_each(collide);
}

#[track_caller]
fn collide(touch: Touch) {
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::zeros());
    let soft = |X_WM: Isometry3<f64>| {
        let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
        let builder = FemBuilder::new(mesh, corotated(1e5, 0.3), 1000.0);
        match touch {
            Touch::Vertices => built(builder.pose(X_WM).contact_radius(0.02)),
            Touch::Surface => built(builder.pose(X_WM)),
        }
    };
    let tilt = UnitQuaternion::from_scaled_axis(Vector3::new(0.4, 0.3, 0.2));
    let left = soft(Isometry3::identity());
    let right = soft(Isometry3::from_parts(
        Vector3::new(0.2, 0.02, 0.01).into(),
        tilt,
    ));
    let (a, surface_a) = add_soft(&mut builder, "left", left, surface(0.5), touch);
    let (b, surface_b) = add_soft(&mut builder, "right", right, surface(0.5), touch);
    builder.exclude(Exclusion::Bodies(a, a));
    builder.exclude(Exclusion::Bodies(b, b));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    state.bodies[a.0]
        .v
        .chunks_exact_mut(3)
        .for_each(|v| v[0] = 1.0);
    let before = world.energy(&state);
    let mut met = 0.0_f64;
    run(&world, &mut state, 0.002, 0.4, |report, _| {
        let wrench = |on: GeometryIdx| report.contact_wrench(&Point3::origin(), |g| g == on);
        let (on_a, on_b) = (wrench(surface_a), wrench(surface_b));
        met = met.max(on_a.force.norm());
        assert!((on_a.force + on_b.force).norm() <= 1e-12 * met.max(1.0));
        // Sides that only meet within the step are apart by what they go in it: 1 m/s for 2 ms.
        assert!((on_a.torque + on_b.torque).norm() <= 2e-3 * on_a.force.norm() + 1e-12);
    });
    assert!(met > 1.0, "they met: {met} N");
    let after = world.energy(&state);
    let change = (after.linear_momentum_W - before.linear_momentum_W).norm();
    assert!(
        change < 1e-9 * before.linear_momentum_W.norm(),
        "{change:e}"
    );
    assert!(after.kinetic + after.potential < before.kinetic);
    assert!(center_velocity(&state, b).x > 0.1);
}

/// A strip bent back over itself; how far its free end is above the floor in the end, m.
fn folded_strip(touch: Touch, touches_itself: bool) -> f64 {
    // Cells of 1 cm; balls of 6.9 mm leave no gap between them through which another fits.
    let radius = 6.9e-3;
    let mesh = tet_cuboid(Vector3::new(0.2, 0.02, 0.005), [40, 4, 1]).unwrap();
    let radius = if touch == Touch::Vertices {
        radius
    } else {
        0.0
    };
    let builder = FemBuilder::new(mesh, corotated(2e4, 0.3), 1000.0).contact_radius(radius);
    let middle = radius + 0.005;
    let strip = built(builder.pose(Isometry3::translation(0.0, 0.0, middle)));
    let mut builder = WorldBuilder::default();
    builder.gravity(GRAVITY);
    add_floor(&mut builder, surface(0.5));
    let (body, _) = add_soft(&mut builder, "strip", strip, surface(0.5), touch);
    if !touches_itself {
        builder.exclude(Exclusion::Bodies(body, body));
    }
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    // Half a turn about an axis along y, the far end over the near one.
    let (crease, bend) = (0.0, 0.025);
    for p in state.bodies[body.0].q.chunks_exact_mut(3) {
        let height = p[2] - middle;
        let angle = ((p[0] - crease) / bend).clamp(0.0, std::f64::consts::PI);
        if angle > 0.0 {
            let rest = p[0] - crease - angle * bend;
            let r = bend - height;
            p[0] = crease + r * angle.sin() + if angle < 3.1 { 0.0 } else { -rest };
            p[2] = middle + bend - r * angle.cos();
        }
    }
    run(&world, &mut state, 0.005, 1.0, |_, _| {});
    let vertices = state.bodies[body.0].q.chunks_exact(3).enumerate();
    let end = vertices.filter(|(i, _)| i % 41 == 40).map(|(_, p)| p[2]);
    end.fold(f64::INFINITY, f64::min)
}

#[test]
fn a_folded_strip_rests_on_itself_only_if_it_may_touch_itself() {
    for touch in TOUCHES {
        let (with, without) = (folded_strip(touch, true), folded_strip(touch, false));
        eprintln!(
            "{touch:?}: free end {with:.4} m above the floor, without self contact {without:.4} m"
        );
        // The lower layer is 10 mm thick and, of balls, lies 7 mm above the floor; its balls keep the upper one 11 mm away.
        let least = if touch == Touch::Vertices {
            0.025
        } else {
            0.0095
        };
        assert!(with > least, "{touch:?}: {with}");
        assert!(without < 0.008, "{touch:?}: {without}");
    }
}

#[test]
fn a_fast_soft_ball_does_not_pass_a_thin_plate() {
    for (speed, touch) in [10.0, 30.0]
        .into_iter()
        .flat_map(|v| TOUCHES.map(|t| (v, t)))
    {
        let mesh = tet_cuboid(Vector3::repeat(0.05), [3, 3, 3]).unwrap();
        // A cube's corners drawn in: x ↦ x |x|∞/|x|₂ is a ball.
        let rounded = mesh.vertices().iter().map(|p| {
            let norm = p.norm();
            if norm > 0.0 {
                p * (p.amax() / norm)
            } else {
                *p
            }
        });
        let tets = mesh.tets().iter().map(|t| t.map(|v| v.0)).collect();
        let options = pliant_hydroelastic::mesh::TetOptions::default();
        let ball = pliant_hydroelastic::mesh::TetMesh::build(rounded.collect(), tets, &options);
        let builder = FemBuilder::new(ball.unwrap().0, corotated(1e6, 0.4), 1000.0);
        let ball = built(builder.pose(Isometry3::translation(0.0, 0.0, 0.3)));
        let mut builder = WorldBuilder::default();
        let plate = Shape::cuboid(Vector3::new(1.0, 1.0, 0.005)).unwrap();
        let hard = ContactMaterial {
            stiffness: 1e7,
            ..ContactMaterial::default()
        };
        let mount = Mount::World(Isometry3::identity());
        builder.add_geometry(Geometry::new("plate", mount, plate, hard));
        let (body, _) = add_soft(&mut builder, "ball", ball, hard, touch);
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        state.bodies[body.0]
            .v
            .chunks_exact_mut(3)
            .for_each(|v| v[2] = -speed);
        let mut lowest = f64::INFINITY;
        run(&world, &mut state, 0.01, 0.3, |_, state| {
            let heights = state.bodies[body.0].q.chunks_exact(3).map(|p| p[2]);
            lowest = heights.fold(lowest, f64::min);
        });
        eprintln!(
            "{touch:?} at {speed} m/s: lowest vertex {:.2} mm above the plate's middle",
            1e3 * lowest
        );
        assert!(lowest > -0.0025, "{touch:?} at {speed} m/s: {lowest}");
        assert!(center(&state, body).z > 0.0);
    }
}

/// A soft cube on top of a free rigid one, every vertex of its lower face tied to it.
fn tied(upper: FemBuilder) -> (WorldBuilder, BodyIdx, BodyIdx) {
    let upper = built(upper);
    let mut builder = WorldBuilder::default();
    let mut model = ModelBuilder::new("weight");
    model.root(Root::Floating);
    let size = Vector3::repeat(0.1);
    model.link(LinkSpec::new(
        "weight",
        SpatialInertia::solid_box(2.0, size),
    ));
    let model = Arc::new(model.build().unwrap());
    let weight =
        RigidTree::new(model).starting_at(&[0.0, 0.0, -0.1, 1.0, 0.0, 0.0, 0.0], &[0.0; 6]);
    let lower = upper.points_in(&Region::HalfSpace {
        point: Vector3::z() * -0.05,
        normal: Vector3::z(),
    });
    let places = upper.mesh().vertices().to_vec();
    let rigid = builder.add_body("weight", Box::new(weight));
    let soft = builder.add_body("soft", Box::new(upper));
    for (k, point) in lower.unwrap().into_iter().enumerate() {
        let Primitive::Vertex(vertex) = point.primitive else {
            unreachable!("a region has vertices")
        };
        let p_F = places[vertex as usize] + Vector3::z() * 0.1;
        let frame = Anchor::Frame {
            body: rigid,
            frame: 0,
            X_FA: Isometry3::translation(p_F.x, p_F.y, p_F.z),
        };
        let point = Anchor::Point { body: soft, point };
        // Either way round.
        let (a, b) = if k % 2 == 0 {
            (point, frame)
        } else {
            (frame, point)
        };
        builder.add_tie(Tie {
            name: format!("glue {k}"),
            kind: TieKind::Ball,
            a,
            b,
            compliance: TieCompliance::NearRigid,
        });
    }
    (builder, soft, rigid)
}

fn soft_cube() -> FemBuilder {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [2, 2, 2]).unwrap();
    FemBuilder::new(mesh, corotated(1e5, 0.3), 1000.0)
}

#[test]
fn a_rigid_body_glued_to_a_soft_one_hangs_by_its_weight() {
    let ceiling = Region::HalfSpace {
        point: Vector3::z() * 0.05,
        normal: -Vector3::z(),
    };
    let (builder, _, rigid) = tied(soft_cube().fix(ceiling, &Axis::ALL));
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let mut pull = Vector3::zeros();
    run(&world, &mut state, 0.01, 3.0, |report, _| {
        let forces = report.ties.iter().enumerate();
        // On the rigid body: end B of the even ties, end A of the odd ones.
        pull = forces
            .map(|(k, tie)| tie.on_a.force * if k % 2 == 0 { -1.0 } else { 1.0 })
            .sum();
    });
    let weight = 2.0 * 9.81;
    eprintln!("glue carries {:.6} of {weight:.6} N", pull.z);
    assert!(
        (pull - Vector3::z() * weight).norm() < 1e-6 * weight,
        "{pull}"
    );
    let q = &state.bodies[rigid.0].q;
    // Stretched by about FL/EA, 2 %.
    let sag = -0.1 - q[2];
    assert!((1e-3..4e-3).contains(&sag), "{sag}");
    assert!(q[0].abs() < 1e-3 && q[1].abs() < 1e-3);
}

#[test]
fn glued_bodies_keep_their_momenta_in_free_flight() {
    let (mut builder, soft, rigid) = tied(soft_cube());
    builder.gravity(Vector3::zeros());
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    let (omega, v) = (Vector3::new(0.5, -0.3, 1.0), Vector3::new(0.4, 0.2, -0.1));
    state.bodies[rigid.0]
        .v
        .copy_from_slice(&[omega.x, omega.y, omega.z, v.x, v.y, v.z]);
    let q = state.bodies[soft.0].q.clone();
    for (v_W, q) in state.bodies[soft.0]
        .v
        .chunks_exact_mut(3)
        .zip(q.chunks_exact(3))
    {
        let arm = Vector3::from_column_slice(q) + Vector3::z() * 0.1;
        v_W.copy_from_slice((v + omega.cross(&arm)).as_slice());
    }
    let before = world.energy(&state);
    run(&world, &mut state, 0.005, 1.0, |_, _| {});
    let after = world.energy(&state);
    let linear = (after.linear_momentum_W - before.linear_momentum_W).norm();
    let angular = (after.angular_momentum_W - before.angular_momentum_W).norm();
    let share = angular / before.angular_momentum_W.norm();
    eprintln!(
        "linear momentum off by {linear:.1e}, angular by {:.3} %",
        100.0 * share
    );
    assert!(
        linear < 1e-9 * before.linear_momentum_W.norm(),
        "{linear:e}"
    );
    // First order in the step, a sixth of a turn.
    assert!(share < 0.01, "{share}");
}

#[test]
fn a_weld_of_a_point_is_refused() {
    let mut builder = WorldBuilder::default();
    let soft = builder.add_body("soft", Box::new(built(soft_cube())));
    builder.add_tie(Tie {
        name: "glue".into(),
        kind: TieKind::Weld,
        a: Anchor::Point {
            body: soft,
            point: MaterialPoint::on_vertex(0),
        },
        b: Anchor::World(Isometry3::identity()),
        compliance: TieCompliance::NearRigid,
    });
    let refused = builder
        .build()
        .err()
        .map(|e| e.to_string())
        .unwrap_or_default();
    assert!(
        refused.contains("\"glue\"") && refused.contains("no axes"),
        "{refused}"
    );
}

#[test]
fn a_vertex_tied_to_the_world_stays_and_one_that_is_not_there_is_refused() {
    let tie = |point: u32| {
        let mut builder = WorldBuilder::default();
        let body = builder.add_body("soft", Box::new(built(soft_cube())));
        builder.add_tie(Tie {
            name: "nail".into(),
            kind: TieKind::Ball,
            a: Anchor::World(Isometry3::translation(-0.05, -0.05, -0.05)),
            b: Anchor::Point {
                body,
                point: MaterialPoint::on_vertex(point),
            },
            compliance: TieCompliance::NearRigid,
        });
        builder.build().unwrap()
    };
    let world = tie(0);
    let mut state = world.default_state();
    run(&world, &mut state, 0.01, 0.5, |_, _| {});
    let nail = Vector3::from_column_slice(&state.bodies[0].q[..3]);
    assert!((nail + Vector3::repeat(0.05)).norm() < 1e-4, "{nail}");
    let world = tie(99);
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let refused = stepper.step(&world, &world.default_state(), 0.01, &mut State::default());
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("nail") && text.contains("27 vertices"),
        "{text}"
    );
}

#[test]
fn a_vertex_that_is_fixed_and_tied_at_once_is_refused_by_name() {
    let tied = |axes: &[Axis]| {
        let mut builder = WorldBuilder::default();
        let fixed = soft_cube().fix(Region::Vertices(vec![3, 4]), axes);
        let body = builder.add_body("cushion", Box::new(built(fixed)));
        builder.add_tie(Tie {
            name: "base".into(),
            kind: TieKind::Ball,
            a: Anchor::World(Isometry3::identity()),
            b: Anchor::Point {
                body,
                point: MaterialPoint::on_vertex(4),
            },
            compliance: TieCompliance::NearRigid,
        });
        builder.build().err().map(|e| e.to_string())
    };
    let refused = tied(&Axis::ALL).unwrap_or_default();
    for word in ["\"base\"", "vertex 4", "\"cushion\"", "fixed already"] {
        assert!(refused.contains(word), "{refused}");
    }
    // In one direction it is fixed, in the others it is tied.
    assert_eq!(tied(&[Axis::Z]), None);
}

/// A link of a chain hung over a hook: steps of 20 ms, as the paper's chain.
#[test]
fn a_hanging_link_pulls_its_hook_by_its_weight_and_stays_on_it() {
    // Upright, around y; the hook is a bar along y through its hole.
    let mesh = tet_torus(0.05, 0.014, 24, 4, 1).unwrap();
    let pose = Isometry3::rotation(Vector3::x() * std::f64::consts::FRAC_PI_2);
    for touch in TOUCHES {
        let material = corotated(1e6, 0.4);
        let link = built(FemBuilder::new(mesh.clone(), material, 1000.0).pose(pose));
        let weight = 9.81 * link.mass();
        let mut builder = WorldBuilder::default();
        let bar = Shape::capsule(0.012, 0.1).unwrap();
        // Under the top of the hole, a millimetre of air.
        let lying = Isometry3::from_parts(
            Vector3::new(0.0, 0.0, 0.036 - 0.012 - 0.001).into(),
            UnitQuaternion::from_scaled_axis(Vector3::x() * std::f64::consts::FRAC_PI_2),
        );
        let mount = Mount::World(lying);
        let hook = builder.add_geometry(Geometry::new("hook", mount, bar, surface(0.5)));
        let (body, _) = add_soft(&mut builder, "link", link, surface(0.5), touch);
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        let mut lowest = f64::INFINITY;
        run(&world, &mut state, 0.02, 4.0, |_, state| {
            lowest = lowest.min(center(state, body).z);
        });
        let (mut pull, mut steps) = (0.0, 0);
        run(&world, &mut state, 0.02, 1.0, |report, state| {
            pull -= report
                .contact_wrench(&Point3::origin(), |g| g == hook)
                .force
                .z;
            steps += 1;
            lowest = lowest.min(center(state, body).z);
        });
        let pull = pull / f64::from(steps);
        eprintln!("{touch:?}: hook carries {pull:.6} of {weight:.6} N, lowest at {lowest:.4} m");
        assert!((pull / weight - 1.0).abs() < 0.01, "{touch:?}: {pull} N");
        // Off its hook it would fall 20 cm in the first fifth of a second.
        assert!(lowest > -0.02, "{touch:?}: {lowest} m");
    }
}

#[test]
fn supports_carry_what_contacts_do_not() {
    // One edge of a standing cube is held; ground carries the rest of it and of the cube on top.
    let foot = Region::Box {
        min: Vector3::repeat(-0.05),
        max: Vector3::new(-0.05, 0.05, -0.05),
    };
    let mut builder = WorldBuilder::default();
    let floor = add_floor(&mut builder, surface(0.5));
    let standing = soft_cube().pose(Isometry3::translation(0.0, 0.0, 0.0499));
    let standing = built(standing.fix(foot, &Axis::ALL));
    let lying = built(soft_cube().pose(Isometry3::translation(0.013, 0.007, 0.152)));
    let touch = Touch::Surface;
    let (lower, _) = add_soft(&mut builder, "lower", standing, surface(0.5), touch);
    let (upper, _) = add_soft(&mut builder, "upper", lying, surface(0.5), touch);
    let world = builder.build().unwrap();
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    assert!(stepper.support_reactions(lower).is_empty());
    let (mut state, mut next) = (world.default_state(), State::default());
    let mut report = StepReport::default();
    for _ in 0..300 {
        report = stepper.step(&world, &state, 0.01, &mut next).unwrap();
        std::mem::swap(&mut state, &mut next);
    }
    let supports = stepper.support_reactions(lower);
    let at_foot = |s: &SupportReaction| (s.p_WV.coords + Vector3::x() * 0.05).xz().norm() < 2e-4;
    assert!(supports.len() == 3 && supports.iter().all(at_foot));
    assert!(stepper.support_reactions(upper).is_empty());
    let held: Vector3<f64> = supports.iter().map(|s| s.force_W).sum();
    let ground = -report
        .contact_wrench(&Point3::origin(), |g| g == floor)
        .force;
    eprintln!("supports {:.4} N, ground {:.4} N", held.z, ground.z);
    assert!(ground.z > 5.0 && held.norm() > 0.1, "{ground} {held}");
    let error = held + ground - Vector3::z() * (2.0 * 9.81);
    assert!(error.norm() < 1e-3, "{error}");
}
