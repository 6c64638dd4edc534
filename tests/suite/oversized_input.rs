//! Scenes and files that ask for more than any machine has: each is refused before memory is taken, with the place and the size.

use std::fs;

use pliant::runner::{Assembly, check};
use pliant::scene::{Scene, SceneOptions};

use crate::program::folder;

const BEGIN: &str = "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 0.01\n";

#[track_caller]
fn refused(text: &str) -> String {
    let text = format!("{BEGIN}{text}");
    match Scene::parse("s.toml", &text, &SceneOptions::default()) {
        Err(error) => error.to_string(),
        Ok(scene) => match Assembly::new(&scene) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("must be refused: {text}"),
        },
    }
}

fn points(size: &str, more: &str) -> String {
    format!(
        "[grid]\nspacing = 0.02\n[[material_points]]\nname = \"dough\"\nconstitutive_material = \"pizza-dough\"\nshape = {{ box = {{ size = {size} }} }}\n{more}"
    )
}

/// The dough of the tutorial in millimetres: 100 m x 100 m x 60 m, 8 particles in 8 cm³.
#[test]
fn dough_in_millimetres_is_refused_with_its_size() {
    for sampling in ["lattice", "random", "conforming"] {
        let message = refused(&points(
            "[100, 100, 60]",
            &format!("sampling = \"{sampling}\"\n"),
        ));
        for part in [
            "s.toml:",
            "\"dough\"",
            "100 x 100 x 60 m",
            "e11 particles",
            "lengths are in m",
        ] {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
    // Many of moderate size.
    let message = refused(&points("[1, 1, 1]", "copies = 1000\n"));
    assert!(
        message.contains("more than 20000000 material points"),
        "{message}"
    );
    // A source.
    let message = refused(
        "[grid]\nspacing = 0.02\n[[material_points]]\nname = \"dough\"\nconstitutive_material = \"pizza-dough\"\nsources = [{ shape = { box = { size = [100, 100, 60] } }, every_s = 0.1 }]\n",
    );
    assert!(
        message.contains("e11 particles") || message.contains("every_s"),
        "{message}"
    );
}

#[test]
fn meshes_and_rods_are_counted_before_they_are_made() {
    let fem = |mesh: &str| {
        format!(
            "[[fem]]\nname = \"b\"\nmesh = {mesh}\ndensity = 1000\nconstitutive_material = {{ youngs_modulus = 1e5, poissons_ratio = 0.3 }}\n"
        )
    };
    for text in [
        fem("{ box = { size = [1, 1, 1], cells = [256, 256, 256] } }"),
        "[grid]\nspacing = 0.1\n[[cloth]]\nname = \"b\"\nmesh = { sheet = { size = [1, 1], cells = [10000, 10000] } }\nthickness = 0.001\ndensity = 300\nyoungs_modulus = 1e5\n".into(),
        "[[rods]]\nname = \"b\"\ncopies = 100000\ncentreline = { line = { from = [0, 0, 0], to = [1, 0, 0], edges = 1000000 } }\nsection = { circle = { radius = 0.002 } }\nyoungs_modulus = 1e6\ndensity = 1000\n".into(),
    ] {
        let message = refused(&text);
        assert!(message.contains("at most 1e7 are made"), "{message}");
    }
}

#[test]
fn parameters_that_define_each_other_in_a_row_are_counted() {
    let chain = |n: usize| {
        let links: String = (0..n)
            .map(|k| format!("p{k:05} = \"p{:05} + 1\"\n", k + 1))
            .collect();
        format!("[parameters]\n{links}p{n:05} = 1\n")
    };
    let message = refused(&chain(20_000));
    assert!(message.contains("deeper than 100"), "{message}");
    let text = format!("{BEGIN}{}", chain(50));
    let scene = Scene::parse("s.toml", &text, &SceneOptions::default());
    assert_eq!(
        scene.unwrap_or_else(|e| panic!("{e}")).parameters["p00000"],
        51.0
    );
    // Known from the other end, no definition is deep, but the chain of uses is.
    let reversed: String = (1..20_000)
        .map(|k| format!("p{k:05} = \"p{:05} + 1\"\n", k - 1))
        .collect();
    let text =
        format!("{BEGIN}gravity = [0, 0, \"-p19999\"]\n[parameters]\np00000 = 1\n{reversed}");
    let scene = Scene::parse("s.toml", &text, &SceneOptions::default());
    assert_eq!(
        scene.unwrap_or_else(|e| panic!("{e}")).simulation.gravity.z,
        -20_000.0
    );
}

#[test]
fn observables_are_counted() {
    let each: String = (0..20_000)
        .map(|k| format!("[[observables]]\nname = \"o{k}\"\nquantity = \"kinetic-energy\"\n"))
        .collect();
    let message = refused(&each);
    assert!(message.contains("20000 observables"), "{message}");
}

/// A file that is no trajectory may be anything: its content is not shown.
#[test]
fn the_content_of_other_files_is_not_shown() {
    let folder = folder("not_a_trajectory");
    let file = folder.join("private.txt");
    fs::write(&file, "token-of-somebody,other-token\nsecond-line,3\n").expect("written");
    let text = format!(
        "{BEGIN}[[models]]\nname = \"p\"\nfile = \"robots/double_pendulum.urdf\"\n[[joint_motions]]\nmodel = \"p\"\nfile = {:?}\n",
        file.to_str().expect("a path")
    );
    let error = Scene::parse("s.toml", &text, &SceneOptions::default());
    let message = error.expect_err("no trajectory").to_string();
    assert!(message.contains("must be `time_s`"), "{message}");
    assert!(
        !message.contains("token") && !message.contains("second-line"),
        "{message}"
    );
}

#[test]
fn archives_with_a_flipped_bit_or_times_that_are_no_numbers_are_refused() {
    let cases = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../shared/data/cases/attacks/npz"
    );
    if !std::path::Path::new(cases).is_dir() {
        eprintln!("skipped: {cases} is not here");
        return;
    }
    let scene = fs::read_to_string(format!("{cases}/scene.toml")).expect("a scene");
    for (file, expected) in [("crc.npz", "checksum"), ("nan_t1.npz", "is not finite")] {
        let text = scene.replace("TRAJ", &format!("{cases}/{file}"));
        let read = Scene::parse("s.toml", &text, &SceneOptions::default());
        let message = match read {
            Err(error) => error.to_string(),
            Ok(scene) => check(&scene).err().expect("refused").to_string(),
        };
        assert!(message.contains(expected), "{file}: {message}");
    }
}
