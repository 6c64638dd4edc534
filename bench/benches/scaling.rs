//! Time of one step of the settled clutter per body, for 10 to 640 bodies; constant if the cost is linear.

use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pliant_bench::{ContactKind, Engine, PliantEngine, SolverChoice, catalogue};

fn clutter(c: &mut Criterion) {
    let mut group = c.benchmark_group("clutter");
    group.sample_size(20);
    for n in [10, 40, 160, 640] {
        let scene = catalogue::clutter(n);
        let mut engine = PliantEngine::new(
            &scene,
            Path::new("."),
            SolverChoice::default(),
            ContactKind::Points,
        )
        .expect("a legal scene");
        engine.advance(400).expect("legal steps");
        // Criterion prints elements per second: bodies times steps per second.
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::from_parameter(n), |b| {
            b.iter(|| engine.step().expect("a legal step"));
        });
    }
    group.finish();
}

criterion_group!(benches, clutter);
criterion_main!(benches);
