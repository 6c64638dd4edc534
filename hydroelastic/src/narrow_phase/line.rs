//! Contact along a line: a lying cylinder, a capsule, a box on its edge.
//!
//! Pressure is uniform along a line of length L between equally stiff shapes. Two points at its ends would carry the force and the moment, but twice the
//! friction torque about the normal, μ N L/2 for μ N L/4: a wheel that turns as it rolls would scrub too much. A quarter of the force at each end and half of it
//! in the middle has the right torque, and leaves a point that can stick while the ends slide.

/// Sine of the angle between a line and a plane from which on they touch at a point.
const STEEP: f64 = 0.1;

/// How much a line lies in a plane, from the sine of the angle between them: 1 if it is parallel, 0 if it touches at one end.
pub(crate) fn flatness(sine: f64) -> f64 {
    (1.0 - sine.abs() / STEEP).max(0.0)
}

/// How much the edge between two perpendicular faces carries a contact of its own, from the cosines between the faces' normals and the plane's: 0 if one of the
/// faces lies flat on the plane, 1 if both are clear of it.
pub(crate) fn edge_between_faces(cosines: [f64; 2]) -> f64 {
    /// Faces at a smaller angle lie flat: a box at rest keeps four points.
    const FLAT: f64 = 0.01;
    let steepness = cosines[0].abs().min(cosines[1].abs());
    ((steepness - FLAT) / STEEP).clamp(0.0, 1.0)
}

/// Shares of the stiffness of the two ends and of the middle of a line of this [`flatness`]; 1 for each end without a middle.
pub(crate) fn shares(flatness: f64) -> [f64; 3] {
    let end = 1.0 - 0.5 * flatness;
    [end, flatness, end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lying_line_carries_its_force_and_its_friction_torque() {
        let shares = shares(flatness(0.0));
        let total: f64 = shares.iter().sum();
        let torque: f64 = [0.0, 0.5, 1.0]
            .iter()
            .zip(shares)
            .map(|(t, share)| share / total * (t - 0.5_f64).abs())
            .sum();
        // Two points of share 1, and ∫ |t - 1/2| dt from 0 to 1.
        assert_eq!((total, torque), (2.0, 0.25));
    }

    #[test]
    fn a_steep_line_has_only_its_ends() {
        assert_eq!(shares(flatness(-0.2)), [1.0, 0.0, 1.0]);
    }
}
