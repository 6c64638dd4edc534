//! Checkpoints that were changed, with a checksum that fits: each is refused with a reason, or is the state of a run that continues.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pliant::runner::{Assembly, Checkpoint, RunError, RunLength, RunOptions, run, run_watched};
use pliant::scene::{Scene, SceneFingerprint, SceneOptions};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

/// Steps before a state is saved, and after it.
const STEPS: [u64; 2] = [4, 2];

const BEGIN: &str = "schema = 1\ntitle = \"t\"\n";

/// A box on a floor whose contacts remember, a pendulum with dry friction, a rope of links, a constraint.
const RIGID: &str = r#"
    simulation = { smoke_s = 1, time_step_s = 0.005 }
    contact = { stiction = "held" }
    [[fixed]]
    name = "floor"
    shape = { half_space = {} }
    [[bodies]]
    name = "box"
    shape = { box = { size = [0.1, 0.1, 0.1] } }
    pose = { position = [0, 0, 0.0499] }
    velocity = [0.1, 0, 0]
    [[bodies]]
    name = "bob"
    shape = { sphere = { radius = 0.05 } }
    pose = { position = [1, 0, 0.5] }
    [[constraints]]
    name = "thread"
    kind = "distance"
    length = 0.5
    between = ["world", "bob"]
    points = [[1, 0, 1], [0, 0, 0]]
    [[loads]]
    on = "bob"
    knots = [{ at_s = 0, force = [0, 0.1, 0] }]
    [[rods]]
    name = "rope"
    model = "capsule-chain"
    centreline = { line = { from = [2, 0, 0.5], to = [2.2, 0, 0.5], edges = 4 } }
    section = { circle = { radius = 0.005 } }
    youngs_modulus = 1e6
    density = 1000
"#;

/// Finite elements and a rod.
const SOFT: &str = r#"
    simulation = { smoke_s = 1, time_step_s = 0.002 }
    [[fixed]]
    name = "floor"
    shape = { half_space = {} }
    [[fem]]
    name = "cube"
    mesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }
    constitutive_material = { law = "corotational", youngs_modulus = 1e5, poissons_ratio = 0.3 }
    density = 1000
    pose = { position = [0, 0, 0.0499] }
    [[rods]]
    name = "cord"
    centreline = { line = { from = [1, 0, 0.02], to = [1.2, 0, 0.02], edges = 4 } }
    section = { circle = { radius = 0.005 } }
    youngs_modulus = 1e6
    density = 1000
"#;

/// Material points.
const POINTS: &str = r#"
    simulation = { smoke_s = 1, time_step_s = 0.002 }
    grid = { spacing = 0.05 }
    [[fixed]]
    name = "floor"
    shape = { half_space = {} }
    [[material_points]]
    name = "dough"
    constitutive_material = "pizza-dough"
    shape = { box = { size = [0.1, 0.1, 0.05] } }
    pose = { position = [0, 0, 0.024] }
"#;

/// Cloth.
const CLOTH: &str = r#"
    simulation = { smoke_s = 1, time_step_s = 0.002 }
    solver = { name = "newton-cg" }
    grid = { spacing = 0.05 }
    [[cloth]]
    name = "sheet"
    mesh = { sheet = { size = [0.1, 0.1], cells = [3, 3] } }
    thickness = 0.001
    density = 300
    youngs_modulus = 1e5
    pose = { position = [0.5, 0, 0.1] }
"#;

/// A body on attachments.
const PENALTY: &str = r#"
    simulation = { smoke_s = 1, time_step_s = 0.005, stepper = "penalty-force" }
    materials.default = { stiffness = 4e3, friction = 0.3 }
    [[fixed]]
    name = "floor"
    shape = { half_space = {} }
    [[bodies]]
    name = "box"
    shape = { box = { size = [0.1, 0.1, 0.1] } }
    mass = 1
    velocity = [0.1, 0, 0]
    pose = { position = [0, 0, 0.0499] }
    [[fem]]
    name = "cube"
    mesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }
    constitutive_material = { law = "corotational", youngs_modulus = 1e5, poissons_ratio = 0.3 }
    density = 1000
    pose = { position = [0, 0, 0.1497] }
"#;

/// Substeps of particles beside a body.
const SUBSTEPS: &str = r#"
    simulation = { smoke_s = 1, time_step_s = 0.002, stepper = "asynchronous", substeps = 20 }
    grid = { spacing = 0.05 }
    [[fixed]]
    name = "floor"
    shape = { half_space = {} }
    [[material_points]]
    name = "dough"
    constitutive_material = { youngs_modulus = 1e5, poissons_ratio = 0.3 }
    density = 500
    shape = { box = { size = [0.1, 0.1, 0.05] } }
    pose = { position = [0, 0, 0.024] }
    [[bodies]]
    name = "box"
    shape = { box = { size = [0.1, 0.1, 0.1] } }
    mass = 0.1
    pose = { position = [0, 0, 0.0985] }
"#;

fn scene(text: &str) -> Scene {
    let text = format!("{BEGIN}{text}");
    Scene::parse("s.toml", &text, &SceneOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn options(scene: &Scene, steps: u64) -> RunOptions {
    let until_s = steps as f64 * scene.simulation.time_step_s;
    RunOptions {
        length: RunLength::Until(until_s),
        ..RunOptions::default()
    }
}

fn saved(scene: &Scene) -> Checkpoint {
    let outcome = run(scene, &options(scene, STEPS[0]), &mut |_| {});
    let outcome = outcome.unwrap_or_else(|e| panic!("{e}"));
    let assembly = Assembly::new(scene).unwrap_or_else(|e| panic!("{e}"));
    let fingerprint = SceneFingerprint::of(scene, &assembly.world);
    Checkpoint::new(&outcome.state, &outcome.inputs, &fingerprint)
}

/// Continues from a checkpoint.
fn resumed(scene: &Scene, from: Checkpoint) -> Result<(), RunError> {
    let options = RunOptions {
        saved_from: Some(from.scene),
        inputs: Some(from.inputs),
        ..options(scene, STEPS[0] + STEPS[1])
    };
    let mut watch = |_: &_, _: &_| ControlFlow::Continue(());
    run_watched(scene, Some(from.state), &options, &mut watch).map(|_| ())
}

/// The paths of all values within `value` that `is_of` picks.
fn paths(value: &Value, is_of: &impl Fn(&Value) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    collect(value, String::new(), is_of, &mut found);
    found
}

fn collect(value: &Value, at: String, is_of: &impl Fn(&Value) -> bool, out: &mut Vec<String>) {
    match value {
        Value::Array(list) => {
            let each = list.iter().enumerate();
            each.for_each(|(k, x)| collect(x, format!("{at}/{k}"), is_of, out));
        }
        Value::Object(table) => {
            let each = table.iter();
            each.for_each(|(key, x)| collect(x, format!("{at}/{key}"), is_of, out));
        }
        _ => {}
    }
    if is_of(value) {
        out.push(at);
    }
}

fn pick<'a, T>(random: &mut ChaCha8Rng, all: &'a [T]) -> &'a T {
    &all[random.random_range(0..all.len())]
}

/// Changes one thing in `content`; says what.
fn mutate(content: &mut Value, random: &mut ChaCha8Rng) -> String {
    let numbers = paths(content, &Value::is_number);
    let lists = paths(content, &|x| {
        x.as_array().is_some_and(|list| !list.is_empty())
    });
    let mut at = |path: &str, change: &dyn Fn(&mut Value)| {
        change(content.pointer_mut(path).expect("a path"));
    };
    match random.random_range(0..6) {
        0 => {
            let (path, bit) = (pick(random, &numbers).clone(), random.random_range(0..64));
            at(&path, &|x| {
                let flipped = match x.as_u64() {
                    Some(x) => Value::from(x ^ (1 << bit)),
                    None => {
                        let x =
                            f64::from_bits(x.as_f64().expect("a number").to_bits() ^ (1 << bit));
                        Value::from(x)
                    }
                };
                *x = flipped;
            });
            format!("bit {bit} of {path}")
        }
        1 => {
            let path = pick(random, &numbers).clone();
            let value = *pick(random, &[0.0, -1.0, 1e9, 1e300, -1e300, 5e-324, 0.5, 3.0]);
            at(&path, &|x| *x = Value::from(value));
            format!("{path} = {value}")
        }
        2 => {
            let path = pick(random, &numbers).clone();
            let value = *pick(random, &[0_u64, 1, 2, 7, u64::from(u32::MAX), u64::MAX]);
            at(&path, &|x| *x = Value::from(value));
            format!("{path} = {value}")
        }
        3 => {
            let path = pick(random, &lists).clone();
            at(&path, &|x| {
                x.as_array_mut().expect("a list").pop();
            });
            format!("{path} without its last")
        }
        4 => {
            let path = pick(random, &lists).clone();
            at(&path, &|x| {
                let list = x.as_array_mut().expect("a list");
                list.push(list[0].clone());
            });
            format!("{path} with its first twice")
        }
        _ => {
            let (one, other) = (pick(random, &lists).clone(), pick(random, &lists).clone());
            let moved = content.pointer(&other).cloned();
            *content.pointer_mut(&one).expect("a path") = moved.expect("a path");
            format!("{one} = {other}")
        }
    }
}

#[track_caller]
fn check(text: &str, seed: u64, cases: usize) {
    let scene = scene(text);
    let checkpoint = saved(&scene);
    resumed(&scene, checkpoint.clone()).unwrap_or_else(|e| panic!("{e}"));
    let content = serde_json::to_value(&checkpoint).expect("content");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut refused = 0;
    for _ in 0..cases {
        let mut changed = content.clone();
        let what = mutate(&mut changed, &mut random);
        let Ok(read) = serde_json::from_value::<Checkpoint>(changed) else {
            refused += 1;
            continue;
        };
        let is_same = read == checkpoint;
        let end = catch_unwind(AssertUnwindSafe(|| resumed(&scene, read)));
        match end.unwrap_or_else(|_| panic!("panics: {what}")) {
            Ok(()) => {}
            Err(error) => {
                assert!(!is_same, "{what}: {error}");
                refused += 1;
            }
        }
    }
    assert!(refused > cases / 3, "{refused} of {cases} refused");
}

#[test]
fn changed_states_of_rigid_bodies_are_refused_or_run() {
    check(RIGID, 1, 300);
}

#[test]
fn changed_states_of_finite_elements_and_rods_are_refused_or_run() {
    check(SOFT, 2, 300);
}

#[test]
fn changed_states_of_material_points_are_refused_or_run() {
    check(POINTS, 3, 100);
}

#[test]
fn changed_states_of_attachments_are_refused_or_run() {
    check(PENALTY, 4, 300);
}

#[test]
fn changed_states_of_substeps_are_refused_or_run() {
    check(SUBSTEPS, 5, 100);
}

/// What must be refused, with the reason.
#[test]
fn impossible_states_are_refused_with_the_reason() {
    for (text, path, value, expected) in [
        (RIGID, "/state/bodies/0/q/3", 2.0, "quaternion"),
        (RIGID, "/state/time_s", -1.0, "the time (s) is -1"),
        (
            RIGID,
            "/state/memory/contacts/0/a",
            99.0,
            "of geometry 99 of",
        ),
        (
            SOFT,
            "/state/bodies/1/history/2",
            0.9,
            "of edge 0 of the rod",
        ),
        (
            SUBSTEPS,
            "/state/bodies/1/history/11",
            -1.0,
            "no positive volume",
        ),
        (SUBSTEPS, "/state/bodies/1/history/1", 3.0, "has the id"),
        (
            PENALTY,
            "/state/memory/attachments/0/object",
            7.0,
            "of geometry 7 of",
        ),
    ] {
        let scene = scene(text);
        let mut content = serde_json::to_value(saved(&scene)).expect("content");
        let place = content
            .pointer_mut(path)
            .unwrap_or_else(|| panic!("no {path}"));
        *place = match place.is_u64() {
            true => Value::from(value as u64),
            false => Value::from(value),
        };
        let read = serde_json::from_value(content).unwrap_or_else(|e| panic!("{path}: {e}"));
        let message = resumed(&scene, read).expect_err(path).to_string();
        assert!(message.contains(expected), "{path}: {message}");
    }
}

/// Every list of a state that belongs to the scene has its length.
#[test]
fn states_of_other_lengths_are_refused() {
    for text in [RIGID, SOFT, POINTS, CLOTH, PENALTY, SUBSTEPS] {
        let scene = scene(text);
        let content = serde_json::to_value(saved(&scene)).expect("content");
        let lists = paths(&content, &|x| {
            x.as_array().is_some_and(|list| !list.is_empty())
        });
        let is_free = |path: &str| path.contains("/memory/") || path.ends_with("/loads");
        for path in lists
            .iter()
            .filter(|path| path.starts_with("/state/") && !is_free(path))
        {
            let mut changed = content.clone();
            let list = changed.pointer_mut(path).and_then(Value::as_array_mut);
            list.expect("a list").pop();
            let refused = match serde_json::from_value::<Checkpoint>(changed) {
                Err(_) => true,
                // No number at all means none of that kind.
                Ok(read) => resumed(&scene, read).is_err(),
            };
            let lengths = content
                .pointer(path)
                .and_then(Value::as_array)
                .map(Vec::len);
            assert!(refused || lengths == Some(1), "{path}");
        }
    }
}
