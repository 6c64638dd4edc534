use super::*;
use pliant_hydroelastic::mesh::{SurfaceOptions, SurfaceUse, surface_from_bytes};

fn filled(shape: &Shape, spacing: f64, sampling: Sampling) -> Result<ParticleSet, MpmError> {
    fill(
        "thing",
        shape,
        &Isometry3::translation(1.0, 2.0, 3.0),
        spacing,
        sampling,
    )
}

#[test]
fn a_box_is_filled_to_its_sides_by_a_lattice() {
    let shape = Shape::cuboid([0.1, 0.2, 0.05].into()).unwrap();
    let set = filled(&shape, 0.02, Sampling::default()).unwrap();
    assert_eq!(set.points.len(), 10 * 20 * 5);
    assert!((set.spacing() - 0.01).abs() < 1e-15);
    let low = set.points.iter().fold(f64::INFINITY, |low, p| low.min(p.x));
    assert!((low - (1.0 - 0.05 + 0.005)).abs() < 1e-15);
}

#[test]
fn random_points_keep_their_distance_and_fill_the_shape() {
    let shape = Shape::sphere(0.1).unwrap();
    let sampling = Sampling::PoissonDisk {
        per_cell: 8.0,
        seed: 4,
    };
    let set = filled(&shape, 0.03, sampling).unwrap();
    let full = shape.mass_properties(1.0).unwrap().mass / 0.015_f64.powi(3);
    let part = set.points.len() as f64 / full;
    assert!((0.92..1.15).contains(&part), "{part}");
    let mut least = f64::INFINITY;
    for (i, p) in set.points.iter().enumerate() {
        assert!((p - Point3::new(1.0, 2.0, 3.0)).norm() < 0.1);
        for q in &set.points[..i] {
            least = least.min((p - q).norm());
        }
    }
    assert!(least >= 0.015 * 0.71_f64.cbrt(), "{least}");
    assert_eq!(set, filled(&shape, 0.03, sampling).unwrap());
    let other = Sampling::PoissonDisk {
        per_cell: 8.0,
        seed: 5,
    };
    assert_ne!(set, filled(&shape, 0.03, other).unwrap());
}

#[test]
fn conforming_points_have_a_layer_under_the_surface_as_dense_as_their_volume() {
    let d = 0.015;
    let sampling = Sampling::Conforming {
        per_cell: 8.0,
        seed: 2,
    };
    let cube = Shape::cuboid(Vector3::new(0.2, 0.15, 0.12)).unwrap();
    for shape in [Shape::sphere(0.1).unwrap(), cube] {
        let set = filled(&shape, 2.0 * d, sampling).unwrap();
        let mass = shape.mass_properties(1.0).unwrap().mass;
        let part = set.points.len() as f64 * d.powi(3) / mass;
        assert!((0.84..1.12).contains(&part), "{part}");
        let depth = |p: &Point3<f64>| {
            -shape
                .signed_distance(&(p - Vector3::new(1.0, 2.0, 3.0)))
                .value
        };
        let on_layer = set
            .points
            .iter()
            .filter(|p| (depth(p) - 0.5 * d).abs() < 1e-5 * d);
        // One for each square of the layer.
        let size = shape.local_aabb();
        let l = (size.max - size.min).add_scalar(-d);
        let area = match shape {
            Shape::Sphere(_) => std::f64::consts::PI * l.x * l.x,
            _ => 2.0 * (l.x * l.y + l.y * l.z + l.z * l.x),
        };
        let part = on_layer.count() as f64 * d * d / area;
        assert!((0.85..1.1).contains(&part), "{part}");
        assert!(set.points.iter().all(|p| depth(p) > 0.499 * d));
        assert_eq!(set, filled(&shape, 2.0 * d, sampling).unwrap());
    }
}

#[test]
fn a_mesh_is_filled_inside_only() {
    let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let (mesh, _) = surface_from_bytes(
        obj,
        "corner.obj",
        SurfaceUse::Solid,
        &SurfaceOptions::default(),
    )
    .unwrap();
    let shape = Shape::from_surface(&mesh).unwrap();
    for sampling in [
        Sampling::default(),
        Sampling::PoissonDisk {
            per_cell: 8.0,
            seed: 1,
        },
        Sampling::Conforming {
            per_cell: 30.0,
            seed: 1,
        },
    ] {
        let set = filled(&shape, 0.1, sampling).unwrap();
        assert!((set.volume() - 1.0 / 6.0).abs() < 1e-14);
        for p in &set.points {
            let local = p - Vector3::new(1.0, 2.0, 3.0);
            assert!(local.iter().all(|x| *x > 0.0) && local.coords.sum() < 1.0);
        }
    }
}

#[test]
fn what_cannot_be_filled_is_refused_with_its_name() {
    let check_message = |result: Result<ParticleSet, MpmError>, word: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.contains(word) && text.contains("thing"), "{text}");
    };
    let sheet = Shape::cuboid([0.1, 0.1, 0.001].into()).unwrap();
    check_message(filled(&sheet, 0.02, Sampling::default()), "refine");
    check_message(
        filled(
            &sheet,
            0.02,
            Sampling::PoissonDisk {
                per_cell: 8.0,
                seed: 1,
            },
        ),
        "refine",
    );
    check_message(
        filled(&Shape::sphere(0.004).unwrap(), 0.02, Sampling::default()),
        "refine",
    );
    check_message(
        filled(&Shape::half_space(), 0.02, Sampling::default()),
        "half space",
    );
    check_message(filled(&sheet, -1.0, Sampling::default()), "grid spacing");
    check_message(
        filled(&sheet, 0.02, Sampling::Regular { per_cell: 0.0 }),
        "per_cell",
    );
    // A surface with a hole is no shape to begin with.
    let hole = Shape::mesh(
        &[
            Point3::origin(),
            Point3::new(1.0, 0.0, 0.0),
            Point3::new(0.0, 1.0, 0.0),
            Point3::new(0.0, 0.0, 1.0),
        ],
        &[[0, 2, 1], [0, 1, 3], [0, 3, 2]],
    );
    assert!(hole.unwrap_err().to_string().contains("close the hole"));
}
