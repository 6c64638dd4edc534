//! Invalid scenes of material points: each is refused, or its run ends, with position and reason.

use pliant::runner::{RunOptions, check, run};
use pliant::scene::{Scene, SceneOptions};

const GRID: &str = "[grid]\nspacing = 0.02\n";

fn scene(fragment: &str) -> Result<Scene, String> {
    let text = format!(
        "schema = 1\ntitle = \"test\"\n[simulation]\nsmoke_s = 0.5\ntime_step_s = 0.005\n{fragment}"
    );
    Scene::parse("test.toml", &text, &SceneOptions::default()).map_err(|error| error.to_string())
}

/// A cube of material points with `keys`.
fn cube(keys: &str) -> String {
    format!(
        "[[material_points]]\nname = \"cube\"\nshape = {{ box = {{ size = [0.08, 0.08, 0.08] }} }}\n{keys}\n"
    )
}

#[track_caller]
fn check_refused(fragment: &str, expected: &[&str]) {
    let refused = match scene(fragment) {
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

#[test]
fn required_keys_of_a_grid_are_named() {
    let dough = cube("constitutive_material = \"pizza-dough\"");
    check_refused(&dough, &["test.toml", "`[grid]`"]);
    let low = "[grid]\nspacing = 0.02\nlow = [0, 0, 0]\n";
    check_refused(
        &format!("{low}{dough}"),
        &["test.toml:6", "`low` and `high` go together"],
    );
    let nothing = GRID.replace("0.02", "0");
    check_refused(&format!("{nothing}{dough}"), &["test.toml:7", "spacing"]);
}

#[test]
fn invalid_materials_are_refused_by_name() {
    let of = |constitutive_material: &str| {
        format!(
            "{GRID}{}",
            cube(&format!("constitutive_material = {constitutive_material}"))
        )
    };
    check_refused(
        &of("\"porridge\""),
        &["test.toml:11", "porridge", "`pizza-dough`"],
    );
    check_refused(
        &of("{ law = \"porridge\", youngs_modulus = 1e5 }"),
        &["test.toml:11", "porridge", "`sand`"],
    );
    for youngs_modulus in ["0", "-1e5"] {
        check_refused(
            &of(&format!(
                "{{ youngs_modulus = {youngs_modulus}, poissons_ratio = 0.3 }}"
            )),
            &["test.toml:11", "youngs_modulus"],
        );
    }
    // A constant of another law.
    check_refused(
        &of("{ law = \"liquid\", bulk_modulus = 1e4, friction_angle = 0.5 }"),
        &["test.toml:11", "friction_angle", "it belongs to `sand`"],
    );
    check_refused(
        &of(
            "{ law = \"sand\", youngs_modulus = 1e5, poissons_ratio = 0.3, friction_angle = 0.5, viscosity = 1 }",
        ),
        &["test.toml:11", "viscosity", "it belongs to `liquid`"],
    );
    let seeded = cube("constitutive_material = \"pizza-dough\"\nsampling = \"lattice\"\nseed = 3");
    check_refused(
        &format!("{GRID}{seeded}"),
        &["test.toml:8", "`seed` goes with"],
    );
}

#[test]
fn poissons_ratio_lies_in_the_range_of_its_law() {
    let cube_of = |law: &str, ratio: &str| {
        let constitutive_material = format!(
            "constitutive_material = {{ law = \"{law}\", youngs_modulus = 1e5, poissons_ratio = {ratio} }}"
        );
        format!("{GRID}{}", cube(&constitutive_material))
    };
    for ratio in ["0.5", "-1"] {
        let said = format!("poissons_ratio = {ratio} must lie in (-1, 0.5)");
        check_refused(&cube_of("hencky", ratio), &["test.toml:11", &said]);
    }
    for law in ["neo-hookean", "fixed-corotated"] {
        let said = "must lie in [0, 0.5)";
        check_refused(&cube_of(law, "-0.3"), &["test.toml:11", said]);
    }
    for law in ["linear-corotated", "hencky"] {
        check(&scene(&cube_of(law, "-0.3")).unwrap()).unwrap();
    }
}

#[test]
fn plastic_strain_is_available_for_plastic_materials_alone() {
    let elastic = "youngs_modulus = 1e5, poissons_ratio = 0.3";
    let shown = |constitutive_material: &str| {
        let keys = format!(
            "constitutive_material = {constitutive_material}\ncolor_by = \"plastic-strain\""
        );
        format!("{GRID}{}", cube(&keys))
    };
    for law in [
        "linear-corotated",
        "fixed-corotated",
        "neo-hookean",
        "hencky",
    ] {
        check_refused(
            &shown(&format!("{{ law = \"{law}\", {elastic} }}")),
            &[
                "test.toml:12",
                "\"cube\"",
                "no plastic flow",
                "a `yield_stress`",
            ],
        );
    }
    for stuff in ["\"foam-cube\"", "\"shallow-water\""] {
        check_refused(
            &shown(stuff),
            &["test.toml:12", "no plastic flow", "`sand`"],
        );
    }
    for constitutive_material in [
        "\"pizza-dough\"",
        "\"dry-sand\"",
        "{ law = \"hencky\", youngs_modulus = 1e5, poissons_ratio = 0.3, yield_stress = 1e3 }",
    ] {
        scene(&shown(constitutive_material)).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_particle_that_leaves_the_grid_s_box_ends_the_run_on_either_side_and_keeps_what_was_before() {
    for (stepper, velocity) in [
        ("strong-implicit", "[0, 0, -1]"),
        ("strong-implicit", "[0, 0, 1]"),
        ("asynchronous", "[1, 0, 0]"),
    ] {
        let bounds = "low = [-0.1, -0.1, -0.1]\nhigh = [0.1, 0.1, 0.1]\n";
        let flying = cube(&format!(
            "constitutive_material = \"pizza-dough\"\nvelocity = {velocity}"
        ));
        let text = format!("stepper = \"{stepper}\"\ngravity = [0, 0, 0]\n{GRID}{bounds}{flying}");
        let scene = scene(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut ended = run(&scene, &RunOptions::default(), &mut |_| {})
            .map(|_| ())
            .expect_err("it leaves after 0.065 s");
        let message = ended.to_string();
        for part in ["particle", "\"cube\"", "left the bounds"] {
            assert!(message.contains(part), "{part:?} is not in:\n{message}");
        }
        let kept = ended.take_outcome().expect("the run until then");
        let time_s = kept.state.time_s;
        assert!((0.055..0.07).contains(&time_s), "{time_s}");
        let rows = kept.series.times_s();
        assert!(
            rows.last().is_some_and(|t| (t - time_s).abs() < 1e-9),
            "{rows:?}, {time_s}"
        );
    }
}
