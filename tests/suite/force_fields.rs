//! Position-dependent forces in scene files: a harmonic trap, and buoyancy.

use pliant::runner::{Outcome, RunOptions, check, run};
use pliant::scene::{Scene, SceneOptions};

const CUBE: &str = "[[fem]]\nname = \"cube\"\nmesh = { box = { size = [0.1, 0.1, 0.1], cells = [2, 2, 2] } }\nconstitutive_material = { youngs_modulus = 1e6, poissons_ratio = 0.3 }\ndensity = 500\n";

fn parse(fragment: &str) -> Result<Scene, String> {
    let text = format!("schema = 1\ntitle = \"test\"\n{fragment}");
    Scene::parse("test.toml", &text, &SceneOptions::default()).map_err(|error| error.to_string())
}

#[track_caller]
fn check_value(fragment: &str, (component, at_s): (&str, f64), equals: &str, within: f64) {
    let text = format!(
        "{fragment}[[observables]]\nname = \"place\"\nquantity = \"position\"\nof = \"cube\"\ncomponent = \"{component}\"\n[[expect]]\nobservable = \"place\"\nat_s = {at_s}\nequals = \"{equals}\"\nwithin = {within}\nsource = \"closed form\"\n"
    );
    let scene = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {}).unwrap();
    let verdicts = &outcome.summary.expectations;
    assert!(
        verdicts.len() == 1 && verdicts[0].outcome == Outcome::Met,
        "{verdicts:#?}"
    );
}

/// ρ ẍ = −k x: x = x₀ cos(ωt), ω = √(k/ρ) = 2π/s. The force is evaluated at the start of a step, which preserves the amplitude.
#[test]
fn a_cube_in_a_harmonic_trap_has_the_period_of_an_oscillator() {
    for (at_s, factor) in [(0.25, "0"), (0.5, "-1"), (1.0, "1")] {
        let scene = format!(
            "[parameters]\nk = \"500*(2*pi)^2\"\nstart = 0.3\n[simulation]\nsmoke_s = 1\ntime_step_s = 0.0025\ngravity = [0, 0, 0]\n{CUBE}force_density = [\"-k*x\", 0, \"0*y*z\"]\npose = {{ position = [\"start\", 0, 0] }}\n"
        );
        check_value(&scene, ("x", at_s), &format!("{factor}*start"), 0.01);
    }
}

/// With half the density of water it is half immersed: buoyancy of the parts below z = 0 balances the weight.
#[test]
fn a_cube_floats_half_under_water() {
    let scene = format!(
        "[simulation]\nsmoke_s = 3\ntime_step_s = 0.005\n{CUBE}mass_damping = 5\nforce_density = [0, 0, \"9810*min(1, max(0, 0.5 - z/0.1))\"]\npose = {{ position = [0, 0, 0.03] }}\n"
    );
    check_value(&scene, ("z", 3.0), "0", 1e-3);
}

#[test]
fn errors_in_forces_give_line_and_reason() {
    for (force, expected) in [
        ("[0, 0]", "three numbers or expressions"),
        ("[0, 0, \"2*q\"]", "no parameter or coordinate \"q\""),
        ("[0, 0, \"2*(x\"]", "expected"),
        ("[0, 0, inf]", "must be finite"),
        ("[0, 0, \"sqrt(-1 - x)\"]", "force field in tetrahedron 0"),
    ] {
        let text = format!("[simulation]\nsmoke_s = 1\n{CUBE}force_density = {force}\n");
        let refused = match parse(&text) {
            Err(message) => message,
            Ok(scene) => match check(&scene) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("must be refused: {force}"),
            },
        };
        assert!(
            refused.contains(expected),
            "{expected:?} is not in:\n{refused}"
        );
    }
}

#[test]
fn a_field_narrower_than_an_element_is_warned_of() {
    let text = |width: &str| {
        format!(
            "[simulation]\nsmoke_s = 0.002\ntime_step_s = 0.001\n{CUBE}force_density = [0, 0, \"1e6*exp(-((x-0.013)^2 + y^2 + z^2)/{width}^2)\"]\n"
        )
    };
    let notes = |width: &str| {
        let scene = parse(&text(width)).unwrap_or_else(|error| panic!("{error}"));
        let outcome = run(&scene, &RunOptions::default(), &mut |_| {}).unwrap();
        outcome.notes.join("\n")
    };
    let narrow = notes("0.004");
    assert!(narrow.contains("narrower than the elements"), "{narrow}");
    let wide = notes("0.1");
    assert!(!wide.contains("force field"), "{wide}");
}
