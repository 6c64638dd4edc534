//! Rods with flat sections are drawn with their section, which shows the twist.

use std::f64::consts::TAU;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::BodyState;
use pliant_der::{Closure, Rod, Section};

/// Corners of an ellipse's polygon.
const OVAL: usize = 12;

/// Whether a thread of the same area would hide the twist.
pub(crate) fn is_flat(section: &Section) -> bool {
    !matches!(section, Section::Circle { .. })
}

/// Corners of a section along m1 and m2, m, counter-clockwise.
fn outline(section: &Section) -> Vec<[f64; 2]> {
    match *section {
        Section::Rectangle { extent_1, extent_2 } => {
            let (a, b) = (0.5 * extent_1, 0.5 * extent_2);
            vec![[a, b], [-a, b], [-a, -b], [a, -b]]
        }
        Section::Ellipse {
            semi_axis_1,
            semi_axis_2,
        } => oval(semi_axis_1, semi_axis_2),
        Section::Circle { radius } => oval(radius, radius),
    }
}

fn oval(a: f64, b: f64) -> Vec<[f64; 2]> {
    let corner = |k: usize| (TAU * k as f64 / OVAL as f64).sin_cos();
    let corners = (0..OVAL).map(corner);
    corners.map(|(sin, cos)| [a * cos, b * sin]).collect()
}

/// Corners of the section at every node, m, world frame, by the mean of the frames of its two edges; `out` is overwritten.
pub(super) fn ribbon(rod: &Rod, state: &BodyState, section: &Section, out: &mut Vec<Point3<f64>>) {
    let outline = outline(section);
    let (n_nodes, n_edges) = (rod.n_nodes(), rod.n_edges());
    out.clear();
    // A state of another size has no frames and is not drawn.
    let Ok(frames) = rod.material_frames(state) else {
        out.resize(
            n_nodes * outline.len(),
            Point3::from(Vector3::repeat(f64::NAN)),
        );
        return;
    };
    let is_ring = rod.closure() == Closure::Closed;
    for node in 0..n_nodes {
        let (before, after) = match (is_ring, node) {
            (true, 0) => (n_edges - 1, 0),
            (false, 0) => (0, 0),
            _ => (node - 1, node.min(n_edges - 1)),
        };
        let mean_director = |k: usize| {
            let [a, b] = [before, after].map(|edge| frames[edge].matrix().column(k).into_owned());
            (a + b).try_normalize(1e-9).unwrap_or(b)
        };
        let (m_1, m_2) = (mean_director(0), mean_director(1));
        let p = rod.position(state, node);
        out.extend(outline.iter().map(|[a, b]| p + m_1 * *a + m_2 * *b));
    }
}

/// Triangles of the surface with the vertices of [`ribbon`], and the number of vertices.
pub(crate) fn ribbon_triangles(rod: &Rod, section: &Section) -> (Vec<[u32; 3]>, u32) {
    let m = outline(section).len() as u32;
    let n_nodes = rod.n_nodes() as u32;
    let mut triangles = Vec::new();
    for edge in 0..rod.n_edges() as u32 {
        let (a, b) = (edge * m, (edge + 1) % n_nodes * m);
        for k in 0..m {
            let next = (k + 1) % m;
            triangles.push([a + k, a + next, b + next]);
            triangles.push([a + k, b + next, b + k]);
        }
    }
    if rod.closure() == Closure::Open {
        let last = (n_nodes - 1) * m;
        for k in 1..m - 1 {
            triangles.push([0, k + 1, k]);
            triangles.push([last, last + k, last + k + 1]);
        }
    }
    (triangles, n_nodes * m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_contact_sap::DeformableModel;
    use pliant_der::{Centreline, Material, RodBuilder};

    #[track_caller]
    fn check(section: Section, line: Centreline, volume: f64) {
        let rod = RodBuilder::new(line)
            .section(section, Material::isotropic(1e6, 0.3, 1000.0).unwrap())
            .director(Vector3::z())
            .build()
            .unwrap();
        let mut points = Vec::new();
        ribbon(&rod, &rod.default_state(), &section, &mut points);
        let (triangles, n_vertices) = ribbon_triangles(&rod, &section);
        assert_eq!(points.len(), n_vertices as usize);
        // The divergence theorem: the surface is closed and oriented outwards.
        let of_triangle = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| points[v as usize].coords);
            a.dot(&b.cross(&c)) / 6.0
        };
        let enclosed: f64 = triangles.iter().map(of_triangle).sum();
        assert!(
            (enclosed - volume).abs() < 1e-12 * volume,
            "{enclosed} {volume}"
        );
    }

    #[test]
    fn the_surface_of_a_ribbon_is_closed_and_has_its_volume() {
        let strip = Section::Rectangle {
            extent_1: 0.02,
            extent_2: 0.003,
        };
        let line = Centreline::straight(Point3::origin(), Point3::new(0.5, 0.0, 0.0), 5);
        check(strip, line, 0.5 * 0.02 * 0.003);
        // A ring that stands on edge: between the polygons through the inner and the outer corners.
        let n = 8;
        let ring = Centreline::circle(0.1, n);
        let sin = (TAU / n as f64).sin();
        let area = |r: f64| 0.5 * n as f64 * r * r * sin;
        let half = 0.0015;
        check(strip, ring, 0.02 * (area(0.1 + half) - area(0.1 - half)));
    }
}
