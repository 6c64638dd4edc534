use super::*;
use crate::Shape;
use crate::mesh::{TetIdx, TetMesh, TetOptions, VertexIdx, generate};
use crate::test_support::{box_mesh, l_shape};
use nalgebra::Point3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn compliance(hint: f64, margin: f64) -> Compliance {
    Compliance {
        hydroelastic_modulus: 1.0e5,
        margin,
        mesh_resolution_hint: hint,
        ..Compliance::default()
    }
}

fn shapes() -> Vec<Shape> {
    let (vertices, triangles) = l_shape();
    let (corners, _) = box_mesh(Vector3::new(0.1, 0.07, 0.2));
    vec![
        Shape::sphere(0.1).unwrap(),
        Shape::ellipsoid(Vector3::new(0.1, 0.06, 0.15)).unwrap(),
        Shape::cuboid(Vector3::repeat(0.2)).unwrap(),
        Shape::cuboid(Vector3::new(0.2, 0.1, 0.1)).unwrap(),
        Shape::cuboid(Vector3::new(0.2, 0.3, 0.1)).unwrap(),
        Shape::cylinder(0.05, 0.3).unwrap(),
        Shape::cylinder(0.1, 0.05).unwrap(),
        Shape::cylinder(0.1, 0.2).unwrap(),
        Shape::capsule(0.05, 0.2).unwrap(),
        Shape::cone(0.1, 0.3).unwrap(),
        Shape::convex_hull(&corners).unwrap(),
        Shape::mesh(&vertices, &triangles).unwrap(),
    ]
}

fn mesh_of(field: &PressureField) -> TetMesh {
    let options = TetOptions {
        orientation: crate::mesh::Orientation::Refuse,
        ..TetOptions::default()
    };
    TetMesh::build(field.vertices().to_vec(), field.tets().to_vec(), &options)
        .unwrap()
        .0
}

#[test]
fn every_shape_has_a_sound_mesh_of_its_own_volume() {
    for shape in shapes() {
        for margin in [0.0, 1e-3] {
            let field = PressureField::of_shape(&shape, &compliance(0.03, margin)).unwrap();
            let mesh = mesh_of(&field);
            assert!(mesh.boundary_surface().is_ok(), "{}", shape.name());
            let expected = shape.mass_properties(1.0).unwrap().volume;
            let volume = mesh.solid_moments().volume;
            // The lattice chamfers edges; all others have the exact volume, plus a shell of the margin's thickness.
            let tolerance = match shape {
                Shape::Mesh(_) => 0.06,
                _ if margin > 0.0 => 0.2,
                _ => 1e-9,
            };
            let excess = volume / expected - 1.0;
            assert!(
                excess.abs() < tolerance && (margin == 0.0 || excess > 0.0),
                "{} {excess}",
                shape.name()
            );
        }
    }
}

#[test]
fn pressure_is_the_modulus_times_the_distance_over_the_depth() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for shape in shapes() {
        // Shapes whose field is the distance, and the deviation of the facets from the true surface.
        let facets = match shape {
            Shape::Box(_) => 1e-12,
            Shape::Sphere(_) | Shape::Cylinder(_) | Shape::Capsule(_) => 5e-4,
            _ => continue,
        };
        let field = PressureField::of_shape(&shape, &compliance(0.01, 1e-3)).unwrap();
        let bounds = field.local_aabb();
        let mut compared = 0;
        for _ in 0..3000 {
            let x = Vector3::from_fn(|k, _| rng.random_range(bounds.min[k]..bounds.max[k]));
            let phi = shape.signed_distance(&Point3::from(x)).value;
            let Some(p) = field.pressure_at(&x) else {
                assert!(phi > 1e-3 - facets, "{} {phi}", shape.name());
                continue;
            };
            // Beyond an edge the field is extrapolated linearly, unlike the distance.
            if phi < 0.0 {
                let error = p * field.depth() / 1.0e5 + phi;
                assert!(error.abs() < facets, "{} at {x:?}: {error}", shape.name());
                compared += 1;
            }
        }
        assert!(compared > 500, "{}", shape.name());
    }
}

#[test]
fn a_margin_leaves_the_zero_level_on_the_surface() {
    let (vertices, triangles) = box_mesh(Vector3::new(0.1, 0.2, 0.3));
    let surface = crate::mesh::TriMesh::build(
        vertices.iter().map(|p| p.coords).collect(),
        triangles.clone(),
        crate::mesh::SurfaceUse::Solid,
        &crate::mesh::SurfaceOptions::default(),
    )
    .unwrap()
    .0;
    let lattice =
        crate::mesh::tetrahedralise(&surface, &crate::mesh::FillSettings::of_edge_length(0.05))
            .unwrap()
            .0;
    let margin = 2e-3;
    let c = compliance(0.05, margin);
    for field in [
        PressureField::of_shape(&Shape::cuboid(Vector3::new(0.2, 0.4, 0.6)).unwrap(), &c).unwrap(),
        PressureField::of_shape(&Shape::mesh(&vertices, &triangles).unwrap(), &c).unwrap(),
        PressureField::of_tets(&lattice, &c).unwrap(),
    ] {
        for (z, sign) in [(-0.3 - 0.9 * margin, -1.0), (-0.3 + 0.9 * margin, 1.0)] {
            let p = field.pressure_at(&Vector3::new(0.013, 0.021, z)).unwrap();
            assert!(p * sign > 0.0, "{p}");
        }
        let p = field
            .pressure_at(&Vector3::new(0.013, 0.021, -0.3))
            .unwrap();
        assert!(p.abs() < 1e-9 * 1.0e5, "{p}");
        assert!(
            field
                .pressure_at(&Vector3::new(0.0, 0.0, -0.3 - 1.1 * margin * 3.0))
                .is_none()
        );
    }
}

#[test]
fn flat_sides_are_one_piece_however_they_are_cut() {
    let pieces = |shape: &Shape| {
        let mut pieces = PressureField::of_shape(shape, &compliance(0.02, 0.0))
            .unwrap()
            .pieces;
        pieces.sort_unstable();
        pieces.dedup();
        pieces.len()
    };
    assert_eq!(
        pieces(&Shape::cuboid(Vector3::new(0.2, 0.3, 0.4)).unwrap()),
        6
    );
    assert_eq!(pieces(&Shape::cuboid(Vector3::repeat(0.2)).unwrap()), 6);
    // Two ends and one for each facet.
    let n = (std::f64::consts::TAU * 0.1 / 0.02).ceil() as usize;
    assert_eq!(pieces(&Shape::cylinder(0.1, 0.3).unwrap()), n + 2);
    let (corners, triangles) = box_mesh(Vector3::repeat(0.1));
    assert_eq!(pieces(&Shape::convex_hull(&corners).unwrap()), 6);
    assert_eq!(pieces(&Shape::mesh(&corners, &triangles).unwrap()), 6);
}

#[test]
fn user_defined_pressures_are_kept_and_invalid_ones_refused_by_name() {
    let mesh = generate::tet_cuboid(Vector3::repeat(0.1), [2, 2, 2]).unwrap();
    let pressures: Vec<f64> = mesh
        .vertices()
        .iter()
        .map(|x| 3.0e4 - 1.0e5 * x.z)
        .collect();
    let field = PressureField::from_vertex_pressures(&mesh, &pressures).unwrap();
    let p = field
        .pressure_at(&Vector3::new(0.011, 0.023, 0.051))
        .unwrap();
    assert!((p - (3.0e4 - 5.1e3)).abs() < 1e-8, "{p}");
    assert!((field.gradient(TetIdx(0)) + Vector3::z() * 1.0e5).norm() < 1e-6);
    let refused = |p: &[f64]| {
        PressureField::from_vertex_pressures(&mesh, p)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&pressures[1..]).contains("pressures were given, but"));
    let mut bad = pressures.clone();
    bad[3] = f64::NAN;
    assert!(refused(&bad).contains("vertex 3"));
    assert!(refused(&vec![0.0; pressures.len()]).contains("positive"));
}

#[test]
fn a_mesh_without_interior_vertices_still_has_pressure_inside() {
    let mesh = generate::tet_cuboid(Vector3::repeat(0.1), [1, 1, 1]).unwrap();
    let field = PressureField::of_tets(&mesh, &compliance(0.1, 0.0)).unwrap();
    assert!(field.tets().len() == 4 * mesh.tets().len());
    assert!((0..field.tets().len() as u32).all(|t| field.gradient(TetIdx(t)).norm() > 0.0));
}

#[test]
fn moved_vertices_keep_their_pressure_and_the_trees_are_refitted() {
    let mesh = generate::tet_cuboid(Vector3::repeat(0.1), [2, 2, 2]).unwrap();
    let mut field = PressureField::of_tets(&mesh, &compliance(0.1, 0.0)).unwrap();
    let start = field.vertices().to_vec();
    // Bent and shifted.
    let bend = |x: &Vector3<f64>| Vector3::new(x.x + 3.0, x.y + 2.0 * x.x * x.x, x.z * 1.2);
    let moved: Vec<_> = start.iter().map(bend).collect();
    field.move_vertices(&moved).unwrap();
    for (t, tet) in field.tets().iter().enumerate() {
        let corners = tet.map(|v| moved[v as usize]);
        let centroid = corners.iter().sum::<Vector3<f64>>() / 4.0;
        let mean = tet
            .map(|v| field.pressures()[v as usize])
            .iter()
            .sum::<f64>()
            / 4.0;
        let p = field.pressure_at(&centroid).unwrap();
        assert!((p - mean).abs() < 1e-9 * 1.0e5, "tetrahedron {t}");
    }
    assert!(field.move_vertices(&moved[1..]).is_err());
    let mut bad = moved.clone();
    bad[2].x = f64::INFINITY;
    assert!(
        field
            .move_vertices(&bad)
            .unwrap_err()
            .to_string()
            .contains("vertex 2")
    );
    assert_eq!(field.vertices(), moved);
}

#[test]
fn shapes_without_a_field_are_refused_by_name() {
    let c = compliance(0.02, 0.0);
    let text = PressureField::of_shape(&Shape::half_space(), &c)
        .unwrap_err()
        .to_string();
    assert!(text.contains("half space"), "{text}");
    for (bad, message) in [
        (
            Compliance {
                hydroelastic_modulus: -1.0,
                ..c
            },
            "hydroelastic_modulus (Pa) = -1",
        ),
        (
            Compliance {
                margin: f64::NAN,
                ..c
            },
            "hydroelastic_margin",
        ),
        (
            Compliance {
                mesh_resolution_hint: 0.0,
                ..c
            },
            "mesh_resolution_hint",
        ),
        (
            Compliance {
                slab_thickness: Some(0.0),
                ..c
            },
            "slab_thickness",
        ),
    ] {
        let text = PressureField::of_shape(&Shape::sphere(0.1).unwrap(), &bad)
            .unwrap_err()
            .to_string();
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn boundary_vertices_of_a_filled_surface_lie_on_it_also_for_hollow_shapes() {
    let torus = generate::torus(0.3, 0.1, 48, 24).unwrap();
    let (mesh, report) =
        crate::mesh::tetrahedralise(&torus, &crate::mesh::FillSettings::of_edge_length(0.04))
            .unwrap();
    let shape = Shape::from_surface(&torus).unwrap();
    let (skin, of) = mesh.boundary_surface().unwrap();
    assert_eq!(skin.euler_number(), 0, "a torus stays a torus");
    for v in &of {
        let VertexIdx(i) = *v;
        let phi = shape
            .signed_distance(&Point3::from(mesh.vertices()[i as usize]))
            .value;
        assert!(phi.abs() < 1e-9, "{phi}");
    }
    assert!(mesh.min_quality().1 > 0.05, "{:?}", mesh.min_quality());
    assert!(report.to_string().contains("volume"), "{report}");
}

#[test]
fn only_fields_that_are_not_concave_have_valleys() {
    let valleys = |shape: Shape| {
        let field = PressureField::of_shape(&shape, &compliance(0.04, 0.0)).unwrap();
        field.valley_tets().len()
    };
    for shape in [
        Shape::sphere(0.1).unwrap(),
        Shape::cuboid(Vector3::new(0.2, 0.15, 0.1)).unwrap(),
        Shape::cylinder(0.08, 0.2).unwrap(),
        Shape::capsule(0.06, 0.12).unwrap(),
        Shape::cone(0.1, 0.2).unwrap(),
    ] {
        assert_eq!(valleys(shape), 0);
    }
    let (vertices, triangles) = l_shape();
    let small: Vec<_> = vertices.iter().map(|p| p * 0.4).collect();
    assert!(valleys(Shape::mesh(&small, &triangles).unwrap()) > 0);
}
