//! Poses against each other: what must hold whatever the shapes.

use super::*;
use crate::contact_point::PointStiffness;
use crate::field::Compliance;
use crate::posed::{RigidShape, Twist};
use crate::test_support::{l_shape, random_pose, random_rotation};
use crate::{Primitive, Shape};
use nalgebra::{Point3, Translation3, UnitQuaternion};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn compliance(margin: f64) -> Compliance {
    Compliance {
        hydroelastic_modulus: 1.0e5,
        margin,
        mesh_resolution_hint: 0.04,
        slab_thickness: Some(0.1),
    }
}

/// A shape with its patch geometry.
#[derive(Clone)]
struct Body {
    shape: Shape,
    patch: PatchGeometry,
}

impl Body {
    fn compliant(shape: Shape, margin: f64) -> Self {
        let patch = PatchGeometry::compliant(&shape, &compliance(margin)).unwrap();
        Self { shape, patch }
    }

    fn rigid(shape: Shape) -> Self {
        let patch = PatchGeometry::rigid(&shape, 0.04).unwrap();
        Self { shape, patch }
    }

    fn at(&self, X_WG: Isometry3<f64>) -> Posed<'_> {
        Posed::Rigid(RigidShape {
            shape: &self.shape,
            X_WG,
            V_WG: Twist::zero(),
            patch: Some(&self.patch),
        })
    }
}

fn l_mesh() -> Shape {
    let (vertices, triangles) = l_shape();
    let small: Vec<_> = vertices
        .iter()
        .map(|p| Point3::from((p.coords - Vector3::new(0.2, 0.15, 0.2)) * 0.4))
        .collect();
    Shape::mesh(&small, &triangles).unwrap()
}

fn bounded() -> Vec<Shape> {
    vec![
        Shape::sphere(0.1).unwrap(),
        Shape::cuboid(Vector3::new(0.2, 0.15, 0.1)).unwrap(),
        Shape::cylinder(0.08, 0.2).unwrap(),
        Shape::capsule(0.06, 0.12).unwrap(),
        Shape::ellipsoid(Vector3::new(0.1, 0.06, 0.14)).unwrap(),
        Shape::cone(0.1, 0.2).unwrap(),
        l_mesh(),
    ]
}

fn pairs(margin: f64) -> Vec<(Body, Body)> {
    let mut shapes = bounded();
    shapes.push(Shape::half_space());
    let compliant: Vec<_> = shapes
        .iter()
        .map(|s| Body::compliant(s.clone(), margin))
        .collect();
    let rigid: Vec<_> = shapes.iter().map(|s| Body::rigid(s.clone())).collect();
    let mut pairs = Vec::new();
    for (i, a) in compliant.iter().enumerate() {
        for b in compliant[i..].iter().chain(&rigid) {
            if a.patch.meets(&b.patch) {
                pairs.push((a.clone(), b.clone()));
            }
        }
    }
    pairs
}

fn is_hollow(body: &Body) -> bool {
    matches!(body.shape, Shape::Mesh(_))
}

fn points(a: Posed<'_>, b: Posed<'_>) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    PatchContact
        .collide(a, b, &Query::new(1e-3, 9.81).unwrap(), &mut out)
        .expect("a pair of mine")
        .expect("finite");
    out
}

fn patch(a: Posed<'_>, b: Posed<'_>) -> ContactPatch {
    let mut out = ContactPatch::default();
    PatchContact
        .patch(a, b, &mut out)
        .expect("a pair of mine")
        .expect("finite");
    out
}

/// Elastic force of B on A and its moment about the world's origin, from the points.
fn wrench(points: &[ContactPoint]) -> (Vector3<f64>, Vector3<f64>) {
    points
        .iter()
        .fold((Vector3::zeros(), Vector3::zeros()), |(f, m), c| {
            let push = c.normal_W * (c.stiffness.of_pair(f64::NAN) * -c.signed_distance).max(0.0);
            (f + push, m + c.p_WC.coords.cross(&push))
        })
}

/// A random pose near enough to touch: A's centre within 0.2 m of B's.
fn near(rng: &mut ChaCha8Rng) -> Isometry3<f64> {
    Isometry3::from_parts(
        Translation3::from(Vector3::from_fn(|_, _| rng.random_range(-0.12..0.12))),
        random_rotation(rng),
    )
}

#[test]
fn flooding_finds_what_looking_at_all_pairs_finds() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut polygons, mut touching, mut missed) = (0, 0, 0);
    for margin in [0.0, 2e-3] {
        for (a, b) in pairs(margin) {
            for _ in 0..30 {
                let X = Relative::new(&near(&mut rng));
                let mut flood = Flood::default();
                let (mut fast, mut all) = (Found::default(), Found::default());
                match (&a.patch, &b.patch) {
                    (PatchGeometry::Compliant(f), PatchGeometry::Compliant(g)) => {
                        field_on_field::find(f, g, &X, &mut flood, &mut fast);
                        field_on_field::find_among_all(f, g, &X, &mut flood, &mut all);
                    }
                    (PatchGeometry::Compliant(f), PatchGeometry::Rigid(s)) => {
                        field_on_surface::find(f, s, &X, &mut flood, &mut fast);
                        field_on_surface::find_among_all(f, s, &X, &mut flood, &mut all);
                    }
                    _ => continue,
                }
                fast.sort();
                all.sort();
                polygons += all.pieces.len();
                touching += usize::from(!all.pieces.is_empty());
                // Two sorted lists, one part of the other.
                let mut reached = fast.pieces.iter().map(|p| (p.elements, p.group)).peekable();
                for p in &all.pieces {
                    if reached.peek() == Some(&(p.elements, p.group)) {
                        reached.next();
                        continue;
                    }
                    // Only a closed part, deep inside of both, can be missed, and only where a hollow body has several peaks.
                    let (f, on_skin) = match &a.patch {
                        PatchGeometry::Compliant(f) => {
                            (f, f.across(p.elements.0).contains(&crate::field::OUTSIDE))
                        }
                        _ => unreachable!("A is compliant"),
                    };
                    let hollow =
                        matches!(a.shape, Shape::Mesh(_)) || matches!(b.shape, Shape::Mesh(_));
                    let star = f
                        .across(p.elements.0)
                        .iter()
                        .filter(|n| **n != crate::field::OUTSIDE)
                        .count()
                        == 3;
                    assert!(
                        hollow && (!on_skin || star),
                        "{} on {}",
                        a.shape.name(),
                        b.shape.name()
                    );
                    missed += 1;
                }
                assert!(reached.next().is_none());
            }
        }
    }
    assert!(
        polygons > 100_000 && touching > 4000,
        "{polygons} {touching}"
    );
    assert!(missed < polygons / 1000, "{missed} of {polygons}");
}

#[test]
fn points_carry_force_and_moment_of_the_patch() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for (a, b) in pairs(1e-3) {
        for _ in 0..20 {
            let (X_WA, X_WB) = (near(&mut rng), near(&mut rng));
            let patch = patch(a.at(X_WA), b.at(X_WB));
            let s = patch.summary();
            let (force, moment) = wrench(&points(a.at(X_WA), b.at(X_WB)));
            let scale = patch
                .polygons()
                .iter()
                .map(|p| p.pressure * p.area)
                .sum::<f64>();
            assert!((force - s.force_W).norm() <= 1e-9 * scale);
            let wanted = s.moment_W + s.center_of_pressure.coords.cross(&s.force_W);
            assert!(
                (moment - wanted).norm() <= 1e-9 * scale,
                "{}",
                (moment - wanted).norm() / scale
            );
        }
    }
}

#[test]
fn exchanging_the_sides_changes_nothing_but_the_names() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    for (a, b) in pairs(1e-3) {
        for _ in 0..10 {
            let (X_WA, X_WB) = (near(&mut rng), near(&mut rng));
            let (there, back) = (
                points(a.at(X_WA), b.at(X_WB)),
                points(b.at(X_WB), a.at(X_WA)),
            );
            let (f, m) = wrench(&there);
            let (g, n) = wrench(&back);
            let scale = there
                .iter()
                .map(|c| c.stiffness.of_pair(0.0) * c.signed_distance.abs())
                .sum::<f64>();
            assert!((f + g).norm() <= 1e-10 * scale && (m + n).norm() <= 1e-10 * scale);
            assert_eq!(there.len(), back.len());
            // Groups are in another order, and two points of a group may have changed names.
            let mut sorted: Vec<ContactPoint> = back.iter().map(ContactPoint::swapped).collect();
            for c in &there {
                let nearest = sorted
                    .iter()
                    .enumerate()
                    .map(|(i, d)| {
                        (
                            i,
                            (d.p_WC - c.p_WC).norm() + (d.normal_W - c.normal_W).norm(),
                        )
                    })
                    .min_by(|x, y| x.1.total_cmp(&y.1))
                    .unwrap();
                assert!(
                    nearest.1 < 1e-9,
                    "{} on {}: {}",
                    a.shape.name(),
                    b.shape.name(),
                    nearest.1
                );
                sorted.swap_remove(nearest.0);
            }
        }
    }
}

#[test]
fn a_common_motion_moves_force_and_patch_along() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    for (a, b) in pairs(1e-3) {
        for _ in 0..10 {
            let (X_WA, X_WB, X) = (near(&mut rng), near(&mut rng), random_pose(&mut rng, 2.0));
            let here = *patch(a.at(X_WA), b.at(X_WB)).summary();
            let there = *patch(a.at(X * X_WA), b.at(X * X_WB)).summary();
            let scale = here.force_W.norm().max(here.area * here.pressure_max);
            assert!((X.rotation * here.force_W - there.force_W).norm() <= 1e-9 * scale);
            assert!((here.area - there.area).abs() <= 1e-9 * here.area);
            assert!((X.rotation * here.moment_W - there.moment_W).norm() <= 1e-9 * scale);
            if here.area > 0.0 {
                assert!((X * here.center_of_pressure - there.center_of_pressure).norm() < 1e-8);
            }
        }
    }
}

#[test]
fn every_point_is_sound_and_its_key_is_its_own() {
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    for (a, b) in pairs(2e-3) {
        for _ in 0..10 {
            let (X_WA, X_WB) = (near(&mut rng), near(&mut rng));
            let found = points(a.at(X_WA), b.at(X_WB));
            let mut keys: Vec<_> = found.iter().map(|c| c.key).collect();
            keys.sort_unstable();
            assert!(keys.windows(2).all(|w| w[0] != w[1]));
            for c in &found {
                let PointStiffness::OfPatch {
                    stiffness,
                    part_of_A,
                } = c.stiffness
                else {
                    panic!("a patch point has its own stiffness");
                };
                assert!(
                    stiffness > 0.0 && stiffness.is_finite() && (0.0..=1.0).contains(&part_of_A)
                );
                assert!(c.signed_distance.is_finite() && (c.normal_W.norm() - 1.0).abs() < 1e-12);
                assert_eq!(
                    (c.a.primitive, c.b.primitive),
                    (Primitive::Frame, Primitive::Frame)
                );
                assert!((X_WA * Point3::from(c.a.offset) - c.p_WC).norm() < 1e-12);
                assert!((X_WB * Point3::from(c.b.offset) - c.p_WC).norm() < 1e-12);
            }
            assert_eq!(
                found,
                points(a.at(X_WA), b.at(X_WB)),
                "the same question, the same answer"
            );
        }
    }
}

/// Poses at which planes coincide with faces, vertices with planes, frames with frames.
fn degenerate_poses() -> Vec<Isometry3<f64>> {
    let quarter = std::f64::consts::FRAC_PI_2;
    let mut poses = Vec::new();
    for turn in [
        Vector3::zeros(),
        Vector3::x() * quarter,
        Vector3::y() * quarter,
        Vector3::z() * quarter,
        Vector3::z() * (0.5 * quarter),
        Vector3::x() * (2.0 * quarter),
        Vector3::new(1e-9, 0.0, 0.0),
        Vector3::new(1e-15, 2e-15, 0.0),
    ] {
        for shift in [
            Vector3::zeros(),
            Vector3::z() * 0.1,
            Vector3::z() * 0.05,
            Vector3::x() * 0.2,
            Vector3::new(0.2, 0.15, 0.1),
            Vector3::new(0.1, 0.075, 0.05),
            Vector3::z() * 1e-12,
            Vector3::z() * (0.1 - 1e-12),
            Vector3::new(0.0, 1e-16, 0.099),
        ] {
            poses.push(Isometry3::new(shift, turn));
            poses.push(Isometry3::new(-shift, turn));
        }
    }
    poses
}

#[test]
fn degenerate_poses_give_finite_answers() {
    for margin in [0.0, 1e-3] {
        for (a, b) in pairs(margin) {
            // Filled meshes have thousands of tetrahedra: some of the poses will do.
            let every = if is_hollow(&a) || is_hollow(&b) { 9 } else { 1 };
            for X in degenerate_poses().into_iter().step_by(every) {
                let s = *patch(a.at(X), b.at(Isometry3::identity())).summary();
                assert!(
                    s.area.is_finite()
                        && s.force_W.sum().is_finite()
                        && s.moment_W.sum().is_finite()
                );
                for c in points(a.at(X), b.at(Isometry3::identity())) {
                    assert!(c.p_WC.coords.sum().is_finite() && c.signed_distance.is_finite());
                }
            }
        }
    }
}

#[test]
fn a_plane_through_a_layer_of_vertices_is_counted_once() {
    let cube = Body::compliant(Shape::cuboid(Vector3::repeat(0.2)).unwrap(), 0.0);
    let plate = Body::compliant(Shape::cuboid(Vector3::new(0.4, 0.4, 0.1)).unwrap(), 0.0);
    let floor = Body::rigid(Shape::half_space());
    let top = Body::rigid(Shape::cuboid(Vector3::new(1.0, 1.0, 0.4)).unwrap());
    for (ground, level) in [(&floor, 0.0), (&top, 0.2)] {
        for body in [&cube, &plate] {
            let at = |z: f64| {
                let X = Isometry3::translation(0.0, 0.0, level + z);
                *patch(body.at(X), ground.at(Isometry3::identity())).summary()
            };
            // The plane passes through the medial points: the limit from either side.
            let (exact, above, below) = (at(0.0), at(1e-7), at(-1e-7));
            let mean = 0.5 * (above.area + below.area);
            assert!(
                (exact.area - mean).abs() < 1e-4 * mean,
                "{} {}",
                exact.area,
                mean
            );
            let mean = 0.5 * (above.force_W.z + below.force_W.z);
            assert!(
                (exact.force_W.z - mean).abs() < 1e-4 * mean,
                "{} {}",
                exact.force_W.z,
                mean
            );
        }
    }
}

#[test]
fn force_is_continuous_along_random_paths() {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    for (a, b) in pairs(1e-3) {
        let (paths, n) = if is_hollow(&a) || is_hollow(&b) {
            (1, 20)
        } else {
            (3, 60)
        };
        for _ in 0..paths {
            let (from, to) = (near(&mut rng), near(&mut rng));
            let force = |s: f64| {
                let shift = from.translation.vector.lerp(&to.translation.vector, s);
                let turn = from.rotation.slerp(&to.rotation, s);
                let X = Isometry3::from_parts(Translation3::from(shift), turn);
                patch(a.at(X), b.at(Isometry3::identity()))
                    .summary()
                    .force_W
            };
            // A jump does not shrink with the step: halve where it is largest and compare.
            let forces: Vec<_> = (0..=n)
                .map(|i| force(f64::from(i) / f64::from(n)))
                .collect();
            let largest = forces.iter().map(Vector3::norm).fold(0.0, f64::max);
            let worst = (0..n as usize)
                .max_by(|&i, &j| {
                    (forces[i + 1] - forces[i])
                        .norm()
                        .total_cmp(&(forces[j + 1] - forces[j]).norm())
                })
                .unwrap();
            let (mut low, mut high) = (
                worst as f64 / f64::from(n),
                (worst + 1) as f64 / f64::from(n),
            );
            for _ in 0..24 {
                let middle = 0.5 * (low + high);
                let (f, g, h) = (force(low), force(middle), force(high));
                if (g - f).norm() > (h - g).norm() {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            let jump = (force(high) - force(low)).norm();
            assert!(
                jump <= 1e-4 * largest.max(1e-3),
                "{} on {}: {jump} of {largest}",
                a.shape.name(),
                b.shape.name()
            );
        }
    }
}

#[test]
fn pairs_without_a_patch_are_refused_by_name_or_left_to_points() {
    let (box_, floor) = (
        Shape::cuboid(Vector3::repeat(0.1)).unwrap(),
        Shape::half_space(),
    );
    let c = compliance(0.0);
    let all = [
        Some(PatchGeometry::compliant(&box_, &c).unwrap()),
        Some(PatchGeometry::compliant(&floor, &c).unwrap()),
        Some(PatchGeometry::rigid(&box_, 0.1).unwrap()),
        Some(PatchGeometry::rigid(&floor, 0.1).unwrap()),
        None,
    ];
    let table = [
        [true, true, true, true, false],
        [true, false, true, false, false],
        [true, true, false, false, false],
        [true, false, false, false, false],
        [false; 5],
    ];
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            let found = PatchGeometry::check_pair(("left", a.as_ref()), ("right", b.as_ref()));
            assert_eq!(found.is_ok(), table[i][j], "{i} {j}");
            if let Err(e) = found {
                let text = e.to_string();
                assert!(
                    text.contains("\"left\"") && text.contains("\"right\""),
                    "{text}"
                );
            }
        }
    }
    let stiff = Body::rigid(box_);
    let posed = || stiff.at(Isometry3::identity());
    let mut q = Query::new(1e-3, 9.81).unwrap();
    let mut out = Vec::new();
    assert!(
        PatchContact
            .collide(posed(), posed(), &q, &mut out)
            .is_none()
    );
    q.choice = ContactChoice::Patch;
    let answer = PatchContact.collide(posed(), posed(), &q, &mut out);
    assert!(matches!(answer, Some(Err(GeometryError::NoPatch { .. }))));
    let soft = Body::compliant(Shape::sphere(0.1).unwrap(), 0.0);
    q.choice = ContactChoice::Point;
    let answer = PatchContact.collide(soft.at(Isometry3::identity()), posed(), &q, &mut out);
    assert!(answer.is_none() && out.is_empty());
}

#[test]
fn a_body_that_would_pass_through_within_the_step_is_met_by_its_path() {
    let ball = Body::compliant(Shape::sphere(0.02).unwrap(), 1e-4);
    let wall = Body::rigid(Shape::cuboid(Vector3::new(1.0, 1.0, 0.01)).unwrap());
    let mut out = Vec::new();
    for (speed, met) in [(1.0, false), (100.0, true)] {
        let moving = Posed::Rigid(RigidShape {
            V_WG: Twist {
                angular: Vector3::zeros(),
                linear: Vector3::z() * -speed,
            },
            ..match ball.at(Isometry3::translation(0.1, 0.1, 0.05)) {
                Posed::Rigid(r) => r,
                Posed::Deforming(_) | Posed::Filament(_) => unreachable!("a rigid body"),
            }
        });
        out.clear();
        let q = Query::new(1e-3, 9.81).unwrap();
        PatchContact
            .collide(moving, wall.at(Isometry3::identity()), &q, &mut out)
            .unwrap()
            .unwrap();
        assert_eq!(!out.is_empty(), met, "{speed}");
        assert!(out.iter().all(|c| c.entry > 0.0));
    }
}

#[test]
fn what_will_press_within_the_step_is_foreseen_and_nothing_else() {
    let cube = Body::compliant(Shape::cuboid(Vector3::repeat(0.1)).unwrap(), 1e-3);
    let floor = Body::rigid(Shape::half_space());
    let found = |gap: f64, speed: f64| {
        let moving = match cube.at(Isometry3::translation(0.2, 0.1, 0.05 + gap)) {
            Posed::Rigid(r) => Posed::Rigid(RigidShape {
                V_WG: Twist {
                    angular: Vector3::zeros(),
                    linear: Vector3::z() * -speed,
                },
                ..r
            }),
            Posed::Deforming(_) | Posed::Filament(_) => unreachable!("a rigid body"),
        };
        let q = Query::new(1e-3, 9.81).unwrap();
        let mut out = Vec::new();
        PatchContact
            .collide(moving, floor.at(Isometry3::identity()), &q, &mut out)
            .unwrap()
            .unwrap();
        assert!(out.iter().all(|c| (c.signed_distance - gap).abs() < 1e-9));
        out.len()
    };
    // The margin of the query is 2 g dt² = 2e-5 m, that of the field 1e-3 m.
    assert_eq!(found(1e-5, 0.0), 3);
    assert_eq!(found(5e-4, 0.0), 0);
    assert_eq!(found(5e-4, 0.6), 3);
    assert_eq!(found(1.1e-3, 2.0), 0);
}

#[test]
fn bad_poses_are_refused_and_leave_the_list_alone() {
    let (a, b) = (
        Body::compliant(Shape::sphere(0.1).unwrap(), 0.0),
        Body::rigid(Shape::half_space()),
    );
    let lost = Isometry3::from_parts(
        Translation3::new(f64::NAN, 0.0, 0.0),
        UnitQuaternion::identity(),
    );
    let mut out = Vec::new();
    let q = Query::new(1e-3, 9.81).unwrap();
    let answer = PatchContact.collide(a.at(lost), b.at(Isometry3::identity()), &q, &mut out);
    assert!(matches!(
        answer,
        Some(Err(GeometryError::NotFinite { side: 'a', .. }))
    ));
    assert!(out.is_empty());
}

/// A straight filament of two segments along x: four-sided tubes around it, the pressure highest on the centre line.
fn filament(points: &[Point3<f64>; 3], radius: f64) -> (PressureField, Vec<crate::Attachment>) {
    let mut vertices = Vec::new();
    for p in points {
        vertices.push(p.coords);
        for side in [Vector3::y(), Vector3::z(), -Vector3::y(), -Vector3::z()] {
            vertices.push(p.coords + side * radius);
        }
    }
    let (mut tets, mut attachments) = (Vec::new(), Vec::new());
    for segment in 0..2_u32 {
        let (low, high) = (5 * segment, 5 * segment + 5);
        let start = tets.len();
        for i in 0..4_u32 {
            let (u, v) = (1 + i, 1 + (i + 1) % 4);
            let sides = [
                [low + u, low + v, high + v, high + u],
                [low, low + u, high + u, high],
                [low, low + v, high + v, high],
            ];
            let (a, b) = ([low, low + u, low + v], [high, high + u, high + v]);
            crate::cells::cut_cell(&[&a, &b, &sides[0], &sides[1], &sides[2]], &mut tets);
        }
        for tet in &tets[start..] {
            let weights = tet.map(|v| {
                if v >= high {
                    [0.0, 1.0, 0.0, 0.0]
                } else {
                    [1.0, 0.0, 0.0, 0.0]
                }
            });
            attachments.push(crate::Attachment {
                primitive: Primitive::Edge(segment),
                vertices: [segment, segment + 1, segment, segment],
                weights,
            });
        }
    }
    let options = crate::mesh::TetOptions::default();
    let (mesh, _) = crate::mesh::TetMesh::build(vertices, tets, &options).unwrap();
    let pressures: Vec<f64> = (0..15)
        .map(|v| if v % 5 == 0 { 1.0e5 } else { 0.0 })
        .collect();
    let field = PressureField::from_vertex_pressures(&mesh, &pressures).unwrap();
    (field, attachments)
}

static STILL: [Vector3<f64>; 3] = [Vector3::new(0.0, 0.0, 0.0); 3];

fn hung<'a>(
    points: &'a [Point3<f64>; 3],
    field: &'a PressureField,
    exclusion: &'a crate::SelfExclusion,
) -> Posed<'a> {
    Posed::Deforming(crate::DeformingSurface {
        id: 1,
        points,
        radii: &[0.01; 3],
        velocities: &STILL,
        exclusion,
        field: Some(field),
        mesh: None,
    })
}

#[test]
fn a_filaments_patch_hangs_on_its_segments_and_follows_when_it_moves() {
    let radius = 0.01;
    let lying = [0.0, 0.1, 0.2].map(|x| Point3::new(x, 0.0, 0.9 * radius));
    let (field, attachments) = filament(&lying, radius);
    let exclusion = crate::SelfExclusion::default();
    let floor = Body::rigid(Shape::half_space());
    let mut out = Vec::new();
    let q = Query::new(1e-3, 9.81).unwrap();
    let loose = PatchContact.collide(
        hung(&lying, &field, &exclusion),
        floor.at(Isometry3::identity()),
        &q,
        &mut out,
    );
    assert!(
        loose
            .unwrap()
            .unwrap_err()
            .to_string()
            .contains("attachments")
    );
    let mut field = field.attached(attachments).unwrap();
    let force = |points: &[Point3<f64>; 3], field: &PressureField| {
        let mut out = Vec::new();
        PatchContact
            .collide(
                hung(points, field, &exclusion),
                floor.at(Isometry3::identity()),
                &q,
                &mut out,
            )
            .unwrap()
            .unwrap();
        for c in &out {
            let Primitive::Edge(segment) = c.a.primitive else {
                panic!("{:?}", c.a.primitive);
            };
            let [s, t] = [segment, segment + 1].map(|i| points[i as usize].coords);
            let place = s * c.a.weights[0] + t * c.a.weights[1] + c.a.offset;
            assert!((c.a.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!((place - c.p_WC.coords).norm() < 1e-12);
            assert!((-1e-9..=1.0 + 1e-9).contains(&c.a.weights[0]));
        }
        wrench(&out)
    };
    let (flat, _) = force(&lying, &field);
    assert!(flat.z > 0.0 && flat.xy().norm() < 1e-9 * flat.z);
    // Lift one end out: half of the length no longer presses, the force moves to the other end.
    let lifted = [lying[0], lying[1], Point3::new(0.2, 0.0, 0.05)];
    let mut vertices = field.vertices().to_vec();
    for v in &mut vertices[10..15] {
        v.z += lifted[2].z - lying[2].z;
    }
    field.move_vertices(&vertices).unwrap();
    let (half, moment) = force(&lifted, &field);
    assert!(
        half.z > 0.5 * flat.z && half.z < 0.6 * flat.z,
        "{} of {}",
        half.z,
        flat.z
    );
    assert!(-moment.y / half.z < 0.06);
}

#[test]
fn a_filament_and_a_compliant_body_press_on_each_other() {
    let radius = 0.01;
    let points = [0.0, 0.1, 0.2].map(|x| Point3::new(x - 0.1, 0.0, 0.05 + 0.9 * radius));
    let (field, attachments) = filament(&points, radius);
    let field = field.attached(attachments).unwrap();
    let exclusion = crate::SelfExclusion::default();
    let surface = hung(&points, &field, &exclusion);
    let cube = Body::compliant(Shape::cuboid(Vector3::repeat(0.1)).unwrap(), 0.0);
    let q = Query::new(1e-3, 9.81).unwrap();
    let (mut there, mut back) = (Vec::new(), Vec::new());
    PatchContact
        .collide(surface, cube.at(Isometry3::identity()), &q, &mut there)
        .unwrap()
        .unwrap();
    PatchContact
        .collide(cube.at(Isometry3::identity()), surface, &q, &mut back)
        .unwrap()
        .unwrap();
    let (up, down) = (wrench(&there).0, wrench(&back).0);
    assert!(up.z > 0.0 && (up + down).norm() < 1e-10 * up.z);
    assert!(
        there
            .iter()
            .all(|c| matches!(c.a.primitive, Primitive::Edge(_))
                && c.b.primitive == Primitive::Frame)
    );
    assert!(
        back.iter()
            .all(|c| matches!(c.b.primitive, Primitive::Edge(_))
                && c.a.primitive == Primitive::Frame)
    );
    // Its own surface is not its partner.
    assert!(
        PatchContact
            .collide(surface, surface, &q, &mut there)
            .is_none()
    );
}
