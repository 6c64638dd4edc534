//! Linking number, twist and writhe of closed rods: Lk = Tw + Wr.

use std::f64::consts::TAU;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::BodyState;

use crate::error::RodError;
use crate::rod::Rod;

impl Rod {
    /// Total twist Tw = Σ τ of the material frame over all joints, in turns. In a closed rod Tw + Wr is constant under every
    /// motion without self-crossing: the linking number Lk (Călugăreanu 1961, White 1969).
    ///
    /// # Errors
    /// [`RodError::Body`] for an inadmissible state.
    pub fn total_twist(&self, state: &BodyState) -> Result<f64, RodError> {
        Ok(self.strains(state)?.twist.iter().sum::<f64>() / TAU)
    }

    /// [`writhe`] of a closed rod, without unit; an open one is closed by a straight edge from its last node to its first.
    #[must_use]
    pub fn writhe(&self, state: &BodyState) -> f64 {
        let nodes: Vec<_> = (0..self.n_nodes())
            .map(|i| self.position(state, i))
            .collect();
        writhe(&nodes)
    }
}

/// Writhe of the closed polygon through `nodes`: signed crossings with itself, averaged over all directions of view.
///
/// Exact for polygons, O(n²): the sum over pairs of edges of the signed solid angle of the directions from which they
/// appear to cross, over 2π. It depends on the shape alone, not on size, place or direction; a mirror image has the opposite writhe.
///
/// ```
/// use pliant_der::{Centreline, writhe};
///
/// assert!(writhe(&Centreline::circle(1.0, 30).nodes).abs() < 1e-12); // plane
/// // A trefoil seen from above crosses itself three times with one sign, on average over all views 3.4 times.
/// let knot = writhe(&Centreline::trefoil(1.0, 120).nodes);
/// assert!((knot.abs() - 3.4).abs() < 0.1, "{knot}");
/// ```
///
/// # Source
/// Klenin and Langowski (2000), "Computation of writhe in modeling of supercoiled DNA", method 1a.
#[must_use]
pub fn writhe(nodes: &[Point3<f64>]) -> f64 {
    let n = nodes.len();
    let mut sum = 0.0;
    for i in 0..n {
        for j in i + 2..n {
            if i == 0 && j == n - 1 {
                continue;
            }
            let corners = [nodes[i], nodes[(i + 1) % n], nodes[j], nodes[(j + 1) % n]];
            sum += crossing_angle(&corners);
        }
    }
    sum / TAU
}

/// Signed solid angle of the directions from which edges 1→2 and 3→4 appear to cross.
fn crossing_angle([p_1, p_2, p_3, p_4]: &[Point3<f64>; 4]) -> f64 {
    let (r_13, r_14, r_23, r_24) = (p_3 - p_1, p_4 - p_1, p_3 - p_2, p_4 - p_2);
    let faces = [
        r_13.cross(&r_14),
        r_14.cross(&r_24),
        r_24.cross(&r_23),
        r_23.cross(&r_13),
    ];
    let Some(faces) = unit(faces) else {
        // Coplanar edges never appear to cross.
        return 0.0;
    };
    let angle: f64 = (0..4)
        .map(|k| {
            // The arcsine of n·m, accurate near ±1.
            let (n, m) = (&faces[k], &faces[(k + 1) % 4]);
            n.dot(m).atan2(n.cross(m).norm())
        })
        .sum();
    let sign = (p_4 - p_3).cross(&(p_2 - p_1)).dot(&r_13);
    angle * sign.signum()
}

fn unit(vectors: [Vector3<f64>; 4]) -> Option<[Vector3<f64>; 4]> {
    let mut units = vectors;
    for v in &mut units {
        *v = v.try_normalize(0.0)?;
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::centreline::Centreline;

    #[test]
    fn a_plane_circle_has_no_writhe_and_a_mirrored_knot_the_opposite() {
        assert!(writhe(&Centreline::circle(1.0, 30).nodes).abs() < 1e-12);
        let knot = Centreline::trefoil(1.0, 120).nodes;
        let mirrored: Vec<_> = knot.iter().map(|p| Point3::new(p.x, p.y, -p.z)).collect();
        let (a, b) = (writhe(&knot), writhe(&mirrored));
        // Three crossings of one sign seen from above, a little less on average over all views.
        assert!(
            (a + b).abs() < 1e-12 && a.abs() > 2.5 && a.abs() < 3.6,
            "{a}, {b}"
        );
    }
}
