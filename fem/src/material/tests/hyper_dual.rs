//! Numbers x + aε₁ + bε₂ + cε₁ε₂ with ε₁² = ε₂² = 0: exact second derivatives, for tests.

use std::ops::{Add, Div, Mul, Sub};

use nalgebra::{Matrix3, SMatrix};

/// x + aε₁ + bε₂ + cε₁ε₂.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyperDual {
    x: f64,
    a: f64,
    b: f64,
    c: f64,
}

impl HyperDual {
    /// f(self), given f, f′, f″ at x.
    fn compose(self, f: f64, df: f64, ddf: f64) -> Self {
        Self {
            x: f,
            a: df * self.a,
            b: df * self.b,
            c: df * self.c + ddf * self.a * self.b,
        }
    }

    pub(super) fn ln(self) -> Self {
        self.compose(self.x.ln(), 1.0 / self.x, -1.0 / (self.x * self.x))
    }

    fn inverse(self) -> Self {
        let r = 1.0 / self.x;
        self.compose(r, -r * r, 2.0 * r * r * r)
    }
}

impl From<f64> for HyperDual {
    fn from(x: f64) -> Self {
        Self {
            x,
            a: 0.0,
            b: 0.0,
            c: 0.0,
        }
    }
}

impl Add for HyperDual {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self {
            x: self.x + o.x,
            a: self.a + o.a,
            b: self.b + o.b,
            c: self.c + o.c,
        }
    }
}

impl Sub for HyperDual {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + o * (-1.0).into()
    }
}

impl Mul for HyperDual {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self {
            x: self.x * o.x,
            a: self.a * o.x + self.x * o.a,
            b: self.b * o.x + self.x * o.b,
            c: self.c * o.x + self.a * o.b + self.b * o.a + self.x * o.c,
        }
    }
}

#[allow(
    clippy::suspicious_arithmetic_impl,
    reason = "a quotient is a product with the inverse"
)]
impl Div for HyperDual {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        self * o.inverse()
    }
}

/// A deformation gradient of hyper-dual numbers, row by row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gradient([[HyperDual; 3]; 3]);

impl Gradient {
    pub(super) fn determinant(&self) -> HyperDual {
        let m = &self.0;
        let minor = |i: usize, j: usize| m[1][i] * m[2][j] - m[1][j] * m[2][i];
        m[0][0] * minor(1, 2) - m[0][1] * minor(0, 2) + m[0][2] * minor(0, 1)
    }

    /// FᵀF.
    fn right_cauchy_green(&self) -> [[HyperDual; 3]; 3] {
        let entry = |i: usize, j: usize| {
            (0..3).fold(HyperDual::from(0.0), |sum, k| {
                sum + self.0[k][i] * self.0[k][j]
            })
        };
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
    }

    /// ½(FᵀF − I).
    pub(super) fn green(&self) -> [[HyperDual; 3]; 3] {
        let mut green = self.right_cauchy_green();
        for (i, row) in green.iter_mut().enumerate() {
            row[i] = row[i] - 1.0.into();
            row.iter_mut()
                .for_each(|entry| *entry = *entry * 0.5.into());
        }
        green
    }

    /// tr FᵀF.
    pub(super) fn first_invariant(&self) -> HyperDual {
        let C = self.right_cauchy_green();
        C[0][0] + C[1][1] + C[2][2]
    }

    /// ½(tr²C − tr C²), C = FᵀF.
    pub(super) fn second_invariant(&self) -> HyperDual {
        let C = self.right_cauchy_green();
        let trace = C[0][0] + C[1][1] + C[2][2];
        let mut square = HyperDual::from(0.0);
        for row in &C {
            for entry in row {
                square = square + *entry * *entry;
            }
        }
        (trace * trace - square) * 0.5.into()
    }

    /// sym(RᵀF) − T of constant R and T.
    pub(super) fn strain(&self, R: &Matrix3<f64>, T: &Matrix3<f64>) -> [[HyperDual; 3]; 3] {
        let rotated = |i: usize, j: usize| {
            (0..3).fold(HyperDual::from(0.0), |sum, k| {
                sum + self.0[k][j] * R[(k, i)].into()
            })
        };
        let entry =
            |i: usize, j: usize| (rotated(i, j) + rotated(j, i)) * 0.5.into() - T[(i, j)].into();
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))
    }

    /// tr S = σ₁ + σ₂ + σ₃ of F = RS, the last negative where F is inverted.
    ///
    /// With i = tr S: I_C = i² − 2(σ₁σ₂ + σ₂σ₃ + σ₃σ₁) and II_C = (σ₁σ₂ + σ₂σ₃ + σ₃σ₁)² − 2iJ, so (i² − I_C)² − 8Ji − 4II_C = 0.
    /// Its roots are the sums with an even number of signs changed, of which i is the largest; Newton's iteration from above comes
    /// down to it, for all roots are real.
    pub(super) fn stretch_trace(&self) -> HyperDual {
        let (first, second) = (self.first_invariant(), self.second_invariant());
        let volume = self.determinant();
        let mut trace = HyperDual::from((3.0 * first.x).sqrt() + 1e-3);
        // Derivatives converge a round or two after the values: sixty rounds are plenty from any start that is tested.
        for _ in 0..60 {
            let gap = trace * trace - first;
            let value = gap * gap - volume * trace * 8.0.into() - second * 4.0.into();
            let slope = trace * gap * 4.0.into() - volume * 8.0.into();
            trace = trace - value / slope;
        }
        trace
    }
}

/// A function of F with its first and second derivative, the latter over the columns of F stacked.
pub(super) struct Derivatives {
    pub(super) value: f64,
    pub(super) gradient: Matrix3<f64>,
    pub(super) hessian: SMatrix<f64, 9, 9>,
}

pub(super) fn derivatives(F: &Matrix3<f64>, f: fn(&Gradient) -> HyperDual) -> Derivatives {
    let mut found = Derivatives {
        value: 0.0,
        gradient: Matrix3::zeros(),
        hessian: SMatrix::zeros(),
    };
    for k in 0..9 {
        for l in 0..9 {
            let entry = |i: usize, j: usize| {
                let at = 3 * j + i;
                HyperDual {
                    x: F[(i, j)],
                    a: f64::from(u8::from(at == k)),
                    b: f64::from(u8::from(at == l)),
                    c: 0.0,
                }
            };
            let y = f(&Gradient([0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j)))));
            found.value = y.x;
            found.gradient[k] = y.a;
            found.hessian[(k, l)] = y.c;
        }
    }
    found
}
