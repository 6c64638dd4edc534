//! Patches of a rigid surface on a compliant half space: the triangles below its surface.

use nalgebra::{Isometry3, Vector3};

use super::balance::Balance;
use super::flood::Flood;
use super::pieces::Pieces;
use super::polygon::Polygon;
use super::slice::Scale;
use crate::field::Affine;
use crate::patch_geometry::RigidSurface;
use crate::patch_geometry::Slab;

/// Finds the polygons in the frame of `surface`, in which the half space lies at `X`.
pub(crate) fn find(
    slab: &Slab,
    surface: &RigidSurface,
    X: &Isometry3<f64>,
    flood: &mut Flood,
    found: &mut Pieces,
) {
    found.set_scale(Scale {
        length: slab.thickness().min(surface.extent()),
        ..Scale::default()
    });
    let up = X.rotation * Vector3::z();
    let offset = -up.dot(&X.translation.vector);
    let level = slab.margin();
    let inside = Affine {
        gradient: -up / slab.thickness(),
        offset: (level - offset) / slab.thickness(),
    };
    let pressure = Affine {
        gradient: up * -slab.stiffness(),
        offset: -slab.stiffness() * offset,
    };
    surface.tree().visit(
        &mut flood.stack,
        |r| r.heights(&up).0 + offset <= level,
        |t| {
            let mut polygon = Polygon::triangle(&surface.corners(t));
            if !polygon.clip(&inside, 1) {
                return;
            }
            if let Some(balance) = Balance::on_rigid(&pressure.gradient, surface.normal(t)) {
                found.push(
                    &mut polygon,
                    (0, t),
                    (0, surface.plane(t)),
                    &balance,
                    &pressure,
                );
            }
        },
    );
}
