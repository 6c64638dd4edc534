//! Balls on a soft body: vertices of other surfaces, and balls that represent segments of a filament.

use super::*;
use crate::{FlatSection, Outline};

#[test]
fn balls_touch_a_soft_body_outside_inside_and_on_their_path() {
    let soft = Soft::cube(0.0);
    let exclusion = SelfExclusion::default();
    let points = [
        Point3::new(0.01, 0.005, 0.0595),
        Point3::new(0.013, -0.02, 0.049),
        Point3::new(-0.02, 0.01, 0.2),
        Point3::new(-0.02, 0.03, 0.2),
    ];
    let velocities = [0.0, 0.0, -20.0, 0.0].map(|v| Vector3::z() * v);
    let balls = Posed::Deforming(DeformingSurface {
        id: 7,
        points: &points,
        radii: &[0.01; 4],
        velocities: &velocities,
        exclusion: &exclusion,
        field: None,
        mesh: None,
    });
    let found = collide(balls, soft.posed());
    let gaps: Vec<f64> = found.iter().map(|c| c.signed_distance).collect();
    assert_eq!(found.len(), 3, "{gaps:?}");
    for (gap, exact) in gaps.iter().zip([-5e-4, -0.011, 0.14]) {
        assert!((gap - exact).abs() < 1e-9, "{gaps:?}");
    }
    assert!(
        found
            .iter()
            .all(|c| (c.normal_W - Vector3::z()).norm() < 1e-9)
    );
    assert!((found[2].entry - 0.7).abs() < 1e-9, "{}", found[2].entry);
}

#[test]
fn a_long_segment_touches_a_triangle_between_its_ends() {
    let soft = Soft::cuboid(
        Vector3::new(0.05, 0.05, 0.05),
        [1, 1, 1],
        &Isometry3::identity(),
        Vector3::zeros(),
    );
    let radius = 0.004;
    for height in [0.9, 0.2, -0.5] {
        let z = 0.05 + height * radius;
        let ends = [Point3::new(-0.2, 0.012, z), Point3::new(0.25, 0.02, z)];
        let rope = Filament::new(7, &ends, &[[0, 1]], &[radius; 2]).unwrap();
        let found = collide(Posed::Filament(&rope), soft.posed());
        // Near the sides the nearest surface is sideways.
        let over = |c: &&ContactPoint| c.signed_distance < 0.0 && c.p_WC.x.abs() < 0.04;
        let touching: Vec<_> = found.iter().filter(over).collect();
        assert!(touching.len() >= 9, "{}", touching.len());
        for c in &touching {
            assert!(
                c.normal_W.z > 0.7,
                "out of the body, into the rope: {}",
                c.normal_W
            );
            assert_eq!(c.a.primitive, Primitive::Edge(0));
            let position = ends[0].coords.lerp(&ends[1].coords, c.a.weights[1]) + c.a.offset;
            let apart = (position - c.p_WC.coords).norm();
            assert!(
                height < 0.0 || (apart + 0.5 * c.signed_distance).abs() < 1e-9,
                "halfway between the surfaces"
            );
        }
        let back = collide(soft.posed(), Posed::Filament(&rope));
        assert_eq!(back.len(), found.len());
        assert!(back.iter().zip(&found).all(|(x, y)| x.swapped() == *y));
    }
}

#[test]
fn an_elliptic_segment_touches_at_the_vertical_semi_axis_and_not_beside_an_edge() {
    let (soft, a, b) = (Soft::cube(0.0), 0.008, 0.002);
    let touching = |m_1: Vector3<f64>, at: [f64; 2]| {
        let end = |x: f64| Point3::new(x, at[0], 0.05 + at[1]);
        let ends = [end(-0.02), end(0.02)];
        let section = FlatSection {
            m_1,
            half_1: a,
            half_2: b,
            outline: Outline::Ellipse,
        };
        let mut rod = Filament::new(7, &ends, &[[0, 1]], &[b; 2]).unwrap();
        let dt = query().time_step_s;
        rod.move_to(&ends, &[Vector3::zeros(); 2], &[section], dt)
            .unwrap();
        collide(Posed::Filament(&rod), soft.posed())
    };
    let deepest = |points: &[ContactPoint]| {
        let gaps = points.iter().map(|c| c.signed_distance);
        gaps.fold(f64::INFINITY, f64::min)
    };
    let depth = 1e-4;
    let aslant = Vector3::new(0.0, 0.8, 0.6);
    for (m_1, reach, allowed) in [
        (Vector3::y(), b, 1e-9),
        (Vector3::z(), a, 1e-9),
        (aslant, (a * 0.6).hypot(b * 0.8), b / 13.0),
    ] {
        let points = touching(m_1, [0.0, reach - depth]);
        let off = deepest(&points) + depth;
        assert!((-1e-9..=allowed).contains(&off), "{m_1:?}: off by {off}");
        let keys: std::collections::BTreeSet<_> = points.iter().map(|c| c.key).collect();
        assert_eq!(keys.len(), points.len());
        // The points are on the ellipse's surface, below its centreline.
        for c in points.iter().filter(|c| c.signed_distance < 0.0) {
            let (x, y) = (
                c.a.offset.dot(&m_1),
                c.a.offset.dot(&Vector3::x().cross(&m_1)),
            );
            let on_surface = (x / a).powi(2) + (y / b).powi(2);
            assert!((0.75..1.0 + 1e-9).contains(&on_surface), "{on_surface}");
        }
    }
    // Flat, with its centre beyond the edge of the block by half of its semi-axis, where it is 0.87 b thick.
    let over_edge = touching(Vector3::y(), [0.05 + 0.5 * a, 0.8 * b]);
    let sunk = -deepest(&over_edge) / b;
    assert!((0.0..0.1).contains(&sunk), "{over_edge:?}");
    // Upright next to the block.
    let beside = touching(Vector3::z(), [0.05 + 1.2 * b, -a]);
    assert!(beside.iter().all(|c| c.signed_distance > 0.0));
}
