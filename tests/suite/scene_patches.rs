//! Keys of patch contact in scene and robot files: each has its effect, or is refused with position and remedy.

use std::fs;
use std::path::Path;

use pliant::runner::{Outcome, RunOptions, RunOutcome, run};
use pliant::scene::{Scene, SceneOptions};

/// A cube of 0.1 m and 1 kg on a floor, both with the given materials; observables of their contact.
fn cube_on_floor(contact: &str, cube: &str, floor: &str) -> String {
    format!(
        "schema = 1
title = \"test\"
[simulation]
smoke_s = 0.5
{contact}
[[fixed]]
name = \"floor\"
shape = {{ half_space = {{}} }}
material = {{ {floor} }}
[[bodies]]
name = \"cube\"
mass = 1
shape = {{ box = {{ size = [0.1, 0.1, 0.1] }} }}
pose = {{ position = [0.01, 0.02, 0.05] }}
material = {{ {cube} }}
[[observables]]
name = \"z\"
quantity = \"position\"
of = \"cube\"
component = \"z\"
[[observables]]
name = \"area\"
quantity = \"patch-area\"
of = \"cube\"
with = \"floor\"
[[observables]]
name = \"pressure\"
quantity = \"patch-pressure\"
of = \"floor\"
[[observables]]
name = \"x\"
quantity = \"center-of-pressure\"
of = \"cube\"
component = \"x\"
[[observables]]
name = \"y\"
quantity = \"center-of-pressure\"
of = \"floor\"
component = \"y\"
[[observables]]
name = \"moment\"
quantity = \"contact-moment\"
of = \"cube\"
[[observables]]
name = \"count\"
quantity = \"contact-count\"
of = \"cube\"
"
    )
}

fn parse(text: &str) -> Result<Scene, String> {
    let scene = Scene::parse("test.toml", text, &SceneOptions::default());
    scene.map_err(|error| error.to_string())
}

fn outcome(text: &str) -> Result<RunOutcome, String> {
    run(&parse(text)?, &RunOptions::default(), &mut |_| {}).map_err(|error| error.to_string())
}

#[test]
fn the_table_of_pairs_in_the_docs_is_correct() {
    use pliant_hydroelastic::{Compliance, PatchGeometry, Shape};

    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/patches.md"))
            .expect("the page");
    let row = |line: &str| -> Vec<String> {
        let cells = line.trim().trim_matches('|').split('|');
        cells.map(|c| c.trim().replace('*', "")).collect()
    };
    let rows: Vec<Vec<String>> = page
        .lines()
        .skip_while(|line| !line.starts_with("| A \\ B |"))
        .take_while(|line| line.starts_with('|'))
        .map(row)
        .collect();
    let kinds = &rows[0][1..];
    let of = |kind: &str| {
        let shape = match kind.ends_with("half space") {
            true => Shape::half_space(),
            false => Shape::sphere(0.1).expect("a radius"),
        };
        let compliance = Compliance {
            slab_thickness: Some(0.1),
            ..Compliance::default()
        };
        let patch = match kind.starts_with("compliant") {
            true => PatchGeometry::compliant(&shape, &compliance),
            false => PatchGeometry::rigid(&shape, 0.05),
        };
        let patch = patch.expect("sound");
        assert_eq!(patch.name(), kind, "messages say what the table says");
        patch
    };
    assert_eq!((rows.len(), kinds.len()), (6, 4));
    for row in &rows[2..] {
        for (kind, cell) in kinds.iter().zip(&row[1..]) {
            assert_eq!(
                of(&row[0]).has_patch_with(&of(kind)),
                cell != "—",
                "{row:?}, {kind}"
            );
        }
    }
}

#[test]
fn the_moment_of_a_patch_is_the_one_that_friction_carries() {
    let torque = "[[loads]]\non = \"cube\"\nknots = [{ at_s = 0, torque = [0, 0, 0.09] }]\n";
    let text = format!("{}{torque}", cube_on_floor("", SOFT, RIGID));
    let recording = outcome(&text)
        .unwrap_or_else(|error| panic!("{error}"))
        .recording;
    let frame = recording.frames().last().expect("frames");
    near(frame.patch_forces[0].m_W.z, -0.09, 0.02);
}

/// The last value of each observable.
pub(crate) fn last(text: &str) -> impl Fn(&str) -> f64 + use<> {
    let recording = outcome(text)
        .unwrap_or_else(|error| panic!("{error}"))
        .recording;
    move |name| {
        let column = recording.observables().iter().position(|o| o.name == name);
        let column = column.expect("an observable of this name");
        recording
            .column(column)
            .expect("kept")
            .into_iter()
            .last()
            .expect("rows")
    }
}

const SOFT: &str = "hydroelastic = \"compliant\", hydroelastic_modulus = 1e6";
const RIGID: &str = "hydroelastic = \"rigid\"";
/// Static depth of the soft cube on a rigid body: m g H/(E A).
const SUNK: f64 = 9.81 * 0.05 / (1e6 * 0.01);

#[track_caller]
pub(crate) fn near(found: f64, expected: f64, part: f64) {
    assert!(
        (found - expected).abs() <= part * expected.abs(),
        "{found} instead of {expected}"
    );
}

#[test]
fn a_compliant_cube_on_a_rigid_floor_presses_in_a_patch() {
    let value = last(&cube_on_floor("", SOFT, RIGID));
    near(0.05 - value("z"), SUNK, 2e-3);
    near(value("area"), 0.01, 1e-6);
    near(value("pressure"), 981.0, 2e-3);
    near(value("x"), 0.01, 1e-5);
    near(value("y"), 0.02, 1e-5);
    assert!(value("moment").abs() < 1e-6, "nothing turns it");
}

#[test]
fn a_frame_shows_the_polygons_of_a_patch_and_one_arrow() {
    let recording = outcome(&cube_on_floor("", SOFT, RIGID))
        .unwrap_or_else(|error| panic!("{error}"))
        .recording;
    let frame = recording.frames().last().expect("frames");
    let [arrow] = frame.contacts.as_slice() else {
        panic!("one arrow for one patch: {:?}", frame.contacts);
    };
    near(arrow.f_W.z, 9.81, 1e-3);
    near(arrow.p_WC.x, 0.01, 1e-3);
    near(arrow.p_WC.y, 0.02, 1e-3);
    let [patch] = frame.patch_forces.as_slice() else {
        panic!("one patch: {:?}", frame.patch_forces);
    };
    let name = |part: u32| recording.parts()[part as usize].as_str();
    assert_eq!(
        (name(patch.between.a), name(patch.between.b)),
        ("cube", "floor")
    );
    assert_eq!((patch.p_WC, patch.f_W), (arrow.p_WC, arrow.f_W));
    near(patch.area, 0.01, 1e-6);
    assert!(patch.m_W.norm() < 1e-6, "nothing turns it");
    let pressures = frame.patches.pressures();
    assert_eq!(frame.patches.between().len(), frame.patches.counts().len());
    assert_eq!(pressures.len(), frame.patches.points().len());
    near(pressures.iter().copied().fold(0.0, f64::max), 981.0, 2e-3);
}

#[test]
fn contact_is_in_points_without_properties_by_choice_of_the_scene_and_of_the_pair() {
    let pair = format!(
        "{}[[pairs]]\nbetween = [\"cube\", \"floor\"]\nkind = \"point\"\n",
        cube_on_floor("", SOFT, RIGID)
    );
    for text in [
        cube_on_floor("", "stiffness = 1e6", RIGID),
        cube_on_floor("", RIGID, RIGID),
        cube_on_floor("[contact]\nkind = \"point\"", SOFT, RIGID),
        pair,
    ] {
        let value = last(&text);
        assert_eq!((value("area"), value("pressure")), (0.0, 0.0));
        assert_eq!(value("count"), 4.0, "one at each corner");
        near(0.05 - value("z"), 9.81 / 2e6, 1e-3);
    }
}

#[test]
fn modulus_margin_and_slab_thickness_have_their_effect() {
    let value = last(&cube_on_floor(
        "",
        "hydroelastic = \"compliant\", hydroelastic_modulus = 2e6",
        RIGID,
    ));
    near(0.05 - value("z"), 0.5 * SUNK, 2e-3);
    // A floor of the same modulus deforms, too: over 0.2 m instead of 0.05 m.
    let slab = "hydroelastic = \"compliant\", hydroelastic_modulus = 1e6, slab_thickness = 0.2";
    let value = last(&cube_on_floor("", SOFT, slab));
    near(0.05 - value("z"), 5.0 * SUNK, 2e-2);
    let value = last(&cube_on_floor("", RIGID, slab));
    near(0.05 - value("z"), 4.0 * SUNK, 2e-2);
    // A margin adds speculative contact that closes within the step.
    let lifted = |margin: &str| {
        let cube = format!("{SOFT}, hydroelastic_margin = {margin}");
        let text = cube_on_floor("", &cube, RIGID)
            .replace("0.02, 0.05]", "0.02, 0.0508]")
            .replace("mass = 1\n", "mass = 1\nvelocity = [0, 0, -0.9]\n")
            .replace("smoke_s = 0.5", "smoke_s = 0.001");
        outcome(&text).map(|o| o.summary.contacts_max)
    };
    assert_eq!(lifted("1e-4"), Ok(0));
    assert_eq!(lifted("1e-3").map(|n| n > 0), Ok(true));
}

#[test]
fn resolution_decides_how_round_a_sphere_is() {
    let area = |hint: f64| {
        let cube = format!("{SOFT}, mesh_resolution_hint = {hint}");
        let text = cube_on_floor("", &cube, RIGID);
        let sphere = text.replace(
            "box = { size = [0.1, 0.1, 0.1] }",
            "sphere = { radius = 0.05 }",
        );
        last(&sphere)("area")
    };
    // f = π E x², area 2π R x.
    let x = (9.81 / (std::f64::consts::PI * 1e6)).sqrt();
    let exact = 2.0 * std::f64::consts::PI * 0.05 * x;
    let (fine, coarse) = (area(0.004), area(0.03));
    near(fine, exact, 0.05);
    assert!((coarse - exact).abs() > 2.0 * (fine - exact).abs());
}

#[test]
fn dissipation_of_a_patch_is_that_of_the_compliant_side() {
    let rebound = |cube: &str, floor: &str| {
        let text = cube_on_floor("", &format!("{SOFT}, {cube}"), &format!("{RIGID}, {floor}"));
        let text = text.replace("0.02, 0.05]", "0.02, 0.07]");
        let speed = "[[observables]]\nname = \"v\"\nquantity = \"velocity\"\nof = \"cube\"\nalong = [0, 0, 1]\n";
        let recording = outcome(&format!("{text}{speed}")).expect("runs").recording;
        recording
            .column(7)
            .expect("kept")
            .into_iter()
            .fold(f64::NEG_INFINITY, f64::max)
    };
    assert!(rebound("dissipation = 0", "dissipation = 50") > 0.3);
    assert!(rebound("dissipation = 50", "dissipation = 0") < 0.025);
}

#[test]
fn friction_of_a_patch_carries_a_moment() {
    // 2 N·m about z on a cube of μ m g ∫r dA/A = 0.5·9.81·0.0383 m: it spins up; half of 0.188 N·m: it does not.
    let turned = |torque: f64| {
        let text = format!(
            "{}[[loads]]\non = \"cube\"\nknots = [{{ at_s = 0, torque = [0, 0, {torque}] }}]\n[[observables]]\nname = \"spin\"\nquantity = \"angular-velocity\"\nof = \"cube\"\ncomponent = \"z\"\n",
            cube_on_floor("", SOFT, RIGID)
        );
        let value = last(&text);
        (value("spin"), value("moment"))
    };
    let (spin, moment) = turned(0.09);
    assert!(spin.abs() < 0.01, "{spin}");
    near(moment, 0.09, 0.02);
    assert!(turned(0.4).0 > 1.0);
}

#[track_caller]
fn refused(text: &str, says: &[&str]) {
    let error = parse(text)
        .and_then(|scene| pliant::runner::check(&scene).map_err(|e| e.to_string()))
        .map(|_| ())
        .expect_err("it is wrong");
    for part in says {
        assert!(error.contains(part), "{part:?} in {error}");
    }
}

#[test]
fn invalid_properties_are_refused_with_position_and_remedy() {
    let contact = "[contact]\nkind = \"patch\"";
    refused(
        &cube_on_floor(contact, "friction = 1", RIGID),
        &[
            "\"floor\"",
            "\"cube\" (point contact only)",
            "make one compliant",
        ],
    );
    refused(
        &cube_on_floor(contact, RIGID, RIGID),
        &["no pressure is defined between two rigid surfaces"],
    );
    refused(
        &cube_on_floor("", SOFT, "hydroelastic = \"compliant\""),
        &["test.toml:8:", "\"floor\"", "slab_thickness"],
    );
    refused(
        &cube_on_floor(
            "",
            "hydroelastic = \"rigid\", hydroelastic_modulus = 1e6",
            RIGID,
        ),
        &["test.toml:15:", "`hydroelastic_modulus` does nothing"],
    );
    refused(
        &cube_on_floor("", "hydroelastic_modulus = -1", RIGID),
        &["test.toml:15:", "hydroelastic_modulus = -1", "positive"],
    );
    for (drake, here) in [
        (
            "compliant_hydroelastic = true",
            "`hydroelastic = \"compliant\"`",
        ),
        ("rigid_hydroelastic = true", "`hydroelastic = \"rigid\"`"),
        ("hunt_crossley_dissipation = 1", "`dissipation`"),
        ("relaxation_time = 1", "`relaxation_time_s`"),
        ("mu_dynamic = 1", "`friction`"),
    ] {
        refused(&cube_on_floor("", drake, RIGID), &["test.toml:15:", here]);
    }
}

/// A robot that is a cube on a vertical slide, above a floor.
fn urdf(properties: &str) -> String {
    format!(
        r#"<robot name="r" xmlns:drake="http://drake.mit.edu">
  <link name="base"/>
  <link name="cube">
    <inertial><mass value="1"/><inertia ixx="0.002" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision>
      <geometry><box size="0.1 0.1 0.1"/></geometry>
      <drake:proximity_properties>{properties}</drake:proximity_properties>
    </collision>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="base"/><child link="cube"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="100" velocity="10"/>
  </joint>
</robot>"#
    )
}

#[test]
fn properties_of_a_robot_file_are_honoured() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("patch-robots");
    fs::create_dir_all(&folder).expect("a folder");
    let run_with = |properties: &str, floor: &str| {
        fs::write(folder.join("cube.urdf"), urdf(properties)).expect("written");
        let text = cube_on_floor("", "friction = 1", floor)
            .replace("[[bodies]]", "[[models]]")
            .replace("mass = 1\n", "file = \"cube.urdf\"\n")
            .replace("shape = { box = { size = [0.1, 0.1, 0.1] } }\n", "")
            .replace("of = \"cube\"", "of = \"cube/cube\"");
        let path = folder.join("scene.toml");
        fs::write(&path, text).expect("written");
        let scene = Scene::load(
            path.to_str().expect("a plain path"),
            &SceneOptions::default(),
        )
        .unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&scene, &RunOptions::default(), &mut |_| {})
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(
            outcome
                .summary
                .expectations
                .iter()
                .all(|v| v.outcome == Outcome::Met)
        );
        let last = |column: usize| {
            outcome
                .recording
                .column(column)
                .expect("kept")
                .into_iter()
                .last()
                .expect("rows")
        };
        (0.05 - last(0), last(1))
    };
    let soft = "<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value=\"1e6\"/>";
    let (sunk, area) = run_with(soft, RIGID);
    near(sunk, SUNK, 2e-3);
    near(area, 0.01, 1e-6);
    let slab = "hydroelastic = \"compliant\", hydroelastic_modulus = 1e6, slab_thickness = 0.1";
    let (sunk, area) = run_with("<drake:rigid_hydroelastic/>", slab);
    near(sunk, 2.0 * SUNK, 2e-2);
    // And the part of its sides that is under the floor's plane.
    near(area, 0.01, 1e-2);
    assert_eq!(run_with("", RIGID).1, 0.0);
}

/// The scene of [`cube_on_floor`], its cube a robot with these properties, as a world.
fn robot_world(file: &str, shape: &str, properties: &str) -> pliant::runner::Assembly {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("patch-robots");
    fs::create_dir_all(&folder).expect("a folder");
    let robot = folder.join(format!("{file}.urdf"));
    let written = urdf(properties).replace("<box size=\"0.1 0.1 0.1\"/>", shape);
    fs::write(&robot, written).expect("written");
    let text = cube_on_floor("", "friction = 1", RIGID)
        .replace("[[bodies]]", "[[models]]")
        .replace("mass = 1\n", &format!("file = \"{file}.urdf\"\n"))
        .replace("shape = { box = { size = [0.1, 0.1, 0.1] } }\n", "")
        .replace("of = \"cube\"", "of = \"cube/cube\"");
    let path = folder.join(format!("{file}.toml"));
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("a plain path");
    let scene = Scene::load(path, &SceneOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    pliant::runner::check(&scene).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_property_of_a_robot_file_reaches_its_world() {
    use pliant_hydroelastic::PatchGeometry;

    let assembly = robot_world(
        "all",
        "<sphere radius=\"0.05\"/>",
        "<drake:compliant_hydroelastic/>
         <drake:hydroelastic_modulus value=\"3e6\"/>
         <drake:mesh_resolution_hint value=\"0.01\"/>
         <drake:hunt_crossley_dissipation value=\"7\"/>
         <drake:relaxation_time value=\"0.02\"/>
         <drake:hydroelastic_margin value=\"5e-4\"/>
         <drake:point_contact_stiffness value=\"4e5\"/>
         <drake:mu_dynamic value=\"0.3\"/>
         <drake:mu_static value=\"0.4\"/>",
    );
    let cube = &assembly.world.geometries()[1];
    assert_eq!(cube.name, "cube/cube#0");
    let m = &cube.material;
    assert_eq!(
        (m.stiffness, m.dissipation, m.relaxation_time_s, m.friction),
        (4e5, 7.0, 0.02, 0.3)
    );
    let Some(PatchGeometry::Compliant(field)) = cube.patch.as_deref() else {
        panic!("it is compliant");
    };
    assert_eq!(field.margin(), 5e-4);
    let highest = field.pressures().iter().copied().fold(0.0, f64::max);
    assert!((highest / 3e6 - 1.0).abs() < 1e-12, "{highest}");
    // Edges of 1 cm on a sphere of 314 cm²: some 700 facets.
    let facets = field.surface_triangles().len();
    assert!((500..1000).contains(&facets), "{facets}");
    let notes = assembly.notes.join("\n");
    assert!(
        notes.contains("cube/cube#0: mu_static = 0.4 is not used"),
        "{notes}"
    );

    let assembly = robot_world(
        "idle",
        "<box size=\"0.1 0.1 0.1\"/>",
        "<drake:hydroelastic_modulus value=\"3e6\"/><drake:rigid_hydroelastic/>",
    );
    let cube = &assembly.world.geometries()[1];
    assert!(matches!(
        cube.patch.as_deref(),
        Some(PatchGeometry::Rigid(_))
    ));
    let notes = assembly.notes.join("\n");
    assert!(
        notes.contains("hydroelastic_modulus = 3000000 does nothing, for the shape is rigid"),
        "{notes}"
    );
}
