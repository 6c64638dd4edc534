//! Range checks of parameters.

use crate::error::SolveError;

/// A parameter out of its range; becomes a [`SolveError::Parameter`] with the name of its constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fault {
    pub(crate) parameter: &'static str,
    pub(crate) value: f64,
    pub(crate) allowed: &'static str,
}

impl Fault {
    pub(crate) fn of(self, constraint: String) -> SolveError {
        SolveError::Parameter {
            constraint,
            parameter: self.parameter,
            value: self.value,
            allowed: self.allowed,
        }
    }
}

fn require(
    ok: bool,
    parameter: &'static str,
    value: f64,
    allowed: &'static str,
) -> Result<(), Fault> {
    if ok {
        return Ok(());
    }
    Err(Fault {
        parameter,
        value,
        allowed,
    })
}

pub(crate) fn finite(parameter: &'static str, x: f64) -> Result<(), Fault> {
    require(x.is_finite(), parameter, x, "must be finite")
}

pub(crate) fn at_least_zero(parameter: &'static str, x: f64) -> Result<(), Fault> {
    let ok = x >= 0.0 && x.is_finite();
    require(ok, parameter, x, "must be finite and not negative")
}

pub(crate) fn at_least_zero_or_infinite(parameter: &'static str, x: f64) -> Result<(), Fault> {
    require(
        x >= 0.0,
        parameter,
        x,
        "must not be negative; infinity is allowed",
    )
}

pub(crate) fn positive(parameter: &'static str, x: f64) -> Result<(), Fault> {
    let ok = x > 0.0 && x.is_finite();
    require(ok, parameter, x, "must be positive and finite")
}

/// Lower bound ≤ upper bound, neither NaN.
pub(crate) fn ordered(parameter: &'static str, lower: f64, upper: f64) -> Result<(), Fault> {
    let value = if upper.is_nan() { upper } else { lower };
    require(
        lower <= upper,
        parameter,
        value,
        "must not exceed the upper bound",
    )
}

/// The length of a unit vector.
pub(crate) fn unit(parameter: &'static str, length: f64) -> Result<(), Fault> {
    // A deviation above the round-off of f32 means that the vector was not normalised.
    let ok = (length - 1.0).abs() <= 1e-6;
    require(
        ok,
        parameter,
        length,
        "must be 1: the contact normal is a unit vector",
    )
}
