//! The bending of a plate on meshes of any kind.

use nalgebra::Matrix2;

use super::*;

const POISSONS_RATIO: f64 = 0.3;

/// A square of `n` × `n` squares of 1 m, all divided in one direction.
fn one_sided(n: u32) -> ClothMesh {
    let at = |i: u32, j: u32| j * (n + 1) + i;
    let place = |k: u32| Vector3::new(f64::from(k % (n + 1)), f64::from(k / (n + 1)), 0.0);
    let vertices = (0..(n + 1) * (n + 1)).map(place).collect();
    let squares = (0..n * n).map(|k| (k % n, k / n));
    let triangles = squares.flat_map(|(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    let made = ClothMesh::from_arrays("square", vertices, triangles.collect(), 2.0);
    made.unwrap().0
}

/// The same with vertices inside that are moved at random.
fn irregular(n: u32) -> ClothMesh {
    let mut draw = Draw::new(5);
    let regular = one_sided(n);
    let end = f64::from(n);
    let vertices = regular.surface().vertices().iter().map(|x| {
        let is_inside = x.iter().take(2).all(|x| (0.5..end - 0.5).contains(x));
        let shift = draw.vector(0.2);
        x + Vector3::new(shift.x, shift.y, 0.0) * f64::from(is_inside)
    });
    let triangles = regular.surface().raw_triangles().collect();
    ClothMesh::from_arrays("square", vertices.collect(), triangles, 2.0)
        .unwrap()
        .0
}

fn meshes(n: u32) -> [ClothMesh; 3] {
    let size = f64::from(n);
    [sheet([size; 2], [n, n], 2.0), one_sided(n), irregular(n)]
}

fn plate(mesh: &ClothMesh) -> Cloth<f64> {
    let sheet = ClothMaterial::new(LAWS[0], 1e5, POISSONS_RATIO, 1000.0, 5e-4).unwrap();
    Cloth::new(mesh, &sheet.with_bending_stiffness(1.0).unwrap())
}

/// Vertices on w = ½ xᵀκx about the middle of the sheet.
fn bent(mesh: &ClothMesh, curvature: &Matrix2<f64>) -> Vec<Vector3<f64>> {
    let centre = mesh.surface().bounds().center();
    let lift = |x: &Vector3<f64>| {
        let p = (x - centre).xy();
        Vector3::new(x.x, x.y, 0.5 * p.dot(&(curvature * p)))
    };
    mesh.surface().vertices().iter().map(lift).collect()
}

/// m = n·M n with M = D((1 − ν)κ + ν tr κ I), away from the edges of the sheet.
#[test]
fn moments_of_uniform_bending_are_those_of_a_plate_on_any_mesh() {
    let n = 18;
    let nu = POISSONS_RATIO;
    for (kind, mesh) in meshes(n).iter().enumerate() {
        let cloth = plate(mesh);
        let stiffness = cloth.plate().expect("a plate");
        for curvature in [
            Matrix2::new(1.0, 0.0, 0.0, 0.0),
            Matrix2::new(0.0, 0.0, 0.0, 1.0),
            Matrix2::new(0.5, 0.5, 0.5, 0.5),
            Matrix2::new(0.5, -0.5, -0.5, 0.5),
            Matrix2::new(0.3, 0.8, 0.8, -0.6),
        ] {
            let curvature = curvature * 1e-6;
            let moment = curvature * (1.0 - nu) + Matrix2::identity() * (nu * curvature.trace());
            let positions = bent(mesh, &curvature);
            let of = |hinge: &Hinge<f64>| hinge.vertices.map(|v| positions[v as usize]);
            let strains: Vec<f64> = (cloth.hinges().iter())
                .map(|hinge| hinge.strain(&of(hinge)).0)
                .collect();
            let centre = mesh.surface().bounds().center();
            let mut checked = 0;
            for (k, hinge) in cloth.hinges().iter().enumerate() {
                let [from, to, ..] = of(hinge);
                if (0.5 * (from + to) - centre).xy().amax() > 3.0 {
                    continue;
                }
                let edge = (to - from).xy();
                let normal = nalgebra::Vector2::new(edge.y, -edge.x) / edge.norm();
                let expected = edge.norm() * normal.dot(&(moment * normal));
                // Hinges count angles of downward slopes.
                let found = stiffness.moment(k, &strains).abs();
                let error = (found - expected.abs()).abs();
                assert!(
                    error < 0.01 * moment.norm() * edge.norm(),
                    "mesh {kind}, {curvature}, hinge {k}: {found:e} for {expected:e}"
                );
                checked += 1;
            }
            assert!(checked > 50, "{checked}");
        }
    }
}

#[test]
fn uniform_bending_leaves_the_vertices_inside_without_forces() {
    for (kind, mesh) in meshes(18).iter().enumerate() {
        let cloth = plate(mesh);
        let positions = bent(mesh, &(Matrix2::new(0.3, 0.8, 0.8, -0.6) * 1e-6));
        let mut normals = vec![Vector3::z(); cloth.triangles().len()];
        cloth.unit_normals(&positions, &mut normals);
        let mut forces = ClothForces::default();
        forces.evaluate(&cloth, &positions, &positions, &normals);
        let centre = mesh.surface().bounds().center();
        for (x, force) in positions.iter().zip(forces.vertices()) {
            let is_inside = (x - centre).xy().amax() < 3.0;
            // A moment of 1e-6 N m/m over edges of 1 m.
            assert!(
                !is_inside || force.z.abs() < 2e-8,
                "mesh {kind} at {x}: {:e} N",
                force.z
            );
        }
    }
}

/// A strip whose width is two edges, pulled up to a cylinder by moments at its ends: with free sides its stiffness is D (1 − ν²) per width,
/// that of a beam. The bending energy of the cylinder alone, κ_yy = 0, is larger by 1/(1 − ν²) in the middle of a wide sheet.
#[test]
fn free_sides_have_no_moment_across_them() {
    let (n, curvature) = (30, 1e-6);
    let mesh = sheet([f64::from(n), 2.0], [n, 2], 2.0);
    let cloth = plate(&mesh);
    let stiffness = cloth.plate().expect("a plate");
    let anticlastic = Matrix2::new(curvature, 0.0, 0.0, -POISSONS_RATIO * curvature);
    let positions = bent(&mesh, &anticlastic);
    let of = |hinge: &Hinge<f64>| hinge.vertices.map(|v| positions[v as usize]);
    let strains: Vec<f64> = (cloth.hinges().iter())
        .map(|hinge| hinge.strain(&of(hinge)).0)
        .collect();
    // M = D (1 − ν²) κ along the strip, nothing across.
    let expected = curvature * (1.0 - POISSONS_RATIO * POISSONS_RATIO);
    for (k, hinge) in cloth.hinges().iter().enumerate() {
        let [from, to, ..] = of(hinge);
        let edge = to - from;
        if (0.5 * (from + to)).x.abs() > 6.0 {
            continue;
        }
        let along = edge.y * edge.y / edge.norm_squared();
        let found = stiffness.moment(k, &strains).abs();
        let error = (found - expected * along * edge.norm()).abs();
        assert!(error < 0.01 * expected, "hinge {k}: {found:e}");
    }
}
