//! Drives of robots in scene files: which exclude each other, which actuators and limits they meet, and how they are read from a file.

use pliant::runner::check;
use pliant::scene::{Scene, SceneOptions};

use crate::scene_faults::{ARM, HEAD, check_accepted, check_refused};

const ACTUATED: &str = "actuators = { \"*\" = { proportional = 10, derivative = 1 } }\n";

/// A target of `joint_1`.
fn target(position: &str) -> String {
    drive("joint_targets", &format!("positions = [{position}]"))
}
fn motion(position: &str) -> String {
    drive("joint_motions", &format!("positions = [{position}]"))
}
fn effort() -> String {
    drive("joint_efforts", "efforts = [1]")
}
fn drive(table: &str, value: &str) -> String {
    format!(
        "[[{table}]]\nmodel = \"arm\"\njoints = [\"joint_1\"]\nknots = [{{ at_s = 0, {value} }}]\n"
    )
}

fn frame_target(from_s: f64) -> String {
    format!(
        "[[frame_targets]]\nframe = \"arm/flange\"\nfollow = \"position\"\nknots = [{{ at_s = {from_s}, pose = {{ position = [0.4, 0, 0.5] }} }}]\n"
    )
}

#[test]
fn a_joint_has_one_kind_of_drive() {
    let once = [
        format!("{ARM}{ACTUATED}{}{}", target("0.1"), target("0.2")),
        format!("{ARM}{}{}", motion("0.1"), motion("0.2")),
        format!("{ARM}{}{}", effort(), effort()),
        format!("{ARM}{}{}", motion("0.1"), effort()),
        format!("{ARM}{ACTUATED}{}{}", motion("0.1"), target("0.1")),
        format!("{ARM}held = [\"joint_1\"]\n{}", motion("0.1")),
        format!("{ARM}held = [\"joint_1\"]\n{}", effort()),
        format!("{ARM}held = [\"joint_1\", \"joint_1\"]\n"),
    ];
    for text in &once {
        check_refused(
            text,
            &["s.toml:", "joint \"joint_1\"", "drop one of the two"],
        );
    }
    check_refused(
        &format!("{ARM}{ACTUATED}{}{}", target("0.1"), target("0.2")),
        &["s.toml:15:11", "has a joint target in line 11"],
    );
    // An effort adds to that of an actuator.
    check_accepted(&format!("{ARM}{ACTUATED}{}{}", target("0.1"), effort()));
}

#[test]
fn a_frame_target_excludes_other_drives_of_its_joints_at_the_same_time() {
    check_refused(
        &format!("{ARM}{ACTUATED}{}{}", target("0.1"), frame_target(0.0)),
        &[
            "joint \"joint_1\", which moves \"arm/flange\"",
            "has a joint target in line 11",
        ],
    );
    check_refused(
        &format!("{ARM}{ACTUATED}{}{}", frame_target(0.0), frame_target(0.0)),
        &["follows a frame target in line 10"],
    );
    check_accepted(&format!(
        "{ARM}{ACTUATED}{}{}",
        target("0.1"),
        frame_target(0.5)
    ));
    // A joint with a prescribed motion is no unknown of inverse kinematics.
    check_accepted(&format!(
        "{ARM}{ACTUATED}{}{}",
        motion("0.1"),
        frame_target(0.5)
    ));
}

#[test]
fn targets_need_an_actuator() {
    check_refused(
        &format!("{ARM}{}", target("0.1")),
        &[
            "s.toml:10:11",
            "joint \"joint_1\" has no actuator",
            "actuators = { joint_1 = {",
        ],
    );
    check_accepted(&format!("{ARM}{}", effort()));
}

#[test]
fn motions_stay_within_limits_and_targets_beyond_them_are_noted() {
    check_refused(
        &format!("{ARM}{}", motion("9")),
        &[
            "shall be at 9, outside its limits [-2.96706, 2.96706]",
            "\"9*deg\"",
        ],
    );
    for (position, expected) in [
        ("4", "its actuator will press against them"),
        ("9", "write \"9*deg\" if 9 degrees are meant"),
    ] {
        let notes = check_accepted(&format!("{ARM}{ACTUATED}{}", target(position)));
        assert!(
            (notes.iter()).any(|note| note.contains("s.toml:11") && note.contains(expected)),
            "{notes:?}"
        );
    }
}

#[test]
fn effort_limits_above_those_of_the_file_are_noted() {
    let notes = check_accepted(&format!(
        "{ARM}actuators = {{ joint_1 = {{ proportional = 1, derivative = 1, effort_limit = 500 }} }}\n"
    ));
    assert!(
        notes
            .iter()
            .any(|note| note.contains("effort_limit = 500 is more than the 176 of its file")),
        "{notes:?}"
    );
}

#[test]
fn degrees_where_radians_are_meant_are_recognised() {
    let notes = check_accepted(&format!("{ARM}{ACTUATED}{}", target("90")));
    let expected = ["\"joint_1\"", "\"90*deg\"", "(1.5708 rad)"];
    let hits = |note: &String| expected.iter().all(|part| note.contains(part));
    assert!(notes.iter().any(hits), "{notes:?}");
    // Beyond the limits in either unit.
    let notes = check_accepted(&format!("{ARM}{ACTUATED}{}", target("900")));
    assert!(!notes.iter().any(|note| note.contains("deg")), "{notes:?}");
    check_refused(
        &format!("{ARM}positions = {{ joint_1 = 45 }}\n"),
        &["outside the joint's limits", "\"45*deg\""],
    );
}

#[test]
fn a_frame_target_out_of_reach_is_noted() {
    let to = |x: f64| {
        let knots = format!(
            "knots = [{{ at_s = 0, pose = {{ position = [0.4, 0, 0.5] }} }}, {{ at_s = 0.8, pose = {{ position = [{x}, 0, 0.5] }} }}]"
        );
        let target =
            format!("[[frame_targets]]\nframe = \"arm/flange\"\nfollow = \"position\"\n{knots}\n");
        check_accepted(&format!(
            "{ARM}{ACTUATED}positions = {{ joint_2 = 0.5, joint_4 = -1.87, joint_6 = -0.8 }}\n{target}"
        ))
    };
    let notes = to(4.0);
    // The flange is at most 1.3 m from the base.
    let hits = |note: &String| {
        note.contains("\"arm/flange\" does not reach its pose at 0.8 s")
            && (note.contains("it stays 2.") || note.contains("it stays 3."))
            && !note.contains("rad")
    };
    assert!(notes.iter().any(hits), "{notes:?}");
    assert!(!to(0.5).iter().any(|note| note.contains("reach")));
}

#[test]
fn targets_from_a_file_are_those_of_equal_knots() {
    let folder = std::env::temp_dir().join(format!("pliant-trajectory-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(
        folder.join("way.csv"),
        "joint_2,time_s,joint_1\n0.3,0,0\n0.6,0.5,0.4\n",
    )
    .expect("written");
    let targets = |text: &str| {
        let text = format!("{HEAD}{ARM}{ACTUATED}[[joint_targets]]\nmodel = \"arm\"\n{text}");
        let path = folder.join("scene.toml");
        std::fs::write(&path, text).expect("written");
        Scene::load(path.to_str().expect("UTF-8"), &SceneOptions::default())
            .map(|scene| {
                let end = check(&scene).map_err(|error| error.to_string());
                assert_eq!(end.err(), None);
                scene.drives.joint_targets[0].track.clone()
            })
            .map_err(|error| error.to_string())
    };
    let by_knots = targets(
        "joints = [\"joint_2\", \"joint_1\"]\nknots = [{ at_s = 0, positions = [0.3, 0] }, { at_s = 0.5, positions = [0.6, 0.4] }]\n",
    );
    assert!(by_knots.is_ok());
    assert_eq!(targets("file = \"way.csv\"\n"), by_knots);
    let one = targets("file = \"way.csv\"\njoints = [\"joint_1\"]\n").expect("a column");
    assert_eq!(one.knots_of(0).collect::<Vec<_>>(), [0.0, 0.4]);
    let refused = [
        (
            "file = \"way.csv\"\njoints = [\"joint_3\"]\n",
            "no column \"joint_3\"; did you mean",
        ),
        (
            "file = \"way.csv\"\nknots = []\n",
            "`file` and `knots` exclude each other",
        ),
        ("file = \"none.csv\"\n", "no file \"none.csv\""),
        ("file = \"wya.csv\"\n", "did you mean `way.csv`?"),
        ("joints = [\"joint_1\"]\n", "lacks the key `knots`"),
    ];
    for (text, part) in refused {
        let message = targets(text).expect_err(text);
        assert!(message.contains(part), "{part:?} is not in:\n{message}");
    }
    std::fs::remove_dir_all(&folder).expect("removed");
}
