//! Material points without contact, compared with analytical solutions.

use std::sync::Arc;

use crate::support::{G, Run};
use nalgebra::{Isometry3, Point3, Vector3};
use pliant_constitutive::{Lame, NeoHookean};
use pliant_contact_sap::{DeformableModel, Integration};
use pliant_hydroelastic::Shape;
use pliant_mpm::{
    GradientForm, LinearCorotated, Liquid, Material, MpmBuilder, MpmSettings, ObjectSpec,
    RotationTarget, Sampling, TransferScheme, Wall, WallForm, WallKind, fill,
};

/// A column on the origin, `cells` high and two wide, between sliding walls; its base is held.
fn column(cells: usize, height: f64, material: Arc<dyn Material>, density: f64) -> Run {
    column_of(
        MpmSettings::new(height / cells as f64),
        cells,
        material,
        density,
    )
}

fn column_of(
    settings: MpmSettings,
    cells: usize,
    material: Arc<dyn Material>,
    density: f64,
) -> Run {
    let h = settings.spacing;
    let size = Vector3::new(2.0 * h, 2.0 * h, h * cells as f64);
    let shape = Shape::cuboid(size).unwrap();
    let pose = Isometry3::translation(h, h, 0.5 * size.z);
    let set = fill("column", &shape, &pose, h, Sampling::default()).unwrap();
    let mut builder = MpmBuilder::new(settings);
    builder.object(ObjectSpec::new("column", material, density, set));
    let mut wall = |p_WQ: Point3<f64>, normal_W: Vector3<f64>| {
        builder.wall(Wall {
            p_WQ,
            normal_W,
            kind: WallKind::Slides,
        });
    };
    wall(Point3::origin(), Vector3::x());
    wall(Point3::origin(), Vector3::y());
    wall(Point3::origin(), Vector3::z());
    wall(Point3::new(2.0 * h, 0.0, 0.0), -Vector3::x());
    wall(Point3::new(0.0, 2.0 * h, 0.0), -Vector3::y());
    Run::new(builder.build().unwrap())
}

/// c² = 0.02⁻¹ g L for a column of 1 m: strains stay small.
fn stiff() -> (Arc<dyn Material>, f64) {
    let (nu, density) = (0.25, 1000.0);
    // λ + 2μ = E (1 − ν)/((1 + ν)(1 − 2ν)).
    let modulus = density * G / 0.02;
    let e = modulus * (1.0 + nu) * (1.0 - 2.0 * nu) / (1.0 - nu);
    (
        Arc::new(LinearCorotated::new(
            Lame::from_young_poisson(e, nu).unwrap(),
        )),
        density,
    )
}

/// Displacement of the top of a column under its weight, g L²/(2c²) = 0.01 m, relative to that.
fn sag(cells: usize, form: GradientForm) -> f64 {
    let (material, density) = stiff();
    let mut settings = MpmSettings::new(1.0 / cells as f64);
    settings.gradient = form;
    let mut run = column_of(settings, cells, material, density);
    let top = run.top();
    let start = run.height(top);
    for _ in 0..60 {
        run.step(0.2, Integration::BackwardEuler, G);
    }
    let z = start;
    let expected = 0.02 * (z - 0.5 * z * z);
    (start - run.height(top)) / expected
}

#[test]
fn a_column_sags_under_its_weight_and_the_error_decreases_with_the_spacing() {
    // The effective position of the wall is a third of a cell behind its held nodes: an error of first order.
    for form in [GradientForm::True, GradientForm::Mls] {
        let [coarse, fine] = [10, 20].map(|cells| sag(cells, form) - 1.0);
        assert!(fine.abs() < 0.04, "{form:?}: {coarse} {fine}");
        assert!(
            (2.0 * fine - coarse).abs() < 0.005,
            "{form:?}: {coarse} {fine}"
        );
    }
}

/// Displacement of the top of a suddenly loaded column of 20 cells at a time τ = tc/L.
fn loaded(tau: f64, steps: usize, integration: Integration) -> f64 {
    let (material, density) = stiff();
    let mut run = column(20, 1.0, material, density);
    let top = run.top();
    let start = run.height(top);
    let c = (G / 0.02_f64).sqrt();
    for _ in 0..steps {
        run.step(tau / c / steps as f64, integration, G);
    }
    start - run.height(top)
}

#[test]
fn a_suddenly_loaded_bar_swings_to_twice_its_static_displacement() {
    // τ = 2: the peak, g L²/c² at the tip; τ = 4: the initial position. The midpoint rule has little numerical damping.
    let peak = loaded(2.0, 100, Integration::Midpoint);
    assert!((peak / 0.02 - 1.0).abs() < 0.03, "{peak}");
    let back = loaded(4.0, 200, Integration::Midpoint);
    assert!(back.abs() < 0.05 * 0.02, "{back}");
    // A quarter of a period: half the peak.
    let half = loaded(1.0, 50, Integration::Midpoint);
    assert!((half / 0.01 - 1.0).abs() < 0.04, "{half}");
}

#[test]
fn halving_the_step_halves_the_error_of_backward_euler_and_midpoint_has_a_tenth_of_it() {
    let at = |steps| loaded(0.7, steps, Integration::BackwardEuler);
    let (coarse, middle, fine) = (at(20), at(40), at(80));
    let ratio = (coarse - middle) / (middle - fine);
    assert!((ratio / 2.0 - 1.0).abs() < 0.1, "{ratio}");
    // Forces act along the gradients at the start of a step: the midpoint rule has a small error of first order.
    let [rough, sharp] = [20, 80].map(|steps| loaded(0.7, steps, Integration::Midpoint));
    assert!(
        (rough - sharp).abs() < 0.1 * (coarse - fine).abs(),
        "{rough} {sharp}, {coarse} {fine}"
    );
}

#[test]
fn water_at_rest_has_hydrostatic_pressure_and_constant_volume() {
    let (height, density) = (0.2, 1000.0);
    let water = Liquid::for_depth(height, density, G)
        .unwrap()
        .with_viscosity(0.5)
        .unwrap();
    // Newton's method needs the matrix, which steps with mirrored walls do not assemble.
    let settings = MpmSettings {
        transfer: TransferScheme::Apic,
        walls: WallForm::Held,
        ..MpmSettings::new(height / 10.0)
    };
    let mut run = column_of(settings, 10, Arc::new(water), density);
    let top = run.top();
    for _ in 0..50 {
        run.step(0.02, Integration::BackwardEuler, G);
    }
    let settled = run.height(top);
    for _ in 0..150 {
        run.step(0.02, Integration::BackwardEuler, G);
    }
    let drift = (run.height(top) - settled) / height;
    assert!(drift.abs() < 0.01, "drift {drift}");
    let h = height / 10.0;
    // Pressure averaged over layers, two cells away from the floor, whose held nodes carry part of the load, and from the surface.
    for layer in 2..9 {
        let (low, high) = (layer as f64 * h, (layer + 1) as f64 * h);
        let inside: Vec<_> = run
            .model
            .particles(&run.state)
            .filter(|p| (low..high).contains(&p.p_WP.z))
            .collect();
        let mean = |f: &dyn Fn(&pliant_mpm::ParticleView) -> f64| {
            inside.iter().map(f).sum::<f64>() / inside.len() as f64
        };
        let depth = run.height(top) + 0.25 * h - mean(&|p| p.p_WP.z);
        let found = mean(&|p| p.pressure);
        let expected = density * G * depth;
        let off = (found - expected).abs() / (density * G * height);
        assert!(off < 0.02, "{found} for {expected} at {layer}");
    }
}

/// A free cube spinning at ω for some turns: worst volume change and change of angular momentum per turn.
fn spin(target: RotationTarget, e: f64, omega: f64, dt: f64, turns: f64) -> (f64, f64) {
    let mut settings = MpmSettings::new(0.025);
    settings.rotation_target = target;
    let mut builder = MpmBuilder::new(settings);
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let set = fill(
        "cube",
        &shape,
        &Isometry3::identity(),
        0.025,
        Sampling::default(),
    )
    .unwrap();
    let material = Arc::new(LinearCorotated::new(
        Lame::from_young_poisson(e, 0.4).unwrap(),
    ));
    let mut cube = ObjectSpec::new("cube", material, 1000.0, set);
    cube.angular_velocity_W = Vector3::new(0.0, 0.0, omega);
    builder.object(cube);
    let mut run = Run::new(builder.build().unwrap());
    let spun = |run: &Run| {
        run.model
            .energy(&run.state, &Vector3::zeros())
            .angular_momentum_W
            .z
    };
    let before = spun(&run);
    let mut worst: f64 = 0.0;
    let steps = (turns * std::f64::consts::TAU / omega / dt).round() as usize;
    for _ in 0..steps {
        run.step(dt, Integration::BackwardEuler, 0.0);
        let ratios = run.model.particles(&run.state).map(|p| p.volume_ratio);
        let mean = ratios.sum::<f64>() / 512.0;
        worst = worst.max((mean - 1.0).abs());
    }
    (worst, (spun(&run) / before - 1.0) / turns)
}

#[test]
fn a_spinning_cube_conserves_volume_and_angular_momentum() {
    // 0.2 rad per step, bounds as for finite elements.
    for (e, turns) in [(1e5, 10.0), (1e7, 2.0)] {
        let (volume, lost) = spin(RotationTarget::End, e, 20.0, 0.01, turns);
        eprintln!("{e:e} Pa: volume {volume:.5}, angular momentum {lost:.5} a turn");
        assert!(volume < 0.005, "volume {volume}");
        assert!(lost.abs() < 0.001, "angular momentum {lost} a turn");
    }
    // 0.4 rad per step, the documented limit.
    let (volume, lost) = spin(RotationTarget::End, 1e5, 40.0, 0.01, 3.0);
    eprintln!("0.4 a step: volume {volume:.5}, angular momentum {lost:.5} a turn");
    assert!(volume < 0.01 && lost.abs() < 0.01, "{volume}, {lost}");
    // The volume of the paper's model grows by θ².
    let (volume, _) = spin(RotationTarget::Start, 1e5, 20.0, 0.01, 1.0);
    assert!((0.03..0.06).contains(&volume), "volume {volume}");
}

#[test]
fn energy_does_not_grow_in_implicit_steps() {
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let set = fill(
        "cube",
        &shape,
        &Isometry3::identity(),
        0.025,
        Sampling::default(),
    )
    .unwrap();
    let materials: [Arc<dyn Material>; 2] = [
        Arc::new(LinearCorotated::new(
            Lame::from_young_poisson(1e4, 0.3).unwrap(),
        )),
        Arc::new(NeoHookean::new(Lame::from_young_poisson(1e4, 0.3).unwrap()).unwrap()),
    ];
    for material in materials {
        let mut builder = MpmBuilder::new(MpmSettings::new(0.025));
        builder.object(ObjectSpec::new("cube", material, 1000.0, set.clone()));
        let mut run = Run::new(builder.build().unwrap());
        // Compressed along z and released.
        for (k, v) in run.state.v.iter_mut().enumerate() {
            if k % 3 == 2 {
                *v = -5.0 * run.state.q[k];
            }
        }
        let energy = |run: &Run| {
            let e = run.model.energy(&run.state, &Vector3::zeros());
            e.kinetic + e.potential
        };
        let mut last = energy(&run);
        let first = last;
        for _ in 0..40 {
            run.step(0.005, Integration::BackwardEuler, 0.0);
            let now = energy(&run);
            assert!(now < last + 1e-9 * first, "{now} after {last}");
            last = now;
        }
    }
}
