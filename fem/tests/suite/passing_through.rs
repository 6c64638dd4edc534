//! Tunnelling: a strip does not pass through itself, nor a fast ball through a thin plate.

use std::sync::Arc;

use crate::support::touching::{TOUCHES, Touch, add_floor, add_soft, run, surface};
use crate::support::{GRAVITY, built, corotated};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{
    ContactModel, ContactSettings, Exclusion, Geometry, LaggedModel, Mount, SapModel, SimilarModel,
    WorldBuilder,
};
use pliant_fem::FemBuilder;
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{TetMesh, TetOptions};
use pliant_hydroelastic::{ContactMaterial, Shape};
use pliant_multibody::{LinkSpec, ModelBuilder, RigidTree, Root, SpatialInertia};

/// A strip bent back over itself; the final height of its free end above the floor, m.
fn folded_strip(touch: Touch, touches_itself: bool) -> f64 {
    // Cells of 1 cm; balls of 6.9 mm leave no gap between them through which another fits.
    let radius = 6.9e-3;
    let mesh = tet_cuboid(Vector3::new(0.2, 0.02, 0.005), [40, 4, 1]).unwrap();
    let radius = if touch == Touch::Vertices {
        radius
    } else {
        0.0
    };
    let builder = FemBuilder::new(mesh, corotated(2e4, 0.3), 1000.0).contact_radius(radius);
    let middle = radius + 0.005;
    let strip = built(builder.pose(Isometry3::translation(0.0, 0.0, middle)));
    let mut builder = WorldBuilder::default();
    builder.gravity(GRAVITY);
    add_floor(&mut builder, surface(0.5));
    let (body, _) = add_soft(&mut builder, "strip", strip, surface(0.5), touch);
    if !touches_itself {
        builder.exclude(Exclusion::Bodies(body, body));
    }
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    // Rotated by 180° about an axis along y, the far end over the near one.
    let (crease, bend) = (0.0, 0.025);
    for p in state.bodies[body.0].q.chunks_exact_mut(3) {
        let height = p[2] - middle;
        let angle = ((p[0] - crease) / bend).clamp(0.0, std::f64::consts::PI);
        if angle > 0.0 {
            let rest = p[0] - crease - angle * bend;
            let r = bend - height;
            p[0] = crease + r * angle.sin() + if angle < 3.1 { 0.0 } else { -rest };
            p[2] = middle + bend - r * angle.cos();
        }
    }
    run(&world, &mut state, 0.005, 1.0, |_, _| {});
    let vertices = state.bodies[body.0].q.chunks_exact(3).enumerate();
    let end = vertices.filter(|(i, _)| i % 41 == 40).map(|(_, p)| p[2]);
    end.fold(f64::INFINITY, f64::min)
}

#[test]
fn a_folded_strip_rests_on_itself_only_with_self_contact() {
    for touch in TOUCHES {
        let (with, without) = (folded_strip(touch, true), folded_strip(touch, false));
        eprintln!(
            "{touch:?}: free end {with:.4} m above the floor, without self contact {without:.4} m"
        );
        // The lower layer is 10 mm thick and, of balls, lies 7 mm above the floor; its balls keep the upper one 11 mm away.
        let least = if touch == Touch::Vertices {
            0.025
        } else {
            0.0095
        };
        assert!(with > least, "{touch:?}: {with}");
        assert!(without < 0.008, "{touch:?}: {without}");
    }
}

/// A ball of 0.1 m across in nearly as many cells as a cube, 27 times 6: x ↦ x |x|∞/|x|₂ draws a cube's corners in.
fn ball() -> FemBuilder {
    let mesh = tet_cuboid(Vector3::repeat(0.05), [3, 3, 3]).unwrap();
    let rounded = mesh.vertices().iter().map(|p| match p.norm() {
        0.0 => *p,
        norm => p * (p.amax() / norm),
    });
    let tets = mesh.tets().iter().map(|t| t.map(|v| v.0)).collect();
    let ball = TetMesh::build(rounded.collect(), tets, &TetOptions::default());
    FemBuilder::new(ball.unwrap().0, corotated(1e6, 0.4), 1000.0)
}

/// How far the lowest vertex of a soft ball has been above the midplane of a plate of 5 mm, at the end of any step of 10 ms, m. The ball
/// falls at `ball_speed`; the plate, of 20 kg and free, comes up at `plate_speed`, or belongs to the world where that is `None`.
fn least_way_above_plate(
    (ball_speed, plate_speed): (f64, Option<f64>),
    (model, friction): (&Arc<dyn ContactModel>, f64),
    touch: Touch,
) -> f64 {
    let ball = built(ball().pose(Isometry3::translation(0.0, 0.0, 0.3)));
    let mut builder = WorldBuilder::default();
    builder.contact(ContactSettings {
        model: model.clone(),
        ..ContactSettings::default()
    });
    let lengths = Vector3::new(1.0, 1.0, 0.005);
    let hard = ContactMaterial {
        stiffness: 1e7,
        friction,
        ..ContactMaterial::default()
    };
    let mut plate = None;
    let mount = match plate_speed {
        None => Mount::World(Isometry3::identity()),
        Some(speed) => {
            let mut model = ModelBuilder::new("plate");
            model.root(Root::Floating);
            let inertia = SpatialInertia::solid_box(20.0, lengths);
            model.link(LinkSpec::new("plate", inertia));
            let tree = RigidTree::new(Arc::new(model.build().unwrap())).starting_at(
                &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
                &[0.0, 0.0, 0.0, 0.0, 0.0, speed],
            );
            let body = builder.add_body("plate", Box::new(tree));
            plate = Some(body);
            Mount::Frame {
                body,
                frame: 0,
                X_FG: Isometry3::identity(),
            }
        }
    };
    let shape = Shape::cuboid(lengths).unwrap();
    builder.add_geometry(Geometry::new("plate", mount, shape, hard));
    let (body, _) = add_soft(&mut builder, "ball", ball, hard, touch);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    for v in state.bodies[body.0].v.chunks_exact_mut(3) {
        v[2] = -ball_speed;
    }
    let mut least = f64::INFINITY;
    run(&world, &mut state, 0.01, 0.3, |_, state| {
        // Where the plate is as it was: it is wide, and hit in its middle.
        let middle = plate.map_or(0.0, |plate| state.bodies[plate.0].q[2]);
        let heights = state.bodies[body.0].q.chunks_exact(3).map(|p| p[2]);
        least = heights.map(|z| z - middle).fold(least, f64::min);
    });
    least
}

#[test]
fn a_fast_soft_ball_and_a_thin_plate_do_not_pass_each_other() {
    let mut failed = Vec::new();
    let models: [Arc<dyn ContactModel>; 3] = [
        Arc::new(LaggedModel::default()),
        Arc::new(SimilarModel),
        Arc::new(SapModel),
    ];
    for model in &models {
        for friction in [0.0, 0.5] {
            for speeds in [
                (10.0, None),
                (30.0, None),
                (0.0, Some(30.0)),
                (15.0, Some(15.0)),
            ] {
                for touch in TOUCHES {
                    let least = least_way_above_plate(speeds, (model, friction), touch);
                    let what = format!("{model:?}, μ {friction}, {speeds:?} m/s, {touch:?}");
                    eprintln!(
                        "{what}: lowest {:.2} mm above the plate's midplane",
                        1e3 * least
                    );
                    if least <= -0.0025 {
                        failed.push(what);
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
