//! Contact points of pieces of triangles.

use nalgebra::{Point3, Vector3};

use crate::contact_point::{
    ContactKey, ContactPoint, MaterialPoint, PatchShare, PointStiffness, Primitive,
};
use crate::patch::{Moments, PieceLoad, PiecePoints, Sign};
use crate::soft_mesh::SoftMesh;

/// A plane part of a triangle on which the gap to the other side is linear; world frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) triangle: u32,
    /// The feature of the partner; together with the sign unique among the pieces of its triangle.
    pub(super) feature: u32,
    pub(super) sign: Sign,
    pub(super) moments: Moments,
    /// Unit normal, from the partner into the soft body.
    pub(super) normal: Vector3<f64>,
    /// Gap at the centroid, m.
    pub(super) gap: f64,
    pub(super) gap_gradient: Vector3<f64>,
    /// Pressure gradient, Pa/m.
    pub(super) slope: f64,
}

/// Appends the points of all pieces, with the soft body as A; `on_other` gives the material point of B at a position in
/// the world, `extent` the second moment (trace, m⁴) relative to which a piece must be large enough to become three points.
pub(super) fn emit(
    mesh: &SoftMesh,
    on_other: impl Fn(&Piece, &Point3<f64>) -> MaterialPoint,
    extent: impl Fn(&Piece) -> f64,
    pieces: &mut [Piece],
    out: &mut Vec<ContactPoint>,
) {
    pieces.sort_unstable_by_key(|p| (p.triangle, p.feature, p.sign));
    for piece in pieces.iter() {
        emit_piece(mesh, &on_other, piece, extent(piece), out);
    }
}

fn emit_piece(
    mesh: &SoftMesh,
    on_other: &impl Fn(&Piece, &Point3<f64>) -> MaterialPoint,
    piece: &Piece,
    extent: f64,
    out: &mut Vec<ContactPoint>,
) {
    let m = &piece.moments;
    let load = PieceLoad {
        normal: mesh.normal(piece.triangle),
        // The pressure of a gap is its negative.
        gradient: &-piece.gap_gradient,
        mean: -piece.gap,
        sign: piece.sign,
        extent,
    };
    let piece_points = PiecePoints::of(m, &load, None);
    let corners = mesh.corners(piece.triangle);
    for (k, offset) in (0_u32..).zip(&piece_points.offsets[..piece_points.count as usize]) {
        let p_W = m.centroid + offset;
        let part = m.area * piece_points.parts[k as usize];
        let point = MaterialPoint {
            primitive: Primitive::Triangle(piece.triangle),
            weights: barycentric(&corners, &p_W),
            offset: Vector3::zeros(),
        };
        let sign = u32::from(piece.sign == Sign::Speculative);
        let signed_distance = piece.gap + piece.gap_gradient.dot(&piece_points.arms[k as usize]);
        out.push(ContactPoint {
            p_WC: p_W.into(),
            normal_W: piece.normal,
            signed_distance,
            stiffness: PointStiffness::OfPatch {
                stiffness: part * piece.slope,
                fraction_A: 0.0,
                share: match piece.sign {
                    Sign::Loaded => PatchShare {
                        area: part,
                        pressure_max: (-signed_distance * piece.slope).max(0.0),
                    },
                    Sign::Speculative => PatchShare::default(),
                },
            },
            a: point,
            b: on_other(piece, &p_W.into()),
            key: ContactKey::new(
                piece.triangle.wrapping_mul(4).wrapping_add(k),
                piece.feature.wrapping_mul(2).wrapping_add(sign),
            ),
            entry: 0.0,
        });
    }
}

/// Barycentric weights of a point in the plane of a triangle; the fourth is zero.
pub(super) fn barycentric(corners: &[Vector3<f64>; 3], p: &Vector3<f64>) -> [f64; 4] {
    let (u, v, d) = (
        corners[1] - corners[0],
        corners[2] - corners[0],
        p - corners[0],
    );
    let n = u.cross(&v);
    let area = n.norm_squared();
    if area <= 0.0 {
        return [1.0, 0.0, 0.0, 0.0];
    }
    let (w1, w2) = (d.cross(&v).dot(&n) / area, u.cross(&d).dot(&n) / area);
    [1.0 - w1 - w2, w1, w2, 0.0]
}
