//! Invalid soft bodies: messages with file, element and value. Scenes and meshes are files, as in use.

use std::fs;
use std::path::PathBuf;

use pliant::runner::{RunOptions, RunOutcome, check, run};
use pliant::scene::{Scene, SceneOptions};

/// A cube of six tetrahedra of 0.1 m, centred at the origin.
const VERTICES: [[f64; 3]; 8] = [
    [-0.05, -0.05, -0.05],
    [0.05, -0.05, -0.05],
    [-0.05, 0.05, -0.05],
    [0.05, 0.05, -0.05],
    [-0.05, -0.05, 0.05],
    [0.05, -0.05, 0.05],
    [-0.05, 0.05, 0.05],
    [0.05, 0.05, 0.05],
];
const TETRAHEDRA: [[usize; 4]; 6] = [
    [0, 1, 3, 7],
    [0, 3, 2, 7],
    [0, 2, 6, 7],
    [0, 6, 4, 7],
    [0, 4, 5, 7],
    [0, 5, 1, 7],
];

fn vtk(vertices: &[String], tetrahedra: &[[usize; 4]]) -> String {
    let cells = tetrahedra
        .iter()
        .map(|[a, b, c, d]| format!("4 {a} {b} {c} {d}\n"));
    format!(
        "# vtk DataFile Version 3.0\nbear\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n{}\nCELLS {} {}\n{}CELL_TYPES {}\n{}",
        vertices.len(),
        vertices.join("\n"),
        tetrahedra.len(),
        5 * tetrahedra.len(),
        cells.collect::<String>(),
        tetrahedra.len(),
        "10\n".repeat(tetrahedra.len())
    )
}

fn vertices(scale: f64) -> Vec<String> {
    let line = |p: &[f64; 3]| format!("{} {} {}", p[0] * scale, p[1] * scale, p[2] * scale);
    VERTICES.iter().map(line).collect()
}

/// A folder with a scene and its mesh.
struct Files {
    scene: PathBuf,
}

impl Files {
    /// `name` is that of the folder: tests run at the same time.
    fn new(name: &str, mesh: &str, body: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("soft_{name}"));
        fs::create_dir_all(&folder).expect("the target folder can be written");
        fs::write(folder.join("bear.vtk"), mesh).expect("can be written");
        let text = format!(
            "schema = 1\ntitle = \"bear\"\n[simulation]\ntime_step_s = 0.01\nsmoke_s = 0.5\n{body}"
        );
        let scene = folder.join("scene.toml");
        fs::write(&scene, text).expect("can be written");
        Self { scene }
    }

    fn load(&self) -> Result<Scene, String> {
        let path = self.scene.to_str().expect("UTF-8");
        Scene::load(path, &SceneOptions::default()).map_err(|error| error.to_string())
    }

    /// Notes about the scene before the first step.
    fn notes(&self) -> Result<Vec<String>, String> {
        let assembly = check(&self.load()?).map_err(|error| error.to_string())?;
        Ok(assembly.notes)
    }

    fn run(&self) -> Result<RunOutcome, String> {
        run(&self.load()?, &RunOptions::default(), &mut |_| {}).map_err(|error| error.to_string())
    }
}

/// A scene whose soft body starts in line 6.
const BEAR: &str = "[[fem]]\nname = \"bear\"\nmesh = { tetrahedra = { file = \"bear.vtk\" } }\nconstitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }\ndensity = 1000\n";

#[track_caller]
fn check_refused(name: &str, mesh: &str, body: &str, words: &[&str]) {
    let message = Files::new(name, mesh, body)
        .notes()
        .expect_err("such a body does not exist");
    for word in words {
        assert!(message.contains(word), "{word:?} is not in:\n{message}");
    }
}

#[test]
fn a_valid_body_has_no_notes() {
    let files = Files::new("good", &vtk(&vertices(1.0), &TETRAHEDRA), BEAR);
    assert_eq!(files.notes(), Ok(Vec::new()));
}

#[test]
fn a_body_of_one_linear_cell_is_told_how_much_it_locks() {
    let body = format!("{BEAR}element = \"linear\"\n");
    let files = Files::new("locking", &vtk(&vertices(1.0), &TETRAHEDRA), &body);
    let notes = files.notes().expect("a valid body").join("\n");
    for word in ["\"bear\"", "1.0 cells across", "4.4 times", "\"smoothed\""] {
        assert!(notes.contains(word), "{word:?} is not in:\n{notes}");
    }
}

#[test]
fn an_unknown_element_is_refused_at_its_line() {
    let body = format!("{BEAR}element = \"cubic\"\n");
    let words = [
        "scene.toml:11",
        "cubic",
        "`linear`",
        "`smoothed`",
        "`quadratic`",
    ];
    check_refused("element", &vtk(&vertices(1.0), &TETRAHEDRA), &body, &words);
}

#[test]
fn invalid_material_constants_are_refused_at_their_line() {
    let mesh = vtk(&vertices(1.0), &TETRAHEDRA);
    let with = |from: &str, to: &str| {
        assert!(BEAR.contains(from));
        BEAR.replace(from, to)
    };
    for (name, ratio) in [("nu_half", "0.5"), ("nu_more", "0.7"), ("nu_less", "-1")] {
        let body = with("poissons_ratio = 0.3", &format!("poissons_ratio = {ratio}"));
        let said = format!("poissons_ratio = {ratio} must lie in (-1, 0.5)");
        check_refused(name, &mesh, &body, &["scene.toml:9:", &said]);
    }
    for (name, modulus) in [("e_zero", "0"), ("e_less", "-100000")] {
        let body = with(
            "youngs_modulus = 1e5",
            &format!("youngs_modulus = {modulus}"),
        );
        let said = format!("youngs_modulus = {modulus} must be positive");
        check_refused(name, &mesh, &body, &["scene.toml:9:", &said]);
    }
    for (name, density) in [("rho_zero", "0"), ("rho_less", "-1")] {
        let body = with("density = 1000", &format!("density = {density}"));
        let said = format!("density = {density} must be positive");
        check_refused(name, &mesh, &body, &["scene.toml:10:", &said]);
    }
}

#[test]
fn invalid_meshes_are_refused_with_file_and_element() {
    check_refused(
        "empty",
        &vtk(&vertices(1.0), &[]),
        BEAR,
        &["bear.vtk", "8 vertices but no cells"],
    );
    let mut spoilt = vertices(1.0);
    spoilt[3] = "0.05 nan -0.05".into();
    let words = ["bear.vtk:9:", "point 3", "nan"];
    check_refused("nan", &vtk(&spoilt, &TETRAHEDRA), BEAR, &words);
}

#[test]
fn inverted_elements_are_noted_with_their_lines() {
    // A vertex that is pushed through the opposite faces: two elements have negative volumes and overlap others.
    let mut inverted = vertices(1.0);
    inverted[1] = "-0.2 0.2 0.1".into();
    let files = Files::new("inverted", &vtk(&inverted, &TETRAHEDRA), BEAR);
    let notes = files.notes().expect("suspicious").join("\n");
    for word in [
        "bear.vtk:15",
        "2 elements of negative volume",
        "cell 5 (line 20)",
        "overlap",
    ] {
        assert!(notes.contains(word), "{word:?} is not in:\n{notes}");
    }
}

#[test]
fn a_body_in_millimetres_is_reported_as_suspicious() {
    let files = Files::new("millimetres", &vtk(&vertices(1000.0), &TETRAHEDRA), BEAR);
    let notes = files.notes().expect("possible, if hardly meant").join("\n");
    for word in ["\"bear\"", "100.000 m large", "1.0e5 Pa", "scale 0.001"] {
        assert!(notes.contains(word), "{word:?} is not in:\n{notes}");
    }
}

#[test]
fn a_vertex_both_fixed_and_constrained_is_refused_by_name() {
    let body = format!(
        "{BEAR}regions.foot = {{ half_space = {{ point = [0, 0, -0.05], normal = [0, 0, 1] }} }}\nfixed = [{{ region = \"foot\" }}]\n[[constraints]]\nname = \"leash\"\nbetween = [\"world\", \"bear/foot\"]\n"
    );
    let mesh = vtk(&vertices(1.0), &TETRAHEDRA);
    let words = [
        "leash",
        "bear",
        "is fixed already; remove it from one of the regions",
        "scene.toml:",
    ];
    check_refused("pinned", &mesh, &body, &words);
}

/// The cube hits a stiff floor at 60 m/s, in steps of 10 ms, each linearised once.
fn thrown(law: &str) -> String {
    let stuff = format!("{{ law = \"{law}\", youngs_modulus = 2e4, poissons_ratio = 0.3 }}");
    let bear = BEAR.replace("{ youngs_modulus = 1e5, poissons_ratio = 0.3 }", &stuff);
    format!(
        "linearisation = \"once\"\n{bear}pose = {{ position = [0, 0, 0.1] }}\nvelocity = [0, 0, -30]\n[[fixed]]\nname = \"floor\"\nshape = {{ half_space = {{}} }}\n"
    )
}

#[test]
fn inversion_ends_the_run_of_a_barrier_law_and_is_noted_of_others() {
    let mesh = vtk(&vertices(1.0), &TETRAHEDRA);
    let Err(message) = Files::new("barrier", &mesh, &thrown("neo-hookean")).run() else {
        panic!("its energy is infinite");
    };
    for word in [
        "step ",
        "\"bear\"",
        "tetrahedron ",
        "det F = -",
        "stable-neo-hookean",
    ] {
        assert!(message.contains(word), "{word:?} is not in:\n{message}");
    }
    let outcome = Files::new("corotated", &mesh, &thrown("linear-corotated")).run();
    let notes = outcome.expect("it bears inversion").notes.join("\n");
    for word in ["\"bear\"", "inverted", "the first is ", "det F = -"] {
        assert!(notes.contains(word), "{word:?} is not in:\n{notes}");
    }
    // Linearised again until its equations are met, the barrier holds.
    let full = thrown("neo-hookean").replace("\"once\"", "\"until-converged\"");
    let outcome = Files::new("barrier_met", &mesh, &full).run();
    let summary = outcome.expect("it never inverts").summary;
    assert_eq!(summary.unconverged_steps, 0);
}
