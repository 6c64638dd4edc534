//! Generated meshes: sphere, box, cylinder, capsule, torus, sheet and shirt as surfaces; box, cylinder, torus and belt as
//! tetrahedra.
//!
//! Curved surfaces are inscribed: their vertices lie on the true surface, so area and volume are too small, with an
//! error of second order in the edge length.

mod belt;
mod shirt;
mod staggered;
mod sweep;

use super::error::{FilePosition, Flaw, Location, MeshError};
use super::options::{SelfIntersections, SurfaceOptions, SurfaceUse, TetOptions, Weld};
use super::tet_mesh::TetMesh;
use super::tri_mesh::TriMesh;
use nalgebra::Vector3;
use std::collections::HashMap;
use std::f64::consts::{PI, TAU};

pub use belt::tet_belt;
pub use shirt::{Shirt, shirt};
pub use staggered::staggered_sheet;
pub use sweep::{tet_cylinder, tet_torus};

/// A sphere about the origin: an icosahedron whose triangles are subdivided into four, `subdivisions` times.
///
/// `radius` in m; 20 · 4ⁿ triangles.
///
/// # Errors
/// [`MeshError::Setting`] unless the radius is positive and `subdivisions` at most 8 (1.3 million triangles).
///
/// ```
/// use pliant_hydroelastic::mesh::generate;
///
/// // Each subdivision reduces the error of the volume by about four.
/// let exact = 4.0 / 3.0 * std::f64::consts::PI;
/// let missing = |n: u32| generate::sphere(1.0, n).map(|ball| exact - ball.solid_moments().expect("closed").volume);
/// assert!((missing(3)? / missing(4)? - 4.0).abs() < 0.1);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn sphere(radius: f64, subdivisions: u32) -> Result<TriMesh, MeshError> {
    positive("radius", radius)?;
    within("subdivisions", subdivisions, 0, 8)?;
    // The corners of golden rectangles; the faces follow from nearest neighbours.
    let golden = (1.0 + 5.0_f64.sqrt()) / 2.0;
    let mut directions = Vec::new();
    for (s, t) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        directions.push(Vector3::new(0.0, s, t * golden));
        directions.push(Vector3::new(s, t * golden, 0.0));
        directions.push(Vector3::new(t * golden, 0.0, s));
    }
    let adjacent = |i: usize, j: usize| (directions[i] - directions[j]).norm() < 2.1;
    let mut triangles = Vec::new();
    for i in 0..12 {
        for j in i + 1..12 {
            for k in j + 1..12 {
                if adjacent(i, j) && adjacent(j, k) && adjacent(k, i) {
                    let outward = directions[i].cross(&directions[j]).dot(&directions[k]) > 0.0;
                    let corners = [i as u32, j as u32, k as u32];
                    triangles.push(if outward {
                        corners
                    } else {
                        [corners[0], corners[2], corners[1]]
                    });
                }
            }
        }
    }
    let mut vertices: Vec<Vector3<f64>> = directions.iter().map(Vector3::normalize).collect();
    for _ in 0..subdivisions {
        let mut midpoints = HashMap::new();
        let mut finer = Vec::with_capacity(4 * triangles.len());
        for [a, b, c] in triangles {
            let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(from, to): (u32, u32)| {
                *midpoints
                    .entry((from.min(to), from.max(to)))
                    .or_insert_with(|| {
                        vertices
                            .push((vertices[from as usize] + vertices[to as usize]).normalize());
                        vertices.len() as u32 - 1
                    })
            });
            finer.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    vertices.iter_mut().for_each(|vertex| *vertex *= radius);
    closed(vertices, triangles)
}

/// A box about the origin, two triangles per face. `half_extents` in m.
///
/// # Errors
/// [`MeshError::Setting`] unless all half extents are positive.
pub fn cuboid(half_extents: Vector3<f64>) -> Result<TriMesh, MeshError> {
    half_extents
        .iter()
        .try_for_each(|half| positive("half extent", *half))?;
    let corner = |c: u32| {
        Vector3::from_fn(|k, _| {
            if c >> k & 1 == 1 {
                half_extents[k]
            } else {
                -half_extents[k]
            }
        })
    };
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = faces
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    closed((0..8).map(corner).collect(), triangles)
}

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

/// A flat sheet of cloth about the origin in the plane z = 0, its normals along +z.
///
/// `size` in m along x and y, `cells` squares along each, every square divided along alternating diagonals.
///
/// # Errors
/// [`MeshError::Setting`] unless both sizes are positive and both counts lie in 1..=4096.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_hydroelastic::mesh::{TriangleIdx, generate};
///
/// let flag = generate::sheet([0.6, 0.4], [3, 2])?;
/// assert_eq!((flag.vertices().len(), flag.triangles().len()), (12, 12));
/// assert!((flag.area() - 0.24).abs() < 1e-15);
/// assert!((flag.triangle_normal(TriangleIdx(0)) - Vector3::z()).norm() < 1e-15);
/// # Ok::<(), pliant_hydroelastic::mesh::MeshError>(())
/// ```
pub fn sheet(size: [f64; 2], cells: [u32; 2]) -> Result<TriMesh, MeshError> {
    size.iter().try_for_each(|side| positive("size", *side))?;
    cells
        .iter()
        .try_for_each(|count| within("cells", *count, 1, 4096))?;
    let [n_x, n_y] = cells;
    let coordinate = |k: usize, i: u32| size[k] * (f64::from(i) / f64::from(cells[k]) - 0.5);
    let vertices = (0..=n_y)
        .flat_map(|j| (0..=n_x).map(move |i| Vector3::new(coordinate(0, i), coordinate(1, j), 0.0)))
        .collect();
    let at = |i: u32, j: u32| j * (n_x + 1) + i;
    let mut triangles = Vec::new();
    for j in 0..n_y {
        for i in 0..n_x {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend(if (i + j) % 2 == 0 {
                [[a, b, c], [a, c, d]]
            } else {
                [[a, b, d], [b, c, d]]
            });
        }
    }
    build(vertices, triangles, SurfaceUse::Cloth)
}

/// A box of tetrahedra about the origin: `cells` small boxes along x, y, z, each divided into six tetrahedra along its
/// long diagonal. All diagonals are parallel, so that neighbours conform.
///
/// `half_extents` in m.
///
/// # Errors
/// [`MeshError::Setting`] unless all half extents are positive and all counts lie in 1..=256.
pub fn tet_cuboid(half_extents: Vector3<f64>, cells: [u32; 3]) -> Result<TetMesh, MeshError> {
    half_extents
        .iter()
        .try_for_each(|half| positive("half extent", *half))?;
    cells
        .iter()
        .try_for_each(|count| within("cells", *count, 1, 256))?;
    let [n_x, n_y, n_z] = cells;
    let at = |i: [u32; 3]| (i[2] * (n_y + 1) + i[1]) * (n_x + 1) + i[0];
    let mut vertices = Vec::new();
    for k in 0..=n_z {
        for j in 0..=n_y {
            for i in 0..=n_x {
                let steps = [(i, n_x), (j, n_y), (k, n_z)];
                vertices.push(Vector3::from_fn(|axis, _| {
                    let (step, count) = steps[axis];
                    half_extents[axis] * (2.0 * f64::from(step) / f64::from(count) - 1.0)
                }));
            }
        }
    }
    let tets = six_a_cell(cells, at);
    Ok(TetMesh::build(vertices, tets, &TetOptions::default())?.0)
}

/// Tetrahedra of cells in rows, `at` the number of the vertex at a corner.
fn six_a_cell([n_x, n_y, n_z]: [u32; 3], at: impl Fn([u32; 3]) -> u32) -> Vec<[u32; 4]> {
    // From corner 000 to corner 111 one axis after the other; odd permutations of the axes are inverted.
    let even = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];
    let odd = [[1, 0, 2], [0, 2, 1], [2, 1, 0]];
    let mut tets = Vec::new();
    for k in 0..n_z {
        for j in 0..n_y {
            for i in 0..n_x {
                for (axes, swap) in even
                    .iter()
                    .map(|axes| (axes, false))
                    .chain(odd.iter().map(|axes| (axes, true)))
                {
                    let mut corner = [i, j, k];
                    let mut tet = [at(corner); 4];
                    for (step, axis) in axes.iter().enumerate() {
                        corner[*axis] += 1;
                        tet[step + 1] = at(corner);
                    }
                    if swap {
                        tet.swap(2, 3);
                    }
                    tets.push(tet);
                }
            }
        }
    }
    tets
}

fn closed(vertices: Vec<Vector3<f64>>, triangles: Vec<[u32; 3]>) -> Result<TriMesh, MeshError> {
    build(vertices, triangles, SurfaceUse::Solid)
}

fn build(
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    surface_use: SurfaceUse,
) -> Result<TriMesh, MeshError> {
    let options = SurfaceOptions {
        weld: Weld::Never,
        self_intersections: SelfIntersections::Skip, // true by construction
        ..SurfaceOptions::default()
    };
    Ok(TriMesh::build(vertices, triangles, surface_use, &options)?.0)
}

fn positive(name: &str, value: f64) -> Result<(), MeshError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    let (at, what) = (
        Location::new("generated mesh", FilePosition::Whole),
        format!("{name} = {value} m"),
    );
    Err(MeshError::Setting(Flaw::new(
        at,
        what,
        "It must be positive and finite",
    )))
}

fn within(name: &str, value: u32, min: u32, max: u32) -> Result<(), MeshError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let (at, what) = (
        Location::new("generated mesh", FilePosition::Whole),
        format!("{name} = {value}"),
    );
    Err(MeshError::Setting(Flaw::new(
        at,
        what,
        format!("It must lie in {min}..={max}"),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mesh is closed and correctly oriented, and its volume and area converge at second order.
    #[track_caller]
    fn check_second_order(make: impl Fn(u32) -> TriMesh, volume: f64, area: f64, euler: i64) {
        let errors = [1, 2].map(|level| {
            let mesh = make(level);
            assert!(mesh.is_closed());
            assert_eq!((mesh.euler_number(), mesh.component_count()), (euler, 1));
            let found = mesh.solid_moments().unwrap();
            assert!(found.centroid.norm() < 1e-12);
            [volume - found.volume, area - mesh.area()]
        });
        for k in 0..2 {
            let order = (errors[0][k] / errors[1][k]).log2();
            assert!(
                errors[0][k] > 0.0 && (order - 2.0).abs() < 0.15,
                "order {order}, errors {errors:?}"
            );
        }
    }

    #[test]
    fn sphere_converges_at_second_order() {
        check_second_order(
            |level| sphere(2.0, level + 1).unwrap(),
            32.0 / 3.0 * PI,
            16.0 * PI,
            2,
        );
    }

    #[test]
    fn cylinder_converges_at_second_order() {
        let make = |level| cylinder(0.5, 1.0, 16_u32 << level).unwrap();
        check_second_order(make, PI / 2.0, PI / 2.0 + 2.0 * PI, 2);
    }

    #[test]
    fn capsule_converges_at_second_order() {
        let make = |level| capsule(0.5, 1.0, 16_u32 << level).unwrap();
        check_second_order(make, PI / 2.0 + PI / 6.0, 2.0 * PI + PI, 2);
    }

    #[test]
    fn torus_converges_at_second_order() {
        let make = |level| torus(1.0, 0.25, 24_u32 << level, 12_u32 << level).unwrap();
        check_second_order(make, 2.0 * PI * PI / 16.0, PI * PI, 0);
    }

    #[test]
    fn cuboid_has_the_inertia_of_a_brick() {
        let half = Vector3::new(0.5, 1.0, 1.5);
        for moments in [
            cuboid(half).unwrap().solid_moments().unwrap(),
            tet_cuboid(half, [1, 2, 3]).unwrap().solid_moments(),
        ] {
            assert!((moments.volume - 6.0).abs() < 1e-14);
            let squares = 4.0 * half.component_mul(&half);
            for k in 0..3 {
                let expected = 6.0 / 12.0 * (squares.sum() - squares[k]);
                assert!((moments.inertia_about_centroid[(k, k)] - expected).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn sheet_is_open_with_one_loop_and_faces_up() {
        let mesh = sheet([2.0, 1.0], [4, 3]).unwrap();
        assert_eq!(
            (
                mesh.triangles().len(),
                mesh.euler_number(),
                mesh.boundary_loops().len()
            ),
            (24, 1, 1)
        );
        assert_eq!(mesh.boundary_loops()[0].len(), 14);
        assert!((mesh.area() - 2.0).abs() < 1e-15);
        assert!((0..24).all(|t| mesh.triangle_normal(t.into()).z > 0.999));
    }

    #[test]
    fn impossible_sizes_are_refused_by_name() {
        for (result, name) in [
            (sphere(-1.0, 1), "radius"),
            (sphere(1.0, 9), "subdivisions"),
            (cuboid(Vector3::new(1.0, f64::NAN, 1.0)), "half extent"),
            (torus(1.0, 1.0, 8, 8), "major radius - minor radius"),
            (cylinder(1.0, 1.0, 2), "segments"),
        ] {
            let error = result.unwrap_err();
            assert!(
                matches!(error, MeshError::Setting(_)) && error.to_string().contains(name),
                "{error}"
            );
        }
    }
}
