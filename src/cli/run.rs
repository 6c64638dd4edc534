//! `pliant run`.

mod summary_text;

use std::fs::{File, TryLockError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::live::Window;
use crate::recording::{Frame, Recording};
use crate::registry::Registry;
use crate::runner::{
    Assembly, Checkpoint, ParameterFault, ParticleDetail, Progress, Push, RunEnd, RunError,
    RunHooks, RunInputs, RunLength, RunOptions, RunOutcome, RunSummary, SavedError, run,
    run_with_hooks,
};
use crate::scene::{ParameterOverride, Scene, SceneFingerprint, SceneOptions};
use clap::Args;
use pliant_coupling::State;
use serde::Serialize;

use super::interrupt::Interrupt;
use super::notes::Notes;
use super::output::{COLUMNS, ProgressLine, number, print, say, say_text};
use super::packages::{add_packages, parse_package};
use super::{Ending, Failure};
pub(super) use summary_text::allowed;
use summary_text::{report, unjudged, warnings};

#[derive(Args)]
pub(super) struct RunArguments {
    /// A bundled scene (see `pliant scenes`) or the path of a scene file
    scene: String,
    /// Folder for replay.html and the tables
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Simulated time at which to end, s
    #[arg(
        long,
        value_name = "T",
        conflicts_with = "full",
        allow_negative_numbers = true
    )]
    until: Option<f64>,
    /// Run the scene's full length instead of its short run
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    settings: SceneSettings,
    /// What takes the substeps of the asynchronous stepper
    #[arg(long, value_name = "D", value_parser = ["cpu", "gpu", "auto"])]
    device: Option<String>,
    /// Simulated time between checkpoints, s: `checkpoint.json` in the folder
    #[arg(long, value_name = "T", value_parser = parse_time_step, allow_negative_numbers = true)]
    checkpoint_every: Option<f64>,
    /// Goes on from a checkpoint of the same scene
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Repeats what came into an earlier run from its live window: its `inputs.json`
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Show the run in a browser while it goes on: prints an address to open
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    live_options: super::live::LiveOptions,
    /// Print one JSON object about the run on stdout
    #[arg(long)]
    json: bool,
    /// Also write a ParaView series, and NumPy files of deforming bodies: positions, and states of particles
    #[arg(long)]
    paraview: bool,
}

/// Values that override those of a scene file.
#[derive(Args, Clone)]
pub(super) struct SceneSettings {
    /// Solver of the contact problem
    #[arg(long, value_name = "S")]
    pub(super) solver: Option<String>,
    /// Time step, s
    #[arg(long, value_name = "DT", value_parser = parse_time_step, allow_negative_numbers = true)]
    pub(super) time_step: Option<f64>,
    /// Value of a parameter, a number or an expression such as angle=20*deg, or of any key, such as contact.model=sap or
    /// rods.cord.model=capsule-chain; may be repeated
    #[arg(long = "set", value_name = "K=V")]
    pub(super) parameters: Vec<ParameterOverride>,
    /// Folder that `package://NAME/` refers to in robot files; may be repeated
    #[arg(long = "package", value_name = "NAME=DIR", value_parser = parse_package)]
    pub(super) packages: Vec<(String, PathBuf)>,
}

impl SceneSettings {
    pub(super) fn options(&self, registry: &Registry) -> SceneOptions {
        SceneOptions {
            parameters: self.parameters.clone(),
            time_step_s: self.time_step,
            solver: self.solver.clone(),
            registry: registry.clone(),
        }
    }
}

pub(super) fn parse_time_step(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(dt) if dt > 0.0 && dt.is_finite() => Ok(dt),
        _ => Err("a time step is a positive number of seconds".into()),
    }
}

/// More threads than this are a mistake.
const THREADS_MAX: usize = 1024;

/// Sets the number of threads of the whole program.
pub(super) fn use_threads(threads: Option<usize>) -> Result<(), Failure> {
    if let Some(threads) = threads {
        if !(1..=THREADS_MAX).contains(&threads) {
            return Err(format!("--threads must be from 1 to {THREADS_MAX}, not {threads}").into());
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()?;
    }
    Ok(())
}

pub(super) fn main(arguments: &RunArguments, registry: &Registry) -> Result<Ending, Failure> {
    use_threads(arguments.threads)?;
    let mut options = arguments.settings.options(registry);
    if let Some(device) = &arguments.device {
        options
            .parameters
            .push(format!("simulation.device={device}").parse()?);
    }
    let mut scene = Scene::load(&arguments.scene, &options)?;
    add_packages(&mut scene, &arguments.settings.packages);
    let length = match (arguments.until, arguments.full) {
        (Some(until_s), _) if until_s > 0.0 && until_s.is_finite() => RunLength::Until(until_s),
        (Some(until_s), _) => {
            return Err(format!("--until {until_s}: must be a positive time in s").into());
        }
        (None, true) => RunLength::Full,
        (None, false) => RunLength::Smoke,
    };
    // Checks before the run, which may take long, that the output can be written.
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| format!("--out {}: {error}", arguments.out.display()))?;
    let _held = hold(&arguments.out)?;
    let particles = match arguments.paraview {
        true => ParticleDetail::States,
        false => ParticleDetail::Shown,
    };
    let resumed = match &arguments.resume {
        Some(path) => Some(resumed(&scene, path, &arguments.out)?),
        None => None,
    };
    let (start, past, saved_from) = match resumed {
        Some(from) => (Some(from.state), Some(from.inputs), Some(from.scene)),
        None => (None, None, None),
    };
    let inputs = match &arguments.inputs {
        Some(path) => Some(RunInputs::load(path)?),
        None => past,
    };
    let checkpoint = arguments.out.join("checkpoint.json");
    let mut watch = Watch::new(&scene, &checkpoint, arguments.checkpoint_every)?;
    let options = RunOptions {
        length,
        particles,
        recording_in: Some(arguments.out.clone()),
        inputs,
        saved_from,
        cancellation: watch.interrupt.cancellation(),
    };
    let mut window = match arguments.live {
        true => Some(arguments.live_options.open(&scene)?),
        false => None,
    };
    let run = with_progress(&scene, start, &options, &mut watch, window.as_mut());
    if let Some(window) = &window {
        let has_ended = run.as_ref().is_ok_and(|run| run.end == RunEnd::Complete);
        window.close(if has_ended { "ended" } else { "interrupted" });
    }
    let (outcome, fault) = match run {
        Ok(outcome) => (outcome, None),
        Err(mut error) => match error.take_outcome() {
            Some(outcome) => (outcome, Some(error)),
            None => return Err(error.into()),
        },
    };
    // Before any word: who reads them may be gone.
    let written = write_results(&outcome, arguments, &watch);
    let notes = Notes::of(&outcome.notes);
    say_text(&notes.text(COLUMNS));
    for file in written? {
        say!("wrote {}", file.display());
    }
    if let Some(fault) = fault {
        let until_s = number(outcome.state.time_s);
        return Err(
            format!("{fault}; the files end with the last good state, at {until_s} s").into(),
        );
    }
    let summary = &outcome.summary;
    let unjudged = unjudged(summary, scene.simulation.full_s);
    if arguments.json {
        let report = JsonReport {
            summary,
            notes: notes.note(unjudged).warn(warnings(summary)),
        };
        print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        print(&report(summary))?;
        if let Some(unjudged) = unjudged {
            print(&format!("{unjudged}\n"))?;
        }
    }
    if let Some(fault) = watch.fault {
        return Err(fault.into());
    }
    if outcome.end == RunEnd::Early {
        say!(
            "interrupted at {} s; `--resume` goes on from checkpoint.json",
            number(outcome.state.time_s)
        );
        return Ok(Ending::Interrupted);
    }
    Ok(if summary.is_as_expected() {
        Ending::AsExpected
    } else {
        Ending::NotAsExpected
    })
}

/// The object of `--json`.
#[derive(Serialize)]
struct JsonReport<'a> {
    #[serde(flatten)]
    summary: &'a RunSummary,
    #[serde(flatten)]
    notes: Notes,
}

/// Writes the files of a run, the small ones first: what is lost when the disk is full is what matters least.
fn write_results(
    outcome: &RunOutcome,
    arguments: &RunArguments,
    watch: &Watch<'_>,
) -> Result<Vec<PathBuf>, Failure> {
    let (recording, out) = (&outcome.recording, &arguments.out);
    let mut files = Vec::new();
    if outcome.end == RunEnd::Early {
        let Watch {
            checkpoint,
            fingerprint,
            ..
        } = watch;
        Checkpoint::new(&outcome.state, &outcome.inputs, fingerprint).save(checkpoint)?;
        files.push((*checkpoint).to_owned());
    }
    if !outcome.inputs.is_empty() {
        let inputs = out.join("inputs.json");
        outcome.inputs.save(&inputs)?;
        files.push(inputs);
    }
    files.extend(recording.write_to(out)?);
    files.extend(recording.write_images(out)?);
    if arguments.paraview {
        files.push(recording.write_paraview(out)?);
        let deformed = out.join("deformed.npz");
        if recording.write_deformed_npz(&deformed)? {
            files.push(deformed);
        }
        let patches = out.join("patches.npz");
        if recording.write_patches_npz(&patches)? {
            files.push(patches);
        }
    }
    Ok(files)
}

/// Keeps the folder for this run until the file is closed. Where a folder can't be locked, nothing is kept.
fn hold(out: &Path) -> Result<Option<File>, Failure> {
    let Ok(folder) = File::open(out) else {
        return Ok(None);
    };
    match folder.try_lock() {
        Err(TryLockError::WouldBlock) => Err(format!(
            "--out {}: another run writes into this folder; wait for its end, or give another folder",
            out.display()
        )
        .into()),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Some(folder)),
    }
}

/// A checkpoint of the scene, whose results are not those that `out` is for.
fn resumed(scene: &Scene, path: &Path, out: &Path) -> Result<Checkpoint, Failure> {
    let checkpoint = Checkpoint::load(path)?;
    let folder = path.canonicalize()?.parent().map(Path::to_owned);
    if folder == Some(out.canonicalize()?) {
        return Err(format!(
            "--out {}: has the results until the checkpoint, which would be overwritten; give another folder, such as `--out {}-resumed`",
            out.display(),
            out.display()
        )
        .into());
    }
    let saved = &checkpoint.inputs.scene;
    if saved != scene.name() {
        return Err(format!(
            "--resume {}: a checkpoint of the scene {saved:?}, not of {:?}",
            path.display(),
            scene.name()
        )
        .into());
    }
    Ok(checkpoint)
}

/// What happens after each step: progress, checkpoints, and the end by a signal.
struct Watch<'a> {
    scene: &'a Scene,
    /// Of the scene, once the run has begun.
    fingerprint: SceneFingerprint,
    checkpoint: &'a Path,
    every_steps: Option<u64>,
    interrupt: Interrupt,
    fault: Option<SavedError>,
}

impl<'a> Watch<'a> {
    fn new(scene: &'a Scene, checkpoint: &'a Path, every_s: Option<f64>) -> Result<Self, Failure> {
        let steps = |every_s: f64| (every_s / scene.simulation.time_step_s).round().max(1.0) as u64;
        Ok(Self {
            scene,
            fingerprint: SceneFingerprint::default(),
            checkpoint,
            every_steps: every_s.map(steps),
            interrupt: Interrupt::listen()?,
            fault: None,
        })
    }

    fn see(&mut self, state: &State, inputs: &RunInputs) -> ControlFlow<()> {
        if self
            .every_steps
            .is_some_and(|every| state.step.is_multiple_of(every))
        {
            let saved = Checkpoint::new(state, inputs, &self.fingerprint).save(self.checkpoint);
            self.fault = saved.err();
        }
        match self.fault.is_some() || self.interrupt.has_come() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Runs a scene with progress on stderr.
pub(super) fn run_with_progress(
    scene: &Scene,
    options: &RunOptions,
) -> Result<RunOutcome, RunError> {
    let mut line = ProgressLine::new();
    // On a worker of the pool: work from other threads would be handed over in small pieces.
    let outcome = rayon::scope(|_| run(scene, options, &mut |progress| line.show(progress)));
    line.end();
    outcome
}

fn with_progress(
    scene: &Scene,
    start: Option<State>,
    options: &RunOptions,
    watch: &mut Watch<'_>,
    window: Option<&mut Window>,
) -> Result<RunOutcome, RunError> {
    let line = ProgressLine::new();
    let mut hooks = CommandLineHooks {
        line,
        watch,
        window,
    };
    let outcome = rayon::scope(|_| run_with_hooks(scene, start, options, &mut hooks));
    hooks.line.end();
    outcome
}

/// Progress, checkpoints, signals, and the live window if there is one.
struct CommandLineHooks<'a, 's> {
    line: ProgressLine,
    watch: &'a mut Watch<'s>,
    window: Option<&'a mut Window>,
}

impl RunHooks for CommandLineHooks<'_, '_> {
    fn begin(&mut self, recording: &Recording, assembly: &Assembly) {
        self.watch.fingerprint = SceneFingerprint::of(self.watch.scene, &assembly.world);
        if let Some(window) = &mut self.window {
            window.begin(recording, assembly);
            let interrupt = &self.watch.interrupt;
            let _ended = window.wait(&assembly.state, &|| interrupt.has_come());
        }
    }

    fn pushes(&mut self, assembly: &Assembly, state: &State) -> Vec<Push> {
        match &mut self.window {
            Some(window) => window.pushes(assembly, state),
            None => Vec::new(),
        }
    }

    fn parameters(&mut self) -> Vec<(String, f64)> {
        match &mut self.window {
            Some(window) => window.parameters(),
            None => Vec::new(),
        }
    }

    fn changed(&mut self, name: &str, value: f64, result: Result<(), ParameterFault>) {
        if let Some(window) = &mut self.window {
            window.changed(name, value, result);
        }
    }

    fn row(&mut self, time_s: f64, values: &[f64]) {
        if let Some(window) = &mut self.window {
            window.row(time_s, values);
        }
    }

    fn frame(&mut self, frame: &Frame) {
        if let Some(window) = &mut self.window {
            window.frame(frame);
        }
    }

    fn step(&mut self, progress: &Progress, state: &State, inputs: &RunInputs) -> ControlFlow<()> {
        self.line.show(progress);
        self.watch.see(state, inputs)?;
        let interrupt = &self.watch.interrupt;
        match &mut self.window {
            Some(window) => window.wait(state, &|| interrupt.has_come()),
            None => ControlFlow::Continue(()),
        }
    }
}
