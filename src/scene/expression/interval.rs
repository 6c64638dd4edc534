//! Interval arithmetic: bounds of an expression whose names range over intervals.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::{ExpressionError, Node};

/// All numbers from `low` to `high`; infinite ends where nothing is known.
///
/// ```
/// use pliant::scene::expression::{Expression, Interval};
///
/// let pulse = Expression::parse("2 * exp(-(x/0.1)^2)")?;
/// let bounds = pulse.bounds(&|_| Ok(Interval::new(-0.1, 0.3)))?;
/// assert!((bounds.high - 2.0).abs() < 1e-12 && (bounds.low - 2.0 * (-9.0_f64).exp()).abs() < 1e-12);
/// # Ok::<(), pliant::scene::expression::ExpressionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The least number.
    pub low: f64,
    /// The greatest number.
    pub high: f64,
}

impl Interval {
    /// All numbers.
    pub const ALL: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// From `low` to `high`.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// The one number `value`.
    #[must_use]
    pub fn of(value: f64) -> Self {
        Self::new(value, value)
    }

    /// Between the least and the greatest of `values`; all numbers if one is undefined.
    fn around(values: impl IntoIterator<Item = f64>) -> Self {
        let nothing = Self::new(f64::INFINITY, f64::NEG_INFINITY);
        let mut hull = nothing;
        for value in values {
            if value.is_nan() {
                return Self::ALL;
            }
            hull = Self::new(hull.low.min(value), hull.high.max(value));
        }
        hull
    }

    fn holds(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    fn rising(self, function: fn(f64) -> f64) -> Self {
        Self::around([function(self.low), function(self.high)])
    }

    fn product(self, other: Self) -> Self {
        // A bound of zero times an unknown one is zero.
        let of = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
        Self::around([
            of(self.low, other.low),
            of(self.low, other.high),
            of(self.high, other.low),
            of(self.high, other.high),
        ])
    }

    fn inverse(self) -> Self {
        match self.holds(0.0) {
            true => Self::ALL,
            false => Self::new(1.0 / self.high, 1.0 / self.low),
        }
    }

    fn power(self, exponent: Self) -> Self {
        let ends = |base: Self| {
            let at = |x: f64| [x.powf(exponent.low), x.powf(exponent.high)];
            Self::around([base.low, base.high].into_iter().flat_map(at))
        };
        if exponent.low == exponent.high && exponent.low.fract() == 0.0 {
            return match (exponent.low > 0.0, exponent.low % 2.0 == 0.0) {
                (true, true) => ends(self.magnitude()),
                (true, false) => ends(self),
                (false, _) => self.power(Self::of(-exponent.low)).inverse(),
            };
        }
        match self.low >= 0.0 {
            true if self.low > 0.0 || exponent.low > 0.0 => ends(self),
            _ => Self::ALL,
        }
    }

    /// Of the absolute value.
    fn magnitude(self) -> Self {
        let hull = Self::around([self.low.abs(), self.high.abs()]);
        match self.holds(0.0) {
            true => Self::new(0.0, hull.high),
            false => hull,
        }
    }

    /// Of the sine after `phase`.
    fn sine(self, phase: f64) -> Self {
        let x = Self::new(self.low + phase, self.high + phase);
        let width = x.high - x.low;
        if width.is_nan() || width >= TAU {
            return Self::new(-1.0, 1.0);
        }
        let reaches = |top: f64| ((x.high - top) / TAU).floor() >= ((x.low - top) / TAU).ceil();
        let ends = x.low.sin()..x.high.sin();
        Self::new(
            if reaches(-FRAC_PI_2) {
                -1.0
            } else {
                ends.start.min(ends.end)
            },
            if reaches(FRAC_PI_2) {
                1.0
            } else {
                ends.start.max(ends.end)
            },
        )
    }

    fn tangent(self) -> Self {
        let half_turn = |x: f64| (x / PI + 0.5).floor();
        match half_turn(self.low) == half_turn(self.high) {
            true => self.rising(f64::tan),
            false => Self::ALL,
        }
    }

    /// Of the angle of (x, `self`).
    fn angle(self, x: Self) -> Self {
        // The angle jumps across the negative x axis.
        if self.holds(0.0) && x.low <= 0.0 {
            return Self::new(-PI, PI);
        }
        let of = |y: f64| [y.atan2(x.low), y.atan2(x.high)];
        Self::around([self.low, self.high].into_iter().flat_map(of))
    }

    /// Of one of the functions of expressions.
    fn called(name: &str, first: Self, second: Self) -> Self {
        let within = |low: f64, high: f64| match first.low >= low && first.high <= high {
            true => Some(first),
            false => None,
        };
        let defined = match name {
            "sin" => Some(first.sine(0.0)),
            "cos" => Some(first.sine(FRAC_PI_2)),
            "tan" => Some(first.tangent()),
            "asin" => within(-1.0, 1.0).map(|x| x.rising(f64::asin)),
            "acos" => within(-1.0, 1.0).map(|x| x.rising(f64::acos)),
            "atan" => Some(first.rising(f64::atan)),
            "atan2" => Some(first.angle(second)),
            "sqrt" => within(0.0, f64::INFINITY).map(|x| x.rising(f64::sqrt)),
            "abs" => Some(first.magnitude()),
            "exp" => Some(first.rising(f64::exp)),
            "log" => within(0.0, f64::INFINITY).map(|x| x.rising(f64::ln)),
            "floor" => Some(first.rising(f64::floor)),
            "min" => Some(Self::new(
                first.low.min(second.low),
                first.high.min(second.high),
            )),
            "max" => Some(Self::new(
                first.low.max(second.low),
                first.high.max(second.high),
            )),
            _ => None,
        };
        defined.unwrap_or(Self::ALL)
    }
}

impl Node {
    pub(super) fn bounds(
        &self,
        range_of: &dyn Fn(&str) -> Result<Interval, ExpressionError>,
    ) -> Result<Interval, ExpressionError> {
        let of = |node: &Self| node.bounds(range_of);
        Ok(match self {
            Self::Number(value) => Interval::of(*value),
            Self::Name(name) => range_of(name)?,
            Self::Negative(x) => {
                let x = of(x)?;
                Interval::new(-x.high, -x.low)
            }
            Self::Sum(x, y) => {
                let (x, y) = (of(x)?, of(y)?);
                Interval::new(x.low + y.low, x.high + y.high)
            }
            Self::Difference(x, y) => {
                let (x, y) = (of(x)?, of(y)?);
                Interval::new(x.low - y.high, x.high - y.low)
            }
            Self::Product(x, y) => of(x)?.product(of(y)?),
            Self::Quotient(x, y) => of(x)?.product(of(y)?.inverse()),
            Self::Power(x, y) => of(x)?.power(of(y)?),
            Self::Call(function, arguments) => {
                let first = of(&arguments[0])?;
                let second = arguments.get(1).map_or(Ok(Interval::of(0.0)), of)?;
                Interval::called(function.name, first, second)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::expression::{Expression, Scope};

    fn bounds(text: &str, low: f64, high: f64) -> Interval {
        let expression = Expression::parse(text).unwrap();
        let range_of = |_: &str| Ok(Interval::new(low, high));
        expression.bounds(&range_of).unwrap()
    }

    /// Every value of an expression is within its bounds, and those of functions of one use of x are attained.
    #[test]
    fn bounds_contain_all_values_and_are_tight_for_single_uses() {
        let tight = [
            "sin(x)",
            "cos(3*x)",
            "atan(x)",
            "exp(-x^2)",
            "x^3",
            "x^2",
            "abs(x)",
            "floor(4*x)",
            "min(x, 0.3)",
            "max(0.1, x)",
            "2 - x",
            "sqrt(x + 9)",
            "log(x + 9)",
            "1/(x + 9)",
            "(x + 9)^1.5",
            "(x + 9)^-2",
            "atan2(x, 2)",
            "acos(x/9)",
            "asin(x/9)",
            "tan(x/9)",
            "-x/2",
            "2^x",
        ];
        let loose = [
            "x*x - x",
            "sin(x)*cos(x)",
            "x/(x + 9)",
            "1/x",
            "sqrt(x)",
            "tan(x)",
            "atan2(x, x)",
            "x^0.5",
        ];
        for (low, high) in [
            (-2.0, 3.0),
            (0.2, 0.7),
            (-1.3, -0.4),
            (-8.0, 8.0),
            (0.0, 1.0),
        ] {
            for text in tight.iter().chain(&loose) {
                let expression = Expression::parse(text).unwrap();
                let found = bounds(text, low, high);
                let mut seen = Interval::new(f64::INFINITY, f64::NEG_INFINITY);
                for k in 0..=4000 {
                    let mut scope = Scope::default();
                    scope.set("x", low + (high - low) * f64::from(k) / 4000.0);
                    let value = expression.evaluate(&scope).unwrap();
                    if value.is_nan() {
                        continue;
                    }
                    let slack = 1e-12 * (1.0 + value.abs());
                    assert!(
                        value >= found.low - slack && value <= found.high + slack,
                        "{text} = {value} on {low}..{high}: {found:?}"
                    );
                    seen = Interval::new(seen.low.min(value), seen.high.max(value));
                }
                let width = seen.high - seen.low;
                assert!(
                    !tight.contains(text) || found.high - found.low <= 1.001 * width + 1e-5,
                    "{text} on {low}..{high}: {found:?} of {seen:?}"
                );
            }
        }
    }

    #[test]
    fn undefined_values_have_no_bounds() {
        for text in [
            "1/x",
            "sqrt(x)",
            "log(x)",
            "x^0.5",
            "tan(2*x)",
            "acos(2*x)",
            "x^-1",
        ] {
            assert_eq!(bounds(text, -1.0, 1.0), Interval::ALL, "{text}");
        }
    }
}
