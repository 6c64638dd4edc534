//! v = Σ w v_i, C = (4/h²) Σ w v_i (x_i − x)ᵀ, F by the material of the processor from Δt ∇v, and x + Δt v, with the node velocities of the device.

use nalgebra::{Matrix3, Vector3};
use pliant_mpm::{Lagged, Law};

use super::Largest;
use super::on_device::OnDevice;
use super::reach::reach;
use super::scene::{DT, SPACING, Scene};

/// Velocities and C are relative to those that the largest velocity among the nodes of the particle has.
pub(super) fn check(scene: &Scene, device: &OnDevice) -> Vec<Largest> {
    let mut largest = [
        Largest::new("v", 5e-7),
        Largest::new("C", 2e-7),
        Largest::new("x, cells", 4e-7),
        Largest::new("F without flow", 4e-7),
        Largest::new("F after it", 5e-6),
        Largest::new("internal variables", 4e-6),
    ];
    let (mut moved, mut flowing) = (0, 0);
    for (p, found) in scene.particles.iter().zip(&device.particles) {
        let (mut v, mut c, mut gradient) = (Vector3::zeros(), Matrix3::zeros(), Matrix3::zeros());
        let mut fastest = 0.0_f64;
        for r in reach(&p.x, scene.gradient) {
            let of_node = device.velocity(device.node_at(r.node));
            v += of_node * r.weight;
            c += of_node * r.arm.transpose() * (4.0 / (SPACING * SPACING) * r.weight);
            gradient += of_node * r.gradient.transpose();
            if r.weight > 1e-3 {
                fastest = fastest.max(of_node.norm());
            }
        }
        let law: &dyn Law<f64> = &*scene.materials[p.object as usize];
        let mut lagged = Lagged {
            velocity_gradient: p.c,
            ..Lagged::default()
        };
        law.lag(&p.strain, None, &mut lagged);
        lagged.time_s = DT;
        let strain = law.advance(&p.strain, &lagged, &(gradient * DT));
        let mut next = *p;
        found.write(&mut next, SPACING);
        largest[0].add((next.v - v).norm() / fastest);
        largest[1].add((next.c - c).norm() / (4.0 / SPACING * fastest));
        largest[2].add((next.x - (p.x + v * DT)).norm() / SPACING);
        let flows = strain.internal != p.strain.internal;
        largest[3 + usize::from(flows)].add((next.strain.f - strain.f).norm());
        for k in 0..2 {
            let deviation = next.strain.internal[k] - strain.internal[k];
            largest[5].add(deviation.abs());
        }
        moved += usize::from((next.x - p.x).norm() > 1e-3 * SPACING);
        flowing += usize::from(flows);
    }
    let n = scene.particles.len();
    assert!(
        moved > n / 2 && flowing > n / 8 && flowing < n,
        "{moved} move, {flowing} flow"
    );
    largest.into()
}
