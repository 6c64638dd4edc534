//! Interior minima of the pressure: regions that a patch can cross without a boundary on the skin.

use super::{OUTSIDE, PressureField};

/// Cosine of the angle by which the gradient turns upwards across the face of a valley.
const VALLEY_COSINE: f64 = 0.5;

impl PressureField {
    /// Tetrahedra with an interior face whose pressure nowhere exceeds the lowest pressure on the skin.
    pub(super) fn low_tets(&self) -> Vec<u32> {
        let least = self.skin_tree.root().p_min;
        let is_low = |t: u32, side: usize| {
            let mut others = (0..4).filter(|k| *k != side);
            self.neighbours[t as usize][side] != OUTSIDE
                && others.all(|k| self.corner_pressures(t)[k] <= least)
        };
        (0..self.corners.len() as u32)
            .filter(|&t| (0..4).any(|side| is_low(t, side)))
            .collect()
    }

    /// Tetrahedra next to an interior face across which the gradient turns upwards by more than [`VALLEY_COSINE`]. The
    /// fields of the primitives are concave and have none; on a lattice they occur where the medial axis passes between
    /// vertices.
    pub(super) fn valley_tets(&self) -> Vec<u32> {
        let is_valley = |t: u32, side: usize| {
            let across = self.neighbours[t as usize][side];
            if across == OUTSIDE {
                return false;
            }
            let (here, there) = (&self.tets[t as usize], &self.tets[across as usize]);
            let (g, h) = (here.pressure.gradient, there.pressure.gradient);
            // The barycentric function decreases towards its face.
            let turns_up = (g - h).dot(&here.sides[side].gradient) > 0.0;
            turns_up && g.dot(&h) < VALLEY_COSINE * g.norm() * h.norm()
        };
        (0..self.corners.len() as u32)
            .filter(|&t| (0..4).any(|side| is_valley(t, side)))
            .collect()
    }
}
