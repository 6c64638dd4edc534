//! Does a potential's impulse belong to its cost, and its Hessian to its impulse?

use nalgebra::{DMatrix, SMatrix, SVector};

use super::{Violation, promise};
use crate::potential::Potential;

/// Checks a [`Potential`] at `samples` and along the straight lines between them, in their order.
///
/// - Everything is finite; G is symmetric and positive semidefinite.
/// - γ = −∂ℓ/∂v_c and G = −∂γ/∂v_c, by the fundamental theorem: along every line the differences of ℓ and γ are the
///   integrals of −γ and −G, taken by adaptive quadrature, which finds kinks and resolves them. So the lines may cross
///   borders between regions, and samples may lie on them.
/// - G at a sample is what it is nearby, unless there is a kink.
/// - γ falls along every line: the cost is convex.
///
/// Choose samples in every region, on borders, a hair beside them, and at degenerate points.
///
/// # Errors
/// The first promise found broken.
pub fn check_potential<const M: usize>(
    law: &dyn Potential<M>,
    samples: &[SVector<f64, M>],
) -> Result<(), Violation> {
    for v in samples {
        check_point(law, v)?;
        let reach = 1e-3 * (v.norm() + 1e-2);
        for axis in 0..M {
            let mut e = SVector::<f64, M>::zeros();
            e[axis] = reach;
            check_line(law, v, &(v + e))?;
            check_line(law, v, &(v - e))?;
        }
    }
    for pair in samples.windows(2) {
        check_line(law, &pair[0], &pair[1])?;
    }
    Ok(())
}

fn check_point<const M: usize>(
    law: &dyn Potential<M>,
    v: &SVector<f64, M>,
) -> Result<(), Violation> {
    let (cost, impulse, hessian) = (law.cost(v), law.impulse(v), law.hessian(v));
    let at = || format!("at v_c = {:?}", v.as_slice());
    promise(cost.is_finite(), || format!("the cost is {cost} {}", at()))?;
    promise(impulse.iter().all(|x| x.is_finite()), || {
        format!("the impulse is {:?} {}", impulse.as_slice(), at())
    })?;
    promise(hessian.iter().all(|x| x.is_finite()), || {
        format!("the Hessian is {:?} {}", hessian.as_slice(), at())
    })?;
    let size = hessian.norm();
    let skew = (hessian - hessian.transpose()).norm();
    promise(skew <= 1e-12 * size, || {
        format!(
            "the Hessian is not symmetric {}: ‖G − Gᵀ‖ = {skew:e}, ‖G‖ = {size:e}",
            at()
        )
    })?;
    let least = least_eigenvalue(&hessian);
    promise(least >= -1e-12 * size, || {
        format!(
            "the Hessian is indefinite {}: its least eigenvalue is {least:e}, ‖G‖ = {size:e}",
            at()
        )
    })?;
    check_neighbours(law, v, &hessian)
}

fn least_eigenvalue<const M: usize>(g: &SMatrix<f64, M, M>) -> f64 {
    let g = DMatrix::from_column_slice(M, M, g.as_slice());
    g.symmetric_eigenvalues().min()
}

/// eᵀG(v)e lies between the least and the largest found a hair away, for some width of the hair: a sample may lie in a
/// region that is thinner than most.
fn check_neighbours<const M: usize>(
    law: &dyn Potential<M>,
    v: &SVector<f64, M>,
    hessian: &SMatrix<f64, M, M>,
) -> Result<(), Violation> {
    let mut verdict = Ok(());
    for width in [1e-8, 1e-10, 1e-12, 1e-14] {
        verdict = check_hair(law, v, hessian, width * (v.norm() + 1e-3));
        if verdict.is_ok() {
            break;
        }
    }
    verdict
}

fn check_hair<const M: usize>(
    law: &dyn Potential<M>,
    v: &SVector<f64, M>,
    hessian: &SMatrix<f64, M, M>,
    hair: f64,
) -> Result<(), Violation> {
    let nearby = (0..2 * M).map(|k| {
        let mut d = *v;
        d[k / 2] += if k % 2 == 0 { hair } else { -hair };
        law.hessian(&d)
    });
    let nearby = nearby.collect::<Vec<_>>();
    let size = nearby.iter().fold(hessian.norm(), |m, g| m.max(g.norm()));
    let around = nearby.iter().fold(0.0, |m: f64, g| m.max(g.norm()));
    let unlike = |g: &SMatrix<f64, M, M>| (g - nearby[0]).norm() > 0.1 * around;
    if nearby.iter().any(unlike) {
        return Ok(()); // a kink, where G may take any value between those around it
    }
    for axis in 0..M {
        let here = hessian[(axis, axis)];
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for g in &nearby {
            least = least.min(g[(axis, axis)]);
            most = most.max(g[(axis, axis)]);
        }
        let slack = 1e-3 * size;
        promise(here >= least - slack && here <= most + slack, || {
            format!(
                "the Hessian at v_c = {:?} is isolated: G[{axis},{axis}] = {here:e}, but {least:e} to {most:e} a hair away",
                v.as_slice()
            )
        })?;
    }
    Ok(())
}

/// Nodes and weights of the Gauss rule with four points on [0, 1].
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];
/// Below this share of a piece's own size a mismatch is quadrature error of a smooth function.
const RELATIVE: f64 = 1e-8;
/// A dozen kinks halved down to round-off, and some hundred pieces for the soft corner of friction.
const PIECES_MAX: usize = 4000;
const DEPTH_MAX: usize = 48;

/// One end of a piece.
#[derive(Clone, Copy)]
struct End<const M: usize> {
    v: SVector<f64, M>,
    cost: f64,
    impulse: SVector<f64, M>,
}

impl<const M: usize> End<M> {
    fn at(law: &dyn Potential<M>, v: SVector<f64, M>) -> Self {
        Self {
            v,
            cost: law.cost(&v),
            impulse: law.impulse(&v),
        }
    }
}

fn check_line<const M: usize>(
    law: &dyn Potential<M>,
    from: &SVector<f64, M>,
    to: &SVector<f64, M>,
) -> Result<(), Violation> {
    let line = || {
        format!(
            "between v_c = {:?} and {:?}",
            from.as_slice(),
            to.as_slice()
        )
    };
    let (start, end) = (End::at(law, *from), End::at(law, *to));
    let rise = (end.impulse - start.impulse).dot(&(to - from));
    let size = Size {
        impulse: start.impulse.norm().max(end.impulse.norm()),
        stiffness: law.hessian(from).norm().max(law.hessian(to).norm()),
        place: from.norm().max(to.norm()),
    };
    let noise =
        64.0 * f64::EPSILON * (size.impulse + size.stiffness * size.place) * (to - from).norm();
    promise(rise <= noise, || {
        format!("the cost is not convex {}: the impulse rises", line())
    })?;

    let mut pieces = 0;
    let mut stack = vec![(start, end, 0)];
    while let Some((a, b, depth)) = stack.pop() {
        pieces += 1;
        let piece = Piece::measure(law, &a, &b, &size);
        if piece.fits() || depth == DEPTH_MAX {
            continue;
        }
        promise(pieces < PIECES_MAX, || {
            let place = format!("near v_c = {:?}, {}", a.v.as_slice(), line());
            if piece.cost_mismatch > piece.cost_slack {
                format!(
                    "the impulse is not the derivative of the cost {place}: ℓ changes by {:e}, ∫−γ is {:e}",
                    piece.cost_change,
                    piece.cost_change - piece.signed_cost_mismatch
                )
            } else {
                format!(
                    "the Hessian is not the derivative of the impulse {place}: γ changes by {:?}, off from ∫−G by {:e}",
                    (b.impulse - a.impulse).as_slice(),
                    piece.impulse_mismatch
                )
            }
        })?;
        let middle = End::at(law, 0.5 * (a.v + b.v));
        stack.push((middle, b, depth + 1));
        stack.push((a, middle, depth + 1));
    }
    Ok(())
}

/// Sizes on a whole line, from which round-off on its pieces is measured.
struct Size {
    impulse: f64,
    stiffness: f64,
    place: f64,
}

struct Piece {
    cost_change: f64,
    signed_cost_mismatch: f64,
    cost_mismatch: f64,
    cost_slack: f64,
    impulse_mismatch: f64,
    impulse_slack: f64,
}

impl Piece {
    fn measure<const M: usize>(
        law: &dyn Potential<M>,
        a: &End<M>,
        b: &End<M>,
        size: &Size,
    ) -> Self {
        let e = b.v - a.v;
        let (mut work, mut work_size) = (0.0, 0.0);
        let mut change = SVector::<f64, M>::zeros();
        let (mut change_size, mut stiffness) = (0.0, size.stiffness);
        for (s, weight) in GAUSS {
            let v = a.v + e * s;
            let (gamma, g) = (law.impulse(&v), law.hessian(&v));
            work -= weight * gamma.dot(&e);
            work_size += weight * gamma.norm() * e.norm();
            change -= g * e * weight;
            change_size += weight * g.norm() * e.norm();
            stiffness = stiffness.max(g.norm());
        }
        // Round-off of the values, and of the place where they are taken.
        let eps = 64.0 * f64::EPSILON;
        let place = size.place;
        let gamma_size =
            size.impulse.max(a.impulse.norm()).max(b.impulse.norm()) + eps * stiffness * place;
        let signed_cost_mismatch = (b.cost - a.cost) - work;
        Self {
            cost_change: b.cost - a.cost,
            signed_cost_mismatch,
            cost_mismatch: signed_cost_mismatch.abs(),
            cost_slack: RELATIVE * work_size
                + eps * (a.cost.abs() + b.cost.abs() + gamma_size * place)
                + eps * stiffness * place * e.norm()
                + f64::MIN_POSITIVE,
            impulse_mismatch: (b.impulse - a.impulse - change).norm(),
            impulse_slack: RELATIVE * change_size
                + eps * (gamma_size + stiffness * place)
                + f64::MIN_POSITIVE,
        }
    }

    fn fits(&self) -> bool {
        self.cost_mismatch <= self.cost_slack && self.impulse_mismatch <= self.impulse_slack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix1, Vector1};

    struct Quadratic {
        slope: f64,
        curvature: f64,
        sign: f64,
    }

    impl Potential<1> for Quadratic {
        fn cost(&self, v: &Vector1<f64>) -> f64 {
            self.sign * v.x * v.x
        }
        fn impulse(&self, v: &Vector1<f64>) -> Vector1<f64> {
            -self.slope * v
        }
        fn hessian(&self, v: &Vector1<f64>) -> Matrix1<f64> {
            Matrix1::new(if v.x == 0.5 { 0.0 } else { self.curvature })
        }
    }

    fn verdict(slope: f64, curvature: f64, sign: f64, at: &[f64]) -> String {
        let law = Quadratic {
            slope,
            curvature,
            sign,
        };
        let at: Vec<_> = at.iter().map(|&v| Vector1::new(v)).collect();
        check_potential(&law, &at).map_or_else(|e| e.to_string(), |()| "kept".into())
    }

    #[test]
    fn each_broken_promise_is_named() {
        let at = [-1.0, 0.0, 3.0];
        assert_eq!(verdict(2.0, 2.0, 1.0, &at), "kept");
        assert!(verdict(2.001, 2.001, 1.0, &at).contains("derivative of the cost"));
        assert!(verdict(2.0, 2.001, 1.0, &at).contains("derivative of the impulse"));
        assert!(verdict(-2.0, -2.0, -1.0, &at).contains("indefinite"));
        assert!(verdict(-2.0, 2.0, -1.0, &at).contains("not convex"));
        assert!(verdict(2.0, 2.0, 1.0, &[0.5]).contains("isolated"));
        assert!(verdict(2.0, f64::NAN, 1.0, &at).contains("Hessian is"));
    }
}
