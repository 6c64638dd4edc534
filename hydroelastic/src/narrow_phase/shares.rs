//! Shares of points that several features report at the same position.

use super::manifold::PairPoint;

/// Gives points with the same two features (such as the ends of a line) different keys, in their order.
fn distinguish(points: &mut [PairPoint]) {
    for i in 1..points.len() {
        let (before, rest) = points.split_at_mut(i);
        let p = &mut rest[0];
        while before
            .iter()
            .any(|q| (q.feature_A, q.feature_B) == (p.feature_A, p.feature_B))
        {
            // Far beyond the indices of any mesh in contact at one position.
            p.feature_A = p.feature_A.wrapping_add(1 << 26);
        }
    }
}

/// Points closer than a twentieth of the size share the stiffness of one point, increasingly so the closer they are.
pub(crate) fn share_out(points: &mut [PairPoint], size: f64) {
    distinguish(points);
    let radius = 0.05 * size;
    for i in 0..points.len() {
        let mut neighbours = 0.0;
        for q in points.iter() {
            let p = &points[i];
            let distance = (p.p_B - q.p_B).norm();
            if distance < radius {
                let alike = p.normal.dot(&q.normal).max(0.0);
                neighbours += (1.0 - distance / radius) * alike;
            }
        }
        points[i].share = 1.0 / neighbours.max(1.0);
    }
}
