//! Material points: speed of transfers by number of particles, and speed-up by a second thread.

use std::num::NonZeroUsize;
use std::sync::Arc;

use clap::Subcommand;
use pliant::runner::RunLength;
use pliant_bench::Paper;
use pliant_bench::coupling_table::{RATIOS, STEPS_S, shake, weak_bound_s};
use pliant_bench::substeps::substep_cost;
use pliant_bench::tolerance_table::{TOLERANCES, roll_dough};
use pliant_bench::transfers::{implicit_cost, transfer_speed};
use pliant_constitutive::{FixedCorotated, Lame, NeoHookean};
use pliant_mpm::{
    FrictionAngle, GradientForm, HenckyVonMises, InstructionSet, LinearCorotated, Material,
    MatrixForm, Sand,
};
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
    /// Time of a particle in transfers and in substeps with contact, by law and number of particles, with one and two threads.
    Particles {
        /// Particles along an edge of the cubes.
        #[arg(default_values = ["22", "46", "100"])]
        edges: Vec<NonZeroUsize>,
        /// Number of rounds; the best counts.
        #[arg(long, default_value = "12")]
        rounds: NonZeroUsize,
    },
    /// Stages of a substep with contact, ns a particle.
    Stages {
        /// Particles along an edge of the cube.
        #[arg(default_value = "22")]
        edge: NonZeroUsize,
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
    /// A body between soft cubes, shaken: coupled and weak substeps by mass ratio and time step.
    Ratios {
        /// Mass of the body over that of a cube; those of the table by default.
        ratios: Vec<f64>,
        /// Time steps, ms; those of the table by default.
        #[arg(long)]
        steps_ms: Vec<f64>,
        /// Simulated time, s; the whole motion by default.
        #[arg(long)]
        seconds: Option<f64>,
    },
    /// Rolled dough by the tolerance of the contact problem of a substep.
    Tolerances {
        /// The solver of the substeps.
        #[arg(long, default_value = "gauss-seidel")]
        solver: String,
        /// Simulated time, s; the whole motion by default.
        #[arg(long)]
        seconds: Option<f64>,
    },
}

impl Command {
    pub(crate) fn run(self) -> Result<(), AnyError> {
        match self {
            Self::Transfers { edge } => transfers(edge.get()),
            Self::Particles { edges, rounds } => particles(&edges, rounds.get()),
            Self::Stages { edge } => stages(edge.get()),
            Self::Threads {
                rows,
                seconds,
                rounds,
            } => {
                let length = seconds.map_or(RunLength::Smoke, RunLength::Until);
                threads(&rows, length, rounds.get())
            }
            Self::Ratios {
                ratios,
                steps_ms,
                seconds,
            } => {
                let ratios = or_all(ratios, &RATIOS);
                let steps_s = steps_ms.iter().map(|ms| 1e-3 * ms).collect();
                let length = seconds.map_or(RunLength::Full, RunLength::Until);
                shake_table(&ratios, &or_all(steps_s, &STEPS_S), length)
            }
            Self::Tolerances { solver, seconds } => {
                let length = seconds.map_or(RunLength::Full, RunLength::Until);
                tolerance_table(&solver, length)
            }
        }
    }
}

fn or_all(given: Vec<f64>, all: &[f64]) -> Vec<f64> {
    match given.is_empty() {
        true => all.to_vec(),
        false => given,
    }
}

/// Prints each row when it is finished.
fn shake_table(ratios: &[f64], steps_s: &[f64], length: RunLength) -> Result<(), AnyError> {
    println!("| mass ratio | bound of weak Δt, ms | Δt, ms | in-substep | weak |");
    println!("|---:|---:|---:|---|---|");
    for &ratio in ratios {
        for &step_s in steps_s {
            println!(
                "| {ratio} | {:.3} | {} | {} | {} |",
                1e3 * weak_bound_s(ratio),
                1e3 * step_s,
                shake(ratio, step_s, "in-substep", length)?,
                shake(ratio, step_s, "weak", length)?,
            );
        }
    }
    Ok(())
}

/// Prints each row when it is finished.
fn tolerance_table(solver: &str, length: RunLength) -> Result<(), AnyError> {
    println!(
        "| ε_r | rolled, mm | handle, mm | contacts | iterations | ms per step | expectations met |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---|");
    let pool = pool(1)?;
    for tolerance in TOLERANCES {
        let row = pool.install(|| roll_dough(tolerance, solver, length))?;
        println!(
            "| {tolerance:.0e} | {:.2} | {:.2} | {:.1} | {:.1} | {:.2} | {} of {} |",
            1e3 * row.roll_m,
            1e3 * row.advance_m,
            row.contacts,
            row.iterations,
            row.step_ms,
            row.met.0,
            row.met.1
        );
    }
    Ok(())
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

type NamedLaw = (&'static str, Arc<dyn Material>);

/// Laws whose substeps are timed.
fn laws() -> Result<Vec<NamedLaw>, AnyError> {
    let lame = Lame::from_young_poisson(1e3, 0.3)?;
    let corotated = LinearCorotated::new(lame);
    Ok(vec![
        ("neo-Hookean", Arc::new(NeoHookean::new(lame)?)),
        ("linear corotated", Arc::new(corotated)),
        ("fixed corotated", Arc::new(FixedCorotated::new(lame)?)),
        (
            "linear corotated, plastic",
            Arc::new(corotated.with_yield_stress(20.0)?),
        ),
        (
            "Hencky, plastic",
            Arc::new(HenckyVonMises::new(lame, 20.0)?),
        ),
        (
            "sand",
            Arc::new(Sand::new(lame, 30.0, FrictionAngle::PlaneStrain)?),
        ),
    ])
}

/// Neo-Hookean transfers in both precisions, then substeps with contact of every law in f32.
fn particles(edges: &[NonZeroUsize], rounds: usize) -> Result<(), AnyError> {
    println!(
        "| particles | what | ns per particle | relative to the first row | two threads | speed-up |\n|---:|---|---:|---:|---:|---:|"
    );
    let (form, set) = (GradientForm::Mls, InstructionSet::widest());
    let mut rows: Vec<(String, Timed)> = vec![
        (
            "transfers, f32".into(),
            Box::new(move |edge| 1e3 / transfer_speed::<f32>(edge, form, set, rounds).both),
        ),
        (
            "transfers, f64".into(),
            Box::new(move |edge| 1e3 / transfer_speed::<f64>(edge, form, set, rounds).both),
        ),
    ];
    for (name, law) in laws()? {
        rows.push((
            format!("substeps, {name}"),
            Box::new(move |edge| {
                substep_cost::<f32>(edge, Arc::clone(&law), form, rounds).total_ns
            }),
        ));
    }
    let pools = [pool(1)?, pool(2)?];
    let mut fewest = vec![None; rows.len()];
    for edge in edges.iter().map(|edge| edge.get()) {
        for ((name, cost), fewest) in rows.iter().zip(&mut fewest) {
            let [one, two] = [0, 1].map(|n| pools[n].install(|| cost(edge)));
            println!(
                "| {} | {name} | {one:.1} | {:.2} | {two:.1} | {:.2} |",
                edge.pow(3),
                one / *fewest.get_or_insert(one),
                one / two
            );
        }
    }
    Ok(())
}

/// Time of a particle, ns, by the number of particles along an edge.
type Timed = Box<dyn Fn(usize) -> f64 + Sync>;

fn stages(edge: usize) -> Result<(), AnyError> {
    const ROUNDS: usize = 12;
    println!("{} particles, one thread, ns a particle", edge.pow(3));
    let pool = pool(1)?;
    for form in [GradientForm::Mls, GradientForm::True] {
        for (name, law) in laws()? {
            let cost = pool.install(|| substep_cost::<f32>(edge, law, form, ROUNDS));
            let stages = cost.stages_ns.map(|(name, ns)| format!("{name} {ns:.1}"));
            println!(
                "{form:?} {name}: {:.1} ({}), {:.0} contacts",
                cost.total_ns,
                stages.join(", "),
                cost.contacts
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
