//! Exchange at grid nodes: a node inside a shape takes the shape's velocity.

use nalgebra::Vector3;

use super::{ExchangedImpulses, Substep};
use crate::split_world::Obstacle;

/// Applies contact to the `velocity` of all nodes inside an obstacle and records the impulses.
pub(super) fn exchange(
    substep: &Substep<'_>,
    obstacles: &[Obstacle],
    velocity: &mut [f64],
    exchanged: &mut ExchangedImpulses,
) {
    let world = substep.world;
    for obstacle in obstacles {
        let Some(shape) = &world.parts.geometries[obstacle.geometry.0].shape else {
            continue;
        };
        let pose = obstacle.pose_after(substep.passed_s);
        let bounds = shape.aabb(&pose);
        for (node, v) in substep.nodes.iter().zip(velocity.chunks_exact_mut(3)) {
            if !bounds.contains(&node.p_WQ) {
                continue;
            }
            let Some(soft) = obstacle.meets(world, substep.parts, node.part) else {
                continue;
            };
            let distance = shape.signed_distance_in_world(&pose, &node.p_WQ);
            if distance.value >= 0.0 {
                continue;
            }
            let friction = world.pair(soft, obstacle.geometry).friction;
            let normal = distance.gradient;
            let own = Vector3::from_column_slice(v);
            let slip = own - obstacle.velocity_at(world, &pose, &node.p_WQ);
            let change = change_of_velocity(&slip, &normal, friction);
            if change == Vector3::zeros() {
                continue;
            }
            v.copy_from_slice((own + change).as_slice());
            exchanged.entry((soft, obstacle.geometry)).or_default().add(
                change * node.mass,
                &node.p_WQ,
                &normal,
                obstacle,
            );
        }
    }
}

/// Coulomb's law for a node with relative velocity `slip` inside a shape: no approach along the outward `normal`, and a reduction of the
/// tangential slip by at most μ times the change along the normal.
fn change_of_velocity(slip: &Vector3<f64>, normal: &Vector3<f64>, friction: f64) -> Vector3<f64> {
    let approach = -slip.dot(normal);
    if approach <= 0.0 {
        return Vector3::zeros();
    }
    let tangential = slip + normal * approach;
    let speed = tangential.norm();
    let share = if speed > friction * approach {
        friction * approach / speed
    } else {
        1.0
    };
    normal * approach - tangential * share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_never_approaches_and_friction_stays_in_its_cone() {
        let normal = Vector3::new(0.6, 0.0, 0.8);
        for mu in [0.0, 0.3, 2.0] {
            for k in 0..40 {
                let s = k as f64;
                let slip = Vector3::new(s.sin(), (1.3 * s).cos(), (0.7 * s).sin());
                let change = change_of_velocity(&slip, &normal, mu);
                let approach = -slip.dot(&normal);
                if approach <= 0.0 {
                    assert_eq!(change, Vector3::zeros());
                    continue;
                }
                let end = slip + change;
                assert!(end.dot(&normal).abs() < 1e-14);
                let along = change - normal * change.dot(&normal);
                assert!(along.norm() <= mu * approach + 1e-14);
                // Friction opposes slip and never reverses it.
                assert!(along.dot(&slip) <= 1e-14 && end.dot(&slip) >= -1e-14);
                assert!(end.norm() < 1e-14 || (along.norm() - mu * approach).abs() < 1e-14);
            }
        }
    }
}
