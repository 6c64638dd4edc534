//! Strand crossings: how often segments have passed through each other, which contact must prevent.
//!
//! Between two steps the ends of segments move along straight lines. Two segments cross if they become coplanar an odd number
//! of times and intersect where they do.

use nalgebra::{Point3, Vector3};
use pliant_coupling::State;

use crate::runner::assembly::{Directory, SoftPart};

/// The observed strands and the crossings so far.
pub(super) struct Strands {
    parts: Vec<SoftPart>,
    /// Pairs of points, numbered consecutively over all strands.
    segments: Vec<[usize; 2]>,
    before: Vec<Point3<f64>>,
    crossings: u64,
}

impl Strands {
    pub(super) fn new(directory: &Directory, parts: Vec<SoftPart>) -> Self {
        let mut segments = Vec::new();
        let mut first = 0;
        for part in &parts {
            let soft = &directory.soft[part.soft];
            let joined = soft.model.segments();
            segments.extend(
                joined
                    .iter()
                    .map(|ends| ends.map(|end| first + end as usize)),
            );
            first += soft.start.len();
        }
        Self {
            parts,
            segments,
            before: Vec::new(),
            crossings: 0,
        }
    }

    /// Crossings since the first call.
    pub(super) fn watch(&mut self, directory: &Directory, state: &State) -> f64 {
        let (mut now, mut points) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let soft = &directory.soft[part.soft];
            soft.model.points(&state.bodies[soft.body.0], &mut points);
            now.extend_from_slice(&points);
        }
        if self.before.len() == now.len() {
            self.crossings += count_crossings(&self.segments, &self.before, &now);
        }
        self.before = now;
        self.crossings as f64
    }
}

/// Pairs of segments that cross while their points move along straight lines from `before` to `after`.
fn count_crossings(segments: &[[usize; 2]], before: &[Point3<f64>], after: &[Point3<f64>]) -> u64 {
    let swept = |ends: &[usize; 2]| {
        let corners = ends
            .iter()
            .flat_map(|&end| [before[end].coords, after[end].coords]);
        let low = corners
            .clone()
            .fold(Vector3::repeat(f64::INFINITY), |a, b| a.inf(&b));
        let high = corners.fold(Vector3::repeat(f64::NEG_INFINITY), |a, b| a.sup(&b));
        (low, high)
    };
    let boxes: Vec<_> = segments.iter().map(swept).collect();
    let mut along_x: Vec<usize> = (0..segments.len()).collect();
    along_x.sort_by(|&a, &b| boxes[a].0.x.total_cmp(&boxes[b].0.x));
    let mut count = 0;
    for (place, &i) in along_x.iter().enumerate() {
        let (low, high) = boxes[i];
        let near = along_x[place + 1..]
            .iter()
            .take_while(|&&j| boxes[j].0.x <= high.x);
        for &j in near {
            let apart = boxes[j].0.y > high.y
                || boxes[j].1.y < low.y
                || boxes[j].0.z > high.z
                || boxes[j].1.z < low.z;
            let neighbours = segments[i].iter().any(|end| segments[j].contains(end));
            if !apart && !neighbours {
                let ends = [segments[i], segments[j]];
                let at = |points: &[Point3<f64>]| ends.map(|pair| pair.map(|end| points[end]));
                count += u64::from(pass(&at(before), &at(after)));
            }
        }
    }
    count
}

/// Whether two segments, each given by its ends, pass through each other on the way from `before` to `after`.
fn pass(before: &[[Point3<f64>; 2]; 2], after: &[[Point3<f64>; 2]; 2]) -> bool {
    let at = |t: f64| {
        let ends = |k: usize| [0, 1].map(|e| before[k][e] + (after[k][e] - before[k][e]) * t);
        [ends(0), ends(1)]
    };
    let side = |t: f64| volume(&at(t));
    let (mut early, mut late) = (0.0, 1.0);
    let first = side(early);
    if first == 0.0 || (first > 0.0) == (side(late) > 0.0) {
        return false;
    }
    for _ in 0..60 {
        let midpoint = 0.5 * (early + late);
        if (side(midpoint) > 0.0) == (first > 0.0) {
            early = midpoint;
        } else {
            late = midpoint;
        }
    }
    cross(&at(late))
}

/// Six times the signed volume of the tetrahedron of four ends, m³: its sign gives the side on which they pass.
fn volume([a, b]: &[[Point3<f64>; 2]; 2]) -> f64 {
    (a[1] - a[0]).cross(&(b[1] - b[0])).dot(&(b[0] - a[0]))
}

/// Whether two coplanar segments cross. Of two that follow each other on a strand one holds their common point.
fn cross([a, b]: &[[Point3<f64>; 2]; 2]) -> bool {
    let (along_a, along_b, between) = (a[1] - a[0], b[1] - b[0], b[0] - a[0]);
    let normal = along_a.cross(&along_b);
    let square = normal.norm_squared();
    let on_a = between.cross(&along_b).dot(&normal) / square;
    let on_b = between.cross(&along_a).dot(&normal) / square;
    (0.0..1.0).contains(&on_a) && (0.0..1.0).contains(&on_b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A strand of three points along x through `y`, and one of two points along y, at heights above each other.
    fn crossed(height: f64, y: f64) -> Vec<Point3<f64>> {
        [
            [-1.0, y, 0.0],
            [0.1, y, 0.0],
            [1.0, y, 0.0],
            [0.0, -1.0, height],
            [0.0, 1.0, height],
        ]
        .map(Point3::from)
        .to_vec()
    }

    const SEGMENTS: [[usize; 2]; 3] = [[0, 1], [1, 2], [3, 4]];

    #[track_caller]
    fn check(before: &[Point3<f64>], after: &[Point3<f64>], crossings: u64) {
        assert_eq!(count_crossings(&SEGMENTS, before, after), crossings);
        assert_eq!(count_crossings(&SEGMENTS, after, before), crossings);
    }

    #[test]
    fn strands_that_go_through_each_other_are_counted_once() {
        check(&crossed(0.1, 0.0), &crossed(-0.2, 0.3), 1);
    }

    #[test]
    fn strands_that_only_come_near_or_go_around_are_not() {
        check(&crossed(0.1, 0.0), &crossed(0.01, 0.0), 0);
        // Past the end of the short one, while the plane is crossed.
        check(&crossed(0.1, 1.5), &crossed(-0.1, 1.2), 0);
    }

    #[test]
    fn a_common_point_of_two_segments_goes_through_once() {
        let shifted = |height: f64| {
            let mut points = crossed(height, 0.0);
            points[1].x = 0.0;
            points
        };
        check(&shifted(0.1), &shifted(-0.1), 1);
    }

    #[test]
    fn a_rotation_of_all_strands_is_no_crossing() {
        // One rotation by about a radian: no relative motion.
        let rotation = nalgebra::Rotation3::new(Vector3::new(0.3, 0.9, 0.2));
        let before = crossed(0.1, 0.0);
        let after: Vec<_> = before
            .iter()
            .map(|p| rotation * (p + Vector3::new(0.3, 0.0, 0.0)))
            .collect();
        check(&before, &after, 0);
    }
}
