//! Poses at which planes coincide with faces, vertices with planes, frames with frames.

use super::*;

/// Poses at which planes coincide with faces, vertices with planes, frames with frames.
fn degenerate_poses() -> Vec<Isometry3<f64>> {
    let quarter = std::f64::consts::FRAC_PI_2;
    let mut poses = Vec::new();
    for turn in [
        Vector3::zeros(),
        Vector3::x() * quarter,
        Vector3::y() * quarter,
        Vector3::z() * quarter,
        Vector3::z() * (0.5 * quarter),
        Vector3::x() * (2.0 * quarter),
        Vector3::new(1e-9, 0.0, 0.0),
        Vector3::new(1e-15, 2e-15, 0.0),
    ] {
        for shift in [
            Vector3::zeros(),
            Vector3::z() * 0.1,
            Vector3::z() * 0.05,
            Vector3::x() * 0.2,
            Vector3::new(0.2, 0.15, 0.1),
            Vector3::new(0.1, 0.075, 0.05),
            Vector3::z() * 1e-12,
            Vector3::z() * (0.1 - 1e-12),
            Vector3::new(0.0, 1e-16, 0.099),
        ] {
            poses.push(Isometry3::new(shift, turn));
            poses.push(Isometry3::new(-shift, turn));
        }
    }
    poses
}

#[test]
fn degenerate_poses_give_finite_answers() {
    for margin in [0.0, 1e-3] {
        for (a, b) in pairs(margin) {
            // Filled meshes have thousands of tetrahedra: some of the poses will do.
            let every = if is_hollow(&a) || is_hollow(&b) { 9 } else { 1 };
            for X in degenerate_poses().into_iter().step_by(every) {
                let s = *patch(a.at(X), b.at(Isometry3::identity())).summary();
                assert!(
                    s.area.is_finite()
                        && s.force_W.sum().is_finite()
                        && s.moment_W.sum().is_finite()
                );
                for c in points(a.at(X), b.at(Isometry3::identity())) {
                    assert!(c.p_WC.coords.sum().is_finite() && c.signed_distance.is_finite());
                }
            }
        }
    }
}
