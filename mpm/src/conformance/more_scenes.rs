//! Further scenes of the kit: every shape without a scene of its own, held sets and loads, cloth.

use std::sync::Arc;

use nalgebra::{DMatrix, Isometry3, Point3, UnitQuaternion, Vector2, Vector3};
use pliant_contact_sap::{Load, MaterialPoint};
use pliant_hydroelastic::Shape;
use pliant_hydroelastic::mesh::generate;

use super::scenes::{SPACING, Scene, cube, lame, motion, of_model, pair, plate, scene};
use crate::cloth::{BendingModel, ClothMaterial, ClothMesh, ClothSpec, InPlaneLaw};
use crate::material::LinearCorotated;
use crate::model::{MpmBuilder, MpmSettings};
use crate::spline::GradientForm;
use crate::substeps::Obstacle;

fn turned(p: [f64; 3], angle: [f64; 3]) -> Isometry3<f64> {
    let rotation = UnitQuaternion::from_scaled_axis(Vector3::from(angle));
    Isometry3::from_parts(p.into(), rotation)
}

/// A tetrahedron-like stone.
fn stone() -> Shape {
    let corners = [
        [0.03, 0.0, 0.03],
        [-0.02, 0.03, 0.028],
        [-0.02, -0.03, 0.03],
        [0.0, 0.0, -0.03],
        [0.02, 0.025, 0.0],
    ];
    Shape::convex_hull(&corners.map(Point3::from)).expect("a hull")
}

fn ring() -> Shape {
    let surface = generate::torus(0.03, 0.012, 12, 8).expect("a torus");
    let vertices: Vec<Point3<f64>> = surface.vertices().iter().map(|v| (*v).into()).collect();
    let triangles: Vec<[u32; 3]> = surface.raw_triangles().collect();
    Shape::mesh(&vertices, &triangles).expect("a closed surface")
}

/// A soft cube that is pressed from all sides, on a ring that turns.
pub(super) fn among_shapes() -> Scene {
    let material = Arc::new(LinearCorotated::new(lame(1e5)));
    let object = cube(
        material,
        500.0,
        [0.0; 3],
        ([0.3, 0.1, -0.2], [3.0, 1.0, 2.0]),
    );
    let mut scene = scene("a cube among shapes", vec![object], GradientForm::True);
    scene.motions = vec![motion([0.0, 0.0, -0.038], [0.0, 0.0, 20.0, 0.0, 0.0, 0.2])];
    let mut response = DMatrix::zeros(6, 6);
    for k in 0..6 {
        response[(k, k)] = if k < 3 { 1e4 } else { 20.0 };
    }
    scene.response = response;
    let placed = |shape, X_LG| Obstacle {
        shape,
        ..plate(None, X_LG, 0.5)
    };
    let ellipsoid = Shape::ellipsoid(Vector3::new(0.02, 0.04, 0.03)).expect("lengths");
    let oval = Shape::elliptic_cylinder(Vector2::new(0.02, 0.035), 0.06).expect("lengths");
    let cone = Shape::cone(0.03, 0.05).expect("lengths");
    scene.obstacles = vec![
        Obstacle {
            shape: ring(),
            ..plate(Some(0), Isometry3::identity(), 0.6)
        },
        placed(stone(), turned([0.003, 0.002, 0.0525], [0.0, 0.1, 0.4])),
        placed(ellipsoid, turned([0.0485, 0.004, 0.002], [0.1, 0.0, 0.2])),
        placed(oval, turned([-0.0485, -0.003, 0.001], [0.1, 0.2, 0.25])),
        placed(cone, turned([0.004, -0.0485, 0.0], [-1.6, 0.0, 0.1])),
    ];
    scene
}

/// A cube that is held in two ways and pulled by single particles.
pub(super) fn held() -> Scene {
    let material = Arc::new(LinearCorotated::new(lame(1e5)));
    let object = cube(material, 500.0, [0.0; 3], ([0.2, 0.1, 0.3], [0.0; 3]));
    let n = object.particles.points.len() as u32;
    let place = |k: &u32| object.particles.points[*k as usize];
    let top = (0..n).filter(|k| place(k).z > 0.012).collect();
    let side = (0..n).filter(|k| place(k).x < -0.013).collect();
    let loads = vec![
        (3, Vector3::new(0.2, -0.1, 0.3)),
        (n as usize - 1, Vector3::new(0.0, 0.5, 0.0)),
        (3, Vector3::new(0.1, 0.0, 0.0)),
    ];
    let mut builder = MpmBuilder::new(MpmSettings::new(SPACING));
    builder.object(object);
    builder.grip("top", top).grip("side", side);
    let mut scene = of_model("a cube that is held and pulled", builder);
    // The top moves along x and z; the side overrides its z.
    scene.control.held = vec![Some(0.5), None, Some(-0.3), None, None, Some(0.1)];
    let pull = |(particle, force): &(usize, Vector3<f64>)| Load {
        point: MaterialPoint::on_vertex(*particle as u32),
        force_W: *force,
        torque_W: Vector3::zeros(),
    };
    scene.control.loads = loads.iter().map(pull).collect();
    scene.loads = loads;
    scene.is_free = false;
    let floor = Isometry3::translation(0.0, 0.0, -0.0345);
    scene.obstacles = vec![plate(None, floor, 0.5)];
    scene
}

/// A sheet of 8 cm, its plane turned and wavy.
fn sheet(name: &str, law: InPlaneLaw, p_WC: [f64; 3], velocity: [f64; 3]) -> ClothSpec {
    let surface = generate::sheet([0.08, 0.08], [6, 6]).expect("a sheet");
    let (mesh, _) = ClothMesh::new(name, surface, SPACING).expect("edges within the spacing");
    let material = ClothMaterial::new(law, 1e5, 0.3, 1000.0, 5e-4)
        .and_then(|m| m.with_normal_stiffness(2e5))
        .and_then(|m| m.with_shear_stiffness(5e4))
        .and_then(|m| m.with_friction(0.4))
        .and_then(|m| m.with_damping_time(1e-4))
        .and_then(|m| m.with_affine_fraction(0.7))
        .and_then(|m| m.with_bending_stiffness(1e-4))
        // Of which every backend is capable.
        .map(|m| m.with_bending_model(BendingModel::Hinges))
        .expect("cotton");
    let pose = turned(p_WC, [0.05, -0.1, 0.4]);
    let mut spec = ClothSpec::new(name, mesh, material);
    for p in &mut spec.positions {
        let wave = 2e-3 * (60.0 * p.x).sin() * (50.0 * p.y).cos();
        *p = (pose * Point3::new(1.03 * p.x, 0.98 * p.y, wave)).coords;
    }
    spec.velocity_W = velocity.into();
    spec
}

/// Two cloths: the lower one on a ball, held at a corner; the upper one falls on it.
pub(super) fn draped() -> Scene {
    let mut builder = MpmBuilder::new(MpmSettings::new(SPACING));
    let lower = sheet(
        "lower",
        InPlaneLaw::FixedCorotated,
        [0.003, 0.002, 0.0],
        [0.1, 0.0, -0.2],
    );
    let upper = sheet(
        "upper",
        InPlaneLaw::StVenantKirchhoff,
        [0.0, 0.004, 0.009],
        [0.0, 0.2, -2.0],
    );
    builder.cloth(lower);
    builder.cloth(upper);
    builder.grip("corner", vec![0, 1, 7]);
    let mut scene = of_model("two cloths on a ball", builder);
    scene.control.held = vec![Some(0.0), Some(0.3), None];
    scene.is_free = false;
    scene.length_s = 5e-5;
    scene.motions = vec![motion([0.0, 0.0, -0.0335], [0.0, 5.0, 0.0, 0.0, 0.0, 0.5])];
    let mut response = DMatrix::zeros(6, 6);
    for k in 0..6 {
        response[(k, k)] = if k < 3 { 1e5 } else { 50.0 };
    }
    scene.response = response;
    scene.obstacles = vec![Obstacle {
        shape: Shape::sphere(0.03).expect("a ball"),
        pairs: vec![Some(pair(0.4)); 2],
        ..plate(Some(0), Isometry3::identity(), 0.4)
    }];
    scene
}
