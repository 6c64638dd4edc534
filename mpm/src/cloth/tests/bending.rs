//! Hinges.

use std::f64::consts::PI;

use super::*;
use crate::cloth::mesh::ClothMesh;

/// One hinge of two unequal triangles that is bent by 0.5 at rest; D = 10⁻⁴ N m.
fn hinge() -> (Hinge<f64>, [Vector3<f64>; 4]) {
    let angle: f64 = 0.5;
    let vertices = vec![
        Vector3::new(0.0, 0.0, 0.0),
        Vector3::new(0.012, 0.0, 0.0),
        Vector3::new(0.004, 0.009, 0.0),
        Vector3::new(0.007, -0.011 * angle.cos(), -0.011 * angle.sin()),
    ];
    let triangles = vec![[0, 1, 2], [1, 0, 3]];
    let (mesh, _) = ClothMesh::from_arrays("hinge", vertices, triangles, 0.03).unwrap();
    let stiff = material(LAWS[0]).with_bending_stiffness(1e-4).unwrap();
    let hinge = Cloth::new(&mesh, &stiff).hinges()[0];
    let positions = hinge
        .vertices
        .map(|v| mesh.surface().vertices()[v as usize]);
    (hinge, positions)
}

fn torque(positions: &[Vector3<f64>], forces: &[Vector3<f64>]) -> Vector3<f64> {
    positions.iter().zip(forces).map(|(x, f)| x.cross(f)).sum()
}

#[test]
fn forces_are_the_negative_gradient_of_the_energy() {
    let (hinge, rest) = hinge();
    assert!((hinge.rest_angle - 0.5).abs() < 1e-12);
    let mut draw = Draw::new(1);
    for round in 0..50 {
        let size = if round % 2 == 0 { 0.002 } else { 0.006 };
        let rotation = draw.rotation();
        let x = rest.map(|x| rotation * (x + draw.vector(size)));
        let forces = hinge.forces(&x);
        let scale = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
        let h = 1e-8;
        for v in 0..4 {
            for k in 0..3 {
                let (mut up, mut down) = (x, x);
                up[v][k] += h;
                down[v][k] -= h;
                let slope = (hinge.energy(&up) - hinge.energy(&down)) / (2.0 * h);
                let error = (slope + forces[v][k]).abs();
                assert!(
                    error < 1e-6 * scale + 1e-8,
                    "round {round}: {error:e} of {scale:e}"
                );
            }
        }
        assert!(forces.iter().sum::<Vector3<f64>>().norm() < 1e-14 * scale);
        assert!(torque(&x, &forces).norm() < 1e-15 * scale);
    }
}

#[test]
fn the_rest_shape_has_no_force_wherever_it_is() {
    let (hinge, rest) = hinge();
    let mut draw = Draw::new(2);
    for _ in 0..10 {
        let (rotation, shift) = (draw.rotation(), draw.vector(0.1));
        let forces = hinge.forces(&rest.map(|x| rotation * x + shift));
        assert!(forces.iter().all(|f| f.norm() < 1e-12));
    }
}

#[test]
fn a_hinge_bent_too_far_passes_through_itself() {
    let (hinge, rest) = hinge();
    // Around the edge, which is the x axis, from −170° to 170° off the rest angle.
    let bent = |turn: f64| {
        let mut x = rest;
        x[3] = Rotation3::from_axis_angle(&Vector3::x_axis(), turn) * x[3];
        (hinge.energy(&x), hinge.forces(&x))
    };
    let largest = 0.5 * hinge.stiffness * PI * PI;
    let (energy, _) = bent(PI - 1e-9);
    assert!((energy - largest).abs() < 1e-7 * largest);
    let (energy, _) = bent(PI + 1e-9);
    assert!((energy - largest).abs() < 1e-7 * largest);
    // The forces turn round.
    let sides = [bent(PI - 0.1).1[2], bent(PI + 0.1).1[2]];
    assert!((sides[0] + sides[1]).norm() < 1e-9 * sides[0].norm());
    for turn in [-1.0_f64, 0.3, 2.0] {
        let expected = 0.5 * hinge.stiffness * turn * turn;
        assert!((bent(turn).0 - expected).abs() < 1e-12);
    }
}

#[test]
fn collapsed_hinges_have_bounded_balanced_forces() {
    let (hinge, rest) = hinge();
    let largest = |x: &[Vector3<f64>; 4]| {
        let forces = hinge.forces(x);
        let sum: Vector3<f64> = forces.iter().sum();
        assert!(sum.norm() < 1e-12);
        forces.iter().map(|f| f.norm()).fold(0.0, f64::max)
    };
    let foot = Vector3::new(0.004, 0.0, 0.0);
    for height in [1e-3, 1e-5, 1e-9, 1e-30, 1e-300, 0.0] {
        let mut x = rest;
        x[2] = foot + Vector3::z() * height;
        // The altitude at a tenth of the area is 0.9 mm: c π/0.9 mm by the angle, 1.5 c π²/2 over that by the area.
        assert!(largest(&x) <= 10.0 * hinge.stiffness * PI / 0.9e-3);
        x[1] = x[0] + Vector3::x() * height;
        assert!(largest(&x).is_finite());
    }
    assert_eq!(largest(&[Vector3::zeros(); 4]), 0.0);
}

/// Energy per area of a flat mesh that is rolled to a cylinder about the y axis turned by `direction`, over D κ²/2.
fn rolled(mesh: &ClothMesh, direction: f64) -> f64 {
    let radius = 10.0;
    let stiff = material(LAWS[0]).with_bending_stiffness(1.0).unwrap();
    let cloth = Cloth::<f64>::new(mesh, &stiff);
    let turn = Rotation3::from_axis_angle(&Vector3::z_axis(), direction);
    let roll = |x: &Vector3<f64>| {
        let x = turn * x;
        let (s, c) = (x.x / radius).sin_cos();
        Vector3::new(radius * s, x.y, radius * (1.0 - c))
    };
    let positions: Vec<_> = mesh.surface().vertices().iter().map(roll).collect();
    // Of hinges whose two triangles lie within, each with its third of these.
    let third = |t: u32| mesh.rest()[t as usize].area / 3.0;
    let (mut energy, mut area) = (0.0, 0.0);
    for (hinge, vertices) in cloth.hinges().iter().zip(mesh.hinges()) {
        energy += hinge.energy(&hinge.vertices.map(|v| positions[v as usize]));
        area += vertices.triangles.map(third).iter().sum::<f64>();
    }
    energy / area / (0.5 / (radius * radius))
}

/// Rows of equilateral triangles with edges of 1 m.
fn equilateral(n: u32) -> ClothMesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for j in 0..=n {
        for i in 0..=n {
            let x = f64::from(i) + 0.5 * f64::from(j % 2);
            vertices.push(Vector3::new(x, 0.75_f64.sqrt() * f64::from(j), 0.0));
        }
    }
    for j in 0..n {
        for i in 0..n {
            let a = j * (n + 1) + i;
            let above = a + n + 1;
            triangles.extend(if j % 2 == 0 {
                [[a, a + 1, above], [a + 1, above + 1, above]]
            } else {
                [[a, a + 1, above + 1], [a, above + 1, above]]
            });
        }
    }
    ClothMesh::from_arrays("lattice", vertices, triangles, 1.5)
        .unwrap()
        .0
}

/// D = 6 k_b: E = D/2 |e|²/(A₁ + A₂) θ² has the energy D κ²/2 per area of a plate.
#[test]
fn a_rolled_sheet_has_the_energy_of_a_plate() {
    let lattice = equilateral(40);
    for degrees in [0.0_f64, 15.0, 30.0, 45.0, 60.0, 90.0] {
        let found = rolled(&lattice, degrees.to_radians());
        assert!((found - 1.0).abs() < 0.02, "{degrees}°: {found}");
    }
    // Squares with alternating diagonals: rolled along the rows only the rows bend.
    let square = sheet([40.0, 40.0], [40, 40], 2.0);
    for degrees in [0.0_f64, 90.0] {
        let found = rolled(&square, degrees.to_radians());
        assert!((found - 1.0).abs() < 0.03, "{degrees}°: {found}");
    }
}
