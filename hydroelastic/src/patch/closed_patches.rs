//! Closed patches without a rim, where a part of one body is enclosed by the other.
//!
//! The rim of a patch lies on a skin, and patches are normally found from it. A closed patch inside a body has no rim.
//! It is found from what it encloses: a local maximum of a field, a valley crossed by a ridge of the other field, or a
//! component of a rigid surface that no skin intersects.

use nalgebra::Vector3;

use crate::field::{OUTSIDE, Peak, PressureField, Tetrahedron};
use crate::patch_geometry::RigidSurface;
use crate::pressure_bvh::{PressureBox, Relative};

/// Reused storage of a tree traversal.
type Stack = Vec<(u32, u32)>;

/// Adds the pairs of tetrahedra, (host, other), crossed by the surfaces of equal pressure around the peaks of `host`.
///
/// Around a peak inside `other` the host's pressure is higher, out to the first surface of equal pressure. The
/// intersection of that surface with a ray from the peak is a seed; if the ray leaves `other` first, the patch has a
/// rim.
pub(super) fn around_peaks(
    host: &PressureField,
    other: &PressureField,
    X: &Relative,
    stack: &mut Stack,
    mut seed: impl FnMut(u32, u32),
) {
    let root = other.tet_tree().root();
    for peak in host.peaks() {
        if contains(&root, &X.point(&host.vertices()[peak.vertex as usize]))
            && let Some((i, j)) = first_balance(host, other, X, peak, stack)
        {
            seed(i, j);
        }
    }
}

/// Adds the pairs of tetrahedra of which one is next to a valley of its field's pressure.
///
/// At an interior minimum of p_A − p_B, p_A is locally convex and p_B concave, or one of them is linear and the minimum
/// is at a vertex. A ridge of B above a valley of A gives a closed surface around it that contains no peak of either.
/// Valleys are few and deep inside: a shallow contact does not reach their pressures.
pub(super) fn through_valleys(
    first: &PressureField,
    second: &PressureField,
    X: &Relative,
    stack: &mut Stack,
    mut seed: impl FnMut(u32, u32),
) {
    let dips = first.valley_tree();
    dips.visit_pairs(X, second.tet_tree(), stack, &mut seed);
    let dips = second.valley_tree();
    first.tet_tree().visit_pairs(X, dips, stack, &mut seed);
}

/// A ray in both fields, from `origin` along `direction`, each in its own frame.
struct Ray<'a> {
    field: &'a PressureField,
    origin: Vector3<f64>,
    direction: Vector3<f64>,
    tet: u32,
}

impl Ray<'_> {
    fn functions(&self) -> &Tetrahedron {
        self.field.functions_of(self.tet)
    }

    fn pressure(&self, s: f64) -> f64 {
        let p = &self.functions().pressure;
        p.at(&self.origin) + s * p.gradient.dot(&self.direction)
    }

    /// Ray parameter and face where it leaves its tetrahedron.
    fn exit(&self) -> (f64, usize) {
        let mut exit = (f64::INFINITY, 0);
        for (face, side) in self.functions().sides.iter().enumerate() {
            let slope = side.gradient.dot(&self.direction);
            let at = -side.at(&self.origin) / slope;
            if slope < 0.0 && at < exit.0 {
                exit = (at, face);
            }
        }
        exit
    }
}

fn first_balance(
    host: &PressureField,
    other: &PressureField,
    X: &Relative,
    peak: &Peak,
    stack: &mut Stack,
) -> Option<(u32, u32)> {
    let start = host.vertices()[peak.vertex as usize];
    let centroid = host.corner_points(peak.tet).iter().sum::<Vector3<f64>>() / 4.0;
    let direction = centroid - start;
    // Slightly off the vertex, so that the ray does not run along faces common to both meshes.
    let origin = start + 1e-3 * direction;
    let in_other = X.point(&origin);
    let mut rays = (
        Ray {
            field: host,
            origin,
            direction,
            tet: peak.tet,
        },
        Ray {
            field: other,
            origin: in_other,
            direction: X.rotation * direction,
            tet: tet_at(other, &in_other, stack)?,
        },
    );
    if rays.0.pressure(0.0) <= rays.1.pressure(0.0) {
        return None;
    }
    for _ in 0..host.tets().len() + other.tets().len() {
        if rays.0.functions().is_flat() || rays.1.functions().is_flat() {
            return None;
        }
        let (leaves_host, leaves_other) = (rays.0.exit(), rays.1.exit());
        let s = leaves_host.0.min(leaves_other.0);
        if !s.is_finite() {
            return None;
        }
        if rays.0.pressure(s) <= rays.1.pressure(s) {
            return Some((rays.0.tet, rays.1.tet));
        }
        let (ray, face) = if leaves_host.0 <= leaves_other.0 {
            (&mut rays.0, leaves_host.1)
        } else {
            (&mut rays.1, leaves_other.1)
        };
        ray.tet = ray.field.across(ray.tet)[face];
        if ray.tet == OUTSIDE {
            return None;
        }
    }
    None
}

/// Adds the pairs (tetrahedron, triangle) at which connected components of `surface` start inside `field`.
pub(super) fn parts_inside(
    field: &PressureField,
    surface: &RigidSurface,
    X: &Relative,
    stack: &mut Stack,
    mut seed: impl FnMut(u32, u32),
) {
    let root = field.tet_tree().root();
    for &t in surface.parts() {
        let x = X.point(&(surface.corners(t).iter().sum::<Vector3<f64>>() / 3.0));
        if contains(&root, &x) {
            for_tets_at(field, &x, stack, |i| seed(i, t));
        }
    }
}

fn contains(r: &PressureBox, x: &Vector3<f64>) -> bool {
    (0..3).all(|k| r.min[k] <= x[k] && x[k] <= r.max[k])
}

fn tet_at(field: &PressureField, x: &Vector3<f64>, stack: &mut Stack) -> Option<u32> {
    let mut found = None;
    for_tets_at(field, x, stack, |t| {
        found.get_or_insert(t);
    });
    found
}

fn for_tets_at(
    field: &PressureField,
    x: &Vector3<f64>,
    stack: &mut Stack,
    mut visit: impl FnMut(u32),
) {
    field.tet_tree().visit(
        stack,
        |r| contains(r, x),
        |t| {
            let tet = field.functions_of(t);
            if !tet.is_flat() && tet.weights(x).iter().all(|w| *w >= -1e-9) {
                visit(t);
            }
        },
    );
}
