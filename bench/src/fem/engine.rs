//! A world of deformable bodies in pliant, stepped and timed.

use std::sync::Arc;
use std::time::Instant;

use nalgebra::Vector3;
use pliant_constitutive::Lame;
use pliant_contact_sap::{LinearAlgebra, Newton, NewtonSettings, StopCriteria, StopReason};
use pliant_coupling::{
    Geometry, Mount, State, StepReport, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_fem::{Axis, FemBuilder, LinearCorotated, Rayleigh, Region, Rotation};
use pliant_hydroelastic::mesh::TetMesh;
use pliant_hydroelastic::{ContactMaterial, Shape};
use serde::{Deserialize, Serialize};

use crate::cpu_time::thread_cpu_s;
use crate::error::BenchError;
use crate::fem::scene::{FemMesh, FemScene};

/// Drake's contact of soft bodies has this stiffness by area, Pa/m.
const STIFFNESS_PER_AREA: f64 = 1e8;

/// A world of soft bodies, its state, and a stepper.
pub struct FemEngine {
    world: World,
    state: State,
    next: State,
    stepper: StrongImplicit<Newton>,
    time_step_s: f64,
    n_dofs: usize,
}

/// Result of a run. The program of the baseline prints the same JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FemOutcome {
    /// Who ran.
    pub engine: String,
    /// Velocities of all bodies, held ones included.
    pub n_dofs: usize,
    /// Wall time of each step, s.
    pub step_s: Vec<f64>,
    /// Processor time of a step on average, s, where the engine tells.
    pub cpu_s: Option<f64>,
    /// Steps that were taken and are not to be trusted, for friction or for pairs that may have passed through each other; where the
    /// engine tells.
    pub untrusted: Option<usize>,
    /// Contact points of each step, where the engine tells.
    pub contacts: Vec<usize>,
    /// Newton's iterations of each step, where the engine tells.
    pub iterations: Vec<usize>,
    /// Share of the time that is spent in the contact problem, where the engine tells.
    pub solve_share: Option<f64>,
    /// How its systems were solved, where the engine tells.
    pub systems: Option<String>,
    /// Mean height of the vertices of the last body at the end, m.
    pub height: f64,
    /// Largest memory that the process had, KiB.
    pub peak_kib: u64,
}

/// Options of the solution method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FemModel {
    /// Linear solver of Newton's method.
    pub linear_algebra: LinearAlgebra,
    /// Treatment of element rotations; lagged in Drake.
    pub rotation: Rotation,
}

impl FemEngine {
    /// Builds the world of `scene`.
    ///
    /// # Errors
    /// [`BenchError`] for a scene that cannot be built.
    pub fn new(scene: &FemScene, model: FemModel) -> Result<Self, BenchError> {
        let mut builder = WorldBuilder::default();
        let material = ContactMaterial {
            stiffness: STIFFNESS_PER_AREA,
            dissipation: 10.0,
            friction: scene.friction,
            ..ContactMaterial::default()
        };
        let lame = Lame::from_young_poisson(scene.youngs_modulus, scene.poissons_ratio)?;
        let law = Arc::new(LinearCorotated::new(lame));
        let mesh = scene.mesh.build()?;
        for (k, body) in scene.bodies.iter().enumerate() {
            let mut soft = FemBuilder::new(mesh.clone(), law.clone(), scene.density)
                .rotation(model.rotation)
                .damping(Rayleigh {
                    mass: 0.0,
                    stiffness: scene.damping_s,
                })
                .pose(body.pose.isometry());
            if let Some(wall) = scene.wall {
                let region = Region::HalfSpace {
                    point: Vector3::x() * wall.x,
                    normal: Vector3::x(),
                };
                soft = soft.fix(region, &Axis::ALL);
            }
            let name = format!("body {k}");
            let index = builder.add_body(&name, Box::new(soft.build()?.0));
            if scene.hook.is_some() {
                builder.add_geometry(Geometry::of_surface(&name, index, material));
                builder.exclude(pliant_coupling::Exclusion::Bodies(index, index));
            }
        }
        if let Some(hook) = scene.hook {
            let shape = boundary(&FemMesh::link().build()?)?;
            let mount = Mount::World(hook.pose.isometry());
            builder.add_geometry(Geometry::new("hook", mount, shape, material));
        }
        let world = builder.build()?;
        let state = world.default_state();
        let stepper = StrongImplicit::new(Newton::new(NewtonSettings {
            stop: StopCriteria::default(),
            linear_algebra: model.linear_algebra,
            ..NewtonSettings::default()
        }));
        Ok(Self {
            n_dofs: state.bodies.iter().map(|body| body.v.len()).sum(),
            state,
            next: State::default(),
            stepper,
            time_step_s: scene.time_step_s,
            world,
        })
    }

    /// Takes one step.
    ///
    /// # Errors
    /// A step that was not taken, or whose solver missed its tolerance.
    pub fn step(&mut self) -> Result<StepReport, BenchError> {
        let dt = self.time_step_s;
        let report = self
            .stepper
            .step(&self.world, &self.state, dt, &mut self.next)?;
        if report.convergence.solve.stop == StopReason::IterationLimit {
            return Err(BenchError::Unconverged {
                time_s: self.next.time_s,
            });
        }
        std::mem::swap(&mut self.state, &mut self.next);
        Ok(report)
    }

    /// Mean height of the vertices of the last body, m.
    #[must_use]
    pub fn height(&self) -> f64 {
        let last = self.state.bodies.last().map_or(&[][..], |body| &body.q);
        let heights = last.chunks_exact(3).map(|p| p[2]);
        heights.sum::<f64>() / (last.len() / 3).max(1) as f64
    }
}

/// The boundary of tetrahedra as a rigid shape.
fn boundary(mesh: &TetMesh) -> Result<Shape, BenchError> {
    let (surface, _) = mesh.boundary_surface()?;
    Shape::from_surface(&surface).map_err(|source| BenchError::Shape {
        name: "hook".into(),
        source,
    })
}

/// Runs `scene` and times every step after the warm-up.
///
/// # Errors
/// Any error of the engine.
pub fn measure_fem(scene: &FemScene, model: FemModel) -> Result<FemOutcome, BenchError> {
    let mut engine = FemEngine::new(scene, model)?;
    let rotation = match model.rotation {
        Rotation::Followed => "",
        Rotation::Lagged => ", lagged",
    };
    let mut outcome = FemOutcome {
        engine: format!("pliant, {}{rotation}", model.linear_algebra),
        n_dofs: engine.n_dofs,
        ..FemOutcome::default()
    };
    for _ in 0..scene.warm_up_steps {
        let _ = engine.step()?;
    }
    let mut systems = pliant_contact_sap::LinearSystems::default();
    let (mut in_solver, mut untrusted) = (0.0, 0);
    let before = thread_cpu_s();
    for _ in 0..scene.steps {
        let start = Instant::now();
        let report = engine.step()?;
        outcome.step_s.push(start.elapsed().as_secs_f64());
        outcome.contacts.push(report.contacts.len());
        outcome.iterations.push(report.convergence.solve.iterations);
        untrusted += usize::from(!report.is_trusted());
        systems = systems + report.convergence.solve.systems;
        let s = &report.convergence.solve.stages;
        let stages = s.set_up + s.gradient + s.assembly + s.linear_solve + s.line_search;
        in_solver += stages.as_secs_f64();
    }
    let cpu = before.zip(thread_cpu_s());
    outcome.cpu_s = cpu.map(|(before, after)| (after - before) / scene.steps.max(1) as f64);
    outcome.solve_share = Some(in_solver / outcome.step_s.iter().sum::<f64>());
    outcome.untrusted = Some(untrusted);
    outcome.systems = Some(systems.to_string());
    outcome.height = engine.height();
    outcome.peak_kib = peak_memory_kib();
    Ok(outcome)
}

/// Peak memory of this process, KiB; 0 if the system does not report it.
#[must_use]
pub fn peak_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}
