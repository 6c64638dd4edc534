//! `<replicate>` and `<keyframe>` of MJCF files.

use std::f64::consts::FRAC_PI_2;

use nalgebra::Vector3;

use crate::mjcf_models::{load, parse, pose};

#[test]
fn replicas_are_displaced_from_one_to_the_next() {
    // Four spokes, each a quarter turn from the one before, with two beads each that are 0.1 m apart.
    let model = load(
        r#"<worldbody>
             <body name="hub"><joint name="axle"/><geom size="0.05"/>
               <replicate count="4" euler="0 0 90" sep="-">
                 <body name="spoke" pos="1 0 0"><geom size="0.1"/>
                   <replicate count="2" offset="0.1 0 0"><site name="bead" pos="0.5 0 0"/></replicate></body>
               </replicate>
             </body>
           </worldbody>"#,
    )
    .model;
    let at = |spoke: usize, bead: usize| {
        let frame = model
            .frame_named(&format!("bead{bead}-{spoke}"))
            .expect("a site");
        let link = pose(&model, &[0.0], &format!("spoke-{spoke}"));
        (link * frame.X_LF).translation.vector
    };
    for spoke in 0..4 {
        for bead in 0..2 {
            let angle = FRAC_PI_2 * spoke as f64;
            let radius = 1.5 + 0.1 * bead as f64;
            let expected = Vector3::new(radius * angle.cos(), radius * angle.sin(), 0.0);
            assert!(
                (at(spoke, bead) - expected).norm() < 1e-14,
                "{spoke} {bead}"
            );
        }
    }
    // Displacements are in the frame of the copy before: three steps of 1 m, each after a quarter turn, end where the fourth side begins.
    let turned = load(
        r#"<worldbody><replicate count="10" offset="1 0 0" euler="0 0 90"><site name="s"/></replicate></worldbody>"#,
    )
    .model;
    let corner = turned
        .frame_named("s03")
        .expect("two digits for ten copies");
    assert!((corner.X_LF.translation.vector - Vector3::new(0.0, 1.0, 0.0)).norm() < 1e-14);
}

#[test]
fn keyframes_have_the_positions_of_all_joints() {
    let bodies = r#"<worldbody>
             <body name="base"><freejoint name="free"/><geom size="1"/>
               <body name="a"><joint name="hinge" axis="0 1 0"/><geom size="1"/></body>
               <body name="b"><joint name="ball" type="ball"/><joint name="slide" type="slide"/><geom size="1"/></body>
             </body>
           </worldbody>"#;
    let numbers = "1 2 3 1 0 0 0 0.4 0 1 0 0 -0.2";
    let loaded = load(&format!(
        "{bodies}<keyframe><key name=\"home\" qpos=\"{numbers}\"/></keyframe>"
    ));
    let [home] = &loaded.keyframes[..] else {
        panic!("{:?}", loaded.keyframes);
    };
    let expected = [
        ("free", vec![1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]),
        ("hinge", vec![0.4]),
        ("ball", vec![0.0, 1.0, 0.0, 0.0]),
        ("slide", vec![-0.2]),
    ];
    assert_eq!(home.name, "home");
    let expected: Vec<_> = expected
        .into_iter()
        .map(|(n, q)| (n.to_owned(), q))
        .collect();
    assert_eq!(home.positions, expected);
    for (key, expected) in [
        (
            "qpos=\"1 2\"",
            "qpos has 2 numbers, but the joints have 13 coordinates",
        ),
        ("qpos=\"a\"", "is not a number"),
    ] {
        let text = format!("{bodies}<keyframe><key name=\"k\" {key}/></keyframe>");
        let message = parse(&text).expect_err(key).to_string();
        assert!(
            message.contains(":7: key \"k\"") && message.contains(expected),
            "{message}"
        );
    }
}
