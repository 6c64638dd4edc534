//! Polygons of a soft body's triangles inside a rigid shape, by signed distance: for visualisation and observables.

use nalgebra::{Point3, Vector3};

use super::polygon_recorder::PolygonRecorder;
use super::vertex_distances::VertexDistances;
use crate::field::Affine;
use crate::patch::Polygon;
use crate::posed::RigidShape;
use crate::pressure_bvh::PressureBox;
use crate::signed_distance::SignedDistance;
use crate::soft_mesh::SoftMesh;

/// A triangle is subdivided into four until the gap on it is nearly linear, at most this many times,
const CUTS_MAX: u32 = 8;
/// and not below this fraction of its radius or, if smaller, of the shape's smallest half width.
const RADIUS_MIN: f64 = 0.125;
const WIDTH_MIN: f64 = 0.1;
/// The gap counts as linear where its gradients at the corners differ by less than 18° from that at the centre, and its
/// value there by less than this fraction of the triangle's radius from their mean.
const BEND_MAX: f64 = 0.02;
const COSINE_MIN: f64 = 0.95;
/// Polygons are weighted with the cosine of the angle at which they face the shape (their projected area), if it is more
/// than round-off: the lateral sides of a cube do not belong to its footprint.
const LOADED_COSINE: f64 = 1e-6;
/// m².
const AREA_MIN: f64 = 1e-23;

/// Reused storage.
pub(super) type Buffers<'a> = (
    &'a mut Vec<(u32, u32)>,
    &'a mut VertexDistances,
    &'a mut PolygonRecorder,
);

/// Records the polygons of all triangles; their pressure has the gradient `slope` (Pa/m).
pub(super) fn record(
    mesh: &SoftMesh,
    r: &RigidShape<'_>,
    slope: f64,
    (stack, distances, recorder): Buffers<'_>,
) {
    let bounds = r.shape.aabb(&r.X_WG);
    let near = |item: &PressureBox| {
        (0..3).all(|k| item.min[k] <= bounds.max[k] && bounds.min[k] <= item.max[k])
    };
    let width = r.shape.local_aabb().half_extents().min();
    let rotation = *r.X_WG.rotation.to_rotation_matrix().matrix();
    // No point of a ball is nearer to the shape than its centre by more than its radius.
    let reaches = |item: &PressureBox| {
        let center = Point3::from(item.center());
        let found = r.shape.signed_distance_in_world(&r.X_WG, &center);
        found.value <= item.half().norm()
    };
    mesh.triangle_tree()
        .visit_inside(stack, near, reaches, |t| {
            let normal_W = mesh.normal(t);
            if *normal_W == Vector3::zeros() {
                return;
            }
            let corners = mesh
                .corners(t)
                .map(|x| r.X_WG.inverse_transform_point(&x.into()).coords);
            let search = Search {
                r,
                slope,
                facing: -(rotation.transpose() * normal_W),
                radius_min: (RADIUS_MIN * circle(&corners).1).min(WIDTH_MIN * width),
            };
            if let Some(center) = search.at_centroid(&corners) {
                let at_corners = mesh.triangle(t).map(|v| distances.of(mesh, r, v));
                search.subdivide(&corners, &at_corners, &center, CUTS_MAX, recorder);
            }
        });
}

struct Search<'a> {
    r: &'a RigidShape<'a>,
    /// Pressure gradient, Pa/m.
    slope: f64,
    /// The opposite of the triangle's outward normal, in the frame of the shape.
    facing: Vector3<f64>,
    radius_min: f64,
}

impl Search<'_> {
    fn distance(&self, x: &Vector3<f64>) -> SignedDistance<f64> {
        self.r.shape.signed_distance(&Point3::from(*x))
    }

    /// Distance at the centroid; `None` if it is too large for any point of the triangle to be in contact.
    fn at_centroid(&self, corners: &[Vector3<f64>; 3]) -> Option<SignedDistance<f64>> {
        let (center, radius) = circle(corners);
        let found = self.distance(&center);
        (found.value <= radius).then_some(found)
    }

    fn subdivide(
        &self,
        corners: &[Vector3<f64>; 3],
        at: &[SignedDistance<f64>; 3],
        center: &SignedDistance<f64>,
        cuts: u32,
        out: &mut PolygonRecorder,
    ) {
        let (_, radius) = circle(corners);
        let mean = (at[0].value + at[1].value + at[2].value) / 3.0;
        let linear = (center.value - mean).abs() <= BEND_MAX * radius
            && at
                .iter()
                .all(|s| s.gradient.dot(&center.gradient) >= COSINE_MIN);
        if linear || cuts == 0 || radius < self.radius_min {
            self.cut(corners, at, linear.then_some(&center.gradient), out);
            return;
        }
        let between = |i: usize, j: usize| {
            let x = 0.5 * (corners[i] + corners[j]);
            (x, self.distance(&x))
        };
        let sides = [between(0, 1), between(1, 2), between(2, 0)];
        let [p, q, s] = sides.map(|side| side.0);
        let [at_p, at_q, at_s] = sides.map(|side| side.1);
        let [a, b, c] = *corners;
        let [at_a, at_b, at_c] = *at;
        for (part, at) in [
            ([a, p, s], [at_a, at_p, at_s]),
            ([p, b, q], [at_p, at_b, at_q]),
            ([s, q, c], [at_s, at_q, at_c]),
            ([p, q, s], [at_p, at_q, at_s]),
        ] {
            if let Some(center) = self.at_centroid(&part) {
                self.subdivide(&part, &at, &center, cuts - 1, out);
            }
        }
    }

    /// Clips a triangle with linear gap at zero.
    fn cut(
        &self,
        corners: &[Vector3<f64>; 3],
        at: &[SignedDistance<f64>; 3],
        direction: Option<&Vector3<f64>>,
        recorder: &mut PolygonRecorder,
    ) {
        let values = at.map(|s| s.value);
        if values.iter().all(|v| *v > 0.0) {
            return;
        }
        let Some(gap) = interpolation(corners, &values) else {
            return;
        };
        let [_, polygon] = Polygon::triangle(corners).split(&gap);
        if polygon.corners().len() < 3 {
            return;
        }
        let moments = polygon.moments(&-self.facing);
        // Smaller areas are round-off of the corners.
        if moments.area.is_nan() || moments.area <= AREA_MIN {
            return;
        }
        let direction = match direction {
            Some(direction) => *direction,
            None => self.distance(&moments.centroid).gradient,
        };
        let cosine = direction.dot(&self.facing);
        if cosine >= LOADED_COSINE {
            recorder.add(&polygon, &moments, cosine, &direction, || {
                gap.times(-self.slope)
            });
        }
    }
}

/// Centroid of a triangle and the largest distance of a corner from it.
fn circle(corners: &[Vector3<f64>; 3]) -> (Vector3<f64>, f64) {
    let center = (corners[0] + corners[1] + corners[2]) / 3.0;
    let radius = corners.iter().map(|x| (x - center).norm_squared());
    (center, radius.fold(0.0, f64::max).sqrt())
}

/// The linear function in the plane of a triangle with given values at its corners; `None` without area.
fn interpolation(corners: &[Vector3<f64>; 3], values: &[f64; 3]) -> Option<Affine> {
    let (u, v) = (corners[1] - corners[0], corners[2] - corners[0]);
    let n = u.cross(&v);
    let square = n.norm_squared();
    if square <= 0.0 {
        return None;
    }
    let gradient =
        (v.cross(&n) * (values[1] - values[0]) + n.cross(&u) * (values[2] - values[0])) / square;
    Some(Affine {
        gradient,
        offset: values[0] - gradient.dot(&corners[0]),
    })
}
