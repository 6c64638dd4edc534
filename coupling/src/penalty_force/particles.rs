//! The particles of a rigid shape: points of its surface.
//!
//! Spheres and capsules are balls where they touch the level set of a shape: with the nearest point of a ball they roll without bumps (`rolling`). Elsewhere,
//! and for other shapes, particles are points. Boxes have a grid on each face, convex hulls their corners, meshes their vertices, round shapes the vertices of a triangulation of their surface.
//! Edges of hulls and meshes have particles on request, so that edges which cross without a corner inside touch.
//! A half space and user-defined shapes have none. Corners alone would not do for boxes: those of a box that lies on an equal one are on the sides of
//! the other, which push them nowhere.

use std::collections::HashMap;
use std::ops::Range;

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::{TriMesh, generate};

use super::settings::PenaltyForceSettings;

/// Cosine of the angle between normals of one face, at least.
const SAME_FACE: f64 = 1.0 - 1e-9;
/// Bound of the balls along a long thin capsule.
const BALLS_MAX: f64 = 200.0;

/// Particles of a shape, in its frame: points of its surface, and then balls.
#[derive(Clone, Debug, Default)]
pub(super) struct Particles {
    pub(super) points: Vec<Point3<f64>>,
    /// Σ ∫ n dA over the part of the surface that each stands for, n outwards, m².
    pub(super) areas: Vec<Vector3<f64>>,
    /// Unit normals of the faces that each is on, outwards.
    pub(super) faces: Vec<Vec<Vector3<f64>>>,
    /// Balls whose hull the shape is, or nearly: they touch level sets at one point each, without the flats between sampled points.
    pub(super) balls: Vec<Ball>,
    /// Straight edges of a convex shape, which have two particles each where they lie across the boundary of another: see `overlap`.
    pub(super) edges: Vec<[Point3<f64>; 2]>,
}

/// A ball within a shape, in its frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    pub(super) centre: Point3<f64>,
    pub(super) radius: f64,
}

impl Particles {
    pub(super) fn len(&self) -> usize {
        self.first_of_edges() + 2 * self.edges.len()
    }

    /// The first particle of the first edge.
    pub(super) fn first_of_edges(&self) -> usize {
        self.points.len() + self.balls.len()
    }

    /// Those that touch triangles, and where stiffness is per area.
    pub(super) fn sampled(&self) -> Range<usize> {
        0..self.points.len()
    }

    /// Those that touch level sets.
    pub(super) fn on_level_sets(&self) -> Range<usize> {
        match self.balls.is_empty() {
            true => self.sampled(),
            false => self.points.len()..self.first_of_edges(),
        }
    }

    fn ball(&self, particle: usize) -> Option<&Ball> {
        self.balls.get(particle.checked_sub(self.points.len())?)
    }

    /// A point, or the centre of a ball.
    pub(super) fn place(&self, particle: usize) -> Point3<f64> {
        self.ball(particle)
            .map_or_else(|| self.points[particle], |ball| ball.centre)
    }

    /// Of a ball, m; 0 of a point.
    pub(super) fn radius(&self, particle: usize) -> f64 {
        self.ball(particle).map_or(0.0, |ball| ball.radius)
    }

    fn with_edges(self, edges: impl IntoIterator<Item = [Point3<f64>; 2]>) -> Self {
        Self {
            edges: edges.into_iter().collect(),
            ..self
        }
    }

    fn with_balls(self, balls: impl IntoIterator<Item = Ball>) -> Self {
        Self {
            balls: balls.into_iter().collect(),
            ..self
        }
    }

    fn of_triangles(points: Vec<Point3<f64>>, triangles: &[[u32; 3]]) -> Self {
        let mut areas = vec![Vector3::zeros(); points.len()];
        let mut faces = vec![Vec::new(); points.len()];
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| points[v as usize]);
            let third = (b - a).cross(&(c - a)) / 6.0;
            for v in triangle.map(|v| v as usize) {
                areas[v] += third;
                add_face(&mut faces[v], &third);
            }
        }
        Self {
            points,
            areas,
            faces,
            ..Self::default()
        }
    }

    /// Corners, and particles along the edges, not further apart than `spacing`. Triangles are divided equally among the particles on their boundary.
    fn of_edges(corners: &[Point3<f64>], triangles: &[[u32; 3]], spacing: f64) -> Self {
        let mut points = corners.to_vec();
        let mut on_edge: HashMap<[u32; 2], Range<usize>> = HashMap::new();
        let mut boundaries = Vec::with_capacity(triangles.len());
        for triangle in triangles {
            let mut boundary: Vec<usize> = triangle.map(|v| v as usize).to_vec();
            for k in 0..3 {
                let (from, to) = (triangle[k], triangle[(k + 1) % 3]);
                let ends = [from.min(to), from.max(to)];
                let between = on_edge.entry(ends).or_insert_with(|| {
                    let [a, b] = ends.map(|v| corners[v as usize]);
                    let n = ((b - a).norm() / spacing).ceil().max(1.0);
                    let first = points.len();
                    points.extend((1..n as usize).map(|i| a + (b - a) * (i as f64 / n)));
                    first..points.len()
                });
                boundary.extend(between.clone());
            }
            boundaries.push(boundary);
        }
        let mut areas = vec![Vector3::zeros(); points.len()];
        let mut faces = vec![Vec::new(); points.len()];
        for (triangle, boundary) in triangles.iter().zip(boundaries) {
            let [a, b, c] = triangle.map(|v| corners[v as usize]);
            let share = (b - a).cross(&(c - a)) * (0.5 / boundary.len() as f64);
            for particle in boundary {
                areas[particle] += share;
                add_face(&mut faces[particle], &share);
            }
        }
        Self {
            points,
            areas,
            faces,
            ..Self::default()
        }
    }

    fn of_mesh(mesh: &TriMesh, stretched_by: &Vector3<f64>) -> Self {
        let points = mesh.vertices().iter();
        let points = points.map(|p| Point3::from(p.component_mul(stretched_by)));
        let triangles: Vec<[u32; 3]> = mesh.raw_triangles().collect();
        Self::of_triangles(points.collect(), &triangles)
    }
}

/// Adds the normal of a triangle to those of a particle, if it has another direction.
fn add_face(faces: &mut Vec<Vector3<f64>>, area: &Vector3<f64>) {
    let Some(normal) = area.try_normalize(0.0) else {
        return;
    };
    if faces.iter().all(|known| known.dot(&normal) < SAME_FACE) {
        faces.push(normal);
    }
}

/// Particles in the shape's frame. Those of the baselines are points, as published.
pub(super) fn particles_of(shape: &Shape, settings: &PenaltyForceSettings) -> Particles {
    let all = all_particles_of(shape, settings);
    match settings.baseline {
        None => all,
        Some(_) => Particles {
            balls: Vec::new(),
            edges: Vec::new(),
            ..all
        },
    }
}

fn all_particles_of(shape: &Shape, settings: &PenaltyForceSettings) -> Particles {
    let around = settings.round_particles;
    let stretched = |mesh: Result<TriMesh, _>, axes: Vector3<f64>| {
        mesh.map(|mesh| Particles::of_mesh(&mesh, &axes))
            .unwrap_or_default()
    };
    let as_is = Vector3::repeat(1.0);
    let spacing = settings.edge_spacing_m;
    match shape {
        Shape::Sphere(s) => {
            let ball = Ball {
                centre: Point3::origin(),
                radius: s.radius(),
            };
            stretched(generate::sphere(s.radius(), subdivisions(around)), as_is).with_balls([ball])
        }
        Shape::Box(s) => on_box(&s.half_extents(), settings.box_particles)
            .with_edges(edges_of_box(&s.half_extents())),
        Shape::Cylinder(s) => stretched(
            generate::cylinder(s.radius(), s.half_length(), around),
            as_is,
        ),
        Shape::EllipticCylinder(s) => stretched(
            generate::cylinder(1.0, s.half_length(), around),
            Vector3::new(s.semi_axes().x, s.semi_axes().y, 1.0),
        ),
        Shape::Capsule(s) => stretched(
            generate::capsule(s.radius(), s.half_length(), around),
            as_is,
        )
        .with_balls(along_axis(s.radius(), s.half_length())),
        Shape::Ellipsoid(s) => {
            stretched(generate::sphere(1.0, subdivisions(around)), s.semi_axes())
        }
        Shape::Cone(s) => on_cone(s.radius(), s.half_height(), around),
        Shape::ConvexHull(s) => {
            let edges = s.edges().iter().map(|edge| edge.vertices);
            let at = |v: u32| s.vertices()[v as usize];
            Particles::of_edges(s.vertices(), &s.triangles().collect::<Vec<_>>(), spacing)
                .with_edges(edges.map(|ends| ends.map(at)))
        }
        Shape::Mesh(s) => Particles::of_edges(s.vertices(), s.triangles(), spacing),
        _ => Particles::default(),
    }
}

/// A grid with `n` points along each edge, without those inside; x runs fastest.
fn on_box(half: &Vector3<f64>, n: u32) -> Particles {
    let last = n - 1;
    let at = |i: u32| 2.0 * f64::from(i) / f64::from(last) - 1.0;
    let is_end = |i: u32| i == 0 || i == last;
    let share = |i: u32, axis: usize| {
        let cell = 2.0 * half[axis] / f64::from(last);
        if is_end(i) { 0.5 * cell } else { cell }
    };
    let mut out = Particles::default();
    for k in 0..n {
        for j in 0..n {
            for i in (0..n).filter(|i| is_end(*i) || is_end(j) || is_end(k)) {
                let index = [i, j, k];
                let position = Vector3::from(index.map(at));
                let on_face = |axis: &usize| is_end(index[*axis]);
                let normal = |axis: usize| Vector3::ith(axis, position[axis]);
                out.faces.push((0..3).filter(on_face).map(normal).collect());
                out.areas.push(Vector3::from_fn(|axis, _| {
                    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                    match is_end(index[axis]) {
                        true => position[axis] * share(index[u], u) * share(index[v], v),
                        false => 0.0,
                    }
                }));
                out.points.push(half.component_mul(&position).into());
            }
        }
    }
    out
}

fn edges_of_box(half: &Vector3<f64>) -> impl Iterator<Item = [Point3<f64>; 2]> + '_ {
    (0..12).map(move |k| {
        let axis = k / 4;
        let side = |bit: usize| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
        [-1.0, 1.0].map(|end| {
            let mut at = Vector3::repeat(end);
            at[(axis + 1) % 3] = side(0);
            at[(axis + 2) % 3] = side(1);
            Point3::from(half.component_mul(&at))
        })
    })
}

/// Balls of a capsule: at the ends of its axis, and between them not further apart than a radius.
fn along_axis(radius: f64, half_length: f64) -> impl Iterator<Item = Ball> {
    let intervals = (2.0 * half_length / radius).ceil().clamp(1.0, BALLS_MAX);
    (0..=intervals as u32).map(move |k| Ball {
        centre: Point3::new(
            0.0,
            0.0,
            half_length * (2.0 * f64::from(k) / intervals - 1.0),
        ),
        radius,
    })
}

/// The apex and the rim.
fn on_cone(radius: f64, half_height: f64, around: u32) -> Particles {
    let mut points = vec![Point3::new(0.0, 0.0, half_height)];
    points.extend((0..around).map(|i| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(around)).sin_cos();
        Point3::new(radius * cos, radius * sin, -half_height)
    }));
    let side = (0..around).map(|i| [0, 1 + i, 1 + (i + 1) % around]);
    let base = (1..around - 1).map(|i| [1, 1 + i + 1, 1 + i]);
    Particles::of_triangles(points, &side.chain(base).collect::<Vec<_>>())
}

/// An icosahedron subdivided k times has 5·2^k vertices on a great circle through its own.
fn subdivisions(around: u32) -> u32 {
    (f64::from(around) / 5.0).log2().round().clamp(0.0, 6.0) as u32
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector2;

    use super::*;

    #[test]
    fn particles_lie_on_the_surface() {
        let settings = PenaltyForceSettings::default();
        let shapes = [
            Shape::sphere(0.3),
            Shape::cuboid(Vector3::new(0.2, 0.4, 0.6)),
            Shape::cylinder(0.2, 0.7),
            Shape::elliptic_cylinder(Vector2::new(0.4, 0.1), 0.5),
            Shape::capsule(0.15, 0.4),
            Shape::ellipsoid(Vector3::new(0.3, 0.2, 0.4)),
            Shape::cone(0.25, 0.6),
        ];
        for shape in shapes {
            let shape = shape.expect("legal sizes");
            let Particles {
                points,
                areas,
                faces,
                balls,
                edges,
            } = particles_of(&shape, &settings);
            assert_eq!(faces.len(), points.len());
            for (faces, area) in faces.iter().zip(&areas) {
                // The area is a sum over the faces.
                assert!(faces.iter().any(|n| n.dot(area) > 0.0), "{}", shape.name());
                assert!(faces.iter().all(|n| (n.norm() - 1.0).abs() < 1e-12));
            }
            for end in edges.iter().flatten() {
                assert!(shape.signed_distance(end).value.abs() < 1e-12);
            }
            assert!(points.len() >= 8, "{}", shape.name());
            assert_eq!(areas.len(), points.len());
            for ball in balls {
                let phi = shape.signed_distance(&ball.centre).value;
                assert!((phi + ball.radius).abs() < 1e-12, "{}", shape.name());
            }
            for p in points {
                let phi = shape.signed_distance(&p).value;
                assert!(phi.abs() < 1e-12, "{}: {phi:e}", shape.name());
            }
        }
        assert!(
            particles_of(&Shape::half_space(), &settings)
                .points
                .is_empty()
        );
    }

    #[test]
    fn boxes_have_a_grid_on_every_face() {
        for n in 2..6 {
            let Particles { points, areas, .. } = on_box(&Vector3::new(0.1, 0.2, 0.3), n);
            let inside = (n - 2).pow(3);
            assert_eq!(points.len() as u32, n.pow(3) - inside);
            let top = points.iter().filter(|p| p.z == 0.3);
            assert_eq!(top.count() as u32, n * n);
            let faces = areas.iter().map(Vector3::abs).sum::<Vector3<f64>>();
            let expected = Vector3::new(0.2 * 0.3, 0.3 * 0.1, 0.1 * 0.2) * 2.0 * 4.0;
            assert!((faces - expected).norm() < 1e-12, "{faces}");
        }
    }
    #[test]
    fn edges_of_a_hull_have_particles_on_request() {
        let corners: Vec<Point3<f64>> = (0..8)
            .map(|k| Point3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)))
            .collect();
        let hull = Shape::convex_hull(&corners).expect("a cube");
        let of = |edge_spacing_m: f64| {
            let settings = PenaltyForceSettings {
                edge_spacing_m,
                ..PenaltyForceSettings::default()
            };
            particles_of(&hull, &settings)
        };
        assert_eq!(of(f64::INFINITY).points.len(), 8);
        let Particles { points, areas, .. } = of(0.3);
        // Three between the ends of each of 12 edges, four on each of 6 diagonals of faces.
        assert_eq!(points.len(), 8 + 12 * 3 + 6 * 4);
        for p in &points {
            assert!(hull.signed_distance(p).value.abs() < 1e-12);
        }
        let terms = points.iter().zip(&areas);
        let volume = terms.map(|(p, a)| p.coords.dot(a)).sum::<f64>() / 3.0;
        assert!((volume - 1.0).abs() < 1e-12, "{volume}");
    }

    #[test]
    fn areas_point_outwards_and_enclose_the_volume() {
        let settings = PenaltyForceSettings {
            round_particles: 160,
            ..PenaltyForceSettings::default()
        };
        let pi = std::f64::consts::PI;
        for (shape, volume) in [
            (Shape::sphere(0.3), 4.0 / 3.0 * pi * 0.027),
            (Shape::cylinder(0.2, 0.7), pi * 0.04 * 0.7),
            (Shape::cone(0.3, 0.4), pi * 0.09 * 0.4 / 3.0),
            (Shape::cuboid(Vector3::new(0.2, 0.3, 0.4)), 0.024),
        ] {
            let shape = shape.expect("legal sizes");
            let Particles { points, areas, .. } = particles_of(&shape, &settings);
            let closed: Vector3<f64> = areas.iter().sum();
            assert!(closed.norm() < 1e-12);
            // ∫ x·n dA = 3 V, lumped at the vertices of flat triangles.
            let terms = points.iter().zip(&areas);
            let found = terms.map(|(p, a)| p.coords.dot(a)).sum::<f64>() / 3.0;
            let name = shape.name();
            assert!(
                (found / volume - 1.0).abs() < 2e-3,
                "{name}: {found} {volume}"
            );
        }
    }
}
