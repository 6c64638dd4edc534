//! Quadratic bodies in scenes: in contact with every stepper that takes them, held by regions, read from files of ten nodes.

use std::fs;
use std::path::PathBuf;

use pliant::runner::{RunLength, RunOptions, RunOutcome, check, run};
use pliant::scene::{Scene, SceneOptions};

/// The series of a run of 1.2 s; all steps converge.
#[track_caller]
fn last_row(text: &str) -> Vec<f64> {
    let scene = Scene::parse("quadratic.toml", text, &SceneOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions {
        length: RunLength::Until(1.2),
        ..RunOptions::default()
    };
    let outcome: RunOutcome =
        run(&scene, &options, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.summary.unconverged_steps, 0);
    let last = outcome.series.times_s().len() - 1;
    let columns = 0..outcome.recording.observables().len();
    columns.map(|k| outcome.series.at(last, k)).collect()
}

/// A smoothed cube of 216 g on a quadratic one of 1 kg on a floor.
const STACK: &str = r#"
schema = 1
title = "two cubes"
[simulation]
time_step_s = 0.005
smoke_s = 1.2
stepper = "STEPPER"
[materials.default]
friction = 0.5
stiffness = 2e4
[[fixed]]
name = "floor"
shape = { half_space = {} }
[[fem]]
name = "lower"
mesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }
element = "quadratic"
constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.45 }
density = 1000
mass_damping = 2
pose = { position = [0, 0, 0.05] }
self_contact = "SELF"
[[fem]]
name = "upper"
mesh = { box = { size = [0.06, 0.06, 0.06], cells = [2, 2, 2] } }
element = "smoothed"
constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }
density = 1000
mass_damping = 2
pose = { position = [0.003, 0.002, 0.13] }
[[observables]]
name = "on the floor"
quantity = "contact-force"
of = "lower"
with = "floor"
component = "z"
[[observables]]
name = "between"
quantity = "contact-force"
of = "upper"
with = "lower"
component = "z"
"#;

#[test]
fn a_stack_rests_on_a_quadratic_cube_with_every_stepper() {
    for (stepper, with_itself) in [
        ("strong-implicit", "present"),
        ("asynchronous", "present"),
        ("penalty-force", "absent"),
    ] {
        let text = STACK
            .replace("STEPPER", stepper)
            .replace("SELF", with_itself);
        let forces = last_row(&text);
        eprintln!("{stepper}: {forces:?}");
        for (found, mass) in forces.iter().zip([1.216, 0.216]) {
            let weight = 9.81 * mass;
            assert!(
                (found / weight - 1.0).abs() < 0.01,
                "{stepper}: {found} N of {weight} N"
            );
        }
    }
}

/// A bar of 0.2 m that hangs from its top, welded to the world, ν = 0.
const HANGING: &str = r#"
schema = 1
title = "a hanging bar"
[simulation]
time_step_s = 0.01
smoke_s = 1.2
[[fem]]
name = "bar"
mesh = { box = { size = [0.1, 0.1, 0.2], cells = [1, 1, 1] } }
element = "quadratic"
constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0 }
density = 1000
mass_damping = 10
mass_matrix = "consistent"
regions.top = { half_space = { point = [0, 0, 0.1], normal = [0, 0, -1] } }
regions.middle = { box = { low = [-inf, -inf, 0], high = [inf, inf, 0] } }
regions.bottom = { half_space = { point = [0, 0, -0.1], normal = [0, 0, 1] } }
[[constraints]]
name = "hook"
between = ["world", "bar/top"]
[[observables]]
name = "top"
quantity = "displacement"
of = "bar/top"
component = "z"
[[observables]]
name = "bottom"
quantity = "displacement"
of = "bar/bottom"
component = "z"
[[observables]]
name = "middle"
quantity = "displacement"
of = "bar/middle"
component = "z"
"#;

#[test]
fn a_bar_welded_at_a_region_of_nodes_stretches_under_its_weight() {
    // u(s) = ρg (Ls − s²/2)/E at a distance s below the hook, which gives a little itself. The middle has nodes on edges only.
    let found = last_row(HANGING);
    let top = found[0];
    for (found, s) in found[1..].iter().zip([0.2_f64, 0.1]) {
        let exact = 1000.0 * 9.81 * (0.2 * s - 0.5 * s * s) / 1e5;
        let ratio = (top - found) / exact;
        eprintln!("{ratio:.4} of the theory, the hook {top:.1e} m");
        assert!((ratio - 1.0).abs() < 0.02, "{found} m, {exact} m");
    }
}

/// A tetrahedron with a curved edge, in the order of VTK.
const TEN: &str = "# vtk DataFile Version 3.0\nbear\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 10 double\n0 0 0\n0.1 0 0\n0 0.1 0\n0 0 0.1\n\
    0.05 -0.01 -0.01\n0.05 0.05 0\n0 0.05 0\n0 0 0.05\n0.05 0 0.05\n0 0.05 0.05\nCELLS 1 11\n10 0 1 2 3 4 5 6 7 8 9\nCELL_TYPES 1\n24\n";

/// Notes of a body of this mesh, or the error.
fn notes(name: &str, mesh: &str, element: &str) -> Result<String, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("quadratic_{name}"));
    fs::create_dir_all(&folder).expect("the target folder can be written");
    fs::write(folder.join("bear.vtk"), mesh).expect("can be written");
    let text = format!(
        "schema = 1\ntitle = \"bear\"\nsimulation = {{ smoke_s = 0.1 }}\n[[fem]]\nname = \"bear\"\nmesh = {{ tetrahedra = {{ file = \"bear.vtk\" }} }}\n\
         constitutive_material = {{ youngs_modulus = 1e5, poissons_ratio = 0.3 }}\nelement = \"{element}\"\n\
         regions.edge = {{ vertices = {{ numbers = [9] }} }}\n"
    );
    let scene = folder.join("scene.toml");
    fs::write(&scene, text).expect("can be written");
    let path = scene.to_str().expect("UTF-8");
    let scene = Scene::load(path, &SceneOptions::default()).map_err(|error| error.to_string())?;
    let assembly = check(&scene).map_err(|error| error.to_string())?;
    Ok(assembly.notes.join("\n"))
}

#[test]
fn a_file_of_ten_nodes_has_its_curved_edges_with_quadratic_elements_only() {
    assert_eq!(notes("curved", TEN, "quadratic"), Ok(String::new()));
    // Vertex 9 is a node on an edge.
    let error = notes("region", TEN, "smoothed").expect_err("it has four vertices");
    assert!(error.contains("names vertex 9"), "{error}");
}

#[test]
fn nodes_in_the_order_of_another_format_are_an_error_that_names_the_file_and_the_element() {
    let exchanged = TEN.replace("6 7 8 9\n", "6 7 9 8\n");
    let error = notes("order", &exchanged, "quadratic").expect_err("the order is Gmsh's");
    for word in ["bear.vtk", "cell 0", "Gmsh"] {
        assert!(error.contains(word), "{word:?} is not in: {error}");
    }
}
