//! Filters, groups and materials of pairs; and what of it changes with time, saved and loaded.

use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};
use pliant_contact_sap::{SolverKind, StopCriteria};
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, ConstraintState, Exclusion,
    Geometry, GeometryIdx, Mount, PairRule, State, StepReport, Stepper, StrongImplicit, World,
    WorldBuilder, WorldPart,
};
use pliant_hydroelastic::{ContactMaterial, PairMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

const DT: f64 = 1e-3;

fn with_floor() -> (WorldBuilder, GeometryIdx) {
    let mut builder = WorldBuilder::default();
    let mount = Mount::World(Isometry3::identity());
    let material = ContactMaterial::default();
    let floor = Geometry::new("floor", mount, Shape::half_space(), material);
    let floor = builder.add_geometry(floor);
    (builder, floor)
}

/// A box of 1 kg and 0.1 m that moves along x at `speed`.
fn add_box(
    builder: &mut WorldBuilder,
    name: &str,
    p: [f64; 3],
    speed: f64,
) -> (BodyIdx, GeometryIdx) {
    let mut model = ModelBuilder::new("box");
    model.root(Root::Floating);
    let inertia = SpatialInertia::solid_box(1.0, Vector3::repeat(0.1));
    model.link(LinkSpec::new("box", inertia));
    let tree = RigidTree::new(Arc::new(model.build().expect("a legal model"))).starting_at(
        &[p[0], p[1], p[2], 1.0, 0.0, 0.0, 0.0],
        &[0.0, 0.0, 0.0, speed, 0.0, 0.0],
    );
    let body = builder.add_body(name, Box::new(tree));
    let mount = Mount::Frame {
        body,
        frame: 0,
        X_FG: Isometry3::identity(),
    };
    let shape = Shape::cuboid(Vector3::repeat(0.1)).expect("positive lengths");
    let geometry = Geometry::new(name, mount, shape, ContactMaterial::default());
    (body, builder.add_geometry(geometry))
}

fn run(world: &World, state: &mut State, seconds: f64) -> StepReport {
    let mut stepper = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
    let (mut next, mut report) = (State::default(), StepReport::default());
    for _ in 0..(seconds / DT).round() as usize {
        stepper
            .step_into(world, state, DT, &mut next, &mut report)
            .expect("a step that can be taken");
        assert!(report.is_trusted());
        std::mem::swap(state, &mut next);
    }
    report
}

#[test]
fn groups_pass_through_what_they_are_excluded_from_and_touch_the_rest() {
    let (mut builder, floor) = with_floor();
    let (ghost, ghost_shape) = add_box(&mut builder, "ghost", [0.0, 0.0, 0.05], 0.0);
    let (solid, _) = add_box(&mut builder, "solid", [1.0, 0.0, 0.05], 0.0);
    let (ghosts, grounds) = (builder.group("ghosts"), builder.group("grounds"));
    assert_eq!(builder.group("ghosts"), ghosts);
    builder.join(ghost_shape, ghosts).join(floor, grounds);
    builder.exclude(Exclusion::Groups(grounds, ghosts));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let report = run(&world, &mut state, 0.1);
    assert!(
        (state.bodies[ghost.0].v[5] + 9.81 * 0.1).abs() < 1e-9,
        "falls freely"
    );
    assert!((state.bodies[solid.0].q[2] - 0.05).abs() < 1e-4, "stands");
    assert_eq!(report.pairs().count(), 1);
}

#[test]
fn a_group_excluded_from_itself_has_members_that_pass_through_each_other() {
    let overlapping = |excluded: bool| {
        let (mut builder, _) = with_floor();
        let (left, left_shape) = add_box(&mut builder, "left", [-0.02, 0.0, 0.05], 0.0);
        let (_, right_shape) = add_box(&mut builder, "right", [0.02, 0.0, 0.05], 0.0);
        let group = builder.group("heap");
        builder.join(left_shape, group).join(right_shape, group);
        if excluded {
            builder.exclude(Exclusion::Groups(group, group));
        }
        let world = builder.build().expect("a legal world");
        let mut state = world.default_state();
        let report = run(&world, &mut state, 0.05);
        assert_eq!(report.pair(left_shape, right_shape).is_none(), excluded);
        state.bodies[left.0].q[0]
    };
    assert!((overlapping(true) + 0.02).abs() < 1e-6, "stays where it is");
    assert!(overlapping(false) < -0.0202, "is pushed out");
}

#[test]
fn a_pair_s_own_material_replaces_the_combination_of_its_surfaces() {
    let (mut builder, floor) = with_floor();
    let (plain, _) = add_box(&mut builder, "plain", [0.0, 0.0, 0.05], 1.0);
    let (icy, icy_shape) = add_box(&mut builder, "icy", [0.0, 1.0, 0.05], 1.0);
    let surface = ContactMaterial::default();
    let rough = PairMaterial {
        friction: 3.0,
        ..surface.combined_with(&surface)
    };
    let ice = PairMaterial {
        friction: 0.0,
        ..rough
    };
    // In whatever order; the last one holds.
    builder.pair_rule(floor, icy_shape, PairRule::material(rough));
    builder.pair_rule(icy_shape, floor, PairRule::material(ice));
    let world = builder.build().expect("a legal world");
    let mut state = world.default_state();
    let _ = run(&world, &mut state, 0.5);
    assert!(
        state.bodies[plain.0].v[3].abs() < 1e-3,
        "friction 0.5 stopped it"
    );
    assert!(
        (state.bodies[icy.0].v[3] - 1.0).abs() < 1e-9,
        "nothing slows it"
    );
}

/// A constraint is released halfway; saved before, after, or not at all, the run goes on with the same bits.
#[test]
fn what_is_released_stays_released_in_a_saved_state() {
    let (mut builder, _) = with_floor();
    let (body, _) = add_box(&mut builder, "box", [0.0, 0.0, 0.4], 0.0);
    let constraint = builder.add_constraint(Constraint {
        name: "hook".into(),
        kind: ConstraintKind::Weld,
        a: Anchor::World(Isometry3::translation(0.0, 0.0, 0.4)),
        b: Anchor::Frame {
            body,
            frame: 0,
            X_FA: Isometry3::identity(),
        },
        compliance: ConstraintCompliance::NearRigid,
    });
    let world = builder.build().expect("a legal world");
    let saved = |state: &State| -> State {
        let text = serde_json::to_string(state).expect("plain data");
        serde_json::from_str(&text).expect("plain data")
    };
    let ends: Vec<State> = [(false, false), (true, false), (false, true), (true, true)]
        .into_iter()
        .map(|(before, after)| {
            let mut state = world.default_state();
            let _ = run(&world, &mut state, 0.1);
            if before {
                state = saved(&state);
            }
            state.constraints[constraint.0] = ConstraintState::Released;
            let _ = run(&world, &mut state, 0.1);
            if after {
                state = saved(&state);
            }
            let _ = run(&world, &mut state, 0.3);
            state
        })
        .collect();
    assert!(ends.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(ends[0].constraints, [ConstraintState::Released]);
    assert!((ends[0].bodies[0].q[2] - 0.05).abs() < 1e-3, "it fell");
}

#[test]
fn what_does_not_fit_is_refused_with_the_part_it_is_about() {
    type Spoil = fn(&mut WorldBuilder, GeometryIdx, BodyIdx);
    let cases: [(Spoil, WorldPart, &str); 9] = [
        (
            |b, _, _| {
                add_box(b, "box", [5.0, 0.0, 1.0], 0.0);
            },
            WorldPart::Body("box".into()),
            "body \"box\" is there twice",
        ),
        (
            |b, _, body| {
                let mount = Mount::Vertices { body };
                let shape = Shape::half_space();
                let material = ContactMaterial::default();
                b.add_geometry(Geometry::new("floor", mount, shape, material));
            },
            WorldPart::Geometry("floor".into()),
            "geometry \"floor\" is there twice",
        ),
        (
            |b, _, body| {
                let X_FG = Isometry3::identity();
                let mount = Mount::Frame {
                    body,
                    frame: 3,
                    X_FG,
                };
                let material = ContactMaterial::default();
                b.add_geometry(Geometry::new("fin", mount, Shape::half_space(), material));
            },
            WorldPart::Geometry("fin".into()),
            "geometry \"fin\" refers to frame 3, but there are only 1",
        ),
        (
            |b, _, _| {
                let mount = Mount::World(Isometry3::translation(f64::NAN, 0.0, 0.0));
                let material = ContactMaterial::default();
                b.add_geometry(Geometry::new("lost", mount, Shape::half_space(), material));
            },
            WorldPart::Geometry("lost".into()),
            "geometry \"lost\": translation (m) = NaN must be finite",
        ),
        (
            |b, g, _| {
                let material = ContactMaterial::default();
                let material = PairMaterial {
                    friction: -0.5,
                    ..material.combined_with(&material)
                };
                b.pair_rule(g, GeometryIdx(0), PairRule::material(material));
            },
            WorldPart::Pair("floor".into(), "box".into()),
            "the pair \"floor\", \"box\": friction = -0.5 must be finite",
        ),
        (
            |b, g, _| {
                b.exclude(Exclusion::Geometries(g, GeometryIdx(9)));
            },
            WorldPart::Exclusion(0),
            "exclusion 0 refers to geometry 9, but there are only 2",
        ),
        (
            |b, _, _| {
                let group = b.group("all");
                b.join(GeometryIdx(7), group);
            },
            WorldPart::Group("all".into()),
            "group \"all\" refers to geometry 7, but there are only 2",
        ),
        (
            |b, _, body| {
                let X_FA = Isometry3::identity();
                b.add_constraint(Constraint {
                    name: "rope".into(),
                    kind: ConstraintKind::Distance(0.0),
                    a: Anchor::World(Isometry3::identity()),
                    b: Anchor::Frame {
                        body,
                        frame: 0,
                        X_FA,
                    },
                    compliance: ConstraintCompliance::NearRigid,
                });
            },
            WorldPart::Constraint("rope".into()),
            "constraint \"rope\": length (m) = 0 must be positive",
        ),
        (
            |b, _, _| {
                b.gravity(Vector3::new(0.0, 0.0, f64::INFINITY));
            },
            WorldPart::World,
            "the world: gravity along z (m/s²) = inf must be finite",
        ),
    ];
    for (spoil, part, says) in cases {
        let (mut builder, _) = with_floor();
        let (body, shape) = add_box(&mut builder, "box", [0.0, 0.0, 0.05], 0.0);
        spoil(&mut builder, shape, body);
        let Err(error) = builder.build() else {
            panic!("{says}: was not refused")
        };
        assert_eq!(error.part(), part, "{error}");
        assert!(error.to_string().starts_with(says), "{error}");
    }
}
