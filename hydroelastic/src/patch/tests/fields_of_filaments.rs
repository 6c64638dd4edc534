//! Filaments with their own pressure field.

use super::*;
use crate::{Filament, FlatSection, Outline};

pub(super) const E: f64 = 1e5;

pub(super) fn soft(hint: f64) -> Compliance {
    Compliance {
        hydroelastic_modulus: E,
        margin: 1e-4,
        mesh_resolution_hint: hint,
        slab_thickness: None,
    }
}

/// Segments along a straight line, or round a ring.
fn along(id: u64, points: &[Point3<f64>], closed: bool, radius: f64) -> Filament {
    let n = points.len() as u32;
    let mut segments: Vec<_> = (1..n).map(|i| [i - 1, i]).collect();
    if closed {
        segments.push([n - 1, 0]);
    }
    Filament::new(id, points, &segments, &vec![radius; points.len()]).unwrap()
}

pub(super) fn line(id: u64, from: [f64; 3], to: [f64; 3], n: usize, radius: f64) -> Filament {
    let [from, to] = [from, to].map(Point3::from);
    let points: Vec<_> = (0..=n)
        .map(|i| from + (to - from) * (i as f64 / n as f64))
        .collect();
    along(id, &points, false, radius)
}

fn found(a: Posed<'_>, b: Posed<'_>) -> Vec<ContactPoint> {
    let q = Query::new(1e-3, 9.81).unwrap();
    let mut out = Vec::new();
    PatchContact
        .collide(a, b, &q, &mut ContactWorkspace::default(), &mut out)
        .unwrap()
        .unwrap();
    out
}

/// Force per metre of a round filament whose centreline is at height h over a rigid plane, ∫ E (1 − √(h² + x²)/r) dx over
/// |x| ≤ a, a² = r² − h²: E (2a − a − (h²/r) asinh(a/h)).
fn on_plane(radius: f64, height: f64) -> f64 {
    let a = (radius * radius - height * height).sqrt();
    E * (a - height * height / radius * (a / height).asinh())
}

#[test]
fn force_of_a_straight_filament_on_a_plane_is_the_integral_of_its_pressure() {
    let (radius, length) = (0.01, 0.2);
    let floor = Body::rigid(Shape::half_space());
    for depth in [0.1, 0.3, 0.6] {
        let height = radius * (1.0 - depth);
        // Without the cones at its ends: the difference of two lengths.
        let force = |length: f64| {
            let f = line(0, [0.0, 0.0, height], [length, 0.0, height], 7, radius);
            let f = f.with_field(&soft(0.001), &[]).unwrap();
            wrench(&found(Posed::Filament(&f), floor.at(Isometry3::identity()))).0
        };
        let more = force(2.0 * length) - force(length);
        let exact = length * on_plane(radius, height);
        assert!(
            (more.z - exact).abs() < 0.02 * exact && more.xy().norm() < 1e-9 * exact,
            "depth {depth} r: {} for {exact}",
            more.z
        );
    }
}

#[test]
fn force_of_a_strip_on_a_plane_is_its_area_times_the_pressure_at_its_depth() {
    let (half_1, half_2, length, depth) = (0.01, 0.001, 0.1, 1e-4);
    let floor = Body::rigid(Shape::half_space());
    let height = half_2 - depth;
    for m_1 in [Vector3::y(), Vector3::z()] {
        let halves = if m_1 == Vector3::y() {
            [half_1, half_2]
        } else {
            [half_2, half_1]
        };
        let sections = |n: usize| {
            let section = FlatSection {
                m_1,
                half_1: halves[0],
                half_2: halves[1],
                outline: Outline::Rectangle,
            };
            vec![section; n]
        };
        let force = |length: f64| {
            let f = line(0, [0.0, 0.0, height], [length, 0.0, height], 4, half_1);
            let f = f.with_field(&soft(0.02), &sections(4)).unwrap();
            wrench(&found(Posed::Filament(&f), floor.at(Isometry3::identity())))
        };
        let (found, moment) = force(2.0 * length);
        let between = found.z - force(length).0.z;
        // At the rim the pressure increases over the same depth.
        let exact = E * depth / half_2 * length * (2.0 * half_1 - depth);
        assert!(
            (between - exact).abs() < 1e-6 * exact,
            "{m_1:?}: {between} for {exact}"
        );
        assert!(
            (moment.y / found.z + length).abs() < 1e-6,
            "at half its length"
        );
        assert!(moment.x.abs() < 1e-9 * found.z);
    }
}

#[test]
fn force_of_an_elliptic_filament_on_a_plane_is_the_integral_of_its_pressure() {
    let (half_1, half_2, length) = (0.01, 0.003, 0.1);
    let floor = Body::rigid(Shape::half_space());
    for (m_1, wide, high) in [
        (Vector3::y(), half_1, half_2),
        (Vector3::z(), half_2, half_1),
    ] {
        let section = FlatSection {
            m_1,
            half_1,
            half_2,
            outline: Outline::Ellipse,
        };
        for depth in [0.1, 0.3, 0.6] {
            let height = high * (1.0 - depth);
            let force = |length: f64| {
                let f = line(0, [0.0, 0.0, height], [length, 0.0, height], 4, half_2);
                let f = f.with_field(&soft(0.0005), &[section; 4]).unwrap();
                wrench(&found(Posed::Filament(&f), floor.at(Isometry3::identity()))).0
            };
            let between = force(2.0 * length) - force(length);
            // A disc of radius 1, stretched: x = wide u, z = high w.
            let exact = length * wide * on_plane(1.0, 1.0 - depth);
            assert!(
                (between.z - exact).abs() < 0.02 * exact && between.xy().norm() < 1e-6 * exact,
                "{m_1:?} at {depth}: {between:?} for {exact}"
            );
        }
    }
}

#[test]
fn points_of_a_round_filament_are_attached_to_its_segments_below_their_axis() {
    let radius = 0.01;
    let f = line(0, [0.0, 0.0, 0.009], [0.2, 0.05, 0.009], 5, radius);
    let f = f.with_field(&soft(0.02), &[]).unwrap();
    let floor = Body::rigid(Shape::half_space());
    let out = found(floor.at(Isometry3::identity()), Posed::Filament(&f));
    assert!(out.len() >= 5);
    for c in &out {
        let Primitive::Edge(segment) = c.b.primitive else {
            panic!("{:?}", c.b.primitive);
        };
        let [a, b] = f.segments()[segment as usize].map(|v| f.points()[v as usize].coords);
        let position = a * c.b.weights[0] + b * c.b.weights[1] + c.b.offset;
        let (t, apart) = ((b - a).normalize(), position - c.p_WC.coords);
        let sideways = t.cross(&c.normal_W);
        // The normal passes through the axis; the remainder is sideways from the point.
        assert!(sideways.dot(&c.b.offset).abs() < 1e-12);
        assert!(t.dot(&apart).abs() < 1e-12 && c.normal_W.dot(&apart).abs() < 1e-12);
        assert!((c.b.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let inside = (0.0..1.0).contains(&c.b.weights[1]) && c.b.weights[1] > 0.0;
        assert!(!inside || c.b.offset.dot(&(b - a)).abs() < 1e-12);
        assert!(
            c.normal_W.z < -0.999,
            "from the filament, B, into the floor, A"
        );
    }
}

#[test]
fn crossing_filaments_repel_each_other_equally_in_either_order() {
    let radius = 0.01;
    let at = |id, height: f64| {
        line(id, [0.003, -0.1, height], [0.0, 0.12, height], 6, radius)
            .with_field(&soft(0.002), &[])
            .unwrap()
    };
    let lower = line(1, [-0.1, 0.0, 0.0], [0.1, 0.01, 0.0], 7, radius)
        .with_field(&soft(0.002), &[])
        .unwrap();
    let mut last = 0.0;
    for depth in [0.05, 0.2, 0.5] {
        let upper = at(0, radius * (2.0 - depth));
        let (force, _) = wrench(&found(Posed::Filament(&upper), Posed::Filament(&lower)));
        let (back, _) = wrench(&found(Posed::Filament(&lower), Posed::Filament(&upper)));
        assert!((force + back).norm() < 1e-9 * force.norm());
        assert!(
            force.z > last && force.xy().norm() < 0.05 * force.z,
            "{force:?}"
        );
        last = force.z;
    }
    assert!(
        points(
            Posed::Filament(&at(0, 2.2 * radius)),
            Posed::Filament(&lower)
        )
        .is_empty()
    );
}

#[test]
fn a_filament_touches_itself_only_where_it_crosses() {
    let radius = 0.01;
    // Along x, around a corner, and back over itself along y.
    let corners = [
        [-0.1, 0.0, 0.0],
        [0.1, 0.0, 0.0],
        [0.1, 0.1, 0.01],
        [0.0, 0.1, 0.019],
        [0.0, -0.1, 0.019],
    ]
    .map(Point3::from);
    let mut path = Vec::new();
    for leg in corners.windows(2) {
        path.extend((0..9).map(|i| leg[0] + (leg[1] - leg[0]) * (f64::from(i) / 9.0)));
    }
    path.push(corners[4]);
    let f = along(3, &path, false, radius)
        .with_field(&soft(0.02), &[])
        .unwrap();
    let out = found(Posed::Filament(&f), Posed::Filament(&f));
    assert!(out.iter().any(|c| c.signed_distance < 0.0));
    for c in &out {
        let (Primitive::Edge(i), Primitive::Edge(j)) = (c.a.primitive, c.b.primitive) else {
            panic!("{c:?}");
        };
        assert!(!f.excludes(i as usize, j as usize) && i > j);
    }
    // A ring has no self-contact.
    let ring: Vec<_> = (0..24)
        .map(|i| {
            let (s, c) = (std::f64::consts::TAU * f64::from(i) / 24.0).sin_cos();
            Point3::new(0.1 * c, 0.1 * s, 0.0)
        })
        .collect();
    let ring = along(4, &ring, true, radius)
        .with_field(&soft(0.02), &[])
        .unwrap();
    assert!(found(Posed::Filament(&ring), Posed::Filament(&ring)).is_empty());
}

#[test]
fn the_force_of_a_filament_on_a_compliant_box_and_on_a_rigid_one_is_finite_and_increases() {
    let radius = 0.01;
    for body in [
        Body::rigid(Shape::cuboid(Vector3::repeat(0.2)).unwrap()),
        Body::compliant(Shape::cuboid(Vector3::repeat(0.2)).unwrap(), 0.0),
    ] {
        let mut last = 0.0;
        for depth in [0.1, 0.3, 0.5] {
            let height = 0.1 + radius * (1.0 - depth);
            let f = line(0, [-0.05, 0.0, height], [0.05, 0.01, height], 5, radius);
            let f = f.with_field(&soft(0.02), &[]).unwrap();
            let out = found(Posed::Filament(&f), body.at(Isometry3::identity()));
            let (force, _) = wrench(&out);
            let (back, _) = wrench(&found(body.at(Isometry3::identity()), Posed::Filament(&f)));
            assert!((force + back).norm() < 1e-9 * force.norm());
            assert!(
                force.z > last && force.xy().norm() < 1e-6 * force.z,
                "{force:?}"
            );
            last = force.z;
        }
    }
}

#[test]
fn the_force_on_a_rolling_filament_changes_steadily() {
    let radius = 0.01;
    let floor = Body::rigid(Shape::half_space());
    let mut last: Option<f64> = None;
    let n = 400;
    for i in 0..=n {
        // Rotated about the vertical: the polygonal section rotates with the tangent, without a jump.
        let angle = std::f64::consts::TAU * f64::from(i) / f64::from(n);
        let (s, c) = angle.sin_cos();
        let f = line(0, [0.0, 0.0, 0.008], [0.1 * c, 0.1 * s, 0.008], 3, radius);
        let f = f.with_field(&soft(0.02), &[]).unwrap();
        let force = wrench(&found(Posed::Filament(&f), floor.at(Isometry3::identity())))
            .0
            .z;
        if let Some(last) = last {
            assert!(
                (force - last).abs() < 0.02 * force,
                "{i}: {last} to {force}"
            );
        }
        last = Some(force);
    }
}

#[test]
fn a_fast_filament_gets_speculative_points() {
    let radius = 0.001;
    let mut f = line(0, [-0.05, 0.0, 0.03], [0.05, 0.0, 0.03], 5, radius);
    f = f.with_field(&soft(0.02), &[]).unwrap();
    let still = f.points().to_vec();
    f.move_to(
        &still,
        &vec![Vector3::new(0.0, 0.0, -50.0); still.len()],
        &[],
        1e-3,
    )
    .unwrap();
    let plate = Body::rigid(Shape::cuboid(Vector3::new(1.0, 1.0, 0.002)).unwrap());
    let out = found(Posed::Filament(&f), plate.at(Isometry3::identity()));
    assert!(!out.is_empty() && out.iter().all(|c| c.entry > 0.0 && c.normal_W.z > 0.99));
}
