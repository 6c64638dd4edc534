//! Times both methods of the broad phase on clutter of 10 to 10,000 boxes; run with `--release`.

use std::time::Instant;

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::{Aabb, BroadPhase, CollisionFilterBuilder, Proxy};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    eprintln!(
        "{:>8} {:>10} {:>14} {:>14}",
        "proxies", "pairs", "sweep us", "tree us"
    );
    for n in [10_usize, 40, 160, 300, 640, 1_000, 2_500, 10_000] {
        let mut filter = CollisionFilterBuilder::default();
        for _ in 0..n {
            let owner = filter.owner();
            filter.geometry(owner)?;
        }
        let filter = filter.build();
        // The floor grows with the number of boxes, four layers deep; each box overlaps a few neighbours and moves a
        // little.
        let side = (n as f64 / 4.0).sqrt().ceil() as usize;
        let position = |i: usize, step: usize| {
            let wobble = |k: usize| ((i * 7919 + k * 104_729 + step * 31) % 1000) as f64 * 1e-3;
            Point3::new(
                (i % side) as f64 + 0.3 * wobble(1),
                (i / side % side) as f64 + 0.3 * wobble(2),
                (i / (side * side)) as f64 + 0.3 * wobble(3),
            )
        };
        let mut broad = BroadPhase::default();
        let mut pairs = Vec::new();
        let rounds = (200_000 / n).clamp(10, 2000);
        let mut time = |tree: Method| {
            let mut best = f64::INFINITY;
            let mut total = 0.0;
            for step in 0..rounds {
                let proxies: Vec<Proxy> = (0..n)
                    .map(|i| {
                        Proxy::Box(Aabb::from_half_extents(
                            position(i, step),
                            Vector3::repeat(0.55),
                        ))
                    })
                    .collect();
                let start = Instant::now();
                match tree {
                    Method::Sweep => broad.candidates_by_sweep(&proxies, &filter, &mut pairs),
                    Method::Tree => broad.candidates_by_tree(&proxies, &filter, &mut pairs),
                }
                let elapsed = start.elapsed().as_secs_f64() * 1e6;
                best = best.min(elapsed);
                total += elapsed;
            }
            (total / rounds as f64, best)
        };
        let (sweep, tree) = (time(Method::Sweep), time(Method::Tree));
        eprintln!(
            "{n:>8} {:>10} {:>14.1} {:>14.1}",
            pairs.len(),
            sweep.1,
            tree.1
        );
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Method {
    Sweep,
    Tree,
}
