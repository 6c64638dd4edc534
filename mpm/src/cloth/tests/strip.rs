//! Strips of any mesh that hang from a clamp, against the heavy elastica.

use super::*;

/// m.
const LENGTH: f64 = 0.1;
/// w l³/B.
const WEIGHT: f64 = 10.0;
/// Drop and reach of the tip over the length: B θ'' = w (l − s) cos θ with θ(0) = 0 and θ'(l) = 0, by integration with adaptive steps.
const ELASTICA: [f64; 2] = [0.7002, 0.6564];

/// Points on the outline of a rectangle from (0, 0), then those of a lattice of equilateral triangles inside, turned by `angle`.
fn points(size: [f64; 2], edge: f64, angle: f64) -> Vec<[f64; 2]> {
    let counts = size.map(|s| (s / edge).round().max(1.0) as u32);
    let at = |k: usize, i: u32| size[k] * f64::from(i) / f64::from(counts[k]);
    let mut points = Vec::new();
    for i in 0..=counts[0] {
        points.extend([[at(0, i), 0.0], [at(0, i), size[1]]]);
    }
    for j in 1..counts[1] {
        points.extend([[0.0, at(1, j)], [size[0], at(1, j)]]);
    }
    let (s, c) = angle.sin_cos();
    for i in -60_i32..60 {
        for j in -60_i32..60 {
            let x = edge * (f64::from(i) + 0.5 * f64::from(j)) + 0.2 * edge;
            let y = edge * 0.75_f64.sqrt() * f64::from(j) + 0.3 * edge;
            let turned = [c * x - s * y, s * x + c * y];
            let is_inside = |k: usize| (0.5 * edge..=size[k] - 0.5 * edge).contains(&turned[k]);
            if is_inside(0) && is_inside(1) {
                points.push(turned);
            }
        }
    }
    points
}

/// The triangles whose circumscribed circles have no other point inside (Delaunay).
fn triangles(points: &[[f64; 2]]) -> Vec<[u32; 3]> {
    let n = points.len();
    let cross = |a: usize, b: usize, c: usize| {
        let [p, q, r] = [a, b, c].map(|k| points[k]);
        (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    };
    // Moved by a billionth of their coordinates, so that no four lie on a circle.
    let moved = |k: usize| {
        let shift = 1.0 + 1e-9 * ((k * 7919) % 1009) as f64;
        [points[k][0] * shift, points[k][1] * shift]
    };
    let is_within = |d: usize, corners: [usize; 3]| {
        let o = moved(d);
        let rows = corners.map(|k| {
            let [x, y] = [moved(k)[0] - o[0], moved(k)[1] - o[1]];
            nalgebra::RowVector3::new(x, y, x * x + y * y)
        });
        Matrix3::from_rows(&rows).determinant() > 0.0
    };
    let mut found = Vec::new();
    for a in 0..n {
        for b in a + 1..n {
            let apart = (0..2)
                .map(|k| (points[a][k] - points[b][k]).powi(2))
                .sum::<f64>();
            if apart > 9.0 * LENGTH * LENGTH / 100.0 {
                continue;
            }
            for c in b + 1..n {
                let area = cross(a, b, c);
                if area.abs() < 1e-9 * LENGTH * LENGTH {
                    continue;
                }
                let corners = if area > 0.0 { [a, b, c] } else { [a, c, b] };
                let mut others = (0..n).filter(|d| !corners.contains(d));
                if !others.any(|d| is_within(d, corners)) {
                    found.push(corners.map(|k| k as u32));
                }
            }
        }
    }
    found
}

/// A strip of this width with edges of this length, its lattice turned by `angle`, beyond a clamped column of squares; the vertices that are held.
fn strip(width: f64, edge: f64, angle: f64) -> (ClothMesh, Vec<u32>) {
    let flat = points([LENGTH, width], edge, angle);
    let mut corners = triangles(&flat);
    let mut vertices: Vec<_> = (flat.iter())
        .map(|[x, y]| Vector3::new(*x, *y, 0.0))
        .collect();
    let mut at_clamp: Vec<u32> = (0..flat.len() as u32)
        .filter(|v| flat[*v as usize][0] == 0.0)
        .collect();
    at_clamp.sort_by(|a, b| flat[*a as usize][1].total_cmp(&flat[*b as usize][1]));
    let first = vertices.len() as u32;
    for v in &at_clamp {
        vertices.push(vertices[*v as usize] - Vector3::x() * edge);
    }
    for (pair, k) in at_clamp.windows(2).zip(first..) {
        corners.extend([[k, pair[0], pair[1]], [k, pair[1], k + 1]]);
    }
    let mut held: Vec<u32> = (first..vertices.len() as u32).chain(at_clamp).collect();
    held.sort_unstable();
    let (mesh, _) = ClothMesh::from_arrays("strip", vertices, corners, 3.0 * edge).unwrap();
    (mesh.clamped_at(&held), held)
}

/// Drop and reach of the middle of the free end at rest, over the length: by explicit steps of the mesh alone, with damping.
fn hung((mesh, held): &(ClothMesh, Vec<u32>), model: BendingModel) -> [f64; 2] {
    let areal_density = 0.2;
    let stiffness = areal_density * 9.81 * LENGTH.powi(3) / WEIGHT;
    let sheet = ClothMaterial::new(LAWS[1], 2e5, 0.0, 1000.0, 2e-4)
        .and_then(|m| m.with_bending_stiffness(stiffness))
        .unwrap()
        .with_bending_model(model);
    let cloth = Cloth::<f64>::new(mesh, &sheet);
    let mut masses = vec![0.0; mesh.surface().vertices().len()];
    for (corners, area) in mesh.surface().raw_triangles().zip(mesh.areas()) {
        let third = area * areal_density / 3.0;
        corners.iter().for_each(|v| masses[*v as usize] += third);
    }
    let rest = mesh.surface().vertices();
    let mut positions = rest.to_vec();
    let mut velocities = vec![Vector3::zeros(); rest.len()];
    let mut normals = vec![Vector3::z(); mesh.rest().len()];
    let mut forces = ClothForces::default();
    let step = 0.9 * sheet.step_limit(mesh).time_step_s;
    let steps = (3.0 / step) as usize;
    for _ in 0..steps {
        cloth.unit_normals(&positions, &mut normals);
        forces.evaluate(&cloth, &positions, &velocities, &normals);
        for (v, force) in forces.vertices().iter().enumerate() {
            if held.binary_search(&(v as u32)).is_ok() {
                continue;
            }
            let acceleration = force / masses[v] - Vector3::z() * 9.81 - velocities[v] * 12.0;
            velocities[v] += acceleration * step;
            positions[v] += velocities[v] * step;
        }
    }
    let fastest = velocities.iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(fastest < 2e-3, "{fastest} m/s");
    let free = |v: &usize| (rest[*v].x - LENGTH).abs() < 1e-12;
    let end: Vec<usize> = (0..rest.len()).filter(free).collect();
    let mean = end.iter().map(|v| positions[*v]).sum::<Vector3<f64>>() / end.len() as f64;
    [-mean.z / LENGTH, mean.x / LENGTH]
}

fn check(width: f64, edge: f64, degrees: f64) {
    let strip = strip(width, edge, degrees.to_radians());
    let found = hung(&strip, BendingModel::Plate);
    eprintln!("width {width}, edge {edge}, {degrees}°: {found:?} of {ELASTICA:?}");
    for (found, expected) in found.iter().zip(ELASTICA) {
        assert!(
            (found / expected - 1.0).abs() < 0.03,
            "width {width}, edge {edge}, {degrees}°: {found} of {expected}"
        );
    }
}

#[test]
fn a_strip_hangs_as_the_elastica_in_any_direction_of_its_mesh() {
    for degrees in [0.0, 22.5, 45.0] {
        check(0.02, 0.01, degrees);
    }
}

#[test]
#[ignore = "half a minute"]
fn a_strip_of_any_width_and_mesh_hangs_as_the_elastica() {
    for width in [0.01, 0.03, 0.06] {
        for edge in [0.0125, 0.00625] {
            for degrees in [0.0, 22.5, 45.0] {
                check(width, edge, degrees);
            }
        }
    }
}

/// What a plate is for: edges that resist by themselves are too soft by what depends on the mesh.
#[test]
fn hinges_by_themselves_depend_on_the_direction_of_the_mesh() {
    let [drop, _] = hung(&strip(0.02, 0.01, 0.0), BendingModel::Hinges);
    assert!((drop / ELASTICA[0] - 1.0).abs() > 0.03, "{drop}");
}
