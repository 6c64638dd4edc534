//! Patches of a compliant body on a half space: its tetrahedra are cut by the plane, or where the pressures are equal.

use nalgebra::{Isometry3, Vector3};

use super::balance::Balance;
use super::flood::Flood;
use super::pieces::Pieces;
use super::slice::{Scale, Slice};
use crate::field::Affine;
use crate::field::PressureField;
use crate::patch_geometry::Slab;

/// Height above the half space at `X`.
fn height(X: &Isometry3<f64>) -> Affine {
    let normal = X.rotation * Vector3::z();
    Affine {
        gradient: normal,
        offset: -normal.dot(&X.translation.vector),
    }
}

/// Finds the polygons on a rigid half space, in the frame of `field`, in which it lies at `X`.
pub(crate) fn find_on_plane(
    field: &PressureField,
    X: &Isometry3<f64>,
    flood: &mut Flood,
    found: &mut Pieces,
) {
    found.set_scale(Scale::of_heights(field, f64::INFINITY));
    let plane = height(X);
    field.tet_tree().visit(
        &mut flood.stack,
        |r| {
            let (low, high) = r.heights(&plane.gradient);
            low + plane.offset <= 0.0 && high + plane.offset >= 0.0
        },
        |i| {
            let corners = field.corner_points(i);
            let h = corners.map(|x| plane.at(&x));
            cut(
                field,
                i,
                &corners,
                &h,
                &Partner::Rigid(&plane.gradient),
                found,
            );
        },
    );
}

/// Finds the polygons of equal pressure with a compliant half space, in the frame of `field`, in which it lies at `X`.
pub(crate) fn find_on_slab(
    field: &PressureField,
    slab: &Slab,
    X: &Isometry3<f64>,
    flood: &mut Flood,
    found: &mut Pieces,
) {
    found.set_scale(Scale::of_slab(field, slab));
    let above = height(X);
    let stiffness = slab.stiffness();
    let pressure = Affine {
        gradient: above.gradient * -stiffness,
        offset: -stiffness * above.offset,
    };
    field.tet_tree().visit(
        &mut flood.stack,
        |r| {
            let (low, high) = r.heights(&above.gradient);
            let (p_low, p_high) = (
                -stiffness * (high + above.offset),
                -stiffness * (low + above.offset),
            );
            p_low <= r.p_max && r.p_min <= p_high
        },
        |i| {
            let corners = field.corner_points(i);
            let pressures = field.corner_pressures(i);
            let mut h = [0.0; 4];
            for k in 0..4 {
                h[k] = pressures[k] - pressure.at(&corners[k]);
            }
            cut(
                field,
                i,
                &corners,
                &h,
                &Partner::Compliant(&pressure),
                found,
            );
        },
    );
}

/// The partner that cuts a tetrahedron.
enum Partner<'a> {
    /// A rigid half space with this normal.
    Rigid(&'a Vector3<f64>),
    /// A compliant one with this pressure.
    Compliant(&'a Affine),
}

fn cut(
    field: &PressureField,
    i: u32,
    corners: &[Vector3<f64>; 4],
    h: &[f64; 4],
    partner: &Partner<'_>,
    found: &mut Pieces,
) {
    let tet = field.functions_of(i);
    if tet.is_flat() {
        return;
    }
    let Some(Slice {
        mut polygon,
        counts,
    }) = Slice::of(corners, h, field.across(i), found.scale().zero)
    else {
        return;
    };
    if !counts {
        return;
    }
    let own = &tet.pressure;
    let (balance, pressure) = match partner {
        Partner::Rigid(normal) => (Balance::on_rigid(&own.gradient, normal), own),
        // The pressure is taken from the softer field: near the surface of a stiff one it is a small difference of
        // large numbers.
        Partner::Compliant(other) => {
            let softer = own.gradient.norm_squared() < other.gradient.norm_squared();
            (
                Balance::of_fields(&own.gradient, &other.gradient),
                if softer { own } else { *other },
            )
        }
    };
    let Some(balance) = balance else {
        return;
    };
    found.push(
        &mut polygon,
        (i, 0),
        (field.piece(i), 0),
        &balance,
        pressure,
    );
}
