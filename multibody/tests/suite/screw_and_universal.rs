//! Screw joints have one degree of freedom, universal joints are two hinges with a cross: against closed forms and equivalent trees.

use std::f64::consts::TAU;
use std::path::Path;

use nalgebra::{DMatrix, DVector, Isometry3, Matrix3, Vector3};
use pliant_multibody::{
    DofIdx, JointKind, JointSpec, LinkSpec, LoadedModel, Model, ModelBuilder, PositionKinematics,
    RobotOptions, SpatialInertia, Workspace, bias_forces, forward_dynamics, mass_matrix,
    parse_robot,
};

use crate::random_trees::{Dice, GRAVITY, assert_close, massless};

fn dynamics(model: &Model, q: &[f64], v: &[f64]) -> (DMatrix<f64>, Vec<f64>) {
    let n = model.n_v();
    let mut w = Workspace::new(model);
    let (mut mass, mut bias) = (DMatrix::zeros(n, n), vec![0.0; n]);
    mass_matrix(model, q, &mut w, &mut mass);
    bias_forces(model, q, v, &GRAVITY, &mut w, &mut bias);
    (mass, bias)
}

#[test]
fn a_nut_on_a_vertical_screw_falls_by_its_effective_inertia() {
    // T = ½ (I + m r² + m h²) θ̇², V = m g h θ with h = lead/2π.
    let (m, r, lead) = (2.0, 0.3, 0.05);
    let h = lead / TAU;
    let inertia = 0.02;
    let about_com = Matrix3::from_diagonal(&Vector3::new(0.03, 0.01, inertia));
    let nut = SpatialInertia::new(m, Vector3::new(r, 0.0, 0.1), about_com);
    let mut builder = ModelBuilder::new("press");
    builder.link(LinkSpec::new("frame", SpatialInertia::zero()));
    builder.link(LinkSpec::new("nut", nut));
    let kind = JointKind::Screw { lead };
    builder.joint(JointSpec::new("thread", kind, "frame", "nut").about(Vector3::z()));
    let model = builder.build().expect("a model");
    let effective = inertia + m * r * r + m * h * h;
    for (q, v) in [(0.0, 0.0), (7.3, -2.0)] {
        let (mass, bias) = dynamics(&model, &[q], &[v]);
        assert!((mass[0] - effective).abs() < 1e-14, "{mass}");
        assert!((bias[0] - m * 9.81 * h).abs() < 1e-13, "{bias:?}");
        let (mut w, mut vdot) = (Workspace::new(&model), [0.0]);
        forward_dynamics(&model, &[q], &[v], &[0.0], &GRAVITY, &mut w, &mut vdot);
        assert!((vdot[0] + m * 9.81 * h / effective).abs() < 1e-12);
    }
    // A turn advances it by the lead; a right-handed thread advances along the axis.
    let mut positions = PositionKinematics::new(&model);
    positions.update(&model, &[TAU]);
    let nut = model.link_named("nut").expect("a link");
    let p = positions.link_position(&model, nut);
    assert!((p - Vector3::new(0.0, 0.0, lead)).norm() < 1e-15, "{p}");
    assert!(!model.dof_kind(DofIdx(0)).is_linear());
}

/// Two links, joined by a screw or by a slide and a hinge about the same axis, between two other joints.
fn screw_and_parts(lead: f64) -> (Model, Model) {
    let mut dice = Dice::new(61);
    let inertias = [dice.inertia(), dice.inertia(), dice.inertia()];
    let (poses, axis) = ([dice.pose(), dice.pose(), dice.pose()], dice.vector());
    let tree = |parts: &[JointKind]| {
        let mut builder = ModelBuilder::new("tree");
        builder.link(LinkSpec::new("base", SpatialInertia::zero()));
        for (name, inertia) in ["a", "b", "c"].into_iter().zip(inertias) {
            builder.link(LinkSpec::new(name, inertia));
        }
        let hinge = |name: &str, parent: &str, child: &str| {
            JointSpec::new(name, JointKind::Continuous, parent, child)
        };
        builder.joint(hinge("first", "base", "a").at(poses[0]));
        let mut parent = "a".to_owned();
        for (i, kind) in parts.iter().enumerate() {
            let is_last = i + 1 == parts.len();
            let child = if is_last { "b" } else { "between" };
            if !is_last {
                builder.link(LinkSpec::new(child, massless()));
            }
            let pose = if i == 0 {
                poses[1]
            } else {
                Isometry3::identity()
            };
            let joint = JointSpec::new(format!("part{i}"), *kind, &*parent, child);
            builder.joint(joint.at(pose).about(axis));
            parent = child.to_owned();
        }
        builder.joint(hinge("last", "b", "c").at(poses[2]).about(Vector3::y()));
        builder.build().expect("a tree")
    };
    let parts = [JointKind::Prismatic, JointKind::Continuous];
    (tree(&[JointKind::Screw { lead }]), tree(&parts))
}

#[test]
fn a_screw_is_a_slide_and_a_hinge_in_a_fixed_ratio() {
    // With the constant T of v_parts = T v: M = Tᵀ M_parts T and k = Tᵀ k_parts.
    for lead in [0.7, -0.2] {
        let (screw, parts) = screw_and_parts(lead);
        let h = lead / TAU;
        #[rustfmt::skip]
        let t = DMatrix::from_row_slice(4, 3, &[
            1.0, 0.0, 0.0,
            0.0, h, 0.0,
            0.0, 1.0, 0.0,
            0.0, 0.0, 1.0,
        ]);
        let (q, v) = ([0.4, 2.9, -0.6], [0.7, -1.6, 1.1]);
        let of_parts = |x: &[f64]| (&t * DVector::from_column_slice(x)).as_slice().to_vec();
        let (mass, bias) = dynamics(&screw, &q, &v);
        let (mass_of_parts, bias_of_parts) = dynamics(&parts, &of_parts(&q), &of_parts(&v));
        let expected = t.transpose() * mass_of_parts * &t;
        assert_close(mass.as_slice(), expected.as_slice(), 1e-13);
        let expected = t.tr_mul(&DVector::from_vec(bias_of_parts));
        assert_close(&bias, expected.as_slice(), 1e-13);
        let at = |model: &Model, q: &[f64]| {
            let mut positions = PositionKinematics::new(model);
            positions.update(model, q);
            positions.link_pose(model, model.link_named("c").expect("a link"))
        };
        let apart = at(&screw, &q).inverse() * at(&parts, &of_parts(&q));
        assert!(apart.translation.vector.norm() < 1e-14 && apart.rotation.angle() < 1e-7);
    }
}

#[test]
fn screws_without_lead_are_refused() {
    for lead in [0.0, f64::NAN, f64::INFINITY] {
        let mut builder = ModelBuilder::new("m");
        builder.link(LinkSpec::new("a", SpatialInertia::zero()));
        builder.link(LinkSpec::new("b", SpatialInertia::solid_sphere(1.0, 0.1)));
        builder.joint(JointSpec::new("j", JointKind::Screw { lead }, "a", "b"));
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains("joint \"j\": lead of the screw"), "{error}");
    }
}

const SHAFT: &str = "<inertial><mass>2</mass><pose>0 0 0.4 0 0 0</pose><inertia><ixx>0.22</ixx><iyy>0.2</iyy><izz>0.05</izz></inertia></inertial>";

fn read(inside: &str) -> Result<LoadedModel, String> {
    let text = format!("<sdf version=\"1.10\"><model name=\"m\">\n{inside}\n</model></sdf>");
    let options = RobotOptions::default();
    parse_robot(text.as_bytes(), Path::new("m.sdf"), &options).map_err(|error| error.to_string())
}

fn joint(kind: &str, inside: &str) -> String {
    format!(
        "<link name=\"shaft\">{SHAFT}</link>\n<joint name=\"j\" type=\"{kind}\"><parent>world</parent><child>shaft</child>{inside}</joint>"
    )
}

const CROSSED: &str = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz><limit><lower>-1.2</lower><upper>1.2</upper></limit><dynamics><damping>0.7</damping></dynamics></axis2>";

#[test]
fn a_pendulum_on_a_universal_joint_has_the_lagrangian_of_two_angles() {
    // R = Rx(a) Ry(b): in its own axes ω = (ȧ cos b, ḃ, ȧ sin b); the centre is at l (sin b, −sin a cos b, cos a cos b).
    for kind in ["universal", "revolute2"] {
        let model = read(&joint(kind, CROSSED)).expect("a pendulum").model;
        let (m, l) = (2.0, 0.4);
        let [ia, ib, ic] = [0.22 + m * l * l, 0.2 + m * l * l, 0.05];
        let (q, v) = ([0.7_f64, -0.5_f64], [1.3, 0.9]);
        let ((sa, ca), (sb, cb)) = (q[0].sin_cos(), q[1].sin_cos());
        let (mass, bias) = dynamics(&model, &q, &v);
        let expected = [ia * cb * cb + ic * sb * sb, 0.0, 0.0, ib];
        assert_close(mass.as_slice(), &expected, 1e-14);
        let turning = (ic - ia) * sb * cb;
        let weight = m * 9.81 * l;
        let expected = [
            2.0 * turning * v[0] * v[1] - weight * sa * cb,
            -turning * v[0] * v[0] - weight * ca * sb,
        ];
        assert_close(&bias, &expected, 1e-14);
    }
}

#[test]
fn each_axis_of_a_universal_joint_has_its_limits_and_forces() {
    let loaded = read(&joint("universal", CROSSED)).expect("a joint");
    let model = loaded.model;
    let names: Vec<&str> = model.joints().iter().map(|j| &*j.name).collect();
    assert_eq!(names, ["j", "j_axis2"]);
    assert_eq!(model.joints()[0].kind, JointKind::Continuous);
    let second = &model.joints()[1];
    assert_eq!(second.kind, JointKind::Revolute);
    assert_eq!((second.limits.upper, second.passive.damping), (1.2, 0.7));
    // A second axis may follow the first, by the name of the joint and its axis.
    let follower = CROSSED.replace(
        "<xyz>1 0 0</xyz>",
        "<xyz>1 0 0</xyz><mimic joint=\"j\" axis=\"axis2\"><multiplier>2</multiplier></mimic>",
    );
    let model = read(&joint("universal", &follower)).expect("a joint").model;
    let [coupler] = model.couplers() else {
        panic!("one coupling")
    };
    assert_eq!(model.joint(coupler.joint).name, "j");
    assert_eq!(
        coupler.source.map(|s| &*model.joint(s).name),
        Some("j_axis2")
    );
}

#[test]
fn a_cardan_joint_transmits_by_the_cosine_of_its_angle() {
    // Two shafts in bearings at the angle β: tan ψ = cos β tan φ, with the first axis of the cross in the input shaft.
    let beta = 0.6_f64;
    let axis2 = format!("{} {} 0", -beta.sin(), beta.cos());
    let shaft =
        |name: &str, pose: &str| format!("<link name=\"{name}\"><pose>{pose}</pose>{SHAFT}</link>");
    let about_x = "<axis><xyz>1 0 0</xyz></axis>";
    let bearing = |name: &str, child: &str| {
        format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent>world</parent><child>{child}</child>{about_x}</joint>"
        )
    };
    let cross = format!(
        "<joint name=\"cross\" type=\"universal\"><parent>input</parent><child>output</child>
<axis><xyz expressed_in=\"__model__\">0 0 1</xyz></axis><axis2><xyz expressed_in=\"__model__\">{axis2}</xyz></axis2></joint>"
    );
    let text = [
        shaft("input", "0 0 0 0 0 0"),
        shaft("output", &format!("1 0 0 0 0 {beta}")),
        bearing("left", "input"),
        bearing("right", "output"),
        cross,
    ]
    .concat();
    let model = read(&text).expect("shafts").model;
    // The universal joint is in the tree, whatever comes first; the bearing closes the loop.
    assert_eq!((model.n_v(), &*model.loops()[0].name), (3, "right"));
    let [input, output] = ["input", "output"].map(|name| model.link_named(name).expect("a shaft"));
    let pair = (input.min(output), input.max(output));
    assert!(
        model.filtered_links().contains(&pair),
        "the shafts overlap at the cross"
    );
    let left = model.joint(model.joint_named("left").expect("a joint"));
    let neutral = {
        let mut positions = PositionKinematics::new(&model);
        positions.update(&model, &[0.0; 3]);
        positions.link_pose(&model, output)
    };
    for phi in [0.3_f64, 1.0, -1.2] {
        let mut q = [0.0; 3];
        let mut held = [false; 3];
        q[left.positions().start] = phi;
        held[left.dofs().start] = true;
        model.close_loops(&mut q, &held).expect("it closes");
        let mut positions = PositionKinematics::new(&model);
        positions.update(&model, &q);
        let turned = neutral.inverse() * positions.link_pose(&model, output);
        let psi = turned.rotation.scaled_axis();
        let expected = (beta.cos() * phi.tan()).atan();
        assert!(
            (psi - Vector3::x() * expected).norm() < 1e-8,
            "{phi}: {psi}"
        );
    }
}

#[test]
fn both_spellings_of_a_thread_are_read() {
    for (inside, lead) in [
        ("<screw_thread_pitch>0.004</screw_thread_pitch>", 0.004),
        ("<screw_thread_pitch>-0.004</screw_thread_pitch>", -0.004),
        // −2π/(lead): positive is left-handed.
        ("<thread_pitch>100</thread_pitch>", -TAU / 100.0),
        // The newer one precedes.
        (
            "<thread_pitch>100</thread_pitch><screw_thread_pitch>0.004</screw_thread_pitch>",
            0.004,
        ),
    ] {
        let inside = format!("<axis><xyz>0 0 1</xyz></axis>{inside}");
        let loaded = read(&joint("screw", &inside)).expect("a screw");
        assert_eq!(loaded.model.joints()[0].kind, JointKind::Screw { lead });
        assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    }
    let loaded = read(&joint("screw", "<axis><xyz>0 0 1</xyz></axis>")).expect("a screw");
    assert_eq!(
        loaded.model.joints()[0].kind,
        JointKind::Screw { lead: 1.0 }
    );
    assert!(loaded.report.to_string().contains("1 m per turn"));
}

#[test]
fn faults_of_screws_and_universal_joints_have_their_line_and_remedy() {
    let parallel = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>2 0 0</xyz></axis2>";
    let missing = "<axis><xyz>0 0 1</xyz></axis>";
    for (kind, inside, expected) in [
        ("universal", parallel, "must not be parallel"),
        ("universal", missing, "must not be parallel"),
        (
            "screw",
            "<screw_thread_pitch>0</screw_thread_pitch>",
            "must be finite and not zero",
        ),
        (
            "screw",
            "<thread_pitch>0</thread_pitch>",
            "must be finite and not zero",
        ),
        (
            "screw",
            "<screw_thread_pitch>fine</screw_thread_pitch>",
            "fine",
        ),
    ] {
        let error = read(&joint(kind, inside)).map(|_| ()).expect_err(inside);
        assert!(
            error.contains(expected) && error.contains("m.sdf:3"),
            "{error}"
        );
    }
    let link = |name: &str| format!("<link name=\"{name}\">{SHAFT}</link>");
    let screw = |name: &str| {
        format!(
            "<joint name=\"{name}\" type=\"screw\"><parent>world</parent><child>a</child><screw_thread_pitch>1</screw_thread_pitch></joint>"
        )
    };
    let error = read(&[link("a"), screw("x"), screw("y")].concat()).map(|_| ());
    let error = error.expect_err("two screws");
    assert!(
        error.contains("\"y\"") && error.contains("closes a loop"),
        "{error}"
    );
}
