//! Superfluous triangles of solids: they are dropped, and the report says so, where only one choice closes the surface.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{
    LoadReport, MeshError, Severity, SurfaceOptions, SurfaceUse, TriMesh, generate,
};

type Soup = (Vec<Vector3<f64>>, Vec<[u32; 3]>);

/// A cube of 2 m with its centre at `at`.
fn cube(at: [f64; 3]) -> Soup {
    let cube = generate::cuboid(Vector3::repeat(1.0)).expect("a cube");
    let vertices = cube.vertices().iter().map(|v| v + Vector3::from(at));
    (vertices.collect(), cube.raw_triangles().collect())
}

/// A cube and its mirror image, which share the corners of the face between them.
fn two_cells() -> Soup {
    let (mut vertices, mut triangles) = cube([0.0; 3]);
    let mirrored = |v: &Vector3<f64>| Vector3::new(2.0 - v.x, v.y, v.z);
    let others: Vec<Vector3<f64>> = vertices.iter().map(mirrored).collect();
    let sides: Vec<[u32; 3]> = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    let index: Vec<u32> = others
        .iter()
        .map(|v| {
            let found = vertices.iter().position(|own| (own - v).norm() < 1e-12);
            found.unwrap_or_else(|| {
                vertices.push(*v);
                vertices.len() - 1
            }) as u32
        })
        .collect();
    triangles.extend(sides.iter().map(|t| t.map(|corner| index[corner as usize])));
    (vertices, triangles)
}

fn build((vertices, triangles): Soup) -> Result<(TriMesh, LoadReport), MeshError> {
    let options = SurfaceOptions::default();
    TriMesh::build(vertices, triangles, SurfaceUse::Solid, &options)
}

#[track_caller]
fn check(soup: Soup, volume: f64, repairs: &[&str]) {
    let (mesh, report) = build(soup).unwrap_or_else(|error| panic!("{error}"));
    let found = mesh.solid_moments().expect("it is closed").volume;
    assert!((found - volume).abs() < 1e-12 * volume, "{found} m3");
    let said: Vec<&str> = report
        .of(Severity::Repaired)
        .map(|entry| &*entry.text)
        .collect();
    assert_eq!(said.len(), repairs.len(), "{report}");
    for (text, part) in said.iter().zip(repairs) {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn copies_of_triangles_are_dropped_whatever_their_order() {
    for copy in [
        |[a, b, c]: [u32; 3]| [a, b, c],
        |[a, b, c]: [u32; 3]| [c, a, b],
        |[a, b, c]: [u32; 3]| [b, a, c],
    ] {
        for copies in [1, 2] {
            let (vertices, mut triangles) = cube([0.5, -3.0, 1.0]);
            for _ in 0..copies {
                triangles.push(copy(triangles[4]));
            }
            let text = format!("{copies} triangles with the same corners");
            check((vertices, triangles), 8.0, &[&text]);
        }
    }
}

#[test]
fn a_surface_written_from_both_sides_is_one_solid() {
    let (vertices, mut triangles) = cube([0.0; 3]);
    let back: Vec<[u32; 3]> = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    triangles.extend(back);
    check((vertices, triangles), 8.0, &["12 triangles with the same"]);
}

#[test]
fn a_wall_without_thickness_between_two_cells_is_dropped() {
    check(two_cells(), 16.0, &["4 triangles of walls"]);
}

#[test]
fn fins_and_loose_triangles_are_dropped() {
    let (mut vertices, mut triangles) = cube([0.0; 3]);
    let n = vertices.len() as u32;
    // A fin on the edge of the first triangle, and a triangle in a corner of its own.
    let [a, b, _] = triangles[0];
    vertices.push((vertices[a as usize] + vertices[b as usize]) * 0.505);
    vertices.extend([0.0, 0.1, 0.2].map(|x| Vector3::new(x, 0.1 * x * x, 0.0)));
    triangles.extend([[a, b, n], [n + 1, n + 2, n + 3]]);
    check((vertices, triangles), 8.0, &["2 loose triangles"]);
}

#[test]
fn holes_and_walls_on_one_side_are_errors() {
    let (vertices, mut triangles) = cube([0.0; 3]);
    triangles.pop();
    let error = build((vertices, triangles)).expect_err("a hole");
    assert!(
        error.to_string().contains("not closed: 3 open edges"),
        "{error}"
    );

    // A diagonal wall inside a cube: with it or without its neighbours, several solids are possible.
    let (vertices, mut triangles) = cube([0.0; 3]);
    let at = |x, y, z| {
        let corner = Vector3::new(x, y, z);
        vertices
            .iter()
            .position(|v| (v - corner).norm() < 1e-12)
            .expect("a corner") as u32
    };
    let wall = [
        at(-1.0, -1.0, -1.0),
        at(1.0, 1.0, -1.0),
        at(1.0, 1.0, 1.0),
        at(-1.0, -1.0, 1.0),
    ];
    triangles.extend([[wall[0], wall[1], wall[2]], [wall[0], wall[2], wall[3]]]);
    let error = build((vertices, triangles)).expect_err("three solids");
    assert!(matches!(error, MeshError::Topology(_)), "{error}");
}

#[test]
fn a_closed_shell_written_from_both_sides_beside_a_plain_one_is_ambiguous() {
    // The second shell is a body, or nothing.
    let (mut vertices, mut triangles) = cube([0.0; 3]);
    let (others, sides) = cube([5.0, 0.0, 0.0]);
    let n = vertices.len() as u32;
    vertices.extend(others);
    for [a, b, c] in sides.iter().map(|t| t.map(|corner| corner + n)) {
        triangles.extend([[a, b, c], [a, c, b]]);
    }
    let error = build((vertices, triangles)).expect_err("two solids are possible");
    assert!(error.to_string().contains("same vertices"), "{error}");
}

#[test]
fn copies_in_a_cloth_are_dropped() {
    let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y()];
    let triangles = vec![[0, 1, 2], [2, 1, 0]];
    let options = SurfaceOptions::default();
    let built = TriMesh::build(vertices, triangles, SurfaceUse::Cloth, &options);
    let (mesh, report) = built.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(mesh.triangles().len(), 1);
    assert_eq!(report.of(Severity::Repaired).count(), 1, "{report}");
}
