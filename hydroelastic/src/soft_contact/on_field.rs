//! Triangles of a soft body cut by the tetrahedra of a compliant shape's pressure field.

use nalgebra::{Isometry3, Matrix3, Point3, Vector3};

use super::patch_points::Piece;
use super::polygon_recorder::PolygonRecorder;
use crate::field::{Affine, PieceKind, PressureField};
use crate::patch::{Balance, Load, Moments, Scale, Sign, in_tetrahedron};
use crate::pressure_bvh::Relative;
use crate::soft_mesh::SoftMesh;

/// Pairs of elements, or of tree nodes.
type Pairs = Vec<(u32, u32)>;

/// Appends the pieces of all triangles inside `field`, posed at `X_WG`; those of one triangle in one piece of the field
/// are merged.
pub(super) fn find(
    mesh: &SoftMesh,
    field: &PressureField,
    X_WG: &Isometry3<f64>,
    (stack, pairs, recorder): (&mut Pairs, &mut Pairs, &mut PolygonRecorder),
    out: &mut Vec<Piece>,
) {
    let X_GW = Relative::new(&X_WG.inverse());
    pairs.clear();
    mesh.triangle_tree()
        .visit_pairs(&X_GW, field.tet_tree(), stack, |t, i| pairs.push((t, i)));
    pairs.sort_unstable_by_key(|&(t, i)| (t, field.piece(i), i));
    let rotation = *X_WG.rotation.to_rotation_matrix().matrix();
    let scale = Scale::of_heights(field, f64::INFINITY);
    for group in pairs.chunk_by(|a, b| (a.0, field.piece(a.1)) == (b.0, field.piece(b.1))) {
        let (triangle, first) = group[0];
        let mut sums = [(Moments::default(), Load::default()); 2];
        let mut balance = None;
        for &(_, i) in group {
            let pair = (triangle, i);
            let found = add(mesh, field, &X_GW, pair, &scale, &mut sums, recorder);
            balance = balance.or(found);
        }
        let Some(balance) = balance else {
            continue;
        };
        let pressure = &field.functions_of(first).pressure;
        for ((m, load), sign) in sums.iter_mut().zip([Sign::Loaded, Sign::Speculative]) {
            if m.area <= 0.0 {
                continue;
            }
            let (gap, gap_gradient, slope) = match field.piece_kind(first) {
                PieceKind::Linear => (
                    -pressure.at(&m.centroid) / balance.slope,
                    pressure.gradient * (-1.0 / balance.slope),
                    balance.slope,
                ),
                PieceKind::AboutAxis => {
                    if sign == Sign::Loaded {
                        m.centroid = load.center();
                    }
                    let slope = load.slope(m.area);
                    (-load.pressure(m.area) / slope, Vector3::zeros(), slope)
                }
            };
            out.push(Piece {
                triangle,
                feature: field.piece(first),
                sign,
                moments: in_world(m, X_WG, &rotation),
                normal: -(rotation * balance.normal),
                gap,
                gap_gradient: rotation * gap_gradient,
                slope,
            });
        }
    }
}

/// Adds the intersection of a triangle and a tetrahedron to the sums of loaded and speculative parts.
fn add(
    mesh: &SoftMesh,
    field: &PressureField,
    X_GW: &Relative,
    (triangle, i): (u32, u32),
    scale: &Scale,
    sums: &mut [(Moments, Load); 2],
    recorder: &mut PolygonRecorder,
) -> Option<Balance> {
    let tet = field.functions_of(i);
    if tet.is_flat() {
        return None;
    }
    let normal = X_GW.rotation * mesh.normal(triangle);
    let balance = Balance::on_rigid(&tet.pressure.gradient, &normal)?;
    let corners = mesh.corners(triangle).map(|x| X_GW.point(&x));
    let slice = in_tetrahedron(&corners, &normal, (field, i), scale)?;
    if !slice.counts {
        return None;
    }
    let pressure: &Affine = &tet.pressure;
    let signs = [Sign::Loaded, Sign::Speculative];
    for ((part, sum), sign) in slice.polygon.split(pressure).iter().zip(sums).zip(signs) {
        if part.corners().len() >= 3 {
            let moments = part.moments(&normal);
            if moments.area > 0.0 {
                sum.0.add(&moments, balance.weight);
                sum.1.add(&moments, pressure, &balance);
                if sign == Sign::Loaded {
                    let into_soft = -balance.normal;
                    recorder.add(part, &moments, balance.weight, &into_soft, || *pressure);
                }
            }
        }
    }
    Some(balance)
}

fn in_world(m: &Moments, X_WG: &Isometry3<f64>, rotation: &Matrix3<f64>) -> Moments {
    Moments {
        area: m.area,
        centroid: (X_WG * Point3::from(m.centroid)).coords,
        second: rotation * m.second * rotation.transpose(),
    }
}
