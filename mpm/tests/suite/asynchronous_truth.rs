//! Elastic bodies in explicit substeps without contact, compared with analytical solutions.

use std::f64::consts::PI;
use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_constitutive::Lame;
use pliant_coupling::{AsynchronousSettings, BodyIdx, Substeps, WorldBuilder};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    LinearCorotated, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, Sampling, Wall, WallKind,
    fill,
};

use crate::support::G;
use crate::support::substepped::{PRECISIONS, Substepped, double};

const POINTS: BodyIdx = BodyIdx(0);
const DENSITY: f64 = 1000.0;

/// An elastic bar along z from the origin, of length 1 m, two cells wide, with E chosen for the speed `c` of its waves; ν = 0, so that
/// they are one-dimensional with free sides.
fn bar(cells: usize, c: f64) -> ObjectSpec {
    let h = 1.0 / cells as f64;
    let shape = Shape::cuboid(Vector3::new(2.0 * h, 2.0 * h, 1.0)).unwrap();
    let pose = Isometry3::translation(h, h, 0.5);
    let set = fill("bar", &shape, &pose, h, Sampling::default()).unwrap();
    let lame = Lame::from_young_poisson(DENSITY * c * c, 0.0).unwrap();
    ObjectSpec::new("bar", Arc::new(LinearCorotated::new(lame)), DENSITY, set)
}

fn start(
    model: MaterialPoints,
    gravity: Vector3<f64>,
    settings: AsynchronousSettings,
) -> Substepped {
    let mut builder = WorldBuilder::default();
    builder.gravity(gravity);
    builder.add_body("points", Box::new(model));
    Substepped::new(builder.build().unwrap(), settings)
}

/// Time at which `f` next passes through zero, linear between steps of `dt`.
fn next_zero(run: &mut Substepped, dt: f64, f: impl Fn(&Substepped) -> f64) -> f64 {
    let mut before = f(run);
    loop {
        let _ = run.step(dt);
        let after = f(run);
        if before * after < 0.0 {
            return run.state.time_s - dt * after / (after - before);
        }
        before = after;
    }
}

/// A bar that stands on a sliding wall and is loaded by its weight at once, g L/c² = 0.02.
struct Loaded {
    run: Substepped,
    /// L/c, s.
    tau: f64,
    dt: f64,
    top: usize,
}

impl Loaded {
    fn new(cells: usize) -> Self {
        let c = (G / 0.02_f64).sqrt();
        let mut builder = MpmBuilder::new(MpmSettings::new(1.0 / cells as f64));
        builder.object(bar(cells, c));
        builder.wall(Wall {
            p_WQ: Point3::origin(),
            normal_W: Vector3::z(),
            kind: WallKind::Slides,
        });
        let settings = AsynchronousSettings {
            substeps: Substeps::Fixed(1),
            ..double()
        };
        let model = builder.build().unwrap();
        let dt = model.substep_limit().unwrap().length_s;
        let run = start(model, Vector3::new(0.0, 0.0, -G), settings);
        let z = run.state.bodies[0].q.iter().skip(2).step_by(3);
        let top = z.enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
        Self {
            run,
            tau: 1.0 / c,
            dt,
            top,
        }
    }

    /// The times, in L/c, at which the bar is at rest.
    fn rests(&mut self) -> [f64; 2] {
        let momentum = |run: &Substepped| run.momentum().z;
        [0; 2].map(|_| next_zero(&mut self.run, self.dt, momentum) / self.tau)
    }

    fn height(&self) -> f64 {
        self.run.position(POINTS, self.top).z
    }
}

#[test]
fn a_loaded_bar_swings_with_its_period_and_the_error_decreases_with_the_spacing() {
    // All of it is at rest after 2 L/c, at twice the static displacement, and after 4 L/c, where it was. The wall is effectively a third of
    // a cell behind its held nodes: the bar is longer by that.
    let errors = [10, 20].map(|cells| {
        let [half, whole] = Loaded::new(cells).rests();
        (whole - half) / 2.0 - 1.0
    });
    let [coarse, fine] = errors;
    assert!(fine.abs() < 0.02, "{coarse} {fine}");
    assert!((coarse / fine).log2() > 0.8, "{coarse} {fine}");
}

#[test]
fn a_wave_reaches_the_end_of_a_loaded_bar_after_l_over_c() {
    // The end falls freely, v = −g t, until the wave from the base arrives; then v = −g (2 L/c − t).
    let mut bar = Loaded::new(20);
    let (mut sum, mut count) = (0.0, 0.0);
    while bar.run.state.time_s < 1.8 * bar.tau {
        let _ = bar.run.step(bar.dt);
        let (t, v) = (
            bar.run.state.time_s / bar.tau,
            bar.run.velocity(POINTS, bar.top).z,
        );
        if t < 0.7 {
            assert!(
                (v + G * bar.run.state.time_s).abs() < 0.01 * G * bar.tau,
                "{t}: {v}"
            );
        } else if t > 1.3 {
            // Arrival by the speed now: the two lines meet at t_a with −g t_a + g (t − t_a) = v.
            sum += 0.5 * (t - v / (G * bar.tau));
            count += 1.0;
        }
    }
    let arrival: f64 = sum / count;
    // The end particles are a quarter of a cell below the end; the wall is a third of a cell behind its nodes.
    assert!((arrival - 1.0).abs() < 0.02, "{arrival}");
}

#[test]
fn a_suddenly_loaded_bar_swings_to_twice_its_static_displacement_and_back() {
    // u/(g z (2 L − z)/c²): 1 at the first rest, 0 at the second. Of first order because of the wall, as the period.
    let swing = |cells| {
        let mut bar = Loaded::new(cells);
        let z = bar.height();
        let momentum = |run: &Substepped| run.momentum().z;
        [0; 2].map(|_| {
            let _ = next_zero(&mut bar.run, bar.dt, momentum);
            (z - bar.height()) / (0.02 * z * (2.0 - z))
        })
    };
    let [coarse, fine] = [10, 20].map(swing);
    assert!((fine[0] - 1.0).abs() < 0.04, "{coarse:?} {fine:?}");
    assert!(
        (2.0 * fine[0] - coarse[0] - 1.0).abs() < 0.01,
        "{coarse:?} {fine:?}"
    );
    assert!(
        fine[1].abs() < 0.03 && fine[1].abs() < coarse[1].abs(),
        "{coarse:?} {fine:?}"
    );
}

/// A free bar in its first axial mode, v = v₀ cos(πz/L) with c = 10 m/s: the relative error of its period, 2 L/c, and the part of its
/// velocity that it loses in a period.
fn errors_of_free_bar(cells: usize) -> [f64; 2] {
    let c = 10.0;
    let mut builder = MpmBuilder::new(MpmSettings::new(1.0 / cells as f64));
    builder.object(bar(cells, c));
    let dt = 0.4 / (cells as f64 * c);
    let settings = AsynchronousSettings {
        substeps: Substeps::Fixed(1),
        ..double()
    };
    let mut run = start(builder.build().unwrap(), Vector3::zeros(), settings);
    let body = &mut run.state.bodies[0];
    let heights = body.q.iter().skip(2).step_by(3);
    let mode: Vec<f64> = heights.map(|z| (PI * z).cos()).collect();
    for (v, m) in body.v.iter_mut().skip(2).step_by(3).zip(&mode) {
        *v = 1e-3 * c * m;
    }
    let amplitude = |run: &Substepped| -> f64 {
        let v = run.state.bodies[0].v.iter().skip(2).step_by(3);
        v.zip(&mode).map(|(v, m)| v * m).sum()
    };
    let first = amplitude(&run);
    let [from, _, to] = [0; 3].map(|_| next_zero(&mut run, dt, amplitude));
    let mut last: f64 = 0.0;
    // A quarter of a period is 1.25 cells/c.
    for _ in 0..2 * cells {
        let _ = run.step(dt);
        last = last.max(amplitude(&run).abs());
    }
    [
        (to - from) / (2.0 / c) - 1.0,
        1.0 - (last / first).powf(2.0 / 3.0),
    ]
}

#[test]
fn the_period_and_the_damping_of_a_free_bar_converge_with_the_spacing_at_second_order() {
    let [coarse, middle, fine] = [8, 16, 32].map(errors_of_free_bar);
    for k in 0..2 {
        let order = (middle[k] / fine[k]).log2();
        assert!(
            fine[k].abs() < 0.005 && order > 1.8,
            "{coarse:?} {middle:?} {fine:?}"
        );
    }
}

#[test]
fn a_spinning_cube_that_swings_keeps_its_momenta_in_both_precisions() {
    for (precision, round_off) in PRECISIONS {
        let h = 0.025;
        let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
        let pose = Isometry3::translation(0.3, -0.2, 0.1);
        let set = fill("cube", &shape, &pose, h, Sampling::default()).unwrap();
        let rubber = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.3).unwrap());
        let mut cube = ObjectSpec::new("cube", Arc::new(rubber), DENSITY, set);
        cube.velocity_W = Vector3::new(0.3, -0.5, 0.2);
        cube.angular_velocity_W = Vector3::new(5.0, 20.0, -10.0);
        let mut builder = MpmBuilder::new(MpmSettings::new(h));
        builder.object(cube);
        let settings = AsynchronousSettings {
            precision,
            ..AsynchronousSettings::default()
        };
        let mut run = start(builder.build().unwrap(), Vector3::zeros(), settings);
        let before = run.world.energy(&run.state);
        for _ in 0..40 {
            let _ = run.step(0.005);
        }
        let after = run.world.energy(&run.state);
        let lost = |a: Vector3<f64>, b: Vector3<f64>| (b - a).norm() / a.norm();
        let linear = lost(before.linear_momentum_W, after.linear_momentum_W);
        let angular = lost(before.angular_momentum_W, after.angular_momentum_W);
        assert!(linear < round_off, "{precision:?}: {linear:e}");
        assert!(angular < round_off, "{precision:?}: {angular:e}");
        // No energy is gained but by the stress that the spin builds up.
        assert!(after.kinetic <= before.kinetic * (1.0 + round_off));
    }
}

#[test]
fn free_fall_in_single_precision_is_that_of_the_substeps() {
    let h = 0.025;
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let pose = Isometry3::translation(0.3, -0.2, 2.0);
    let set = fill("cube", &shape, &pose, h, Sampling::default()).unwrap();
    let rubber = LinearCorotated::new(Lame::from_young_poisson(1e5, 0.3).unwrap());
    let mut builder = MpmBuilder::new(MpmSettings::new(h));
    builder.object(ObjectSpec::new("cube", Arc::new(rubber), DENSITY, set));
    let settings = AsynchronousSettings {
        substeps: Substeps::Fixed(10),
        ..AsynchronousSettings::default()
    };
    let mut run = start(
        builder.build().unwrap(),
        Vector3::new(0.0, 0.0, -G),
        settings,
    );
    let (dt, steps) = (0.01, 20);
    let before = run.state.clone();
    for _ in 0..steps {
        let _ = run.step(dt);
    }
    // Symplectic Euler, ½ g t (t + h); round-off of 2 m, once in each of 200 substeps.
    let t = dt * f64::from(steps);
    let fallen = 0.5 * G * t * (t + dt / 10.0);
    let worst = f64::from(f32::EPSILON) * 200.0;
    for (now, then) in (run.state.bodies[0].q.iter())
        .zip(&before.bodies[0].q)
        .skip(2)
        .step_by(3)
    {
        assert!(
            (then - now - fallen).abs() < worst,
            "{}",
            then - now - fallen
        );
    }
}
