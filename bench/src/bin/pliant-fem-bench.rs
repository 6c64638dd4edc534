//! Soft bodies, timed: what `compare_fem.py` calls, and how time grows with links and with degrees of freedom.
#![allow(
    clippy::print_stdout,
    reason = "tables and answers to a script are its output"
)]

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use pliant::runner::RunLength;
use pliant_bench::fem::{
    FemMesh, FemOutcome, FemScene, chain, fem_catalogue, measure_fem, paper_rows, torus_of,
};
use pliant_bench::pick;
use pliant_contact_sap::LinearAlgebra;

/// Soft bodies, timed.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prints the names of the scenes.
    Names,
    /// Writes a scene and its meshes into a folder, for peers.
    Scene {
        /// Its name.
        name: String,
        /// Where to.
        folder: PathBuf,
    },
    /// Runs a scene on one thread and prints one line of JSON.
    Peer {
        /// Its name.
        name: String,
        /// How Newton's systems are solved.
        #[arg(long, default_value = "automatic")]
        linear_algebra: String,
    },
    /// Times scenes of growing size on one and on two threads.
    Growth,
    /// The examples of Han, Masterjohn and Castro (2023) on one thread, beside the rates that they print.
    Table {
        /// Rows by name; all of them unless given.
        rows: Vec<String>,
        /// The scenes' full lengths, with all of their checks.
        #[arg(long)]
        full: bool,
    },
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Arguments::parse().command {
        Command::Names => {
            for scene in fem_catalogue() {
                println!("{}", scene.name);
            }
        }
        Command::Scene { name, folder } => {
            std::fs::create_dir_all(&folder)?;
            find(&name)?.write(&folder)?;
        }
        Command::Peer {
            name,
            linear_algebra,
        } => {
            let outcome = run(&find(&name)?, way(&linear_algebra)?, 1)?;
            println!("{}", serde_json::to_string(&outcome)?);
        }
        Command::Growth => {
            println!("one more link, 900 degrees of freedom each");
            let links = [1, 3, 10, 30, 100].map(|n| chain(n, FemMesh::link(), 10));
            growth(&links)?;
            println!("one torus, finer and finer");
            let tori = [1, 2, 3, 4].map(|rings| chain(1, torus_of(rings), 10));
            growth(&tori)?;
        }
        Command::Table { rows, full } => {
            let length = if full {
                RunLength::Full
            } else {
                RunLength::Smoke
            };
            table(&rows, length)?;
        }
    }
    Ok(())
}

fn find(name: &str) -> Result<FemScene, String> {
    let mut scenes = fem_catalogue().into_iter();
    scenes
        .find(|scene| scene.name == name)
        .ok_or_else(|| format!("no scene \"{name}\"; `names` lists those there are"))
}

fn way(name: &str) -> Result<LinearAlgebra, String> {
    let mut ways = LinearAlgebra::ALL.into_iter();
    ways.find(|way| way.name() == name).ok_or_else(|| {
        let names = LinearAlgebra::ALL.map(LinearAlgebra::name).join(", ");
        format!("no linear algebra \"{name}\"; there are {names}")
    })
}

fn run(
    scene: &FemScene,
    way: LinearAlgebra,
    threads: usize,
) -> Result<FemOutcome, Box<dyn std::error::Error>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    Ok(pool.install(|| measure_fem(scene, way))?)
}

/// Runs the rows whose names are given, or all, and prints each as it is done.
fn table(names: &[String], length: RunLength) -> Result<(), Box<dyn std::error::Error>> {
    let rows = pick(paper_rows(), names, |row| row.run)?;
    println!(
        "| scene | DoFs (paper) | simulated | contacts mean, most (paper) | Newton mean, most | checks met | rate, wall | rate, processor | paper | times the paper's | target |\n|---|---|---:|---|---|---|---:|---:|---:|---:|---:|"
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let mut sound = true;
    for row in rows {
        let result = pool.install(|| row.run.run(length))?;
        sound &= result.is_sound();
        let s = &result.summary;
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        let printed = row.contacts.map(|(mean, most)| format!("{mean}, {most}"));
        let cpu_rate = s.simulated_s / result.best_s();
        println!(
            "| {} | {} ({}) | {:.2} s | {:.1}, {} ({}) | {:.1}, {} | {} | {:.3} | {:.3} | {} | {} | {} |",
            row.run.name,
            s.dofs,
            or_dash(row.dofs.map(|n| n.to_string())),
            s.simulated_s,
            s.contacts_mean,
            s.contacts_max,
            or_dash(printed),
            s.iterations_mean,
            s.iterations_max,
            result.verdict(),
            s.simulated_s / s.stages.step_s.max(1e-9),
            cpu_rate,
            or_dash(row.rate.map(|rate| rate.to_string())),
            or_dash(row.rate.map(|rate| format!("{:.1}", cpu_rate / rate))),
            or_dash(row.target.map(|target| target.to_string())),
        );
    }
    if !sound {
        return Err("a scene did not go as it expects: its rate does not count".into());
    }
    Ok(())
}

/// A row for each scene, the slope in a log-log plot against the one before.
fn growth(scenes: &[FemScene]) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:>8} {:>12} {:>12} {:>7} {:>7} {:>9} {:>7}  systems",
        "DoFs", "1 thread ms", "2 threads ms", "slope", "Newton", "contacts", "solver"
    );
    let mut before: Option<(f64, f64)> = None;
    for scene in scenes {
        let one = run(scene, LinearAlgebra::Automatic, 1)?;
        let two = run(scene, LinearAlgebra::Automatic, 2)?;
        let (n, t) = (one.n_dofs as f64, mean(&one.step_s));
        let slope = before.map_or(String::new(), |(m, s)| {
            format!("{:.2}", (t / s).ln() / (n / m).ln())
        });
        before = Some((n, t));
        println!(
            "{:>8} {:>12.2} {:>12.2} {slope:>7} {:>7.1} {:>9.0} {:>6.0}%  {}",
            one.n_dofs,
            1e3 * t,
            1e3 * mean(&two.step_s),
            whole_mean(&one.iterations),
            whole_mean(&one.contacts),
            100.0 * one.solve_share.unwrap_or_default(),
            one.systems.unwrap_or_default(),
        );
    }
    Ok(())
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len().max(1) as f64
}

fn whole_mean(x: &[usize]) -> f64 {
    x.iter().sum::<usize>() as f64 / x.len().max(1) as f64
}
