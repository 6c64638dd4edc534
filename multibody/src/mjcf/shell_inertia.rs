//! Inertia of the surfaces of shapes: `shellinertia` of geoms.

use core::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};
use pliant_hydroelastic::AnalyticShape;

use crate::inertia::SpatialInertia;

/// Area of a surface (m²) and the integrals of x², y², z² over it (m⁴), about its centre.
struct Moments {
    area: f64,
    squares: Vector3<f64>,
}

/// The inertia of the surface of a shape at 1 kg/m²; `None` for shapes without a finite one in MuJoCo.
pub(super) fn of_shape(shape: &AnalyticShape) -> Option<SpatialInertia> {
    let moments = match *shape {
        AnalyticShape::Sphere { radius } => ellipsoid(Vector3::repeat(radius)),
        AnalyticShape::Ellipsoid { semi_axes } => ellipsoid(semi_axes),
        AnalyticShape::Box { size } => cuboid(size),
        AnalyticShape::Cylinder { radius, length } => {
            let disc = PI * radius * radius;
            let end = Moments {
                area: disc,
                squares: Vector3::new(radius * radius / 4.0, radius * radius / 4.0, 0.0) * disc,
            };
            side(radius, length).with_ends(&end, length / 2.0)
        }
        AnalyticShape::Capsule { radius, length } => {
            // About the centre of its sphere, a hemisphere has half the squares of the sphere and its centre at radius/2.
            let area = 2.0 * PI * radius * radius;
            let reach = length / 2.0;
            let square = area * radius * radius / 3.0;
            let along = square + 2.0 * reach * area * radius / 2.0 + area * reach * reach;
            let side = side(radius, length);
            Moments {
                area: side.area + 2.0 * area,
                squares: side.squares + 2.0 * Vector3::new(square, square, along),
            }
        }
        AnalyticShape::HalfSpace {} | AnalyticShape::Cone { .. } => return None,
    };
    let rotational =
        Matrix3::identity() * moments.squares.sum() - Matrix3::from_diagonal(&moments.squares);
    Some(SpatialInertia::new(
        moments.area,
        Vector3::zeros(),
        rotational,
    ))
}

impl Moments {
    /// With two equal ends across z, at ±`reach`.
    fn with_ends(self, end: &Self, reach: f64) -> Self {
        let away = Vector3::new(0.0, 0.0, end.area * reach * reach);
        Self {
            area: self.area + 2.0 * end.area,
            squares: self.squares + 2.0 * (end.squares + away),
        }
    }
}

/// The side of a cylinder along z.
fn side(radius: f64, length: f64) -> Moments {
    let area = 2.0 * PI * radius * length;
    let across = radius * radius / 2.0;
    Moments {
        area,
        squares: Vector3::new(across, across, length * length / 12.0) * area,
    }
}

fn cuboid(size: Vector3<f64>) -> Moments {
    let (mut area, mut squares) = (0.0, Vector3::zeros());
    for normal in 0..3 {
        let pair = 2.0 * size.product() / size[normal];
        area += pair;
        for k in 0..3 {
            let share = if k == normal { 4.0 } else { 12.0 };
            squares[k] += pair * size[k] * size[k] / share;
        }
    }
    Moments { area, squares }
}

/// By Simpson's rule over the polar angle and the trapezoidal rule over the azimuth, which both converge fast here.
fn ellipsoid(radii: Vector3<f64>) -> Moments {
    const POLAR: usize = 256;
    const AZIMUTH: usize = 128;
    let (mut area, mut squares) = (0.0, Vector3::zeros());
    for i in 0..=POLAR {
        let (sin, cos) = (PI * i as f64 / POLAR as f64).sin_cos();
        let simpson = match i {
            0 | POLAR => 1.0,
            _ => [2.0, 4.0][i % 2],
        };
        let weight = simpson / 3.0 * PI / POLAR as f64 * 2.0 * PI / AZIMUTH as f64;
        for j in 0..AZIMUTH {
            let (y, x) = (2.0 * PI * j as f64 / AZIMUTH as f64).sin_cos();
            let unit = Vector3::new(sin * x, sin * y, cos);
            // The area element of the unit sphere grows by abc |unit/radii|.
            let stretch = radii.product() * unit.component_div(&radii).norm();
            let point = unit.component_mul(&radii);
            let element = weight * sin * stretch;
            area += element;
            squares += point.component_mul(&point) * element;
        }
    }
    Moments { area, squares }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of MuJoCo 4.0.0 for a density of 7 kg/m²: mass, and the moments about x, y, z.
    #[test]
    fn shells_have_the_inertia_of_mujoco() {
        let length = 0.8;
        for (shape, expected) in [
            (
                AnalyticShape::Sphere { radius: 0.3 },
                [
                    7.916813487046279,
                    0.4750088092227767,
                    0.4750088092227767,
                    0.4750088092227767,
                ],
            ),
            (
                AnalyticShape::Capsule {
                    radius: 0.2,
                    length,
                },
                [
                    10.555751316061706,
                    1.4543479591018351,
                    1.4543479591018351,
                    0.3753156023488607,
                ],
            ),
            (
                AnalyticShape::Cylinder {
                    radius: 0.2,
                    length,
                },
                [
                    8.79645943005142,
                    0.8151385738514318,
                    0.8151385738514318,
                    0.3166725394818512,
                ],
            ),
            (
                AnalyticShape::Box {
                    size: Vector3::new(0.2, 0.4, 0.6),
                },
                [
                    6.16,
                    0.3789333333333334,
                    0.2949333333333334,
                    0.1698666666666667,
                ],
            ),
        ] {
            let found = of_shape(&shape).expect("it has a surface");
            let moments = found.rotational.diagonal() * 7.0;
            for (found, expected) in [found.mass * 7.0, moments.x, moments.y, moments.z]
                .into_iter()
                .zip(expected)
            {
                assert!(
                    (found / expected - 1.0).abs() < 1e-8,
                    "{shape:?}: {found} {expected}"
                );
            }
        }
    }

    /// An ellipsoid of revolution with semi-axes a, a, c > a: area 2π a² (1 + c/(a e) asin e), e² = 1 − a²/c². MuJoCo has an approximation.
    #[test]
    fn the_shell_of_an_ellipsoid_has_its_area() {
        let (a, c): (f64, f64) = (0.2, 0.5);
        let e = (1.0 - a * a / (c * c)).sqrt();
        let area = 2.0 * PI * a * a * (1.0 + c / (a * e) * e.asin());
        let shape = AnalyticShape::Ellipsoid {
            semi_axes: Vector3::new(a, a, c),
        };
        let found = of_shape(&shape).expect("it has a surface");
        assert!((found.mass / area - 1.0).abs() < 1e-8);
    }
}
