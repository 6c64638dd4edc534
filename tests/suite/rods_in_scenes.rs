//! Rods and adaptive steps in scene files: small scenes with expectations from closed forms.

use pliant::runner::{Outcome, RunOptions, RunOutcome, check, run};
use pliant::scene::{CentrelineEntry, Matter, Scene, SceneOptions};
use pliant_der::NaturalStrain;

fn parse(fragment: &str) -> Result<Scene, String> {
    let text = format!("schema = 1\ntitle = \"test\"\n[simulation]\nsmoke_s = 1\n{fragment}");
    Scene::parse("test.toml", &text, &SceneOptions::default()).map_err(|error| error.to_string())
}

/// Runs a scene for a second; all expectations must be met.
#[track_caller]
fn check_runs(fragment: &str) -> RunOutcome {
    let scene = parse(fragment).unwrap_or_else(|error| panic!("{error}"));
    let outcome =
        run(&scene, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    let verdicts = &outcome.summary.expectations;
    assert!(!verdicts.is_empty());
    assert!(
        verdicts.iter().all(|v| v.outcome == Outcome::Met),
        "{verdicts:#?}"
    );
    outcome
}

#[track_caller]
pub(crate) fn check_refused(fragment: &str, expected: &str) {
    let refused = match parse(fragment) {
        Err(message) => message,
        Ok(scene) => match check(&scene) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("must be refused: {fragment}"),
        },
    };
    assert!(
        refused.contains(expected),
        "{expected:?} is not in:\n{refused}"
    );
}

/// An observable and its expected final value.
fn expect(name: &str, observable: &str, equals: &str, within: &str) -> String {
    format!(
        "[[observables]]\nname = \"{name}\"\n{observable}\n[[expect]]\nobservable = \"{name}\"\nat_s = 1\nequals = {equals}\nwithin = {within}\nsource = \"closed form\"\n"
    )
}

/// A cord of 0.4 m along x, EA = 10 N, 40 g.
pub(crate) const CORD: &str = "[[rods]]\nname = \"cord\"\ncentreline = { line = { from = [0, 0, 0], to = [0.4, 0, 0], edges = 8 } }\nsection = { circle = { radius = 0.002 } }\nyoungs_modulus = 1e6\nstretching_stiffness = 10\ndensity = \"0.1/(pi*0.002^2)\"\nmass_damping = 20\nregions.root = { vertices = { numbers = [0] } }\nregions.tip = { nearest = { to = [0.4, 0, 0] } }\n";

#[test]
fn a_pulled_cord_stretches_by_hooke_and_its_constraint_carries_the_pull() {
    let text = "gravity = [0, 0, 0]\n".to_owned()
        + CORD
        + "[[constraints]]\nname = \"wall\"\nbetween = [\"world\", \"cord/root\"]\n"
        + "[[loads]]\non = \"cord/tip\"\nknots = [{ at_s = 0, force = [0.1, 0, 0] }]\n"
        + &expect(
            "tip.x",
            "quantity = \"displacement\"\nof = \"cord/tip\"\ncomponent = \"x\"",
            "\"0.4*0.1/10\"",
            "1e-5",
        )
        + &expect(
            "pull",
            "quantity = \"constraint-force\"\nof = \"wall\"\ncomponent = \"x\"",
            "-0.1",
            "1e-4",
        )
        + &expect(
            "mass",
            "quantity = \"mass\"\nof = \"cord\"",
            "0.04",
            "1e-12",
        )
        + &expect(
            "volume",
            "quantity = \"volume\"\nof = \"cord\"",
            "\"pi*0.002^2*0.4*1.01\"",
            "1e-9",
        );
    let _ = check_runs(&text);
}

#[test]
fn a_ring_a_curve_and_a_file_are_centrelines_and_copies_are_rods() {
    let file = std::env::temp_dir().join("pliant-rods-in-scenes.txt");
    std::fs::write(&file, "# three nodes\n0 0 0\n0.1 0 0\n0.2 0 0.01\n").expect("a temporary file");
    let rod = |name: &str, line: &str| {
        format!(
            "[[rods]]\nname = \"{name}\"\ncentreline = {line}\nsection = {{ circle = {{ radius = 0.001 }} }}\nyoungs_modulus = 1e6\n"
        )
    };
    let text = "gravity = [0, 0, 0]\n".to_owned()
        + &rod("ring", "{ circle = { radius = 0.05, edges = 24 } }")
        + "natural_shape = \"as-built\"\ncopies = 2\npose = { position = [0, 0, \"i\"] }\nvelocity = [0, 0, \"i\"]\n"
        + &rod("read", &format!("{{ nodes = {{ file = {:?} }} }}", file.display()))
        + "pose = { position = [0, 3, 0] }\n"
        // A quarter of an ellipse, its nodes at equal distances.
        + &rod(
            "arc",
            "{ curve = { point = [\"2*cos(pi/2*s)\", \"5 + sin(pi/2*s)\", 0], edges = 10, spacing = \"even\" } }",
        )
        + "natural_shape = \"as-built\"\n"
        + &expect(
            "up",
            "quantity = \"position\"\nof = \"ring_1\"\ncomponent = \"z\"",
            "2",
            "1e-9",
        )
        + &expect(
            "rest",
            "quantity = \"elastic-energy\"\nof = \"arc\"",
            "0",
            "1e-12",
        )
        + &expect(
            "file",
            "quantity = \"highest\"\nof = \"read\"",
            "0.01",
            "6e-3",
        );
    let outcome = check_runs(&text);
    assert_eq!(outcome.state.bodies.len(), 4);
    // Edges of equal length, up to the difference of chord and arc.
    let q = &outcome.state.bodies[3].q;
    let node = |i: usize| nalgebra::Point3::new(q[4 * i], q[4 * i + 1], q[4 * i + 2]);
    let lengths: Vec<f64> = (0..10).map(|i| (node(i + 1) - node(i)).norm()).collect();
    assert!(
        lengths.iter().all(|l| (l / lengths[9] - 1.0).abs() < 1e-2),
        "{lengths:?}"
    );
    let _ = std::fs::remove_file(&file);
}

#[test]
fn a_rope_that_falls_on_the_floor_comes_to_rest() {
    let text = "[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\n".to_owned()
        + CORD
        + "pose = { position = [0, 0, 0.05] }\n"
        + &expect(
            "support",
            "quantity = \"contact-force\"\nof = \"cord\"\nwith = \"floor\"\ncomponent = \"z\"",
            "\"0.04*9.81\"",
            "4e-3",
        )
        + &expect(
            "height",
            "quantity = \"lowest\"\nof = \"cord\"",
            "0.002",
            "1e-4",
        );
    let _ = check_runs(&text);
}

#[test]
fn adaptive_steps_meet_the_accuracy_of_the_scene() {
    // With a fixed Δt = 0.1 s a ball in free fall would be 0.49 m too low after a second.
    let ball = "[[bodies]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\n".to_owned()
        + &expect(
            "z",
            "quantity = \"position\"\nof = \"ball\"\ncomponent = \"z\"",
            "\"-9.81/2\"",
            "0.01",
        );
    let outcome = check_runs(&format!("time_step_s = 0.1\naccuracy = 0.01\n{ball}"));
    assert_eq!(outcome.series.times_s().len(), 11, "rows at every Δt");
    assert!(
        outcome
            .notes
            .iter()
            .any(|note| note.contains("adaptive steps accepted")),
        "{:?}",
        outcome.notes
    );
    check_refused(
        &format!("accuracy_per = \"step\"\n{ball}"),
        "`accuracy_per` goes with `accuracy` only",
    );
    check_refused(&format!("accuracy = -1\n{ball}"), "accuracy = -1");
}

/// A strip of 0.4 m along x with EI = 0.004π N·m², 40 g, its first bending mode nearly critically damped.
const STRIP: &str = "gravity = [0, 0, 0]\n[[rods]]\nname = \"strip\"\ncentreline = { line = { from = [0, 0, 0], to = [0.4, 0, 0], edges = 16 } }\nsection = { circle = { radius = 0.002 } }\nyoungs_modulus = 1e9\ndensity = \"0.1/(pi*0.002^2)\"\nmass_damping = 15\nregions.root = { vertices = { numbers = [0] } }\nregions.tip = { nearest = { to = [0.4, 0, 0] } }\n";

#[test]
fn a_welded_end_bends_as_a_cantilever() {
    let text = STRIP.to_owned()
        + "start = \"welded\"\n[[constraints]]\nname = \"wall\"\nbetween = [\"world\", \"strip/root\"]\n"
        + "[[loads]]\non = \"strip/tip\"\nknots = [{ at_s = 0, force = [0, 0, 1e-3] }]\n"
        + &expect(
            "tip.z",
            "quantity = \"displacement\"\nof = \"strip/tip\"\ncomponent = \"z\"",
            "\"1e-3*0.4^3/(3*0.004*pi)\"",
            "\"0.01*1e-3*0.4^3/(3*0.004*pi)\"",
        );
    let _ = check_runs(&text);
}

#[test]
fn a_prescribed_twist_rotates_the_body_welded_to_the_end() {
    let text = STRIP.to_owned()
        + "start = \"clamped\"\nfinish = \"welded\"\nnatural_twist = 2\ntwist_schedule = [[0, 0], [0.5, 1]]\n"
        + "[[bodies]]\nname = \"cube\"\nshape = { box = { size = [0.02, 0.02, 0.02] } }\npose = { position = [0.41, 0, 0] }\n"
        + "[[constraints]]\nname = \"weld\"\nbetween = [\"strip/tip\", \"cube\"]\n"
        + &expect(
            "turned",
            "quantity = \"orientation\"\nof = \"cube\"\ncomponent = \"roll\"",
            "\"2*0.4\"",
            "0.01",
        );
    let _ = check_runs(&text);
}

/// A straight, stiff bar that lands between the vertices of a soft block whose cells are wider than the bar.
const BAR_ON_BLOCK: &str = "[contact]\nkind = \"point\"\n[[fem]]\nname = \"block\"\nmesh = { box = { size = [0.16, 0.08, 0.04], cells = [8, 4, 2] } }\nconstitutive_material = { youngs_modulus = 3e4, poissons_ratio = 0.2 }\ndensity = 100\nstiffness_damping = 0.02\nregions.bottom = { half_space = { point = [0, 0, -0.02], normal = [0, 0, 1] } }\nfixed = [{ region = \"bottom\" }]\n[[rods]]\nname = \"bar\"\ncentreline = { line = { from = [-0.06, 0.01, 0.0285], to = [0.06, 0.01, 0.0285], edges = 12 } }\nsection = { circle = { radius = 0.008 } }\nyoungs_modulus = 1e7\ndensity = \"0.3/(pi*0.008^2)\"\nmass_damping = 10\nstiffness_damping = 2e-3\n";

#[test]
fn a_bar_rests_in_points_between_the_vertices_of_a_soft_block() {
    let text = BAR_ON_BLOCK.to_owned()
        + &expect(
            "carried",
            "quantity = \"contact-force\"\nof = \"bar\"\nwith = \"block\"\ncomponent = \"z\"",
            "\"0.3*0.12*9.81\"",
            "\"0.02*0.3*0.12*9.81\"",
        )
        + &expect(
            "over",
            "quantity = \"position\"\nof = \"bar\"\ncomponent = \"z\"",
            "0.0275",
            "0.0015",
        );
    let _ = check_runs(&text);
}

#[test]
fn an_elliptic_rod_on_a_soft_block_rests_at_the_height_of_its_lower_semi_axis() {
    let (block, bar) = BAR_ON_BLOCK
        .split_once("[[rods]]")
        .expect("a bar on a block");
    let bar = bar
        .replace(
            "circle = { radius = 0.008 }",
            "ellipse = { semi_axes = [0.008, 0.004] }",
        )
        .replace("pi*0.008^2", "pi*0.008*0.004")
        // Enough damping that the upright one needs seconds to fall over.
        .replace("mass_damping = 10", "mass_damping = 1000");
    let put = |name: &str, y: &str, z: &str, director: &str| {
        let line = "from = [-0.06, 0.01, 0.0285], to = [0.06, 0.01, 0.0285]";
        let there = format!("from = [-0.06, {y}, {z}], to = [0.06, {y}, {z}]");
        let bar = bar.replace("name = \"bar\"", &format!("name = \"{name}\""));
        format!(
            "[[rods]]{}director = {director}\n",
            bar.replace(line, &there)
        ) + &format!(
            "[[observables]]\nname = \"{name}.z\"\nquantity = \"position\"\nof = \"{name}\"\ncomponent = \"z\"\n"
        )
    };
    let text = block.to_owned()
        + &put("lying", "-0.02", "0.024", "[0, 1, 0]")
        + &put("upright", "0.02", "0.028", "[0, 0, 1]")
        + &expect(
            "higher",
            "quantity = \"expression\"\nexpression = \"upright.z - lying.z\"\nunit = \"m\"",
            "0.004",
            "1e-4",
        )
        + &expect(
            "carried",
            "quantity = \"contact-force\"\nof = \"block\"\nwith = \"upright\"\ncomponent = \"z\"",
            "\"-0.3*0.12*9.81\"",
            "\"0.05*0.3*0.12*9.81\"",
        );
    let _ = check_runs(&text);
}

#[test]
fn scattered_natural_twist_rotates_the_body_welded_to_the_end_by_the_sum_over_the_joints() {
    let said = "natural_scatter = { twist = 4, seed = 11 }\n";
    let scene = parse(&(STRIP.to_owned() + said)).expect("a strip");
    let Matter::Rod(strip) = &scene.soft.entries[0].matter else {
        panic!("not a rod");
    };
    let CentrelineEntry::Nodes(line) = &strip.centreline else {
        panic!("{:?}", strip.centreline);
    };
    let n = line.nodes.len();
    let scatter = strip.scatter.expect("it is scattered");
    let strains = scatter.strains(&NaturalStrain::default(), n);
    let edge = 0.4 / (n - 1) as f64;
    // A fixed end counts half an edge.
    let length = |node: usize| {
        if node == 0 || node == n - 1 {
            0.5 * edge
        } else {
            edge
        }
    };
    let nodes = strains.iter().enumerate();
    let turn: f64 = nodes.map(|(i, s)| length(i) * s.twist_rate).sum();
    let text = STRIP.to_owned()
        + said
        + "start = \"clamped\"\nfinish = \"welded\"\n"
        + "[[bodies]]\nname = \"cube\"\nshape = { box = { size = [0.02, 0.02, 0.02] } }\npose = { position = [0.41, 0, 0] }\n"
        + "[[constraints]]\nname = \"weld\"\nbetween = [\"strip/tip\", \"cube\"]\n"
        + &expect(
            "turned",
            "quantity = \"orientation\"\nof = \"cube\"\ncomponent = \"roll\"",
            &turn.to_string(),
            "0.01",
        );
    let _ = check_runs(&text);
}

/// A stub of 3 cm, 1 cm thick, that stands on its end.
const STUB: &str = "[contact]\nkind = \"KIND\"\n[materials.default]\nstiffness = 1e5\n[materials.rubber]\nhydroelastic = \"compliant\"\nhydroelastic_modulus = 1e6\n[materials.stone]\nhydroelastic = \"rigid\"\n[[fixed]]\nname = \"floor\"\nshape = { half_space = {} }\nmaterial = \"stone\"\n[[rods]]\nname = \"stub\"\nmaterial = \"rubber\"\ntips = \"flat\"\ncentreline = { line = { from = [0, 0, 0], to = [0, 0, 0.03], edges = 3 } }\nsection = { SECTION }\nyoungs_modulus = 1e7\nmass_damping = 5\nstiffness_damping = 1e-3\nregions.foot = { vertices = { numbers = [0] } }\n";

#[test]
fn flat_tips_stand_on_the_floor_whatever_the_section_and_the_contact() {
    for section in [
        "circle = { radius = 0.005 }",
        "ellipse = { semi_axes = [0.005, 0.003] }",
        "rectangle = { size = [0.01, 0.006] }",
    ] {
        for kind in ["point", "patch"] {
            let stub = STUB.replace("SECTION", section).replace("KIND", kind);
            let foot = "quantity = \"position\"\nof = \"stub/foot\"\ncomponent = \"z\"";
            // Depth of 300 Pa in a field of 1e6 Pa over 5 mm.
            check_runs(&(stub + &expect("foot", foot, "0", "5e-6")));
        }
    }
}
