//! `<inertial auto="true">` against closed forms.

use std::f64::consts::PI;
use std::path::Path;

use nalgebra::{Matrix3, Vector3};
use pliant_multibody::{
    LoadedModel, MultibodyError, RobotOptions, SpatialInertia, parse_robot, read_robot,
};

use crate::shared_data::shared;

fn parse(path: &Path, inertial: &str, collisions: &str) -> Result<LoadedModel, MultibodyError> {
    let text = format!(
        "<sdf version=\"1.11\"><model name=\"m\"><link name=\"a\">{inertial}{collisions}</link></model></sdf>"
    );
    parse_robot(text.as_bytes(), path, &RobotOptions::default())
}

fn inertia(inertial: &str, collisions: &str) -> SpatialInertia {
    let loaded = parse(Path::new("m.sdf"), inertial, collisions);
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
    loaded.model.links()[0].inertia
}

fn collision(name: &str, inside: &str, shape: &str) -> String {
    format!("<collision name=\"{name}\">{inside}<geometry>{shape}</geometry></collision>")
}

fn assert_equals(found: SpatialInertia, mass: f64, com: [f64; 3], diagonal: [f64; 3]) {
    assert!((found.mass - mass).abs() < 1e-12 * mass, "{found:?}");
    assert!((found.com - Vector3::from(com)).norm() < 1e-12, "{found:?}");
    let expected = Matrix3::from_diagonal(&Vector3::from(diagonal));
    let difference = (found.rotational - expected).norm();
    assert!(difference < 1e-12 * expected.norm(), "{found:?}");
}

const AUTO: &str = "<inertial auto=\"true\"/>";
const BOX: &str = "<box><size>0.1 0.2 0.3</size></box>";

#[test]
fn a_box_of_water_has_6_kg() {
    let Some(path) = shared("data/cases/sdf/20-autoinertia.sdf") else {
        return;
    };
    let loaded = read_robot(path, &RobotOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let found = loaded.model.links()[0].inertia;
    assert_equals(found, 6.0, [0.0; 3], [0.065, 0.05, 0.025]);
}

#[test]
fn densities_of_collisions_take_precedence_and_a_mass_scales() {
    let plain = collision("c", "", BOX);
    let moments = |mass: f64| [0.13, 0.1, 0.05].map(|x| x * mass / 12.0);
    assert_equals(inertia(AUTO, &plain), 6.0, [0.0; 3], moments(6.0));
    let of_link = "<inertial auto=\"true\"><density>500</density></inertial>";
    assert_equals(inertia(of_link, &plain), 3.0, [0.0; 3], moments(3.0));
    let own = collision("c", "<density>2000</density>", BOX);
    assert_equals(inertia(of_link, &own), 12.0, [0.0; 3], moments(12.0));
    let loaded = parse(Path::new("m.sdf"), "<inertial/>", &own).unwrap_or_else(|e| panic!("{e}"));
    let report = loaded.report.to_string();
    assert!(report.contains("ignored: <density>"), "{report}");
    let scaled = "<inertial auto=\"true\"><mass>1.5</mass></inertial>";
    assert_equals(inertia(scaled, &own), 1.5, [0.0; 3], moments(1.5));
}

#[test]
fn several_shapes_are_summed_about_their_common_centre() {
    // 1 kg and 3 kg, 0.4 m apart along x: the centre is 0.1 m from the heavier.
    let ball = |name: &str, x: f64, density: f64| {
        let inside = format!("<density>{density}</density><pose>{x} 0 0 0 0 0</pose>");
        collision(name, &inside, "<sphere><radius>0.1</radius></sphere>")
    };
    let volume = 4.0 / 3.0 * PI * 1e-3;
    let two = ball("a", 0.0, 1.0 / volume) + &ball("b", 0.4, 3.0 / volume);
    let own = 0.4 * 4.0 * 0.01;
    let apart = 0.3 * 0.3 + 3.0 * 0.1 * 0.1;
    let expected = [own, own + apart, own + apart];
    assert_equals(inertia(AUTO, &two), 4.0, [0.3, 0.0, 0.0], expected);
}

#[test]
fn every_solid_shape_has_its_volume() {
    let (r, l) = (0.1, 0.4);
    let size = format!("<radius>{r}</radius><length>{l}</length>");
    let disc = PI * r * r;
    // I_z and the height of the centre, from tables.
    let ball = 4.0 / 3.0 * PI * r * r * r;
    for (shape, volume, z_gyration, height) in [
        ("cylinder", disc * l, 0.5 * r * r, 0.0),
        ("cone", disc * l / 3.0, 0.3 * r * r, -l / 4.0),
        (
            "capsule",
            disc * l + ball,
            (disc * l * 0.5 + ball * 0.4) * r * r / (disc * l + ball),
            0.0,
        ),
    ] {
        let found = inertia(
            AUTO,
            &collision("c", "", &format!("<{shape}>{size}</{shape}>")),
        );
        let mass = 1000.0 * volume;
        assert!(
            (found.mass - mass).abs() < 1e-12 * mass,
            "{shape}: {found:?}"
        );
        assert!((found.com.z - height).abs() < 1e-12, "{shape}: {found:?}");
        let moment = mass * z_gyration;
        assert!(
            (found.rotational[(2, 2)] - moment).abs() < 1e-12 * moment,
            "{shape}: {found:?}"
        );
    }
}

#[test]
fn a_mesh_has_the_inertia_of_its_inside() {
    let folder = std::env::temp_dir().join(format!("sdf-auto-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    // The corner of a cube: volume 1/6, centre at 1/4, I_xx = 2 (3/80) V about it.
    let corner = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(folder.join("corner.obj"), corner).expect("a file");
    let mesh = collision(
        "c",
        "<density>6</density>",
        "<mesh><uri>corner.obj</uri></mesh>",
    );
    let loaded = parse(&folder.join("m.sdf"), AUTO, &mesh).unwrap_or_else(|e| panic!("{e}"));
    let found = loaded.model.links()[0].inertia;
    assert!((found.mass - 1.0).abs() < 1e-12, "{found:?}");
    assert!(
        (found.com - Vector3::repeat(0.25)).norm() < 1e-12,
        "{found:?}"
    );
    assert!(
        (found.rotational[(0, 0)] - 0.075).abs() < 1e-12,
        "{found:?}"
    );
    assert!(
        (found.rotational[(0, 1)] - 0.0125).abs() < 1e-12,
        "{found:?}"
    );
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn links_without_volume_and_densities_of_zero_are_errors() {
    let plane = collision("c", "", "<plane><normal>0 0 1</normal></plane>");
    let zero = collision("c", "<density>0</density>", BOX);
    for (collisions, part) in [
        ("", "needs a <collision> with a volume"),
        (&*plane, "needs a <collision> with a volume"),
        (&*zero, "<density> = 0 kg/m³ must be positive"),
    ] {
        let error = parse(Path::new("m.sdf"), AUTO, collisions).expect_err(part);
        let text = error.to_string();
        assert!(text.contains(part), "{part:?} is not in {text:?}");
        assert!(text.starts_with("m.sdf:1: link \"a\""), "{text}");
    }
}
