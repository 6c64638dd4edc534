//! Fields of box, cylinder and capsule: faces joined to the medial axis, so that the field is the exact distance.

use std::f64::consts::{PI, TAU};

use nalgebra::Vector3;

use super::{Compliance, FieldMesh};
use crate::cells::cut_cell;
use crate::field::round::matched_ring_radius;

/// A box: between each face and the nearest part of the medial axis the field is linear, so the corners of both suffice
/// as vertices.
pub(crate) fn cuboid(half: &Vector3<f64>, c: &Compliance) -> FieldMesh {
    let depth = half.min();
    let inner = half.map(|h| h - depth);
    let mut vertices = Vec::new();
    let mut pressures = Vec::new();
    let corner = |i: u32, half: &Vector3<f64>| {
        Vector3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] })
    };
    let outer = half.add_scalar(c.margin);
    for i in 0..8 {
        vertices.push(corner(i, &outer));
        pressures.push(-c.hydroelastic_modulus * c.margin / depth);
    }
    // Corners of the medial part coincide along thin directions.
    let thick = (0..3).fold(0, |m, k| if inner[k] > 0.0 { m | 1 << k } else { m });
    let mut inner_of = [0_u32; 8];
    for i in 0..8_u32 {
        if i & !thick == 0 {
            inner_of[i as usize] = vertices.len() as u32;
            vertices.push(corner(i, &inner));
            pressures.push(c.hydroelastic_modulus);
        }
    }
    for i in 0..8_u32 {
        inner_of[i as usize] = inner_of[(i & thick) as usize];
    }
    let mut tets = Vec::new();
    for quad in [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ] {
        hexahedron(quad, quad.map(|v| inner_of[v as usize]), &mut tets);
    }
    FieldMesh {
        vertices,
        pressures,
        tets,
        depth,
        margin: c.margin,
    }
}

/// The cell between two quads whose corners correspond; corners may coincide.
fn hexahedron(a: [u32; 4], b: [u32; 4], tets: &mut Vec<[u32; 4]>) {
    let side = |i: usize| {
        let j = (i + 1) % 4;
        [a[i], a[j], b[j], b[i]]
    };
    let sides = [side(0), side(1), side(2), side(3)];
    cut_cell(&[&a, &b, &sides[0], &sides[1], &sides[2], &sides[3]], tets);
}

/// The cell between two triangles whose corners correspond; corners may coincide.
fn prism(a: [u32; 3], b: [u32; 3], tets: &mut Vec<[u32; 4]>) {
    let side = |i: usize| {
        let j = (i + 1) % 3;
        [a[i], a[j], b[j], b[i]]
    };
    let sides = [side(0), side(1), side(2)];
    cut_cell(&[&a, &b, &sides[0], &sides[1], &sides[2]], tets);
}

/// Triangulates a regular polygon: one large triangle and ever smaller ones towards the rim, so that overlapping
/// polygons have few intersections.
fn flat_polygon(n: u32) -> Vec<[u32; 3]> {
    let (a, b) = (n / 3, 2 * n / 3);
    let mut triangles = vec![[0, a, b]];
    let mut arcs = vec![(0, a), (a, b), (b, n)];
    while let Some((from, to)) = arcs.pop() {
        if to - from >= 2 {
            let midpoint = (from + to) / 2;
            triangles.push([from, midpoint, to % n]);
            arcs.extend([(from, midpoint), (midpoint, to)]);
        }
    }
    triangles
}

fn segments(radius: f64, edge: f64) -> u32 {
    // At least eight; fewer are too coarse for a circle.
    (TAU * radius / edge).ceil().clamp(8.0, 4096.0) as u32
}

fn ring(n: u32, radius: f64, z: f64) -> impl Iterator<Item = Vector3<f64>> {
    (0..n).map(move |i| {
        let (sin, cos) = (TAU * f64::from(i) / f64::from(n)).sin_cos();
        Vector3::new(radius * cos, radius * sin, z)
    })
}

/// A cylinder: a prism whose polygon has the area of the disc. The medial axis of a long cylinder is a segment, that of
/// a short one a disc.
pub(crate) fn cylinder(radius: f64, half_length: f64, c: &Compliance) -> FieldMesh {
    let (n, E) = (
        segments(radius, c.mesh_resolution_hint),
        c.hydroelastic_modulus,
    );
    let depth = radius.min(half_length);
    let rim = radius * matched_ring_radius(n);
    // The facets are at rim cos(π/n); scaled so that the pressure there falls as fast as at the ends.
    let outer = rim * (1.0 + c.margin / radius);
    let top = half_length + c.margin;
    let outside = -E * c.margin / depth;
    // Differences at round-off level count as zero: the medial axis is then a point.
    let long = half_length - radius > 1e-9 * radius;
    let flat = radius - half_length > 1e-9 * radius;
    let height = if long { half_length - radius } else { 0.0 };
    let axis: &[f64] = match (flat, long) {
        (true, _) => &[],
        (_, true) => &[height, -height],
        _ => &[0.0],
    };
    let mut vertices: Vec<_> = axis.iter().map(|z| Vector3::new(0.0, 0.0, *z)).collect();
    let mut pressures = vec![E; vertices.len()];
    let (upper, lower) = (0, u32::from(long));
    let push_ring = |vertices: &mut Vec<_>, pressures: &mut Vec<f64>, radius, z, p| {
        let first = vertices.len() as u32;
        vertices.extend(ring(n, radius, z));
        pressures.resize(vertices.len(), p);
        first
    };
    let rim_up = push_ring(&mut vertices, &mut pressures, outer, top, outside);
    let rim_down = push_ring(&mut vertices, &mut pressures, outer, -top, outside);
    let disc = flat.then(|| {
        push_ring(
            &mut vertices,
            &mut pressures,
            rim * (1.0 - half_length / radius),
            0.0,
            E,
        )
    });
    let mut tets = Vec::new();
    // The medial points next to rim points, seen from either end.
    let above = |i: u32| disc.map_or(upper, |d| d + i);
    let below = |i: u32| disc.map_or(lower, |d| d + i);
    for t in flat_polygon(n) {
        prism(t.map(|i| rim_up + i), t.map(above), &mut tets);
        prism(t.map(|i| rim_down + i), t.map(below), &mut tets);
    }
    for i in 0..n {
        let j = (i + 1) % n;
        hexahedron(
            [rim_up + i, rim_up + j, rim_down + j, rim_down + i],
            [above(i), above(j), below(j), below(i)],
            &mut tets,
        );
    }
    FieldMesh {
        vertices,
        pressures,
        tets,
        depth,
        margin: c.margin,
    }
}

/// A capsule: all faces joined to the inner segment; exact volume.
pub(crate) fn capsule(radius: f64, half_length: f64, c: &Compliance) -> FieldMesh {
    let (surface, triangles, quads, axis_of) =
        capsule_surface(radius, half_length, c.mesh_resolution_hint);
    let E = c.hydroelastic_modulus;
    let axis = [
        Vector3::new(0.0, 0.0, half_length),
        Vector3::new(0.0, 0.0, -half_length),
    ];
    let scale = 1.0 + c.margin / radius;
    let mut vertices: Vec<Vector3<f64>> = axis.to_vec();
    vertices.extend(surface.iter().zip(&axis_of).map(|(x, &a)| {
        let foot = axis[a as usize];
        foot + (x - foot) * scale
    }));
    let mut pressures = vec![E, E];
    pressures.resize(vertices.len(), -E * c.margin / radius);
    let mut tets = Vec::new();
    for t in &triangles {
        let [i, j, k] = t.map(|v| v + 2);
        tets.push([axis_of[t[0] as usize], i, j, k]);
    }
    for q in &quads {
        hexahedron(q.map(|v| v + 2), q.map(|v| axis_of[v as usize]), &mut tets);
    }
    FieldMesh {
        vertices,
        pressures,
        tets,
        depth: radius,
        margin: c.margin,
    }
}

/// Vertices, triangles of the round ends, quads of the side, and for each vertex the nearest end of the segment (0
/// upper, 1 lower).
pub(crate) type CapsuleSurface = (Vec<Vector3<f64>>, Vec<[u32; 3]>, Vec<[u32; 4]>, Vec<u32>);

/// The surface of a capsule with exact volume, counter-clockwise seen from outside.
pub(crate) fn capsule_surface(radius: f64, half_length: f64, edge: f64) -> CapsuleSurface {
    let n = segments(radius, edge);
    let rings = (n / 4).max(2);
    let mut vertices = Vec::new();
    let mut axis_of = Vec::new();
    for (end, up) in [(0, 1.0), (1, -1.0)] {
        for r in 0..rings {
            let (sin, cos) = (0.5 * PI * f64::from(r) / f64::from(rings)).sin_cos();
            vertices.extend(ring(n, cos, up * sin));
            axis_of.resize(vertices.len(), end);
        }
        vertices.push(Vector3::new(0.0, 0.0, up));
        axis_of.push(end);
    }
    let below = rings * n + 1;
    let mut triangles = Vec::new();
    for end in 0..2_u32 {
        let mut push = |t: [u32; 3]| triangles.push(if end == 0 { t } else { [t[0], t[2], t[1]] });
        let first = end * below;
        for i in 0..n {
            let j = (i + 1) % n;
            for r in 0..rings - 1 {
                let (low, high) = (first + r * n, first + (r + 1) * n);
                push([low + i, low + j, high + j]);
                push([low + i, high + j, high + i]);
            }
            let last = first + (rings - 1) * n;
            push([last + i, last + j, first + rings * n]);
        }
    }
    let quads = (0..n)
        .map(|i| {
            let j = (i + 1) % n;
            [i, below + i, below + j, j]
        })
        .collect();
    // Scale s so that s³ V_ends + s² V_side = V, both at radius one and the exact proportions.
    let six_volumes: f64 = triangles
        .iter()
        .map(|t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| vertices[v as usize]);
            a.cross(&b).dot(&c)
        })
        .sum();
    let aspect = half_length / radius;
    let (ends, side) = (
        six_volumes / 6.0,
        f64::from(n) * (TAU / f64::from(n)).sin() * aspect,
    );
    let target = 4.0 / 3.0 * PI + 2.0 * PI * aspect;
    let mut s = 1.0;
    for _ in 0..20 {
        s -= (s * s * (s * ends + side) - target) / (s * (3.0 * s * ends + 2.0 * side));
    }
    for (x, &end) in vertices.iter_mut().zip(&axis_of) {
        *x *= s * radius;
        x.z += if end == 0 { half_length } else { -half_length };
    }
    (vertices, triangles, quads, axis_of)
}
