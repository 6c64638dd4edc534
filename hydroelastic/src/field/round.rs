//! Fields of sphere and ellipsoid: facets of a subdivided icosahedron, each joined to the centre.

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::{Compliance, FieldMesh};
use crate::cells::KeyNumbering;

/// Number of subdivisions of each icosahedron edge for edges of about `edge` (m) on a sphere of the given radius.
pub(crate) fn geodesic_frequency(radius: f64, edge: f64) -> u32 {
    // The arc between neighbouring corners of the icosahedron is 63.4°. At least two subdivisions: 80 facets are the
    // coarsest mesh that still rolls.
    (1.1071487177940904 * radius / edge)
        .ceil()
        .clamp(2.0, 256.0) as u32
}

/// A faceted unit sphere of volume 4π/3 about the origin: each face of an icosahedron is divided into `frequency`²
/// triangles. Returns vertices and triangles, counter-clockwise seen from outside. The vertices lie slightly outside
/// the unit sphere, so that the facets enclose its volume.
pub(crate) fn unit_sphere(frequency: u32) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut corners = Vec::new();
    for (s, t) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        corners.push(Vector3::new(0.0, s, t * golden));
        corners.push(Vector3::new(s, t * golden, 0.0));
        corners.push(Vector3::new(t * golden, 0.0, s));
    }
    let adjacent = |i: usize, j: usize| (corners[i] - corners[j]).norm() < 2.1;
    let mut vertices: Vec<Vector3<f64>> = Vec::new();
    let mut triangles = Vec::new();
    let mut numbers = KeyNumbering::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                if !(adjacent(i, j) && adjacent(j, k) && adjacent(k, i)) {
                    continue;
                }
                let outward = corners[i].cross(&corners[j]).dot(&corners[k]) > 0.0;
                let face = if outward { [i, j, k] } else { [i, k, j] };
                let mut at = |a: u32, b: u32| {
                    let c = frequency - a - b;
                    let mut key: Vec<(usize, u32)> = face
                        .into_iter()
                        .zip([a, b, c])
                        .filter(|x| x.1 > 0)
                        .collect();
                    key.sort_unstable();
                    // Summed in the order of the key, so that both faces of an edge give the same bits.
                    let sum: Vector3<f64> =
                        key.iter().map(|(v, w)| corners[*v] * f64::from(*w)).sum();
                    numbers.of(key, || vertices.push(sum.normalize()))
                };
                for a in 0..frequency {
                    for b in 0..frequency - a {
                        triangles.push([at(a + 1, b), at(a, b + 1), at(a, b)]);
                        if a + b + 2 <= frequency {
                            triangles.push([at(a + 1, b), at(a + 1, b + 1), at(a, b + 1)]);
                        }
                    }
                }
            }
        }
    }
    let six_volumes: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| vertices[v as usize]);
            a.cross(&b).dot(&c)
        })
        .sum();
    let scale = (8.0 * PI / six_volumes).cbrt();
    vertices.iter_mut().for_each(|v| *v *= scale);
    (vertices, triangles)
}

/// Radius of the corners of a regular polygon with the area of the unit disc.
pub(crate) fn matched_ring_radius(segments: u32) -> f64 {
    let n = f64::from(segments);
    (2.0 * PI / (n * (2.0 * PI / n).sin())).sqrt()
}

/// The field of an ellipsoid: E (1 − ‖S⁻¹x‖), with exact level sets and linear along every ray; for a sphere it is the
/// distance to the surface.
pub(crate) fn ellipsoid(semi_axes: &Vector3<f64>, c: &Compliance) -> FieldMesh {
    let (directions, triangles) =
        unit_sphere(geodesic_frequency(semi_axes.max(), c.mesh_resolution_hint));
    let vertices = directions
        .iter()
        .map(|d| d.component_mul(semi_axes))
        .collect();
    star(vertices, &triangles, Vector3::zeros(), semi_axes.min(), c)
}

/// A field on a star-shaped surface about `center`: E there, 0 on the surface, linear along every ray. `depth`:
/// distance of the nearest facet, m. The margin scales all rays alike, so that it is thinnest over the nearest facet.
pub(crate) fn star(
    mut vertices: Vec<Vector3<f64>>,
    triangles: &[[u32; 3]],
    center: Vector3<f64>,
    depth: f64,
    c: &Compliance,
) -> FieldMesh {
    let beyond = c.margin / depth;
    for v in &mut vertices {
        *v = center + (*v - center) * (1.0 + beyond);
    }
    let mut pressures = vec![-c.hydroelastic_modulus * beyond; vertices.len()];
    let apex = vertices.len() as u32;
    vertices.push(center);
    pressures.push(c.hydroelastic_modulus);
    let tets = triangles.iter().map(|&[i, j, k]| [apex, i, j, k]).collect();
    FieldMesh {
        vertices,
        pressures,
        tets,
        depth,
        margin: c.margin,
    }
}
