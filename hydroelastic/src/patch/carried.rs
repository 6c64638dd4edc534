//! Two soft bodies, or one with itself: the surfaces on which both are equally deep below their skins.

use nalgebra::Isometry3;

use super::contact_patch::{ContactPatch, PairStrength};
use super::flood::Flood;
use super::found::Found;
use super::points::{PointBuffers, Strength};
use super::{Order, Placed, Side, field_on_field};
use crate::contact_geometry::Query;
use crate::contact_point::ContactPoint;
use crate::field::{OUTSIDE, PressureField};
use crate::posed::Posed;
use crate::range_tree::Relative;
use crate::soft_mesh::SoftMesh;

/// Polygons up to this part of a vertex's area count nothing, those from twice that in full: where two meshes lie almost alike,
/// hundreds of slivers along their edges would bear a thousandth of the load.
const SLIVER: f64 = 1e-3;

/// Reused storage.
#[derive(Default)]
pub(crate) struct CarriedOverlap {
    flood: Flood,
    found: Found,
    points: PointBuffers,
}

impl CarriedOverlap {
    /// Appends the points where A and B overlap; both of one number: where a body overlaps with itself.
    pub(crate) fn collide(
        &mut self,
        (a, mesh_A): (&Posed<'_>, &SoftMesh),
        (b, mesh_B): (&Posed<'_>, &SoftMesh),
        q: &Query,
        out: &mut Vec<ContactPoint>,
    ) {
        let (placed, area) = self.overlap((a, mesh_A), (b, mesh_B));
        let strength = Strength::OfArea(area);
        self.points
            .emit(&self.found, &placed, (a, b), q, strength, out);
    }

    /// The surfaces themselves, with the pressure that the stiffness of the pair (N/m) makes of the overlap.
    pub(crate) fn patch(
        &mut self,
        a: (&Posed<'_>, &SoftMesh),
        b: (&Posed<'_>, &SoftMesh),
        stiffness: f64,
        out: &mut ContactPatch,
    ) {
        let (placed, area) = self.overlap(a, b);
        let strength = PairStrength::OfArea(stiffness / area);
        out.fill(&self.found, &placed, &strength);
    }

    /// Finds the polygons; the area (m²) for which the pair has its stiffness.
    fn overlap<'a>(
        &mut self,
        (a, mesh_A): (&Posed<'_>, &'a SoftMesh),
        (b, mesh_B): (&Posed<'_>, &'a SoftMesh),
    ) -> (Placed<'a>, f64) {
        let is_self = super::is_self(a, b);
        let (first, second) = (mesh_A.depth(), mesh_B.depth());
        let area = 0.5 * (mesh_A.vertex_area() + mesh_B.vertex_area());
        self.find(first, second, is_self.then_some(mesh_A), SLIVER * area);
        if self.found.pieces.is_empty() && !is_self && swallowed(first, second) {
            let identity = Relative::new(&Isometry3::identity());
            let Self { flood, found, .. } = self;
            field_on_field::find_among_all(first, second, &identity, flood, found);
        }
        self.found.pieces.retain_mut(|piece| {
            let part = piece.moments.area / (SLIVER * area);
            piece.balance.weight *= (part - 1.0).clamp(0.0, 1.0);
            piece.balance.weight > 0.0
        });
        self.found.sort();
        let placed = Placed {
            order: Order::AsGiven,
            first: Side::Field(first),
            second: Side::Field(second),
            X_WF: Isometry3::identity(),
        };
        (placed, area)
    }

    /// Looks where the skin of one is in the other, and from there over all pairs of tetrahedra that the surface of equal depth
    /// passes through; of a body with itself each pair once, those near each other in `own` left out. Polygons up to `sliver` (m²)
    /// lead the search on, but are not kept.
    fn find(
        &mut self,
        first: &PressureField,
        second: &PressureField,
        own: Option<&SoftMesh>,
        sliver: f64,
    ) {
        let Self { flood, found, .. } = self;
        found.clear();
        found.set_scale(first.depth().min(second.depth()));
        found.drop_up_to(sliver);
        flood.begin();
        let identity = Relative::new(&Isometry3::identity());
        let ordered = |i: u32, j: u32| match own {
            Some(_) => (i.max(j), i.min(j)),
            None => (i, j),
        };
        let apart = |i: u32, j: u32| match own {
            Some(mesh) => i != j && !near(mesh, i, j),
            None => true,
        };
        let Flood { pairs, seeds, .. } = flood;
        let (skin, corners) = (first.skin_tree(), |f| first.skin_corners(f));
        skin.visit_triangle_pairs(&identity, second.tet_tree(), pairs, corners, |f, _, j| {
            let (i, j) = ordered(first.skin(f).tet, j);
            if apart(i, j) {
                seeds.push((i, j));
            }
        });
        if own.is_none() {
            let (skin, corners) = (second.skin_tree(), |f| second.skin_corners(f));
            skin.visit_triangle_pairs(&identity, first.tet_tree(), pairs, corners, |f, _, i| {
                seeds.push((i, second.skin(f).tet));
            });
        }
        flood.run(
            |i, j| {
                if apart(i, j) {
                    field_on_field::pair(first, second, &identity, i, j, found)
                } else {
                    None
                }
            },
            |i, j, face| {
                let (i, j) = if face < 4 {
                    (first.across(i)[face as usize], j)
                } else {
                    (i, second.across(j)[face as usize - 4])
                };
                (i != OUTSIDE && j != OUTSIDE).then(|| ordered(i, j))
            },
        );
    }
}

/// Whether the tetrahedra that carry two of the field's share a vertex or are joined by an edge.
fn near(mesh: &SoftMesh, i: u32, j: u32) -> bool {
    mesh.are_near(mesh.carrier_of(i), mesh.carrier_of(j))
}

/// Whether one may be inside of the other as a whole.
fn swallowed(first: &PressureField, second: &PressureField) -> bool {
    let holds = |field: &PressureField, other: &PressureField| {
        let root = field.tet_tree().root();
        let deepest = other.deepest_point();
        deepest.is_some_and(|x| (0..3).all(|k| root.min[k] <= x[k] && x[k] <= root.max[k]))
    };
    holds(first, second) || holds(second, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::tet_cuboid;
    use nalgebra::{Point3, UnitQuaternion, Vector3};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn cuboid(cells: [u32; 3], X: &Isometry3<f64>, rng: &mut ChaCha8Rng) -> SoftMesh {
        let mesh = tet_cuboid(Vector3::repeat(0.05), cells).unwrap();
        let mut noise = || Vector3::from_fn(|_, _| rng.random_range(-1e-3..1e-3));
        let vertices = mesh.vertices().iter();
        let points: Vec<Point3<f64>> = vertices.map(|x| X * Point3::from(x + noise())).collect();
        let triangles = &mesh.boundary().triangles;
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| v.0)).collect();
        let tets: Vec<[u32; 4]> = mesh.tets().iter().map(|t| t.map(|v| v.0)).collect();
        SoftMesh::new(&points, &triangles, &tets).unwrap()
    }

    #[test]
    fn a_walk_from_where_skins_cross_finds_what_looking_at_all_pairs_finds() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut polygons = 0;
        for cells in [[1, 1, 1], [3, 1, 2], [3, 3, 3]] {
            for tilt in [0.0, 1e-3, 0.3] {
                for _ in 0..20 {
                    let mut any = |most: f64| rng.random_range(-1.0..1.0) * most;
                    let shift = Vector3::new(any(0.05), any(0.05), 0.095 + any(5e-3));
                    let turn = UnitQuaternion::new(Vector3::from_fn(|_, _| any(tilt)));
                    let X = Isometry3::from_parts(shift.into(), turn);
                    let lower = cuboid([2, 2, 1], &Isometry3::identity(), &mut rng);
                    let upper = cuboid(cells, &X, &mut rng);
                    let sliver = SLIVER * upper.vertex_area();
                    let (first, second) = (lower.depth(), upper.depth());
                    let mut overlap = CarriedOverlap::default();
                    overlap.find(first, second, None, sliver);
                    overlap.found.sort();
                    let (mut flood, mut all) = (Flood::default(), Found::default());
                    let identity = Relative::new(&Isometry3::identity());
                    field_on_field::find_among_all(first, second, &identity, &mut flood, &mut all);
                    all.pieces.retain(|piece| piece.moments.area > sliver);
                    all.sort();
                    let keys = |found: &Found| -> Vec<_> {
                        let sorted = found.sorted();
                        sorted.map(|(_, p)| (p.elements, p.group)).collect()
                    };
                    assert_eq!(keys(&overlap.found), keys(&all), "{cells:?} {X}");
                    polygons += all.pieces.len();
                }
            }
        }
        assert!(polygons > 1000, "{polygons}");
    }
}
