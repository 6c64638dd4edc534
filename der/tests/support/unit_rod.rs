//! Rods in units of their own: length 1, bending stiffness about 1, mass 1.
#![allow(dead_code, reason = "every test file takes what it needs")]

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{Control, Load, MaterialPoint};
use pliant_der::{Centreline, Rod, RodBuilder, RodProperties};

/// EI₁ = EI₂ = 1, GJ = `twist`, hardly extensible, ρA = 1.
pub(crate) fn isotropic(twist: f64) -> RodProperties {
    RodProperties {
        stretch: 1e6,
        bend_1: 1.0,
        bend_2: 1.0,
        twist,
        mass: 1.0,
        spin_inertia: 1e-4,
    }
}

/// From the origin one unit along +x.
pub(crate) fn level(edges: usize) -> Centreline {
    Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), edges)
}

pub(crate) fn level_rod(edges: usize, properties: RodProperties) -> RodBuilder {
    // Bending 1 takes place in the x-z plane, bending 2 in the x-y plane.
    RodBuilder::new(level(edges))
        .properties(properties)
        .director(Vector3::z())
}

/// A dead force on a node.
pub(crate) fn pull(node: usize, force: Vector3<f64>) -> Load {
    Load {
        point: MaterialPoint::on_vertex(node as u32),
        force_W: force,
        torque_W: Vector3::zeros(),
    }
}

/// Holds single unknowns where they are.
pub(crate) fn hold(rod: &Rod, control: &mut Control, dofs: impl IntoIterator<Item = usize>) {
    control.held.resize(rod.n_dofs(), None);
    for dof in dofs {
        control.held[dof] = Some(0.0);
    }
}

/// The value at which `is_stable` turns false, between 0 and `high`, by bisection to 1e-9.
pub(crate) fn critical(high: f64, mut is_stable: impl FnMut(f64) -> bool) -> f64 {
    assert!(!is_stable(high), "unstable at the upper end");
    let (mut low, mut high) = (0.0, high);
    while high - low > 1e-9 * high {
        let middle = 0.5 * (low + high);
        if is_stable(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// |`found` − `expected`| ≤ `tolerance`, with both numbers in the message.
#[track_caller]
pub(crate) fn close(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = (found - expected).abs();
    assert!(
        error <= tolerance,
        "{what}: {found} instead of {expected}, off by {error:e}, allowed {tolerance:e}"
    );
}
