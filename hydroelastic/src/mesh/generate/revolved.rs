//! Surfaces of revolution: cylinder, capsule and torus.

use std::f64::consts::{PI, TAU};

use nalgebra::Vector3;

use super::{closed, positive, within};
use crate::mesh::error::MeshError;
use crate::mesh::tri_mesh::TriMesh;

/// A cylinder about the origin along z with `segments` sides; its caps are fans about their centres.
///
/// `radius`, `half_length` in m.
///
/// # Errors
/// [`MeshError::Setting`] unless both are positive and `segments` lies in 3..=4096.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
///
/// // With six sides, its section is a hexagon inscribed in the circle, of the area 3√3/2 r².
/// let volume = generate::cylinder(1.0, 0.5, 6)?.solid_moments().expect("closed").volume;
/// assert!((volume - 1.5 * 3f64.sqrt()).abs() < 1e-12);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn cylinder(radius: f64, half_length: f64, segments: u32) -> Result<TriMesh, MeshError> {
    positive("radius", radius)?;
    positive("half length", half_length)?;
    within("segments", segments, 3, 4096)?;
    revolve(
        &[(radius, -half_length), (radius, half_length)],
        -half_length,
        half_length,
        segments,
    )
}

/// A capsule about the origin along z: a cylinder of the given half length with a half sphere at either end.
///
/// `radius`, `half_length` in m; `segments` around the axis, and half as many along each quarter circle.
///
/// # Errors
/// [`MeshError::Setting`] unless both lengths are positive and `segments` lies in 4..=4096.
pub fn capsule(radius: f64, half_length: f64, segments: u32) -> Result<TriMesh, MeshError> {
    positive("radius", radius)?;
    positive("half length", half_length)?;
    within("segments", segments, 4, 4096)?;
    let rings = (segments / 4).max(1);
    let angle = |ring: u32| PI / 2.0 * f64::from(ring) / f64::from(rings);
    let south = (1..=rings).map(|ring| {
        (
            radius * angle(ring).sin(),
            -half_length - radius * angle(ring).cos(),
        )
    });
    let north = (1..=rings).rev().map(|ring| {
        (
            radius * angle(ring).sin(),
            half_length + radius * angle(ring).cos(),
        )
    });
    let profile: Vec<(f64, f64)> = south.chain(north).collect();
    revolve(
        &profile,
        -half_length - radius,
        half_length + radius,
        segments,
    )
}

/// Revolves a profile of (distance from the axis, height), from bottom to top, about z and closes it with two poles.
fn revolve(
    profile: &[(f64, f64)],
    bottom: f64,
    top: f64,
    segments: u32,
) -> Result<TriMesh, MeshError> {
    let mut vertices = Vec::with_capacity(profile.len() * segments as usize + 2);
    for (distance, height) in profile {
        for segment in 0..segments {
            let angle = TAU * f64::from(segment) / f64::from(segments);
            vertices.push(Vector3::new(
                distance * angle.cos(),
                distance * angle.sin(),
                *height,
            ));
        }
    }
    let (south, north) = (vertices.len() as u32, vertices.len() as u32 + 1);
    vertices.push(Vector3::new(0.0, 0.0, bottom));
    vertices.push(Vector3::new(0.0, 0.0, top));
    let rings = profile.len() as u32;
    let at = |ring: u32, segment: u32| ring * segments + segment % segments;
    let mut triangles = Vec::new();
    for segment in 0..segments {
        let next = segment + 1;
        triangles.push([south, at(0, next), at(0, segment)]);
        for ring in 1..rings {
            let [a, b] = [at(ring - 1, segment), at(ring - 1, next)];
            let [c, d] = [at(ring, next), at(ring, segment)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([north, at(rings - 1, segment), at(rings - 1, next)]);
    }
    closed(vertices, triangles)
}

/// A torus about the origin around z.
///
/// `major_radius` R from the centre to the centreline of the tube, `minor_radius` r of the tube, in m; r < R.
/// `major_segments` around the axis, `minor_segments` around the tube.
///
/// # Errors
/// [`MeshError::Setting`] unless 0 < r < R and both segment counts lie in 3..=4096.
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
///
/// // Facets inscribed in a torus of 2π² R r²; its Euler number is that of a surface with one hole.
/// let torus = generate::torus(0.3, 0.1, 96, 48)?;
/// let exact = 2.0 * std::f64::consts::PI.powi(2) * 0.3 * 0.01;
/// let volume = torus.solid_moments().expect("closed").volume;
/// assert!(torus.euler_number() == 0 && (0.99..1.0).contains(&(volume / exact)));
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn torus(
    major_radius: f64,
    minor_radius: f64,
    major_segments: u32,
    minor_segments: u32,
) -> Result<TriMesh, MeshError> {
    positive("major radius", major_radius)?;
    positive("minor radius", minor_radius)?;
    positive("major radius - minor radius", major_radius - minor_radius)?;
    within("major segments", major_segments, 3, 4096)?;
    within("minor segments", minor_segments, 3, 4096)?;
    let mut vertices = Vec::new();
    for i in 0..major_segments {
        let u = TAU * f64::from(i) / f64::from(major_segments);
        for j in 0..minor_segments {
            let v = TAU * f64::from(j) / f64::from(minor_segments);
            let distance = major_radius + minor_radius * v.cos();
            vertices.push(Vector3::new(
                distance * u.cos(),
                distance * u.sin(),
                minor_radius * v.sin(),
            ));
        }
    }
    let at = |i: u32, j: u32| i % major_segments * minor_segments + j % minor_segments;
    let mut triangles = Vec::new();
    for i in 0..major_segments {
        for j in 0..minor_segments {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    closed(vertices, triangles)
}
