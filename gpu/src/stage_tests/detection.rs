//! Contacts are those of a search over all particles and obstacles, but where round-off decides; each node lists those that reach it.

use std::collections::BTreeMap;

use nalgebra::{Isometry3, Vector3};

use super::Largest;
use super::on_device::{DeviceContact, OnDevice, vector};
use super::reach::reach;
use super::scene::{BALL_RADIUS, DT, SPACING, Scene, Surface};

/// Gaps that differ less from their threshold may be on either side of it, m.
const ROUND_OFF: f64 = 1e-7;

/// A contact in f64.
pub(super) struct Touch {
    pub(super) particle: u32,
    pub(super) object: usize,
    pub(super) obstacle: usize,
    pub(super) gap: f64,
    pub(super) normal: Vector3<f64>,
    /// World axes and origin.
    pub(super) point: Vector3<f64>,
    /// From the origin of the link.
    pub(super) arm: Option<Vector3<f64>>,
    pub(super) surface: Vector3<f64>,
    pub(super) start_velocity: f64,
    /// Node and weight.
    pub(super) nodes: Vec<(u32, f64)>,
    /// How much nearer it is than the threshold, m.
    depth: f64,
}

/// A particle and an obstacle; `None` for a pair without contact.
fn touch(scene: &Scene, device: &OnDevice, particle: usize, obstacle: usize) -> Option<Touch> {
    let p = &scene.particles[particle];
    let object = p.object as usize;
    let own = &scene.obstacles[obstacle];
    own.pairs[object]?;
    let X_WG: Isometry3<f64> = match own.link {
        Some(_) => scene.link.X_WL * own.X_LG,
        None => own.X_LG,
    };
    let from = p.x - X_WG.translation.vector;
    let (distance, normal) = match scene.surfaces[obstacle] {
        Surface::Plane => {
            let normal = X_WG.rotation * Vector3::z();
            (normal.dot(&from), normal)
        }
        Surface::Ball => (from.norm() - BALL_RADIUS, from.normalize()),
    };
    let radius = scene.radii[object];
    let gap = distance - radius;
    let point = p.x - normal * distance;
    let arm = own.link.map(|_| point - scene.link.X_WL.translation.vector);
    let surface = X_WG.rotation * own.surface_velocity;
    let velocity = &scene.link.velocity;
    let of_link = arm.map_or(Vector3::zeros(), |arm| {
        velocity.fixed_rows::<3>(3) + velocity.fixed_rows::<3>(0).cross(&arm)
    });
    let relative = p.v - of_link - surface;
    Some(Touch {
        particle: particle as u32,
        object,
        obstacle,
        gap,
        normal,
        point,
        arm,
        surface,
        start_velocity: normal.dot(&relative),
        nodes: reach(&p.x, scene.gradient)
            .into_iter()
            .map(|r| (device.node_at(r.node), r.weight))
            .collect(),
        depth: 2.0 * DT * relative.norm() + 0.1 * radius - gap,
    })
}

/// Returns the contacts in the order of the device.
pub(super) fn check(scene: &Scene, device: &OnDevice) -> (Vec<Touch>, Vec<Largest>) {
    let mut wrong = Largest::new("wrong contacts", 0.0);
    let mut touches = Vec::new();
    // Ascending by particle and obstacle, as the device numbers them.
    let mut found = device.contacts().iter().peekable();
    let mut per_obstacle = [0; 2];
    for particle in 0..scene.particles.len() {
        for (obstacle, count) in per_obstacle.iter_mut().enumerate() {
            let is_here = |c: &&DeviceContact| {
                (c.particle as usize, c.obstacle as usize) == (particle, obstacle)
            };
            let is_found = found.next_if(is_here).is_some();
            match touch(scene, device, particle, obstacle) {
                Some(t) => {
                    if is_found != (t.depth >= 0.0) && t.depth.abs() > ROUND_OFF {
                        wrong.add(wrong.found + 1.0);
                    }
                    if is_found {
                        *count += 1;
                        touches.push(t);
                    }
                }
                None if is_found => panic!("a contact of a pair that has none"),
                None => {}
            }
        }
    }
    wrong.add(found.count() as f64);
    assert!(per_obstacle.iter().all(|n| *n > 10), "{per_obstacle:?}");
    assert!(touches.len() < scene.particles.len(), "most are far");
    let mut largest = [
        Largest::new("gaps, cells", 5e-6),
        Largest::new("normals", 4e-6),
        Largest::new("arms and points, cells", 1e-5),
        Largest::new("approach, m/s", 3e-6),
    ];
    for (t, c) in touches.iter().zip(device.contacts()) {
        assert_eq!(c.pair as usize, t.obstacle * 2 + t.object);
        assert_eq!(c.link, if t.arm.is_some() { 0 } else { -1 });
        largest[0].add((f64::from(c.gap) - t.gap).abs() / SPACING);
        largest[1].add((vector(&c.normal) - t.normal).norm());
        let arm = t.arm.unwrap_or_default();
        largest[2].add((vector(&c.arm) - arm).norm() / SPACING);
        let point = vector(&c.point) + device.corner();
        largest[2].add((point - t.point).norm() / SPACING);
        largest[3].add((f64::from(c.start_velocity) - t.start_velocity).abs());
        largest[3].add((vector(&c.surface) - t.surface).norm());
    }
    (touches, [wrong].into_iter().chain(largest).collect())
}

pub(super) fn check_lists(touches: &[Touch], device: &OnDevice) -> Vec<Largest> {
    let groups = (touches.len() as u32)
        .div_ceil(128)
        .max(device.params.n_links);
    assert_eq!(device.dispatch_sizes[1], [groups, 1, 1]);
    // Corner, contact, weight of each node; contacts of each cell.
    let mut expected: BTreeMap<u32, Vec<(usize, u32, f64)>> = BTreeMap::new();
    let mut cells: BTreeMap<u32, u32> = BTreeMap::new();
    for (contact, touch) in touches.iter().enumerate() {
        *cells.entry(touch.nodes[0].0).or_default() += 1;
        for (corner, (node, weight)) in touch.nodes.iter().enumerate() {
            let entries = expected.entry(*node).or_default();
            entries.push((corner, contact as u32, *weight));
        }
    }
    let mut wrong = Largest::new("wrong nodes and cells", 0.0);
    let mut weights = Largest::new("weights", 1e-6);
    let mut sums = Largest::new("sums of weights", 1e-6);
    let found: BTreeMap<_, _> = device.slots().collect();
    let count = 27 * touches.len() as u32;
    wrong.add(f64::from(device.n_entries().abs_diff(count)));
    wrong.add(found.len().abs_diff(expected.len()) as f64);
    for (node, entries) in &mut expected {
        entries.sort_by_key(|(corner, contact, _)| (*corner, *contact));
        let found = found.get(node).map_or(&[][..], Vec::as_slice);
        let own = entries.iter().map(|e| e.1);
        wrong.add(f64::from(u8::from(!own.eq(found.iter().map(|e| e.0)))));
        for (entry, found) in entries.iter().zip(found) {
            weights.add((entry.2 - f64::from(found.1)).abs());
        }
    }
    for node in 0..device.n_nodes() {
        let own = expected.get(&node).map_or(&[][..], Vec::as_slice);
        let weight: f64 = own.iter().map(|e| e.2).sum();
        sums.add((device.contact_weight(node) - weight).abs() / weight.max(1e-3));
        let of_cell = cells.get(&node).copied().unwrap_or(0);
        wrong.add(f64::from(device.touching(node).abs_diff(of_cell)));
    }
    let most = expected.values().map(Vec::len).max();
    assert!(most > Some(5), "nodes with many contacts: {most:?}");
    vec![wrong, weights, sums]
}
