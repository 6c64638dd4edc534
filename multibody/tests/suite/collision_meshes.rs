//! Collision meshes as CAD programs export them: where only the hull is used, the triangles do not matter.

use std::path::{Path, PathBuf};

use pliant_multibody::{CollisionMesh, LoadedModel, MultibodyError, RobotOptions, parse_robot};

const CORNERS: &str = "v 0 0 0\nv 0 0 0.1\nv 0 0.1 0\nv 0 0.1 0.1\nv 0.1 0 0\nv 0.1 0 0.1\nv 0.1 0.1 0\nv 0.1 0.1 0.1\n";
const SIDES: &str = "f 1 2 4\nf 1 4 3\nf 5 7 8\nf 5 8 6\nf 1 5 6\nf 1 6 2\nf 3 4 8\nf 3 8 7\nf 1 3 7\nf 1 7 5\n\
    f 2 6 8\nf 2 8 4\n";

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("collision-meshes-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn read(path: &Path, text: &str) -> Result<LoadedModel, MultibodyError> {
    parse_robot(text.as_bytes(), path, &RobotOptions::default())
}

fn urdf(mesh: &str) -> String {
    format!(
        "<robot name=\"r\"><link name=\"part\"><collision><geometry><mesh filename=\"{mesh}\"/></geometry></collision></link></robot>"
    )
}

fn files_with(mesh: &str) -> [(&'static str, String); 3] {
    let sdf = format!(
        "<sdf version=\"1.9\"><model name=\"r\"><link name=\"part\"><collision name=\"c\"><geometry><mesh><uri>{mesh}</uri></mesh></geometry></collision></link></model></sdf>"
    );
    let mjcf = format!(
        "<mujoco><asset><mesh name=\"m\" file=\"{mesh}\"/></asset><worldbody><body name=\"part\"><inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/><geom type=\"mesh\" mesh=\"m\"/></body></worldbody></mujoco>"
    );
    [("r.urdf", urdf(mesh)), ("r.sdf", sdf), ("r.xml", mjcf)]
}

#[test]
fn a_mesh_that_bounds_no_solid_is_its_hull_in_every_format() {
    let faults = [
        ("wall", "f 1 5 8\nf 1 8 4\n"),
        ("fin", "v 0.05 0.05 0.05\nf 1 8 9\n"),
        ("twin", "f 1 2 4\nf 1 4 2\nf 1 2 4\n"),
    ];
    let folder = Folder::new("faults");
    for (fault, lines) in faults {
        let mesh = format!("{fault}.obj");
        folder.write(&mesh, format!("{CORNERS}{SIDES}{lines}"));
        for (name, text) in files_with(&mesh) {
            let loaded = read(&folder.0.join(name), &text);
            let loaded = loaded.unwrap_or_else(|error| panic!("{fault}, {name}: {error}"));
            let link = loaded.model.link_named("part").expect("a link");
            let mesh = loaded.model.link(link).collisions[0].mesh.as_ref();
            let mesh = mesh.expect("a mesh");
            let properties = mesh.shape().and_then(|shape| shape.mass_properties(1.0));
            let volume = properties.expect("a volume").mass;
            assert!((volume - 1e-3).abs() < 1e-16, "{fault}, {name}: {volume}");
        }
    }
}

#[test]
fn the_remark_on_a_hull_says_why() {
    let folder = Folder::new("remark");
    folder.write("wall.obj", format!("{CORNERS}{SIDES}f 1 5 8\nf 1 8 4\n"));
    let loaded = read(&folder.0.join("r.urdf"), &urdf("wall.obj")).expect("its hull");
    let part = &loaded.model.links()[0].collisions[0];
    assert!(matches!(part.mesh, Some(CollisionMesh::Hull(_))));
    let report = loaded.report.to_string();
    for part in ["r.urdf:1", "wall.obj", "convex hull", "shared by"] {
        assert!(report.contains(part), "{part:?} is not in {report}");
    }
}

#[test]
fn flat_meshes_are_errors_in_contact_and_drawn_without_a_word() {
    let folder = Folder::new("flat");
    folder.write(
        "sheet.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 1 2 3\n",
    );
    for (name, text) in files_with("sheet.obj") {
        let error = read(&folder.0.join(name), &text).expect_err("no volume");
        let text = error.to_string();
        for part in ["sheet.obj", "plane", "thickness"] {
            assert!(text.contains(part), "{name}: {part:?} is not in {text}");
        }
    }
    let seen = urdf("sheet.obj").replace("collision", "visual");
    let loaded = read(&folder.0.join("r.urdf"), &seen).expect("a visual");
    assert!(loaded.report.entries.is_empty(), "{}", loaded.report);
}

const BALL: &str = "<body name=\"ball\"><freejoint/><geom size=\"0.1\"/></body>";

#[test]
fn packages_are_found_around_the_file() {
    let folder = Folder::new("packages");
    folder.write("share/arm/meshes/part.obj", format!("{CORNERS}{SIDES}"));
    // The name of a folder around the file; of one beside those; with and without folders in between.
    for (file, mesh) in [
        ("share/arm/urdf/r.urdf", "package://arm/meshes/part.obj"),
        ("share/arm/r.urdf", "package://arm/meshes/part.obj"),
        (
            "share/hand/urdf/old/r.urdf",
            "package://arm/meshes/part.obj",
        ),
        ("share/hand/r.sdf", "model://arm/meshes/part.obj"),
        ("r.urdf", "package://share/arm/meshes/part.obj"),
    ] {
        folder.write(file, urdf(mesh));
        let loaded = read(&folder.0.join(file), &urdf(mesh));
        loaded.unwrap_or_else(|error| panic!("{file}: {error}"));
    }
    let missing = urdf("package://leg/meshes/part.obj");
    let error = read(&folder.0.join("share/arm/r.urdf"), &missing).expect_err("no package leg");
    for part in ["package \"leg\" is not mapped", "no folder leg around"] {
        assert!(
            error.to_string().contains(part),
            "{part:?} is not in {error}"
        );
    }
}

#[test]
fn a_link_without_mass_has_the_density_of_its_shapes_or_none() {
    let link = |inertial: &str| {
        format!(
            "<robot name=\"r\"><link name=\"cube\"><inertial>{inertial}</inertial><collision><origin xyz=\"0 0 1\"/><geometry><box size=\"0.1 0.2 0.3\"/></geometry></collision></link></robot>"
        )
    };
    let path = Path::new("r.urdf");
    let dense = read(path, &link("<density value=\"500\"/>")).expect("a mass");
    let inertia = dense.model.links()[0].inertia;
    assert!((inertia.mass - 3.0).abs() < 1e-14);
    assert!((inertia.com - nalgebra::Vector3::z()).norm() < 1e-14);
    let i_xx = 3.0 * (0.2_f64.powi(2) + 0.3_f64.powi(2)) / 12.0;
    assert!((inertia.rotational[(0, 0)] - i_xx).abs() < 1e-14);
    let without = read(path, &link("<origin xyz=\"0 0 1\"/>")).expect("massless");
    assert_eq!(without.model.links()[0].inertia.mass, 0.0);
    assert!(
        without.report.to_string().contains("massless"),
        "{}",
        without.report
    );
    for wrong in ["0", "-1"] {
        let error = read(path, &link(&format!("<density value=\"{wrong}\"/>")));
        let text = error.expect_err("no density").to_string();
        assert!(text.contains("must be positive"), "{text}");
    }
}

#[test]
fn parts_for_inclusion_are_models_of_what_they_have() {
    let folder = Folder::new("fragments");
    let read = |text: &str| read(&folder.0.join("part.xml"), text);
    // Only assets, a body, a body with what another file defines, and elements of a body.
    let arm = "<body name=\"arm\" childclass=\"panda\"><joint name=\"hinge\" class=\"soft\"/><geom size=\"0.1\" material=\"steel\"/>\
        <geom type=\"mesh\" mesh=\"elsewhere\"/></body>";
    let cases = [
        (
            "<mujocoinclude><asset/></mujocoinclude>".to_owned(),
            0,
            0.0,
            "",
        ),
        ("<mujoco><default/></mujoco>".to_owned(), 0, 0.0, ""),
        (
            format!("<mujocoinclude>{BALL}</mujocoinclude>"),
            6,
            1000.0,
            "",
        ),
        (
            format!("<mujocoinclude>{arm}</mujocoinclude>"),
            1,
            1000.0,
            "class \"panda\", class \"soft\", material \"steel\", mesh \"elsewhere\"",
        ),
        (
            "<mujocoinclude><joint name=\"j\"/><geom size=\"0.1\"/></mujocoinclude>".to_owned(),
            1,
            1000.0,
            "",
        ),
        (
            format!(
                "<mujocoinclude>{arm}<actuator><motor joint=\"hinge\"/><motor joint=\"leg\"/></actuator></mujocoinclude>"
            ),
            1,
            1000.0,
            "joint \"leg\"",
        ),
        (
            format!(
                "<mujocoinclude>{arm}<contact><pair geom1=\"foot\" geom2=\"floor\"/></contact></mujocoinclude>"
            ),
            1,
            1000.0,
            "geom \"foot\"",
        ),
        // A tendon without one of its joints would be another tendon.
        (
            format!(
                "<mujocoinclude>{arm}<tendon><fixed name=\"t\" range=\"0 1\"><joint joint=\"hinge\" coef=\"1\"/><joint joint=\"knee\" coef=\"2\"/></fixed></tendon><actuator><position tendon=\"t\" kp=\"1\"/></actuator></mujocoinclude>"
            ),
            1,
            1000.0,
            "tendon \"t\"",
        ),
    ];
    for (text, n_v, density, missing) in cases {
        let loaded = read(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(loaded.model.n_v(), n_v, "{text}");
        let mass = density * 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
        assert!((loaded.model.moving_mass() - mass).abs() < 1e-12, "{text}");
        let report = loaded.report.to_string();
        assert!(report.contains("other files include"), "{text}: {report}");
        assert!(report.contains(missing), "{text}: {report}");
    }
    // A whole model that refers to nothing known is an error as ever.
    let whole = format!("<mujoco><worldbody>{arm}</worldbody></mujoco>");
    let error = read(&whole).expect_err("no class panda");
    assert!(error.to_string().contains("panda"), "{error}");
    // Included, a part has what the whole defines.
    folder.write(
        "inner.xml",
        format!("<mujocoinclude>{BALL}</mujocoinclude>"),
    );
    let outer = read("<mujoco><worldbody><include file=\"inner.xml\"/></worldbody></mujoco>");
    let outer = outer.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outer.model.n_v(), 6);
    assert!(outer.report.entries.is_empty(), "{}", outer.report);
}

#[test]
fn a_mesh_may_be_defined_twice_in_the_same_way_only() {
    let folder = Folder::new("twice");
    folder.write("part.obj", format!("{CORNERS}{SIDES}"));
    let mesh = |scale: &str| format!("<mesh name=\"m\" file=\"part.obj\" scale=\"{scale}\"/>");
    let model = |second: &str| {
        let assets = mesh("1 1 1") + &mesh(second);
        read(
            &folder.0.join("r.xml"),
            &format!(
                "<mujoco><asset>{assets}</asset><worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody></mujoco>"
            ),
        )
    };
    let loaded = model("1 1 1").unwrap_or_else(|error| panic!("{error}"));
    assert!(loaded.report.to_string().contains("defined twice"));
    let error = model("2 1 1").expect_err("two shapes");
    assert!(error.to_string().contains("defined twice"), "{error}");
}
