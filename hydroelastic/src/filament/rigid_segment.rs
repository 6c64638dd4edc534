//! A segment as a rigid shape during one step.

use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, UnitQuaternion, Vector2, Vector3};

use super::Filament;
use super::section::{Outline, Tips, across};
use crate::twist::Twist;
use crate::{GeometryError, Shape};

/// The kind of solid of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Solid {
    Capsule,
    /// With a rim at either end: a round segment with a flat tip, or an elliptic one.
    Cylinder,
    Box,
}

/// A segment as a rigid shape during one step.
pub(crate) struct RigidSegment {
    pub(crate) shape: Result<Shape, GeometryError>,
    pub(crate) solid: Solid,
    pub(crate) X_WS: Isometry3<f64>,
    pub(crate) V_WS: Twist,
    pub(crate) length: f64,
}

impl Filament {
    /// The solid that represents a segment in contact.
    pub(crate) fn solid(&self, i: usize) -> Solid {
        match self.sections.get(i).map(|section| section.outline) {
            Some(Outline::Rectangle) => Solid::Box,
            Some(Outline::Ellipse) => Solid::Cylinder,
            None if self.tips == Tips::Flat && self.neighbours(i).contains(&None) => {
                Solid::Cylinder
            }
            None => Solid::Capsule,
        }
    }

    /// A segment with its pose (z along it, x along m_1), its twist and its length.
    pub(crate) fn rigid_segment(&self, i: usize) -> RigidSegment {
        let [a, b] = self.ends(i);
        let [v_a, v_b] = self.end_velocities(i);
        let length = (b - a).norm();
        let t = (b - a).try_normalize(1e-300).unwrap_or_else(Vector3::z);
        let solid = self.solid(i);
        let (rotation, shape) = match self.sections.get(i) {
            Some(section) => {
                let m_1 = (section.m_1 - t * t.dot(&section.m_1))
                    .try_normalize(1e-12)
                    .unwrap_or_else(|| across(&t));
                let axes = Matrix3::from_columns(&[m_1, t.cross(&m_1), t]);
                let rotation = Rotation3::from_matrix_unchecked(axes);
                let halves = Vector2::new(section.half_1, section.half_2);
                let shape = match section.outline {
                    Outline::Rectangle => Shape::cuboid((2.0 * halves).push(length)),
                    Outline::Ellipse => Shape::elliptic_cylinder(halves, length),
                };
                (UnitQuaternion::from_rotation_matrix(&rotation), shape)
            }
            None => {
                let rotation =
                    UnitQuaternion::rotation_between(&Vector3::z(), &t).unwrap_or_else(|| {
                        UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
                    });
                let shape = match solid {
                    Solid::Cylinder => Shape::cylinder(self.radii[i], length),
                    Solid::Capsule | Solid::Box => Shape::capsule(self.radii[i], length),
                };
                (rotation, shape)
            }
        };
        let midpoint = nalgebra::center(&a, &b);
        RigidSegment {
            shape,
            solid,
            X_WS: Isometry3::from_parts(Translation3::from(midpoint.coords), rotation),
            V_WS: Twist {
                angular: t.cross(&(v_b - v_a)) / length.max(f64::MIN_POSITIVE),
                linear: 0.5 * (v_a + v_b),
            },
            length,
        }
    }
}
