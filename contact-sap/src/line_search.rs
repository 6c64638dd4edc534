//! Line searches along a descent direction.

use crate::evaluation::{Evaluation, QuadraticPart};
use crate::island::IslandProblem;

/// The largest step length α. Newton's step is half the distance to the minimum where the cost falls with a cube.
const ALPHA_MAX: f64 = 2.0;

/// How a solver chooses the step length α along its direction Δv.
///
/// ```
/// use pliant_contact_sap::*;
///
/// # let mass = DenseDynamics::diagonal(&[2.0], vec![-2.0]);
/// # let dynamics = [&mass as &dyn Dynamics];
/// # let mut factors = BlockFactors::default();
/// # factors.factor(&dynamics)?;
/// # let mut constraints = ConstraintSet::default();
/// # let label = ConstraintLabel { kind: RowKind::DryFriction, index: 0 };
/// # let law = RowLaw::Bilateral(Bilateral::dry_friction(1.0, 1e-3));
/// # constraints.internal(ParticipantIdx(0), &factors).velocity(0, law, label);
/// let problem = ContactProblem { dynamics: &dynamics, constraints: &constraints };
/// // 2 kg with the free velocity −1 m/s and a brake of 1 N·s, from a guess of 1 m/s: −0.5 m/s remain.
/// let iterations = |line_search| {
///     let mut solver = Newton::new(NewtonSettings { line_search, ..NewtonSettings::default() });
///     let mut solution = Solution::default();
///     let report = solver.solve(&problem, &[1.0], &mut solution)?;
///     assert!((solution.velocity[0] + 0.5).abs() < 1e-6);
///     Ok::<_, SolveError>(report.iterations)
/// };
/// // The minimiser along the only direction there is, and a step that is merely long enough.
/// assert_eq!(iterations(LineSearch::Exact { slope_tolerance: 1e-6 })?, 1);
/// assert!(iterations(LineSearch::Armijo)? > 1);
/// # Ok::<(), SolveError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineSearch {
    /// The minimiser in [0, 2] by Newton's method safeguarded with bisection.
    ///
    /// `slope_tolerance`: stops when |ℓ'(α)| ≤ `slope_tolerance` |ℓ'(0)|, in (0, 1). The result is insensitive to it
    /// over many decades; small values cost evaluations, values above 0.1 cost iterations.
    ///
    /// Source: Castro, Permenter, Han (2022), section VI-C.
    Exact {
        /// See above.
        slope_tolerance: f64,
    },
    /// The first α of a geometric sequence with sufficient descent, ℓ(α) ≤ ℓ(0) + 1e-4 α ℓ'(0), followed as long as the
    /// cost still falls.
    Armijo,
}

impl Default for LineSearch {
    fn default() -> Self {
        LineSearch::Exact {
            slope_tolerance: 1e-3,
        }
    }
}

/// A step along the direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) alpha: f64,
    pub(crate) evaluations: usize,
}

impl LineSearch {
    /// Searches along the direction of `e`; `slope0` = ℓ'(0) < 0.
    pub(crate) fn search(
        &self,
        e: &Evaluation,
        p: &IslandProblem<'_>,
        quadratic: QuadraticPart,
        slope0: f64,
    ) -> Step {
        match *self {
            LineSearch::Exact { slope_tolerance } => exact(
                |alpha| e.slope(p, quadratic, alpha),
                slope0,
                slope_tolerance,
            ),
            LineSearch::Armijo => {
                let start = e.constraint_cost(p, 0.0);
                armijo(
                    |alpha| {
                        let quadratic =
                            alpha * (quadratic.slope + 0.5 * alpha * quadratic.curvature);
                        e.constraint_cost(p, alpha) - start + quadratic
                    },
                    slope0,
                )
            }
        }
    }
}

/// The root of a non-decreasing φ' in [0, 2]; `slope(α)` = (φ', φ''), φ'(0) = `slope0` < 0.
fn exact(slope: impl Fn(f64) -> (f64, f64), slope0: f64, tolerance: f64) -> Step {
    let enough = tolerance * slope0.abs();
    // The best α known to lie before the root, and φ' there.
    let (mut low, mut slope_low) = (0.0, slope0);
    let good = |alpha: f64, s: f64, ds: f64, low: f64, slope_low: f64| {
        // Slightly past the root, φ is below its start if the rise since `low` is smaller than the descent up to `low`, or,
        // almost certainly, if the curvature at α is that of the interval. A steep but short descent is thus rejected.
        let fell =
            s <= 0.0 || s * (alpha - low) <= -slope_low * low || alpha * ds >= 0.25 * (s - slope0);
        s.abs() <= enough && fell
    };
    let mut evaluations = 1;
    let mut alpha = 1.0;
    let (mut s, mut ds) = slope(alpha);
    if good(alpha, s, ds, low, slope_low) {
        return Step { alpha, evaluations };
    }
    let mut high = 1.0;
    if s < 0.0 {
        (low, slope_low) = (alpha, s);
        alpha = ALPHA_MAX;
        (s, ds) = slope(alpha);
        evaluations += 1;
        if s <= 0.0 || good(alpha, s, ds, low, slope_low) {
            return Step { alpha, evaluations };
        }
        high = ALPHA_MAX;
    }
    let mut last_move = high - low;
    // 60 halvings exhaust the digits of the bracket.
    for _ in 0..60 {
        let newton = alpha - s / ds;
        // Newton's step must stay inside the bracket and halve the last step; otherwise bisect. NaN bisects too.
        let trusted = newton > low && newton < high && (newton - alpha).abs() <= 0.5 * last_move;
        let next = if trusted { newton } else { 0.5 * (low + high) };
        last_move = (next - alpha).abs();
        alpha = next;
        (s, ds) = slope(alpha);
        evaluations += 1;
        if good(alpha, s, ds, low, slope_low) {
            return Step { alpha, evaluations };
        }
        if s < 0.0 {
            (low, slope_low) = (alpha, s);
        } else {
            high = alpha;
        }
        if high - low <= 1e-12 * high {
            break;
        }
    }
    let alpha = if low > 0.0 { low } else { alpha };
    Step { alpha, evaluations }
}

/// Backtracking; `change(α)` = φ(α) − φ(0), φ'(0) = `slope0` < 0.
fn armijo(change: impl Fn(f64) -> f64, slope0: f64) -> Step {
    const SUFFICIENT: f64 = 1e-4;
    const SHRINK: f64 = 0.8;
    let mut alpha = 1.0 / SHRINK;
    let mut phi = change(alpha);
    let mut evaluations = 1;
    for _ in 0..100 {
        let next_alpha = SHRINK * alpha;
        let next = change(next_alpha);
        evaluations += 1;
        if phi <= SUFFICIENT * alpha * slope0 && next >= phi {
            break;
        }
        (alpha, phi) = (next_alpha, next);
    }
    Step { alpha, evaluations }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_exact(slope: impl Fn(f64) -> (f64, f64), expected: f64) {
        let slope0 = slope(0.0).0;
        let step = exact(slope, slope0, 1e-10);
        assert!((step.alpha - expected).abs() < 1e-6, "{step:?}");
        assert!(step.evaluations < 60, "{step:?}");
    }

    #[test]
    fn a_full_step_on_a_quadratic_costs_one_evaluation() {
        let step = exact(|a| (a - 1.0, 1.0), -1.0, 1e-8);
        assert_eq!((step.alpha, step.evaluations), (1.0, 1));
    }

    #[test]
    fn the_step_is_capped() {
        assert_eq!(exact(|a| (a - 7.0, 1.0), -7.0, 1e-8).alpha, ALPHA_MAX);
    }

    #[test]
    fn the_root_is_found_where_newton_alone_fails() {
        // Flat, then steep: Newton from 1 leaves the bracket.
        check_exact(
            |a| {
                let steep = if a > 0.3 { 1e8 * (a - 0.3) } else { 0.0 };
                (a - 0.4 + steep, if a > 0.3 { 1e8 } else { 1.0 })
            },
            0.3 + 0.1 / (1.0 + 1e8),
        );
        // A jump of the slope: the kink itself is the minimum.
        check_exact(|a| (if a < 0.125 { -1.0 } else { 5.0 }, 1e-12), 0.125);
        check_exact(
            |a| {
                let x = a - 0.7;
                (x + 1e6 * x.powi(3), 1.0 + 3e6 * x * x)
            },
            0.7,
        );
        check_exact(
            |a| (a - 1.2 + (a - 1.2).powi(3), 1.0 + 3.0 * (a - 1.2).powi(2)),
            1.2,
        );
    }

    #[test]
    fn a_steep_start_is_no_licence_to_climb() {
        // φ' = −1e9 up to 1e-6, then 1e5 (α − 1e-6): within 1e-3 of the start's slope everywhere, but uphill.
        let slope = |a: f64| {
            if a < 1e-6 {
                (-1e9, 0.0)
            } else {
                (1e5 * (a - 1e-6), 1e5)
            }
        };
        let step = exact(slope, -1e9, 1e-3);
        // φ(α) − φ(0) = −1e3 + ½ 1e5 α².
        assert!(5e4 * step.alpha * step.alpha < 1e3, "{step:?}");
    }

    #[test]
    fn armijo_descends_sufficiently_and_follows_a_falling_cost() {
        // Minimum at 0.3 of a steep quadratic: the geometric sequence comes within one factor of it.
        let step = armijo(|a| (a - 0.3).powi(2) - 0.09, -0.6);
        assert!((0.24..=0.375).contains(&step.alpha), "{step:?}");
    }
}
