//! Robots of other formats, their visual meshes and their packages in scenes.

use std::path::{Path, PathBuf};

use pliant::recording::VisualShape;
use pliant::runner::{RunOptions, check, run};
use pliant::scene::{Scene, SceneOptions};

use crate::bundled_scenes::check_scene;

const HEADER: &str =
    "schema = 1\ntitle = \"t\"\n[simulation]\ntime_step_s = 0.01\nsmoke_s = 0.1\nfull_s = 0.1\n";

/// A folder with the files of one test, removed with its guard.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn scene(text: &str) -> Scene {
    let text = format!("{HEADER}{text}");
    Scene::parse("t.toml", &text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_cart_and_a_pole_keep_their_centre_of_mass() {
    check_scene("cart-pole", &[]);
    check_scene(
        "cart-pole",
        &["angle=60*deg", "simulation.time_step_s=0.0005"],
    );
}

const TRIANGLE: &str = "mtllib paint.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n";

fn urdf(mesh: &str) -> String {
    format!(
        "<robot name=\"r\"><link name=\"a\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>
<visual><geometry><mesh filename=\"{mesh}\"/></geometry><material name=\"m\"><color rgba=\"0 0 1 1\"/></material></visual>
<collision><geometry><sphere radius=\"0.1\"/></geometry></collision></link></robot>"
    )
}

#[test]
fn visual_meshes_have_the_colours_of_their_file_and_missing_ones_leave_theirs() {
    let folder = Folder::new("robot-looks");
    folder.write("paint.mtl", "newmtl red\nKd 1 0 0\n");
    folder.write("a.obj", TRIANGLE);
    let seen = |name: &str, mesh: &str| {
        let file = folder.write(name, &urdf(mesh));
        let scene = scene(&format!("[[models]]\nname = \"r\"\nfile = {file:?}\n"));
        let outcome = run(&scene, &RunOptions::default(), &mut |_| {});
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        let visuals = outcome.recording.visuals();
        assert_eq!(visuals.len(), 1, "{mesh}");
        let color = visuals[0].color;
        let is_mesh = matches!(&visuals[0].shape, VisualShape::Mesh { .. });
        (is_mesh, [color.red, color.green, color.blue])
    };
    assert_eq!(seen("found.urdf", "a.obj"), (true, [1.0, 0.0, 0.0]));
    assert_eq!(seen("missing.urdf", "b.obj"), (false, [0.0, 0.0, 1.0]));
}

#[test]
fn a_target_of_a_mimic_joint_says_what_to_leave_out() {
    let text = r#"[[models]]
name = "g"
file = "robots/gripper2.urdf"
actuators = { left_slide = { proportional = 100, derivative = 10 } }
[[joint_targets]]
model = "g"
joints = ["left_slide", "right_slide"]
knots = [{ at_s = 0, positions = [0.02, 0.02] }]
"#;
    let Err(error) = check(&scene(text)) else {
        panic!("a mimic joint has no target of its own");
    };
    let text = error.to_string();
    assert!(text.contains("mimics joint \"left_slide\""), "{text}");
    assert!(
        text.contains("leave \"right_slide\" out of `joints`"),
        "{text}"
    );
}

#[test]
fn a_target_faster_than_the_velocity_limit_is_noted() {
    let with = |end_s: f64| {
        let text = format!(
            "[[models]]\nname = \"a\"\nfile = \"robots/arm7.urdf\"\nactuators = {{ \"*\" = {{ proportional = 100, derivative = 10 }} }}\n[[joint_targets]]\nmodel = \"a\"\njoints = [\"joint_1\"]\ninterpolation = \"linear\"\nknots = [{{ at_s = 0, positions = [0] }}, {{ at_s = {end_s}, positions = [1] }}]\n"
        );
        let assembly = check(&scene(&text)).unwrap_or_else(|error| panic!("{error}"));
        let mut notes = assembly.notes.iter();
        notes.find(|note| note.contains("binds no target")).cloned()
    };
    // 10 rad/s is more than any joint of the arm allows, 0.1 rad/s is less.
    let note = with(0.1).expect("a note");
    assert!(
        note.contains("\"joint_1\" is moved at up to 10.000 rad/s"),
        "{note}"
    );
    assert_eq!(with(10.0), None);
}

#[test]
fn gains_are_those_of_the_file_if_the_scene_gives_none() {
    let folder = Folder::new("robot-gains");
    let robot = |actuators: &str| {
        let text = format!(
            "<mujoco><worldbody><body name=\"b\"><joint name=\"j\" axis=\"0 0 1\"/><geom type=\"box\" size=\"0.1 0.1 0.1\"/></body></worldbody>{actuators}</mujoco>"
        );
        let file = folder.write("r.xml", &text);
        scene(&format!(
            "[[models]]\nname = \"r\"\nfile = {file:?}\nactuators = {{ j = {{ }} }}\n"
        ))
    };
    let servo = "<actuator><position joint=\"j\" kp=\"5\" kv=\"1\"/></actuator>";
    assert!(check(&robot(servo)).is_ok());
    let Err(error) = check(&robot("")) else {
        panic!("a joint without gains");
    };
    let text = error.to_string();
    assert!(
        text.contains("has no gains in its file; give `proportional`"),
        "{text}"
    );
}

#[test]
fn a_robot_starts_at_a_keyframe_of_its_file() {
    let folder = Folder::new("robot-keyframe");
    let file = folder.write(
        "arm.xml",
        r#"<mujoco><worldbody><body name="a"><joint name="hinge" axis="0 1 0"/><geom size="0.1"/>
             <body name="b" pos="1 0 0"><joint name="ball" type="ball"/><geom size="0.1"/></body></body></worldbody>
           <keyframe><key name="home" qpos="0.4 0 1 0 0"/></keyframe></mujoco>"#,
    );
    let starting = |at: &str| {
        check(&scene(&format!(
            "[[models]]\nname = \"r\"\nfile = {file:?}\npositions = {at:?}\n"
        )))
    };
    let q = starting("home")
        .unwrap_or_else(|error| panic!("{error}"))
        .state
        .bodies[0]
        .q
        .clone();
    assert_eq!(q, [0.4, 0.0, 1.0, 0.0, 0.0]);
    let Err(error) = starting("hom") else {
        panic!("there is no such keyframe");
    };
    let text = error.to_string();
    assert!(
        text.contains("no keyframe \"hom\"; did you mean `home`?"),
        "{text}"
    );
}
