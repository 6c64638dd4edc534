//! A block of 1 kg on four corners, on a slope, without rotation.
//!
//! ```text
//! sliding     x_n = n δt v₀ + a δt² n (n + 1)/2,  a = g (sin θ − μ cos θ)
//! stopping    v₀²/2|a| (1 − δt/T),  T = v₀/|a|
//! cold        attachments begin below the corners: μ > tan θ stops the block after a multiple of μ d that depends on μ/tan θ alone
//! ```
//!
//! The multiples are those of an independent program for the same equations of one particle.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_coupling::{
    Attachment, AttachmentMotion, AttachmentPlace, GeometryIdx, PenaltyForceSettings,
};
use pliant_hydroelastic::ContactMaterial;

use super::PenaltyRun;
use crate::validate::test_world::{G, Model, Outcome, TestWorld, material};
use crate::validate::{CaseLength, Finding};

const EDGE: f64 = 0.1;
const SLOPE: f64 = 0.1125;
const SPEED: f64 = 0.1;

#[derive(Clone, Copy)]
struct Block {
    slope: f64,
    friction: f64,
    /// Of all corners, N/m per kg.
    stiffness: f64,
    mass: f64,
    speed: f64,
    time_step_s: f64,
    /// How far attachments are behind their corners, in μ d; `None` for none at the start.
    behind: Option<f64>,
}

impl Block {
    fn depth(&self) -> f64 {
        G / 1.0_f64.hypot(self.slope) / self.stiffness
    }

    fn acceleration(&self) -> f64 {
        G * (self.slope - self.friction) / 1.0_f64.hypot(self.slope)
    }

    fn start(&self) -> Outcome<PenaltyRun> {
        let surface = ContactMaterial {
            relaxation_time_s: 0.0,
            ..material(self.stiffness * self.mass / 4.0, self.friction)
        };
        let mut setup = TestWorld::new(Model::Lagged, surface);
        let down = Vector3::new(self.slope, 0.0, -1.0).normalize();
        setup.builder.gravity(down * G);
        let floor = setup.floor(Isometry3::identity());
        let at = Isometry3::translation(0.0, 0.0, 0.5 * EDGE - self.depth());
        let v = [0.0, 0.0, 0.0, self.speed, 0.0, 0.0];
        let body = setup.free_box("block", Vector3::repeat(EDGE), self.mass, at, v)?;
        let settings = PenaltyForceSettings {
            tolerance: 1e-12,
            box_particles: 2,
            ..PenaltyForceSettings::default()
        };
        let mut run = PenaltyRun::new(setup.builder.build()?, settings, self.time_step_s)?;
        let still = Some(0.0);
        run.state.controls[body.0].held = vec![still, still, still, None, None, None];
        if let Some(share) = self.behind {
            let behind = share * self.friction * self.depth();
            run.state.memory.attachments = below_corners(floor, behind);
        }
        Ok(run)
    }

    /// The path for a time (s), one place after each step.
    fn path(&self, until_s: f64) -> Outcome<Vec<f64>> {
        let mut run = self.start()?;
        let steps = (until_s / self.time_step_s).round() as usize;
        (0..steps)
            .map(|_| run.trusted_step().map(|_| run.state.bodies[0].q[0]))
            .collect()
    }
}

/// Attachments of the lower corners, in the order of the particles of a box, behind them by `behind` (m).
fn below_corners(object: GeometryIdx, behind: f64) -> Vec<Attachment> {
    let side = |particle: u32, axis: u32| match particle >> axis & 1 {
        0 => -0.5 * EDGE,
        _ => 0.5 * EDGE,
    };
    let attachment = |particle| Attachment {
        object,
        particles: GeometryIdx(1),
        particle,
        on_edge: None,
        place: AttachmentPlace::InFrame(Point3::new(
            side(particle, 0) - behind,
            side(particle, 1),
            0.0,
        )),
        motion: AttachmentMotion::default(),
    };
    (0..4).map(attachment).collect()
}

const BLOCK: Block = Block {
    slope: SLOPE,
    friction: 0.1,
    stiffness: 1e3,
    mass: 1.0,
    speed: SPEED,
    time_step_s: 1e-2,
    behind: Some(1.0),
};

pub(super) fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let mut findings = Vec::new();
    for (stiffness, time_step_s) in [(1e3, 1e-2), (1e3, 1e-3), (1e6, 1e-2)] {
        findings.push(sliding(stiffness, time_step_s)?);
    }
    let mut stops = vec![(1e3, 1e-2), (1e3, 1e-3), (1e5, 1e-2), (1e6, 1e-2)];
    if length == CaseLength::Full {
        stops.extend([(1e2, 1e-3), (1e3, 1e-4), (1e8, 1e-2)]);
    }
    for (stiffness, time_step_s) in stops {
        findings.push(stopping(stiffness, time_step_s)?);
    }
    let slopes: &[f64] = match length {
        CaseLength::Quick => &[0.2],
        CaseLength::Full => &[0.05, 0.1, 0.2, 0.4, 0.8],
    };
    for &slope in slopes {
        for (ratio, travel) in [(1.01, 13.11), (1.05, 3.05), (1.2, 1.0)] {
            findings.push(cold(slope, ratio, travel)?);
        }
    }
    findings.push(drift(length)?);
    findings.push(unit_of_mass()?);
    Ok(findings)
}

fn sliding(stiffness: f64, time_step_s: f64) -> Outcome<Finding> {
    let block = Block {
        stiffness,
        time_step_s,
        ..BLOCK
    };
    let (a, dt) = (block.acceleration(), time_step_s);
    let path = block.path(0.5)?;
    let errors = path.iter().zip(1..).map(|(x, n)| {
        let n = f64::from(n);
        (x - n * dt * SPEED - a * dt * dt * n * (n + 1.0) / 2.0).abs()
    });
    Ok(Finding::at_most(
        format!("penalty-slope: error of the discrete law (m), k = {stiffness:e}, dt = {dt}"),
        errors.fold(0.0, f64::max),
        1e-10,
        "backward Euler: x_n = n dt v0 + a dt^2 n (n + 1)/2",
    ))
}

fn stopping(stiffness: f64, time_step_s: f64) -> Outcome<Finding> {
    let block = Block {
        friction: 0.125,
        stiffness,
        time_step_s,
        ..BLOCK
    };
    let farthest = block.path(1.2)?.into_iter().fold(0.0, f64::max);
    let expected = 0.041_031_9 * (1.0 - time_step_s / 0.820_639);
    Ok(Finding::equals(
        format!("penalty-slope: stop (m), k = {stiffness:e}, dt = {time_step_s}"),
        farthest,
        expected,
        5e-4 * expected,
        "v0^2/2|a| less the first-order error; Newton's method without a search passes 0.0607 m at k = 1e6, dt = 0.01",
    ))
}

fn cold(slope: f64, ratio: f64, travel: f64) -> Outcome<Finding> {
    let block = Block {
        slope,
        friction: ratio * slope,
        stiffness: 1e4,
        speed: 0.0,
        behind: Some(0.0),
        ..BLOCK
    };
    let path = block.path(20.0)?;
    let end = path[path.len() - 1];
    Ok(Finding::equals(
        format!(
            "penalty-slope: travel over mu d from cold attachments, tan theta = {slope}, mu/tan theta = {ratio}"
        ),
        end / (block.friction * block.depth()),
        travel,
        0.01,
        "one particle on the same springs, an independent program; the same for all slopes",
    ))
}

fn drift(length: CaseLength) -> Outcome<Finding> {
    let block = Block {
        friction: 0.125,
        speed: 0.0,
        behind: Some(0.9),
        ..BLOCK
    };
    let mut run = block.start()?;
    for _ in 0..1000 {
        let _ = run.trusted_step()?;
    }
    let (x, attachments) = (
        run.state.bodies[0].q[0],
        run.state.memory.attachments.clone(),
    );
    let steps = match length {
        CaseLength::Quick => 3_000,
        CaseLength::Full => 100_000,
    };
    for _ in 0..steps {
        let _ = run.trusted_step()?;
    }
    let changed = match run.state.memory.attachments == attachments {
        true => 0.0,
        false => f64::INFINITY,
    };
    Ok(Finding::at_most(
        format!(
            "penalty-slope: drift (m) in {steps} steps of static friction, attachments bitwise fixed"
        ),
        (run.state.bodies[0].q[0] - x).abs() + changed,
        1e-12,
        "attachments in static friction do not move",
    ))
}

fn unit_of_mass() -> Outcome<Finding> {
    let of = |mass: f64| {
        let block = Block {
            friction: 0.125,
            stiffness: 1e4,
            mass,
            behind: None,
            ..BLOCK
        };
        block.path(1.5)
    };
    let (heavy, light) = (of(1.0)?, of(1e-6)?);
    let apart = heavy.iter().zip(light).map(|(a, b)| (a - b).abs());
    Ok(Finding::at_most(
        "penalty-slope: difference (m) of paths where masses and stiffnesses are scaled by 1e-6"
            .into(),
        apart.fold(0.0, f64::max),
        1e-9,
        "only ratios enter the equations; catches a stopping test in mixed units",
    ))
}
