//! S = −Δt V τ(F), and m = Σ w m_p, m v* = Σ w m_p (v + C (x_i − x)) + S ∇w + m Δt g of each node, without the components that walls hold.

use nalgebra::{Matrix3, Vector3};
use pliant_mpm::{Lagged, Law, Particle};

use super::Largest;
use super::on_device::OnDevice;
use super::reach::reach;
use super::scene::{DT, GRAVITY, SPACING, Scene};

/// S of a particle.
fn impulse_of_stress(scene: &Scene, p: &Particle<f64>) -> Matrix3<f64> {
    let law: &dyn Law<f64> = &*scene.materials[p.object as usize];
    let lagged = Lagged {
        velocity_gradient: p.c,
        ..Lagged::default()
    };
    law.kirchhoff(&p.strain, &lagged) * (-DT * p.volume)
}

/// S that the gather computes for the next substep, relative to Δt V times the wave modulus of the material.
pub(super) fn check_stress(scene: &Scene, device: &OnDevice) -> Vec<Largest> {
    let mut largest = Largest::new("S", 3e-6);
    let pairs = scene.particles.iter().zip(&device.particles);
    for (number, (p, found)) in pairs.enumerate() {
        let mut next = *p;
        found.write(&mut next, SPACING);
        let expected = impulse_of_stress(scene, &next);
        let scale = DT * p.volume * scene.materials[p.object as usize].wave_modulus();
        largest.add((device.stress(number) - expected).norm() / scale);
    }
    vec![largest]
}

/// Masses relative to themselves; velocities relative to the sum of the sizes of the terms, with the wave modulus for the stress.
pub(super) fn check_nodes(scene: &Scene, device: &OnDevice) -> Vec<Largest> {
    let n = device.n_nodes() as usize;
    let (mut mass, mut momentum, mut size) =
        (vec![0.0; n], vec![Vector3::zeros(); n], vec![0.0; n]);
    for p in &scene.particles {
        let impulse = impulse_of_stress(scene, p);
        let largest = DT * p.volume * scene.materials[p.object as usize].wave_modulus();
        for r in reach(&p.x, scene.gradient) {
            let node = device.node_at(r.node) as usize;
            let carried = (p.v + p.c * r.arm) * (r.weight * p.mass);
            let stress = impulse * r.gradient;
            mass[node] += r.weight * p.mass;
            momentum[node] += carried + stress;
            size[node] += carried.norm() + largest * r.gradient.norm();
        }
    }
    let mut masses = Largest::new("m", 2e-6);
    let mut velocities = Largest::new("v*", 1e-6);
    let mut held = Largest::new("v* of walls", 0.0);
    let gravity = Vector3::from(GRAVITY) * DT;
    let (mut light, mut empty, mut walled) = (f64::INFINITY, 0, 0);
    for node in 0..device.n_nodes() {
        let k = node as usize;
        if mass[k] == 0.0 {
            masses.add(device.mass(node));
            velocities.add(device.free_velocity(node).norm());
            empty += 1;
            continue;
        }
        light = light.min(mass[k]);
        masses.add((device.mass(node) / mass[k] - 1.0).abs());
        let free = scene.freedom(&device.x_of(node));
        walled += usize::from(free.min() == 0.0);
        let expected = (momentum[k] / mass[k] + gravity).component_mul(&free);
        let scale = size[k] / mass[k] + gravity.norm();
        let deviation = device.free_velocity(node) - expected;
        velocities.add(deviation.norm() / scale);
        held.add(
            (device
                .free_velocity(node)
                .component_mul(&(Vector3::repeat(1.0) - free)))
            .norm(),
        );
    }
    assert!(
        empty > 0 && light < 1e-9,
        "{empty} nodes without mass, {light} kg"
    );
    assert_eq!(walled > 50, !scene.walls.is_empty(), "{walled} nodes");
    vec![masses, velocities, held]
}
