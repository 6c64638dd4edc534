//! Hyper-dual numbers a + b ε₁ + c ε₂ + d ε₁ε₂, ε₁² = ε₂² = 0: first and second derivatives without truncation error.

use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HyperDual {
    pub(super) re: f64,
    pub(super) e1: f64,
    pub(super) e2: f64,
    pub(super) e12: f64,
}

impl HyperDual {
    pub(super) fn constant(re: f64) -> Self {
        Self {
            re,
            e1: 0.0,
            e2: 0.0,
            e12: 0.0,
        }
    }

    /// f(self) from f, f' and f'' at the real part.
    fn chain(self, f: f64, df: f64, ddf: f64) -> Self {
        Self {
            re: f,
            e1: df * self.e1,
            e2: df * self.e2,
            e12: df * self.e12 + ddf * self.e1 * self.e2,
        }
    }

    pub(super) fn sqrt(self) -> Self {
        let f = self.re.sqrt();
        self.chain(f, 0.5 / f, -0.25 / (f * self.re))
    }

    pub(super) fn sin(self) -> Self {
        let (sin, cos) = self.re.sin_cos();
        self.chain(sin, cos, -sin)
    }

    pub(super) fn cos(self) -> Self {
        let (sin, cos) = self.re.sin_cos();
        self.chain(cos, -sin, -cos)
    }

    fn recip(self) -> Self {
        let f = 1.0 / self.re;
        self.chain(f, -f * f, 2.0 * f * f * f)
    }

    /// The angle of (x, self) by its derivatives: those of atan(y/x), or of −atan(x/y) where x is small.
    pub(super) fn atan2(self, x: Self) -> Self {
        let angle = self.re.atan2(x.re);
        let ratio = if x.re.abs() > self.re.abs() {
            self / x
        } else {
            -(x / self)
        };
        let r = ratio.re;
        let df = 1.0 / (1.0 + r * r);
        ratio.chain(angle, df, -2.0 * r * df * df)
    }
}

impl Add for HyperDual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self {
            re: self.re + o.re,
            e1: self.e1 + o.e1,
            e2: self.e2 + o.e2,
            e12: self.e12 + o.e12,
        }
    }
}

impl Neg for HyperDual {
    type Output = Self;
    fn neg(self) -> Self {
        Self {
            re: -self.re,
            e1: -self.e1,
            e2: -self.e2,
            e12: -self.e12,
        }
    }
}

impl Sub for HyperDual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Mul for HyperDual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self {
            re: self.re * o.re,
            e1: self.re * o.e1 + self.e1 * o.re,
            e2: self.re * o.e2 + self.e2 * o.re,
            e12: self.re * o.e12 + self.e1 * o.e2 + self.e2 * o.e1 + self.e12 * o.re,
        }
    }
}

impl Mul<f64> for HyperDual {
    type Output = Self;
    fn mul(self, s: f64) -> Self {
        self * Self::constant(s)
    }
}

impl Div for HyperDual {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let inverse = o.recip();
        self.mul(inverse)
    }
}
