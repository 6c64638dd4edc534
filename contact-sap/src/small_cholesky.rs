//! Cholesky factors of small dense blocks, column-major, in place.

/// A pivot that is not a positive finite number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pivot {
    pub(crate) row: usize,
    pub(crate) value: f64,
}

/// Calls `$body`, inlined, with constant sizes for vertices, rod nodes and rigid bodies.
macro_rules! for_size {
    ($n:expr, $body:ident($($argument:expr),*)) => {
        match $n {
            3 => $body($($argument),*, 3),
            4 => $body($($argument),*, 4),
            6 => $body($($argument),*, 6),
            n => $body($($argument),*, n),
        }
    };
}

/// L in the lower triangle of `a` (n×n); the upper triangle is left alone.
pub(crate) fn cholesky_in_place(a: &mut [f64], n: usize) -> Result<(), Pivot> {
    for_size!(n, cholesky_of_size(a))
}

#[inline(always)]
fn cholesky_of_size(a: &mut [f64], n: usize) -> Result<(), Pivot> {
    let a = &mut a[..n * n];
    for j in 0..n {
        let (head, tail) = a[j * n..].split_at_mut(n);
        let pivot = head[j];
        // Negated so that NaN fails too.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return Err(Pivot {
                row: j,
                value: pivot,
            });
        }
        let l_jj = pivot.sqrt();
        head[j] = l_jj;
        let inverse = 1.0 / l_jj;
        for x in &mut head[j + 1..] {
            *x *= inverse;
        }
        // Subtract the outer product of column j from the columns to its right.
        for (k, column) in tail.chunks_exact_mut(n).take(n - j - 1).enumerate() {
            let k = j + 1 + k;
            let l_kj = head[k];
            for (x, l) in column[k..].iter_mut().zip(&head[k..]) {
                *x -= l * l_kj;
            }
        }
    }
    Ok(())
}

/// x ← (L Lᵀ)⁻¹x.
pub(crate) fn solve(l: &[f64], n: usize, x: &mut [f64]) {
    solve_lower(l, n, x);
    for_size!(n, solve_lower_transposed_of_size(l, x));
}

/// x ← L⁻¹x.
pub(crate) fn solve_lower(l: &[f64], n: usize, x: &mut [f64]) {
    for_size!(n, solve_lower_of_size(l, x));
}

#[inline(always)]
fn solve_lower_of_size(l: &[f64], x: &mut [f64], n: usize) {
    let (l, x) = (&l[..n * n], &mut x[..n]);
    for j in 0..n {
        let column = &l[j * n..(j + 1) * n];
        let x_j = x[j] / column[j];
        x[j] = x_j;
        for (x, l) in x[j + 1..n].iter_mut().zip(&column[j + 1..]) {
            *x -= l * x_j;
        }
    }
}

/// x ← L⁻ᵀx.
#[inline(always)]
fn solve_lower_transposed_of_size(l: &[f64], x: &mut [f64], n: usize) {
    let (l, x) = (&l[..n * n], &mut x[..n]);
    for j in (0..n).rev() {
        let column = &l[j * n..(j + 1) * n];
        let below: f64 = x[j + 1..n]
            .iter()
            .zip(&column[j + 1..])
            .map(|(x, l)| x * l)
            .sum();
        x[j] = (x[j] - below) / column[j];
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    #[test]
    fn a_solve_undoes_a_product() {
        for n in 1..9 {
            let root = DMatrix::from_fn(n, n, |i, j| ((i * 7 + j * 3) as f64).sin());
            let a = &root * root.transpose() + DMatrix::identity(n, n);
            let expected: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
            let mut x = &a * nalgebra::DVector::from_column_slice(&expected);
            let mut l = a.as_slice().to_vec();
            cholesky_in_place(&mut l, n).unwrap_or_else(|_| panic!("A is SPD"));
            solve(&l, n, x.as_mut_slice());
            for (x, e) in x.iter().zip(&expected) {
                assert!((x - e).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_names_its_pivot() {
        let mut a = [1.0, 2.0, 2.0, 1.0];
        let pivot = cholesky_in_place(&mut a, 2).expect_err("indefinite");
        assert_eq!((pivot.row, pivot.value), (1, -3.0));
        let mut a = [f64::NAN];
        assert_eq!(cholesky_in_place(&mut a, 1).expect_err("NaN").row, 0);
    }
}
