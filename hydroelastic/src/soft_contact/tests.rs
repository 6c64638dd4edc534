//! Shared test bodies, and soft bodies on shapes: forces against integrals, all shapes, speculative contacts.

mod balls;
mod continuity;
mod filament_fields;
mod soft_on_soft;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};

use super::*;
use crate::mesh::generate::tet_cuboid;
use crate::{
    Compliance, ContactWorkspace, CustomShape, MaterialPoint, PatchGeometry, PointStiffness,
    Primitive, SelfExclusion, Shape, SignedDistance, Twist,
};

/// A tetrahedral body with a pose and a velocity.
struct Soft {
    id: u64,
    points: Vec<Point3<f64>>,
    radii: Vec<f64>,
    velocities: Vec<Vector3<f64>>,
    triangles: Vec<[u32; 3]>,
    mesh: SoftMesh,
    exclusion: SelfExclusion,
}

impl Soft {
    fn cuboid(half: Vector3<f64>, cells: [u32; 3], X: &Isometry3<f64>, v: Vector3<f64>) -> Self {
        let mesh = tet_cuboid(half, cells).unwrap();
        let points: Vec<Point3<f64>> = mesh
            .vertices()
            .iter()
            .map(|p| X * Point3::from(*p))
            .collect();
        let triangles: Vec<_> = mesh
            .boundary()
            .triangles
            .iter()
            .map(|t| t.map(|v| v.0))
            .collect();
        let tets: Vec<_> = mesh.tets().iter().map(|t| t.map(|v| v.0)).collect();
        let mut soft = Self {
            id: 1,
            radii: vec![0.0; points.len()],
            velocities: vec![v; points.len()],
            mesh: SoftMesh::new(&points, &triangles, &tets).unwrap(),
            exclusion: SelfExclusion::default(),
            points,
            triangles,
        };
        soft.update();
        soft
    }

    fn cube(z: f64) -> Self {
        let X = Isometry3::translation(0.0, 0.0, z);
        Self::cuboid(Vector3::repeat(0.05), [2, 2, 2], &X, Vector3::zeros())
    }

    fn update(&mut self) {
        let dt = query().time_step_s;
        self.mesh
            .update(&self.points, &self.triangles, &self.velocities, dt)
            .unwrap();
    }

    /// Moves vertices by `to`. Triangles of elements that are mirrored by it (`inverted`) are passed without area, as a
    /// body does.
    fn moved(
        mut self,
        to: impl Fn(&Point3<f64>) -> Point3<f64>,
        inverted: impl Fn(&Point3<f64>) -> bool,
    ) -> Self {
        let mirrored: Vec<bool> = self.points.iter().map(inverted).collect();
        for triangle in &mut self.triangles {
            if triangle.iter().all(|v| mirrored[*v as usize]) {
                *triangle = [triangle[0]; 3];
            }
        }
        self.points.iter_mut().for_each(|p| *p = to(p));
        self.update();
        self
    }

    fn posed(&self) -> Posed<'_> {
        Posed::Deforming(DeformingSurface {
            id: self.id,
            points: &self.points,
            radii: &self.radii,
            velocities: &self.velocities,
            exclusion: &self.exclusion,
            field: None,
            mesh: Some(&self.mesh),
        })
    }

    fn position(&self, point: &MaterialPoint) -> Vector3<f64> {
        let t = match point.primitive {
            Primitive::Vertex(v) => return self.points[v as usize].coords,
            Primitive::Triangle(t) => t,
            other => panic!("{other:?}"),
        };
        let corners = self.triangles[t as usize].iter().zip(&point.weights);
        corners
            .map(|(v, w)| self.points[*v as usize].coords * *w)
            .sum()
    }
}

fn query() -> Query {
    // A margin of a tenth of a millimetre.
    Query::new(0.01, 0.5).unwrap()
}

fn collide(a: Posed<'_>, b: Posed<'_>) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    SoftContact
        .collide(a, b, &query(), &mut ContactWorkspace::default(), &mut out)
        .unwrap()
        .unwrap();
    out
}

fn still(shape: &Shape, X_WG: Isometry3<f64>) -> Posed<'_> {
    Posed::Rigid(RigidShape::at_rest(shape, X_WG))
}

/// Σ k(−φ)n over the loaded points, with k of share one 1 N/m, and Σ p × that.
fn wrench(points: &[ContactPoint]) -> (Vector3<f64>, Vector3<f64>) {
    let loaded = points.iter().filter(|c| c.signed_distance < 0.0);
    loaded.fold((Vector3::zeros(), Vector3::zeros()), |(f, m), c| {
        let force = c.normal_W * (-c.signed_distance * c.stiffness.of_pair(1.0));
        (f + force, m + c.p_WC.coords.cross(&force))
    })
}

/// A plate that is not a half space by type: its upper side is z = 0.
#[derive(Debug)]
struct Ground;

impl CustomShape for Ground {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn name(&self) -> &'static str {
        "ground"
    }

    fn signed_distance(&self, p_GQ: &Point3<f64>) -> SignedDistance<f64> {
        crate::signed_distance::half_space(p_GQ)
    }

    fn local_aabb(&self) -> crate::Aabb {
        crate::Aabb {
            min: Point3::new(-9.0, -9.0, -9.0),
            max: Point3::new(9.0, 9.0, 0.0),
        }
    }
}

#[test]
fn force_on_a_cube_in_any_ground_is_proportional_to_its_area() {
    let corners: Vec<Point3<f64>> = (0..8)
        .map(|i| {
            Point3::new(
                f64::from(i & 1) - 0.5,
                f64::from(i >> 1 & 1) - 0.5,
                -0.3 * f64::from(i >> 2),
            )
        })
        .collect();
    let hull = Shape::convex_hull(&corners).unwrap();
    let box_surface = [
        [0, 1, 3],
        [0, 3, 2],
        [4, 7, 5],
        [4, 6, 7],
        [0, 5, 1],
        [0, 4, 5],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
        [1, 7, 3],
        [1, 5, 7],
    ];
    let mesh = Shape::mesh(&corners, &box_surface).unwrap();
    let down = |z: f64| Isometry3::translation(0.0, 0.0, z);
    let grounds = [
        (Shape::half_space(), down(0.0)),
        (
            Shape::cuboid(Vector3::new(1.0, 1.0, 0.3)).unwrap(),
            down(-0.15),
        ),
        (Shape::cylinder(0.5, 0.3).unwrap(), down(-0.15)),
        (hull, down(0.0)),
        (mesh, down(0.0)),
        (Shape::custom(Ground), down(0.0)),
    ];
    let depth = 1e-3;
    for (shape, X_WG) in &grounds {
        let soft = Soft::cube(0.05 - depth);
        let points = collide(soft.posed(), still(shape, *X_WG));
        let (force, moment) = wrench(&points);
        // Its underside is at the full depth; its sides, 1 mm high, get no vertical force.
        let exact = 0.01 * depth / soft.mesh.vertex_area();
        assert!(
            (force.z / exact - 1.0).abs() < 1e-9,
            "{}: {} against {exact}",
            shape.name(),
            force.z
        );
        assert!(
            force.xy().norm() < 1e-9 * exact && moment.norm() < 1e-6 * exact,
            "{moment}"
        );
        for c in &points {
            assert!((c.normal_W - Vector3::z()).norm() < 1e-9);
            assert!((soft.position(&c.a) - c.p_WC.coords).norm() < 1e-12);
            assert!((X_WG * Point3::from(c.b.offset) - c.p_WC).norm() < 1e-12);
        }
        let mut swapped = collide(still(shape, *X_WG), soft.posed());
        swapped.iter_mut().for_each(|c| *c = c.swapped());
        assert_eq!(points, swapped);
    }
}

#[test]
fn a_tilted_cube_has_the_force_and_moment_of_its_depth() {
    // Half of the underside is below ground: p = depth over the wetted part, moments about the origin.
    let tilt = UnitQuaternion::from_scaled_axis(Vector3::y() * 0.1);
    let X = Isometry3::from_parts(Vector3::new(0.0, 0.0, 0.05 * 0.1_f64.cos()).into(), tilt);
    let soft = Soft::cuboid(Vector3::repeat(0.05), [4, 4, 4], &X, Vector3::zeros());
    let floor = Shape::half_space();
    let points = collide(soft.posed(), still(&floor, Isometry3::identity()));
    let (force, moment) = wrench(&points);
    let (slope, n) = (0.1_f64.sin(), 400);
    let (mut total, mut first) = (0.0, 0.0);
    for i in 0..n {
        // Along the underside, from its centreline down to its edge.
        let s = 0.05 * (f64::from(i) + 0.5) / f64::from(n);
        let load = s * slope * 0.1 * 0.05 / f64::from(n) * 0.1_f64.cos();
        let x = s * 0.1_f64.cos() - 0.05 * slope;
        total += load;
        first += x * load;
    }
    // The lower side faces down a little, too.
    let depth = 0.05 * slope;
    let side = 0.1 * (depth / 0.1_f64.cos()) * 0.5 * depth * slope;
    let found = force.z * soft.mesh.vertex_area();
    assert!(
        (found - total - side).abs() < 5e-3 * total,
        "{found} {}",
        total + side
    );
    let arm = (moment.y / force.z).abs();
    let exact = first / total;
    assert!((arm / exact - 1.0).abs() < 0.02, "{arm} {exact}");
}

#[test]
fn a_ball_inside_a_triangle_is_in_contact() {
    // All vertices are far outside of the ball.
    let X = Isometry3::translation(0.0, 0.0, 0.1);
    let soft = Soft::cuboid(Vector3::repeat(0.1), [1, 1, 1], &X, Vector3::zeros());
    let (radius, depth) = (0.02, 2e-3);
    let ball = Shape::sphere(radius).unwrap();
    let centre = Isometry3::translation(0.03, -0.01, depth - radius);
    let points = collide(soft.posed(), still(&ball, centre));
    let (force, _) = wrench(&points);
    // ∫ (R − ρ) h/ρ dA over the disc, ρ = √(r² + h²), h = R − depth.
    let exact = std::f64::consts::PI * (radius - depth) * depth * depth;
    let found = force.z * soft.mesh.vertex_area();
    assert!((found / exact - 1.0).abs() < 0.1, "{found} {exact}");
    assert!(points.len() <= 64, "{}", points.len());
}

#[test]
fn the_force_of_a_ball_that_moves_over_triangles_does_not_jump() {
    let X = Isometry3::translation(0.0, 0.0, 0.1);
    let soft = Soft::cuboid(Vector3::repeat(0.1), [4, 4, 4], &X, Vector3::zeros());
    let ball = Shape::sphere(0.03).unwrap();
    let force = |k: u32| {
        let x = -0.06 + 1e-5 * f64::from(k);
        let centre = Isometry3::translation(x, 0.3 * x, 2e-3 - 0.03);
        wrench(&collide(soft.posed(), still(&ball, centre)))
            .0
            .norm()
    };
    let forces: Vec<f64> = (0..8000).map(force).collect();
    let largest = forces.iter().copied().fold(0.0, f64::max);
    let jump = forces
        .windows(2)
        .map(|w| (w[1] - w[0]).abs())
        .fold(0.0, f64::max);
    eprintln!("largest jump {:.1e} of the largest force", jump / largest);
    assert!(jump < 0.02 * largest, "{}", jump / largest);
}

#[test]
fn a_compliant_shape_determines_the_stiffness() {
    let ground = Shape::cuboid(Vector3::new(1.0, 1.0, 0.4)).unwrap();
    let compliance = Compliance {
        hydroelastic_modulus: 1e5,
        ..Compliance::default()
    };
    let patch = PatchGeometry::compliant(&ground, &compliance).unwrap();
    let X_WG = Isometry3::translation(0.0, 0.0, -0.2);
    let soft = Soft::cube(0.049);
    let posed = Posed::Rigid(RigidShape {
        patch: Some(&patch),
        ..RigidShape::at_rest(&ground, X_WG)
    });
    let points = collide(soft.posed(), posed);
    // E/H = 5e5 Pa/m, 1 mm deep, over 0.01 m²; the slivers at the sides have no gradient along their normals.
    let (force, _) = wrench(&points);
    assert!((force.z - 5.0).abs() < 0.02, "{force}");
    let is_patch = |c: &ContactPoint| matches!(c.stiffness, PointStiffness::OfPatch { .. });
    assert!(points.iter().all(is_patch));
    let slab = PatchGeometry::compliant(
        &Shape::half_space(),
        &Compliance {
            slab_thickness: Some(0.2),
            ..compliance
        },
    )
    .unwrap();
    let half_space = Shape::half_space();
    let posed = Posed::Rigid(RigidShape {
        patch: Some(&slab),
        ..RigidShape::at_rest(&half_space, Isometry3::identity())
    });
    let (force, _) = wrench(&collide(soft.posed(), posed));
    assert!((force.z - 5.0).abs() < 0.11, "{force}");
}

#[test]
fn inverted_elements_and_upper_sides_do_not_touch() {
    let floor = Shape::half_space();
    let mut soft = Soft::cube(0.05 - 1e-3);
    let all = collide(soft.posed(), still(&floor, Isometry3::identity())).len();
    soft.triangles.iter_mut().for_each(|t| *t = [t[0]; 3]);
    soft.update();
    let none = collide(soft.posed(), still(&floor, Isometry3::identity()));
    assert!(all > 0 && none.is_empty(), "{all} {}", none.len());
    // A sheet of 1 mm, 5 mm below ground: its upper side, as deep as the lower, gets no force.
    let X = Isometry3::translation(0.0, 0.0, -5e-3);
    let half = Vector3::new(0.05, 0.05, 5e-4);
    let sheet = Soft::cuboid(half, [4, 4, 1], &X, Vector3::zeros());
    let points = collide(sheet.posed(), still(&floor, Isometry3::identity()));
    let (force, _) = wrench(&points);
    let area = force.z * sheet.mesh.vertex_area() / 5.5e-3;
    assert!((area / 0.01 - 1.0).abs() < 0.05, "{area}");
}

#[test]
fn contacts_that_close_within_the_step_are_speculative() {
    let fast = |z: f64, v: f64| {
        let X = Isometry3::translation(0.011, 0.007, z);
        Soft::cuboid(Vector3::repeat(0.05), [2, 2, 2], &X, Vector3::z() * v)
    };
    // 30 m/s for 10 ms: 0.3 m. The plate is 5 mm thick.
    let plate = Shape::cuboid(Vector3::new(1.0, 1.0, 0.005)).unwrap();
    let soft = fast(0.25, -30.0);
    let points = collide(soft.posed(), still(&plate, Isometry3::identity()));
    assert!(points.len() >= 9 && points.iter().all(|c| c.entry > 0.0));
    let missing = fast(0.25, -10.0);
    assert!(collide(missing.posed(), still(&plate, Isometry3::identity())).is_empty());
    // A soft body on a soft body: vertices on triangles of either, edges on edges.
    let lower = Soft::cube(0.0);
    let mut upper = fast(0.25, -30.0);
    upper.id = 2;
    let points = collide(upper.posed(), lower.posed());
    for kind in ["Vertex", "Triangle"] {
        let on = |p: &MaterialPoint| format!("{:?}", p.primitive).starts_with(kind);
        assert!(points.iter().any(|c| on(&c.a)) && points.iter().any(|c| on(&c.b)));
    }
    // 0.15 m at 0.3 m per step.
    let first = points.iter().map(|c| c.entry).fold(1.0, f64::min);
    assert!((first - 0.5).abs() < 1e-3, "{first}");
    for c in points.iter().filter(|c| c.entry < 0.501) {
        assert!((c.signed_distance - 0.15).abs() < 1e-3, "{c:?}");
        assert!(c.normal_W.z > 0.999, "{}", c.normal_W);
    }
    // Moving together at 30 m/s they are at relative rest.
    let mut together = Soft::cube(0.15);
    (together.id, together.velocities) = (2, lower.velocities.clone());
    assert!(collide(together.posed(), lower.posed()).is_empty());
    // A needle rises through the centre of a triangle, away from all vertices.
    let needle = Shape::capsule(1e-3, 0.02).unwrap();
    let wide = Soft::cuboid(
        Vector3::repeat(0.1),
        [1, 1, 1],
        &Isometry3::translation(0.0, 0.0, 0.15),
        Vector3::zeros(),
    );
    let rising = Posed::Rigid(RigidShape {
        V_WG: Twist {
            angular: Vector3::zeros(),
            linear: Vector3::z() * 10.0,
        },
        ..RigidShape::at_rest(&needle, Isometry3::translation(0.1 / 3.0, -0.1 / 3.0, 0.0))
    });
    let rising = collide(wide.posed(), rising);
    assert!(rising.iter().all(|c| c.entry > 0.0));
    eprintln!("{} speculative points over a needle", rising.len());
}
