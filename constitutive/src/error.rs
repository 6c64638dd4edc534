//! Material parameters out of range.

/// A material parameter is out of its range.
///
/// ```
/// use pliant_constitutive::Lame;
///
/// let error = Lame::from_young_poisson(1e6, 0.5).unwrap_err();
/// assert_eq!((error.parameter, error.value), ("poissons_ratio", 0.5));
/// assert!(error.to_string().starts_with("poissons_ratio = 0.5 "));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{parameter} = {value} {allowed}")]
pub struct ParameterError {
    /// Name of the parameter, for example `youngs_modulus` or `poissons_ratio`.
    pub parameter: &'static str,
    /// The value given.
    pub value: f64,
    /// The values allowed, with the unit.
    pub allowed: &'static str,
}

impl ParameterError {
    /// `value`, if it is a positive and finite modulus.
    pub(crate) fn require_positive(parameter: &'static str, value: f64) -> Result<f64, Self> {
        let fits = value > 0.0 && value.is_finite();
        Self::require(fits, parameter, value, "Pa must be positive and finite")
    }

    /// `value`, if it `fits`.
    pub(crate) fn require(
        fits: bool,
        parameter: &'static str,
        value: f64,
        allowed: &'static str,
    ) -> Result<f64, Self> {
        match fits {
            true => Ok(value),
            false => Err(Self {
                parameter,
                value,
                allowed,
            }),
        }
    }
}
