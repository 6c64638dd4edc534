//! Triangles of a soft body in a rigid shape of any kind, by signed distance.

use nalgebra::{Matrix3, Point3, Vector3};

use super::patch_points::Piece;
use super::polygon_recorder::PolygonRecorder;
use super::vertex_distances::VertexDistances;
use crate::field::Affine;
use crate::patch::{Moments, Polygon, Sign};
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
/// Parts of one triangle whose normals differ by less than 26° are merged into one piece.
const SAME_COSINE: f64 = 0.9;
/// Pieces are weighted with the cosine of the angle at which they face the shape (their projected area). Speculative
/// ones face the shape within 72°,
const SPECULATIVE_COSINE: f64 = 0.3;
/// loaded ones by more than round-off: the lateral sides of a cube do not belong to its footprint.
const LOADED_COSINE: f64 = 1e-6;

/// Settings of the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchSettings {
    /// Pressure gradient of the shape, Pa/m, if it has one.
    pub(super) slope: Option<f64>,
    /// Margin, m.
    pub(super) margin: f64,
    /// Whether pieces inside the shape are included, or only those within its margin.
    pub(super) loaded: bool,
    /// Pressure gradient of polygons for visualisation, Pa/m.
    pub(super) recorded_slope: f64,
}

/// The pieces of one triangle under construction.
#[derive(Default)]
pub(super) struct MergedParts {
    found: Vec<MergedPart>,
}

/// Parts with nearly the same normal, in the frame of the shape.
struct MergedPart {
    sign: Sign,
    /// Normal of the first part.
    direction: Vector3<f64>,
    moments: Moments,
    /// Integrals over the area.
    normal: Vector3<f64>,
    gap: f64,
}

/// Reused storage.
pub(super) type Buffers<'a> = (
    &'a mut Vec<(u32, u32)>,
    &'a mut MergedParts,
    &'a mut VertexDistances,
    &'a mut PolygonRecorder,
);

/// Appends the pieces of all triangles.
pub(super) fn find(
    mesh: &SoftMesh,
    r: &RigidShape<'_>,
    counts: &SearchSettings,
    (stack, leaves, distances, recorder): Buffers<'_>,
    out: &mut Vec<Piece>,
) {
    let bounds = r.shape.aabb(&r.X_WG).inflated(counts.margin);
    let near = |item: &PressureBox| {
        (0..3).all(|k| item.min[k] <= bounds.max[k] && bounds.min[k] <= item.max[k])
    };
    let width = r.shape.local_aabb().half_extents().min();
    let rotation = *r.X_WG.rotation.to_rotation_matrix().matrix();
    // No point of a ball is nearer to the shape than its centre by more than its radius.
    let reaches = |item: &PressureBox| {
        let center = Point3::from(item.center());
        let found = r.shape.signed_distance_in_world(&r.X_WG, &center);
        found.value <= item.half().norm() + counts.margin
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
            leaves.found.clear();
            let search = Search {
                r,
                counts,
                facing: -(rotation.transpose() * normal_W),
                radius_min: (RADIUS_MIN * circle(&corners).1).min(WIDTH_MIN * width),
            };
            if let Some(center) = search.at_centroid(&corners) {
                let at_corners = mesh.triangle(t).map(|v| distances.of(mesh, r, v));
                search.subdivide(
                    &corners,
                    &at_corners,
                    &center,
                    CUTS_MAX,
                    &mut (leaves, recorder),
                );
            }
            for (feature, leaf) in (0_u32..).zip(&leaves.found) {
                let Some(normal) = (rotation * leaf.normal).try_normalize(0.0) else {
                    continue;
                };
                let m = &leaf.moments;
                out.push(Piece {
                    triangle: t,
                    feature,
                    sign: leaf.sign,
                    moments: Moments {
                        area: m.area,
                        centroid: (r.X_WG * Point3::from(m.centroid)).coords,
                        second: rotated(&rotation, &m.second),
                    },
                    normal,
                    gap: leaf.gap / m.area,
                    gap_gradient: normal,
                    slope: counts.slope,
                });
            }
        });
}

fn rotated(rotation: &Matrix3<f64>, second: &Matrix3<f64>) -> Matrix3<f64> {
    rotation * second * rotation.transpose()
}

struct Search<'a> {
    r: &'a RigidShape<'a>,
    counts: &'a SearchSettings,
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
        (found.value <= radius + self.counts.margin).then_some(found)
    }

    fn subdivide(
        &self,
        corners: &[Vector3<f64>; 3],
        at: &[SignedDistance<f64>; 3],
        center: &SignedDistance<f64>,
        cuts: u32,
        out: &mut (&mut MergedParts, &mut PolygonRecorder),
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

    /// Clips a triangle with linear gap at the margin and at zero.
    fn cut(
        &self,
        corners: &[Vector3<f64>; 3],
        at: &[SignedDistance<f64>; 3],
        direction: Option<&Vector3<f64>>,
        (leaves, recorder): &mut (&mut MergedParts, &mut PolygonRecorder),
    ) {
        let margin = self.counts.margin;
        let values = at.map(|s| s.value);
        if values.iter().all(|v| *v > margin) {
            return;
        }
        let Some(gap) = interpolation(corners, &values) else {
            return;
        };
        let mut polygon = Polygon::triangle(corners);
        let below_margin = Affine {
            gradient: -gap.gradient,
            offset: margin - gap.offset,
        };
        if !polygon.clip(&below_margin, 1) {
            return;
        }
        let [speculative, loaded] = polygon.split(&gap);
        for (part, sign) in [(loaded, Sign::Loaded), (speculative, Sign::Speculative)] {
            if part.corners().len() < 3 || sign == Sign::Loaded && !self.counts.loaded {
                continue;
            }
            let moments = part.moments(&-self.facing);
            // Smaller areas are round-off of the corners.
            if moments.area.is_nan() || moments.area <= 1e-14 * margin.max(1e-9) {
                continue;
            }
            let direction = match direction {
                Some(direction) => *direction,
                None => self.distance(&moments.centroid).gradient,
            };
            let cosine = direction.dot(&self.facing);
            let least = match sign {
                Sign::Speculative => SPECULATIVE_COSINE,
                Sign::Loaded => LOADED_COSINE,
            };
            if cosine >= least {
                let value = gap.at(&moments.centroid);
                leaves.add(sign, &direction, &moments, cosine, value);
                if sign == Sign::Loaded {
                    recorder.add(&part, &moments, cosine, &direction, || {
                        gap.times(-self.counts.recorded_slope)
                    });
                }
            }
        }
    }
}

impl MergedParts {
    fn add(
        &mut self,
        sign: Sign,
        direction: &Vector3<f64>,
        moments: &Moments,
        weight: f64,
        gap: f64,
    ) {
        let same = |leaf: &&mut MergedPart| {
            leaf.sign == sign && leaf.direction.dot(direction) >= SAME_COSINE
        };
        let area = weight * moments.area;
        if let Some(leaf) = self.found.iter_mut().find(same) {
            leaf.moments.add(moments, weight);
            leaf.normal += direction * area;
            leaf.gap += gap * area;
            return;
        }
        let mut sum = Moments::default();
        sum.add(moments, weight);
        self.found.push(MergedPart {
            sign,
            direction: *direction,
            moments: sum,
            normal: direction * area,
            gap: gap * area,
        });
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
