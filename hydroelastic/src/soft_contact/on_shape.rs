//! The surface of a soft body on a rigid shape of any kind.
//!
//! Where a shape is smaller or sharper than a triangle, the triangle is divided into four, as often as necessary. Parts
//! hand the fraction of their area over to their parts that grows with the bend of the gap on them, so that nothing jumps while
//! the body deforms or slides.

use nalgebra::{Isometry3, Point3, Vector3};

use super::surface_points::{
    Gap, INNER_POINTS, Inner, Partner, Place, Portion, SurfacePoints, add_inner,
};
use super::vertex_distances::VertexDistances;
use crate::contact_point::{ContactPoint, MaterialPoint};
use crate::field::PressureField;
use crate::patch_geometry::PatchGeometry;
use crate::posed::RigidShape;
use crate::pressure_bvh::PressureBox;
use crate::signed_distance::SignedDistance;
use crate::soft_mesh::SoftMesh;
use crate::{Aabb, Shape};

/// Triangles are divided at most this often,
const CUTS_MAX: u32 = 8;
/// and not below this fraction of their size or, if smaller, of the shape's smallest half width.
const PART_MIN: f64 = 0.25;
const WIDTH_MIN: f64 = 0.3;
/// The bend of a part: the largest difference of the gap from linear interpolation, as a fraction of the part's radius.
/// Parts with the lower one are left whole, parts with the upper one divided altogether.
const BEND: [f64; 2] = [0.02, 0.06];

/// Reused storage.
pub(super) struct Memory<'a> {
    pub(super) stack: &'a mut Vec<(u32, u32)>,
    pub(super) tets: &'a mut Vec<(u32, u32)>,
    pub(super) distances: &'a mut VertexDistances,
    pub(super) points: &'a mut SurfacePoints,
    /// Set for triangles with a point within the margin.
    pub(super) in_contact: &'a mut [bool],
}

/// Appends the points within the margin, with the soft body as A.
pub(super) fn collide(
    mesh: &SoftMesh,
    r: &RigidShape<'_>,
    margin: f64,
    memory: Memory<'_>,
    out: &mut Vec<ContactPoint>,
) {
    let Memory {
        stack,
        tets,
        distances,
        points,
        in_contact,
    } = memory;
    let portion = Portion {
        of_pair: mesh.vertex_area(),
        fraction: 1.0,
        margin,
    };
    let width = r.shape.local_aabb().half_extents().min();
    let mut search = Search {
        mesh,
        portion,
        shape: OnShape {
            mesh,
            r,
            X_GW: r.X_WG.inverse(),
            pressure: Pressure::of(r),
            distances,
            tets,
        },
    };
    points.begin(mesh);
    let bounds = r.shape.aabb(&r.X_WG).inflated(margin);
    let near = |item: &PressureBox| meets(item, &bounds);
    // No point of a ball is nearer to the shape than its centre by more than its radius.
    let reaches = |item: &PressureBox| {
        let center = Point3::from(item.center());
        let found = r.shape.signed_distance_in_world(&r.X_WG, &center);
        found.value <= item.half().norm() + margin
    };
    mesh.triangle_tree()
        .visit_inside(stack, near, reaches, |t| {
            if *mesh.normal(t) == Vector3::zeros() {
                return;
            }
            let whole = Part {
                corners: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
                at: mesh.triangle(t).map(|v| search.shape.at_vertex(v).value),
                weight: 1.0,
                index: 0,
            };
            let size = mesh.area_at_rest(t).sqrt();
            let least = (PART_MIN * size).min(WIDTH_MIN * width);
            let cuts = match r.shape {
                Shape::HalfSpace => 0,
                _ => (size / least).log2().ceil().clamp(0.0, f64::from(CUTS_MAX)) as u32,
            };
            if search.divide(t, &whole, cuts, points, out) {
                in_contact[t as usize] = true;
            }
        });
    points.finish(mesh, &portion, out);
}

fn meets(item: &PressureBox, bounds: &Aabb) -> bool {
    (0..3).all(|k| item.min[k] <= bounds.max[k] && bounds.min[k] <= item.max[k])
}

/// A part of a triangle.
struct Part {
    /// Barycentric weights of its corners.
    corners: [[f64; 3]; 3],
    /// Signed distances of the corners, m.
    at: [f64; 3],
    /// Fraction of its area that its own points and those of its parts count with.
    weight: f64,
    /// Unique in the triangle; zero for all of it.
    index: u32,
}

struct Search<'a> {
    mesh: &'a SoftMesh,
    portion: Portion,
    shape: OnShape<'a>,
}

impl Search<'_> {
    /// Appends the points of a part and of its parts; returns whether any is within the margin.
    fn divide(
        &mut self,
        t: u32,
        part: &Part,
        cuts: u32,
        points: &mut SurfacePoints,
        out: &mut Vec<ContactPoint>,
    ) -> bool {
        let x = self.mesh.corners(t);
        let position = |w: &[f64; 3]| x[0] * w[0] + x[1] * w[1] + x[2] * w[2];
        let corners = part.corners.map(|w| position(&w));
        let center = (corners[0] + corners[1] + corners[2]) / 3.0;
        let squares = corners.map(|corner| (corner - center).norm_squared());
        let radius = squares.into_iter().fold(0.0, f64::max).sqrt();
        let at_center = self.shape.distance(&center).value;
        if at_center > radius + self.portion.margin {
            return false;
        }
        let (handed_over, sides) = match cuts {
            0 => (0.0, None),
            _ => {
                let sides = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| {
                    let w = between(&part.corners[i], &part.corners[j]);
                    (w, self.shape.distance(&position(&w)).value)
                });
                let mean = (part.at[0] + part.at[1] + part.at[2]) / 3.0;
                let bends = (0..3).map(|i| sides[i].1 - 0.5 * (part.at[i] + part.at[(i + 1) % 3]));
                let bend = bends.fold((at_center - mean).abs(), |most, b| most.max(b.abs()));
                (fade(bend / radius), Some(sides))
            }
        };
        let kept = part.weight * (1.0 - handed_over);
        let mut touches = false;
        if kept > 0.0 {
            touches |= match part.index {
                0 => {
                    let whole = (t, kept);
                    points.add_triangle(self.mesh, whole, &self.portion, &mut self.shape, out)
                }
                index => {
                    let [a, b, c] = part.corners;
                    let inner = Inner {
                        triangle: t,
                        weights: [0, 1, 2].map(|k| (a[k] + b[k] + c[k]) / 3.0),
                        weight: kept,
                        index: INNER_POINTS + index,
                    };
                    add_inner(self.mesh, &inner, &self.portion, &mut self.shape, out)
                }
            };
        }
        let Some([(p, at_p), (q, at_q), (s, at_s)]) = sides.filter(|_| handed_over > 0.0) else {
            return touches;
        };
        let ([a, b, c], [at_a, at_b, at_c]) = (part.corners, part.at);
        for (k, corners, at) in [
            (1, [a, p, s], [at_a, at_p, at_s]),
            (2, [p, b, q], [at_p, at_b, at_q]),
            (3, [s, q, c], [at_s, at_q, at_c]),
            (4, [p, q, s], [at_p, at_q, at_s]),
        ] {
            let smaller = Part {
                corners,
                at,
                weight: 0.25 * part.weight * handed_over,
                index: 4 * part.index + k,
            };
            touches |= self.divide(t, &smaller, cuts - 1, points, out);
        }
        touches
    }
}

fn between(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]))
}

/// 0 up to the lower bend, 1 from the upper one on; continuous, with its derivative.
fn fade(bend: f64) -> f64 {
    let x = ((bend - BEND[0]) / (BEND[1] - BEND[0])).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// Where the stiffness of a shape comes from.
enum Pressure<'a> {
    Pair,
    /// Pa/m.
    Slope(f64),
    Field(&'a PressureField),
}

impl<'a> Pressure<'a> {
    fn of(r: &RigidShape<'a>) -> Self {
        match r.patch {
            Some(PatchGeometry::Compliant(field)) => Self::Field(field),
            Some(PatchGeometry::CompliantHalfSpace(slab)) => Self::Slope(slab.stiffness()),
            Some(PatchGeometry::Rigid(_) | PatchGeometry::RigidHalfSpace) | None => Self::Pair,
        }
    }
}

/// A rigid shape as the partner of a soft body.
struct OnShape<'a> {
    mesh: &'a SoftMesh,
    r: &'a RigidShape<'a>,
    X_GW: Isometry3<f64>,
    pressure: Pressure<'a>,
    distances: &'a mut VertexDistances,
    tets: &'a mut Vec<(u32, u32)>,
}

impl OnShape<'_> {
    /// In the frame of the shape.
    fn at_vertex(&mut self, v: u32) -> SignedDistance<f64> {
        self.distances.of(self.mesh, self.r, v)
    }

    /// In the frame of the shape.
    fn distance(&self, p_W: &Vector3<f64>) -> SignedDistance<f64> {
        self.r
            .shape
            .signed_distance(&(self.X_GW * Point3::from(*p_W)))
    }
}

impl Partner for OnShape<'_> {
    fn gap(&mut self, place: Place, p_W: &Vector3<f64>) -> Option<Gap> {
        let p_G = (self.X_GW * Point3::from(*p_W)).coords;
        let other = MaterialPoint::on_frame(p_G);
        let in_field = match self.pressure {
            Pressure::Field(field) => at_point(field, &p_G, self.tets),
            Pressure::Slope(_) | Pressure::Pair => None,
        };
        if let Some((pressure, gradient)) = in_field {
            let slope = gradient.norm();
            return Some(Gap {
                value: -pressure / slope,
                normal: self.r.X_WG.rotation * (gradient / -slope),
                slope: Some(slope),
                other,
            });
        }
        let found = match place {
            Place::Vertex(v) => self.at_vertex(v),
            Place::Triangle(_) => self.r.shape.signed_distance(&p_G.into()),
        };
        let (value, slope) = match self.pressure {
            Pressure::Pair => (found.value, None),
            Pressure::Slope(slope) => (found.value, Some(slope)),
            // The field's mesh approximates the shape.
            Pressure::Field(field) => (found.value.max(0.0), Some(field.steepness())),
        };
        Some(Gap {
            value,
            normal: self.r.X_WG.rotation * found.gradient,
            slope,
            other,
        })
    }
}

/// Pressure (Pa) and its gradient (Pa/m) at a point of a field; `None` outside, and where the pressure has no gradient.
fn at_point(
    field: &PressureField,
    p: &Vector3<f64>,
    stack: &mut Vec<(u32, u32)>,
) -> Option<(f64, Vector3<f64>)> {
    let tet = field.functions_of(field.tet_at(p, stack, |_| false)?);
    let gradient = tet.pressure.gradient;
    (gradient != Vector3::zeros()).then(|| (tet.pressure.at(p), gradient))
}
