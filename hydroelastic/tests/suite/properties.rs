//! Laws of geometry that hold for any shape, mesh and pose: distances, sweeps, moments, patches, materials, and the refusal of bad numbers.

use nalgebra::{Isometry3, Matrix3, Point3, Vector2, Vector3};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{SolidMoments, TetMesh, TetOptions};
use pliant_hydroelastic::{
    Compliance, ContactMaterial, ContactPatch, ContactWorkspace, GeometryError, PatchContact,
    PatchGeometry, Posed, RigidShape, Shape, Twist,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

fn pose(reach: f64) -> impl Strategy<Value = Isometry3<f64>> {
    (vector(reach), vector(2.0)).prop_map(|(p, turn)| Isometry3::new(p, turn))
}

/// Kinds of convex shapes; all but the last have a pressure field.
const CONVEX: usize = 8;
const SOFT: usize = 7;

/// Of any kind, with three lengths.
fn convex(kind: usize, [x, y, z]: [f64; 3]) -> Result<Shape, GeometryError> {
    match kind {
        0 => Shape::sphere(x),
        1 => Shape::cuboid(Vector3::new(x, y, z)),
        2 => Shape::cylinder(x, y),
        3 => Shape::capsule(x, y),
        4 => Shape::ellipsoid(Vector3::new(x, y, z)),
        5 => Shape::cone(x, y),
        6 => Shape::convex_hull(&corners([x, y, z])),
        _ => Shape::elliptic_cylinder(Vector2::new(x, y), z),
    }
}

/// Of a tetrahedron with a fourth of its corners cut off.
fn corners([x, y, z]: [f64; 3]) -> [Point3<f64>; 6] {
    [
        Point3::new(x, 0.0, -0.1 * z),
        Point3::new(-x, 0.2 * y, 0.0),
        Point3::new(0.0, y, 0.0),
        Point3::new(0.1 * x, -y, 0.0),
        Point3::new(0.0, 0.1 * y, z),
        Point3::new(0.3 * x, 0.0, z),
    ]
}

fn lengths() -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(0.03..0.2)
}

fn shape(kinds: usize) -> impl Strategy<Value = Shape> {
    (0..kinds, lengths()).prop_map(|(kind, lengths)| convex(kind, lengths).unwrap())
}

/// Vertices of a block off their grid, and its tetrahedra.
fn block() -> impl Strategy<Value = (Vec<Vector3<f64>>, Vec<[u32; 4]>)> {
    (lengths(), prop::collection::vec(vector(0.12), 27)).prop_map(|(lengths, noise)| {
        let half = Vector3::from(lengths);
        let mesh = tet_cuboid(half, [2; 3]).unwrap();
        // Cells are as long as `half`.
        let moved = mesh.vertices().iter().zip(noise);
        let moved = moved.map(|(p, noise)| p + noise.component_mul(&half));
        let tets = mesh.tets().iter().map(|tet| tet.map(|vertex| vertex.0));
        (moved.collect(), tets.collect())
    })
}

fn moments(vertices: Vec<Vector3<f64>>, tets: Vec<[u32; 4]>) -> SolidMoments {
    let built = TetMesh::build(vertices, tets, &TetOptions::default());
    built.unwrap().0.solid_moments()
}

#[track_caller]
fn same_moments(found: &SolidMoments, expected: &SolidMoments) {
    // Sums of some hundred terms of tetrahedra up to 2 m away, whose spread is a difference of squares.
    let size = 1.0 + expected.centroid.norm();
    let off = (found.volume - expected.volume).abs() / expected.volume;
    assert!(off < 1e-12 * size, "volumes are {off:e} apart");
    let off = (found.centroid - expected.centroid).norm();
    assert!(off < 1e-11 * size, "centroids are {off:e} m apart");
    let off = (found.inertia_about_centroid - expected.inertia_about_centroid).norm();
    let tolerance = 1e-11 * expected.volume * size * size;
    assert!(off < tolerance, "inertias are {off:e} m⁵ apart");
}

fn compliant(shape: &Shape) -> PatchGeometry {
    let compliance = Compliance {
        hydroelastic_modulus: 1e5,
        margin: 0.0,
        mesh_resolution_hint: 0.05,
        slab_thickness: None,
    };
    PatchGeometry::compliant(shape, &compliance).unwrap()
}

fn patch(sides: [(&Shape, &PatchGeometry, Isometry3<f64>); 2]) -> ContactPatch {
    let [a, b] = sides.map(|(shape, patch, X_WG)| {
        Posed::Rigid(RigidShape {
            patch: Some(patch),
            ..RigidShape::at_rest(shape, X_WG)
        })
    });
    let mut out = ContactPatch::default();
    let found = PatchContact.patch(a, b, &mut ContactWorkspace::default(), &mut out);
    found.unwrap().unwrap();
    out
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn distances_to_convex_shapes_are_convex_and_lead_to_the_surface(
        shape in shape(CONVEX),
        (p, q) in (vector(0.4), vector(0.4)),
    ) {
        let phi = |p: &Vector3<f64>| shape.signed_distance(&Point3::from(*p));
        let (at_p, at_q) = (phi(&p), phi(&q));
        // Iterations on ellipses end at round-off of the largest length, 0.4 m.
        let round_off = 1e-12;
        prop_assert!((at_p.gradient.norm() - 1.0).abs() < round_off);
        let apart = (p - q).norm();
        prop_assert!((at_p.value - at_q.value).abs() <= apart + round_off);
        let middle = phi(&((p + q) * 0.5)).value;
        prop_assert!(middle <= 0.5 * (at_p.value + at_q.value) + round_off, "{middle}");
        let tangent = at_p.value + at_p.gradient.dot(&(q - p));
        prop_assert!(at_q.value >= tangent - round_off, "{} < {tangent}", at_q.value);
        let foot = p - at_p.gradient * at_p.value;
        prop_assert!(phi(&foot).value.abs() <= 1e-9, "{:e} m off the surface", phi(&foot).value);
    }

    #[test]
    fn gradient_and_hessian_outside_are_those_of_differences(
        shape in shape(CONVEX),
        p in vector(0.4),
        along in vector(1.0),
    ) {
        let phi = |p: Vector3<f64>| shape.signed_distance(&Point3::from(p));
        let (here, h) = (phi(p), 1e-6);
        prop_assume!(here.value > 0.02 && along.norm() > 0.1);
        let along = along.normalize();
        let (there, back) = (phi(p + along * h), phi(p - along * h));
        // The curvature is at most 1/φ, and may jump by so much where the nearest feature changes.
        let jump = h / here.value;
        let slope = (there.value - back.value) / (2.0 * h);
        let off = (slope - here.gradient.dot(&along)).abs();
        prop_assert!(off <= jump + 1e-9, "the gradient is off by {off:e}");
        // Where it does not jump within h, which the difference of both sides tells.
        let [up, down] = [there.gradient - here.gradient, here.gradient - back.gradient].map(|d| d / h);
        prop_assume!((up - down).norm() < 1e-3 / here.value);
        let off = (here.hessian * along - (up + down) * 0.5).norm();
        prop_assert!(off <= 1e-2 / here.value, "the Hessian is off by {off:e} 1/m");
    }

    #[test]
    fn swept_boxes_hold_every_point_at_every_time(
        shape in shape(CONVEX),
        X_WG in pose(0.5),
        (omega, v) in (vector(20.0), vector(5.0)),
        probe in vector(0.4),
        share in 0.0..=1.0_f64,
    ) {
        let moving = RigidShape {
            V_WG: Twist { angular: omega, linear: v },
            ..RigidShape::at_rest(&shape, X_WG)
        };
        let phi = shape.signed_distance(&Point3::from(probe));
        // A point of the surface, or the probe itself where it is inside.
        let p_GQ = Point3::from(probe - phi.gradient * phi.value.max(0.0));
        let step_s = 0.05;
        let p_WQ = moving.pose_after(share * step_s) * p_GQ;
        let bounds = moving.swept_aabb(step_s, 1e-9);
        prop_assert!(bounds.contains(&p_WQ), "{p_WQ} is not in {bounds:?}");
    }

    #[test]
    fn moments_of_a_solid_move_turn_and_scale_with_it(
        (vertices, tets) in block(),
        X_WM in pose(1.0),
        scale in 0.5..2.0_f64,
    ) {
        let here = moments(vertices.clone(), tets.clone());
        let moved = vertices.iter().map(|p| (X_WM * Point3::from(p * scale)).coords).collect();
        let turn: Matrix3<f64> = X_WM.rotation.to_rotation_matrix().into_inner();
        let expected = SolidMoments {
            volume: here.volume * scale.powi(3),
            centroid: (X_WM * Point3::from(here.centroid * scale)).coords,
            inertia_about_centroid: turn * here.inertia_about_centroid * turn.transpose() * scale.powi(5),
        };
        same_moments(&moments(moved, tets), &expected);
    }

    #[test]
    fn moments_do_not_depend_on_numbers_or_on_how_a_solid_is_cut(
        (vertices, tets) in block(),
        order in Just((0..27_u32).collect::<Vec<_>>()).prop_shuffle(),
        cut in any::<prop::sample::Index>(),
    ) {
        let whole = moments(vertices.clone(), tets.clone());
        let mut place = [0; 27];
        (0..).zip(&order).for_each(|(new, old)| place[*old as usize] = new);
        let shuffled = order.iter().map(|old| vertices[*old as usize]).collect();
        let renumbered = tets.iter().rev().map(|tet| tet.map(|old| place[old as usize])).collect();
        same_moments(&moments(shuffled, renumbered), &whole);
        // The boundary alone tells the same.
        let mesh = TetMesh::build(vertices.clone(), tets.clone(), &TetOptions::default()).unwrap().0;
        let (surface, _) = mesh.boundary_surface().unwrap();
        same_moments(&surface.solid_moments().unwrap(), &whole);
        // Two parts, by the theorem of parallel axes.
        let cut = 1 + cut.index(tets.len() - 1);
        let parts = [&tets[..cut], &tets[cut..]].map(|part| moments(vertices.clone(), part.to_vec()));
        let volume = parts[0].volume + parts[1].volume;
        let centroid = (parts[0].centroid * parts[0].volume + parts[1].centroid * parts[1].volume) / volume;
        let inertia_about_centroid = parts.iter().map(|part| {
            let arm = part.centroid - centroid;
            let shift = Matrix3::identity() * arm.norm_squared() - arm * arm.transpose();
            part.inertia_about_centroid + shift * part.volume
        }).sum();
        same_moments(&SolidMoments { volume, centroid, inertia_about_centroid }, &whole);
    }

    #[test]
    fn a_patch_turns_with_the_world(
        (a, b) in (shape(SOFT), shape(SOFT)),
        X_AB in pose(0.12),
        X_WA in pose(1.0),
    ) {
        let fields = [compliant(&a), compliant(&b)];
        let at = |X: Isometry3<f64>| *patch([(&a, &fields[0], X), (&b, &fields[1], X * X_AB)]).summary();
        let (here, there) = (at(Isometry3::identity()), at(X_WA));
        // Pressures have the round-off of a coordinate of 2 m over the depth of a field, 0.01 m and more, of 1e5 Pa; the shapes have less
        // than 1 m² and pieces down to 1e-9 of the pressure are told apart.
        let tolerance = 1e-7 * (1e5 * here.area) + 1e-9;
        prop_assert!((there.area - here.area).abs() <= 1e-7 * (here.area + 1e-3), "{} m²", there.area);
        let off = (there.force_W - X_WA * here.force_W).norm();
        prop_assert!(off <= tolerance, "{off:e} N of {}", here.force_W.norm());
        let off = (there.pressure_max - here.pressure_max).abs();
        prop_assert!(off <= 1e-7 * 1e5, "{off:e} Pa");
        // Pressure pushes A away from B, along the resultant of the patch's area.
        prop_assert!(here.force_W.norm() <= here.pressure_max * here.area * (1.0 + 1e-9) + 1e-9);
    }

    #[test]
    fn pairs_of_materials_have_no_order_and_are_no_stiffer_than_either(
        stiffness in prop::array::uniform2(1.0..1e9_f64),
        dissipation in prop::array::uniform2(0.0..100.0_f64),
        friction in prop::array::uniform2(0.0..2.0_f64),
    ) {
        let of = |k: usize| ContactMaterial {
            stiffness: stiffness[k],
            dissipation: dissipation[k],
            friction: friction[k],
            ..ContactMaterial::default()
        };
        let (a, b) = (of(0), of(1));
        let (pair, swapped) = (a.combined_with(&b), b.combined_with(&a));
        let close = |x: f64, y: f64| (x - y).abs() <= 4.0 * f64::EPSILON * (x.abs() + y.abs());
        prop_assert!(close(pair.stiffness, swapped.stiffness) && close(pair.dissipation, swapped.dissipation));
        prop_assert!(close(pair.friction, swapped.friction));
        prop_assert!(close(1.0 / pair.stiffness, 1.0 / a.stiffness + 1.0 / b.stiffness), "springs in series");
        let within = |x: f64, [a, b]: [f64; 2]| x >= a.min(b) * (1.0 - 1e-14) && x <= a.max(b) * (1.0 + 1e-14);
        prop_assert!(within(pair.dissipation, dissipation) && within(pair.friction, friction));
    }

    #[test]
    fn a_number_that_is_not_finite_is_refused_wherever_it_is(
        kind in 0..CONVEX,
        lengths in lengths(),
        (vertices, tets) in block(),
        place in any::<prop::sample::Index>(),
        bad in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ) {
        // Spheres have one length, cylinders, capsules and cones two.
        let used = match kind { 0 => 1, 2 | 3 | 5 => 2, _ => 3 };
        let mut spoilt = lengths;
        spoilt[place.index(used)] = bad;
        prop_assert!(convex(kind, spoilt).is_err());
        prop_assert!(kind == 6 || convex(kind, lengths.map(|x| -x)).is_err());
        let mut points = corners(lengths);
        points[place.index(6)][place.index(3)] = bad;
        prop_assert!(Shape::convex_hull(&points).is_err());
        let (mut spoilt, mut beyond) = (vertices.clone(), tets.clone());
        spoilt[place.index(27)][place.index(3)] = bad;
        prop_assert!(TetMesh::build(spoilt, tets, &TetOptions::default()).is_err());
        beyond[place.index(48)][place.index(4)] = 27;
        prop_assert!(TetMesh::build(vertices, beyond, &TetOptions::default()).is_err());
        let shape = convex(kind % SOFT, lengths).unwrap();
        let field = compliant(&shape);
        let mut X_WG = Isometry3::identity();
        X_WG.translation.vector[place.index(3)] = bad;
        let posed = |X| Posed::Rigid(RigidShape { patch: Some(&field), ..RigidShape::at_rest(&shape, X) });
        let mut out = ContactPatch::default();
        let found = PatchContact.patch(posed(X_WG), posed(Isometry3::identity()), &mut ContactWorkspace::default(), &mut out);
        prop_assert!(found.unwrap().is_err());
    }
}
