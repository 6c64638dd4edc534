//! The convex hull of points as triangles, with exact predicates.
//!
//! Every decision is the exact sign of a determinant of the coordinates, so the triangles form a closed surface for any points that are
//! not coplanar: duplicates, coplanar and collinear subsets and slivers need no tolerance. A point in the plane of a triangle does not
//! see it; a new triangle therefore never has collinear corners.
//!
//! # Sources
//! Barber, Dobkin, Huhdanpaa (1996), The Quickhull algorithm for convex hulls; Shewchuk (1997), Adaptive precision floating-point
//! arithmetic and fast robust geometric predicates.

use nalgebra::{Point3, Vector3};
use robust::{Coord3D, orient3d};

/// A triangle of the hull: corners counter-clockwise from outside, and the triangle across each side; side k runs from corner k to
/// corner k + 1.
#[derive(Clone, Debug)]
pub(super) struct HullTriangle {
    pub(super) corners: [u32; 3],
    pub(super) neighbours: [u32; 3],
}

struct Facet {
    triangle: HullTriangle,
    /// Points that see the triangle from outside and are not yet in the hull.
    outside: Vec<u32>,
    is_alive: bool,
}

/// A side between a triangle that the new point sees and one that it does not see.
struct HorizonSide {
    ends: [u32; 2],
    beyond: u32,
}

struct Quickhull<'a> {
    points: &'a [Point3<f64>],
    facets: Vec<Facet>,
}

/// The triangles of the hull; `None` if the points are coplanar. Coordinates are finite.
pub(super) fn hull_triangles(points: &[Point3<f64>]) -> Option<Vec<HullTriangle>> {
    let mut hull = Quickhull {
        points,
        facets: Vec::new(),
    };
    hull.start(simplex(points)?);
    let mut facet_from = vec![0_u32; points.len()];
    let mut pending: Vec<u32> = vec![0, 1, 2, 3];
    while let Some(at) = pending.pop() {
        let facet = &hull.facets[at as usize];
        if facet.is_alive && !facet.outside.is_empty() {
            let first_new = hull.facets.len() as u32;
            hull.add(hull.furthest(at), at, &mut facet_from);
            pending.extend(first_new..hull.facets.len() as u32);
        }
    }
    Some(hull.finished())
}

/// Positive if `p` sees the triangle from outside.
fn height(points: &[Point3<f64>], [a, b, c]: [u32; 3], p: u32) -> f64 {
    let at = |i: u32| {
        let p = &points[i as usize];
        Coord3D {
            x: p.x,
            y: p.y,
            z: p.z,
        }
    };
    -orient3d(at(a), at(b), at(c), at(p))
}

/// Four points that are not coplanar, the last one below the triangle of the others.
fn simplex(points: &[Point3<f64>]) -> Option<[u32; 4]> {
    let furthest = |measure: &dyn Fn(&Point3<f64>) -> f64| {
        let measured = points.iter().map(measure).zip(0_u32..);
        measured.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let (_, a) = furthest(&|p| p.x)?;
    let origin = points[a as usize];
    let (_, b) = furthest(&|p| (p - origin).norm_squared())?;
    let along = points[b as usize] - origin;
    let (_, c) = furthest(&|p| (p - origin).cross(&along).norm_squared())?;
    let heights = (0..points.len() as u32).map(|p| (height(points, [a, b, c], p), p));
    let (top, d) = heights.max_by(|x, y| x.0.abs().total_cmp(&y.0.abs()))?;
    match top {
        0.0 => None,
        top if top > 0.0 => Some([a, c, b, d]),
        _ => Some([a, b, c, d]),
    }
}

impl Quickhull<'_> {
    fn start(&mut self, [a, b, c, d]: [u32; 4]) {
        let of = |corners, neighbours| Facet {
            triangle: HullTriangle {
                corners,
                neighbours,
            },
            outside: Vec::new(),
            is_alive: true,
        };
        self.facets = vec![
            of([a, b, c], [1, 2, 3]),
            of([b, a, d], [0, 3, 2]),
            of([c, b, d], [0, 1, 3]),
            of([a, c, d], [0, 2, 1]),
        ];
        let all = (0..self.points.len() as u32).collect();
        self.distribute(all, 0);
    }

    fn sees(&self, point: u32, facet: u32) -> bool {
        let corners = self.facets[facet as usize].triangle.corners;
        height(self.points, corners, point) > 0.0
    }

    /// Hands each point to the first facet from `first` on that it sees; the others are in the hull.
    fn distribute(&mut self, points: Vec<u32>, first: u32) {
        for point in points {
            let mut facets = first..self.facets.len() as u32;
            if let Some(facet) = facets.find(|facet| self.sees(point, *facet)) {
                self.facets[facet as usize].outside.push(point);
            }
        }
    }

    fn furthest(&self, facet: u32) -> u32 {
        let facet = &self.facets[facet as usize];
        let [a, b, c] = facet.triangle.corners.map(|v| self.points[v as usize]);
        let normal = (b - a).cross(&(c - a));
        let above = |p: u32| normal.dot(&(self.points[p as usize] - a));
        let points = facet.outside.iter().copied();
        let furthest = points.max_by(|p, q| above(*p).total_cmp(&above(*q)));
        furthest.expect("a facet with points outside")
    }

    /// Replaces all facets that `point` sees, one of them `seen`, by a cone from their rim to it.
    fn add(&mut self, point: u32, seen: u32, facet_from: &mut [u32]) {
        let (horizon, freed) = self.cut(point, seen);
        let first = self.facets.len() as u32;
        for (side, new) in horizon.iter().zip(first..) {
            let [from, to] = side.ends;
            facet_from[from as usize] = new;
            let beyond = &mut self.facets[side.beyond as usize].triangle;
            let k =
                (0..3).find(|k| beyond.corners[*k] == to && beyond.corners[(k + 1) % 3] == from);
            beyond.neighbours[k.expect("the side of its neighbour")] = new;
            self.facets.push(Facet {
                triangle: HullTriangle {
                    corners: [from, to, point],
                    neighbours: [side.beyond, 0, 0],
                },
                outside: Vec::new(),
                is_alive: true,
            });
        }
        for (side, new) in horizon.iter().zip(first..) {
            let next = facet_from[side.ends[1] as usize];
            self.facets[new as usize].triangle.neighbours[1] = next;
            self.facets[next as usize].triangle.neighbours[2] = new;
        }
        self.distribute(freed, first);
    }

    /// Removes the facets that `point` sees. Returns their rim and the points outside them.
    fn cut(&mut self, point: u32, seen: u32) -> (Vec<HorizonSide>, Vec<u32>) {
        let mut seen_facets = vec![seen];
        self.facets[seen as usize].is_alive = false;
        let mut horizon = Vec::new();
        let mut next = 0;
        while let Some(&at) = seen_facets.get(next) {
            next += 1;
            let triangle = self.facets[at as usize].triangle.clone();
            for k in 0..3 {
                let beyond = triangle.neighbours[k];
                if !self.facets[beyond as usize].is_alive {
                    continue;
                }
                if self.sees(point, beyond) {
                    self.facets[beyond as usize].is_alive = false;
                    seen_facets.push(beyond);
                } else {
                    let ends = [triangle.corners[k], triangle.corners[(k + 1) % 3]];
                    horizon.push(HorizonSide { ends, beyond });
                }
            }
        }
        let facets = seen_facets.iter();
        let outside = facets.flat_map(|at| core::mem::take(&mut self.facets[*at as usize].outside));
        (horizon, outside.filter(|p| *p != point).collect())
    }

    fn finished(self) -> Vec<HullTriangle> {
        let mut new_index = vec![u32::MAX; self.facets.len()];
        let alive = self
            .facets
            .iter()
            .zip(&mut new_index)
            .filter(|(facet, _)| facet.is_alive);
        for ((_, index), new) in alive.zip(0..) {
            *index = new;
        }
        let alive = self.facets.into_iter().filter(|facet| facet.is_alive);
        let renumbered = alive.map(|facet| HullTriangle {
            neighbours: facet.triangle.neighbours.map(|n| new_index[n as usize]),
            ..facet.triangle
        });
        renumbered.collect()
    }
}

/// Twice the area, along the outward normal.
pub(super) fn area_vector(points: &[Point3<f64>], corners: [u32; 3]) -> Vector3<f64> {
    let [a, b, c] = corners.map(|v| points[v as usize]);
    (b - a).cross(&(c - a))
}
