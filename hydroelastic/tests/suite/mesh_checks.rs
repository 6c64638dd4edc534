//! Checks and repairs of surfaces, and the resulting adjacency.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{
    Degenerate, MeshError, Orientation, Severity, SurfaceOptions, SurfaceUse, TetMesh, TetOptions,
    TriMesh, TriangleIdx, Weld, WeldWhen, generate,
};

type Soup = (Vec<Vector3<f64>>, Vec<[u32; 3]>);

fn soup_of(mesh: &TriMesh) -> Soup {
    (mesh.vertices().to_vec(), mesh.raw_triangles().collect())
}

/// A cube of the given half side, oriented outwards or, if `inward`, inwards.
fn cube(half: f64, center: [f64; 3], inward: bool) -> Soup {
    let (mut vertices, mut triangles) = soup_of(&generate::cuboid(Vector3::repeat(half)).unwrap());
    vertices
        .iter_mut()
        .for_each(|vertex| *vertex += Vector3::from(center));
    if inward {
        triangles
            .iter_mut()
            .for_each(|triangle| triangle.swap(1, 2));
    }
    (vertices, triangles)
}

fn joined(soups: impl IntoIterator<Item = Soup>) -> Soup {
    let mut all: Soup = Default::default();
    for (vertices, triangles) in soups {
        let offset = all.0.len() as u32;
        all.0.extend(vertices);
        all.1.extend(
            triangles
                .iter()
                .map(|triangle| triangle.map(|corner| corner + offset)),
        );
    }
    all
}

#[track_caller]
fn check_solid(soup: Soup, volume: f64, entries: &[(Severity, &str)]) -> TriMesh {
    let (mesh, report) = TriMesh::build(
        soup.0,
        soup.1,
        SurfaceUse::Solid,
        &SurfaceOptions::default(),
    )
    .unwrap();
    let found = mesh.solid_moments().unwrap().volume;
    assert!((found - volume).abs() < 1e-12 * volume, "volume {found}");
    assert_eq!(report.entries.len(), entries.len(), "{report}");
    for (entry, (severity, words)) in report.entries.iter().zip(entries) {
        assert!(
            entry.severity == *severity && entry.text.contains(words),
            "{report}"
        );
    }
    mesh
}

#[test]
fn a_cavity_counts_negatively_and_is_not_reported() {
    check_solid(
        joined([cube(1.0, [0.0; 3], false), cube(0.5, [0.1; 3], true)]),
        7.0,
        &[],
    );
}

#[test]
fn a_shell_inside_another_bounds_a_cavity_whatever_its_orientation() {
    let nested = joined([cube(1.0, [0.0; 3], false), cube(0.5, [0.1; 3], false)]);
    let said = "1 closed shells inside others were oriented outwards, the first at: triangle 12; they bound cavities; flipped";
    check_solid(nested, 7.0, &[(Severity::Repaired, said)]);
    let inward = joined([cube(1.0, [0.0; 3], true), cube(0.5, [0.1; 3], true)]);
    let said = "1 closed shells were oriented inwards, the first at: triangle 0";
    check_solid(inward, 7.0, &[(Severity::Repaired, said)]);
    // The inner one first.
    let reversed = joined([cube(0.5, [0.1; 3], false), cube(1.0, [0.0; 3], false)]);
    check_solid(
        reversed,
        7.0,
        &[(Severity::Repaired, "they bound cavities")],
    );
}

#[test]
fn shells_nest_by_parity_to_any_depth() {
    // Two cavities in the body, a body in one of them with a cavity of its own, and a second body beside all.
    let shells = [
        (2.0, [0.0; 3]),
        (0.8, [-1.0, 0.0, 0.0]),
        (0.7, [1.0, 0.1, 0.0]),
        (0.4, [-1.0, 0.1, 0.1]),
        (0.2, [-1.1, 0.1, 0.0]),
        (1.0, [5.0, 0.0, 0.0]),
    ];
    let depths = [0, 1, 1, 2, 3, 0];
    let volume: f64 = (shells.iter().zip(depths))
        .map(|((half, _), depth)| 8.0 * half * half * half * [1.0, -1.0][depth % 2])
        .sum();
    for orientation in 0..64 {
        let soups = shells
            .iter()
            .enumerate()
            .map(|(k, (half, center))| cube(*half, *center, orientation >> k & 1 == 1));
        let (vertices, triangles) = joined(soups);
        let options = SurfaceOptions::default();
        let (mesh, report) =
            TriMesh::build(vertices, triangles, SurfaceUse::Solid, &options).unwrap();
        let moments = mesh.solid_moments().unwrap();
        let error = (moments.volume - volume).abs();
        assert!(error < 1e-12 * volume, "{orientation:b}: {report}");
        let reversed = (0..6)
            .filter(|k| (orientation >> k & 1) != depths[*k] % 2)
            .count();
        assert_eq!(report.entries.is_empty(), reversed == 0, "{report}");
    }
}

#[test]
fn a_cavity_may_touch_the_shell_around_it() {
    // On a face from inside, in a corner, and on a face from outside. That edges meet triangles there is reported, too.
    for (center, is_inward, volume, said) in [
        ([0.5, 0.1, 0.0], false, 7.0, "they bound cavities"),
        ([0.5, 0.5, 0.5], true, 7.0, ""),
        (
            [1.5, 0.0, 0.0],
            true,
            9.0,
            "1 closed shells were oriented inwards",
        ),
    ] {
        let (vertices, triangles) =
            joined([cube(1.0, [0.0; 3], false), cube(0.5, center, is_inward)]);
        let options = SurfaceOptions::default();
        let (mesh, report) =
            TriMesh::build(vertices, triangles, SurfaceUse::Solid, &options).unwrap();
        let found = mesh.solid_moments().unwrap().volume;
        assert!((found - volume).abs() < 1e-12, "{center:?}: {found}");
        let repairs: Vec<_> = report.of(Severity::Repaired).collect();
        assert_eq!(repairs.is_empty(), said.is_empty(), "{report}");
        assert!(
            repairs.iter().all(|entry| entry.text.contains(said)),
            "{report}"
        );
    }
}

#[test]
fn a_shell_that_crosses_the_one_around_it_is_no_cavity() {
    let (mut vertices, mut triangles) = cube(1.0, [0.0; 3], false);
    let inner = cube(0.5, [0.0; 3], true);
    // A tube: the cube without the middle of two opposite sides, which two rings of triangles replace.
    triangles.retain(|t| {
        let normal = {
            let [a, b, c] = t.map(|v| vertices[v as usize]);
            (b - a).cross(&(c - a)).normalize()
        };
        normal.z.abs() < 0.5
    });
    let offset = vertices.len() as u32;
    let inner_triangles = inner.1.iter().filter(|t| {
        let [a, b, c] = t.map(|v| inner.0[v as usize]);
        (b - a).cross(&(c - a)).normalize().z.abs() < 0.5
    });
    triangles.extend(inner_triangles.map(|t| t.map(|v| v + offset)));
    vertices.extend(inner.0.iter().map(|v| Vector3::new(v.x, v.y, 2.0 * v.z)));
    let corner = |x: f64, y: f64, z: f64, half: f64| {
        let of = Vector3::new(half * x, half * y, z);
        vertices
            .iter()
            .position(|v| (v - of).norm() < 1e-12)
            .unwrap() as u32
    };
    let around = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    for z in [-1.0, 1.0] {
        for k in 0..4 {
            let ([x, y], [u, v]) = (around[k], around[(k + 1) % 4]);
            let (a, b) = (corner(x, y, z, 1.0), corner(u, v, z, 1.0));
            let (c, d) = (corner(u, v, z, 0.5), corner(x, y, z, 0.5));
            let mut ring = [[a, b, c], [a, c, d]];
            if z < 0.0 {
                ring.iter_mut().for_each(|t| t.swap(1, 2));
            }
            triangles.extend(ring);
        }
    }
    // A bar across the tube, whose ends are in its walls.
    let (mut bar, of_bar) = cube(1.0, [0.0; 3], false);
    bar.iter_mut()
        .for_each(|v| *v = v.component_mul(&Vector3::new(0.75, 0.1, 0.1)));
    check_solid(
        joined([(vertices, triangles), (bar, of_bar)]),
        6.0 + 8.0 * 0.75 * 0.01,
        &[(Severity::Suspicious, "the surface intersects itself")],
    );
}

#[test]
fn bodies_that_overlap_are_not_inside_each_other() {
    for z in [0.3, -0.3] {
        let pair = [cube(1.0, [0.0; 3], false), cube(1.0, [0.5, 0.4, z], false)];
        let crossing = (Severity::Suspicious, "the surface intersects itself");
        check_solid(joined(pair), 16.0, &[crossing]);
    }
}

#[test]
fn an_inverted_body_is_flipped_with_its_cavity() {
    let inside_out = joined([cube(1.0, [0.0; 3], true), cube(0.5, [0.1; 3], false)]);
    check_solid(
        inside_out,
        7.0,
        &[(Severity::Repaired, "all triangles were oriented inwards")],
    );
}

#[test]
fn one_inverted_body_of_two_is_flipped() {
    let pair = joined([cube(1.0, [0.0; 3], false), cube(0.5, [5.0; 3], true)]);
    let mesh = check_solid(
        pair,
        9.0,
        &[(
            Severity::Repaired,
            "1 closed shells were oriented inwards, the first at: triangle 12",
        )],
    );
    assert_eq!(mesh.component_count(), 2);
}

#[test]
fn bodies_that_touch_face_to_face_are_two_plain_solids() {
    check_solid(
        joined([
            cube(0.5, [0.0; 3], false),
            cube(0.5, [0.0, 0.0, 1.0], false),
        ]),
        2.0,
        &[],
    );
}

#[test]
fn orientation_is_refused_where_it_may_not_be_repaired() {
    let strict = SurfaceOptions {
        orientation: Orientation::Refuse,
        ..SurfaceOptions::default()
    };
    let (vertices, mut triangles) = cube(1.0, [0.0; 3], false);
    triangles[3].swap(0, 1);
    let error = TriMesh::build(vertices, triangles, SurfaceUse::Solid, &strict).unwrap_err();
    assert!(error.to_string().contains("triangle 3"), "{error}");
    let (vertices, triangles) = cube(1.0, [0.0; 3], true);
    let error = TriMesh::build(vertices, triangles, SurfaceUse::Solid, &strict).unwrap_err();
    assert!(
        matches!(error, MeshError::Element(_)) && error.to_string().contains("inwards"),
        "{error}"
    );
}

/// A band of `n` squares closed to a ring, with or without a half twist.
fn band(n: u32, twisted: bool) -> Soup {
    let mut vertices = Vec::new();
    for i in 0..n {
        let angle = f64::from(i) / f64::from(n) * std::f64::consts::TAU;
        let tilt = if twisted { angle / 2.0 } else { 0.0 };
        let out = Vector3::new(angle.cos(), angle.sin(), 0.0);
        let half_width = 0.3 * (out * tilt.sin() + Vector3::z() * tilt.cos());
        vertices.extend([out - half_width, out + half_width]);
    }
    let at = |i: u32, side: u32| {
        let side = if i == n && twisted { 1 - side } else { side };
        2 * (i % n) + side
    };
    let square = |i| {
        [
            [at(i, 0), at(i + 1, 0), at(i + 1, 1)],
            [at(i, 0), at(i + 1, 1), at(i, 1)],
        ]
    };
    (vertices, (0..n).flat_map(square).collect())
}

#[test]
fn a_ring_has_two_boundary_loops_and_a_moebius_strip_one() {
    let options = SurfaceOptions::default();
    for (twisted, lengths) in [(false, vec![12, 12]), (true, vec![24])] {
        let (vertices, triangles) = band(12, twisted);
        let (mesh, report) =
            TriMesh::build(vertices, triangles, SurfaceUse::Cloth, &options).unwrap();
        let found: Vec<usize> = mesh.boundary_loops().iter().map(Vec::len).collect();
        assert_eq!((found, mesh.euler_number()), (lengths, 0));
        assert_eq!(
            report.to_string().contains("one-sided"),
            twisted,
            "{report}"
        );
    }
}

#[test]
fn loops_run_along_edges() {
    let mesh = generate::sheet([1.0, 1.0], [3, 2]).unwrap();
    let chain = &mesh.boundary_loops()[0];
    for k in 0..chain.len() {
        let (from, to) = (chain[k], chain[(k + 1) % chain.len()]);
        let ends = [from.min(to), from.max(to)];
        assert!(
            mesh.boundary_edges().any(|edge| edge.vertices == ends),
            "{from} to {to} is no boundary edge"
        );
    }
}

#[test]
fn neighbours_agree_with_shared_edges() {
    let mesh = generate::torus(1.0, 0.3, 9, 5).unwrap();
    let n = mesh.triangles().len() as u32;
    assert_eq!(mesh.edges().len() as u32, 3 * n / 2);
    for t in (0..n).map(TriangleIdx) {
        for (k, neighbour) in mesh.neighbours(t).into_iter().enumerate() {
            let neighbour = neighbour.expect("a torus is closed");
            let (a, b) = (
                mesh.triangles()[t.index()][k],
                mesh.triangles()[t.index()][(k + 1) % 3],
            );
            let other = mesh.triangles()[neighbour.index()];
            let runs_back = (0..3).any(|j| other[j] == b && other[(j + 1) % 3] == a);
            assert!(
                runs_back,
                "neighbours run along their edge in opposite directions"
            );
            assert!(mesh.neighbours(neighbour).contains(&Some(t)));
        }
    }
}

#[test]
fn cracks_are_closed_by_welding_within_a_distance_only_on_request() {
    let (vertices, triangles) = cube(1.0, [0.0; 3], false);
    // Every triangle has its own corners, slightly apart.
    let apart: Vec<Vector3<f64>> = triangles
        .iter()
        .flatten()
        .enumerate()
        .map(|(k, v)| vertices[*v as usize].add_scalar(1e-9 * k as f64))
        .collect();
    let separate: Vec<[u32; 3]> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let build = |weld| {
        let options = SurfaceOptions {
            weld,
            ..SurfaceOptions::default()
        };
        TriMesh::build(apart.clone(), separate.clone(), SurfaceUse::Solid, &options)
    };
    assert!(matches!(build(Weld::Exact), Err(MeshError::Topology(_))));
    let (mesh, report) = build(Weld::Within {
        relative_distance: 1e-6,
    })
    .unwrap();
    assert_eq!(mesh.vertices().len(), 8);
    assert!(
        report.to_string().contains("36 vertices were welded to 8"),
        "{report}"
    );
    assert!(matches!(
        build(Weld::Within {
            relative_distance: 0.5
        }),
        Err(MeshError::Setting(_))
    ));
}

#[test]
fn cloth_is_welded_only_on_request_and_otherwise_reported() {
    let vertices = [[0, 0], [1, 0], [0, 1], [1, 0], [1, 1], [0, 1]]
        .map(|[x, y]| Vector3::new(x, y, 0).cast::<f64>());
    let build = |weld_when| {
        let options = SurfaceOptions {
            weld_when,
            ..SurfaceOptions::default()
        };
        TriMesh::build(
            vertices.to_vec(),
            vec![[0, 1, 2], [3, 4, 5]],
            SurfaceUse::Cloth,
            &options,
        )
        .unwrap()
    };
    let (apart, report) = build(WeldWhen::OpenSolid);
    assert_eq!(apart.component_count(), 2);
    assert!(
        report
            .to_string()
            .contains("2 vertices coincide with others"),
        "{report}"
    );
    let (joined, report) = build(WeldWhen::Always);
    assert_eq!((joined.component_count(), joined.vertices().len()), (1, 4));
    assert!(
        report.to_string().contains("6 vertices were welded to 4"),
        "{report}"
    );
}

#[test]
fn degenerate_triangles_are_refused_on_request_and_required_ones_always() {
    let (vertices, mut triangles) = cube(1.0, [0.0; 3], false);
    triangles.push([0, 0, 1]);
    let strict = SurfaceOptions {
        degenerate: Degenerate::Refuse,
        ..SurfaceOptions::default()
    };
    let error = TriMesh::build(vertices, triangles, SurfaceUse::Solid, &strict).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("triangle 12 (vertices 0 0 1) has a repeated vertex"),
        "{error}"
    );

    // A tetrahedron's edge split on one side only, the gap closed by a triangle without area.
    let vertices = vec![
        Vector3::zeros(),
        Vector3::x(),
        Vector3::y(),
        Vector3::z(),
        Vector3::x() * 0.5,
    ];
    let triangles = vec![
        [0, 2, 4],
        [4, 2, 1],
        [0, 1, 3],
        [0, 3, 2],
        [1, 2, 3],
        [0, 4, 1],
    ];
    let error = TriMesh::build(
        vertices,
        triangles,
        SurfaceUse::Solid,
        &SurfaceOptions::default(),
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("not closed: 3 open edges"),
        "{error}"
    );
}

#[test]
fn a_closed_surface_folded_flat_is_not_a_solid() {
    let vertices = vec![
        Vector3::zeros(),
        Vector3::x(),
        Vector3::new(1.0, 1.0, 0.0),
        Vector3::y(),
    ];
    let triangles = vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
    let error = TriMesh::build(
        vertices,
        triangles,
        SurfaceUse::Solid,
        &SurfaceOptions::default(),
    )
    .unwrap_err();
    assert!(
        matches!(error, MeshError::Topology(_)) && error.to_string().contains("encloses 0e0 m3"),
        "{error}"
    );
}

#[test]
fn arrays_with_indices_out_of_range_or_without_content_are_refused() {
    let options = SurfaceOptions::default();
    let error = TriMesh::build(
        vec![Vector3::zeros(); 3],
        vec![[0, 1, 3]],
        SurfaceUse::Cloth,
        &options,
    )
    .unwrap_err();
    assert!(matches!(error, MeshError::Index(_)), "{error}");
    let error = TriMesh::build(Vec::new(), Vec::new(), SurfaceUse::Cloth, &options).unwrap_err();
    assert!(error.to_string().contains("no vertices"), "{error}");
    let error =
        TetMesh::build(vec![Vector3::zeros()], Vec::new(), &TetOptions::default()).unwrap_err();
    assert!(error.to_string().contains("no tetrahedra"), "{error}");
    let nan = vec![
        Vector3::zeros(),
        Vector3::x(),
        Vector3::y(),
        Vector3::new(0.0, f64::NAN, 1.0),
    ];
    let error = TetMesh::build(nan, vec![[0, 1, 2, 3]], &TetOptions::default()).unwrap_err();
    assert!(
        matches!(error, MeshError::Coordinate(_)) && error.to_string().contains("vertex 3"),
        "{error}"
    );
}

#[test]
fn sizes_that_overflow_the_inertia_are_refused_before_they_do() {
    for scale in [1e-100, 1e100] {
        let options = SurfaceOptions {
            scale: Vector3::repeat(scale),
            ..SurfaceOptions::default()
        };
        let (vertices, triangles) = cube(1.0, [0.0; 3], false);
        let error = TriMesh::build(vertices, triangles, SurfaceUse::Solid, &options).unwrap_err();
        assert!(matches!(error, MeshError::Coordinate(_)), "{error}");
    }
}

#[test]
fn thousands_of_scattered_bodies_are_oriented_quickly() {
    // 8000 small cubes, every third inverted: work quadratic in the number of shells would take minutes.
    let bodies = (0..8000).map(|i| {
        let at = |k: i32| 3.0 * f64::from(i / k % 20);
        cube(1.0, [at(1), at(20), at(400)], i % 3 == 0)
    });
    let (vertices, mut triangles) = joined(bodies);
    triangles[0].swap(1, 2);
    let (mesh, report) = TriMesh::build(
        vertices,
        triangles,
        SurfaceUse::Solid,
        &SurfaceOptions::default(),
    )
    .unwrap();
    let volume = mesh.solid_moments().unwrap().volume;
    // Far from the centre of the sum each body loses some significant digits: 1.4e-12 measured.
    assert!(
        (volume / 64_000.0 - 1.0).abs() < 1e-11,
        "volume {volume}\n{report}"
    );
    assert_eq!(
        (
            mesh.component_count(),
            report.of(Severity::Repaired).count()
        ),
        (8000, 2),
        "{report}"
    );
    assert!(report.to_string().len() < 1000, "long lists are truncated");
}
