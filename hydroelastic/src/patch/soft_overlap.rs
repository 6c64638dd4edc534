//! Patches between two soft bodies, or of one with itself: the surfaces of equal depth below both skins.

use nalgebra::Isometry3;

use super::contact_patch::{ContactPatch, PressureSource};
use super::flood::Flood;
use super::pair::{Order, PairFrame};
use super::pieces::Pieces;
use super::slice::Scale;
use super::{bitset_culling, field_on_field};
use crate::field::{OUTSIDE, PressureField};
use crate::patch_geometry::Side;
use crate::posed::Posed;
use crate::pressure_bvh::Relative;
use crate::soft_mesh::SoftMesh;

/// Polygons up to this fraction of a vertex's area have zero weight, those from twice that full weight: where two
/// meshes nearly coincide, hundreds of slivers along their edges would otherwise carry a thousandth of the load.
const SLIVER: f64 = 1e-3;

/// Reused storage.
#[derive(Default)]
pub(crate) struct SoftOverlap {
    flood: Flood,
    found: Pieces,
}

impl SoftOverlap {
    /// The patch, with the pressure given by the pair's stiffness (N/m) and the overlap.
    pub(crate) fn patch(
        &mut self,
        a: (&Posed<'_>, &SoftMesh),
        b: (&Posed<'_>, &SoftMesh),
        stiffness: f64,
        out: &mut ContactPatch,
    ) {
        let (frame, area) = self.overlap(a, b);
        let source = PressureSource::Depth(stiffness / area);
        out.fill(&self.found, &frame, &source);
    }

    /// Finds the polygons; returns the area (m²) that corresponds to the pair's stiffness.
    fn overlap<'a>(
        &mut self,
        (a, mesh_A): (&Posed<'_>, &'a SoftMesh),
        (b, mesh_B): (&Posed<'_>, &'a SoftMesh),
    ) -> (PairFrame<'a>, f64) {
        let is_self = a.is_same_as(b);
        let (first, second) = (mesh_A.depth(), mesh_B.depth());
        let area = 0.5 * (mesh_A.vertex_area() + mesh_B.vertex_area());
        self.find(first, second, is_self.then_some(mesh_A), SLIVER * area);
        if self.found.pieces.is_empty() && !is_self && enclosed(first, second) {
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
        let frame = PairFrame {
            order: Order::AsGiven,
            first: Side::Field(first),
            second: Side::Field(second),
            X_WF: Isometry3::identity(),
        };
        (frame, area)
    }

    /// Finds the polygons; for self-contact, each once and without tetrahedra near each other in `own`. Polygons up to
    /// `sliver` (m²) are dropped.
    fn find(
        &mut self,
        first: &PressureField,
        second: &PressureField,
        own: Option<&SoftMesh>,
        sliver: f64,
    ) {
        let found = &mut self.found;
        found.clear();
        found.set_scale(Scale::of_fields(first, second));
        found.drop_up_to(sliver);
        if own.is_none() && bitset_culling::is_small(first) && bitset_culling::is_small(second) {
            field_on_field::find_in_small(first, second, found);
        } else {
            self.walk(first, second, own);
        }
    }

    /// Starts where the skin of one body is inside the other, and walks over all pairs of tetrahedra that the surface
    /// of equal depth passes through. Polygons too small to be kept continue the walk.
    fn walk(&mut self, first: &PressureField, second: &PressureField, own: Option<&SoftMesh>) {
        let Self { flood, found, .. } = self;
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

/// Whether the tetrahedra that carry two of the field's share a vertex or are connected by an edge.
fn near(mesh: &SoftMesh, i: u32, j: u32) -> bool {
    mesh.are_adjacent(mesh.carrier_of(i), mesh.carrier_of(j))
}

/// Whether one body may be entirely inside the other.
fn enclosed(first: &PressureField, second: &PressureField) -> bool {
    let holds = |field: &PressureField, other: &PressureField| {
        let root = field.tet_tree().root();
        let deepest = other.deepest_point();
        deepest.is_some_and(|x| (0..3).all(|k| root.min[k] <= x[k] && x[k] <= root.max[k]))
    };
    holds(first, second) || holds(second, first)
}

#[cfg(test)]
mod tests {
    use super::super::balance::Balance;
    use super::super::pieces::Group;
    use super::super::polygon::Moments;
    use super::*;
    use crate::mesh::generate::tet_cuboid;
    use nalgebra::{Point3, UnitQuaternion, Vector3};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn cuboid(
        noise: f64,
        half: Vector3<f64>,
        cells: [u32; 3],
        X: &Isometry3<f64>,
        rng: &mut ChaCha8Rng,
    ) -> SoftMesh {
        let mesh = tet_cuboid(half, cells).unwrap();
        let mut any = || rng.random_range(-1.0..1.0) * noise * half.min();
        let vertices = mesh.vertices().iter();
        let points: Vec<Point3<f64>> = vertices
            .map(|x| X * Point3::from(x + Vector3::from_fn(|_, _| any())))
            .collect();
        let triangles = &mesh.boundary().triangles;
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| v.0)).collect();
        let tets: Vec<[u32; 4]> = mesh.tets().iter().map(|t| t.map(|v| v.0)).collect();
        SoftMesh::new(&points, &triangles, &tets).unwrap()
    }

    type Key = ((u32, u32), Group, Moments, Balance);

    fn keys(found: &mut Pieces) -> Vec<Key> {
        found.sort();
        let sorted = found.sorted();
        sorted
            .map(|(_, p)| (p.elements, p.group, p.moments, p.balance))
            .collect()
    }

    fn found(lower: &SoftMesh, upper: &SoftMesh) -> SoftOverlap {
        let sliver = SLIVER * upper.vertex_area();
        let mut overlap = SoftOverlap::default();
        overlap.find(lower.depth(), upper.depth(), None, sliver);
        overlap
    }

    /// The polygons of all pairs of tetrahedra, from which the result is expected to differ only in order.
    fn found_by_brute_force(lower: &SoftMesh, upper: &SoftMesh) -> Pieces {
        let sliver = SLIVER * upper.vertex_area();
        let (mut flood, mut all) = (Flood::default(), Pieces::default());
        let identity = Relative::new(&Isometry3::identity());
        let (first, second) = (lower.depth(), upper.depth());
        field_on_field::find_among_all(first, second, &identity, &mut flood, &mut all);
        all.pieces.retain(|piece| piece.moments.area > sliver);
        assert_eq!(keys(&mut found(lower, upper).found), keys(&mut all));
        all
    }

    #[test]
    fn overlap_agrees_with_brute_force() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let half = Vector3::repeat(0.05);
        for cells in [[1, 1, 1], [2, 2, 1]] {
            let mut polygons = 0;
            for upper in [[1, 1, 1], [3, 1, 2], [3, 3, 3]] {
                for tilt in [0.0, 1e-3, 0.3] {
                    for _ in 0..20 {
                        let mut any = |most: f64| rng.random_range(-1.0..1.0) * most;
                        let shift = Vector3::new(any(0.05), any(0.05), 0.095 + any(5e-3));
                        let rotation = UnitQuaternion::new(Vector3::from_fn(|_, _| any(tilt)));
                        let X = Isometry3::from_parts(shift.into(), rotation);
                        let lower = cuboid(0.02, half, cells, &Isometry3::identity(), &mut rng);
                        let upper = cuboid(0.02, half, upper, &X, &mut rng);
                        polygons += found_by_brute_force(&lower, &upper).pieces.len();
                    }
                }
            }
            assert!(polygons > 500, "{cells:?}: {polygons}");
        }
    }

    #[test]
    fn overlap_of_coplanar_sides_agrees_with_the_walk() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let half = Vector3::repeat(0.05);
        for (x, y) in [(0.0, 0.0), (0.03, 0.02), (0.0, 0.1)] {
            for deep in [0.0, 1e-16, 1e-12, 1e-6] {
                let X = Isometry3::translation(x, y, 0.1 - deep);
                let lower = cuboid(0.0, half, [1, 1, 1], &Isometry3::identity(), &mut rng);
                let upper = cuboid(0.0, half, [1, 1, 1], &X, &mut rng);
                let mut overlap = found(&lower, &upper);
                let at_once = keys(&mut overlap.found);
                overlap.found.pieces.clear();
                overlap.walk(lower.depth(), upper.depth(), None);
                assert_eq!(at_once, keys(&mut overlap.found), "{x} {y} {deep}");
                assert_eq!(at_once.is_empty(), y > 0.05, "{x} {y} {deep}");
            }
        }
    }

    /// The depth in a long brick of twelve tetrahedra decreases from its centre, and balances larger depths of the
    /// other brick.
    #[test]
    fn a_brick_entirely_inside_another_is_found() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let [long, small] = [Vector3::new(0.2, 0.05, 0.05), Vector3::repeat(0.02)];
        for _ in 0..20 {
            let mut any = |most: f64| rng.random_range(-1.0..1.0) * most;
            let position = Vector3::new(0.15 + any(5e-3), any(5e-3), any(5e-3));
            let X = Isometry3::new(position, Vector3::from_fn(|_, _| any(0.3)));
            let outer = cuboid(0.02, long, [1, 1, 1], &Isometry3::identity(), &mut rng);
            let inner = cuboid(0.02, small, [1, 1, 1], &X, &mut rng);
            let found = found_by_brute_force(&outer, &inner);
            assert!(!found.pieces.is_empty());
        }
    }
}
