//! Filaments with a pressure field on a soft body.

use super::*;
use crate::{FlatSection, Outline, PatchContact};

const RADIUS: f64 = 0.01;

fn compliance() -> Compliance {
    Compliance {
        hydroelastic_modulus: 1e6,
        mesh_resolution_hint: 0.004,
        ..Compliance::default()
    }
}

/// Along x over the centre of the cube, with its centreline at height z, falling with `speed`.
fn filament(z: f64, flat: bool, speed: f64) -> Filament {
    let n = 8;
    let x = |i: usize| Point3::new(-0.03 + 0.06 * i as f64 / n as f64, 0.004, z);
    let points: Vec<_> = (0..=n).map(x).collect();
    let segments: Vec<_> = (0..n as u32).map(|i| [i, i + 1]).collect();
    let sections = match flat {
        true => vec![
            FlatSection {
                m_1: Vector3::y(),
                half_1: 2.0 * RADIUS,
                half_2: RADIUS,
                outline: Outline::Rectangle,
            };
            n
        ],
        false => Vec::new(),
    };
    let radii = vec![RADIUS; points.len()];
    let mut filament = Filament::new(7, &points, &segments, &radii)
        .unwrap()
        .with_field(&compliance(), &sections)
        .unwrap();
    let velocities = vec![Vector3::z() * -speed; points.len()];
    let dt = query().time_step_s;
    filament
        .move_to(&points, &velocities, &sections, dt)
        .unwrap();
    filament
}

/// The cube with its upper face at z = 0, as a soft body.
fn soft() -> Soft {
    Soft::cube(-0.05)
}

#[test]
fn force_of_a_field_on_a_soft_face_equals_that_on_a_rigid_one() {
    let soft = soft();
    let shape = Shape::cuboid(Vector3::repeat(0.1)).unwrap();
    let rigid = PatchGeometry::rigid(&shape, 0.02).unwrap();
    let X = Isometry3::translation(0.0, 0.0, -0.05);
    let floor = Posed::Rigid(RigidShape {
        patch: Some(&rigid),
        ..RigidShape::at_rest(&shape, X)
    });
    for flat in [false, true] {
        for depth in [1e-4, 1e-3, 4e-3] {
            let f = filament(RADIUS - depth, flat, 0.0);
            let found = collide(Posed::Filament(&f), soft.posed());
            let (force, moment) = wrench(&found);
            let mut on_rigid = Vec::new();
            PatchContact
                .collide(
                    Posed::Filament(&f),
                    floor,
                    &query(),
                    &mut ContactWorkspace::default(),
                    &mut on_rigid,
                )
                .unwrap()
                .unwrap();
            let expected = wrench(&on_rigid);
            assert!(force.z > 0.0, "{flat} {depth}: {force}");
            // The area is independent of the mesh; a round field is also cut at the diagonals of its own prisms.
            assert!(
                (force - expected.0).norm() < 1e-6 * expected.0.norm(),
                "{flat} {depth}: {force} {}",
                expected.0
            );
            assert!((moment - expected.1).norm() < 1e-4 * RADIUS * expected.0.norm());
            let mut patch = ContactPatch::default();
            SoftContact
                .patch(
                    Posed::Filament(&f),
                    soft.posed(),
                    1.0,
                    &mut ContactWorkspace::default(),
                    &mut patch,
                )
                .unwrap()
                .unwrap();
            let recorder = patch.summary().force_W;
            assert!(
                (recorder - force).norm() < 1e-6 * force.norm(),
                "{recorder}"
            );
        }
    }
}

#[test]
fn both_orders_agree_and_points_are_attached_to_segment_and_triangle() {
    let soft = soft();
    let f = filament(RADIUS - 1e-3, false, 0.0);
    let one = collide(Posed::Filament(&f), soft.posed());
    let other = collide(soft.posed(), Posed::Filament(&f));
    assert_eq!(one.len(), other.len());
    for (a, b) in one.iter().zip(&other) {
        assert_eq!(*a, b.swapped());
        let Primitive::Edge(segment) = a.a.primitive else {
            panic!("{:?}", a.a.primitive);
        };
        let [from, to] = f.ends(segment as usize);
        let on_axis = from.coords * a.a.weights[0] + to.coords * a.a.weights[1];
        // The normal passes through the axis; the segment is straight, so all points have the same offset from the
        // axis.
        let apart = on_axis + a.a.offset - a.p_WC.coords;
        let sideways = (to - from).cross(&a.normal_W).normalize();
        assert!(sideways.dot(&a.a.offset).abs() < 1e-12);
        assert!((apart - sideways * sideways.dot(&apart)).norm() < 1e-12);
        assert!((soft.position(&a.b) - a.p_WC.coords).norm() < 1e-12);
        // From the soft body into the filament.
        assert!(a.normal_W.z > 0.99);
    }
}

#[test]
fn a_field_that_would_pass_through_in_one_step_gets_speculative_points() {
    let soft = soft();
    for flat in [false, true] {
        let near = collide(Posed::Filament(&filament(0.06, flat, 0.0)), soft.posed());
        assert!(near.is_empty());
        let fast = filament(0.06, flat, 30.0);
        let found = collide(Posed::Filament(&fast), soft.posed());
        assert!(found.iter().any(|c| c.entry > 0.0), "{flat}");
    }
}
