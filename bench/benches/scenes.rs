//! One step of each settled scene of the comparison.

use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use pliant_bench::{ContactKind, Engine, PliantEngine, SolverChoice, catalogue};

fn steps(c: &mut Criterion) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut group = c.benchmark_group("step");
    for name in ["clutter", "box-stack", "arm"] {
        let scene = catalogue::find(name).expect("it is in the catalogue");
        for (model, choice) in [
            ("lagged", SolverChoice::Lagged),
            ("similar", SolverChoice::Similar),
            ("sap", SolverChoice::Sap),
        ] {
            let mut engine = PliantEngine::new(&scene, &root, choice, ContactKind::Points)
                .expect("a legal scene");
            engine.advance(scene.n_steps() / 2).expect("legal steps");
            group.bench_function(format!("{name}/{model}"), |b| {
                b.iter(|| engine.step().expect("a legal step"));
            });
        }
    }
    group.finish();
}

fn patch_steps(c: &mut Criterion) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut group = c.benchmark_group("step in patches");
    for name in catalogue::PATCH_NAMES {
        let scene = catalogue::find(name).expect("it is in the catalogue");
        let choice = SolverChoice::Lagged;
        let mut engine =
            PliantEngine::new(&scene, &root, choice, ContactKind::Patches).expect("a legal scene");
        engine.advance(scene.n_steps() / 2).expect("legal steps");
        group.bench_function(name, |b| b.iter(|| engine.step().expect("a legal step")));
    }
    group.finish();
}

criterion_group!(benches, steps, patch_steps);
criterion_main!(benches);
