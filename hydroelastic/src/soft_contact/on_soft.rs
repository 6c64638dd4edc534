//! The surface of a soft body on another soft body, or on its own: each point by its depth below the other skin.

use nalgebra::{Point3, Vector3};

use super::patch_points::barycentric;
use super::surface_points::{Gap, Partner, Place, Portion, SurfacePoints};
use crate::contact_point::{ContactPoint, MaterialPoint, Primitive};
use crate::pressure_bvh::PressureBox;
use crate::shape::closest_on_triangle;
use crate::soft_mesh::SoftMesh;

/// Which parts of the partner a point may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// All: it is another body.
    Other,
    /// Those that no edge of the mesh connects to the point: it is the same body.
    Own,
}

/// Appends the points of `s` on `t` within `margin` (m), with `s` as A. They carry half of the load: the points of `t` on `s` carry the
/// other half. Points of self-contact carry half, too, since either layer has them.
pub(super) fn collide(
    s: &SoftMesh,
    (t, touch): (&SoftMesh, Touch),
    margin: f64,
    points: &mut SurfacePoints,
    stack: &mut Vec<(u32, u32)>,
    out: &mut Vec<ContactPoint>,
) {
    let portion = Portion {
        of_pair: 0.5 * (s.vertex_area() + t.vertex_area()),
        fraction: 0.5,
        margin,
    };
    let root = t.triangle_tree().root();
    let around = Vector3::repeat(margin);
    let bounds = PressureBox {
        min: root.min - around,
        max: root.max + around,
        ..root
    };
    let mut candidates = std::mem::take(&mut points.candidates);
    candidates.clear();
    s.triangle_tree()
        .visit_near(stack, &bounds, |triangle| candidates.push(triangle));
    let mut partner = OnSoft {
        s,
        t,
        touch,
        margin,
        stack,
    };
    points.begin(s);
    for &triangle in &candidates {
        if *s.normal(triangle) != Vector3::zeros() {
            points.add_triangle(s, (triangle, 1.0), &portion, &mut partner, out);
        }
    }
    points.finish(s, &portion, out);
    points.candidates = candidates;
}

struct OnSoft<'a> {
    s: &'a SoftMesh,
    t: &'a SoftMesh,
    touch: Touch,
    margin: f64,
    stack: &'a mut Vec<(u32, u32)>,
}

impl Partner for OnSoft<'_> {
    fn gap(&mut self, place: Place, p_W: &Vector3<f64>) -> Option<Gap> {
        let vertex;
        let own = match place {
            Place::Vertex(v) => {
                vertex = [v];
                &vertex[..]
            }
            Place::Triangle(triangle) => &self.s.triangle(triangle)[..],
        };
        let excluded = |others: &[u32]| {
            let near = |v: &u32| others.iter().any(|w| self.t.near().excludes(*v, *w));
            self.touch == Touch::Own && own.iter().any(near)
        };
        inside(self.t, p_W, excluded, self.stack)
            .or_else(|| beside(self.t, p_W, self.margin, excluded, self.stack))
    }
}

/// Smallest slope of the depth that distances are divided by. It is 1 near the skin, and smaller where opposite sides are equally far.
const SLOPE_MIN: f64 = 0.5;
/// Slopes up to this have no direction.
const NO_SLOPE: f64 = 1e-6;

/// By the depth at `p`.
fn inside(
    mesh: &SoftMesh,
    p: &Vector3<f64>,
    excluded: impl Fn(&[u32]) -> bool,
    stack: &mut Vec<(u32, u32)>,
) -> Option<Gap> {
    let field = mesh.depth();
    let tet = field.tet_at(p, stack, |tet| excluded(mesh.carrier_of(tet)))?;
    let depth = field.functions_of(tet).pressure;
    let slope = depth.gradient.norm();
    Some(Gap {
        value: -depth.at(p) / slope.max(SLOPE_MIN),
        normal: -depth.gradient.try_normalize(NO_SLOPE)?,
        slope: None,
        other: field.material_point(tet, p)?,
    })
}

/// By the nearest triangle within `margin` that `p` is in front of.
fn beside(
    mesh: &SoftMesh,
    p: &Vector3<f64>,
    margin: f64,
    excluded: impl Fn(&[u32]) -> bool,
    stack: &mut Vec<(u32, u32)>,
) -> Option<Gap> {
    let around = Vector3::repeat(margin);
    let bounds = PressureBox {
        min: p - around,
        max: p + around,
        ..PressureBox::of_points([*p])
    };
    let mut nearest: Option<(f64, u32, Vector3<f64>)> = None;
    mesh.triangle_tree().visit_near(stack, &bounds, |t| {
        let (normal, x) = (mesh.normal(t), mesh.corners(t));
        let is_behind = normal.dot(&(p - x[0])) < 0.0;
        if *normal == Vector3::zeros() || is_behind || excluded(mesh.triangle(t)) {
            return;
        }
        let (q, _) = closest_on_triangle(&Point3::from(*p), &x.map(Point3::from));
        let distance = (p - q.coords).norm();
        if distance <= margin && nearest.is_none_or(|(least, ..)| distance < least) {
            nearest = Some((distance, t, q.coords));
        }
    });
    let (value, t, q) = nearest?;
    Some(Gap {
        value,
        normal: (p - q).try_normalize(1e-12).unwrap_or(*mesh.normal(t)),
        slope: None,
        other: MaterialPoint {
            primitive: Primitive::Triangle(t),
            weights: barycentric(&mesh.corners(t), &q),
            offset: Vector3::zeros(),
        },
    })
}
