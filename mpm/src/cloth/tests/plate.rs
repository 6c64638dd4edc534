//! The bending of a plate on meshes of any kind.

use nalgebra::{Matrix2, Vector2};

use super::*;

const POISSONS_RATIO: f64 = 0.3;

/// A rectangle of `n` × `m` squares of 1 m, all divided in one direction.
fn one_sided(n: u32, m: u32) -> ClothMesh {
    let at = |i: u32, j: u32| j * (n + 1) + i;
    let place = |k: u32| Vector3::new(f64::from(k % (n + 1)), f64::from(k / (n + 1)), 0.0);
    let vertices = (0..(n + 1) * (m + 1)).map(place).collect();
    let squares = (0..n * m).map(|k| (k % n, k / n));
    let triangles = squares.flat_map(|(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    of_arrays(vertices, triangles.collect())
}

fn of_arrays(vertices: Vec<Vector3<f64>>, triangles: Vec<[u32; 3]>) -> ClothMesh {
    let made = ClothMesh::from_arrays("plate", vertices, triangles, 20.0);
    made.unwrap().0
}

/// The same with vertices inside that are moved at random, apart from the two rows at each end.
fn irregular(n: u32, m: u32) -> ClothMesh {
    let mut draw = Draw::new(5);
    let regular = one_sided(n, m);
    let high = Vector2::new(f64::from(n), f64::from(m));
    let vertices = regular.surface().vertices().iter().map(|x| {
        let margin = [1.5, 0.5];
        let is_inside = (0..2).all(|k| (margin[k]..high[k] - margin[k]).contains(&x[k]));
        let shift = draw.vector(0.3);
        x + Vector3::new(shift.x, shift.y, 0.0) * f64::from(is_inside)
    });
    of_arrays(
        vertices.collect(),
        regular.surface().raw_triangles().collect(),
    )
}

/// Rows of triangles five times as wide as high.
fn flat_triangles(n: u32, m: u32) -> ClothMesh {
    let regular = one_sided(n, m);
    let squash = |x: &Vector3<f64>| Vector3::new(x.x, 0.2 * x.y, 0.0);
    let vertices = regular.surface().vertices().iter().map(squash).collect();
    of_arrays(vertices, regular.surface().raw_triangles().collect())
}

fn meshes(n: u32, m: u32) -> [ClothMesh; 4] {
    let size = [f64::from(n), f64::from(m)];
    [
        sheet(size, [n, m], 20.0),
        one_sided(n, m),
        irregular(n, m),
        flat_triangles(n, m),
    ]
}

fn plate(mesh: &ClothMesh, poissons_ratio: f64) -> Cloth<f64> {
    let sheet = ClothMaterial::new(LAWS[1], 1e5, poissons_ratio, 1000.0, 5e-4).unwrap();
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

/// l m of all hinges, J.
fn moments(cloth: &Cloth<f64>, positions: &[Vector3<f64>]) -> Vec<f64> {
    let stiffness = cloth.plate().expect("a plate");
    let of = |hinge: &Hinge<f64>| hinge.vertices.map(|v| positions[v as usize]);
    let strains: Vec<f64> = (cloth.hinges().iter())
        .map(|hinge| hinge.strain(&of(hinge)).0)
        .collect();
    let n = strains.len();
    let combined: Vec<f64> = (0..n).map(|k| stiffness.combined(k, &strains)).collect();
    (0..n).map(|k| stiffness.moment(k, &combined)).collect()
}

/// m = n·M n with M = D((1 − ν)κ + ν tr κ I), away from the edges of the sheet.
#[test]
fn moments_of_uniform_bending_are_those_of_a_plate_on_any_mesh() {
    let (n, nu) = (18, POISSONS_RATIO);
    // In flat triangles the layer along a free edge, where moments are others, is as wide as this sheet.
    for (kind, mesh) in meshes(n, n).iter().take(3).enumerate() {
        let cloth = plate(mesh, nu);
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
            let centre = mesh.surface().bounds().center();
            let inside = mesh.surface().bounds().extent() / 6.0;
            let mut checked = 0;
            for (hinge, found) in cloth.hinges().iter().zip(moments(&cloth, &positions)) {
                let [from, to, ..] = hinge.vertices.map(|v| positions[v as usize]);
                let middle = (0.5 * (from + to) - centre).abs();
                if middle.x > inside.x || middle.y > inside.y {
                    continue;
                }
                let edge = (to - from).xy();
                let normal = Vector2::new(edge.y, -edge.x) / edge.norm();
                // Hinges count angles of downward slopes.
                let expected = -edge.norm() * normal.dot(&(moment * normal));
                let error = (found - expected).abs();
                assert!(
                    error < 0.01 * moment.norm() * edge.norm(),
                    "mesh {kind}, {curvature}: {found:e} for {expected:e}"
                );
                checked += 1;
            }
            assert!(checked > 50, "{checked}");
        }
    }
}

#[test]
fn uniform_bending_leaves_the_vertices_inside_without_forces() {
    for (kind, mesh) in meshes(18, 18).iter().take(3).enumerate() {
        let cloth = plate(mesh, POISSONS_RATIO);
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

/// ½ D (1 − ν) κ:κ per area: no moment is across a free side, so that the whole of any rectangle is bent uniformly.
#[test]
fn a_twisted_rectangle_has_the_energy_of_a_plate() {
    for nu in [0.0, 0.3, 0.5, -0.4] {
        for (kind, mesh) in meshes(8, 5).iter().enumerate() {
            let twist = 1e-5;
            let positions = bent(mesh, &Matrix2::new(0.0, twist, twist, 0.0));
            let area: f64 = mesh.areas().sum();
            let expected = (1.0 - nu) * twist * twist * area;
            let found = plate(mesh, nu).bending_energy(&positions);
            let within = if kind == 3 { 0.01 } else { 0.004 };
            assert!(
                (found / expected - 1.0).abs() < within,
                "mesh {kind}, {nu}: {found:e} for {expected:e}"
            );
        }
    }
}

/// ½ D κ² per area that bends, for ν = 0: between clamps that are turned towards each other.
#[test]
fn a_strip_bent_between_clamps_has_the_energy_of_a_beam() {
    for (kind, mesh) in meshes(14, 3).into_iter().enumerate() {
        let centre = mesh.surface().bounds().center();
        let x = |v: u32| mesh.surface().vertices()[v as usize].x - centre.x;
        let all = 0..mesh.surface().vertices().len() as u32;
        let ends = [-1.0, 1.0].map(|side| all.clone().filter(move |v| side * x(*v) > 5.5));
        let [left, right] = ends.map(Iterator::collect::<Vec<u32>>);
        let clamped = mesh.clone().clamped_at(&left).clamped_at(&right);
        let bends = (0..mesh.rest().len() as u32).filter(|t| !clamped.is_clamped(*t));
        let area: f64 = bends.map(|t| mesh.rest()[t as usize].area).sum();
        let curvature = 1e-5;
        // A parabola of 12 m, and its tangents in the clamps.
        let lift = |p: &Vector3<f64>| {
            let x = p.x - centre.x;
            let beyond = (x.abs() - 6.0).max(0.0);
            Vector3::new(p.x, p.y, 0.5 * curvature * (x * x - beyond * beyond))
        };
        let positions: Vec<_> = mesh.surface().vertices().iter().map(lift).collect();
        let found = plate(&clamped, 0.0).bending_energy(&positions);
        let expected = 0.5 * curvature * curvature * area;
        let within = if kind == 3 { 0.02 } else { 0.004 };
        assert!(
            (found / expected - 1.0).abs() < within,
            "mesh {kind}: {found:e} for {expected:e}"
        );
    }
}

/// A strip whose width is two edges, pulled up to a cylinder by moments at its ends: with free sides its stiffness is D (1 − ν²) per width,
/// that of a beam. The bending energy of the cylinder alone, κ_yy = 0, is larger by 1/(1 − ν²) in the middle of a wide sheet.
#[test]
fn free_sides_have_no_moment_across_them() {
    let (n, curvature) = (30, 1e-6);
    let mesh = sheet([f64::from(n), 2.0], [n, 2], 2.0);
    let cloth = plate(&mesh, POISSONS_RATIO);
    let anticlastic = Matrix2::new(curvature, 0.0, 0.0, -POISSONS_RATIO * curvature);
    let positions = bent(&mesh, &anticlastic);
    // M = D (1 − ν²) κ along the strip, nothing across.
    let expected = curvature * (1.0 - POISSONS_RATIO * POISSONS_RATIO);
    for (hinge, found) in cloth.hinges().iter().zip(moments(&cloth, &positions)) {
        let [from, to, ..] = hinge.vertices.map(|v| positions[v as usize]);
        let edge = to - from;
        if (0.5 * (from + to)).x.abs() > 6.0 {
            continue;
        }
        let along = edge.y * edge.y / edge.norm_squared();
        let error = (found + expected * along * edge.norm()).abs();
        assert!(error < 0.01 * expected, "{found:e}");
    }
}

/// A clamp that is released bends again: between its triangles each edge by itself.
#[test]
fn edges_within_a_clamp_resist_bending() {
    let mesh = one_sided(6, 4);
    let held: Vec<u32> = (0..mesh.surface().vertices().len() as u32).collect();
    let cloth = plate(&mesh.clone().clamped_at(&held), POISSONS_RATIO);
    let positions = bent(&mesh, &(Matrix2::new(0.3, 0.8, 0.8, -0.6) * 1e-3));
    let each = cloth.hinges().iter();
    let energy = |hinge: &Hinge<f64>| hinge.energy(&hinge.vertices.map(|v| positions[v as usize]));
    let expected: f64 = each.map(energy).sum();
    let found = cloth.bending_energy(&positions);
    assert!((found / expected - 1.0).abs() < 1e-12);
}

/// A band of `n` squares, closed with half a turn, or open.
fn band(n: u32, is_closed: bool) -> ClothMesh {
    let place = |k: u32, side: f64| {
        let angle = std::f64::consts::TAU * f64::from(k) / f64::from(n);
        let radius = 10.0 + side * (0.5 * angle).cos();
        let height = side * (0.5 * angle).sin();
        Vector3::new(radius * angle.cos(), radius * angle.sin(), height)
    };
    // An open band starts half way round, and has one square less.
    let shift = if is_closed { 0 } else { n / 2 };
    let vertices = (0..n).flat_map(|k| [-0.5, 0.5].map(|side| place(k + shift, side)));
    let squares = if is_closed { n } else { n - 1 };
    let triangles = (0..squares).flat_map(|k| {
        let [a, b] = [2 * k, 2 * k + 1];
        let [c, d] = match is_closed && k + 1 == n {
            true => [1, 0],
            false => [a + 2, b + 2],
        };
        // Beyond a whole turn the sides have changed places.
        match k + shift < n {
            true => [[a, c, b], [b, c, d]],
            false => [[a, c, d], [a, d, b]],
        }
    });
    of_arrays(vertices.collect(), triangles.collect())
}

/// Where the two ends of a Möbius strip meet, neighbours have opposite normals; the strip is as stiff there as elsewhere.
#[test]
fn a_moebius_strip_has_no_seam() {
    let n = 40;
    // ‖column‖² of GᵀG, whatever the signs of the angles, by the place of the hinge on the band.
    let stiffness = |mesh: &ClothMesh| {
        let cloth = plate(mesh, POISSONS_RATIO);
        let count = cloth.hinges().len();
        let column = |k: usize| -> f64 {
            let mut unit = vec![0.0; count];
            unit[k] = 1.0;
            let plate = cloth.plate().expect("a plate");
            let combined: Vec<f64> = (0..count).map(|i| plate.combined(i, &unit)).collect();
            (0..count).map(|i| plate.moment(i, &combined).powi(2)).sum()
        };
        let middle = |k: usize| {
            let [from, to, ..] =
                (cloth.hinges()[k].vertices).map(|v| mesh.surface().vertices()[v as usize]);
            0.5 * (from + to)
        };
        (0..count)
            .map(|k| (middle(k), column(k)))
            .collect::<Vec<_>>()
    };
    let (closed, open) = (stiffness(&band(n, true)), stiffness(&band(n, false)));
    let mut compared = 0;
    for (x, expected) in &open {
        // About the seam of the closed one, far from the ends of the open one.
        if x.x < 8.0 {
            continue;
        }
        let twin = closed.iter().find(|(y, _)| (x - y).norm() < 1e-9);
        let found = twin.expect("the same hinge").1;
        assert!((found / expected - 1.0).abs() < 1e-2, "{found} {expected}");
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
}

/// No mode of a plate under bending alone is faster than the limit allows.
#[test]
fn the_step_limit_bounds_the_frequency_of_a_plate() {
    for (kind, mesh) in meshes(5, 4).into_iter().enumerate() {
        let sheet = ClothMaterial::new(LAWS[1], 1e-3, 0.3, 1000.0, 5e-4).unwrap();
        let sheet = sheet.with_bending_stiffness(1.0).unwrap();
        let cloth = Cloth::<f64>::new(&mesh, &sheet);
        let limit = sheet.step_limit(&mesh);
        assert_eq!(limit.cause, StepLimitCause::Bending);
        let rest = mesh.surface().vertices();
        let count = rest.len();
        // A third of each triangle on its vertices: centroids move with them.
        let mut masses = vec![0.0; count];
        for (corners, area) in mesh.surface().raw_triangles().zip(mesh.areas()) {
            let third = area * sheet.areal_density() / 3.0;
            corners.iter().for_each(|v| masses[*v as usize] += third);
        }
        // Power iteration on M⁻¹ K.
        let mut draw = Draw::new(3);
        let mut mode: Vec<f64> = (0..count).map(|_| draw.number()).collect();
        let (mut square, size) = (0.0, 1e-6);
        for _ in 0..300 {
            let lifted = rest.iter().zip(&mode);
            let positions: Vec<_> = lifted.map(|(x, w)| x + Vector3::z() * (size * w)).collect();
            let mut forces = vec![0.0; count];
            for (hinge, moment) in cloth.hinges().iter().zip(moments(&cloth, &positions)) {
                let corners = hinge.vertices.map(|v| positions[v as usize]);
                let (_, gradient) = hinge.strain(&corners);
                for (v, slope) in hinge.vertices.iter().zip(gradient) {
                    forces[*v as usize] += moment * slope.z / size;
                }
            }
            let next: Vec<f64> = forces.iter().zip(&masses).map(|(f, m)| f / m).collect();
            square = next.iter().map(|x| x * x).sum::<f64>().sqrt();
            mode = next.iter().map(|x| x / square).collect();
        }
        let stable = 2.0 / square.sqrt();
        // The bound takes the smallest triangle by itself.
        let least = if kind < 2 { 0.1 * stable } else { 0.0 };
        assert!(
            (least..stable).contains(&limit.time_step_s),
            "mesh {kind}: {:e} of {stable:e}",
            limit.time_step_s
        );
    }
}
