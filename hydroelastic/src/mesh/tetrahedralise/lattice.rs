//! The body-centred cubic lattice: points at the corners and centres of cubes, joined to tetrahedra.

use nalgebra::Vector3;

use super::solid::Solid;
use crate::mesh::moments::Bounds;

/// Points of a lattice around a body, with their signed distances.
pub(crate) struct Lattice {
    /// Number of cubes along each axis.
    n: [u32; 3],
    pub(crate) points: Vec<Vector3<f64>>,
    /// φ, m; exactly 0 for a point that lies on the surface.
    pub(crate) phi: Vec<f64>,
}

/// A neighbour of a lattice point, with the snapping threshold of the connecting edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) to: u32,
    /// Fraction of the edge within which a cut snaps the point, chosen so that angles stay above 11°.
    pub(crate) snap: f64,
}

/// Optimal thresholds for the long and the short edges (Labelle and Shewchuk 2007).
const SNAP_LONG: f64 = 0.24999;
const SNAP_SHORT: f64 = 0.41189;

impl Lattice {
    /// Cubes of side `edge` (m) around `bounds`, padded by one on every side.
    pub(crate) fn new(bounds: Bounds, edge: f64, solid: &Solid) -> Self {
        let n = [0, 1, 2].map(|k| (bounds.extent()[k] / edge).ceil() as u32 + 2);
        let spare = Vector3::from_fn(|k, _| f64::from(n[k]) * edge) - bounds.extent();
        let origin = bounds.min - 0.5 * spare;
        let mut points = Vec::new();
        for (counts, shift) in [(n.map(|k| k + 1), 0.0), (n, 0.5)] {
            for k in 0..counts[2] {
                for j in 0..counts[1] {
                    for i in 0..counts[0] {
                        let at = [i, j, k].map(|x| (f64::from(x) + shift) * edge);
                        points.push(origin + Vector3::from(at));
                    }
                }
            }
        }
        let mut phi: Vec<f64> = Vec::with_capacity(points.len());
        for (i, p) in points.iter().enumerate() {
            phi.push(match i.checked_sub(1) {
                Some(last) => solid.signed_distance_near(p, (points[last], phi[last])),
                None => solid.signed_distance(p),
            });
        }
        Self { n, points, phi }
    }

    /// A corner of the cubes.
    fn corner(&self, [i, j, k]: [u32; 3]) -> u32 {
        i + (self.n[0] + 1) * (j + (self.n[1] + 1) * k)
    }

    /// The centre of a cube.
    fn center(&self, [i, j, k]: [u32; 3]) -> u32 {
        let corners = (self.n[0] + 1) * (self.n[1] + 1) * (self.n[2] + 1);
        corners + i + self.n[0] * (j + self.n[1] * k)
    }

    /// Calls `visit` with the neighbours of a point, in a fixed order.
    pub(crate) fn links(&self, point: u32, mut visit: impl FnMut(Link)) {
        let corners = (self.n[0] + 1) * (self.n[1] + 1) * (self.n[2] + 1);
        let is_corner = point < corners;
        let (index, counts) = if is_corner {
            (point, self.n.map(|k| k + 1))
        } else {
            (point - corners, self.n)
        };
        let own = [
            index % counts[0],
            index / counts[0] % counts[1],
            index / (counts[0] * counts[1]),
        ];
        for axis in 0..3 {
            for up in [false, true] {
                let mut other = own;
                if up {
                    other[axis] += 1;
                } else if own[axis] > 0 {
                    other[axis] -= 1;
                } else {
                    continue;
                }
                if other[axis] < counts[axis] {
                    let to = if is_corner {
                        self.corner(other)
                    } else {
                        self.center(other)
                    };
                    visit(Link {
                        to,
                        snap: SNAP_LONG,
                    });
                }
            }
        }
        for bits in 0..8_u32 {
            let step = [0, 1, 2].map(|k| bits >> k & 1);
            // The eight cubes around a corner, or the eight corners of a cube.
            let other = if is_corner {
                let below = [0, 1, 2].map(|k| (own[k] + step[k]).checked_sub(1));
                let [Some(i), Some(j), Some(k)] = below else {
                    continue;
                };
                if (0..3).any(|a| [i, j, k][a] >= self.n[a]) {
                    continue;
                }
                self.center([i, j, k])
            } else {
                self.corner([0, 1, 2].map(|k| own[k] + step[k]))
            };
            visit(Link {
                to: other,
                snap: SNAP_SHORT,
            });
        }
    }

    /// Calls `visit` with every tetrahedron: the centres of two adjacent cubes and one edge of their common face.
    pub(crate) fn tets(&self, mut visit: impl FnMut([u32; 4])) {
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for k in 0..self.n[2] {
                for j in 0..self.n[1] {
                    for i in 0..self.n[0] {
                        let cube = [i, j, k];
                        if cube[axis] + 1 >= self.n[axis] {
                            continue;
                        }
                        let mut next = cube;
                        next[axis] += 1;
                        let (low, high) = (self.center(cube), self.center(next));
                        let around = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(x, y)| {
                            let mut c = next;
                            c[u] += x;
                            c[v] += y;
                            self.corner(c)
                        });
                        for e in 0..4 {
                            visit([low, high, around[e], around[(e + 1) % 4]]);
                        }
                    }
                }
            }
        }
    }
}
