//! Quality of the final state of all engines, measured in the same way: penetration, drift, lost bodies.

use std::path::Path;

use nalgebra::{Isometry3, Vector3};
use pliant_hydroelastic::{
    ContactChoice, ContactGeometry, ContactWorkspace, PointContact, Posed, Query, RigidShape, Shape,
};
use serde::{Deserialize, Serialize};

use crate::engine::Outcome;
use crate::error::BenchError;
use crate::scene::{Pose, Scene};

/// Quality of the final poses of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Largest penetration of a pair of shapes at the end, m.
    pub penetration_max_m: f64,
    /// Largest displacement of a body's centre over the last half second, m.
    pub drift_max_m: f64,
    /// Largest distance of a body's centre from its initial position, m.
    pub moved_max_m: f64,
    /// Number of bodies below the floor or outside the bin.
    pub lost: usize,
    /// Largest joint position error of the arm at the end, rad.
    pub tracking_max_rad: f64,
}

impl Quality {
    /// Measures the end of a run; paths in the scene are relative to `root`.
    ///
    /// # Errors
    /// [`BenchError::Shape`] or [`BenchError::Mesh`] for invalid shapes or mesh files.
    pub fn of(scene: &Scene, outcome: &Outcome, root: &Path) -> Result<Self, BenchError> {
        let mut quality = Self {
            penetration_max_m: penetration(scene, &outcome.poses_end, root)?,
            ..Self::default()
        };
        let position = |pose: &Pose| Vector3::from(pose.position);
        for (end, before) in outcome.poses_end.iter().zip(&outcome.poses_before) {
            let moved = (position(end) - position(before)).norm();
            quality.drift_max_m = quality.drift_max_m.max(moved);
        }
        let reach = scene
            .fixed
            .iter()
            .map(|f| Vector3::from(f.pose.position).xy().amax())
            .fold(0.0, f64::max);
        for (end, body) in outcome.poses_end.iter().zip(&scene.free) {
            let moved = (position(end) - position(&body.pose)).norm();
            quality.moved_max_m = quality.moved_max_m.max(moved);
            let outside = reach > 0.0 && position(end).xy().amax() > reach;
            if position(end).z < 0.0 || outside || moved.is_nan() {
                quality.lost += 1;
            }
        }
        if let Some(arm) = &scene.arm {
            let n = outcome.joints_end.len();
            let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
            let t = scene.time_step_s * scene.n_steps() as f64;
            arm.path(t, &mut q, &mut v);
            for (q, target) in outcome.joints_end.iter().zip(&q) {
                quality.tracking_max_rad = quality.tracking_max_rad.max((q - target).abs());
            }
        }
        Ok(quality)
    }
}

/// Largest penetration over all pairs, m, from pliant's signed distance.
fn penetration(scene: &Scene, poses: &[Pose], root: &Path) -> Result<f64, BenchError> {
    let mut placed: Vec<(Shape, Isometry3<f64>)> = Vec::new();
    for fixed in &scene.fixed {
        let shape = fixed.solid.shape(&fixed.name, root)?;
        placed.push((shape, fixed.pose.isometry()));
    }
    let n_fixed = placed.len();
    for (free, pose) in scene.free.iter().zip(poses) {
        placed.push((free.solid.shape(&free.name, root)?, pose.isometry()));
    }
    let query = Query {
        time_step_s: 0.0,
        margin: 0.0,
        choice: ContactChoice::Point,
    };
    let mut deepest: f64 = 0.0;
    let mut points = Vec::new();
    let mut workspace = ContactWorkspace::default();
    for (b, (shape_b, X_WB)) in placed.iter().enumerate().skip(n_fixed) {
        for (shape_a, X_WA) in &placed[..b] {
            let half_space = matches!(shape_a, Shape::HalfSpace);
            if !half_space && !shape_a.aabb(X_WA).intersects(&shape_b.aabb(X_WB)) {
                continue;
            }
            let posed = |shape, X_WG| Posed::Rigid(RigidShape::at_rest(shape, X_WG));
            points.clear();
            let result = PointContact.collide(
                posed(shape_a, *X_WA),
                posed(shape_b, *X_WB),
                &query,
                &mut workspace,
                &mut points,
            );
            if let Some(Err(source)) = result {
                return Err(BenchError::Shape {
                    name: scene.free[b - n_fixed].name.clone(),
                    source,
                });
            }
            for point in &points {
                deepest = deepest.max(-point.signed_distance);
            }
        }
    }
    Ok(deepest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;

    #[test]
    fn penetration_drift_and_lost_bodies_are_measured() {
        let scene = catalogue::box_stack(2);
        let start: Vec<Pose> = scene.free.iter().map(|b| b.pose).collect();
        let mut end = start.clone();
        end[1].position[2] -= 0.003;
        let outcome = Outcome {
            poses_before: start.clone(),
            poses_end: end,
            ..Outcome::default()
        };
        let root = Path::new(".");
        let quality = Quality::of(&scene, &outcome, root).expect("legal shapes");
        assert!((quality.penetration_max_m - 0.003).abs() < 1e-12);
        assert!((quality.drift_max_m - 0.003).abs() < 1e-12);
        assert_eq!(quality.lost, 0);
        let mut fallen = start;
        fallen[0].position[2] = -1.0;
        let outcome = Outcome {
            poses_end: fallen,
            ..outcome
        };
        assert_eq!(
            Quality::of(&scene, &outcome, root)
                .expect("legal shapes")
                .lost,
            1
        );
    }
}
