//! Models in models, and several models in one SDFormat file.

use std::path::Path;

use nalgebra::{Isometry3, Vector3};
use pliant_multibody::{
    JointKind, Model, MultibodyError, PositionKinematics, RobotOptions, Root, parse_robot,
};

fn parse(text: &str, options: &RobotOptions) -> Result<Model, MultibodyError> {
    parse_robot(text.as_bytes(), Path::new("m.sdf"), options).map(|loaded| loaded.model)
}

fn load(text: &str) -> Model {
    parse(text, &RobotOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

const INERTIAL: &str = "<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>";

fn pose(model: &Model, link: &str) -> Isometry3<f64> {
    let mut positions = PositionKinematics::new(model);
    positions.update(model, &model.initial_positions());
    positions.link_pose(model, model.link_named(link).expect(link))
}

/// A finger of two links of 0.1 m along z; its second joint is about its own y.
fn finger(name: &str, at: &str) -> String {
    format!(
        "<model name='{name}'><pose>{at}</pose><link name='low'>{INERTIAL}</link>\
         <link name='high'><pose relative_to='knuckle'/>{INERTIAL}</link>\
         <frame name='tip' attached_to='high'><pose>0 0 0.1 0 0 0</pose></frame>\
         <joint name='knuckle' type='revolute'><pose relative_to='low'>0 0 0.1 0 0 0</pose><parent>low</parent><child>high</child>\
         <axis><xyz expressed_in='__model__'>0 1 0</xyz></axis></joint></model>"
    )
}

#[test]
fn parts_of_nested_models_have_scoped_names_and_poses() {
    let text = format!(
        "<sdf version='1.9'><model name='hand'><link name='palm'>{INERTIAL}</link>{}{}\
         <joint name='l' type='revolute'><parent>palm</parent><child>left::low</child><axis><xyz>1 0 0</xyz></axis></joint>\
         <joint name='r' type='fixed'><parent>palm</parent><child>right</child></joint></model></sdf>",
        finger("left", "0 0.2 0.1 0 0 0"),
        finger("right", "0 -0.2 0.1 1.5707963267948966 0 0"),
    );
    let model = load(&text);
    assert_eq!(model.n_v(), 3);
    let near = |found: Vector3<f64>, expected: [f64; 3]| {
        assert!(
            (found - Vector3::from(expected)).norm() < 1e-9,
            "{found} {expected:?}"
        );
    };
    near(
        pose(&model, "left::high").translation.vector,
        [0.0, 0.2, 0.2],
    );
    // Turned by 90° about x, z points to −y.
    near(
        pose(&model, "right::high").translation.vector,
        [0.0, -0.3, 0.1],
    );
    let knuckle = model.joint(model.joint_named("right::knuckle").expect("a joint"));
    near(knuckle.axis, [0.0, 1.0, 0.0]);
    let tip = model.frame_named("right::tip").expect("a frame");
    near(tip.X_LF.translation.vector, [0.0, 0.0, 0.1]);
    let frame = model.frame_named("left").expect("the frame of the model");
    assert_eq!(model.link(frame.link).name, "left::low");
}

#[test]
fn models_of_models_are_scoped_twice() {
    let inner = format!(
        "<model name='c'><pose>0 0 1 0 0 0</pose><link name='l'><pose>0 0 1 0 0 0</pose>{INERTIAL}</link></model>"
    );
    let text = format!(
        "<sdf version='1.9'><model name='a'><link name='base'>{INERTIAL}</link><model name='b'><pose>0 0 1 0 0 0</pose>{inner}</model>\
         <joint name='j' type='fixed'><parent>base</parent><child>b::c::l</child></joint></model></sdf>"
    );
    let model = load(&text);
    assert!(
        (pose(&model, "b::c::l").translation.vector - Vector3::new(0.0, 0.0, 3.0)).norm() < 1e-12
    );
}

#[test]
fn old_axes_of_nested_models_are_in_their_own_frame() {
    let nested = format!(
        "<model name='n'><pose>0 0 0 1.5707963267948966 0 0</pose><link name='x'>{INERTIAL}</link><link name='y'><pose>0 0 0 0 0 1</pose>{INERTIAL}</link>\
         <joint name='j' type='revolute'><parent>x</parent><child>y</child><axis><xyz>0 1 0</xyz></axis></joint></model>"
    );
    let text = format!(
        "<sdf version='1.3'><model name='a'><link name='base'>{INERTIAL}</link>{nested}<joint name='f' type='fixed'><parent>base</parent><child>n::x</child></joint></model></sdf>"
    );
    let model = load(&text);
    let joint = model.joint(model.joint_named("n::j").expect("a joint"));
    // y of the nested model is z of the outer one.
    let in_world = pose(&model, "n::y").rotation * joint.axis;
    assert!((in_world - Vector3::z()).norm() < 1e-9, "{in_world}");
}

#[test]
fn several_models_move_freely_in_their_world() {
    let text = format!(
        "<sdf version='1.9'><world name='w'><model name='a'><pose>1 0 2 0 0 0</pose><link name='l'>{INERTIAL}</link></model>\
         <model name='b'><static>true</static><pose>0 3 0 0 0 0</pose><link name='l'>{INERTIAL}</link></model>\
         <model name='c'><link name='l'>{INERTIAL}</link><joint name='j' type='prismatic'><parent>world</parent><child>l</child><axis><xyz>1 0 0</xyz></axis></joint></model></world></sdf>"
    );
    let model = load(&text);
    assert_eq!((model.name(), model.n_v()), ("w", 7));
    assert!((pose(&model, "a::l").translation.vector - Vector3::new(1.0, 0.0, 2.0)).norm() < 1e-12);
    assert!((pose(&model, "b::l").translation.vector - Vector3::new(0.0, 3.0, 0.0)).norm() < 1e-12);
    let kind = |name: &str| model.joint(model.joint_named(name).expect(name)).kind;
    assert_eq!(
        (kind("a_root"), kind("b_root"), kind("c::j")),
        (JointKind::Floating, JointKind::Fixed, JointKind::Prismatic)
    );
    let floating = RobotOptions {
        root: Root::Floating,
        ..RobotOptions::default()
    };
    let error = parse(&text, &floating)
        .expect_err("it cannot float")
        .to_string();
    assert!(error.contains("cannot float"), "{error}");
}

#[test]
fn an_included_model_brings_its_meshes() {
    let folder = std::env::temp_dir().join(format!("sdf-nested-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    };
    write(
        "part/corner.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    );
    write(
        "part/part.sdf",
        &format!(
            "<sdf version='1.9'><model name='part'><link name='l'>{INERTIAL}<collision name='c'><geometry><mesh><uri>corner.obj</uri></mesh></geometry></collision></link></model></sdf>"
        ),
    );
    let file = write(
        "robot.sdf",
        &format!(
            "<sdf version='1.9'><model name='r'><link name='base'>{INERTIAL}</link>\
             <include><uri>part/part.sdf</uri><name>first</name><pose>1 0 0 0 0 0</pose></include>\
             <include><uri>part/part.sdf</uri><name>second</name></include>\
             <joint name='a' type='ball'><parent>base</parent><child>first::l</child></joint>\
             <joint name='b' type='ball'><parent>base</parent><child>second::l</child></joint></model></sdf>"
        ),
    );
    let loaded = pliant_multibody::read_robot(&file, &RobotOptions::default());
    let model = loaded.unwrap_or_else(|error| panic!("{error}")).model;
    for link in ["first::l", "second::l"] {
        let link = model.link(model.link_named(link).expect(link));
        assert_eq!(link.collisions.len(), 1);
    }
    assert_eq!(pose(&model, "first::l").translation.vector.x, 1.0);
    let _ = std::fs::remove_dir_all(&folder);
}
