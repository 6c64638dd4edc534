//! Quadrature points of a soft body's surface: fixed in the material, each with a fixed part of the area.
//!
//! Which points there are does not depend on where the body is, only the gap of each does. A law that is implicit in the gap
//! therefore decides within the step which of them carry load, and force and stiffness are continuous in the configuration.

use nalgebra::Vector3;

use crate::contact_point::{
    ContactKey, ContactPoint, MaterialPoint, PatchShare, PointStiffness, Primitive,
};
use crate::soft_mesh::SoftMesh;

/// ∫ f dA ≈ A Σ f/60 over the corners + A Σ 19f/60 over the points with two barycentric weights (1 − 2/√19)/3: exact for
/// polynomials of second degree. Most of the weight is inside, so that little depends on whether the rims of flush bodies meet; the
/// corners are what a tilted body lands on.
const AT_CORNER: f64 = 1.0 / 60.0;
const AT_INNER: f64 = 19.0 / 60.0;
const INNER: f64 = 0.180_389_510_752_958_8;
/// The number of inner points of a triangle.
pub(super) const INNER_POINTS: u32 = 3;
/// Points whose triangle faces the partner by less than round-off have no area: the lateral sides of a cube do not belong
/// to its footprint.
const COSINE_MIN: f64 = 1e-6;

/// A place on the surface.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Vertex(u32),
    /// Inside a triangle.
    Triangle(u32),
}

/// How a point of the surface lies to the partner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// Negative inside the partner, m.
    pub(super) value: f64,
    /// Unit normal in the world, from the partner into the soft body.
    pub(super) normal: Vector3<f64>,
    /// Pressure gradient of the partner, Pa/m; `None` where the pair's stiffness applies.
    pub(super) slope: Option<f64>,
    /// The material point of the partner.
    pub(super) other: MaterialPoint,
}

/// The part of the surface's contact that the points of one search carry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portion {
    /// Area with the stiffness of the pair, m².
    pub(super) of_pair: f64,
    /// Fraction of their area that the points count with: a half where the partner's points carry the other half.
    pub(super) fraction: f64,
    /// Gap up to which points are reported, m.
    pub(super) margin: f64,
}

/// Area of a quadrature point that faces the partner, m².
#[derive(Clone, Copy, Debug, Default)]
struct Area {
    /// At rest. Stiffness is proportional to it.
    at_rest: f64,
    now: f64,
}

impl std::ops::AddAssign for Area {
    fn add_assign(&mut self, other: Self) {
        self.at_rest += other.at_rest;
        self.now += other.now;
    }
}

/// Points of one pair under construction; reused storage.
#[derive(Default)]
pub(super) struct SurfacePoints {
    vertices: Vec<AtVertex>,
    /// The current pair; entries of other pairs are invalid.
    round: u32,
    /// Vertices with area.
    touched: Vec<u32>,
    /// Triangles near the partner.
    pub(super) candidates: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct AtVertex {
    round: u32,
    gap: Option<Gap>,
    area: Area,
}

/// Looks up the gap at a position of the world; `None` far from the partner.
pub(super) trait Partner {
    fn gap(&mut self, place: Place, p_W: &Vector3<f64>) -> Option<Gap>;
}

impl SurfacePoints {
    pub(super) fn begin(&mut self, mesh: &SoftMesh) {
        self.touched.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.vertices.clear();
            self.round = 1;
        }
        if self.vertices.len() < mesh.n_points() {
            self.vertices.resize(mesh.n_points(), AtVertex::default());
        }
    }

    /// Adds the points of triangle `t`, with `weight` times its area. Returns whether an inner one is within the margin.
    pub(super) fn add_triangle(
        &mut self,
        mesh: &SoftMesh,
        (t, weight): (u32, f64),
        portion: &Portion,
        partner: &mut impl Partner,
        out: &mut Vec<ContactPoint>,
    ) -> bool {
        let area = area_of(mesh, t, weight * AT_CORNER);
        for &v in mesh.triangle(t) {
            let gap = self.gap_at_vertex(mesh, v, partner);
            let near = gap.filter(|gap| gap.value <= portion.margin);
            let Some(facing) = near.and_then(|gap| facing(mesh, t, &gap)) else {
                continue;
            };
            let at = &mut self.vertices[v as usize];
            if at.area.at_rest == 0.0 {
                self.touched.push(v);
            }
            at.area += area.times(facing);
        }
        let mut touches = false;
        for index in 0..INNER_POINTS {
            let mut weights = [INNER; 3];
            weights[index as usize] = 1.0 - 2.0 * INNER;
            let inner = Inner {
                triangle: t,
                weights,
                weight: weight * AT_INNER,
                index,
            };
            touches |= add_inner(mesh, &inner, portion, partner, out);
        }
        touches
    }

    /// Appends the points at vertices.
    pub(super) fn finish(
        &mut self,
        mesh: &SoftMesh,
        portion: &Portion,
        out: &mut Vec<ContactPoint>,
    ) {
        self.touched.sort_unstable();
        for &v in &self.touched {
            let AtVertex { gap, area, .. } = self.vertices[v as usize];
            let Some(gap) = gap else {
                continue;
            };
            let point = MaterialPoint::on_vertex(v, Vector3::zeros());
            let key = ContactKey::new(v.wrapping_mul(2).wrapping_add(1), 0);
            out.push(contact_point(
                (point, mesh.point(v)),
                &gap,
                area,
                portion,
                key,
            ));
        }
    }

    fn gap_at_vertex(
        &mut self,
        mesh: &SoftMesh,
        v: u32,
        partner: &mut impl Partner,
    ) -> Option<Gap> {
        let at = &mut self.vertices[v as usize];
        if at.round != self.round {
            *at = AtVertex {
                round: self.round,
                gap: partner.gap(Place::Vertex(v), &mesh.point(v)),
                area: Area::default(),
            };
        }
        at.gap
    }
}

/// A point inside a triangle.
pub(super) struct Inner {
    pub(super) triangle: u32,
    /// Barycentric.
    pub(super) weights: [f64; 3],
    /// Fraction of the triangle's area.
    pub(super) weight: f64,
    /// Unique among the inner points of the triangle.
    pub(super) index: u32,
}

/// Appends an inner point if it is within the margin, and returns whether it is.
pub(super) fn add_inner(
    mesh: &SoftMesh,
    inner: &Inner,
    portion: &Portion,
    partner: &mut impl Partner,
    out: &mut Vec<ContactPoint>,
) -> bool {
    let t = inner.triangle;
    let corners = mesh.corners(t);
    let [a, b, c] = inner.weights;
    let p_W = corners[0] * a + corners[1] * b + corners[2] * c;
    let gap = partner.gap(Place::Triangle(t), &p_W);
    let Some(gap) = gap.filter(|gap| gap.value <= portion.margin) else {
        return false;
    };
    if let Some(facing) = facing(mesh, t, &gap) {
        let point = MaterialPoint {
            primitive: Primitive::Triangle(t),
            weights: [a, b, c, 0.0],
            offset: Vector3::zeros(),
        };
        let area = area_of(mesh, t, inner.weight).times(facing);
        let key = ContactKey::new(t.wrapping_mul(2).wrapping_add(2), inner.index);
        out.push(contact_point((point, p_W), &gap, area, portion, key));
    }
    true
}

/// Cosine of the angle at which a triangle faces the partner; `None` if it faces away.
fn facing(mesh: &SoftMesh, t: u32, gap: &Gap) -> Option<f64> {
    let cosine = -mesh.normal(t).dot(&gap.normal);
    (cosine >= COSINE_MIN).then_some(cosine)
}

fn area_of(mesh: &SoftMesh, t: u32, weight: f64) -> Area {
    Area {
        at_rest: weight * mesh.area_at_rest(t),
        now: weight * mesh.area(t),
    }
}

impl Area {
    fn times(self, factor: f64) -> Self {
        Self {
            at_rest: factor * self.at_rest,
            now: factor * self.now,
        }
    }
}

/// The soft body is A.
fn contact_point(
    (point, p_W): (MaterialPoint, Vector3<f64>),
    gap: &Gap,
    area: Area,
    portion: &Portion,
    key: ContactKey,
) -> ContactPoint {
    let area = area.times(portion.fraction);
    let covered = if gap.value < 0.0 { area.now } else { 0.0 };
    let stiffness = match gap.slope {
        Some(slope) => PointStiffness::OfPatch {
            stiffness: area.now * slope,
            fraction_A: 0.0,
            share: PatchShare {
                area: covered,
                pressure_max: (-gap.value * slope).max(0.0),
            },
        },
        None => PointStiffness::OfArea {
            share: area.at_rest / portion.of_pair,
            area: covered,
        },
    };
    ContactPoint {
        p_WC: p_W.into(),
        normal_W: gap.normal,
        signed_distance: gap.value,
        stiffness,
        a: point,
        b: gap.other,
        key,
        entry: 0.0,
    }
}
