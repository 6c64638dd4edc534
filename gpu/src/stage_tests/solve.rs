//! The solution of the contacts: v = v* + M⁻¹Jᵀγ and V = V* − Λ J_rᵀγ for the impulses γ that it ended with, and each of them the law's.

use nalgebra::{Isometry3, Matrix3, Matrix3x6, Translation3, UnitQuaternion, Vector3, Vector6};
use pliant_contact_sap::{ContactParameters, Lagged};

use super::Largest;
use super::detection::Touch;
use super::on_device::{OnDevice, vector};
use super::scene::{DT, NEAR_RIGID, SPACING, STICTION_SPEED, Scene, TOLERANCE};

/// γ of each contact.
fn impulses(device: &OnDevice, touches: &[Touch]) -> Vec<Vector3<f64>> {
    let of = |t: &Touch| device.force(t.particle, t.obstacle as u32) * DT;
    touches.iter().map(of).collect()
}

/// M⁻¹ of a node: nothing for components that walls hold, and for nodes that are too light to have a velocity to speak of.
fn inverse_mass(scene: &Scene, device: &OnDevice, node: u32) -> Vector3<f64> {
    let mass = device.mass(node);
    if is_light(device, node) {
        return Vector3::zeros();
    }
    scene.freedom(&device.x_of(node)) / mass
}

fn is_light(device: &OnDevice, node: u32) -> bool {
    device.mass(node) <= f64::from(device.params.light_mass)
}

/// [−[arm]×, I].
fn jacobian(arm: &Vector3<f64>) -> Matrix3x6<f64> {
    let mut j = Matrix3x6::zeros();
    (j.fixed_view_mut::<3, 3>(0, 0)).copy_from(&-arm.cross_matrix());
    (j.fixed_view_mut::<3, 3>(0, 3)).copy_from(&Matrix3::identity());
    j
}

/// v_c with the velocities `of_node` and `of_link`.
fn relative_velocity(
    device: &OnDevice,
    touch: &Touch,
    of_node: impl Fn(u32) -> Vector3<f64>,
    of_link: &Vector6<f64>,
) -> Vector3<f64> {
    let heavy = touch.nodes.iter().filter(|(n, _)| !is_light(device, *n));
    let of_particle: Vector3<f64> = heavy.map(|(n, w)| of_node(*n) * *w).sum();
    let of_arm = |arm: &Vector3<f64>| jacobian(arm) * of_link;
    of_particle - touch.surface - touch.arm.as_ref().map_or(Vector3::zeros(), of_arm)
}

pub(super) fn check(scene: &Scene, device: &OnDevice, touches: &[Touch]) -> Vec<Largest> {
    let gammas = impulses(device, touches);
    vec![
        nodes(scene, device, touches, &gammas),
        elsewhere(device, touches),
        laws(scene, device, touches, &gammas),
        friction(scene, device, touches, &gammas),
    ]
}

/// v = v* + M⁻¹Jᵀγ, relative to the sum of the sizes of the terms.
fn nodes(scene: &Scene, device: &OnDevice, touches: &[Touch], gammas: &[Vector3<f64>]) -> Largest {
    let n = device.n_nodes() as usize;
    let (mut impulse, mut size) = (vec![Vector3::zeros(); n], vec![0.0; n]);
    for (touch, gamma) in touches.iter().zip(gammas) {
        for (node, weight) in &touch.nodes {
            impulse[*node as usize] += gamma * *weight;
            size[*node as usize] += gamma.norm() * weight;
        }
    }
    let mut velocities = Largest::new("v", 6e-7);
    for node in 0..device.n_nodes() {
        let inverse = inverse_mass(scene, device, node);
        let free = device.free_velocity(node);
        let expected = free + inverse.component_mul(&impulse[node as usize]);
        let scale = free.norm() + inverse.max() * size[node as usize];
        let deviation = (device.velocity(node) - expected).norm();
        velocities.add(if deviation == 0.0 {
            0.0
        } else {
            deviation / scale
        });
    }
    velocities
}

/// Particles without contact have no force.
fn elsewhere(device: &OnDevice, touches: &[Touch]) -> Largest {
    let mut strangers = Largest::new("forces elsewhere", 0.0);
    for particle in 0..device.params.n_particles {
        for obstacle in 0..device.params.n_obstacles {
            let is_of = |t: &Touch| (t.particle, t.obstacle as u32) == (particle, obstacle);
            if !touches.iter().any(is_of) {
                strangers.add(device.force(particle, obstacle).norm());
            }
        }
    }
    strangers
}

/// The law of a contact, and the response of the contact alone.
struct Opened {
    law: Lagged,
    response: f64,
    /// μ.
    friction: f64,
}

fn open(scene: &Scene, device: &OnDevice, touches: &[Touch]) -> Vec<Opened> {
    let of = |touch: &Touch| {
        let pair = scene.obstacles[touch.obstacle].pairs[touch.object].expect("it has parameters");
        let mut w = Matrix3::zeros();
        for (node, weight) in &touch.nodes {
            let inverse = inverse_mass(scene, device, *node);
            w += Matrix3::from_diagonal(&inverse) * (weight * weight);
        }
        if let Some(arm) = &touch.arm {
            let j = jacobian(arm);
            let of_link = j * scene.response.fixed_view::<6, 6>(0, 0) * j.transpose();
            w += of_link;
        }
        let rows = w.row_iter().map(|r| r.abs().sum());
        let response = rows.fold(0.0, f64::max).min(w.norm());
        let parameters = ContactParameters {
            time_step: DT.into(),
            signed_distance: touch.gap,
            start_velocity: touch.start_velocity,
            stiffness: pair.stiffness,
            dissipation: pair.dissipation,
            friction: pair.friction,
            stiction_speed: STICTION_SPEED,
            inverse_inertia: w.norm() / 3.0,
            near_rigid: NEAR_RIGID,
        };
        Opened {
            law: Lagged::new(&parameters, touch.normal, 0.0),
            response,
            friction: pair.friction,
        }
    };
    touches.iter().map(of).collect()
}

/// The change of the impulses by the solution of every contact alone, over the impulses, in the norm of the responses: what the solver ends with.
fn laws(scene: &Scene, device: &OnDevice, touches: &[Touch], gammas: &[Vector3<f64>]) -> Largest {
    let (mut change, mut size, mut closed) = (0.0, 0.0, [0; 2]);
    let of_link = device.link_velocity();
    let opened = open(scene, device, touches);
    for ((touch, gamma), mut opened) in touches.iter().zip(gammas).zip(opened) {
        let v_c = relative_velocity(device, touch, |node| device.velocity(node), &of_link);
        let w = opened.response;
        if w == 0.0 {
            // Between velocities that are held.
            size += f64::INFINITY * gamma.norm();
            continue;
        }
        let alone = opened.law.local_coulomb_impulse(w, &v_c, gamma);
        change += w * (alone - gamma).norm_squared();
        size += w * gamma.norm_squared();
        closed[touch.obstacle] += u32::from(gamma.norm() > 0.0);
    }
    assert!(closed.iter().all(|n| *n > 5), "{closed:?}");
    let mut changes = Largest::new("law", 1.1 * TOLERANCE);
    changes.add((change / size).sqrt());
    changes
}

/// How far friction is beyond μ γ_n, over the largest μ γ_n: by no more than the error of the solver.
fn friction(
    scene: &Scene,
    device: &OnDevice,
    touches: &[Touch],
    gammas: &[Vector3<f64>],
) -> Largest {
    let opened = open(scene, device, touches);
    let limits = touches.iter().zip(gammas).zip(&opened);
    let limits = limits.map(|((touch, gamma), o)| o.friction * touch.normal.dot(gamma));
    let limits: Vec<f64> = limits.collect();
    let most = limits.iter().copied().fold(0.0, f64::max);
    let mut beyond = Largest::new("friction beyond its bound", 2.0 * TOLERANCE);
    let (mut slides, mut sticks) = (0, 0);
    for ((touch, gamma), limit) in touches.iter().zip(gammas).zip(limits) {
        let normal = touch.normal.dot(gamma);
        let along = (gamma - touch.normal * normal).norm();
        beyond.add((along - limit) / most);
        beyond.add(-normal / most);
        if limit > 0.01 * most {
            slides += u32::from(along > 0.99 * limit);
            sticks += u32::from(along < 0.9 * limit);
        }
    }
    assert!(slides > 0 && sticks > 0, "{slides} slide, {sticks} stick");
    beyond
}

/// Impulses on the link, its velocity and pose, each relative to the sizes of its terms.
pub(super) fn check_links(scene: &Scene, device: &OnDevice, touches: &[Touch]) -> Vec<Largest> {
    let (mut impulse, mut size) = (Vector6::zeros(), [0.0; 2]);
    for (touch, gamma) in touches.iter().zip(impulses(device, touches)) {
        if let Some(arm) = &touch.arm {
            impulse -= jacobian(arm).transpose() * gamma;
            size[0] += arm.norm() * gamma.norm();
            size[1] += gamma.norm();
        }
    }
    let halves = |x: Vector6<f64>| [0, 3].map(|k| x.fixed_rows::<3>(k).norm());
    let mut impulses = Largest::new("Γ", 6e-7);
    for found in [device.link_impulse(), device.link_record()] {
        let deviation = halves(found - impulse);
        (0..2).for_each(|k| impulses.add(deviation[k] / size[k]));
    }
    let (mut velocities, start) = (Largest::new("V", 3e-7), scene.link.velocity);
    let expected = start + &scene.response * device.link_impulse();
    let deviation = halves(device.link_velocity() - expected);
    let scale = halves(start.abs() + scene.response.abs() * device.link_impulse().abs());
    (0..2).for_each(|k| velocities.add(deviation[k] / scale[k]));
    let turn = device.link_velocity().fixed_rows::<3>(0) * DT;
    let way = device.link_velocity().fixed_rows::<3>(3) * DT;
    let X_WL = Isometry3::from_parts(
        Translation3::from(scene.link.X_WL.translation.vector + way),
        UnitQuaternion::from_scaled_axis(turn) * scene.link.X_WL.rotation,
    );
    let mut poses = Largest::new("pose, cells and 1", 4e-6);
    let ([x, y, z, w], origin) = device.link_pose();
    let found = nalgebra::Quaternion::new(w, x, y, z);
    poses.add((found - X_WL.rotation.quaternion()).norm());
    let origin = origin + device.corner();
    poses.add((origin - X_WL.translation.vector).norm() / SPACING);
    vec![impulses, velocities, poses]
}

/// Sums over the contacts of each pair of object and obstacle, relative to the sum of the sizes of the impulses.
pub(super) fn check_sums(scene: &Scene, device: &OnDevice, touches: &[Touch]) -> Vec<Largest> {
    let gammas = impulses(device, touches);
    let mut largest = [
        Largest::new("impulses", 4e-7),
        Largest::new("points, cells", 1.5e-5),
        Largest::new("normals", 1e-6),
        Largest::new("least gaps, cells", 6e-7),
    ];
    let mut pairs = 0;
    for pair in 0..4 {
        let (obstacle, object) = (pair / 2, pair % 2);
        let own = (touches.iter().zip(&gammas))
            .filter(|(t, _)| (t.obstacle, t.object) == (obstacle, object));
        let mu = scene.obstacles[obstacle].pairs[object].map_or(0.0, |pair| pair.friction);
        let (mut impulse, mut size, mut gap) = (Vector3::zeros(), 0.0, f64::INFINITY);
        let (mut point, mut normal) = (Vector3::zeros(), Vector3::zeros());
        let (mut friction, mut excess) = (0.0, 0.0);
        for (touch, gamma) in own {
            let load = touch.normal.dot(gamma);
            let along = (gamma - touch.normal * load).norm();
            friction += along;
            excess += (along - mu * load - 1e-6 * gamma.norm()).max(0.0);
            impulse += gamma;
            size += gamma.norm();
            point += touch.point * gamma.norm();
            normal += touch.normal * gamma.norm();
            gap = gap.min(touch.gap);
        }
        let found = device.pair(pair);
        if scene.obstacles[obstacle].pairs[object].is_none() {
            assert!(
                found[..7].iter().all(|x| *x == 0.0),
                "a pair without contact"
            );
            continue;
        }
        pairs += 1;
        largest[0].add((vector(found) - impulse).norm() / size);
        largest[0].add((f64::from(found[3]) - size).abs() / size);
        largest[0].add((f64::from(found[11]) - friction).abs() / size);
        largest[0].add((f64::from(found[12]) - excess).abs() / size);
        let found_point = vector(&found[4..]) / size + device.corner();
        largest[1].add((found_point - point / size).norm() / SPACING);
        largest[2].add((vector(&found[8..]) - normal).norm() / size);
        largest[3].add((f64::from(found[7]) - gap).abs() / SPACING);
    }
    assert!(pairs >= 3 && device.report.pairs.len() == pairs);
    largest.into()
}
