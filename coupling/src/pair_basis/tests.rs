//! The Delassus matrix of a pair by its fast path and by the plain product.

use super::*;
use nalgebra::{DMatrix, Matrix3xX};

/// A basis of a rigid pair with some symmetric positive definite M.
fn twist_basis() -> (PairBasis, DMatrix<f64>) {
    let root = DMatrix::from_fn(6, 6, |i, j| ((3 * i + 5 * j) % 7) as f64 - 2.5);
    let m = &root * root.transpose() + DMatrix::identity(6, 6);
    let mut basis = PairBasis {
        layout: Layout::RelativeTwist,
        p_WO: Point3::new(0.1, -0.2, 0.3),
        delassus: m.as_slice().to_vec(),
        n_rows: 6,
        ..PairBasis::default()
    };
    basis.find_extents();
    (basis, m)
}

#[test]
fn a_rigid_pair_s_delassus_is_phi_m_phi_transposed() {
    let (mut basis, m) = twist_basis();
    let p_WC = Point3::new(0.4, 0.3, -0.6);
    let side = || Side {
        body: None,
        interpolation: Interpolation::Twist,
    };
    let (a, b) = (side(), side());
    let positions = ContactPositions { a: p_WC, b: p_WC };
    let fast = basis.delassus((&a, &b), &positions);
    basis.write_phi((&a, &b), &positions);
    let phi = Matrix3xX::from_column_slice(&basis.phi);
    let plain = &phi * &m * phi.transpose();
    // A few roundings of sums of 36 terms.
    assert!((fast - plain).norm() < 100.0 * f64::EPSILON * m.norm());
}

#[test]
fn a_row_sum_adds_what_every_direction_does_to_one() {
    let (mut basis, m) = twist_basis();
    let directions: Vec<f64> = (0..18).map(|k| f64::from(k * k % 11) - 4.0).collect();
    let x = &directions[6..12];
    basis.sum_rows_of(&directions);
    let found = basis.row_sum(x, &directions);
    let column = nalgebra::DVector::from_column_slice(x);
    let expected: f64 = directions
        .chunks_exact(6)
        .map(|y| (nalgebra::DVector::from_column_slice(y).transpose() * &m * &column)[0].abs())
        .sum();
    assert!((found - expected).abs() < 100.0 * f64::EPSILON * expected);
    let own = (column.transpose() * &m * &column)[0];
    assert!((basis.response(x) - own).abs() < 100.0 * f64::EPSILON * own);
}

#[test]
fn a_row_sum_of_many_is_never_less_and_the_same_where_all_do_alike() {
    let (mut basis, _) = twist_basis();
    let plain = |basis: &mut PairBasis, x: &[f64], directions: &[f64]| {
        basis.gram.clear();
        basis.row_sum(x, directions)
    };
    let many: Vec<f64> = (0..6 * 40).map(|k| f64::from(k * k % 11) - 4.0).collect();
    let alike: Vec<f64> = many[..6].iter().copied().cycle().take(6 * 40).collect();
    for (directions, least, most) in [(&many, 1.0, 2.0), (&alike, 1.0, 1.0)] {
        let x = &directions[6..12];
        basis.sum_rows_of(directions);
        let bound = basis.row_sum(x, directions);
        let ratio = bound / plain(&mut basis, x, directions);
        let round_off = 1000.0 * f64::EPSILON;
        assert!(
            ratio > least - round_off && ratio < most + round_off,
            "{ratio}"
        );
    }
}
