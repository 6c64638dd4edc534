//! Material points in scene files: sources and sinks, constraints, loads on other bodies, and tables.

use std::fs;
use std::path::PathBuf;

use pliant::runner::{Outcome, RunOptions, check, run};
use pliant::scene::{Scene, SceneOptions};

use crate::npz;

fn parse(fragment: &str) -> Result<Scene, String> {
    let text = format!("schema = 1\ntitle = \"test\"\n[simulation]\nsmoke_s = 1\n{fragment}");
    Scene::parse("test.toml", &text, &SceneOptions::default()).map_err(|error| error.to_string())
}

/// Runs a scene for a second; all expectations must be met.
#[track_caller]
fn check_runs(fragment: &str) {
    let scene = parse(fragment).unwrap_or_else(|error| panic!("{error}"));
    let outcome =
        run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let verdicts = &outcome.summary.expectations;
    assert!(!verdicts.is_empty());
    assert!(
        verdicts.iter().all(|v| v.outcome == Outcome::Met),
        "{verdicts:#?}"
    );
}

#[track_caller]
fn check_refused(fragment: &str, expected: &[&str]) {
    let refused = match parse(fragment) {
        Err(message) => message,
        Ok(scene) => match check(&scene) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("must be refused: {fragment}"),
        },
    };
    for part in expected {
        assert!(refused.contains(part), "{part:?} is not in:\n{refused}");
    }
}

/// The mean of `observable` from `from` to `until` is `equals`.
fn expect(observable: &str, from: f64, until: f64, equals: &str, within: &str) -> String {
    format!(
        "[[expect]]\nobservable = \"{observable}\"\nfrom_s = {from}\nuntil_s = {until}\ntake = \"mean\"\nequals = {equals}\nwithin = {within}\nsource = \"closed form\"\n"
    )
}

/// A jet of water of 1 m/s and 40 mm squared, 0.2 m long.
const JET: &str = r#"
time_step_s = 0.005
gravity = [0, 0, 0]
[grid]
spacing = 0.02
sinks = [{ shape = { half_space = {} } }]
[[material_points]]
name = "water"
constitutive_material = { law = "liquid", bulk_modulus = 1e4 }
sources = [
    { shape = { box = { size = [0.04, 0.04, 0.02] } }, pose = { position = [0, 0, 0.2] }, velocity = [0, 0, -1], until_s = 0.59 },
]
[[observables]]
name = "water.mass"
quantity = "mass"
of = "water"
[[observables]]
name = "water.volume"
quantity = "volume"
of = "water"
[[observables]]
name = "speed"
quantity = "velocity"
of = "water"
along = [0, 0, -1]
"#;

#[test]
fn a_jet_carries_the_mass_of_its_source_to_the_sink() {
    // A slab of 32 g every 20 ms, the first at once.
    let text = JET.to_owned()
        + &expect("water.mass", 0.1025, 0.1175, "0.192", "1e-6")
        + &expect("water.mass", 0.3, 0.5, "0.32", "\"0.03*0.32\"")
        + &expect("water.volume", 0.3, 0.5, "0.32e-3", "\"0.04*0.32e-3\"")
        + &expect("speed", 0.3, 0.5, "1", "0.01")
        + &expect("water.mass", 0.9, 1.0, "0", "1e-9");
    check_runs(&text);
}

/// Three slabs of dough that fall on a belt.
const BELT: &str = r#"
time_step_s = 0.005
[materials.default]
friction = 0.8
stiffness = 1e4
dissipation = 10
[[fixed]]
name = "belt"
shape = { box = { size = [2, 0.5, 0.1] } }
pose = { position = [0, 0, -0.05] }
surface_velocity = [0.4, 0, 0]
[grid]
spacing = 0.02
[[material_points]]
name = "dough"
constitutive_material = "pizza-dough"
density = 500
sources = [
    { shape = { box = { size = [0.06, 0.06, 0.02] } }, pose = { position = [-0.3, 0, 0.06] }, velocity = [0, 0, -0.5], until_s = 0.11 },
]
[[observables]]
name = "speed"
quantity = "velocity"
of = "dough"
component = "x"
[[observables]]
name = "aside"
quantity = "velocity"
of = "dough"
component = "y"
[[observables]]
name = "weight"
quantity = "contact-force"
of = "belt"
with = "dough"
along = [0, 0, -1]
"#;

#[test]
fn dough_from_a_source_moves_with_the_belt_below_it() {
    let text = BELT.to_owned()
        + &expect("speed", 0.0, 0.04, "0", "0.001")
        + &expect("speed", 0.7, 1.0, "0.4", "0.004")
        + &expect("aside", 0.7, 1.0, "0", "0.002")
        + &expect("weight", 0.7, 1.0, "\"3*500*0.06^2*0.02*9.81\"", "0.01");
    check_runs(&text);
}

#[test]
fn keys_that_exclude_sources_and_sinks_are_refused_at_their_line() {
    let stays = "shape = { box = { size = [0.1, 0.1, 0.1] } }\n";
    let tap =
        "sources = [{ shape = { box = { size = [0.04, 0.04, 0.02] } }, velocity = [0, 0, -1] }]\n";
    let water = |keys: &str| {
        format!(
            "[grid]\nspacing = 0.02\n[[material_points]]\nname = \"water\"\nconstitutive_material = \"shallow-water\"\n{keys}"
        )
    };
    check_refused(&water(""), &["test.toml:7", "`shape`"]);
    let still = tap.replace("[0, 0, -1]", "[0, 0, 0]");
    check_refused(&water(&still), &["test.toml:10", "on top of each other"]);
    let early = tap.replace("velocity", "from_s = 2, until_s = 1, velocity");
    check_refused(&water(&early), &["test.toml:10", "after from_s = 2"]);
    let endless = tap.replace("box = { size = [0.04, 0.04, 0.02] }", "half_space = {}");
    check_refused(&water(&endless), &["test.toml:10", "finite size"]);
    let thin = tap.replace("0.02] }", "0.001] }");
    check_refused(&water(&thin), &["test.toml:10", "refine"]);
    let region = format!(
        "{tap}{stays}regions = {{ top = {{ box = {{ low = [-1, -1, 0], high = [1, 1, 1] }} }} }}\n"
    );
    check_refused(&water(&region), &["test.toml", "particles that stay"]);
    let moved = format!(
        "{tap}[[observables]]\nname = \"u\"\nquantity = \"displacement\"\nof = \"water\"\ncomponent = \"z\"\n"
    );
    check_refused(&water(&moved), &["sources or sinks"]);
    let pulled =
        format!("{tap}[[loads]]\non = \"water\"\nknots = [{{ at_s = 0, force = [1, 0, 0] }}]\n");
    check_refused(&water(&pulled), &["sources or sinks"]);
    let unknown = water(stays).replace("spacing = 0.02", "spacing = 0.02\nsinks = [{ pose = {} }]");
    check_refused(&unknown, &["test.toml:7", "`shape`"]);
}

/// Cubes of three weights on two plates and on a box, which stands on a third plate.
const SCALES: &str = r#"
time_step_s = 0.005
[parameters]
a = 0.06
g = 9.81
[materials.default]
friction = 0.5
stiffness = 1e4
dissipation = 10
[grid]
spacing = 0.02
[[fixed]]
name = "left"
shape = { box = { size = [0.1, 0.1, 0.02] } }
pose = { position = [-0.3, 0, 0] }
[[fixed]]
name = "middle"
shape = { box = { size = [0.1, 0.1, 0.02] } }
[[fixed]]
name = "right"
shape = { box = { size = [0.1, 0.1, 0.02] } }
pose = { position = [0.3, 0, 0] }
[[bodies]]
name = "box"
shape = { box = { size = [0.1, 0.1, 0.04] } }
mass = 0.5
pose = { position = [0.3, 0, 0.03] }
[[material_points]]
name = "dough"
shape = { box = { size = ["a", "a", "a"] } }
pose = { position = [-0.3, 0, "0.01 + a/2"] }
constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }
density = 1200
[[material_points]]
name = "foam"
shape = { box = { size = ["a", "a", "a"] } }
pose = { position = [0, 0, "0.01 + a/2"] }
constitutive_material = { law = "neo-hookean", youngs_modulus = 5e4, poissons_ratio = 0.3 }
density = 300
[[material_points]]
name = "rubber"
shape = { box = { size = ["a", "a", "a"] } }
pose = { position = [0.3, 0, "0.05 + a/2"] }
constitutive_material = { youngs_modulus = 2e5, poissons_ratio = 0.3 }
density = 900
"#;

#[test]
fn every_rigid_body_carries_the_weight_of_the_points_on_it() {
    let mut text = SCALES.to_owned();
    for (name, of, with, component, force) in [
        ("dough", "left", "dough", "z", "-1200*a^3*g"),
        ("foam", "middle", "foam", "z", "-300*a^3*g"),
        ("rubber", "box", "rubber", "z", "-900*a^3*g"),
        ("both", "right", "box", "z", "-(900*a^3 + 0.5)*g"),
        ("aside", "box", "rubber", "x", "0"),
        ("none", "middle", "dough", "z", "0"),
    ] {
        text += &format!(
            "[[observables]]\nname = \"{name}\"\nquantity = \"contact-force\"\nof = \"{of}\"\nwith = \"{with}\"\ncomponent = \"{component}\"\n"
        );
        let force = format!("\"{force}\"");
        text += &expect(name, 0.7, 1.0, &force, "\"0.01*300*a^3*g\"");
    }
    check_runs(&text);
}

/// A bar that hangs from its upper end; a body holds it, raises it by 0.05 m and releases it after 0.6 s.
const BAR: &str = r#"
time_step_s = 0.005
[grid]
spacing = 0.02
[[bodies]]
name = "hand"
mass = 1
shape = { sphere = { radius = 0.005 } }
pose = { position = [0, 0, 0.5] }
[[body_motions]]
body = "hand"
knots = [
    { at_s = 0.1, pose = { position = [0, 0, 0.5] } },
    { at_s = 0.3, pose = { position = [0, 0, 0.55] } },
]
[[material_points]]
name = "bar"
shape = { box = { size = [0.04, 0.04, 0.2] } }
pose = { position = [0, 0, 0.3] }
constitutive_material = { youngs_modulus = 5e5, poissons_ratio = 0.3 }
regions = { top = { box = { low = [-1, -1, 0.08], high = [1, 1, 1] } } }
[[constraints]]
name = "grasp"
between = ["hand", "bar/top"]
release_at_s = 0.6
[[observables]]
name = "top"
quantity = "displacement"
of = "bar/top"
component = "z"
[[observables]]
name = "fall"
quantity = "velocity"
of = "bar"
along = [0, 0, -1]
"#;

#[test]
fn a_set_of_particles_is_held_moved_and_released() {
    let text = BAR.to_owned()
        + &expect("top", 0.05, 0.1, "0", "1e-3")
        + &expect("top", 0.45, 0.6, "0.05", "1e-3")
        + &expect("fall", 0.45, 0.6, "0", "0.02")
        // Free fall, mean over 0.8 s to 1 s.
        + &expect("fall", 0.8, 1.0, "\"9.81*0.3\"", "\"0.03*9.81*0.3\"");
    check_runs(&text);
}

/// A sheet that falls; after 0.1 s its vertices are held, raised by 0.05 m and released after 0.5 s.
const SHEET: &str = r#"
time_step_s = 0.005
stepper = "asynchronous"
[grid]
spacing = 0.02
[[cloth]]
name = "sheet"
mesh = { staggered_sheet = { size = [0.06, 0.06], edge = 0.018 } }
thickness = 1e-3
density = 1000
youngs_modulus = 1e5
poissons_ratio = 0.3
regions = { all = { box = { low = [-1, -1, -1], high = [1, 1, 1] } } }
[[cloth.held]]
region = "all"
from_s = 0.1
until_s = 0.5
knots = [{ at_s = 0.2, offset = [0, 0, 0] }, { at_s = 0.4, offset = [0, 0, 0.05] }]
[[observables]]
name = "height"
quantity = "position"
of = "sheet"
component = "z"
[[observables]]
name = "fall"
quantity = "velocity"
of = "sheet"
along = [0, 0, -1]
"#;

#[test]
fn vertices_of_a_cloth_are_held_between_two_times() {
    let way = "\"-9.81*0.1^2/2\"";
    let text = SHEET.to_owned()
        + &expect("height", 0.12, 0.18, way, "5e-4")
        + &expect("height", 0.42, 0.48, "\"0.05 - 9.81*0.1^2/2\"", "5e-4")
        // Free fall from 0.5 s on, mean over 0.8 s to 1 s.
        + &expect("fall", 0.8, 1.0, "\"9.81*0.4\"", "\"0.005*9.81*0.4\"");
    check_runs(&text);
}

/// Two cubes of one grid that fly apart from each other, without gravity.
const APART: &str = r#"
time_step_s = 0.01
gravity = [0, 0, 0]
[grid]
spacing = 0.02
[[material_points]]
name = "light"
shape = { box = { size = [0.06, 0.06, 0.06] } }
constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }
density = 500
velocity = [-1, 0, 0]
[[material_points]]
name = "heavy"
shape = { box = { size = [0.06, 0.06, 0.06] } }
pose = { position = [0.3, 0, 0] }
constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }
density = 2000
velocity = [0, 0, 2]
"#;

#[test]
fn objects_on_one_grid_have_their_own_mass_and_velocity() {
    let (light, heavy) = (0.108, 0.432);
    let mut text = APART.to_owned();
    for (name, quantity, of, more, value) in [
        ("m.light", "mass", "light", "", light),
        ("m.heavy", "mass", "heavy", "", heavy),
        ("m.all", "mass", "", "", light + heavy),
        ("k.light", "kinetic-energy", "light", "", 0.5 * light),
        ("k.heavy", "kinetic-energy", "heavy", "", 2.0 * heavy),
        ("k.all", "kinetic-energy", "", "", 0.5 * light + 2.0 * heavy),
        (
            "p.light",
            "momentum",
            "light",
            "component = \"x\"\n",
            -light,
        ),
        ("p.heavy", "momentum", "heavy", "component = \"x\"\n", 0.0),
        ("p.all", "momentum", "", "component = \"z\"\n", 2.0 * heavy),
    ] {
        let of = match of {
            "" => String::new(),
            of => format!("of = \"{of}\"\n"),
        };
        text +=
            &format!("[[observables]]\nname = \"{name}\"\nquantity = \"{quantity}\"\n{of}{more}");
        text += &expect(name, 0.1, 0.3, &value.to_string(), "1e-9");
    }
    check_runs(&text.replace("smoke_s = 1", "smoke_s = 0.3"));
}

/// A folder for the files of one test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("points_{name}"));
    fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

#[test]
fn particles_of_every_frame_are_in_the_archive_with_position_and_speed() {
    let text = JET.replace("name = \"water\"", "name = \"water\"\ncolor_by = \"speed\"");
    let scene = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let outcome =
        run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let folder = folder("archive");
    let file = folder.join("deformed.npz");
    let written = outcome.recording.write_deformed_npz(&file);
    assert!(written.expect("it can be written"));
    let bytes = fs::read(&file).expect("just written");
    let archive = npz::read(&bytes);
    let names: Vec<&String> = archive.keys().collect();
    let expected = ["time", "water.points", "water.starts", "water.values"];
    assert_eq!(names, expected);
    let numbers = |name: &str, width: Option<usize>| -> Vec<f64> {
        assert_eq!(archive[name].shape.get(1).copied(), width, "{name}");
        archive[name].f64s()
    };
    let (time, starts) = (numbers("time", None), numbers("water.starts", None));
    let (points, speeds) = (
        numbers("water.points", Some(3)),
        numbers("water.values", None),
    );
    assert_eq!(time.len(), starts.len());
    assert_eq!(points.len(), 3 * speeds.len());
    let (mut most, mut seen) = (0, 0);
    for (k, time) in time.iter().enumerate() {
        let start = starts[k] as usize;
        let end = starts.get(k + 1).map_or(speeds.len(), |end| *end as usize);
        most = most.max(end - start);
        seen += end - start;
        // The last slab leaves the source at 0.58 s, with 0.2 m to go to the sink.
        match *time {
            t if t < 0.75 => assert!(end > start, "at {t} s"),
            t if t > 0.82 => assert_eq!(end, start, "at {t} s"),
            _ => {}
        }
        for (p, speed) in points
            .chunks_exact(3)
            .zip(&speeds)
            .skip(start)
            .take(end - start)
        {
            assert!(p[2] > -1e-9 && p[2] < 0.21, "{p:?} at {time} s");
            assert!(p[0].hypot(p[1]) < 0.03 && (speed - 1.0).abs() < 0.1);
        }
    }
    assert_eq!(seen, speeds.len());
    // Slabs of 32 particles of 1 g, ten of them in flight.
    assert!((288..=352).contains(&most), "{most}");
}

#[test]
fn an_open_surface_is_refused_with_file_edges_and_remedy() {
    let folder = folder("open");
    // A tetrahedron that lacks the side opposite to its first vertex.
    let surface = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";
    fs::write(folder.join("open.obj"), surface).expect("can be written");
    let scene = |used: &str| {
        let text = format!(
            "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\ntime_step_s = 0.01\n[grid]\nspacing = 0.01\n[[material_points]]\nname = \"dough\"\nshape = {{ mesh = {{ file = \"open.obj\"{used} }} }}\nconstitutive_material = \"pizza-dough\"\n"
        );
        let file = folder.join("scene.toml");
        fs::write(&file, text).expect("can be written");
        let path = file.to_str().expect("UTF-8");
        let scene = Scene::load(path, &SceneOptions::default()).map_err(|e| e.to_string())?;
        check(&scene).map(|_| ()).map_err(|error| error.to_string())
    };
    let refused = scene("").expect_err("it has no inside");
    for part in [
        "scene.toml:10:",
        "open.obj",
        "not closed: 3 open edges",
        "2-3, 2-4, 3-4",
        "close the holes",
        "`use = \"convex-hull\"`",
    ] {
        assert!(refused.contains(part), "{part:?} is not in:\n{refused}");
    }
    // Its convex hull is closed.
    scene(", use = \"convex-hull\"").unwrap_or_else(|error| panic!("{error}"));
}
