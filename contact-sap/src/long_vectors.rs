//! Vectorised sums and updates of long vectors.
//!
//! Sums use eight lanes on every processor, so that the order of additions is always the same.

const LANES: usize = 8;

/// Σ a_i b_i.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || sum_of(a, b, |a, b| a * b),
    )
}

/// Σ (a_i b_i)².
pub(crate) fn scaled_norm_squared(a: &[f64], b: &[f64]) -> f64 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || sum_of(a, b, |a, b| (a * b) * (a * b)),
    )
}

/// x += s p, r −= s q; returns Σ (r_i d_i)².
pub(crate) fn step_along(
    s: f64,
    (x, p): (&mut [f64], &[f64]),
    (r, q): (&mut [f64], &[f64]),
    d: &[f64],
) -> f64 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            x.iter_mut().zip(p).for_each(|(x, p)| *x += s * p);
            let mut lanes = [0.0; LANES];
            let (r_chunks, r_rest) = r.as_chunks_mut::<LANES>();
            let (q_chunks, q_rest) = q.as_chunks::<LANES>();
            let (d_chunks, d_rest) = d.as_chunks::<LANES>();
            for ((r, q), d) in r_chunks.iter_mut().zip(q_chunks).zip(d_chunks) {
                for l in 0..LANES {
                    r[l] -= s * q[l];
                    lanes[l] += (r[l] * d[l]) * (r[l] * d[l]);
                }
            }
            let mut rest = 0.0;
            for ((r, q), d) in r_rest.iter_mut().zip(q_rest).zip(d_rest) {
                *r -= s * q;
                rest += (*r * d) * (*r * d);
            }
            lanes.iter().sum::<f64>() + rest
        },
    )
}

/// y += s x.
pub(crate) fn add_scaled(y: &mut [f64], s: f64, x: &[f64]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || y.iter_mut().zip(x).for_each(|(y, x)| *y += s * x),
    );
}

/// y = x + s y.
pub(crate) fn scale_and_add(y: &mut [f64], s: f64, x: &[f64]) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || y.iter_mut().zip(x).for_each(|(y, x)| *y = x + s * *y),
    );
}

#[inline(always)]
fn sum_of(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for l in 0..LANES {
            lanes[l] += term(a[l], b[l]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| term(*a, *b)).sum();
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_updates_are_the_plain_ones() {
        for n in [0, 1, 7, 8, 29] {
            let a: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let b: Vec<f64> = (0..n).map(|i| (i as f64 * 1.7).cos()).collect();
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert!((dot(&a, &b) - plain).abs() < 1e-14);
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| (a * b).powi(2)).sum();
            assert!((scaled_norm_squared(&a, &b) - plain).abs() < 1e-14);
            let mut z = a.clone();
            scale_and_add(&mut z, 0.5, &b);
            let mut y = a.clone();
            add_scaled(&mut y, -0.5, &b);
            let (mut x, mut r) = (a.clone(), b.clone());
            let norm = step_along(0.5, (&mut x, &b), (&mut r, &a), &a);
            let plain: f64 = r.iter().zip(&a).map(|(r, a)| (r * a).powi(2)).sum();
            assert!((norm - plain).abs() < 1e-14);
            for i in 0..n {
                assert_eq!(z[i], b[i] + 0.5 * a[i]);
                assert_eq!(y[i], a[i] - 0.5 * b[i]);
                assert_eq!(x[i], a[i] + 0.5 * b[i]);
                assert_eq!(r[i], b[i] - 0.5 * a[i]);
            }
        }
    }
}
