//! Tetrahedral meshing of closed surfaces: correct volume, good elements, and faults reported or repaired.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{
    Crossings, FillSettings, MeshError, Severity, SurfaceOptions, SurfaceUse, TriMesh, generate,
    tetrahedralise,
};

fn fill(surface: &TriMesh, edge: f64) -> pliant_hydroelastic::mesh::TetMesh {
    tetrahedralise(surface, &FillSettings::of_edge_length(edge))
        .unwrap()
        .0
}

#[test]
fn volume_of_a_ball_converges_at_second_order_and_no_tetrahedron_is_a_sliver() {
    let ball = generate::sphere(0.1, 5).unwrap();
    let expected = ball.solid_moments().unwrap().volume;
    let mut last: Option<f64> = None;
    for edge in [0.04, 0.02, 0.01] {
        let mesh = fill(&ball, edge);
        let error = (mesh.solid_moments().volume / expected - 1.0).abs();
        let (_, quality) = mesh.min_quality();
        assert!(quality > 0.1, "{quality}");
        if let Some(coarser) = last {
            assert!(error < coarser / 3.0, "{coarser} then {error}");
        }
        last = Some(error);
    }
}

#[test]
fn a_box_keeps_its_corners_and_edges() {
    let half = Vector3::new(0.1, 0.07, 0.05);
    let surface = generate::cuboid(half).unwrap();
    let mesh = fill(&surface, 0.02);
    let volume = 8.0 * half.product();
    assert!((mesh.solid_moments().volume / volume - 1.0).abs() < 0.02);
    for i in 0..8 {
        let corner = Vector3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
        let nearest = mesh
            .vertices()
            .iter()
            .map(|v| (v - corner).norm())
            .fold(f64::INFINITY, f64::min);
        assert!(nearest < 1e-12, "corner {i}: {nearest}");
    }
    // Every boundary triangle away from edges lies in a side: flat parts of the surface are preserved.
    let mut flat = 0.0;
    for t in &mesh.boundary().triangles {
        let corners = t.map(|v| mesh.vertices()[v.index()]);
        let on_side = (0..3).any(|k| {
            corners.iter().all(|x| (x[k] - half[k]).abs() < 1e-10)
                || corners.iter().all(|x| (x[k] + half[k]).abs() < 1e-10)
        });
        if on_side {
            flat += 0.5
                * (corners[1] - corners[0])
                    .cross(&(corners[2] - corners[0]))
                    .norm();
        }
    }
    assert!(
        flat > 0.8 * surface.area(),
        "{} of {}",
        flat,
        surface.area()
    );
    assert!(mesh.min_quality().1 > 0.05);
}

#[test]
fn the_same_surface_gives_the_same_mesh() {
    let torus = generate::torus(0.2, 0.08, 40, 20).unwrap();
    let (one, two) = (fill(&torus, 0.04), fill(&torus, 0.04));
    assert_eq!(one.vertices(), two.vertices());
    assert_eq!(one.tets(), two.tets());
}

#[test]
fn an_open_surface_is_refused_with_an_open_edge() {
    let sheet = generate::sheet([0.2, 0.1], [2, 1]).unwrap();
    let error = tetrahedralise(&sheet, &FillSettings::of_edge_length(0.02)).unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error, MeshError::Topology(_)) && text.contains("one triangle only"),
        "{text}"
    );
}

/// Two balls that overlap, as one surface.
fn crossing_balls() -> TriMesh {
    let ball = generate::sphere(0.1, 2).unwrap();
    let n = ball.vertices().len() as u32;
    let mut vertices = ball.vertices().to_vec();
    vertices.extend(
        ball.vertices()
            .iter()
            .map(|v| v + Vector3::new(0.1, 0.01, 0.0)),
    );
    let mut triangles: Vec<[u32; 3]> = ball.raw_triangles().collect();
    triangles.extend(ball.raw_triangles().map(|t| t.map(|v| v + n)));
    TriMesh::build(
        vertices,
        triangles,
        SurfaceUse::Solid,
        &SurfaceOptions::default(),
    )
    .unwrap()
    .0
}

#[test]
fn a_self_intersecting_surface_is_refused_with_its_location_or_united_on_request() {
    let surface = crossing_balls();
    let mut settings = FillSettings::of_edge_length(0.03);
    let text = tetrahedralise(&surface, &settings).unwrap_err().to_string();
    assert!(
        text.contains("intersects itself: triangle") && text.contains("at ("),
        "{text}"
    );
    settings.crossings = Crossings::Unite;
    let (mesh, report) = tetrahedralise(&surface, &settings).unwrap();
    assert!(
        report
            .of(Severity::Repaired)
            .any(|e| e.text.contains("united")),
        "{report}"
    );
    assert_eq!(mesh.component_count(), 1);
    // Two balls minus their common lens.
    let (r, d) = (0.1, 0.1_f64.hypot(0.01));
    let ball = 4.0 / 3.0 * std::f64::consts::PI * r * r * r;
    let lens = std::f64::consts::PI * (4.0 * r + d) * (2.0 * r - d).powi(2) / 12.0;
    let volume = mesh.solid_moments().volume;
    assert!(
        (volume / (2.0 * ball - lens) - 1.0).abs() < 0.05,
        "{volume}"
    );
}

#[test]
fn settings_out_of_range_and_thin_parts_are_reported() {
    let plate = generate::cuboid(Vector3::new(0.1, 0.1, 0.001)).unwrap();
    for edge in [0.0, -1.0, f64::NAN, 1e-6] {
        let error = tetrahedralise(&plate, &FillSettings::of_edge_length(edge)).unwrap_err();
        assert!(matches!(error, MeshError::Setting(_)), "{error}");
    }
    match tetrahedralise(&plate, &FillSettings::of_edge_length(0.05)) {
        Err(error) => assert!(error.to_string().contains("smaller edge length"), "{error}"),
        Ok((_, report)) => assert!(report.of(Severity::Suspicious).count() > 0, "{report}"),
    }
}
