//! Finite elements: commands for `compare_fem.py`, and growth of time with links and degrees of freedom.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use pliant_bench::fem::{
    FemMesh, FemModel, FemOutcome, FemScene, chain, fem_catalogue, measure_fem, torus_of,
};
use pliant_contact_sap::LinearAlgebra;
use pliant_fem::Rotation;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Prints the names of the scenes.
    Names,
    /// Writes a scene and its meshes into a folder, for baselines.
    Scene {
        /// Name of the scene.
        name: String,
        /// Output folder.
        folder: PathBuf,
    },
    /// Runs a scene on one thread and prints one line of JSON.
    Run {
        /// Name of the scene.
        name: String,
        /// Linear solver of Newton's method.
        #[arg(long, default_value = "automatic")]
        linear_algebra: String,
        /// Treatment of element rotations.
        #[arg(long, value_enum, default_value_t = RestShapes::Followed)]
        rotation: RestShapes,
    },
    /// Times scenes of growing size on one and on two threads.
    Growth,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum RestShapes {
    /// Updated within the step.
    Followed,
    /// Lagged by one step, as in Drake.
    Lagged,
}

impl From<RestShapes> for Rotation {
    fn from(shapes: RestShapes) -> Self {
        match shapes {
            RestShapes::Followed => Self::Followed,
            RestShapes::Lagged => Self::Lagged,
        }
    }
}

impl Command {
    pub(crate) fn run(self) -> Result<(), Box<dyn std::error::Error>> {
        match self {
            Self::Names => {
                for scene in fem_catalogue() {
                    println!("{}", scene.name);
                }
            }
            Self::Scene { name, folder } => {
                std::fs::create_dir_all(&folder)?;
                find(&name)?.write(&folder)?;
            }
            Self::Run {
                name,
                linear_algebra,
                rotation,
            } => {
                let model = FemModel {
                    linear_algebra: linear_algebra_named(&linear_algebra)?,
                    rotation: rotation.into(),
                };
                let outcome = measure(&find(&name)?, model, 1)?;
                println!("{}", serde_json::to_string(&outcome)?);
            }
            Self::Growth => {
                println!("chains, 900 degrees of freedom per link");
                let links = [1, 3, 10, 30, 100].map(|n| chain(n, FemMesh::link(), 10));
                growth(&links)?;
                println!("one torus, refined");
                let tori = [1, 2, 3, 4].map(|rings| chain(1, torus_of(rings), 10));
                growth(&tori)?;
            }
        }
        Ok(())
    }
}

fn find(name: &str) -> Result<FemScene, String> {
    let mut scenes = fem_catalogue().into_iter();
    scenes
        .find(|scene| scene.name == name)
        .ok_or_else(|| format!("no scene \"{name}\"; `names` lists the scenes"))
}

fn linear_algebra_named(name: &str) -> Result<LinearAlgebra, String> {
    let mut all = LinearAlgebra::ALL.into_iter();
    all.find(|kind| kind.name() == name).ok_or_else(|| {
        let names = LinearAlgebra::ALL.map(LinearAlgebra::name).join(", ");
        format!("no linear algebra \"{name}\"; there are {names}")
    })
}

fn measure(
    scene: &FemScene,
    model: FemModel,
    threads: usize,
) -> Result<FemOutcome, Box<dyn std::error::Error>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()?;
    Ok(pool.install(|| measure_fem(scene, model))?)
}

/// One row per scene, with the slope to the previous one in a log-log plot.
fn growth(scenes: &[FemScene]) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "{:>8} {:>12} {:>12} {:>7} {:>7} {:>9} {:>7} {:>8}  systems",
        "DoFs", "1 thread ms", "2 threads ms", "slope", "Newton", "contacts", "solver", "untrusted"
    );
    let mut before: Option<(f64, f64)> = None;
    for scene in scenes {
        let one = measure(scene, FemModel::default(), 1)?;
        let two = measure(scene, FemModel::default(), 2)?;
        let (n, t) = (one.n_dofs as f64, mean(&one.step_s));
        let slope = before.map_or(String::new(), |(m, s)| {
            format!("{:.2}", (t / s).ln() / (n / m).ln())
        });
        before = Some((n, t));
        println!(
            "{:>8} {:>12.2} {:>12.2} {slope:>7} {:>7.1} {:>9.0} {:>6.0}% {:>8}  {}",
            one.n_dofs,
            1e3 * t,
            1e3 * mean(&two.step_s),
            whole_mean(&one.iterations),
            whole_mean(&one.contacts),
            100.0 * one.solve_share.unwrap_or_default(),
            one.untrusted.unwrap_or_default(),
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
