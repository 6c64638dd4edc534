use nalgebra::{Matrix3, Point3, Unit, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::attachment::{FrictionAxis, Slide, relax_on_level_set};
use crate::mesh::{TriMesh, generate};
use crate::test_support::{random_rotation, random_unit};
use crate::{Shape, SignedDistance};

struct Mesh {
    surface: WalkSurface,
    vertices: Vec<Point3<f64>>,
}

impl Mesh {
    fn new(vertices: Vec<Point3<f64>>, triangles: &[[u32; 3]]) -> Self {
        Self {
            surface: WalkSurface::new(&vertices, triangles).unwrap(),
            vertices,
        }
    }

    fn of(mesh: &TriMesh) -> Self {
        let vertices = mesh.vertices().iter().map(|v| Point3::from(*v)).collect();
        Self::new(vertices, &mesh.raw_triangles().collect::<Vec<_>>())
    }

    fn with_noise(mut self, size: f64, rng: &mut ChaCha8Rng) -> Self {
        for p in &mut self.vertices {
            *p += random_unit(rng) * size;
        }
        self
    }

    /// n × n squares of unit length in the plane z = 0, each of two triangles.
    fn lattice(n: u32) -> Self {
        let side = n + 1;
        let vertices = (0..side * side)
            .map(|i| Point3::new(f64::from(i % side), f64::from(i / side), 0.0))
            .collect();
        let mut triangles = Vec::new();
        for i in (0..n * side).filter(|i| i % side < n) {
            triangles.push([i, i + 1, i + side + 1]);
            triangles.push([i, i + side + 1, i + side]);
        }
        Self::new(vertices, &triangles)
    }

    fn random_place(&self, rng: &mut ChaCha8Rng) -> MeshPlace {
        let triangle = rng.random_range(0..self.surface.triangles().len()) as u32;
        let raw = [0, 1, 2].map(|_| -rng.random_range(0.001_f64..1.0).ln());
        let sum: f64 = raw.iter().sum();
        MeshPlace {
            triangle,
            weights: raw.map(|w| w / sum),
        }
    }

    fn relax(&self, mu: f64, start: &MeshPlace, particle: &Point3<f64>) -> MeshRelaxed {
        self.relax_with(SlidingFriction::coulomb(mu), start, particle)
    }

    fn relax_with(
        &self,
        friction: SlidingFriction<f64>,
        start: &MeshPlace,
        particle: &Point3<f64>,
    ) -> MeshRelaxed {
        let mut out = MeshRelaxed::default();
        (self.surface).relax(
            &self.vertices,
            friction,
            Facing::Front,
            start,
            particle,
            &mut out,
        );
        out
    }

    fn point(&self, place: &MeshPlace) -> Point3<f64> {
        self.surface.point(&self.vertices, place)
    }
}

fn torus() -> Mesh {
    Mesh::of(&generate::torus(1.0, 0.4, 12, 8).unwrap())
}

fn hull(rng: &mut ChaCha8Rng) -> Mesh {
    let points: Vec<_> = (0..60).map(|_| Point3::from(random_unit(rng))).collect();
    let Shape::ConvexHull(hull) = Shape::convex_hull(&points).unwrap() else {
        unreachable!("a hull was asked for")
    };
    let triangles: Vec<_> = hull.triangles().collect();
    Mesh::new(hull.vertices().to_vec(), &triangles)
}

/// Particles below the surface near a place, at several depths and distances.
fn particle_near(mesh: &Mesh, place: &MeshPlace, reach: f64, rng: &mut ChaCha8Rng) -> Point3<f64> {
    let normal = mesh
        .surface
        .normal_at(&mesh.vertices, place, WalkEnd::Triangle);
    let along = random_unit(rng).cross(&normal);
    mesh.point(place) - normal * rng.random_range(0.01..0.15) + along * rng.random_range(0.0..reach)
}

#[test]
fn a_plane_in_triangles_is_the_plane() {
    let flat = Mesh::lattice(8);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut longest, mut at_vertices) = (0, 0);
    for k in 0..20_000 {
        let turn = if k % 2 == 0 {
            nalgebra::UnitQuaternion::identity()
        } else {
            random_rotation(&mut rng)
        };
        let mesh = Mesh {
            surface: flat.surface.clone(),
            vertices: flat.vertices.iter().map(|p| turn * p).collect(),
        };
        // Half of the walks begin and aim at lattice points, so that they pass through vertices and along edges.
        let on_lattice = k % 4 < 2;
        let inner = |rng: &mut ChaCha8Rng| match on_lattice {
            true => f64::from(rng.random_range(1..8)),
            false => rng.random_range(1.0..7.0),
        };
        let start = if on_lattice {
            let mut weights = [0.0; 3];
            weights[rng.random_range(0..3)] = 1.0;
            MeshPlace {
                triangle: rng.random_range(0..128),
                weights,
            }
        } else {
            mesh.random_place(&mut rng)
        };
        let depth = rng.random_range(0.01..0.3);
        let particle = Point3::new(inner(&mut rng), inner(&mut rng), -depth);
        let mu = [0.0, 0.1, 0.5, 2.0][rng.random_range(0..4)];
        let old = flat.point(&start);
        if old.x.min(old.y) < 0.5 || old.x.max(old.y) > 7.5 {
            continue;
        }
        let expected = relax_on_level_set(
            |p: &Point3<f64>| SignedDistance {
                value: p.z,
                gradient: Vector3::z(),
                hessian: Matrix3::zeros(),
            },
            SlidingFriction::coulomb(mu),
            Slide::Planar,
            &old,
            &particle,
        );
        let found = mesh.relax(mu, &start, &(turn * particle));
        longest = longest.max(found.states);
        at_vertices += usize::from(found.end == WalkEnd::Vertex);
        let place = found.point(&mesh.surface, &mesh.vertices).unwrap();
        let error = (place - turn * expected.attachment).norm();
        assert!(error < 1e-13, "{error:e} after {} states", found.states);
    }
    assert!(longest < 100, "{longest}");
    assert!(at_vertices > 500, "{at_vertices}");
}

#[test]
fn derivatives_by_the_particle_and_by_every_visited_vertex_are_those_of_differences() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let cube = Mesh::of(&generate::cuboid(Vector3::repeat(0.5)).unwrap());
    let meshes = [
        hull(&mut rng),
        torus(),
        torus().with_noise(0.02, &mut rng),
        cube,
    ];
    let mut ends = std::collections::HashMap::new();
    let mut longest = 0;
    for mesh in meshes {
        let mut compared = 0;
        for k in 0..1500 {
            let mut start = mesh.random_place(&mut rng);
            if k % 5 == 0 {
                start.weights = [0.0, 1.0, 0.0];
            }
            let reach = [0.05, 0.3, 1.2][k % 3];
            let particle = particle_near(&mesh, &start, reach, &mut rng);
            let mut friction = SlidingFriction::coulomb([0.0, 0.2, 0.6][k % 3]);
            if k % 2 == 0 {
                friction.axis = Some(FrictionAxis {
                    direction: Unit::new_normalize(Vector3::new(0.3, -0.5, 0.8)),
                    ratio: 0.4,
                });
            }
            let found = mesh.relax_with(friction, &start, &particle);
            if found.branch != Branch::Slip {
                continue;
            }
            compared += usize::from(compare(&mesh, friction, &start, &particle, &found));
            *ends.entry((found.end, found.states.min(4))).or_insert(0) += 1;
            longest = longest.max(found.states);
        }
        assert!(compared > 300, "{compared}");
    }
    // Ends in and beyond the first triangle, and on edges; those at vertices are rare for random particles.
    for needed in [
        (WalkEnd::Triangle, 1),
        (WalkEnd::Triangle, 2),
        (WalkEnd::Triangle, 4),
        (WalkEnd::Edge, 3),
        (WalkEnd::Overhang, 1),
        (WalkEnd::Overhang, 2),
    ] {
        assert!(
            ends.get(&needed).copied().unwrap_or(0) > 20,
            "{needed:?}: {ends:?}"
        );
    }
    assert!(longest >= 5, "{longest}");
}

/// Whether the derivative could be compared: no kink is near.
fn compare(
    mesh: &Mesh,
    friction: SlidingFriction<f64>,
    start: &MeshPlace,
    particle: &Point3<f64>,
    found: &MeshRelaxed,
) -> bool {
    let place = found.place.unwrap();
    let corners = mesh.surface.corners(&mesh.vertices, place.triangle);
    let x = Matrix3::from_columns(&corners.map(|p| p.coords));
    let triangle = mesh.surface.triangle(place.triangle);
    let mut all = true;
    for &(variable, by) in found.derivative.terms() {
        let mut analytic = x * by;
        if let Variable::Vertex(v) = variable
            && let Some(k) = triangle.iter().position(|own| *own == v)
        {
            analytic += Matrix3::identity() * place.weights[k];
        }
        let at = |shift: Vector3<f64>| {
            let mut moved = Mesh {
                surface: mesh.surface.clone(),
                vertices: mesh.vertices.clone(),
            };
            let mut particle = *particle;
            match variable {
                Variable::Particle => particle += shift,
                Variable::Vertex(v) => moved.vertices[v as usize] += shift,
            }
            let relaxed = moved.relax_with(friction, start, &particle);
            relaxed.point(&moved.surface, &moved.vertices).unwrap()
        };
        let difference = |h: f64| {
            let columns = [0, 1, 2].map(|j| {
                let step = |n: f64| at(Vector3::ith(j, n * h));
                ((step(1.0) - step(-1.0)) * 8.0 - (step(2.0) - step(-2.0))) / (12.0 * h)
            });
            Matrix3::from_columns(&columns)
        };
        let (coarse, fine) = (difference(2e-5), difference(1e-5));
        if (coarse - fine).norm() > 1e-6 * (1.0 + fine.norm()) {
            all = false;
            continue;
        }
        let error = (analytic - fine).norm() / (1.0 + fine.norm());
        assert!(error < 1e-6, "{variable:?}: {error:e}, {:?}", found.end);
        let share_at = |shift: Vector3<f64>| {
            let (mut vertices, mut particle) = (mesh.vertices.clone(), *particle);
            match variable {
                Variable::Particle => particle += shift,
                Variable::Vertex(v) => vertices[v as usize] += shift,
            }
            let mut out = MeshRelaxed::default();
            let surface = &mesh.surface;
            surface.relax(
                &vertices,
                friction,
                Facing::Front,
                start,
                &particle,
                &mut out,
            );
            out.share.value
        };
        for j in 0..3 {
            let difference = |h: f64| {
                let step = |n: f64| share_at(Vector3::ith(j, n * h));
                ((step(1.0) - step(-1.0)) * 8.0 - (step(2.0) - step(-2.0))) / (12.0 * h)
            };
            let (coarse, fine) = (difference(2e-5), difference(1e-5));
            let error = found.share.by(variable)[j] - fine;
            let scale = 1.0 + fine.abs();
            // The edge with the largest overhang may change.
            assert!(
                error.abs() < 1e-5 * scale || (coarse - fine).abs() > 1e-5 * scale,
                "share: {error:e} of {fine}, {coarse}"
            );
        }
        // Momentum: weights sum to one.
        assert!(by.row_sum().norm() < 1e-9 * (1.0 + by.norm()));
    }
    all
}

#[test]
fn relaxing_again_changes_nothing_and_sticking_leaves_every_bit() {
    let mesh = torus();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut sticking, mut slipping) = (0, 0);
    for _ in 0..4000 {
        let start = mesh.random_place(&mut rng);
        let particle = particle_near(&mesh, &start, 0.4, &mut rng);
        let found = mesh.relax(0.5, &start, &particle);
        let place = found.place.unwrap();
        match found.branch {
            Branch::Separate | Branch::Stick => assert_eq!(place, start),
            Branch::Slip => {
                slipping += 1;
                let again = mesh.relax(0.5, &place, &particle);
                let moved = mesh.point(&again.place.unwrap()) - mesh.point(&place);
                assert!(moved.norm() < 1e-13, "{moved:?}");
                // Nearer than before, on the surface, and with friction within its bound where the end is a triangle.
                let pull = mesh.point(&place) - particle;
                assert!(pull.norm() <= (mesh.point(&start) - particle).norm());
                if found.end == WalkEnd::Triangle {
                    let normal = pull.dot(&found.normal);
                    assert!((pull - found.normal * normal).norm() <= 0.5 * normal * (1.0 + 1e-12));
                }
            }
        }
        sticking += usize::from(found.branch == Branch::Stick);
    }
    assert!(sticking > 100 && slipping > 1000, "{sticking} {slipping}");
}

#[test]
fn the_test_of_separation_agrees_with_the_signed_distance() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for noise in [0.0, 0.02] {
        let mesh = torus().with_noise(noise, &mut rng);
        let shape = Shape::mesh(&mesh.vertices, mesh.surface.triangles()).unwrap();
        let mut on_edges = 0;
        for _ in 0..2500 {
            let start = mesh.random_place(&mut rng);
            let mut particle = particle_near(&mesh, &start, 0.3, &mut rng);
            particle += random_unit(&mut rng) * 0.1;
            let phi = shape.signed_distance(&particle).value;
            if phi.abs() < 1e-6 {
                continue;
            }
            let found = mesh.relax(0.0, &start, &particle);
            // Without friction the walk descends to a nearest point of some part of the surface, which may be the far side of the hole.
            on_edges += usize::from(found.end != WalkEnd::Triangle);
            let reached = mesh.point(&found.place.unwrap()) - particle;
            if found.branch != Branch::Separate && reached.norm() > 1.5 * phi.abs() {
                continue;
            }
            assert_eq!(
                found.branch != Branch::Separate,
                phi < 0.0,
                "{particle} {phi}"
            );
        }
        assert!(on_edges > 100, "{on_edges}");
    }
}

#[test]
fn an_attachment_in_a_dent_stays_at_its_deepest_vertex() {
    let mut mesh = Mesh::lattice(2);
    mesh.vertices[4].z = -0.5;
    let particle = Point3::new(1.05, 0.97, -0.8);
    for (triangle, weights) in [(0, [0.2, 0.2, 0.6]), (6, [0.5, 0.2, 0.3])] {
        let found = mesh.relax(0.2, &MeshPlace { triangle, weights }, &particle);
        assert_eq!((found.branch, found.end), (Branch::Slip, WalkEnd::Vertex));
        assert_eq!(mesh.point(&found.place.unwrap()), mesh.vertices[4]);
        assert!(found.derivative.terms().is_empty());
        let again = mesh.relax(0.2, &found.place.unwrap(), &particle);
        assert_eq!(again.branch, Branch::Stick);
    }
}

#[test]
fn a_particle_slides_off_the_edge_of_an_open_sheet() {
    let mesh = Mesh::lattice(2);
    let start = MeshPlace {
        triangle: 0,
        weights: [0.2, 0.4, 0.4],
    };
    let beyond = Point3::new(3.0, 0.5, -0.1);
    assert_eq!(mesh.relax(0.3, &start, &beyond).branch, Branch::Separate);
    assert!(!mesh.surface.is_closed() && torus().surface.is_closed());
}

#[test]
fn the_force_fades_continuously_beyond_the_edges_and_corners_of_a_box() {
    let cube = Mesh::of(&generate::cuboid(Vector3::repeat(0.5)).unwrap());
    let depth = 0.01;
    for (mu, towards) in [
        (0.0, Vector3::x()),
        (0.5, Vector3::x()),
        (0.5, Vector3::new(1.0, 0.3, 0.0)),
        (0.5, Vector3::new(1.0, 1.0, 0.0)),
    ] {
        // On the rim of the top, from the middle of an edge or from a corner.
        for from in [Point3::new(0.5, 0.2, 0.5), Point3::new(0.5, 0.5, 0.5)] {
            let start = (0..cube.surface.triangles().len() as u32)
                .map(|t| cube.surface.nearest_on(&cube.vertices, t, &from))
                .filter(|(distance, _)| *distance < 1e-12)
                .map(|(_, place)| place)
                .find(|place| {
                    let (normal, _) = cube.surface.plane(&cube.vertices, place.triangle);
                    normal.z > 0.5
                })
                .expect("a triangle of the top");
            let way = towards.normalize();
            let force = |beyond: f64| {
                let particle = from + way * beyond - Vector3::z() * depth;
                let found = cube.relax(mu, &start, &particle);
                match found.branch {
                    Branch::Separate => Vector3::zeros(),
                    _ => (cube.point(&found.place.unwrap()) - particle) * found.share.value,
                }
            };
            let step = 1e-3 * depth;
            let mut last = force(0.0);
            assert!((last.z - depth).abs() < 1e-12, "{last}");
            for k in 1..4000 {
                let next = force(f64::from(k) * step);
                let jump = (next - last).norm();
                assert!(jump < 4.0 * step, "{mu}, {towards}, {from}: {jump} at {k}");
                assert!(next.z <= last.z + 1e-12);
                last = next;
            }
            assert_eq!(last, Vector3::zeros());
            // Beyond x = 0.5 the overhang is that of the slid attachment, here half of the depth.
            if towards == Vector3::x() {
                let half = force((mu + 0.5) * depth);
                assert!((half.z - 0.5 * depth).abs() < 1e-12, "{half}");
            }
        }
    }
}

#[test]
fn surfaces_without_a_walk_are_refused() {
    let points = |n: usize| -> Vec<Point3<f64>> {
        let corner = |i: usize| Point3::new((i % 2) as f64, (i / 2) as f64, 0.0);
        (0..n).map(corner).collect()
    };
    let message = |triangles: &[[u32; 3]]| {
        WalkSurface::new(&points(6), triangles)
            .unwrap_err()
            .to_string()
    };
    assert!(message(&[[0, 2, 4]]).contains("degenerate"));
    assert!(message(&[[0, 1, 9]]).contains('9'));
    assert!(message(&[[0, 1, 2], [1, 2, 3]]).contains("oriented"));
    assert!(message(&[[0, 1, 2], [2, 1, 3], [1, 2, 5]]).contains("more than one"));
}
