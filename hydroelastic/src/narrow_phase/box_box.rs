//! Box against box: the contact normal from the fifteen candidate axes of the separating axis test.

use nalgebra::{Matrix3, Vector3};

/// The axis of largest separation. The separation is exact when the boxes overlap, or when the nearest features are a
/// corner and a face or two edges; otherwise it is a lower bound of the distance.
pub(crate) struct BestAxis {
    /// Unit vector from B into A, in the frame of B.
    pub(crate) normal: Vector3<f64>,
    pub(crate) separation: f64,
}

/// `rotation` R_BA and translation `t` = p_BA are the pose of A in the frame of B. `None` as soon as an axis separates
/// them by more than `reach`.
///
/// # Source
/// Gottschalk, Lin and Manocha (1996), OBBTree.
pub(crate) fn best_axis(
    half_A: &Vector3<f64>,
    half_B: &Vector3<f64>,
    rotation: &Matrix3<f64>,
    t: &Vector3<f64>,
    reach: f64,
) -> Option<BestAxis> {
    let t_A = rotation.tr_mul(t);
    let spread = rotation.abs();
    let over_B = t.abs() - half_B - spread * half_A;
    let over_A = t_A.abs() - half_A - spread.tr_mul(half_B);
    if over_A.max() > reach || over_B.max() > reach {
        return None;
    }
    // A face of B is preferred unless another axis is better by more than round-off, so that the choice does not
    // flicker for aligned boxes.
    let bias = 1e-10 * (half_A.max() + half_B.max());
    let axis = over_B.imax();
    let mut best = BestAxis {
        normal: Vector3::ith(axis, 1.0_f64.copysign(t[axis])),
        separation: over_B[axis],
    };
    let axis = over_A.imax();
    if over_A[axis] > best.separation + bias {
        best = BestAxis {
            normal: rotation.column(axis) * 1.0_f64.copysign(t_A[axis]),
            separation: over_A[axis],
        };
    }
    for i in 0..3 {
        let along: Vector3<f64> = rotation.column(i).into();
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            let length = rotation[(j1, i)].hypot(rotation[(j2, i)]);
            // For parallel edges the adjacent faces have the same axis.
            if length < 1e-6 {
                continue;
            }
            let cross = along.cross(&Vector3::ith(j, 1.0));
            let midpoint = t.dot(&cross);
            let radius_A = half_A[i1] * spread[(j, i2)] + half_A[i2] * spread[(j, i1)];
            let radius_B = half_B[j1] * spread[(j2, i)] + half_B[j2] * spread[(j1, i)];
            let separation = (midpoint.abs() - radius_A - radius_B) / length;
            if separation > reach {
                return None;
            }
            // Edges give one point where faces give several: they must be better by a significant amount.
            if separation > best.separation + 10.0 * bias {
                best = BestAxis {
                    normal: cross * (1.0_f64.copysign(midpoint) / length),
                    separation,
                };
            }
        }
    }
    Some(best)
}
