//! Second derivatives against differences of the first, and their definiteness.

use nalgebra::{DMatrix, Matrix2, Matrix3x2, SMatrix, SVector, Vector2};

use super::super::surface_frame::SurfaceFrame;
use super::*;

const FREE: f64 = f64::INFINITY;

/// F of triangles in every state: stretched, sheared and crushed, with layers apart, pressed, crushed and slipping.
fn states(draw: &mut Draw) -> Vec<Matrix3<f64>> {
    let mut all = Vec::new();
    for (s1, s2) in [(1.0, 1.0), (1.3, 0.8), (0.6, 0.5), (1.5, 1.4)] {
        for r33 in [1.2, 0.9, 0.4, 0.07] {
            let stretch = Matrix3::from_diagonal(&Vector3::new(s1, s2, 1.0));
            let mut F = draw.rotation() * stretch * (Matrix3::identity() + draw.matrix(0.1));
            let frame = SurfaceFrame::of(&F);
            let across = Vector3::new(0.3 * draw.number(), 0.3 * draw.number(), r33);
            F.set_column(2, &(frame.q * across));
            all.push(F);
        }
    }
    all
}

fn bounds() -> [f64; 3] {
    [0.0, 3e3, FREE]
}

#[test]
fn the_stress_is_the_gradient_of_the_energy_for_every_bound_of_friction() {
    let mut draw = Draw::new(1);
    for in_plane in LAWS {
        let law = material(in_plane).law::<f64>();
        for F in states(&mut draw) {
            for bound in bounds() {
                let energy = |F: &Matrix3<f64>| law.frame_energy(&SurfaceFrame::of(F), bound);
                let P = law.frame_stress(&SurfaceFrame::of(&F), bound);
                let h = 1e-6;
                let differences = Matrix3::from_fn(|i, j| {
                    let (mut up, mut down) = (F, F);
                    up[(i, j)] += h;
                    down[(i, j)] -= h;
                    (energy(&up) - energy(&down)) / (2.0 * h)
                });
                let error = (differences - P).norm();
                assert!(error < 1e-5 * (1e4 + P.norm()), "{error:e} at {F}, {bound}");
            }
        }
    }
}

#[test]
fn the_second_derivative_is_that_of_the_stress() {
    let mut draw = Draw::new(2);
    for in_plane in LAWS {
        let law = material(in_plane).law::<f64>();
        for F in states(&mut draw) {
            for bound in bounds() {
                let exact = law.second_derivative(&SurfaceFrame::of(&F), bound);
                let h = 1e-6;
                let mut differences = SMatrix::<f64, 9, 9>::zeros();
                for k in 0..9 {
                    let (mut up, mut down) = (F, F);
                    up[k] += h;
                    down[k] -= h;
                    let change = law.frame_stress(&SurfaceFrame::of(&up), bound)
                        - law.frame_stress(&SurfaceFrame::of(&down), bound);
                    let change = change / (2.0 * h);
                    differences.column_mut(k).copy_from_slice(change.as_slice());
                }
                let error = (differences - exact).norm();
                assert!(
                    error < 1e-4 * (1e5 + exact.norm()),
                    "{in_plane:?}: {error:e} of {:e} at {F}, bound {bound}",
                    exact.norm()
                );
            }
        }
    }
}

fn eigenvalues<const N: usize>(matrix: SMatrix<f64, N, N>) -> (f64, f64) {
    let matrix = DMatrix::from_column_slice(N, N, matrix.as_slice());
    let values = matrix.symmetric_eigenvalues();
    (values.min(), values.max())
}

#[test]
fn the_approximation_is_positive_and_exact_at_rest() {
    let mut draw = Draw::new(3);
    for in_plane in LAWS {
        let law = material(in_plane).law::<f64>();
        let mut all = states(&mut draw);
        // Nearly without area.
        all.push(draw.rotation() * Matrix3::new(0.9, 0.2, 0.1, 0.0, 0.01, 0.3, 0.0, 0.0, 0.7));
        for F in all {
            for bound in bounds() {
                let positive = law.positive_second_derivative(&SurfaceFrame::of(&F), bound);
                assert!((positive - positive.transpose()).norm() < 1e-9 * positive.norm());
                let (least, largest) = eigenvalues(positive);
                assert!(least > -1e-9 * largest, "{least:e} of {largest:e} at {F}");
            }
        }
        let rest = SurfaceFrame::of(&draw.rotation());
        for bound in bounds() {
            let positive = law.positive_second_derivative(&rest, bound);
            let difference = positive - law.second_derivative(&rest, bound);
            assert!(difference.norm() < 1e-9 * positive.norm());
        }
    }
}

/// The stiffness that limits explicit steps is the largest eigenvalue in the plane.
#[test]
fn the_stiffness_is_the_largest_eigenvalue() {
    let mut draw = Draw::new(4);
    for in_plane in LAWS {
        let law = material(in_plane).law::<f64>();
        for F in states(&mut draw) {
            let frame = SurfaceFrame::of(&F);
            let flat = SurfaceFrame {
                normal: 1.0,
                shear: Vector2::zeros(),
                ..frame
            };
            let (_, largest) = eigenvalues(law.second_derivative(&flat, 0.0));
            let stretches = PrincipalStretches::of(&frame.in_plane).stretches;
            let stiffness = law.in_plane.stiffness(stretches);
            // Nine eigenvalues have a zero among them.
            assert!((stiffness.max(0.0) - largest).abs() < 1e-9 * 1e5);
        }
    }
}

#[test]
fn principal_stretches_rebuild_the_matrix() {
    let mut draw = Draw::new(5);
    for (r11, r22) in [(1.1, 0.9), (0.2, 1.4), (1.0, 1e-12), (1.0, 0.0), (0.0, 0.0)] {
        let r = Matrix2::new(r11, 0.5 * draw.number() * r11, 0.0, r22);
        let stretches = PrincipalStretches::of(&r).stretches;
        assert!(stretches[0] >= stretches[1] && stretches[1] >= 0.0);
        let squares = r.norm_squared();
        assert!((stretches.iter().map(|s| s * s).sum::<f64>() - squares).abs() < 1e-14);
        assert!((stretches[0] * stretches[1] - r11 * r22).abs() < 1e-15);
    }
}

#[test]
fn the_viscosity_is_the_derivative_of_the_viscous_stress_and_positive() {
    let mut draw = Draw::new(6);
    let damped = material(LAWS[0]).with_damping_time(1e-3).unwrap();
    let law = damped.law::<f64>();
    for F in states(&mut draw) {
        let rate: Matrix3x2<f64> = draw.matrix(2.0).fixed_columns::<2>(0).into_owned();
        let viscosity = law.viscosity(&F);
        let product = viscosity * SVector::<f64, 6>::from_column_slice(rate.as_slice());
        let stress = law.viscous_stress(&F, &rate);
        let error = product - SVector::<f64, 6>::from_column_slice(stress.as_slice());
        assert!(error.norm() < 1e-12 * stress.norm());
        let power = 2.0 * law.viscous_potential(&F, &rate);
        assert!((power - stress.dot(&rate)).abs() < 1e-12 * power);
        let (least, largest) = eigenvalues(viscosity);
        assert!(least > -1e-12 * largest);
    }
}

#[test]
fn the_second_derivative_of_a_hinge_is_that_of_its_forces() {
    let vertices = vec![
        Vector3::new(0.0, 0.0, 0.0),
        Vector3::new(0.012, 0.0, 0.0),
        Vector3::new(0.004, 0.009, 0.0),
        Vector3::new(0.007, -0.011, -0.002),
    ];
    let triangles = vec![[0, 1, 2], [1, 0, 3]];
    let (mesh, _) = ClothMesh::from_arrays("hinge", vertices, triangles, 0.03).unwrap();
    let stiff = material(LAWS[0]).with_bending_stiffness(1e-4).unwrap();
    let hinge = Cloth::<f64>::new(&mesh, &stiff).hinges()[0];
    let rest = hinge
        .vertices
        .map(|v| mesh.surface().vertices()[v as usize]);
    let mut draw = Draw::new(7);
    for round in 0..20 {
        let size = if round % 2 == 0 { 0.001 } else { 0.005 };
        let rotation = draw.rotation();
        let x = rest.map(|x| rotation * (x + draw.vector(size)));
        let exact = hinge.second_derivative(&x);
        let h = 1e-8;
        let mut differences = SMatrix::<f64, 12, 12>::zeros();
        for k in 0..12 {
            let (mut up, mut down) = (x, x);
            up[k / 3][k % 3] += h;
            down[k / 3][k % 3] -= h;
            let (up, down) = (hinge.forces(&up), hinge.forces(&down));
            for i in 0..12 {
                let change = up[i / 3][i % 3] - down[i / 3][i % 3];
                differences[(i, k)] = -change / (2.0 * h);
            }
        }
        let error = (differences - exact).norm();
        assert!(error < 1e-5 * exact.norm(), "round {round}: {error:e}");
    }
    // At rest, the part without the curvature of the angle is all.
    let root = hinge.root_stiffness(&rest);
    let difference = hinge.second_derivative(&rest) - root * root.transpose();
    assert!(difference.norm() < 1e-9 * root.norm_squared());
}
