//! A shape given by samples of its signed distance on a grid.
//!
//! Between the samples φ is the natural cubic B-spline that takes their values, which is twice continuously differentiable: Newton's method on contact
//! forces needs a normal without kinks. Beyond the grid the distance to the grid is added.

use nalgebra::{Matrix3, Point3, Vector3};

use super::CustomShape;
use crate::signed_distance::SignedDistance;
use crate::{Aabb, GeometryError, Shape};

/// A shape sampled on a regular grid. φ and its derivatives are those of a spline of the samples, so that ∇φ has unit length only up to the error of
/// interpolation, of third order in the spacing for a smooth distance.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{SampledShape, Shape};
///
/// // A ball of 0.1 m, sampled every 1 cm.
/// let ball = Shape::sphere(0.1)?;
/// let sampled = SampledShape::of(&ball, 0.01, 0.03)?;
/// assert_eq!(sampled.size(), [27; 3]); // 26 intervals cover 0.2 m and a margin of 0.03 m on each side
/// let sampled = Shape::custom(sampled);
/// let (p, exact) = (Point3::new(0.0703, 0.0, 0.0704), 0.0703f64.hypot(0.0704) - 0.1);
/// assert!((sampled.signed_distance(&p).value - exact).abs() < 1e-5);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SampledShape {
    origin: Point3<f64>,
    spacing: f64,
    /// Samples along each axis.
    size: [usize; 3],
    /// Coefficients of the B-splines, with one more beyond each end of each axis; x fastest.
    coefficients: Vec<f64>,
}

impl SampledShape {
    /// Samples φ (m) from the lower corner of a box on, until the box is covered.
    ///
    /// # Errors
    /// [`GeometryError::Samples`] for a spacing that is not positive, for a box without a size, and for samples that are not finite.
    pub fn new(
        bounds: &Aabb,
        spacing: f64,
        distance: impl Fn(&Point3<f64>) -> f64,
    ) -> Result<Self, GeometryError> {
        let refuse = |what, value| Err(GeometryError::Samples { what, value });
        if !(spacing > 0.0 && spacing.is_finite()) {
            return refuse("a spacing (m) that must be positive", spacing);
        }
        let lengths = bounds.max - bounds.min;
        if !lengths.iter().all(|l| *l > 0.0 && l.is_finite()) {
            return refuse(
                "a box whose least side (m) must be positive and finite",
                lengths.min(),
            );
        }
        let size: [usize; 3] =
            std::array::from_fn(|axis| (lengths[axis] / spacing).ceil() as usize + 1);
        let mut values = Vec::with_capacity(size.iter().product());
        for k in 0..size[2] {
            for j in 0..size[1] {
                for i in 0..size[0] {
                    let steps = Vector3::new(i as f64, j as f64, k as f64);
                    values.push(distance(&(bounds.min + steps * spacing)));
                }
            }
        }
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            return refuse("a distance (m) that must be finite", *value);
        }
        let mut shape = size;
        for axis in 0..3 {
            values = with_coefficients_along(&values, shape, axis);
            shape[axis] += 2;
        }
        Ok(Self {
            origin: bounds.min,
            spacing,
            size,
            coefficients: values,
        })
    }

    /// Samples a bounded shape and `margin` (m) around it.
    ///
    /// # Errors
    /// As [`SampledShape::new`]; an unbounded shape has a box without a finite size.
    pub fn of(shape: &Shape, spacing: f64, margin: f64) -> Result<Self, GeometryError> {
        let bounds = shape
            .aabb(&nalgebra::Isometry3::identity())
            .inflated(margin);
        Self::new(&bounds, spacing, |p| shape.signed_distance(p).value)
    }

    /// The first sample, m.
    #[must_use]
    pub fn origin(&self) -> Point3<f64> {
        self.origin
    }

    /// Distance of the samples, m.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Samples along each axis.
    #[must_use]
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Coefficients c of φ = Σ c B of the cubic B-splines B around each sample, m: two more along each axis than samples, the first one spacing before the
    /// first sample; x fastest.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    fn end(&self) -> Point3<f64> {
        let cells = self.size.map(|n| (n - 1) as f64);
        self.origin + Vector3::from(cells) * self.spacing
    }

    /// φ and its derivatives within the grid.
    fn within(&self, p: &Point3<f64>) -> SignedDistance<f64> {
        let mut first = [0; 3];
        let mut weights = [[[0.0; 4]; 3]; 3];
        for axis in 0..3 {
            let u = (p[axis] - self.origin[axis]) / self.spacing;
            let cell = (u.floor().max(0.0) as usize).min(self.size[axis] - 2);
            first[axis] = cell;
            weights[axis] = spline(u - cell as f64);
        }
        let row = self.size[0] + 2;
        let layer = row * (self.size[1] + 2);
        let sum = |order: [usize; 3]| {
            let mut total = 0.0;
            for (k, z) in weights[2][order[2]].iter().enumerate() {
                for (j, y) in weights[1][order[1]].iter().enumerate() {
                    let start = first[0] + row * (first[1] + j) + layer * (first[2] + k);
                    let along = &self.coefficients[start..start + 4];
                    let x = along.iter().zip(&weights[0][order[0]]);
                    total += z * y * x.map(|(c, w)| c * w).sum::<f64>();
                }
            }
            let derivatives: usize = order.iter().sum();
            total / self.spacing.powi(derivatives as i32)
        };
        let unit = |axis: usize| std::array::from_fn::<usize, 3, _>(|k| usize::from(k == axis));
        SignedDistance {
            value: sum([0; 3]),
            gradient: Vector3::from_fn(|axis, _| sum(unit(axis))),
            hessian: Matrix3::from_fn(|i, j| {
                let (a, b) = (unit(i), unit(j));
                sum(std::array::from_fn(|k| a[k] + b[k]))
            }),
        }
    }
}

impl CustomShape for SampledShape {
    fn name(&self) -> &'static str {
        "sampled shape"
    }

    /// The box of the grid.
    fn local_aabb(&self) -> Aabb {
        Aabb::from_points([&self.origin, &self.end()])
    }

    fn signed_distance(&self, p_GQ: &Point3<f64>) -> SignedDistance<f64> {
        let end = self.end();
        let nearest = Point3::from(Vector3::from_fn(|axis, _| {
            p_GQ[axis].clamp(self.origin[axis], end[axis])
        }));
        let inside = self.within(&nearest);
        let beyond = p_GQ - nearest;
        if beyond == Vector3::zeros() {
            return inside;
        }
        let outside = SignedDistance::curved(beyond, None, 1.0, Vector3::z());
        SignedDistance {
            value: inside.value + outside.value,
            ..outside
        }
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

/// Weights of the four cubic B-splines at t in a cell, their first and their second derivatives.
fn spline(t: f64) -> [[f64; 4]; 3] {
    let s = 1.0 - t;
    [
        [
            s * s * s / 6.0,
            (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0,
            (3.0 * s * s * s - 6.0 * s * s + 4.0) / 6.0,
            t * t * t / 6.0,
        ],
        [
            -0.5 * s * s,
            1.5 * t * t - 2.0 * t,
            2.0 * s - 1.5 * s * s,
            0.5 * t * t,
        ],
        [s, 3.0 * t - 2.0, 3.0 * s - 2.0, t],
    ]
}

/// Coefficients of the natural splines along one axis of values of this shape, with one more at each end:
/// (c_{i−1} + 4 c_i + c_{i+1})/6 = f_i, and no curvature at the ends.
fn with_coefficients_along(values: &[f64], shape: [usize; 3], axis: usize) -> Vec<f64> {
    let n = shape[axis];
    let stride: usize = shape[..axis].iter().product();
    let longer = n + 2;
    let mut out = vec![0.0; values.len() / n * longer];
    let mut line = vec![0.0; n];
    let mut upper = vec![0.0; n];
    for outer in 0..values.len() / (n * stride) {
        for inner in 0..stride {
            let at = |i: usize| outer * n * stride + i * stride + inner;
            // Thomas's algorithm; the ends of a natural spline are f_0 and f_{n−1}.
            (line[0], upper[0]) = (values[at(0)], 0.0);
            for i in 1..n - 1 {
                let pivot = 4.0 - upper[i - 1];
                upper[i] = 1.0 / pivot;
                line[i] = (6.0 * values[at(i)] - line[i - 1]) / pivot;
            }
            line[n - 1] = values[at(n - 1)];
            for i in (1..n - 1).rev() {
                line[i] -= upper[i] * line[i + 1];
            }
            let to = |i: usize| outer * longer * stride + i * stride + inner;
            out[to(0)] = 2.0 * line[0] - line[1];
            for (i, c) in line.iter().enumerate() {
                out[to(i + 1)] = *c;
            }
            out[to(n + 1)] = 2.0 * line[n - 1] - line[n - 2];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Slide, SlidingFriction, relax_on_level_set};

    fn sphere(spacing: f64) -> SampledShape {
        SampledShape::of(&Shape::sphere(0.4).unwrap(), spacing, 0.3).unwrap()
    }

    /// Places near the surface of the sphere.
    fn places() -> impl Iterator<Item = Point3<f64>> {
        (0..200).map(|k| {
            let k = f64::from(k);
            let direction = Vector3::new((1.3 * k).sin(), (2.1 * k).cos(), (0.7 * k).sin());
            Point3::from(direction.normalize() * (0.4 + 0.05 * (3.3 * k).sin()))
        })
    }

    #[test]
    fn samples_are_taken_and_the_error_falls_with_the_fourth_power_of_the_spacing() {
        let shape = sphere(0.05);
        let corner = shape.origin + Vector3::new(0.05, 0.1, 0.15);
        let exact = corner.coords.norm() - 0.4;
        assert!((shape.signed_distance(&corner).value - exact).abs() < 1e-14);
        let worst = |spacing: f64| {
            let shape = sphere(spacing);
            let errors = places().map(|p| {
                let found = shape.signed_distance(&p);
                [
                    (found.value - p.coords.norm() + 0.4).abs(),
                    (found.gradient - p.coords.normalize()).norm(),
                ]
            });
            errors.fold([0.0_f64; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])])
        };
        let (coarse, fine) = (worst(0.04), worst(0.02));
        assert!(coarse[0] / fine[0] > 12.0, "{coarse:?} {fine:?}");
        assert!(coarse[1] / fine[1] > 6.0, "{coarse:?} {fine:?}");
    }

    #[test]
    fn derivatives_are_those_of_differences_and_continuous_across_cells() {
        let shape = sphere(0.05);
        let h = 1e-5;
        let on_faces =
            (0..40).map(|k| shape.origin + Vector3::new(0.1, 0.05 * f64::from(1 + k % 17), 0.33));
        for p in places().chain(on_faces) {
            let at = shape.signed_distance(&p);
            for axis in 0..3 {
                let moved = |s: f64| shape.signed_distance(&(p + Vector3::ith(axis, s * h)));
                let (up, down) = (moved(1.0), moved(-1.0));
                let slope = (up.value - down.value) / (2.0 * h);
                assert!((at.gradient[axis] - slope).abs() < 1e-7);
                // A jump of the second derivative would show; that of the third one is of the order of h.
                let bend = (up.gradient - down.gradient) / (2.0 * h);
                assert!((at.hessian.column(axis) - bend).norm() < 5e-3);
            }
        }
    }

    #[test]
    fn attachments_slide_on_it_with_the_right_derivative() {
        let shape = sphere(0.02);
        let distance = |p: &Point3<f64>| shape.signed_distance(p);
        let friction = SlidingFriction::coulomb(0.3);
        for p in places() {
            let up = p.coords.normalize();
            let particle = Point3::from(up * 0.39);
            let along = up.cross(&Vector3::new(0.3, -0.5, 0.8)).normalize();
            let old = Point3::from((up * 0.4 + along * 0.01).normalize() * 0.4);
            let relax =
                |z: &Point3<f64>| relax_on_level_set(distance, friction, Slide::Planar, &old, z);
            let by = relax(&particle).by_particle;
            for axis in 0..3 {
                let moved = |s: f64| relax(&(particle + Vector3::ith(axis, s * 1e-6))).attachment;
                let difference = (moved(1.0) - moved(-1.0)) / 2e-6;
                assert!((by.column(axis) - difference).norm() < 1e-5);
            }
        }
    }

    #[test]
    fn far_from_the_grid_the_distance_grows_and_bad_samples_are_refused() {
        let shape = sphere(0.05);
        let far = shape.signed_distance(&Point3::new(0.0, 0.0, 2.0));
        assert!((far.value - 1.6).abs() < 0.01, "{}", far.value);
        assert_eq!(far.gradient, Vector3::z());
        let bounds = Aabb::from_points([&Point3::origin(), &Point3::new(1.0, 1.0, 1.0)]);
        let message = |result: Result<SampledShape, GeometryError>| {
            result
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        assert!(message(SampledShape::new(&bounds, 0.0, |_| 0.0)).contains("spacing"));
        assert!(message(SampledShape::new(&bounds, 0.1, |_| f64::NAN)).contains("finite"));
        assert!(message(SampledShape::of(&Shape::half_space(), 0.1, 0.1)).contains("box"));
    }
}
