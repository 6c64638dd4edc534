use super::*;
use crate::{SelfExclusion, Shape};
use nalgebra::Isometry3;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn query() -> Query {
    Query::new(0.01, 9.81).unwrap()
}

/// Points, radii and velocities of a surface.
struct Cloud {
    id: u64,
    points: Vec<Point3<f64>>,
    radii: Vec<f64>,
    velocities: Vec<Vector3<f64>>,
    exclusion: SelfExclusion,
}

impl Cloud {
    fn new(id: u64, points: &[[f64; 3]], radius: f64, velocity: Vector3<f64>) -> Self {
        Self {
            id,
            points: points.iter().map(|p| Point3::from(*p)).collect(),
            radii: vec![radius; points.len()],
            velocities: vec![velocity; points.len()],
            exclusion: SelfExclusion::default(),
        }
    }

    fn posed(&self) -> Posed<'_> {
        Posed::Deforming(DeformingSurface {
            id: self.id,
            points: &self.points,
            radii: &self.radii,
            velocities: &self.velocities,
            exclusion: &self.exclusion,
            field: None,
            mesh: None,
        })
    }
}

fn fixed(shape: &Shape) -> Posed<'_> {
    Posed::Rigid(RigidShape::at_rest(shape, Isometry3::identity()))
}

fn collide(a: Posed<'_>, b: Posed<'_>) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    ParticleContact
        .collide(a, b, &query(), &mut ContactWorkspace::default(), &mut out)
        .expect("a supported pair")
        .expect("finite");
    out
}

#[test]
fn balls_rest_on_the_floor_each_with_its_own_gap() {
    let floor = Shape::half_space();
    let cloud = Cloud::new(
        1,
        &[[0.0, 0.0, 0.01], [1.0, 0.0, 0.0099], [2.0, 0.0, 0.5]],
        0.01,
        Vector3::zeros(),
    );
    let contacts = collide(cloud.posed(), fixed(&floor));
    assert_eq!(contacts.len(), 2);
    assert!(contacts[0].signed_distance.abs() < 1e-15);
    assert!((contacts[1].signed_distance + 1e-4).abs() < 1e-15);
    assert!(
        contacts
            .iter()
            .all(|c| (c.normal_W - Vector3::z()).norm() < 1e-15)
    );
    assert_eq!(
        contacts[1].a,
        MaterialPoint::on_vertex(1, Vector3::new(0.0, 0.0, -0.01))
    );
    let back = collide(fixed(&floor), cloud.posed());
    assert!(back.iter().zip(&contacts).all(|(x, y)| x.swapped() == *y));
}

#[test]
fn fast_balls_hit_a_thin_plate_and_cause_no_false_contacts() {
    let plate = Shape::cuboid(Vector3::new(0.2, 0.2, 0.005)).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut hits, mut misses) = (0, 0);
    for _ in 0..400 {
        let direction = crate::test_support::random_unit(&mut rng);
        let aim = Vector3::new(
            rng.random_range(-0.2..0.2),
            rng.random_range(-0.2..0.2),
            0.0,
        );
        let start = aim - direction * rng.random_range(0.05..0.28);
        let v = direction * 30.0;
        let cloud = Cloud::new(1, &[start.into()], 1e-3, v);
        let p = Point3::from(start);
        if plate.signed_distance(&p).value < 4e-3 {
            continue;
        }
        // The path in small steps.
        let hit = (0..=30_000).any(|i| {
            plate
                .signed_distance(&(p + v * (1e-2 * f64::from(i) / 30_000.0)))
                .value
                <= 1e-3
        });
        let contacts = collide(cloud.posed(), fixed(&plate));
        assert_eq!(contacts.len(), usize::from(hit), "{start} {v}");
        if hit {
            hits += 1;
            assert!(contacts[0].signed_distance + 0.01 * contacts[0].normal_W.dot(&v) <= 1e-6);
        } else {
            misses += 1;
        }
    }
    assert!(hits > 50 && misses > 50, "{hits} {misses}");
}

#[test]
fn self_contact_leaves_out_neighbours_and_reports_each_pair_once() {
    // A chain of touching balls, folded so that the ends meet.
    let mut chain = Cloud::new(
        3,
        &[
            [0.0, 0.0, 0.0],
            [0.1, 0.0, 0.0],
            [0.1, 0.1, 0.0],
            [0.0, 0.1, 0.0],
            [0.0, 0.04, 0.0],
        ],
        0.06,
        Vector3::zeros(),
    );
    let edges = [[0, 1], [1, 2], [2, 3], [3, 4]];
    chain.exclusion = SelfExclusion::from_edges(5, &edges, 1);
    let pairs: Vec<_> = collide(chain.posed(), chain.posed())
        .iter()
        .map(|c| (c.a.primitive, c.b.primitive))
        .collect();
    let expected = [(3, 0), (4, 0), (4, 1), (4, 2)]
        .map(|(i, j)| (crate::Primitive::Vertex(i), crate::Primitive::Vertex(j)));
    // (4, 1) and (4, 2) are 0.108 and 0.117 apart: within the diameter.
    assert_eq!(pairs, expected);
    chain.exclusion = SelfExclusion::from_edges(5, &edges, 2);
    let fewer = collide(chain.posed(), chain.posed());
    assert_eq!(
        fewer.len(),
        3,
        "two rings exclude (4, 2) as well: {fewer:?}"
    );
}

#[test]
fn two_clouds_agree_with_brute_force() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut cloud = |id, n: usize| {
        let points: Vec<[f64; 3]> = (0..n)
            .map(|_| [0; 3].map(|_| rng.random_range(-0.3..0.3)))
            .collect();
        let mut c = Cloud::new(id, &points, 0.03, Vector3::zeros());
        for v in &mut c.velocities {
            *v = crate::test_support::random_unit(&mut rng) * 5.0;
        }
        c
    };
    let (s, t) = (cloud(1, 150), cloud(2, 120));
    let found = collide(s.posed(), t.posed());
    let (Posed::Deforming(sd), Posed::Deforming(td)) = (s.posed(), t.posed()) else {
        panic!("both are clouds")
    };
    let mut all = Vec::new();
    for i in 0..150 {
        for j in 0..120 {
            all.extend(ball_on_ball(&sd, i, &td, j, query().margin, 0.01));
        }
    }
    assert!(
        all.len() > 60 && found == all,
        "{} {}",
        all.len(),
        found.len()
    );
    assert!(
        found.iter().all(|c| (c.normal_W.norm() - 1.0).abs() < 1e-12
            && c.p_WC.coords.iter().all(|x| x.is_finite()))
    );
    let back = collide(t.posed(), s.posed());
    assert_eq!(back.len(), found.len());
}

#[test]
fn coincident_points_have_a_normal() {
    let (a, b) = (
        Cloud::new(1, &[[0.1, 0.2, 0.3]], 0.02, Vector3::zeros()),
        Cloud::new(2, &[[0.1, 0.2, 0.3]], 0.01, Vector3::zeros()),
    );
    let c = collide(a.posed(), b.posed());
    assert!((c[0].signed_distance + 0.03).abs() < 1e-15 && c[0].normal_W == Vector3::z());
}

#[test]
fn arrays_of_different_lengths_are_refused() {
    let mut cloud = Cloud::new(1, &[[0.0; 3]; 4], 0.01, Vector3::zeros());
    cloud.radii.pop();
    let floor = Shape::half_space();
    let mut out = Vec::new();
    let found = ParticleContact.collide(
        fixed(&floor),
        cloud.posed(),
        &query(),
        &mut ContactWorkspace::default(),
        &mut out,
    );
    assert_eq!(
        found,
        Some(Err(GeometryError::ArrayLength {
            geometry: "deforming surface",
            what: "radii",
            found: 3,
            expected: 4
        }))
    );
}
