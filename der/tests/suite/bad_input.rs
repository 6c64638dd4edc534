//! Invalid input is rejected with an error that names the item, its position and its value.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{Control, DeformableModel, Load, MaterialPoint, StepInput};
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, WorldBuilder,
};
use pliant_der::{
    Centreline, Closure, End, EndCondition, FreeMotionSettings, Material, NaturalShape,
    NaturalShapeSchedule, NaturalStrain, Rayleigh, Rod, RodBuilder, RodError, RodProperties,
    Schedule, Section,
};

fn line() -> Centreline {
    Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 4)
}

fn builder(line: Centreline) -> RodBuilder {
    let rubber = Material::isotropic(1e6, 0.5, 1000.0).unwrap();
    RodBuilder::new(line).section(Section::Circle { radius: 0.01 }, rubber)
}

#[track_caller]
fn error(builder: RodBuilder) -> String {
    builder.build().map(|_: Rod| ()).unwrap_err().to_string()
}

#[track_caller]
fn contains(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(
            message.contains(part),
            "\"{message}\" does not contain \"{part}\""
        );
    }
}

#[test]
fn errors_of_centrelines_name_the_node() {
    let with = |nodes: &[[f64; 3]], closure| {
        let nodes = nodes.iter().map(|p| Point3::from(*p)).collect();
        error(builder(Centreline { nodes, closure }))
    };
    let (a, b, c) = ([0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.1, 0.0]);
    contains(&with(&[a, b], Closure::Open), &["3 nodes", "2 were given"]);
    contains(
        &with(&[a, b, b, c], Closure::Open),
        &["nodes 1 and 2", "0e0 m apart"],
    );
    contains(
        &with(&[a, b, a, c], Closure::Open),
        &["node 1", "180.0 degrees"],
    );
    let nan = [1.0, f64::NAN, 0.0];
    contains(
        &with(&[a, nan, c], Closure::Open),
        &["node 1", "coordinate y = NaN"],
    );
    let far = [
        [0.0; 3],
        [1.0, 0.0, 0.0],
        [2.0, 0.3, 0.0],
        [3.0, 0.5, 0.0],
        [4.0, 1.5, 0.0],
    ];
    contains(
        &with(&far, Closure::Closed),
        &["has a gap", "node 4", "4.27"],
    );
}

#[test]
fn errors_of_directors_name_the_edge() {
    let long = error(builder(line()).director(Vector3::new(0.0, 2.0, 0.0)));
    contains(
        &long,
        &["edge 0", "[0.0, 2.0, 0.0]", "of length 2", "unit vector"],
    );
    let along = error(builder(line()).director(Vector3::x()));
    contains(&along, &["edge 0", "0.00 degrees with the edge"]);
    let nan = error(builder(line()).director(Vector3::new(f64::NAN, 0.0, 0.0)));
    contains(&nan, &["edge 0", "NaN"]);
    let mut three = vec![Vector3::z(); 4];
    three[2] = Vector3::zeros();
    contains(
        &error(builder(line()).directors(three)),
        &["edge 2", "of length 0"],
    );
    let few = error(builder(line()).directors(vec![Vector3::z(); 2]));
    contains(&few, &["2 directors", "4 edges"]);
}

#[test]
fn errors_of_stiffnesses_and_settings_give_name_and_value() {
    let properties = RodProperties {
        stretch: 1.0,
        bend_1: 1.0,
        bend_2: 1.0,
        twist: 1.0,
        mass: 1.0,
        spin_inertia: 1.0,
    };
    contains(&error(RodBuilder::new(line())), &["no stiffness"]);
    let soft = RodProperties {
        bend_1: -3.0,
        ..properties
    };
    let mut along = vec![properties; 4];
    along[3] = soft;
    contains(
        &error(RodBuilder::new(line()).properties_along(along)),
        &["bending stiffness EI1 of edge 3 = -3", "not negative"],
    );
    let light = RodProperties {
        mass: 0.0,
        ..properties
    };
    contains(
        &error(RodBuilder::new(line()).properties(light)),
        &["mass per unit length", "= 0"],
    );
    let damping = Rayleigh {
        mass: 0.0,
        stiffness: -0.1,
    };
    contains(&error(builder(line()).damping(damping)), &["beta = -0.1"]);
    contains(
        &error(builder(line()).rest_length_scale(0.0)),
        &["rest length scale = 0"],
    );
    let settings = FreeMotionSettings {
        relative_tolerance: 2.0,
        ..FreeMotionSettings::default()
    };
    contains(
        &error(builder(line()).free_motion(settings)),
        &["tolerance", "= 2"],
    );
}

#[test]
fn errors_of_natural_shapes_name_the_node() {
    let sharp = NaturalStrain {
        curvature_1: 20.0,
        ..NaturalStrain::default()
    };
    let mut strains = vec![NaturalStrain::default(); 5];
    strains[2] = sharp;
    let message = error(builder(line()).natural_shape(NaturalShape::PerNode(strains)));
    contains(&message, &["node 2", "= 5", "more edges"]);
    let short = NaturalShape::PerNode(vec![sharp]);
    contains(
        &error(builder(line()).natural_shape(short)),
        &["1 natural strains", "5 nodes"],
    );
    let schedule = NaturalShapeSchedule {
        curvature: Schedule::ramp(2.0, 1.0, 0.0, 1.0),
        twist: Schedule::default(),
    };
    contains(
        &error(builder(line()).natural_shape_schedule(schedule)),
        &["schedule point 1 = 1"],
    );
    // Scaled beyond the limit. The node is numbered as the user does, also behind a clamp edge and where a rod closes.
    let schedule = NaturalShapeSchedule {
        curvature: Schedule::ramp(0.0, 1.0, 1.0, 3.0),
        twist: Schedule::default(),
    };
    let bent_at = |node: usize, n: usize| {
        let mut strains = vec![NaturalStrain::default(); n];
        strains[node].curvature_1 = 4.0;
        NaturalShape::PerNode(strains)
    };
    let clamped = builder(line()).end(End::Start, EndCondition::Clamped { tangent: None });
    for node in [1, 3] {
        let scaled = clamped.clone().natural_shape(bent_at(node, 5));
        contains(
            &error(scaled.natural_shape_schedule(schedule.clone())),
            &[&format!("node {node} "), "= 3", "more edges"],
        );
    }
    for node in [0, 1, 11] {
        let closed = builder(Centreline::circle(0.5, 12)).natural_shape(bent_at(node, 12));
        contains(
            &error(closed.natural_shape_schedule(schedule.clone())),
            &[&format!("node {node} "), "= 3.1", "more edges"],
        );
    }
    let closed = builder(Centreline::circle(1.0, 12)).initial_twist(3.0);
    contains(&error(closed), &["turns) = 0.477", "integer"]);
}

#[test]
fn conflicting_boundary_conditions_are_rejected() {
    let clamped = EndCondition::Clamped { tangent: None };
    let both = builder(line())
        .end(End::Start, clamped)
        .end(End::Start, EndCondition::Pinned);
    contains(&error(both), &["node 0", "clamped and pinned"]);
    let pinned = builder(line()).end(End::Finish, clamped).pin(4);
    contains(&error(pinned), &["node 4", "clamped and pinned"]);
    contains(
        &error(builder(line()).pin(5)),
        &["node 5 does not exist", "the rod has 5"],
    );
    let closed = builder(Centreline::circle(1.0, 12));
    contains(
        &error(closed.clone().end(End::Start, clamped)),
        &["a closed rod has no ends"],
    );
    contains(
        &error(closed.frame_at_end("tip", End::Finish)),
        &["\"tip\"", "a closed rod has no ends"],
    );
    let duplicate = builder(line()).frame("a", 0, 0.5).frame("a", 1, 0.5);
    contains(
        &error(duplicate),
        &["two frames of the rod are named \"a\""],
    );
    contains(
        &error(builder(line()).frame("a", 4, 0.5)),
        &["edge 4 does not exist"],
    );
    contains(
        &error(builder(line()).frame("a", 0, 1.5)),
        &["\"a\" = 1.5", "[0, 1]"],
    );
    let oblique = EndCondition::Clamped {
        tangent: Some(Vector3::z()),
    };
    contains(
        &error(builder(line()).end(End::Start, oblique)),
        &["cosine", "node 0", "= 0"],
    );
    let long = EndCondition::Welded {
        tangent: Some(Vector3::x() * 3.0),
    };
    contains(
        &error(builder(line()).end(End::Finish, long)),
        &["length", "[3.0, 0.0, 0.0]", "node 4", "= 3 must be 1"],
    );
    let rod = builder(line()).frame("tip", 3, 1.0).build().unwrap();
    let error = rod.frame("top").unwrap_err().to_string();
    contains(&error, &["no frame \"top\"", "its frames are: tip"]);
    let mut control = Control::default();
    let none = Vector3::zeros();
    let state = rod.default_state();
    let result = rod.set_clamp_velocity(End::Start, &state, &none, &none, &mut control);
    contains(&result.unwrap_err().to_string(), &["Start", "clamped"]);
}

#[test]
fn a_constraint_on_a_fixed_end_is_rejected_with_its_vertex() {
    let ends = |start, finish| {
        builder(line())
            .end(End::Start, start)
            .end(End::Finish, finish)
            .frame_at_end("start", End::Start)
            .frame_at_end("finish", End::Finish)
            .frame("middle", 2, 0.0)
            .build()
            .unwrap()
    };
    let constrained = |rod: &Rod, anchor: Anchor, kind| {
        let mut world = WorldBuilder::default();
        world.add_body("rope", Box::new(rod.clone()));
        world.add_constraint(Constraint {
            name: "hand".into(),
            kind,
            a: Anchor::World(Isometry3::identity()),
            b: anchor,
            compliance: ConstraintCompliance::NearRigid,
        });
        world
            .build()
            .map_or_else(|e| e.to_string(), |_| "accepted".into())
    };
    let frame = |rod: &Rod, name: &str, offset: Vector3<f64>| Anchor::Frame {
        body: BodyIdx(0),
        frame: rod.frame(name).unwrap(),
        X_FA: Isometry3::from_parts(offset.into(), Default::default()),
    };
    let node = |i: u32| Anchor::Point {
        body: BodyIdx(0),
        point: MaterialPoint::on_vertex(i),
    };
    let none = Vector3::zeros();
    let clamped = EndCondition::Clamped { tangent: None };
    let rod = ends(clamped, EndCondition::Pinned);
    for kind in [ConstraintKind::Weld, ConstraintKind::Ball] {
        let start = constrained(&rod, frame(&rod, "start", none), kind);
        contains(&start, &["\"hand\"", "\"rope\"", "vertex 0", "fixed"]);
        let finish = constrained(&rod, frame(&rod, "finish", none), kind);
        contains(&finish, &["\"hand\"", "vertex 4", "fixed"]);
        assert_eq!(
            constrained(&rod, frame(&rod, "middle", none), kind),
            "accepted"
        );
    }
    contains(
        &constrained(&rod, node(0), ConstraintKind::Ball),
        &["vertex 0", "fixed"],
    );
    contains(
        &constrained(&rod, node(4), ConstraintKind::Ball),
        &["vertex 4", "fixed"],
    );
    assert_eq!(constrained(&rod, node(3), ConstraintKind::Ball), "accepted");
    // Beside a pin the rod can rotate, and the clamp edge of a welded end is free.
    let beside = frame(&rod, "finish", Vector3::new(0.01, 0.0, 0.0));
    assert_eq!(constrained(&rod, beside, ConstraintKind::Ball), "accepted");
    let welded = ends(EndCondition::Welded { tangent: None }, EndCondition::Free);
    for name in ["start", "finish"] {
        assert_eq!(
            constrained(&welded, frame(&welded, name, none), ConstraintKind::Weld),
            "accepted"
        );
    }
}

#[test]
fn errors_of_states_and_controls_name_the_entry() {
    let rod = builder(line()).build().unwrap();
    let begin = |change: &dyn Fn(&mut pliant_contact_sap::BodyState, &mut Control)| {
        let (mut state, mut control) = (rod.default_state(), Control::default());
        change(&mut state, &mut control);
        let input = StepInput {
            time_step: 1e-3.into(),
            gravity: Vector3::zeros(),
            control: &control,
        };
        let begun = rod.new_step().begin(&state, &input);
        begun.map_or_else(|e| e.to_string(), |()| "accepted".into())
    };
    assert_eq!(begin(&|_, _| ()), "accepted");
    contains(
        &begin(&|s, _| s.q[9] = f64::NAN),
        &["q of a rod, node 2 is NaN"],
    );
    contains(
        &begin(&|s, _| s.v[7] = f64::INFINITY),
        &["v of a rod, angle of edge 1 is inf"],
    );
    contains(
        &begin(&|s, _| s.history.truncate(3)),
        &["history of a rod has 3 entries"],
    );
    contains(
        &begin(&|_, c| c.held = vec![None; 3]),
        &["held velocities of a rod has 3"],
    );
    contains(
        &begin(&|_, c| c.position = vec![0.0; 19]),
        &["actuators on a rod"],
    );
    let load = |point| Load {
        point,
        force_W: Vector3::x(),
        torque_W: Vector3::zeros(),
    };
    contains(
        &begin(&|_, c| c.loads.push(load(MaterialPoint::on_vertex(5)))),
        &["Vertex(5)", "5 vertices"],
    );
    contains(
        &begin(&|s, _| s.q[4] = 1e-9),
        &["the edge between node 0 and node 1", "shorter than 1/1000"],
    );
    let error = rod.node_dofs(7).unwrap_err();
    assert!(matches!(error, RodError::IndexOutOfRange { index: 7, .. }));
}
