//! What particles keep of velocities that the grid does not represent.

use super::*;

/// One transfer of `particles` to the grid and back, without forces, that keeps a part `keep`.
fn exchanged<T: LaneScalar>(particles: &[Particle<T>], keep: T, time: T) -> Vec<Particle<T>> {
    let (grid, mut particles) = sorted(particles, H);
    let transfer = Transfer::new(T::of(H), GradientForm::True);
    let (mut field, mut before) = (NodeField::default(), NodeField::default());
    let free = |_: &[Particle<T>], out: &mut [Matrix3<T>]| out.fill(Matrix3::zeros());
    transfer.particles_to_grid(&grid, &particles, free, &mut field);
    transfer.particles_to_grid_before(&grid, &particles, &mut before);
    before.divide_by_mass_of(&field);
    field.momentum_to_velocity(&Vector3::zeros(), T::zero());
    let before = Before {
        field: &before,
        keep,
    };
    let nodes = (&field, Some(before));
    transfer.grid_to_particles(&grid, nodes, time, &mut particles, |_, _, _| ());
    particles
}

fn kinetic_energy(particles: &[Particle<f64>]) -> f64 {
    let spread = 0.25 * H * H;
    let each = particles.iter();
    each.map(|p| 0.5 * p.mass * (p.v.norm_squared() + spread * p.c.norm_squared()))
        .sum()
}

#[test]
fn momenta_are_conserved_whatever_is_kept() {
    for keep in [0.0, 0.4, 1.0] {
        let particles = cloud(2000);
        let mass: f64 = particles.iter().map(|p| p.mass).sum();
        let (linear, angular) = momenta(&particles, H);
        let (p, l) = momenta(&exchanged(&particles, keep, 0.0), H);
        assert!((p - linear).norm() < 1e-13 * mass, "{keep}");
        assert!((l - angular).norm() < 1e-13 * mass, "{keep}");
        let narrowed: Vec<_> = particles.iter().map(narrow).collect();
        let (p, l) = momenta(&exchanged(&narrowed, keep as f32, 0.0), H as f32);
        assert!((p.map(f64::from) - linear).norm() < 1e-5 * mass, "{keep}");
        assert!((l.map(f64::from) - angular).norm() < 1e-5 * mass, "{keep}");
    }
}

#[test]
fn energy_is_never_gained_and_lost_the_less_the_more_is_kept() {
    let particles = cloud(1500);
    let at_first = kinetic_energy(&particles);
    let mut last = 0.0;
    for keep in [0.0, 0.3, 0.7, 0.95, 1.0] {
        let mut moved = particles.clone();
        let mut energy = at_first;
        for _ in 0..4 {
            moved = exchanged(&moved, keep, 0.0);
            let next = kinetic_energy(&moved);
            assert!(next <= energy * (1.0 + 1e-13), "{keep}: {energy} {next}");
            energy = next;
        }
        assert!(energy >= last, "{keep}");
        last = energy;
    }
    // Random velocities are mostly below the resolution of the grid. All of it kept, all of the energy is.
    assert!((last / at_first - 1.0).abs() < 1e-12, "{last} {at_first}");
    assert!(kinetic_energy(&exchanged(&particles, 0.0, 0.0)) < 0.5 * at_first);
}

/// Σ_i u_i · p_i of momenta p of particles (v, C) is Σ_p m (v · v(u) + h²/4 C : C(u)) with what the particles gather from u.
#[test]
fn scattering_is_the_transpose_of_gathering() {
    let (grid, particles) = sorted(&cloud(900), H);
    let transfer = Transfer::new(H, GradientForm::True);
    let mut momentum = NodeField::default();
    transfer.particles_to_grid_before(&grid, &particles, &mut momentum);
    let mut random = Random::new(5);
    let values = momentum.values.iter().map(|_| random.unit() - 0.5);
    let u = NodeField {
        values: values.collect(),
    };
    let nodes = momentum.nodes().zip(u.nodes());
    let on_nodes: f64 = nodes
        .map(|(p, u)| p[0] * u[0] + p[1] * u[1] + p[2] * u[2])
        .sum();
    let mut gathered = particles.clone();
    transfer.grid_to_particles(&grid, (&u, None), 0.0, &mut gathered, |_, _, _| ());
    let pairs = particles.iter().zip(&gathered);
    let on_particles: f64 = pairs
        .map(|(p, g)| p.mass * (p.v.dot(&g.v) + 0.25 * H * H * p.c.dot(&g.c)))
        .sum();
    let error = (on_nodes - on_particles).abs();
    assert!(error < 1e-12, "{on_nodes} {on_particles}");
}

#[test]
fn positions_follow_the_grid_and_any_number_of_threads_gives_the_same_bits() {
    let particles = cloud(6000);
    let run = |threads: usize, keep: f64| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| exchanged(&particles, keep, 1e-3))
    };
    let flip = run(1, 0.9);
    assert!(flip == run(2, 0.9) && flip == run(5, 0.9));
    let apic = run(1, 0.0);
    assert!(
        flip.iter()
            .zip(&apic)
            .all(|(a, b)| a.x == b.x && a.v != b.v)
    );
}

/// Particles of a shear flow v_y = sin(kx), eight in a cell.
fn shear(wave_number: f64) -> Vec<Particle<f64>> {
    let mut particles = Vec::new();
    for i in 0..128 {
        for j in 0..16 {
            let x = Vector3::new(f64::from(i), f64::from(j % 4), f64::from(j / 4));
            let x = (x + Vector3::repeat(0.5)) * (0.5 * H);
            let mut p = Particle {
                x,
                mass: 1.0,
                volume: 1.0,
                index: particles.len() as u32,
                ..Particle::default()
            };
            p.v.y = (wave_number * x.x).sin();
            p.c[(1, 0)] = wave_number * (wave_number * x.x).cos();
            particles.push(p);
        }
    }
    particles
}

#[test]
fn a_shear_flow_decays_by_the_documented_viscosity() {
    // 16 cells a wave; the window of one wave is 24 cells, the reach of eight transfers, from the ends.
    let wave_number = std::f64::consts::TAU / (16.0 * H);
    let amplitude = |particles: &[Particle<f64>]| {
        let inside = particles.iter().filter(|p| (p.x.x / H - 32.0).abs() < 8.0);
        inside.fold(0.0, |sum, p| sum + p.v.y * (wave_number * p.x.x).sin())
    };
    let step_s = 1e-3;
    let flip = TransferScheme::AffineFlip { memory_s: 5e-3 };
    for scheme in [TransferScheme::Apic, flip] {
        let mut particles = shear(wave_number);
        let mut amplitudes = Vec::new();
        for _ in 0..8 {
            particles = exchanged(&particles, scheme.kept(step_s), 0.0);
            amplitudes.push(amplitude(&particles));
        }
        // The part of the start that is no mode of the transfer fades by k in each; two rates of decay tell the rest.
        let rate = |k: usize| (amplitudes[k - 1] / amplitudes[k]).ln() / step_s;
        let fade = scheme.kept(4.0 * step_s) * f64::from(u8::from(scheme != TransferScheme::Apic));
        let found = (rate(7) - fade * rate(3)) / (1.0 - fade) / wave_number.powi(2);
        let expected = scheme.numerical_viscosity(wave_number, H, step_s);
        let error = found / expected - 1.0;
        assert!(error.abs() < 0.05, "{found:e} {expected:e}");
    }
}

/// Particles of a block of `cells` cubed cells from the origin, `per_edge` in a cell along each axis.
fn block(cells: usize, per_edge: usize) -> Vec<Particle<f64>> {
    let (n, d) = (cells * per_edge, H / per_edge as f64);
    let each = (0..n * n * n).map(|k| [k / (n * n), k / n % n, k % n]);
    each.enumerate()
        .map(|(index, k)| Particle {
            x: Vector3::from(k.map(|k| (k as f64 + 0.5) * d)),
            mass: 1.0,
            volume: d.powi(3),
            index: index as u32,
            ..Particle::default()
        })
        .collect()
}

#[test]
fn packing_is_one_within_a_body_and_near_its_surface() {
    for per_edge in [2, 3] {
        let (grid, mut particles) = sorted(&block(8, per_edge), H);
        let transfer = Transfer::new(H, GradientForm::True);
        let mut before = NodeField::default();
        transfer.particles_to_grid_before(&grid, &particles, &mut before);
        let found = std::sync::Mutex::new(Vec::new());
        let field = NodeField {
            values: vec![0.0; before.values.len()],
        };
        let seen = Before {
            field: &before,
            keep: 0.0,
        };
        let note = |own: &mut [Particle<f64>], _: &[Matrix3<f64>], packings: &[f64]| {
            let mut found = found.lock().unwrap();
            found.extend(own.iter().map(|p| p.x).zip(packings.iter().copied()));
        };
        transfer.grid_to_particles(&grid, (&field, Some(seen)), 0.0, &mut particles, note);
        for (x, packing) in found.into_inner().unwrap() {
            let near_faces = x.iter().filter(|x| (**x - 4.0 * H).abs() > H);
            match near_faces.count() {
                0 => assert!((packing - 1.0).abs() < 1e-9, "{packing} at {x}"),
                1 => assert!((packing - 1.0).abs() < 0.16, "{packing} at {x}"),
                _ => {}
            }
        }
    }
}
