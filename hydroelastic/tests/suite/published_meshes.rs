//! Published meshes load without repair, and agree with facts computed independently of this code.

use crate::shared_data::shared;
use nalgebra::{Matrix3, Vector3};
use pliant_hydroelastic::mesh::{
    Bounds, LoadReport, MeshError, Orientation, Severity, SurfaceOptions, SurfaceUse, TetMesh,
    TetOptions, TriMesh, read_surface, read_tets,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder() -> Option<PathBuf> {
    shared("data/meshes")
}

/// The facts are printed with ten digits, but those of two tiny files whose points are declared `float` were summed in
/// single precision.
fn digits(name: &str) -> f64 {
    let single = [
        "one_tetrahedron.vtk",
        "two_tetrahedra_with_field_variable.vtk",
    ];
    if single.iter().any(|file| name.ends_with(file)) {
        f64::from(f32::EPSILON)
    } else {
        1e-9
    }
}

#[track_caller]
fn close(name: &str, what: &str, found: f64, expected: &Value, scale: f64) {
    let expected = expected
        .as_f64()
        .unwrap_or_else(|| panic!("{name}: no {what} in the facts"));
    assert!(
        (found - expected).abs() <= digits(name) * scale,
        "{name}: {what} is {found}, expected {expected}"
    );
}

#[track_caller]
fn same_count(name: &str, what: &str, found: usize, expected: &Value) {
    assert_eq!(Some(found as u64), expected.as_u64(), "{name}: {what}");
}

fn check_bounds(name: &str, bounds: Bounds, facts: &Value) {
    for k in 0..3 {
        close(
            name,
            "bbox_min",
            bounds.min[k],
            &facts["bbox_min"][k],
            bounds.extent().norm(),
        );
        close(
            name,
            "bbox_max",
            bounds.max[k],
            &facts["bbox_max"][k],
            bounds.extent().norm(),
        );
    }
}

fn check_tets(name: &str, mesh: &TetMesh, facts: &Value) {
    same_count(name, "points", mesh.vertices().len(), &facts["points"]);
    same_count(name, "tets", mesh.tets().len(), &facts["tets"]);
    same_count(
        name,
        "boundary triangles",
        mesh.boundary().triangles.len(),
        &facts["boundary_triangles"],
    );
    let moments = mesh.solid_moments();
    let size = mesh.bounds().extent().norm();
    close(
        name,
        "volume",
        moments.volume,
        &facts["volume"],
        moments.volume,
    );
    close(
        name,
        "boundary area",
        mesh.boundary_area(),
        &facts["boundary_area"],
        mesh.boundary_area(),
    );
    let inertia: Matrix3<f64> = moments.inertia_about_centroid;
    for i in 0..3 {
        close(
            name,
            "centroid",
            moments.centroid[i],
            &facts["centroid"][i],
            size,
        );
        for j in 0..3 {
            let expected = &facts["inertia_unit_density_about_centroid"][i][j];
            close(name, "inertia", inertia[(i, j)], expected, inertia.norm());
        }
    }
    let volumes = || (0..mesh.tets().len() as u32).map(|t| mesh.tet_volume(t.into()));
    let (min, max) = volumes().fold((f64::MAX, 0.0_f64), |(min, max), v| {
        (min.min(v), max.max(v))
    });
    close(name, "min volume", min, &facts["min_volume"], max);
    close(name, "max volume", max, &facts["max_volume"], max);
    close(
        name,
        "min quality",
        mesh.min_quality().1,
        &facts["min_quality"],
        1.0,
    );
    check_bounds(name, mesh.bounds(), facts);
}

fn check_triangles(name: &str, mesh: &TriMesh, facts: &Value) {
    same_count(name, "points", mesh.vertices().len(), &facts["points"]);
    same_count(
        name,
        "triangles",
        mesh.triangles().len(),
        &facts["triangles"],
    );
    same_count(name, "edges", mesh.edges().len(), &facts["edges"]);
    same_count(
        name,
        "boundary edges",
        mesh.boundary_edges().count(),
        &facts["boundary_edges"],
    );
    assert_eq!(
        Some(mesh.is_closed()),
        facts["closed"].as_bool(),
        "{name}: closed"
    );
    assert_eq!(
        Some(mesh.euler_number()),
        facts["euler"].as_i64(),
        "{name}: Euler number"
    );
    close(name, "area", mesh.area(), &facts["area"], mesh.area());
    if let Some(moments) = mesh.solid_moments() {
        close(
            name,
            "volume",
            moments.volume,
            &facts["signed_volume"],
            moments.volume.abs(),
        );
    }
    check_bounds(name, mesh.bounds(), facts);
}

/// Published files are valid: nothing is repaired.
#[track_caller]
fn check_unrepaired(name: &str, report: &LoadReport) {
    assert_eq!(
        report.of(Severity::Repaired).count(),
        0,
        "{name}:\n{report}"
    );
}

#[test]
fn meshes_agree_with_facts_computed_independently() {
    let Some(folder) = folder() else { return };
    let text = std::fs::read_to_string(folder.join("facts.json")).expect("facts.json can be read");
    let facts: Value = serde_json::from_str(&text).expect("facts.json is JSON");
    let files = facts["files"].as_object().expect("facts.json has files");
    assert!(files.len() >= 33);
    for (name, facts) in files {
        let path = folder.join(name);
        let report = if facts["kind"] == "tet" {
            let (mesh, report) = read_tets(&path, &TetOptions::default()).unwrap();
            check_tets(name, &mesh, facts);
            report
        } else {
            let open = facts["closed"] == false;
            let surface_use = if open {
                SurfaceUse::Cloth
            } else {
                SurfaceUse::Solid
            };
            let (mesh, report) =
                read_surface(&path, surface_use, &SurfaceOptions::default()).unwrap();
            check_triangles(name, &mesh, facts);
            report
        };
        check_unrepaired(name, &report);
    }
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, found)
        } else {
            found.push(path)
        }
    }
    found.sort();
}

#[test]
fn every_tetrahedral_file_has_a_closed_boundary_around_its_volume() {
    let Some(folder) = folder() else { return };
    let mut files = Vec::new();
    files_below(&folder, &mut files);
    let others = [
        "one_negative_tetrahedron.vtk",
        "cube_as_6_squares.vtk",
        "some_volume.vtk",
        "unstructured.vtk",
    ];
    let mut loaded = 0;
    for path in files {
        let name = path
            .file_name()
            .expect("a file has a name")
            .to_string_lossy()
            .into_owned();
        if !(name.ends_with(".vtk") || name.ends_with(".msh")) || others.contains(&name.as_str()) {
            continue;
        }
        let (mesh, report) = read_tets(&path, &TetOptions::default()).unwrap();
        check_unrepaired(&name, &report);
        let (surface, vertices) = mesh.boundary_surface().unwrap();
        assert!(surface.is_closed());
        let (inside, outside) = (mesh.solid_moments(), surface.solid_moments().unwrap());
        assert!(
            (inside.volume / outside.volume - 1.0).abs() < 1e-10,
            "{name}"
        );
        assert!(
            (inside.centroid - outside.centroid).norm() < 1e-10 * mesh.bounds().extent().norm(),
            "{name}"
        );
        assert!(
            vertices
                .iter()
                .zip(surface.vertices())
                .all(|(v, p)| mesh.vertices()[v.index()] == *p)
        );
        loaded += 1;
    }
    assert!(loaded >= 49, "only {loaded} files");
}

#[test]
fn data_sets_that_are_not_tetrahedral_are_refused_by_name() {
    let Some(folder) = folder() else { return };
    for (name, words) in [
        ("cube_as_6_squares.vtk", ["POLYDATA", ":4:"]),
        ("some_volume.vtk", ["STRUCTURED_POINTS", ":4:"]),
        (
            "unstructured.vtk",
            ["hexahedron (type 12)", "voxel (type 11)"],
        ),
    ] {
        let path = folder.join("drake/geometry_test").join(name);
        let error = read_tets(path, &TetOptions::default()).unwrap_err();
        assert!(matches!(error, MeshError::Unsupported(_)), "{error}");
        assert!(
            words.iter().all(|word| error.to_string().contains(word)),
            "{error}"
        );
    }
}

#[test]
fn negative_tetrahedron_is_reordered_with_a_report_entry_or_refused() {
    let Some(folder) = folder() else { return };
    let path = folder.join("drake/geometry_test/one_negative_tetrahedron.vtk");
    let (mesh, report) = read_tets(&path, &TetOptions::default()).unwrap();
    assert!(mesh.solid_moments().volume > 0.166);
    assert_eq!(report.of(Severity::Repaired).count(), 1, "{report}");
    let strict = TetOptions {
        orientation: Orientation::Refuse,
        ..TetOptions::default()
    };
    assert!(matches!(
        read_tets(&path, &strict),
        Err(MeshError::Element(_))
    ));
}

#[test]
fn six_squares_of_mixed_orientation_become_an_outward_cube() {
    let Some(folder) = folder() else { return };
    let path = folder.join("drake/geometry_test/cube_as_6_squares.vtk");
    let (mesh, report) = read_surface(path, SurfaceUse::Solid, &SurfaceOptions::default()).unwrap();
    assert!((mesh.solid_moments().unwrap().volume - 1.0).abs() < 1e-15);
    assert!(report.to_string().contains("flipped"), "{report}");
}

#[test]
fn every_surface_file_loads_for_its_purpose() {
    let Some(folder) = folder() else { return };
    for (name, surface_use, components, boundary_edges) in [
        ("mujoco/bunny.obj", SurfaceUse::Cloth, 1, 42),
        ("mujoco/cap.obj", SurfaceUse::Cloth, 1, 48),
        ("mujoco/card.obj", SurfaceUse::Solid, 1, 0),
        ("mujoco/mug.obj", SurfaceUse::Solid, 1, 0),
        ("newton/bear.obj", SurfaceUse::Solid, 1, 0),
        ("newton/unisex_shirt.obj", SurfaceUse::Cloth, 1, 140),
        ("pybullet/bunny.obj", SurfaceUse::Solid, 1, 0),
        ("pybullet/cloth_z_up.obj", SurfaceUse::Cloth, 1, 16),
        ("pybullet/duck_vhacd.obj", SurfaceUse::Solid, 5, 0),
        ("pybullet/teddy2_VHACD_CHs.obj", SurfaceUse::Solid, 15, 0),
        ("pybullet/torus_textured.obj", SurfaceUse::Solid, 1, 0),
    ] {
        let (mesh, report) =
            read_surface(folder.join(name), surface_use, &SurfaceOptions::default()).unwrap();
        check_unrepaired(name, &report);
        let on_loops: usize = mesh.boundary_loops().iter().map(Vec::len).sum();
        assert_eq!(
            (mesh.component_count(), on_loops),
            (components, boundary_edges),
            "{name}"
        );
    }
}

#[test]
fn a_convex_decomposition_has_one_component_per_part() {
    let Some(folder) = folder() else { return };
    let path = folder.join("pybullet/duck_vhacd.obj");
    let (mesh, _) = read_surface(path, SurfaceUse::Solid, &SurfaceOptions::default()).unwrap();
    assert_eq!(mesh.component_count(), 5);
    assert!(mesh.is_closed());
    assert_eq!(mesh.euler_number(), 5 * 2);
}

#[test]
fn mirrored_and_scaled_solid_still_points_outward() {
    let Some(folder) = folder() else { return };
    let path = folder.join("pybullet/bunny.obj");
    let (plain, _) = read_surface(&path, SurfaceUse::Solid, &SurfaceOptions::default()).unwrap();
    let options = SurfaceOptions {
        scale: Vector3::new(-0.5, 0.5, 0.5),
        ..SurfaceOptions::default()
    };
    let (mirrored, report) = read_surface(&path, SurfaceUse::Solid, &options).unwrap();
    check_unrepaired("bunny.obj", &report);
    let ratio = mirrored.solid_moments().unwrap().volume / plain.solid_moments().unwrap().volume;
    assert!((ratio - 0.125).abs() < 1e-12);
    assert_eq!(mirrored.bounds().max.x, -0.5 * plain.bounds().min.x);
}
