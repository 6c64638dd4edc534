//! RNEA, CRBA, ABA and Jacobians, 64 states per sample, on the project's arm and, where `../shared` is there, on Atlas.

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pliant_bench::robot_dynamics::{Base, Questions, STATES};

fn questions(c: &mut Criterion) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, file, base) in [
        ("arm7", "robots/arm7.urdf", Base::Fixed),
        (
            "atlas",
            "../shared/data/robots/atlas/atlas/atlas_minimal_contact.urdf",
            Base::Floating,
        ),
    ] {
        let file = root.join(file);
        if !file.exists() {
            eprintln!("skipped: {} is not there", file.display());
            continue;
        }
        let mut asked = Questions::new(&file, base).expect("a legal robot");
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(STATES as u64));
        group.bench_function("rnea", |b| b.iter(|| asked.rnea()));
        group.bench_function("crba", |b| b.iter(|| asked.crba()));
        group.bench_function("aba", |b| b.iter(|| asked.aba()));
        group.bench_function("one jacobian", |b| b.iter(|| asked.one_jacobian()));
        group.bench_function("all jacobians", |b| b.iter(|| asked.all_jacobians()));
        group.finish();
    }
}

criterion_group!(benches, questions);
criterion_main!(benches);
