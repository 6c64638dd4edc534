//! `<equality>` of MJCF files, against numbers of MuJoCo 4.0.0.

use std::path::Path;

use nalgebra::{DMatrix, DVector, Vector3};
use pliant_multibody::{
    LoadedModel, Model, RobotOptions, Workspace, bias_forces, mass_matrix, mjcf,
};

use super::mjcf_models::{load, parse};

/// A state of `data/loops.xml` and what `mj_forward` computes for it.
struct Case {
    q: [f64; 5],
    v: [f64; 5],
    /// Lower triangle of `mj_fullM`, by rows.
    mass: [f64; 15],
    /// `qfrc_bias`.
    bias: [f64; 5],
    /// Norms of `efc_pos` of pin, sites, fixed, posed, ground.
    distances: [f64; 5],
    /// Norms of its last three rows for fixed, posed, ground: sines of half the angle.
    half_sines: [f64; 3],
    /// `efc_pos` of poly and held, without the sign.
    couplings: [f64; 2],
}

const CASES: [Case; 2] = [
    Case {
        q: [0.1, 0.0, -0.2, 0.0, 0.0],
        v: [
            -0.8287016657127513,
            -0.5263789868078006,
            0.6025489304127938,
            0.16432407212873557,
            -0.8117427155192016,
        ],
        mass: [
            1.4152728119422344,
            0.6429364059711171,
            0.5199999999999999,
            0.0,
            0.0,
            0.17125428515247224,
            0.0,
            0.0,
            -0.035003386440686755,
            0.4000000000000001,
            0.0,
            0.0,
            -0.0015662639900914737,
            0.020000000000000004,
            0.003,
        ],
        bias: [
            -7.158367643197697,
            -7.770407527022233,
            -0.3884628170224414,
            3.651780506324516,
            0.18245945237025063,
        ],
        distances: [0.0, 0.1405310980797442, 0.0, 0.8958813067593702, 0.0],
        half_sines: [0.0, 0.6261980072113472, 0.0],
        couplings: [0.02, 0.15],
    },
    Case {
        q: [
            0.019752328283768522,
            -0.025138442230999147,
            -0.6083133024355056,
            0.2814925816910574,
            -0.4635935760943159,
        ],
        v: [
            -0.21754361900867591,
            0.03348036524272735,
            -0.1387439591716444,
            0.17359714287628147,
            0.4756755745843204,
        ],
        mass: [
            1.3952161934602,
            0.6329080967301001,
            0.52,
            0.0,
            0.0,
            0.1404202586200129,
            0.0,
            0.0,
            -0.03519749602857605,
            0.4,
            0.0,
            0.0,
            -0.0016819955664023757,
            0.01788902707889254,
            0.0029999999999999983,
        ],
        bias: [
            -8.895202560856452,
            -7.718796980195954,
            -1.229722898019443,
            3.3193501186319803,
            0.1761316641493799,
        ],
        distances: [
            0.20465055123537437,
            0.311664114741863,
            0.28027972391609685,
            0.9942878210920811,
            0.516095341761629,
        ],
        half_sines: [0.29093951818209446, 0.7717938306270309, 0.2027413977213537],
        couplings: [0.4615097045790994, 0.6135935760943159],
    },
];

fn loops() -> LoadedModel {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/loops.xml");
    mjcf::read_mjcf(file, &RobotOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-9,
        "{found} against {expected}"
    );
}

#[test]
fn mass_bias_and_errors_of_constraints_are_those_of_mujoco() {
    let loaded = loops();
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    let model = &loaded.model;
    for case in &CASES {
        let mut w = Workspace::new(model);
        let mut mass = DMatrix::zeros(5, 5);
        mass_matrix(model, &case.q, &mut w, &mut mass);
        let mut armature = vec![0.0; 5];
        model.add_reflected_inertia(&mut armature);
        mass += DMatrix::from_diagonal(&DVector::from_vec(armature));
        let lower = (0..5).flat_map(|row| (0..=row).map(move |column| (row, column)));
        for ((row, column), expected) in lower.zip(case.mass) {
            near(mass[(row, column)], expected);
        }
        let mut bias = [0.0; 5];
        let gravity = Vector3::new(0.0, 0.0, -9.81);
        bias_forces(model, &case.q, &case.v, &gravity, &mut w, &mut bias);
        (0..5).for_each(|k| near(bias[k], case.bias[k]));
        check_constraints(model, case);
    }
}

fn check_constraints(model: &Model, case: &Case) {
    let names: Vec<&str> = model.loops().iter().map(|l| &*l.name).collect();
    assert_eq!(names, ["pin", "sites", "fixed", "posed", "ground"]);
    let openings = model.loop_openings(&case.q);
    for (opening, expected) in openings.iter().zip(case.distances) {
        near(opening.distance_m, expected);
    }
    for (opening, expected) in openings[2..].iter().zip(case.half_sines) {
        near((opening.angle / 2.0).sin(), expected);
    }
    let position = |joint| case.q[model.joint(joint).positions().start];
    for (name, expected) in ["slide", "wrist"].into_iter().zip(case.couplings) {
        let joint = model.joint_named(name).expect("it is there");
        let mut couplers = model.couplers().iter();
        let coupler = couplers.find(|c| c.joint == joint).expect("it is coupled");
        let implied = coupler.law.value(coupler.source.map_or(0.0, position));
        near((position(joint) - implied).abs(), expected);
    }
}

#[test]
fn joints_go_where_loops_close_and_couplings_hold() {
    let loaded = load(
        r#"<compiler angle="radian"/><worldbody>
             <body name="a"><joint name="a" axis="0 1 0"/><geom size="0.1" pos="0 0 -1"/>
               <body name="c" pos="0 0 -1"><joint name="c" axis="0 1 0"/><geom size="0.1" pos="1 0 0"/></body></body>
             <body name="b" pos="2 0 0"><joint name="b" axis="0 1 0" range="-1 1"/><geom size="0.1" pos="0 0 -1"/></body>
             <body name="s" pos="0 1 0"><joint name="s" type="slide"/><geom size="0.1"/></body>
           </worldbody>
           <equality><connect body1="c" body2="b" anchor="2 0 0"/>
             <joint joint1="s" joint2="b" polycoef="0.1 0 0.5"/></equality>"#,
    );
    let model = loaded.model;
    let mut q = [0.4, 0.0, 0.0, 0.0];
    model
        .close_loops(&mut q, &[true, false, false, false])
        .unwrap_or_else(|error| panic!("{error}"));
    // A parallelogram.
    for (found, expected) in q.iter().zip([0.4, -0.4, 0.4, 0.1 + 0.5 * 0.16]) {
        near(*found, expected);
    }
    let mut v = [0.7, 0.0, 0.0, 0.0];
    model.project_velocities(&q, &mut v, &[true, false, false, false]);
    for (found, expected) in v.iter().zip([0.7, -0.7, 0.7, 2.0 * 0.5 * 0.4 * 0.7]) {
        assert!((found - expected).abs() < 1e-8);
    }
    // Out of the range of b.
    let mut q = [1.2, 0.0, 0.0, 0.0];
    let error = model
        .close_loops(&mut q, &[true, false, false, false])
        .expect_err("b stops at 1 rad")
        .to_string();
    assert!(
        error.contains("connect_c_b") && error.contains("open by"),
        "{error}"
    );
    assert_eq!(q, [1.2, 0.0, 0.0, 0.0]);
}

#[test]
fn faulty_equalities_are_refused_with_their_place() {
    let two = r#"<worldbody><body name="a"><joint name="ja"/><geom size="0.1"/><body name="w"><geom size="0.1"/></body></body>
        <body name="b"><joint name="jb"/><geom size="0.1"/><site name="s"/></body></worldbody>"#;
    for (equality, expected) in [
        (
            r#"<connect body1="a" body2="nobody" anchor="0 0 0"/>"#,
            "body \"nobody\" is not in the model",
        ),
        (r#"<connect body1="a" body2="b"/>"#, "needs anchor="),
        (
            r#"<connect site1="s" site2="t"/>"#,
            "site2=\"t\" is not a site",
        ),
        (
            r#"<weld body1="a" site1="s" site2="s"/>"#,
            "bodies and sites",
        ),
        (r#"<weld body1="a" body2="w"/>"#, "one rigid body"),
        (r#"<joint joint1="ja" joint2="j"/>"#, "joint \"j\" is not"),
    ] {
        let error = parse(&format!("{two}<equality>{equality}</equality>"))
            .expect_err(equality)
            .to_string();
        assert!(
            error.contains("m.xml:") && error.contains(expected),
            "{error}"
        );
    }
    let unused = load(&format!(
        "{two}<equality><connect body1=\"a\" body2=\"b\" anchor=\"0 0 0\" active=\"false\"/><connect body1=\"a\" body2=\"b\" anchor=\"0 0 0\" solref=\"0.1 1\"/></equality>"
    ));
    assert_eq!(unused.model.loops().len(), 1);
    assert!(unused.report.to_string().contains("solref"));
}
