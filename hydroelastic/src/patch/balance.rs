//! Weight and stiffness of a polygon from the pressure gradients on both sides of it.

use nalgebra::Vector3;

/// Cosines between which a polygon fades: 5π/8 (full weight) and 3π/4 (zero weight).
const FULL_COSINE: f64 = -0.382_683_432_365_089_8;
const NO_COSINE: f64 = -0.707_106_781_186_547_5;
/// ‖∇p_A − ∇p_B‖ over ‖∇p_A‖ + ‖∇p_B‖ between which an equal-pressure polygon fades.
const FULL_CONTRAST: f64 = 0.3;
const NO_CONTRAST: f64 = 0.1;
/// The least fraction of a gradient's magnitude that counts along the normal.
const SLOPE_FRACTION_MIN: f64 = 0.5;

/// Weight, normal and stiffness of a polygon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Balance {
    /// Unit normal from the second side into the first.
    pub(crate) normal: Vector3<f64>,
    /// Fraction of its area that counts, in (0, 1].
    pub(crate) weight: f64,
    /// g, Pa/m: derivative of the pressure on the polygon with respect to the approach of the sides.
    pub(crate) slope: f64,
    /// Fraction of an approach that the first side takes up: 1 against a rigid one.
    pub(crate) fraction_first: f64,
}

impl Balance {
    /// Against a rigid surface of outward unit normal `normal`.
    pub(crate) fn on_rigid(gradient: &Vector3<f64>, normal: &Vector3<f64>) -> Option<Self> {
        let (weight, slope) = along(gradient, normal)?;
        Some(Self {
            normal: *normal,
            weight,
            slope,
            fraction_first: 1.0,
        })
    }

    /// For two fields at equal pressures.
    pub(crate) fn of_fields(first: &Vector3<f64>, second: &Vector3<f64>) -> Option<Self> {
        let (normal, difference) = unit(&(first - second))?;
        let contrast = difference / (first.norm() + second.norm());
        let weight = fade(contrast, NO_CONTRAST, FULL_CONTRAST);
        let (weight_1, slope_1) = along(first, &normal)?;
        let (weight_2, slope_2) = along(second, &-normal)?;
        let weight = weight * weight_1 * weight_2;
        (weight > 0.0).then(|| Self {
            normal,
            weight,
            slope: slope_1 * slope_2 / (slope_1 + slope_2),
            fraction_first: slope_2 / (slope_1 + slope_2),
        })
    }
}

/// Weight and slope of one side; `None` where the weight is zero.
fn along(gradient: &Vector3<f64>, normal: &Vector3<f64>) -> Option<(f64, f64)> {
    let length = gradient.norm();
    let slope = gradient.dot(normal);
    let weight = fade(slope / length, NO_COSINE, FULL_COSINE);
    (weight > 0.0).then(|| (weight, slope.max(SLOPE_FRACTION_MIN * length)))
}

/// 0 up to `none`, 1 from `full` on, linear in between; 0 for NaN.
fn fade(x: f64, none: f64, full: f64) -> f64 {
    ((x - none) / (full - none)).clamp(0.0, 1.0).max(0.0)
}

/// The direction of a vector and its length; `None` for the zero vector.
pub(super) fn unit(v: &Vector3<f64>) -> Option<(Vector3<f64>, f64)> {
    let length = v.norm();
    (length > 0.0).then(|| (v / length, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_opposite_gradients_share_the_approach() {
        let b = Balance::of_fields(&Vector3::new(0.0, 0.0, 4.0), &Vector3::new(0.0, 0.0, -4.0))
            .unwrap();
        assert_eq!(
            (b.normal, b.weight, b.slope, b.fraction_first),
            (Vector3::z(), 1.0, 2.0, 0.5)
        );
    }

    #[test]
    fn a_much_stiffer_partner_acts_as_rigid() {
        let soft = Vector3::new(0.3, 0.0, 4.0);
        let stiff = Balance::of_fields(&soft, &Vector3::new(0.0, 0.0, -4.0e9)).unwrap();
        let rigid = Balance::on_rigid(&soft, &Vector3::z()).unwrap();
        assert!((stiff.slope - rigid.slope).abs() < 1e-6);
        assert!((stiff.normal - rigid.normal).norm() < 1e-8);
        assert!((stiff.fraction_first - 1.0).abs() < 1e-8);
    }

    #[test]
    fn parallel_and_zero_gradients_have_no_weight() {
        let g = Vector3::new(1.0, 2.0, 3.0);
        assert_eq!(Balance::of_fields(&g, &g), None);
        assert_eq!(Balance::of_fields(&g, &(3.0 * g)), None);
        assert_eq!(Balance::of_fields(&g, &Vector3::zeros()), None);
        assert_eq!(Balance::on_rigid(&Vector3::zeros(), &Vector3::z()), None);
        assert_eq!(Balance::on_rigid(&-Vector3::z(), &Vector3::z()), None);
    }

    #[test]
    fn weight_is_continuous_in_the_angle() {
        let mut last = 1.0;
        for i in 0..=1800 {
            let angle = std::f64::consts::PI * f64::from(i) / 1800.0;
            let g = Vector3::new(angle.sin(), 0.0, angle.cos());
            let weight = Balance::on_rigid(&g, &Vector3::z()).map_or(0.0, |b| b.weight);
            assert!(weight <= last && last - weight < 0.01, "{angle}");
            last = weight;
        }
        assert_eq!(last, 0.0);
    }
}
