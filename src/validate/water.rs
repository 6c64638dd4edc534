//! Water in explicit substeps: a standing wave, syrup in a slot, and the front of a broken dam.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::{ConvexContactSolver, SolverKind, StopCriteria};
use pliant_coupling::{
    Asynchronous, AsynchronousSettings, State, Stepper, StrongImplicit, World, WorldBuilder,
};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    Liquid, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Sampling, Tension, Wall, WallKind,
    fill,
};

use super::test_world::{G, Outcome};
use super::{Case, CaseKind, CaseLength, Finding};

pub(super) const CASE: Case = Case {
    name: "water",
    about: "a standing wave, syrup in a slot, and the front of a broken dam, in explicit substeps",
    kind: CaseKind::Function(run),
    needs: None,
};

const DENSITY: f64 = 1000.0;

fn run(length: CaseLength) -> Outcome<Vec<Finding>> {
    let is_full = length == CaseLength::Full;
    let mut findings = Vec::new();
    findings.extend(slosh(if is_full { 10.0 } else { 1.2 })?);
    let viscosities: &[f64] = match is_full {
        true => &[0.001, 0.05, 1.0, 10.0, 50.0],
        false => &[],
    };
    for viscosity in viscosities {
        findings.push(slot(*viscosity)?);
    }
    let grids: &[usize] = if is_full { &[8, 12, 16] } else { &[8] };
    for cells in grids {
        findings.push(dam(*cells)?);
    }
    Ok(findings)
}

/// A slice of a tank two cells thick.
struct Tank {
    length: f64,
    h: f64,
    /// At both ends.
    ends: WallKind,
    has_floor: bool,
    gravity: f64,
}

/// Water in a tank.
struct Flow {
    model: MaterialPoints,
    world: World,
    stepper: Asynchronous<Box<dyn ConvexContactSolver>>,
    state: State,
    next: State,
}

impl Tank {
    /// Water in the tank from one end on, of a length and a depth, below `surface` of x.
    fn filled(
        &self,
        (length, depth): (f64, f64),
        liquid: Liquid,
        surface: impl Fn(f64) -> f64,
    ) -> Outcome<Flow> {
        let size = Vector3::new(length, 2.0 * self.h, depth);
        let shape = Shape::cuboid(size)?;
        let pose = Isometry3::from(0.5 * size);
        let mut set = fill("water", &shape, &pose, self.h, Sampling::default())?;
        set.points.retain(|p| p.z < surface(p.x));
        let mut points = MpmBuilder::new(MpmSettings::new(self.h));
        points.object(ObjectSpec::new("water", Arc::new(liquid), DENSITY, set));
        let slides = WallKind::Slides;
        let mut walls = vec![
            (Vector3::zeros(), Vector3::x(), self.ends),
            (Vector3::x() * self.length, -Vector3::x(), self.ends),
            (Vector3::zeros(), Vector3::y(), slides),
            (Vector3::y() * size.y, -Vector3::y(), slides),
        ];
        if self.has_floor {
            walls.push((Vector3::zeros(), Vector3::z(), slides));
        }
        for (p_WQ, normal_W, kind) in walls {
            points.wall(Wall {
                p_WQ: Point3::from(p_WQ),
                normal_W,
                kind,
            });
        }
        let model = points.build()?;
        let mut builder = WorldBuilder::default();
        builder.gravity(Vector3::new(0.0, 0.0, -self.gravity));
        builder.add_body("water", Box::new(model.clone()));
        let world = builder.build()?;
        let rigid = StrongImplicit::new(SolverKind::Newton.build(StopCriteria::default()));
        Ok(Flow {
            model,
            stepper: Asynchronous::new(rigid, AsynchronousSettings::default())?,
            state: world.default_state(),
            next: State::default(),
            world,
        })
    }
}

impl Flow {
    fn step(&mut self, step_s: f64) -> Outcome<()> {
        let report = (self.stepper).step(&self.world, &self.state, step_s, &mut self.next)?;
        if let Some(untrusted) = report.untrusted() {
            return Err(untrusted.describe(&self.world).into());
        }
        std::mem::swap(&mut self.state, &mut self.next);
        Ok(())
    }

    /// Positions and velocities of all particles.
    fn particles(&self) -> impl Iterator<Item = (Vector3<f64>, Vector3<f64>)> {
        let particles = self.model.particles(&self.state.bodies[0]);
        particles.map(|p| (p.p_WP.coords, p.v_WP))
    }

    fn mean(&self, of: impl Fn(Vector3<f64>) -> f64) -> f64 {
        let (sum, n) = self
            .particles()
            .fold((0.0, 0.0), |(sum, n), (x, _)| (sum + of(x), n + 1.0));
        sum / n
    }
}

/// A standing wave of half a wave in a tank: its period, and the level of the water after `time_s`.
fn slosh(time_s: f64) -> Outcome<[Finding; 2]> {
    const STEP_S: f64 = 5e-3;
    let (length, depth, amplitude) = (0.5, 0.2, 0.02);
    let tank = Tank {
        length,
        h: depth / 10.0,
        ends: WallKind::Slides,
        has_floor: true,
        gravity: G,
    };
    let liquid = Liquid::for_depth(depth, DENSITY, G)?.with_viscosity(0.001)?;
    let surface = |x: f64| depth + amplitude * (PI * x / length).cos();
    let mut flow = tank.filled((length, depth + amplitude), liquid, surface)?;
    let d = 0.5 * tank.h;
    let depth = flow.particles().count() as f64 * d.powi(3) / (length * 2.0 * tank.h);
    let mode = |flow: &Flow| flow.mean(|x| (PI * x.x / length).cos());
    let (mut last, mut zeros, mut levels) = (mode(&flow), Vec::new(), Vec::new());
    while flow.state.time_s < time_s {
        flow.step(STEP_S)?;
        let next = mode(&flow);
        if next * last < 0.0 {
            zeros.push(flow.state.time_s - STEP_S * next / (next - last));
        }
        last = next;
        levels.push(2.0 * flow.mean(|x| x.z) / depth);
    }
    let period = 2.0 * (zeros[zeros.len() - 1] - zeros[0]) / (zeros.len() - 1) as f64;
    let wave_number = PI / length;
    let small = TAU / (G * wave_number * (wave_number * depth).tanh()).sqrt();
    let last_period = &levels[levels.len() - (period / STEP_S) as usize..];
    let level = last_period.iter().sum::<f64>() / last_period.len() as f64;
    Ok([
        Finding::equals(
            "water: period of a standing wave over that of small waves".into(),
            period / small,
            1.0,
            0.02,
            "linear waves: ω² = g k tanh(kH)",
        ),
        Finding::equals(
            format!("water: level after {time_s} s of sloshing over that of its volume"),
            level,
            1.0,
            0.01,
            "the volume of water is constant",
        ),
    ])
}

/// Speed in the middle of a slot over the theory, 0.06 s after the liquid is released; a²/ν = 0.1 s.
fn slot(viscosity: f64) -> Outcome<Finding> {
    let a = (0.1 * viscosity / DENSITY).sqrt();
    let h = a / 4.0;
    // The liquid passes three cells meanwhile; sound is 20 times as fast as the flow would become.
    let gravity = 700.0 * a;
    let sound = 20.0 * gravity * 0.05;
    let tank = Tank {
        length: 2.0 * a,
        h,
        ends: WallKind::Sticks,
        has_floor: false,
        gravity,
    };
    let liquid = Liquid::new(DENSITY * sound.powi(2) / 7.0, 7.0)?.with_viscosity(viscosity)?;
    let height = 40.0 * h;
    let everywhere = |_: f64| f64::INFINITY;
    let tension = liquid.with_tension(Tension::Full);
    let mut flow = tank.filled((2.0 * a, height), tension, everywhere)?;
    let in_middle =
        |x: &Vector3<f64>| (x.x - a).abs() < 0.3 * h && (x.z - 0.5 * height).abs() < 5.0 * h;
    let at_start: Vec<bool> = flow.particles().map(|(x, _)| in_middle(&x)).collect();
    while flow.state.time_s < 0.06 - 1e-9 {
        flow.step(1e-3)?;
    }
    let (mut sum, mut n) = (0.0, 0.0);
    for ((_, v), middle) in flow.particles().zip(at_start) {
        if middle {
            sum -= v.z;
            n += 1.0;
        }
    }
    let decay = PI * PI * viscosity * flow.state.time_s / (4.0 * DENSITY * a * a);
    let series: f64 = (0..200)
        .map(|k| {
            let odd = f64::from(2 * k + 1);
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sign / odd.powi(3) * (-odd * odd * decay).exp()
        })
        .sum();
    let theory = DENSITY * gravity * a * a / (2.0 * viscosity) * (1.0 - 32.0 / PI.powi(3) * series);
    // The particles beside the middle, an eighth of a half width away from each other.
    let beside = 1.0 - 1.0 / 256.0;
    Ok(Finding::equals(
        format!("water: speed of a liquid of {viscosity} Pa s in a slot of 8 cells over theory"),
        sum / n / (theory * beside),
        1.0,
        0.05,
        "start of a flow between plates: ρga²/(2μ)(1 − 32/π³ Σ (−1)ⁿ/(2n+1)³ exp(−(2n+1)²π²νt/(4a²)))",
    ))
}

/// Time t √(2g/a) in which the front of a dam, a wide and 2a high, passes two stations.
fn dam(cells: usize) -> Outcome<Finding> {
    const STEP_S: f64 = 5e-4;
    let a = 0.05715;
    let h = a / cells as f64;
    let tank = Tank {
        length: h * (6 * cells) as f64,
        h,
        ends: WallKind::Slides,
        has_floor: true,
        gravity: G,
    };
    let liquid = Liquid::for_depth(2.0 * a, DENSITY, G)?.with_viscosity(0.001)?;
    let mut flow = tank.filled((a, 2.0 * a), liquid, |_| f64::INFINITY)?;
    let front = |flow: &Flow| {
        let foremost = flow
            .particles()
            .fold(0.0, |most: f64, (x, _)| most.max(x.x));
        (foremost + 0.25 * h) / a
    };
    let (mut last, mut times) = (front(&flow), Vec::new());
    for station in [1.474, 4.134] {
        while front(&flow) < station {
            last = front(&flow);
            flow.step(STEP_S)?;
        }
        let now = front(&flow);
        let back = (now - station) / (now - last).max(1e-12);
        times.push((flow.state.time_s - STEP_S * back.min(1.0)) * (2.0 * G / a).sqrt());
    }
    let measured = 3.345 - 1.219;
    Ok(Finding::equals(
        format!("water: t √(2g/a) from 1.474 a to 4.134 a of the front of a dam of {cells} cells"),
        times[1] - times[0],
        measured,
        0.05 * measured,
        "Martin and Moyce (1952), figure 3, n² = 2, a = 2.25 in",
    ))
}
