//! Mesh of the cross-section of a filament's pressure field, and the tetrahedra that it sweeps.

use std::f64::consts::TAU;

use nalgebra::Vector2;

use super::section::{FlatSection, Outline};
use crate::field::Compliance;

/// A rectangle with a larger aspect ratio has a medial line, others a medial point.
const FLAT: f64 = 1.5;

/// The section's points (m, along m1 and t × m1) with the pressure there as a fraction of the modulus. Medial points
/// come first.
#[derive(Clone, Debug)]
pub(super) struct SectionMesh {
    pub(super) points: Vec<([f64; 2], f64)>,
    pub(super) n_medial: usize,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Distance from the medial points to the surface, m.
    pub(super) depth: f64,
    pub(super) is_round: bool,
}

impl SectionMesh {
    /// A polygon with the area of the disc.
    pub(super) fn round(radius: f64, compliance: &Compliance) -> Self {
        let n = n_sides(radius, compliance);
        let angle = TAU / f64::from(n);
        let circumradius = radius * (angle / angle.sin()).sqrt();
        let apothem = circumradius * (0.5 * angle).cos();
        let outside = compliance.margin / apothem;
        let mut points = vec![([0.0, 0.0], 1.0)];
        for k in 0..n {
            let (s, c) = (f64::from(k) * angle).sin_cos();
            let r = circumradius * (1.0 + outside);
            points.push(([r * c, r * s], -outside));
        }
        Self {
            points,
            n_medial: 1,
            triangles: fan(n),
            depth: apothem,
            is_round: true,
        }
    }

    /// The mesh of a section that is not round.
    pub(super) fn of_flat(flat: &FlatSection, compliance: &Compliance) -> Self {
        let halves = [flat.half_1, flat.half_2];
        match flat.outline {
            Outline::Rectangle => Self::rectangle(halves, compliance),
            Outline::Ellipse => Self::ellipse(halves, compliance),
        }
    }

    /// A polygon with the area of the ellipse and its maximum pressure at the centre.
    fn ellipse([a, b]: [f64; 2], compliance: &Compliance) -> Self {
        // About as many sides as a circle of the same circumference.
        let n = n_sides((0.5 * (a * a + b * b)).sqrt(), compliance);
        let angle = TAU / f64::from(n);
        let factor = (angle / angle.sin()).sqrt();
        let corner = |k: u32| {
            let (s, c) = (f64::from(k) * angle).sin_cos();
            Vector2::new(a * factor * c, b * factor * s)
        };
        let from_midpoint = |k: u32| {
            let (p, q) = (corner(k), corner(k + 1));
            p.perp(&q) / (q - p).norm()
        };
        let depth = (0..n).map(from_midpoint).fold(f64::INFINITY, f64::min);
        let outside = compliance.margin / depth;
        let rim = (0..n).map(|k| ((corner(k) * (1.0 + outside)).into(), -outside));
        Self {
            points: std::iter::once(([0.0, 0.0], 1.0)).chain(rim).collect(),
            n_medial: 1,
            triangles: fan(n),
            depth,
            is_round: false,
        }
    }

    fn rectangle(halves: [f64; 2], compliance: &Compliance) -> Self {
        let (margin, depth) = (compliance.margin, halves[0].min(halves[1]));
        let outside = -margin / depth;
        let [a, b] = halves.map(|h| h + margin);
        let corners = [[-a, -b], [a, -b], [a, b], [-a, b]].map(|x| (x, outside));
        let medial = halves.map(|h| if h > FLAT * depth { h - depth } else { 0.0 });
        let n_medial = if medial == [0.0; 2] { 1 } else { 2 };
        let mut points = vec![([-medial[0], -medial[1]], 1.0)];
        if n_medial == 2 {
            points.push((medial, 1.0));
        }
        points.extend(corners);
        let c = n_medial as u32;
        let triangles = match (n_medial, medial[0] > 0.0) {
            (1, _) => (0..4).map(|k| [0, c + k, c + (k + 1) % 4]).collect(),
            (_, true) => vec![
                [0, c + 3, c],
                [1, c + 1, c + 2],
                [0, c, c + 1],
                [0, 1, c + 1],
                [1, c + 2, c + 3],
                [0, 1, c + 3],
            ],
            (_, false) => vec![
                [0, c, c + 1],
                [1, c + 2, c + 3],
                [0, c + 1, c + 2],
                [0, 1, c + 2],
                [1, c + 3, c],
                [0, 1, c],
            ],
        };
        Self {
            points,
            n_medial,
            triangles,
            depth,
            is_round: false,
        }
    }

    /// Appends the tetrahedra between two such sections, given the index of the first point of each.
    pub(super) fn sweep(&self, [a, b]: [u32; 2], tets: &mut Vec<[u32; 4]>) {
        for triangle in &self.triangles {
            let mut sorted = *triangle;
            sorted.sort_unstable();
            let [i, j, k] = sorted;
            // The diagonal of every side runs from the lower index here to the higher index there.
            tets.push([a + i, a + j, a + k, b + k]);
            tets.push([a + i, a + j, b + j, b + k]);
            tets.push([a + i, b + i, b + j, b + k]);
        }
    }

    /// Whether tetrahedron number `tet` of such a prism has no point on the first section's rim: if the pressure
    /// vanishes on all of the second section, it falls linearly towards it there.
    pub(super) fn is_over_second(&self, tet: u32) -> bool {
        let mut sorted = self.triangles[tet as usize / 3];
        sorted.sort_unstable();
        let of_first = &sorted[..3 - tet as usize % 3];
        of_first.iter().all(|k| (*k as usize) < self.n_medial)
    }

    /// Second moment of the section about its centre (trace), m⁴.
    pub(super) fn second_moment(&self) -> f64 {
        let points = |t: &[u32; 3]| t.map(|k| Vector2::from(self.points[k as usize].0));
        let of_triangle = |t: &[u32; 3]| {
            let [a, b, c] = points(t);
            let area = 0.5 * (b - a).perp(&(c - a)).abs();
            let squares = a.norm_squared() + b.norm_squared() + c.norm_squared();
            area / 12.0 * (squares + (a + b + c).norm_squared())
        };
        self.triangles.iter().map(of_triangle).sum()
    }

    /// Appends the tetrahedra between such a section and its medial points further out; returns their number.
    pub(super) fn cone(&self, [base, apex]: [u32; 2], tets: &mut Vec<[u32; 4]>) -> u32 {
        let medial = self.n_medial as u32;
        for &[i, j, k] in &self.triangles {
            if j < medial {
                tets.push([base + i, base + j, base + k, apex + i]);
                tets.push([base + j, base + k, apex + i, apex + j]);
            } else {
                tets.push([base + i, base + j, base + k, apex + i]);
            }
        }
        medial
    }

    /// Largest distance of a point from the centreline, m.
    pub(super) fn reach(&self) -> f64 {
        let far = self.points.iter().map(|([x, y], _)| x.hypot(*y));
        far.fold(0.0, f64::max)
    }
}

/// Number of sides of the polygon that approximates a circle.
fn n_sides(radius: f64, compliance: &Compliance) -> u32 {
    let target = (TAU * radius / compliance.mesh_resolution_hint).ceil();
    (target.clamp(8.0, 64.0)) as u32
}

/// Triangles of a polygon about its centre, point 0.
fn fan(n: u32) -> Vec<[u32; 3]> {
    (0..n).map(|k| [0, 1 + k, 1 + (k + 1) % n]).collect()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    #[test]
    fn a_section_has_the_area_of_what_it_stands_for() {
        let compliance = Compliance {
            margin: 0.0,
            ..Compliance::default()
        };
        let area = |mesh: &SectionMesh| -> f64 {
            let triangles = mesh.triangles.iter();
            triangles
                .map(|t| {
                    let [a, b, c] = t.map(|k| mesh.points[k as usize].0);
                    0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])).abs()
                })
                .sum()
        };
        assert!((area(&SectionMesh::round(0.3, &compliance)) - PI * 0.09).abs() < 1e-12);
        for halves in [[0.1, 0.5], [0.5, 0.1], [0.2, 0.2], [0.2, 0.25]] {
            let oval = area(&SectionMesh::ellipse(halves, &compliance));
            assert!((oval - PI * halves[0] * halves[1]).abs() < 1e-12);
            let area = area(&SectionMesh::rectangle(halves, &compliance));
            assert!(
                (area - 4.0 * halves[0] * halves[1]).abs() < 1e-12,
                "{halves:?}: {area}"
            );
        }
    }
}
