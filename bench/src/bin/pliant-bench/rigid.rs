//! Commands for `compare.py`: writes scenes, runs engines, measures the quality of results.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use pliant_bench::robot_dynamics::{Base, Questions};
use pliant_bench::{
    BenchError, ContactKind, Engine, Outcome, PliantEngine, Quality, Scene, SolverChoice,
    catalogue, measure, write_tetrahedra,
};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Writes a scene of the catalogue as JSON to standard output.
    Scene {
        /// Name of the scene.
        name: String,
    },
    /// Runs a scene once for each line on standard input and answers each with one line of JSON.
    Run {
        /// The engine.
        engine: EngineName,
        /// JSON file of the scene.
        scene: PathBuf,
        /// Root of the repository, from which the scene names model files.
        #[arg(long, default_value = ".")]
        root: PathBuf,
    },
    /// Measures the quality of a result, JSON on standard input.
    Quality {
        /// JSON file of the scene.
        scene: PathBuf,
        /// Root of the repository, from which the scene names mesh files.
        #[arg(long, default_value = ".")]
        root: PathBuf,
    },
    /// Writes the tetrahedra of compliant meshes, one VTK file for each body that has one.
    Tetrahedra {
        /// JSON file of the scene.
        scene: PathBuf,
        /// Output folder.
        folder: PathBuf,
        /// Root of the repository, from which the scene names mesh files.
        #[arg(long, default_value = ".")]
        root: PathBuf,
    },
    /// Times RNEA, CRBA, ABA and Jacobians once for each line on standard input.
    Dynamics {
        /// URDF file of the robot.
        urdf: PathBuf,
        /// With a floating base.
        #[arg(long)]
        floating: bool,
        /// Batches of 64 states in each round; the shortest counts.
        #[arg(long, default_value_t = 200)]
        batches: usize,
    },
    /// Runs a scene and prints the time of each stage of a step.
    Stages {
        /// Name of the scene in the catalogue.
        name: String,
        /// The engine.
        #[arg(long, default_value = "pliant")]
        engine: EngineName,
        /// Root of the repository.
        #[arg(long, default_value = ".")]
        root: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EngineName {
    /// pliant, lagged model.
    Pliant,
    /// pliant, similar model.
    PliantSimilar,
    /// pliant, SAP model.
    PliantSap,
    /// pliant, lagged model, contact patches.
    PliantPatches,
    /// pliant, SAP model, contact patches.
    PliantSapPatches,
    /// rapier3d-f64, with the feature `rapier`.
    #[cfg(feature = "rapier")]
    Rapier,
}

impl Command {
    pub(crate) fn run(self) -> Result<(), Box<dyn std::error::Error>> {
        match self {
            Self::Scene { name } => {
                let scene = catalogue::find(&name).ok_or_else(|| {
                    let names = catalogue::NAMES.join(", ");
                    format!("no scene \"{name}\"; there are {names}, clutter-N")
                })?;
                println!("{}", serde_json::to_string(&scene)?);
            }
            Self::Run {
                engine,
                scene,
                root,
            } => {
                let scene = read_scene(&scene)?;
                for line in std::io::stdin().lock().lines() {
                    line?;
                    println!(
                        "{}",
                        serde_json::to_string(&answer(engine, &scene, &root)?)?
                    );
                }
            }
            Self::Tetrahedra {
                scene,
                folder,
                root,
            } => write_tetrahedra(&read_scene(&scene)?, &root, &folder)?,
            Self::Quality { scene, root } => {
                let scene = read_scene(&scene)?;
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text)?;
                let outcome: Outcome = serde_json::from_str(&text)?;
                let quality = Quality::of(&scene, &outcome, &root)?;
                println!("{}", serde_json::to_string(&quality)?);
            }
            Self::Dynamics {
                urdf,
                floating,
                batches,
            } => {
                let base = if floating {
                    Base::Floating
                } else {
                    Base::Fixed
                };
                let mut questions = Questions::new(&urdf, base)?;
                for line in std::io::stdin().lock().lines() {
                    line?;
                    println!("{}", serde_json::to_string(&questions.time(batches))?);
                }
            }
            Self::Stages { name, engine, root } => stages(&name, engine, &root)?,
        }
        Ok(())
    }
}

fn choice(engine: EngineName) -> SolverChoice {
    match engine {
        EngineName::PliantSimilar => SolverChoice::Similar,
        EngineName::PliantSap | EngineName::PliantSapPatches => SolverChoice::Sap,
        _ => SolverChoice::Lagged,
    }
}

fn kind(engine: EngineName) -> ContactKind {
    match engine {
        EngineName::PliantPatches | EngineName::PliantSapPatches => ContactKind::Patches,
        _ => ContactKind::Points,
    }
}

fn answer(engine: EngineName, scene: &Scene, root: &Path) -> Result<Outcome, BenchError> {
    match engine {
        #[cfg(feature = "rapier")]
        EngineName::Rapier => {
            let mut engine = pliant_bench::RapierEngine::new(scene)?;
            measure("rapier3d-f64", &mut engine, scene)
        }
        _ => {
            let mut loaded = PliantEngine::new(scene, root, choice(engine), kind(engine))?;
            let model = match choice(engine) {
                SolverChoice::Lagged => "lagged",
                SolverChoice::Similar => "similar",
                SolverChoice::Sap => "sap",
            };
            let contact = match kind(engine) {
                ContactKind::Points => "",
                ContactKind::Patches => " patches",
            };
            measure(&format!("pliant {model}{contact}"), &mut loaded, scene)
        }
    }
}

fn stages(name: &str, engine: EngineName, root: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let scene = catalogue::find(name).ok_or("no such scene")?;
    let mut engine = PliantEngine::new(&scene, root, choice(engine), kind(engine))?;
    engine.advance(scene.warm_up_steps)?;
    let n = scene.n_steps() - scene.warm_up_steps;
    let mut sum = pliant_contact_sap::StageTimes::default();
    let mut worst = 0;
    let (mut evaluations, mut factorisations, mut contacts, mut untrusted) = (0, 0, 0, 0);
    let before = engine.iterations();
    let start = std::time::Instant::now();
    for _ in 0..n {
        engine.step()?;
        let solve = engine.last_solve();
        sum = sum + solve.stages;
        worst = worst.max(solve.iterations);
        evaluations += solve.line_search_evaluations;
        factorisations += solve.factorisations;
        contacts += engine.contacts();
        untrusted += usize::from(!solve.is_trusted());
    }
    let wall = start.elapsed();
    let per_step = |time: std::time::Duration| time.as_secs_f64() / n as f64 * 1e6;
    let solver = sum.set_up + sum.gradient + sum.assembly + sum.linear_solve + sum.line_search;
    let mean = |count: usize| count as f64 / n as f64;
    println!("{name}: {n} steps, us per step");
    for (stage, time) in [
        ("whole step", wall),
        ("outside the solver", wall.saturating_sub(solver)),
        ("solver: set-up", sum.set_up),
        ("solver: gradient", sum.gradient),
        ("solver: assembly", sum.assembly),
        ("solver: linear solve", sum.linear_solve),
        ("solver: line search", sum.line_search),
    ] {
        println!("  {stage:22} {:9.1}", per_step(time));
    }
    println!(
        "  contacts {:.1}, iterations {:.2} (max {worst}), line-search evaluations {:.1}, factorisations {:.1}, \
         untrusted steps {untrusted}",
        mean(contacts),
        mean(engine.iterations() - before),
        mean(evaluations),
        mean(factorisations)
    );
    Ok(())
}

fn read_scene(file: &Path) -> Result<Scene, BenchError> {
    let text = std::fs::read_to_string(file).map_err(|source| BenchError::Unreadable {
        file: file.display().to_string(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|source| BenchError::Json {
        what: file.display().to_string(),
        source,
    })
}
