//! Closed kinematic loops that robot files describe: where they start, how they move, and what is refused.

use std::fs;
use std::path::Path;

use pliant::runner::{self, RunOptions, run};
use pliant::scene::{Scene, SceneOptions};

use crate::scene_features::{check, expect};

/// A robot from the text of its file.
fn robot(file: &str, text: &str, settings: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    fs::write(&path, text).expect("a file");
    format!("[[models]]\nname = \"m\"\nfile = {path:?}\n{settings}\n")
}

fn refusal(fragment: &str) -> String {
    let text = format!("schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.1\n{fragment}");
    let scene = Scene::parse("t.toml", &text, &SceneOptions::default());
    let scene = scene.unwrap_or_else(|error| panic!("{error}"));
    match runner::check(&scene) {
        Ok(_) => panic!("{fragment} must be an error"),
        Err(error) => error.to_string(),
    }
}

/// A crank of 0.5 m at the origin, a rocker of 1.2 m at x = 2 m, and a rod of 1.8 m between their ends, in the plane y = 0. At zero the
/// crank points along x, and the rocker up.
const LENGTHS: [f64; 4] = [2.0, 0.5, 1.8, 1.2];
/// End of the rod, seen from the end of the crank: 1.35 = (1.5² + 1.8² − 1.2²)/(2 · 1.5).
const ROD: [f64; 2] = [1.35, 1.190588089979066];

fn crank_rocker_mjcf() -> String {
    let [x, z] = ROD;
    format!(
        r#"<mujoco><compiler angle="radian"/><worldbody>
  <body name="crank"><joint name="a" axis="0 1 0"/><inertial pos="0.25 0 0" mass="1" diaginertia="0.001 0.02 0.02"/>
    <body name="rod" pos="0.5 0 0"><joint name="c" axis="0 1 0"/><inertial pos="0.6 0 0.5" mass="1" diaginertia="0.1 0.3 0.2"/></body></body>
  <body name="rocker" pos="2 0 0"><joint name="b" axis="0 1 0"/><inertial pos="0 0 0.6" mass="1" diaginertia="0.1 0.1 0.01"/></body>
</worldbody><equality><connect name="pin" body1="rod" body2="rocker" anchor="{x} 0 {z}"/></equality></mujoco>"#
    )
}

fn crank_rocker_sdf() -> String {
    let [x, z] = ROD;
    let link = |name: &str, pose: &str, com: &str, [a, b, c]: [f64; 3]| {
        format!(
            "<link name='{name}'><pose>{pose} 0 0 0</pose><inertial><pose>{com} 0 0 0</pose><mass>1</mass><inertia><ixx>{a}</ixx><iyy>{b}</iyy><izz>{c}</izz></inertia></inertial></link>"
        )
    };
    let joint = |name: &str, parent: &str, child: &str, pose: &str| {
        format!(
            "<joint name='{name}' type='revolute'><pose>{pose} 0 0 0</pose><parent>{parent}</parent><child>{child}</child><axis><xyz>0 1 0</xyz></axis></joint>"
        )
    };
    [
        "<sdf version='1.9'><model name='crank-rocker'>".to_owned(),
        link("crank", "0 0 0", "0.25 0 0", [0.001, 0.02, 0.02]),
        link("rod", "0.5 0 0", "0.6 0 0.5", [0.1, 0.3, 0.2]),
        link("rocker", "2 0 0", "0 0 0.6", [0.1, 0.1, 0.01]),
        joint("a", "world", "crank", "0 0 0"),
        joint("c", "crank", "rod", "0 0 0"),
        joint("b", "world", "rocker", "0 0 0"),
        // At the end of the rod, whose child is the rod: its second parent.
        joint("pin", "rocker", "rod", &format!("{x} 0 {z}")),
        "</model></sdf>".to_owned(),
    ]
    .concat()
}

/// The angle of the rocker, from the intersection of two circles.
fn rocker_angle(crank: f64) -> f64 {
    let [ground, a, rod, rocker] = LENGTHS;
    let tip = [a * crank.cos(), -a * crank.sin()];
    let to_pivot = [ground - tip[0], -tip[1]];
    let distance = to_pivot[0].hypot(to_pivot[1]);
    let along = (distance * distance + rod * rod - rocker * rocker) / (2.0 * distance);
    let height = (rod * rod - along * along).sqrt();
    let [ex, ez] = to_pivot.map(|x| x / distance);
    let end = [
        tip[0] + along * ex - height * ez - ground,
        tip[1] + along * ez + height * ex,
    ];
    // A rotation about y turns x towards −z.
    let start: [f64; 2] = [0.5 + ROD[0] - ground, ROD[1]];
    start[1].atan2(start[0]) - end[1].atan2(end[0])
}

#[test]
fn a_crank_that_turns_moves_the_rocker_of_a_closed_loop() {
    let mjcf = ("crank-rocker.xml", crank_rocker_mjcf());
    let sdf = ("crank-rocker.sdf", crank_rocker_sdf());
    for (file, text) in [mjcf, sdf] {
        let scene = format!(
            "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\ntime_step_s = 0.001\n{}\
             [[joint_motions]]\nmodel = \"m\"\njoints = [\"a\"]\nknots = [{{ at_s = 0, positions = [0] }}, {{ at_s = 1, positions = [3] }}]\n\
             [[observables]]\nname = \"a\"\nquantity = \"joint-position\"\nof = \"m/a\"\n\
             [[observables]]\nname = \"b\"\nquantity = \"joint-position\"\nof = \"m/b\"\n\
             [[observables]]\nname = \"force\"\nquantity = \"constraint-force\"\nof = \"m/pin\"\n",
            robot(file, &text, "")
        );
        let scene = Scene::parse("t.toml", &scene, &SceneOptions::default());
        let scene = scene.unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&scene, &RunOptions::default(), &mut |_| {});
        let outcome = outcome.unwrap_or_else(|error| panic!("{file}: {error}"));
        let rows = outcome.series.times_s().len();
        assert!(rows > 10);
        let mut reach: f64 = 0.0;
        for row in 0..rows {
            let [a, b] = [0, 1].map(|column| outcome.series.at(row, column));
            assert!(
                (b - rocker_angle(a)).abs() < 1e-4,
                "{file}: {a} {b} {}",
                rocker_angle(a)
            );
            reach = reach.max(a);
        }
        assert!(reach > 2.9);
        assert!(outcome.series.last()[2] > 1.0);
    }
}

#[test]
fn joints_that_are_not_given_start_where_the_loop_closes() {
    let text = crank_rocker_mjcf();
    let b = rocker_angle(0.7).to_string();
    let start = expect(
        "b",
        "quantity = \"joint-position\"\nof = \"m/b\"",
        "at_s = 0",
        &b,
        "1e-8",
    );
    let settings = "positions = { a = 0.7 }";
    check(&format!("{}{start}", robot("start.xml", &text, settings)));
    // All three, rounded.
    let rounded = format!("positions = {{ a = 0.7, b = {:.4} }}", rocker_angle(0.7));
    check(&format!("{}{start}", robot("start.xml", &text, &rounded)).replace("1e-8", "1e-3"));
}

#[test]
fn positions_that_open_a_loop_are_refused_with_the_distance() {
    let text = crank_rocker_mjcf();
    let settings = "positions = { a = 0, c = 0, b = 0.2 }";
    let refused = refusal(&robot("open.xml", &text, settings));
    // The end of the rocker is 2 · 1.2 m · sin(0.1) away from the end of the rod.
    let distance = format!("{:.4} m", 2.4 * 0.1f64.sin());
    assert!(
        refused.contains("\"pin\"") && refused.contains(&distance),
        "{refused}"
    );
}

#[test]
fn a_parallelogram_of_a_file_swings_like_a_pendulum() {
    // Rods of 1 kg and 1 m, a bar of 2 kg: ω² = (m + M) g/(2 m/3 + M), and a²/16 of the elliptic integral.
    let rod =
        r#"<inertial pos="0 0 -0.5" mass="1" diaginertia="0.0833333333333 0.0833333333333 1e-4"/>"#;
    let text = format!(
        r#"<mujoco><worldbody>
  <body name="A"><joint name="ja" axis="0 1 0"/>{rod}
    <body name="C" pos="0 0 -1"><joint name="jc" axis="0 1 0"/><inertial pos="1 0 0" mass="2" diaginertia="0.01 0.7 0.7"/></body></body>
  <body name="B" pos="2 0 0"><joint name="jb" axis="0 1 0"/>{rod}</body>
</worldbody><equality><connect name="pin" body1="C" body2="B" anchor="2 0 0"/></equality></mujoco>"#
    );
    let quarter = "\"2*pi*sqrt((2/3 + 2)/(3*9.81))*(1 + 0.01/16)/4\"";
    let at_rest = expect(
        "q",
        "quantity = \"joint-position\"\nof = \"m/ja\"",
        &format!("at_s = {quarter}"),
        "0",
        "1e-3",
    );
    let settings = "positions = { ja = 0.1 }";
    check(&format!(
        "{}{at_rest}",
        robot("parallelogram.xml", &text, settings)
    ));
}

#[test]
fn a_polynomial_coupling_is_followed() {
    let text = r#"<mujoco><worldbody>
  <body name="a"><joint name="a" axis="0 0 1" type="slide"/><geom size="0.1"/></body>
  <body name="b" pos="1 0 0"><joint name="b" axis="0 1 0"/><geom size="0.1"/></body>
</worldbody><equality><joint joint1="b" joint2="a" polycoef="0.1 0.5 -0.3 0.2 0.1"/></equality></mujoco>"#;
    let motion = "[[joint_motions]]\nmodel = \"m\"\njoints = [\"a\"]\nknots = [{ at_s = 0, positions = [0] }, { at_s = 1, positions = [1] }]\n";
    let b = |name: &str, when: &str, value: &str| {
        let what = "quantity = \"joint-position\"\nof = \"m/b\"";
        expect(name, what, when, value, "1e-5")
    };
    check(&format!(
        "{}{motion}{}{}",
        robot("polynomial.xml", text, ""),
        b("start", "at_s = 0", "0.1"),
        b("end", "at_s = 1", "0.6")
    ));
}

#[test]
fn constraints_that_are_apart_at_the_start_are_refused_with_the_distance() {
    let two = "[[bodies]]\nname = \"a\"\nshape = { sphere = { radius = 0.1 } }\n[[bodies]]\nname = \"b\"\nshape = { sphere = { radius = 0.1 } }\npose = { position = [0.65, 0, 0] }\n";
    let constraint = |rest: &str| {
        format!(
            "{two}[[constraints]]\nname = \"tie\"\nbetween = [\"a\", \"b\"]\npoints = [[0.1, 0, 0], [-0.1, 0, 0]]\n{rest}\n"
        )
    };
    let ball = refusal(&constraint("kind = \"ball\""));
    assert!(
        ball.contains("\"tie\"") && ball.contains("0.4500 m apart"),
        "{ball}"
    );
    let distance = refusal(&constraint("kind = \"distance\"\nlength = 0.2"));
    assert!(
        distance.contains("0.4500 m apart") && distance.contains("must be 0.2 m"),
        "{distance}"
    );
    let apart = expect(
        "gap",
        "quantity = \"constraint-force\"\nof = \"tie\"",
        "from_s = 0\ntake = \"max\"",
        "0",
        "1e-6",
    );
    check(&format!(
        "gravity = [0, 0, 0]\n{}{apart}",
        constraint("kind = \"distance\"\nlength = 0.45")
    ));
}

#[test]
fn a_source_stays_where_its_follower_is_within_limits() {
    let joint = |name: &str, upper: f64, mimic: &str| {
        format!(
            r#"<link name="l{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{name}" type="prismatic"><parent link="base"/><child link="l{name}"/><axis xyz="1 0 0"/><limit lower="0.1" upper="{upper}" effort="9" velocity="9"/>{mimic}</joint>"#
        )
    };
    let text = |upper: f64| {
        let follower = joint("b", upper, r#"<mimic joint="a" multiplier="2"/>"#);
        format!(
            "<robot name=\"r\"><link name=\"base\"/>{}{follower}</robot>",
            joint("a", 1.0, "")
        )
    };
    // a is between 0.1 and 1, b = 2 a at most 0.5.
    let start = expect(
        "b",
        "quantity = \"joint-position\"\nof = \"m/b\"",
        "at_s = 0",
        "0.2",
        "1e-12",
    );
    check(&format!("{}{start}", robot("narrow.urdf", &text(0.5), "")));
    let refused = refusal(&robot("narrow.urdf", &text(0.5), "positions = { a = 0.4 }"));
    assert!(
        refused.contains("positions.a") && refused.contains("\"b\", which follows it, at 0.8"),
        "{refused}"
    );
    let never = refusal(&robot("never.urdf", &text(0.15), ""));
    assert!(never.contains("never within its limits"), "{never}");
}
