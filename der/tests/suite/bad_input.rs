//! Every input that cannot be a rod is refused by name, place and value.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{Control, DeformableModel, Load, MaterialPoint, StepInput};
use pliant_coupling::{
    Anchor, BodyIdx, Constraint, ConstraintCompliance, ConstraintKind, WorldBuilder,
};
use pliant_der::{
    Centreline, Closure, Drive, End, EndCondition, FreeMotionSettings, Material, NaturalShape,
    NaturalStrain, Rayleigh, Rod, RodBuilder, RodError, RodProperties, Schedule, Section,
};

fn line() -> Centreline {
    Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 4)
}

fn builder(line: Centreline) -> RodBuilder {
    let rubber = Material::isotropic(1e6, 0.5, 1000.0).unwrap();
    RodBuilder::new(line).section(Section::Circle { radius: 0.01 }, rubber)
}

#[track_caller]
fn refused(builder: RodBuilder) -> String {
    builder.build().map(|_: Rod| ()).unwrap_err().to_string()
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(
            message.contains(part),
            "\"{message}\" does not say \"{part}\""
        );
    }
}

#[test]
fn centrelines_are_refused_by_node() {
    let with = |nodes: &[[f64; 3]], closure| {
        let nodes = nodes.iter().map(|p| Point3::from(*p)).collect();
        refused(builder(Centreline { nodes, closure }))
    };
    let (a, b, c) = ([0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.1, 0.0]);
    says(&with(&[a, b], Closure::Open), &["3 nodes", "2 were given"]);
    says(
        &with(&[a, b, b, c], Closure::Open),
        &["nodes 1 and 2", "0e0 m apart"],
    );
    says(
        &with(&[a, b, a, c], Closure::Open),
        &["node 1", "180.0 degrees"],
    );
    let nan = [1.0, f64::NAN, 0.0];
    says(
        &with(&[a, nan, c], Closure::Open),
        &["node 1", "coordinate y is NaN"],
    );
    let far = [
        [0.0; 3],
        [1.0, 0.0, 0.0],
        [2.0, 0.3, 0.0],
        [3.0, 0.5, 0.0],
        [4.0, 1.5, 0.0],
    ];
    says(
        &with(&far, Closure::Closed),
        &["does not close", "node 4", "4.27"],
    );
}

#[test]
fn directors_are_refused_by_edge() {
    let long = refused(builder(line()).director(Vector3::new(0.0, 2.0, 0.0)));
    says(
        &long,
        &[
            "edge 0",
            "node 0",
            "[0.0, 2.0, 0.0]",
            "of length 2",
            "unit vector",
        ],
    );
    let along = refused(builder(line()).director(Vector3::x()));
    says(&along, &["edge 0", "0.00 degrees off"]);
    let nan = refused(builder(line()).director(Vector3::new(f64::NAN, 0.0, 0.0)));
    says(&nan, &["edge 0", "NaN"]);
    let mut three = vec![Vector3::z(); 4];
    three[2] = Vector3::zeros();
    says(
        &refused(builder(line()).directors(three)),
        &["edge 2", "node 2", "of length 0"],
    );
    let few = refused(builder(line()).directors(vec![Vector3::z(); 2]));
    says(&few, &["2 directors", "4 edges"]);
}

#[test]
fn stiffnesses_and_settings_are_refused_by_name_and_value() {
    let properties = RodProperties {
        stretch: 1.0,
        bend_1: 1.0,
        bend_2: 1.0,
        twist: 1.0,
        mass: 1.0,
        spin_inertia: 1.0,
    };
    says(&refused(RodBuilder::new(line())), &["no stiffness"]);
    let soft = RodProperties {
        bend_1: -3.0,
        ..properties
    };
    let mut along = vec![properties; 4];
    along[3] = soft;
    says(
        &refused(RodBuilder::new(line()).properties_along(along)),
        &["bending stiffness EI1 of edge 3 = -3", "not negative"],
    );
    let light = RodProperties {
        mass: 0.0,
        ..properties
    };
    says(
        &refused(RodBuilder::new(line()).properties(light)),
        &["mass per metre", "= 0"],
    );
    let damping = Rayleigh {
        mass: 0.0,
        stiffness: -0.1,
    };
    says(&refused(builder(line()).damping(damping)), &["beta = -0.1"]);
    says(
        &refused(builder(line()).rest_length_scale(0.0)),
        &["rest length scale = 0"],
    );
    let settings = FreeMotionSettings {
        relative_tolerance: 2.0,
        ..FreeMotionSettings::default()
    };
    says(
        &refused(builder(line()).free_motion(settings)),
        &["tolerance", "= 2"],
    );
}

#[test]
fn natural_shapes_are_refused_by_node() {
    let sharp = NaturalStrain {
        curvature_1: 20.0,
        ..NaturalStrain::default()
    };
    let mut strains = vec![NaturalStrain::default(); 5];
    strains[2] = sharp;
    let message = refused(builder(line()).natural_shape(NaturalShape::PerNode(strains)));
    says(&message, &["node 2", "= 5", "more edges"]);
    let short = NaturalShape::PerNode(vec![sharp]);
    says(
        &refused(builder(line()).natural_shape(short)),
        &["1 natural strains", "5 nodes"],
    );
    let drive = Drive {
        curvature: Schedule::ramp(2.0, 1.0, 0.0, 1.0),
        twist: Schedule::default(),
    };
    says(
        &refused(builder(line()).drive(drive)),
        &["schedule point 1 = 1"],
    );
    // Driven beyond the limit, at the node as the user counts it: behind a clamp's stub, and where a ring closes.
    let drive = Drive {
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
        let driven = clamped.clone().natural_shape(bent_at(node, 5));
        says(
            &refused(driven.drive(drive.clone())),
            &[&format!("node {node} "), "= 3", "more edges"],
        );
    }
    for node in [0, 1, 11] {
        let ring = builder(Centreline::circle(0.5, 12)).natural_shape(bent_at(node, 12));
        says(
            &refused(ring.drive(drive.clone())),
            &[&format!("node {node} "), "= 3.1", "more edges"],
        );
    }
    let ring = builder(Centreline::circle(1.0, 12)).initial_twist(3.0);
    says(&refused(ring), &["turns) = 0.477", "whole number"]);
}

#[test]
fn attachments_that_contradict_are_refused() {
    let clamped = EndCondition::Clamped { tangent: None };
    let both = builder(line())
        .end(End::Start, clamped)
        .end(End::Start, EndCondition::Pinned);
    says(&refused(both), &["node 0", "clamped and pinned"]);
    let pinned = builder(line()).end(End::Finish, clamped).pin(4);
    says(&refused(pinned), &["node 4", "clamped and pinned"]);
    says(
        &refused(builder(line()).pin(5)),
        &["node 5 does not exist", "5 of them"],
    );
    let ring = builder(Centreline::circle(1.0, 12));
    says(
        &refused(ring.clone().end(End::Start, clamped)),
        &["a ring has no ends"],
    );
    says(
        &refused(ring.frame_at_end("tip", End::Finish)),
        &["\"tip\"", "a ring has no ends"],
    );
    let twins = builder(line()).frame("a", 0, 0.5).frame("a", 1, 0.5);
    says(&refused(twins), &["two frames are called \"a\""]);
    says(
        &refused(builder(line()).frame("a", 4, 0.5)),
        &["edge 4 does not exist"],
    );
    says(
        &refused(builder(line()).frame("a", 0, 1.5)),
        &["\"a\" = 1.5", "[0, 1]"],
    );
    let aslant = EndCondition::Clamped {
        tangent: Some(Vector3::z()),
    };
    says(
        &refused(builder(line()).end(End::Start, aslant)),
        &["cosine", "node 0", "= 0"],
    );
    let long = EndCondition::Welded {
        tangent: Some(Vector3::x() * 3.0),
    };
    says(
        &refused(builder(line()).end(End::Finish, long)),
        &["length", "[3.0, 0.0, 0.0]", "node 4", "= 3 must be 1"],
    );
    let rod = builder(line()).frame("tip", 3, 1.0).build().unwrap();
    let error = rod.frame("top").unwrap_err().to_string();
    says(&error, &["no frame \"top\"", "it has: tip"]);
    let mut control = Control::default();
    let none = Vector3::zeros();
    let state = rod.default_state();
    let driven = rod.drive_clamp(End::Start, &state, &none, &none, &mut control);
    says(&driven.unwrap_err().to_string(), &["Start", "clamped"]);
}

#[test]
fn a_tie_of_a_held_end_is_refused_by_node() {
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
    let tied = |rod: &Rod, anchor: Anchor, kind| {
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
            .map_or_else(|e| e.to_string(), |_| "taken".into())
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
        let start = tied(&rod, frame(&rod, "start", none), kind);
        says(&start, &["\"hand\"", "\"rope\"", "vertex 0", "fixed"]);
        let finish = tied(&rod, frame(&rod, "finish", none), kind);
        says(&finish, &["\"hand\"", "vertex 4", "fixed"]);
        assert_eq!(tied(&rod, frame(&rod, "middle", none), kind), "taken");
    }
    says(
        &tied(&rod, node(0), ConstraintKind::Ball),
        &["vertex 0", "fixed"],
    );
    says(
        &tied(&rod, node(4), ConstraintKind::Ball),
        &["vertex 4", "fixed"],
    );
    assert_eq!(tied(&rod, node(3), ConstraintKind::Ball), "taken");
    // Beside a pin the rod turns, and an end to be welded waits for its weld.
    let beside = frame(&rod, "finish", Vector3::new(0.01, 0.0, 0.0));
    assert_eq!(tied(&rod, beside, ConstraintKind::Ball), "taken");
    let waits = ends(EndCondition::Welded { tangent: None }, EndCondition::Free);
    for name in ["start", "finish"] {
        assert_eq!(
            tied(&waits, frame(&waits, name, none), ConstraintKind::Weld),
            "taken"
        );
    }
}

#[test]
fn states_and_controls_are_refused_by_place() {
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
        begun.map_or_else(|e| e.to_string(), |()| "taken".into())
    };
    assert_eq!(begin(&|_, _| ()), "taken");
    says(
        &begin(&|s, _| s.q[9] = f64::NAN),
        &["q of a rod, node 2 is NaN"],
    );
    says(
        &begin(&|s, _| s.v[7] = f64::INFINITY),
        &["v of a rod, angle of edge 1 is inf"],
    );
    says(
        &begin(&|s, _| s.history.truncate(3)),
        &["history of a rod has 3 entries"],
    );
    says(
        &begin(&|_, c| c.held = vec![None; 3]),
        &["held velocities of a rod has 3"],
    );
    says(
        &begin(&|_, c| c.position = vec![0.0; 19]),
        &["actuators on a rod"],
    );
    let load = |point| Load {
        point,
        force_W: Vector3::x(),
        torque_W: Vector3::zeros(),
    };
    says(
        &begin(&|_, c| c.loads.push(load(MaterialPoint::on_vertex(5)))),
        &["Vertex(5)", "5 vertices"],
    );
    says(
        &begin(&|s, _| s.q[4] = 1e-9),
        &[
            "the edge between node 0 and node 1",
            "shorter than a thousandth",
        ],
    );
    let error = rod.node_dofs(7).unwrap_err();
    assert!(matches!(error, RodError::NoSuchPlace { index: 7, .. }));
}
