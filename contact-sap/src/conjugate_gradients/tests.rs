use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// A random system whose diagonal spans 20 decades, with its solution and the inverse of its diagonal.
fn badly_scaled() -> (DMatrix<f64>, DVector<f64>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let n = 60;
    let raw = DMatrix::from_fn(n, n, |_, _| rng.random_range(-0.5..0.5));
    let scale = DVector::from_fn(n, |i, _| 10_f64.powi(-((i / 3) as i32)));
    let h = DMatrix::from_fn(n, n, |i, j| {
        let spd = raw.column(i).dot(&raw.column(j)) + if i == j { 1.0 } else { 0.0 };
        spd * (scale[i] * scale[j]).sqrt()
    });
    let solution = DVector::from_fn(n, |_, _| rng.random_range(0.0..1.0));
    let inverse_diagonal = h.diagonal().iter().map(|h| 1.0 / h).collect();
    (h, solution, inverse_diagonal)
}

fn products(h: &DMatrix<f64>) -> impl FnMut(&[f64], &mut [f64]) {
    move |x, y| y.copy_from_slice((h * DVector::from_column_slice(x)).as_slice())
}

fn jacobi(inverse_diagonal: &[f64]) -> impl FnMut(&[f64], &mut [f64]) {
    move |r, z| {
        for ((z, r), d) in z.iter_mut().zip(r).zip(inverse_diagonal) {
            *z = r * d;
        }
    }
}

#[test]
fn a_badly_scaled_system_is_solved_in_either_norm() {
    let (h, solution, inverse_diagonal) = badly_scaled();
    let b = &h * &solution;
    let scale: Vec<f64> = inverse_diagonal.iter().map(|d| d.sqrt()).collect();
    for norm in [ResidualNorm::Preconditioned, ResidualNorm::Scaled(&scale)] {
        let limits = CgLimits {
            norm,
            relative_residual: 1e-12,
            iterations_max: 400,
        };
        let mut system = (products(&h), jacobi(&inverse_diagonal));
        let mut x = vec![f64::NAN; b.len()];
        let mut cg = ConjugateGradients::default();
        let report = cg.solve(&mut system, limits, b.as_slice(), &mut x);
        assert_eq!(report.stop, CgStop::Converged);
        let again = cg.improve(&mut system, limits, b.as_slice(), &mut x);
        assert!(again.iterations < report.iterations / 4, "{again:?}");
        let error = DVector::from_vec(x) - &solution;
        let scaled = error.component_div(&DVector::from_column_slice(&scale));
        assert!(scaled.amax() < 1e-10, "{norm:?}: {scaled}");
    }
}

#[test]
fn an_indefinite_matrix_is_reported_with_a_direction_of_descent() {
    let mut system = (
        |x: &[f64], y: &mut [f64]| y.copy_from_slice(&[x[0], -2.0 * x[1]]),
        |r: &[f64], z: &mut [f64]| z.copy_from_slice(r),
    );
    let limits = CgLimits {
        norm: ResidualNorm::Preconditioned,
        relative_residual: 1e-12,
        iterations_max: 10,
    };
    let b = [1.0, 1.0];
    let mut x = [0.0; 2];
    let report = ConjugateGradients::default().solve(&mut system, limits, &b, &mut x);
    assert_eq!(report.stop, CgStop::Indefinite);
    assert_eq!(x, b);
}

#[test]
fn an_overflow_of_the_preconditioner_or_a_product_is_reported() {
    let limits = CgLimits {
        norm: ResidualNorm::Scaled(&[1.0; 2]),
        relative_residual: 1e-12,
        iterations_max: 10,
    };
    let plain = |x: &[f64], y: &mut [f64]| y.copy_from_slice(x);
    for overflow in [f64::NAN, f64::INFINITY, 1e200] {
        let overflows = |_: &[f64], y: &mut [f64]| y.fill(overflow);
        let mut x = [0.0; 2];
        let mut cg = ConjugateGradients::default();
        let report = cg.solve(&mut (plain, overflows), limits, &[1.0, 2.0], &mut x);
        assert_eq!(
            (report.stop, x),
            (CgStop::NotFinite, [0.0; 2]),
            "{overflow}"
        );
        if overflow.is_nan() {
            let report = cg.solve(&mut (overflows, plain), limits, &[1.0, 2.0], &mut x);
            assert_eq!((report.stop, x), (CgStop::NotFinite, [0.0; 2]));
        }
    }
}

#[test]
fn forcing_terms_follow_the_decrease_of_the_residual() {
    assert_eq!(forcing_term(0.1, 1e-6, 0.5), 0.9 * 0.1 * 0.1);
    assert_eq!(forcing_term(f64::INFINITY, 1e-6, 0.5), 0.5);
    assert_eq!(forcing_term(0.0, 1e-6, 0.5), 1e-6);
}
