//! Filaments against each other, themselves, balls and shapes.

mod sections;

use nalgebra::{Isometry3, Point3, Vector3};

use crate::{
    ContactGeometry, ContactPoint, ContactWorkspace, DeformingSurface, Filament, FilamentContact,
    FlatSection, GeometryDispatcher, Outline, PointStiffness, Posed, Primitive, Query, RigidShape,
    SelfExclusion, Shape, Twist,
};

const RADIUS: f64 = 0.01;
const DT: f64 = 1e-3;

/// A chain through `points` that moves with `velocity`.
fn filament(id: u64, points: &[Point3<f64>], velocity: Vector3<f64>) -> Filament {
    let segments: Vec<_> = (1..points.len() as u32).map(|i| [i - 1, i]).collect();
    let mut filament = Filament::new(id, points, &segments, &vec![RADIUS; points.len()]).unwrap();
    let velocities = vec![velocity; points.len()];
    filament.move_to(points, &velocities, &[], DT).unwrap();
    filament
}

/// A straight chain of `n` segments of 5 cm from `start` along `direction`.
fn straight(id: u64, start: [f64; 3], direction: Vector3<f64>, n: usize) -> Filament {
    filament(id, &along(start, direction, n), Vector3::zeros())
}

fn along(start: [f64; 3], direction: Vector3<f64>, n: usize) -> Vec<Point3<f64>> {
    let start = Point3::from(start);
    (0..=n)
        .map(|i| start + direction * (0.05 * i as f64))
        .collect()
}

fn contacts(a: Posed<'_>, b: Posed<'_>) -> Vec<ContactPoint> {
    let q = Query::new(DT, 9.81).unwrap();
    let mut out = Vec::new();
    FilamentContact
        .collide(a, b, &q, &mut ContactWorkspace::default(), &mut out)
        .unwrap()
        .unwrap();
    let mut swapped = Vec::new();
    let dispatcher = GeometryDispatcher::default();
    dispatcher
        .collide(b, a, &q, &mut ContactWorkspace::default(), &mut swapped)
        .unwrap()
        .unwrap();
    assert_eq!(out.len(), swapped.len(), "with A and B exchanged");
    for (i, c) in out.iter().enumerate() {
        assert!((c.normal_W.norm() - 1.0).abs() < 1e-12);
        assert!(
            out[..i].iter().all(|other| other.key != c.key),
            "keys are unique"
        );
    }
    out
}

fn share(c: &ContactPoint) -> f64 {
    match c.stiffness {
        PointStiffness::Share(share) => share,
        PointStiffness::OfArea { .. } | PointStiffness::OfPatch { .. } => {
            panic!("points have shares")
        }
    }
}

/// Position of the material point of A.
fn p_WA(f: &Filament, c: &ContactPoint) -> Point3<f64> {
    let Primitive::Edge(i) = c.a.primitive else {
        panic!("a segment: {:?}", c.a.primitive);
    };
    let [a, b] = f.segments()[i as usize].map(|v| f.points()[v as usize].coords);
    Point3::from(a * c.a.weights[0] + b * c.a.weights[1] + c.a.offset)
}

#[test]
fn a_crossing_that_slides_along_a_chain_stays_one_contact() {
    let f = straight(0, [0.0, 0.0, 0.0], Vector3::x(), 4);
    for k in 1..200 {
        let x = 0.001 * f64::from(k);
        let g = straight(1, [x, -0.07, 0.0195], Vector3::y(), 3);
        let found = contacts(Posed::Filament(&f), Posed::Filament(&g));
        assert_eq!(found.len(), 1, "at {x}");
        assert!((found[0].signed_distance + 5e-4).abs() < 1e-12);
        assert!((found[0].normal_W + Vector3::z()).norm() < 1e-12);
        assert!((share(&found[0]) - 1.0).abs() < 1e-12);
        let top = p_WA(&f, &found[0]);
        assert!((top - Point3::new(x, 0.0, RADIUS)).norm() < 1e-12);
    }
}

#[test]
fn the_outside_of_a_kink_touches_at_its_vertex_once_and_the_inside_at_both_segments() {
    let kinked = |sign: f64| {
        let points = [
            Point3::new(-0.05, 0.0, 0.02 * sign),
            Point3::origin(),
            Point3::new(0.05, 0.0, 0.02 * sign),
        ];
        filament(0, &points, Vector3::zeros())
    };
    let across = straight(1, [0.0, -0.06, -0.0195], Vector3::y(), 2);
    let found = contacts(Posed::Filament(&kinked(1.0)), Posed::Filament(&across));
    assert_eq!(found.len(), 1, "a vertex");
    let found = contacts(Posed::Filament(&kinked(-1.0)), Posed::Filament(&across));
    assert_eq!(found.len(), 2, "a fork");
}

#[test]
fn parallel_chains_have_one_share_for_each_segment_however_they_are_shifted() {
    let f = straight(0, [0.0, 0.0, 0.0], Vector3::x(), 10);
    for shift in [0.0, 1e-4, 0.01, 0.025, 0.049] {
        let g = straight(1, [shift - 0.1, 0.0, 0.0195], Vector3::x(), 14);
        let found = contacts(Posed::Filament(&f), Posed::Filament(&g));
        let sum: f64 = found.iter().map(share).sum();
        assert!((sum - 10.0).abs() < 1e-9, "shift {shift}: {sum}");
        // No torque: the centre of the shares is the midpoint.
        let x: f64 = found.iter().map(|c| share(c) * c.p_WC.x).sum();
        assert!((x / sum - 0.25).abs() < 0.01, "{}", x / sum);
    }
}

#[test]
fn shares_change_steadily_from_parallel_to_crossing() {
    let f = straight(0, [0.0, 0.0, 0.0], Vector3::x(), 1);
    let total = |angle: f64| {
        let direction = Vector3::new(angle.cos(), angle.sin(), 0.0);
        let start = Point3::new(0.025, 0.0, 0.0195) - direction * 0.025;
        let g = straight(1, start.coords.into(), direction, 1);
        let found = contacts(Posed::Filament(&f), Posed::Filament(&g));
        let force = |c: &ContactPoint| -share(c) * c.signed_distance.min(0.0);
        found.iter().map(force).sum::<f64>()
    };
    let mut last = total(0.0);
    for k in 1..=300 {
        let next = total(1e-3 * f64::from(k));
        assert!((next - last).abs() < 0.03 * 5e-4, "{k}: {last} {next}");
        last = next;
    }
    assert!((last - 5e-4).abs() < 1e-9);
}

#[test]
fn fast_thin_filaments_meet_where_their_paths_do_and_not_beside() {
    let f = straight(0, [0.0, 0.0, 0.0], Vector3::x(), 4);
    let falling = |x: f64, speed: f64| {
        let points = along([x, -0.07, 0.09], Vector3::y(), 3);
        let g = filament(1, &points, Vector3::new(0.0, 0.0, -speed));
        contacts(Posed::Filament(&f), Posed::Filament(&g))
    };
    assert!(
        falling(0.12, 10.0).is_empty(),
        "does not arrive within the step"
    );
    let found = falling(0.12, 200.0);
    assert_eq!(found.len(), 1);
    assert!((found[0].signed_distance - 0.07).abs() < 1e-6);
    assert!((found[0].entry - 0.35).abs() < 1e-4);
    assert!((found[0].normal_W + Vector3::z()).norm() < 1e-4);
    assert!(falling(0.25, 200.0).is_empty(), "passes beside the end");
}

#[test]
fn a_loop_touches_itself_where_it_crosses_and_nowhere_else() {
    // A loop in the plane whose ends cross 19 mm apart.
    let n = 40;
    let points: Vec<_> = (0..=n)
        .map(|i| {
            let s = f64::from(i) / f64::from(n);
            let angle = (s - 0.5) * 1.8 * std::f64::consts::PI;
            Point3::new(0.2 * angle.sin(), 0.3 * angle.cos(), 0.019 * s)
        })
        .chain((1..=4).map(|i| Point3::new(0.06 + 0.05 * f64::from(i), -0.28, 0.019)))
        .collect();
    let f = filament(3, &points, Vector3::zeros());
    let q = Query::new(DT, 9.81).unwrap();
    let mut found = Vec::new();
    let one = Posed::Filament(&f);
    FilamentContact
        .collide(one, one, &q, &mut ContactWorkspace::default(), &mut found)
        .unwrap()
        .unwrap();
    // Brute force over pairs that may touch.
    let ends = |i: usize| f.segments()[i].map(|v| f.points()[v as usize]);
    let mut least = f64::INFINITY;
    for i in 0..f.segments().len() {
        for j in 0..i {
            if f.excludes(i, j) {
                continue;
            }
            let ([a, b], [c, d]) = (ends(i), ends(j));
            for k in 0..=100 {
                for l in 0..=100 {
                    let p = a + (b - a) * (f64::from(k) / 100.0);
                    let q = c + (d - c) * (f64::from(l) / 100.0);
                    least = least.min((p - q).norm());
                }
            }
        }
    }
    if least > 2.0 * RADIUS + q.margin {
        assert!(found.is_empty());
    } else {
        assert_eq!(found.len(), 1, "{least}");
        assert!((found[0].signed_distance - (least - 2.0 * RADIUS)).abs() < 1e-4);
    }
}

#[test]
fn a_filament_on_the_floor_stands_on_its_vertices_once_each() {
    let f = straight(0, [0.0, 0.0, 0.0098], Vector3::x(), 6);
    let floor = Shape::half_space();
    let found = contacts(
        Posed::Filament(&f),
        Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity())),
    );
    assert_eq!(found.len(), 7);
    for c in &found {
        assert!((c.signed_distance + 2e-4).abs() < 1e-12);
        assert!((share(c) - 1.0).abs() < 1e-12);
        assert!((p_WA(&f, c).z + 2e-4).abs() < 1e-12);
    }
}

#[test]
fn a_strip_on_the_floor_stands_on_both_edges() {
    let points = along([0.0, 0.0, 0.0009], Vector3::x(), 6);
    let mut f = filament(0, &points, Vector3::zeros());
    let section = FlatSection {
        m_1: Vector3::y(),
        half_1: 0.01,
        half_2: 0.001,
        outline: Outline::Rectangle,
    };
    f.move_to(&points, &[Vector3::zeros(); 7], &[section; 6], DT)
        .unwrap();
    let floor = Shape::half_space();
    let found = contacts(
        Posed::Filament(&f),
        Posed::Rigid(RigidShape::at_rest(&floor, Isometry3::identity())),
    );
    assert_eq!(found.len(), 14);
    for c in &found {
        assert!((c.signed_distance + 1e-4).abs() < 1e-12);
        let p = p_WA(&f, c);
        assert!(
            (p.y.abs() - 0.01).abs() < 1e-12 && (p.z + 1e-4).abs() < 1e-12,
            "{p}"
        );
    }
    // Two crossed strips touch along the square that they share.
    let above: Vec<_> = along([0.12, -0.1, 0.0027], Vector3::y(), 4);
    let mut g = filament(1, &above, Vector3::zeros());
    let across = FlatSection {
        m_1: Vector3::x(),
        ..section
    };
    g.move_to(&above, &[Vector3::zeros(); 5], &[across; 4], DT)
        .unwrap();
    let found = contacts(Posed::Filament(&g), Posed::Filament(&f));
    assert_eq!(
        found.len(),
        6,
        "a square and the line across it where two segments meet"
    );
    for c in &found {
        assert!((c.signed_distance + 2e-4).abs() < 1e-9);
        assert!((c.normal_W - Vector3::z()).norm() < 1e-9);
    }
}

#[test]
fn a_filament_that_slides_over_a_ball_keeps_one_contact() {
    let sphere = Shape::sphere(0.03).unwrap();
    let ball = |x: f64| RigidShape::at_rest(&sphere, Isometry3::translation(x, 0.0, -0.0395));
    let f = straight(0, [0.0, 0.0, 0.0], Vector3::x(), 4);
    for k in 1..200 {
        let x = 0.001 * f64::from(k);
        let found = contacts(Posed::Filament(&f), Posed::Rigid(ball(x)));
        assert_eq!(found.len(), 1, "at {x}");
        assert!((found[0].signed_distance + 5e-4).abs() < 1e-10);
        // The same ball as a vertex of a deforming surface.
        let exclusion = SelfExclusion::default();
        let surface = DeformingSurface {
            id: 9,
            points: &[Point3::new(x, 0.0, -0.0395)],
            radii: &[0.03],
            velocities: &[Vector3::zeros()],
            exclusion: &exclusion,
            field: None,
            mesh: None,
        };
        let found = contacts(Posed::Filament(&f), Posed::Deforming(surface));
        assert_eq!(found.len(), 1, "at {x}");
        assert!((found[0].signed_distance + 5e-4).abs() < 1e-10);
    }
}

#[test]
fn a_plate_approaching_a_filament_gives_speculative_contacts() {
    let plate = Shape::cuboid(Vector3::new(0.3, 0.3, 0.001)).unwrap();
    let thrown = RigidShape {
        V_WG: Twist {
            angular: Vector3::zeros(),
            linear: Vector3::new(0.0, 0.0, -300.0),
        },
        ..RigidShape::at_rest(&plate, Isometry3::translation(0.1, 0.0, 0.2))
    };
    let f = straight(0, [0.0, 0.0, 0.0], Vector3::x(), 4);
    let found = contacts(Posed::Filament(&f), Posed::Rigid(thrown));
    assert_eq!(found.len(), 5, "every vertex");
    for c in &found {
        assert!((c.signed_distance - 0.1895).abs() < 1e-6 && c.entry > 0.0);
        assert!((c.normal_W + Vector3::z()).norm() < 1e-6);
    }
}

#[test]
fn filaments_of_thousands_of_segments_do_not_visit_every_pair() {
    // A flat spiral of 4000 segments, with windings 3 radii apart, below a second one across it.
    let n = 4000;
    let spiral = |id: u64, z: f64| {
        let points: Vec<_> = (0..=n)
            .map(|i| {
                let angle = 0.3 + 0.05 * f64::from(i);
                let r = 3.0 * RADIUS * angle / std::f64::consts::TAU;
                Point3::new(r * angle.cos(), r * angle.sin(), z)
            })
            .collect();
        filament(id, &points, Vector3::zeros())
    };
    let (f, g) = (spiral(0, 0.0), spiral(1, 0.0199));
    let (mut own, mut other) = (0, 0);
    f.boxes().visit_own_pairs(1e-5, |_, _| own += 1);
    f.boxes().visit_pairs(g.boxes(), 1e-5, |_, _| other += 1);
    let per_segment = |pairs: i32| f64::from(pairs) / f64::from(n);
    assert!(
        per_segment(own) < 30.0 && per_segment(other) < 60.0,
        "{own} {other}"
    );
    assert!(!contacts(Posed::Filament(&f), Posed::Filament(&g)).is_empty());
}
