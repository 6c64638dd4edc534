//! Material points: speed of transfers by number of particles, and speed-up by a second thread.

use std::num::NonZeroUsize;

use clap::Subcommand;
use pliant::runner::RunLength;
use pliant_bench::Paper;
use pliant_bench::transfers::{implicit_cost, transfer_speed};
use pliant_mpm::{GradientForm, InstructionSet, MatrixForm};
use rayon::ThreadPool;

type AnyError = Box<dyn std::error::Error>;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Transfers alone, one thread: millions of particle substeps per second, and the parts of an implicit step.
    Transfers {
        /// Particles along an edge of the cube.
        #[arg(default_value = "22")]
        edge: NonZeroUsize,
    },
    /// Time per particle in transfers, by number of particles, with one and two threads.
    Particles {
        /// Particles along an edge of the cubes.
        #[arg(default_values = ["22", "46", "100"])]
        edges: Vec<NonZeroUsize>,
        /// Number of rounds; the best counts.
        #[arg(long, default_value = "12")]
        rounds: NonZeroUsize,
    },
    /// Wall time of a step of the paper's examples with one and two threads, in turns.
    Threads {
        /// Names of rows; all by default.
        rows: Vec<String>,
        /// Simulated time, s; each row has a default.
        #[arg(long)]
        seconds: Option<f64>,
        /// Number of rounds; the best counts.
        #[arg(long, default_value = "2")]
        rounds: NonZeroUsize,
    },
}

impl Command {
    pub(crate) fn run(self) -> Result<(), AnyError> {
        match self {
            Self::Transfers { edge } => transfers(edge.get()),
            Self::Particles { edges, rounds } => particles(&edges, rounds.get()),
            Self::Threads {
                rows,
                seconds,
                rounds,
            } => {
                let length = seconds.map_or(RunLength::Smoke, RunLength::Until);
                threads(&rows, length, rounds.get())
            }
        }
    }
}

fn pool(threads: usize) -> Result<ThreadPool, AnyError> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    Ok(builder.build()?)
}

fn transfers(edge: usize) -> Result<(), AnyError> {
    const ROUNDS: usize = 12;
    println!(
        "{} particles, one thread, millions of particle substeps per second",
        edge.pow(3)
    );
    pool(1)?.install(|| {
        for form in [GradientForm::Mls, GradientForm::True] {
            for set in InstructionSet::available() {
                let f32 = transfer_speed::<f32>(edge, form, set, ROUNDS);
                let f64 = transfer_speed::<f64>(edge, form, set, ROUNDS);
                for (precision, s) in [("f32", f32), ("f64", f64)] {
                    println!(
                        "{precision} {form:?} {set:?}: both {:.1}, scatter {:.1}, gather {:.1}, sort {:.1}",
                        s.both, s.scatter, s.gather, s.sort
                    );
                }
            }
        }
        println!("parts of an implicit step, ns per particle");
        for matrix in [MatrixForm::Assembled, MatrixForm::MatrixFree] {
            let cost = implicit_cost(edge.min(32), matrix);
            println!(
                "{matrix:?}: product with A {:.0}, begin {:.0}, linearise {:.0}",
                cost.product_ns, cost.begin_ns, cost.linearise_ns
            );
        }
    });
    Ok(())
}

fn particles(edges: &[NonZeroUsize], rounds: usize) -> Result<(), AnyError> {
    println!(
        "| particles | precision | ns per particle | relative to the first row | two threads | speed-up |\n|---:|---|---:|---:|---:|---:|"
    );
    let pools = [pool(1)?, pool(2)?];
    let mut fewest = [None; 2];
    for edge in edges.iter().map(|edge| edge.get()) {
        for (k, fewest) in fewest.iter_mut().enumerate() {
            let speed = |pool: &ThreadPool| {
                let (form, set) = (GradientForm::Mls, InstructionSet::widest());
                pool.install(|| match k {
                    0 => transfer_speed::<f32>(edge, form, set, rounds),
                    _ => transfer_speed::<f64>(edge, form, set, rounds),
                })
            };
            let [one, two] = [0, 1].map(|n| 1e3 / speed(&pools[n]).both);
            println!(
                "| {} | {} | {one:.1} | {:.2} | {two:.1} | {:.2} |",
                edge.pow(3),
                ["f32", "f64"][k],
                one / *fewest.get_or_insert(one),
                one / two
            );
        }
    }
    Ok(())
}

fn threads(names: &[String], length: RunLength, rounds: usize) -> Result<(), AnyError> {
    println!("| scene | one thread, ms per step | two threads | speed-up |\n|---|---:|---:|---:|");
    let pools = [pool(1)?, pool(2)?];
    for row in Paper::Mpm.rows_named(names)? {
        let mut best = [f64::INFINITY; 2];
        for _ in 0..rounds {
            for (best, pool) in best.iter_mut().zip(&pools) {
                let summary = pool.install(|| row.run.run(length))?.summary;
                *best = best.min(1e3 * summary.stages.step_s / summary.steps as f64);
            }
        }
        let [one, two] = best;
        println!(
            "| {} | {one:.1} | {two:.1} | {:.2} |",
            row.run.name,
            one / two
        );
    }
    Ok(())
}
