//! Layers of cloth: how many lie above each other, and whether any has passed through another.
//!
//! A surface that starts without intersections keeps none as long as no vertex gets to the other side of a layer: to get there, its edges
//! have to pass through triangles.

use std::collections::HashMap;

use nalgebra::{Point3, Vector3};
use pliant_coupling::State;

use crate::runner::assembly::{Directory, SoftPart};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerCount {
    /// Edges that pass through a triangle with which they share no vertex.
    Intersections,
    /// The largest number of triangles on one vertical line.
    Highest,
}

/// The triangles of some cloths.
pub(super) struct Layers {
    parts: Vec<SoftPart>,
    /// Vertices, numbered consecutively over all cloths.
    triangles: Vec<[u32; 3]>,
    count: LayerCount,
}

impl Layers {
    pub(super) fn new(directory: &Directory, parts: Vec<SoftPart>, count: LayerCount) -> Self {
        let mut triangles = Vec::new();
        let mut first = 0;
        for part in &parts {
            let soft = &directory.soft[part.soft];
            let own = soft.model.triangles();
            triangles.extend(own.iter().map(|corners| corners.map(|v| first + v)));
            first += soft.start.len() as u32;
        }
        Self {
            parts,
            triangles,
            count,
        }
    }

    pub(super) fn count(&self, directory: &Directory, state: &State) -> f64 {
        let (mut all, mut points) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let soft = &directory.soft[part.soft];
            soft.model.points(&state.bodies[soft.body.0], &mut points);
            all.extend_from_slice(&points);
        }
        let count = match self.count {
            LayerCount::Intersections => intersections(&all, &self.triangles),
            LayerCount::Highest => highest(&all, &self.triangles),
        };
        count as f64
    }
}

/// Axis-aligned box of a triangle.
#[derive(Clone, Copy)]
struct Extent {
    low: Vector3<f64>,
    high: Vector3<f64>,
}

impl Extent {
    fn of(corners: &[Vector3<f64>; 3]) -> Self {
        let [a, b, c] = corners;
        Self {
            low: a.inf(b).inf(c),
            high: a.sup(b).sup(c),
        }
    }

    fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }
}

/// Triangles by the cubes of a lattice that their boxes overlap, in ascending order in each.
struct Cubes {
    edge: f64,
    members: HashMap<[i64; 3], Vec<u32>>,
}

impl Cubes {
    /// Cubes as large as the largest box.
    fn new(extents: &[Extent]) -> Self {
        let sizes = extents.iter().map(|e| (e.high - e.low).max());
        let edge = sizes.fold(f64::MIN_POSITIVE, f64::max);
        let mut cubes = Self {
            edge,
            members: HashMap::new(),
        };
        for (extent, number) in extents.iter().zip(0..) {
            for cube in cubes.overlapped(extent) {
                cubes.members.entry(cube).or_default().push(number);
            }
        }
        cubes
    }

    fn cube(&self, at: &Vector3<f64>) -> [i64; 3] {
        [at.x, at.y, at.z].map(|x| (x / self.edge).floor() as i64)
    }

    fn overlapped(&self, extent: &Extent) -> impl Iterator<Item = [i64; 3]> + use<> {
        let ([x0, y0, z0], [x1, y1, z1]) = (self.cube(&extent.low), self.cube(&extent.high));
        (x0..=x1).flat_map(move |x| (y0..=y1).flat_map(move |y| (z0..=z1).map(move |z| [x, y, z])))
    }
}

fn corners_of(points: &[Point3<f64>], triangle: &[u32; 3]) -> [Vector3<f64>; 3] {
    triangle.map(|v| points[v as usize].coords)
}

/// Edges that pass through a triangle, once for each such triangle. An edge of two triangles is counted with both.
fn intersections(points: &[Point3<f64>], triangles: &[[u32; 3]]) -> usize {
    let corners: Vec<_> = triangles.iter().map(|t| corners_of(points, t)).collect();
    let extents: Vec<_> = corners.iter().map(Extent::of).collect();
    let cubes = Cubes::new(&extents);
    let mut count = 0;
    for (cube, members) in &cubes.members {
        for (place, &one) in members.iter().enumerate() {
            for &two in &members[place + 1..] {
                let (a, b) = (one as usize, two as usize);
                let apart = !extents[a].meets(&extents[b]);
                if apart || triangles[a].iter().any(|v| triangles[b].contains(v)) {
                    continue;
                }
                // A pair may share several cubes: it is counted in the first.
                if cubes.cube(&extents[a].low.sup(&extents[b].low)) == *cube {
                    count += crossings(&corners[a], &corners[b]);
                }
            }
        }
    }
    count
}

/// Edges of either triangle that pass through the other.
fn crossings(a: &[Vector3<f64>; 3], b: &[Vector3<f64>; 3]) -> usize {
    let through = |from: &[Vector3<f64>; 3], triangle: &[Vector3<f64>; 3]| {
        let passes = |k: usize| passes_through(&from[k], &from[(k + 1) % 3], triangle);
        (0..3).filter(|k| passes(*k)).count()
    };
    through(a, b) + through(b, a)
}

/// Whether a segment passes through a triangle: its ends are on both sides of the plane, and the edges all on one side of the segment.
fn passes_through(from: &Vector3<f64>, to: &Vector3<f64>, [a, b, c]: &[Vector3<f64>; 3]) -> bool {
    let normal = (b - a).cross(&(c - a));
    let sides = [from, to].map(|end| normal.dot(&(end - a)));
    let way = to - from;
    let turns = [(a, b), (b, c), (c, a)].map(|(p, q)| way.dot(&(p - from).cross(&(q - from))));
    sides[0] * sides[1] < 0.0 && have_one_sign(&turns)
}

/// The largest number of triangles on the vertical line through the centroid of one of them.
fn highest(points: &[Point3<f64>], triangles: &[[u32; 3]]) -> usize {
    let seen_from_above =
        |t: &[u32; 3]| corners_of(points, t).map(|corner| Vector3::new(corner.x, corner.y, 0.0));
    let corners: Vec<_> = triangles.iter().map(seen_from_above).collect();
    let extents: Vec<_> = corners.iter().map(Extent::of).collect();
    let cubes = Cubes::new(&extents);
    let layers = |own: &[Vector3<f64>; 3]| {
        let middle = own.iter().sum::<Vector3<f64>>() / 3.0;
        let cube = cubes.members.get(&cubes.cube(&middle));
        let near = cube.into_iter().flatten();
        near.filter(|t| contains(&corners[**t as usize], &middle))
            .count()
    };
    corners.iter().map(layers).max().unwrap_or(0)
}

/// Whether a point is in a triangle, both in one plane of constant z.
fn contains([a, b, c]: &[Vector3<f64>; 3], point: &Vector3<f64>) -> bool {
    let turns = [(a, b), (b, c), (c, a)].map(|(p, q)| (q - p).xy().perp(&(point - p).xy()));
    have_one_sign(&turns)
}

fn have_one_sign(numbers: &[f64]) -> bool {
    numbers.iter().all(|x| *x > 0.0) || numbers.iter().all(|x| *x < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sheets of 1 m × 1 m, squares of 0.1 m with a diagonal each; `place` moves the points of the sheet with this number.
    fn sheets(
        count: usize,
        place: impl Fn(usize, Vector3<f64>) -> Vector3<f64>,
    ) -> (Vec<Point3<f64>>, Vec<[u32; 3]>) {
        let (mut points, mut triangles) = (Vec::new(), Vec::new());
        for sheet in 0..count {
            let first = points.len() as u32;
            for k in 0..121 {
                let flat = Vector3::new(0.1 * f64::from(k % 11), 0.1 * f64::from(k / 11), 0.0);
                points.push(place(sheet, flat).into());
            }
            for k in 0..100 {
                let a = first + k / 10 * 11 + k % 10;
                triangles.extend([[a, a + 1, a + 12], [a, a + 12, a + 11]]);
            }
        }
        (points, triangles)
    }

    #[test]
    fn layers_above_each_other_are_counted() {
        for n in [1, 2, 8] {
            // Shifted, so that no centroid lies on an edge of another layer.
            let shift = |k: usize, p: Vector3<f64>| p + Vector3::new(0.013, 0.027, 0.01) * k as f64;
            let (points, triangles) = sheets(n, shift);
            assert_eq!(highest(&points, &triangles), n);
            assert_eq!(intersections(&points, &triangles), 0);
        }
    }

    /// A fold at x = 0.5: two layers.
    #[test]
    fn a_folded_sheet_has_two_layers_and_no_intersections() {
        let fold = |_: usize, p: Vector3<f64>| {
            let over = p.x > 0.55;
            if over {
                Vector3::new(1.07 - p.x, p.y + 0.03, 0.02)
            } else {
                p
            }
        };
        let (points, triangles) = sheets(1, fold);
        assert_eq!(highest(&points, &triangles), 2);
        assert_eq!(intersections(&points, &triangles), 0);
    }

    /// A vertical sheet across a horizontal one: the line of intersection, 1 m long, meets edges of both every few centimetres.
    #[test]
    fn sheets_through_each_other_intersect() {
        let across = |k: usize, p: Vector3<f64>| match k {
            0 => p,
            _ => Vector3::new(0.53, 0.01 + p.x, p.y - 0.46),
        };
        let (points, triangles) = sheets(2, across);
        // The line meets ten edges across it on each sheet, one of them at the border, and ten diagonals: each with all of its triangles.
        let count = intersections(&points, &triangles);
        assert_eq!(count, 2 * (9 * 2 + 1 + 10 * 2));
        let beside = |k: usize, p: Vector3<f64>| match k {
            0 => p,
            _ => Vector3::new(0.53, 0.01 + p.x, p.y + 0.04),
        };
        let (points, triangles) = sheets(2, beside);
        assert_eq!(intersections(&points, &triangles), 0);
    }

    /// One vertex pushed through the layer below: its six edges pass.
    #[test]
    fn a_vertex_on_the_wrong_side_is_found() {
        let pushed = |k: usize, p: Vector3<f64>| {
            let low = k == 1 && (p - Vector3::new(0.5, 0.5, 0.0)).norm() < 1e-9;
            let z = if low { -0.01 } else { 0.02 * k as f64 };
            p + Vector3::new(0.033 * k as f64, 0.021 * k as f64, z)
        };
        let (points, triangles) = sheets(2, pushed);
        // Each of its six edges belongs to two triangles.
        let count = intersections(&points, &triangles);
        assert!(count >= 12, "{count}");
    }
}
