//! What must not pass through: a strip through itself, a fast ball through a thin plate.

use crate::support::touching::{TOUCHES, Touch, add_floor, add_soft, center, run, surface};
use crate::support::{GRAVITY, built, corotated};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{Exclusion, Geometry, Mount, WorldBuilder};
use pliant_fem::FemBuilder;
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{ContactMaterial, Shape};

/// A strip bent back over itself; how far its free end is above the floor in the end, m.
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
    // Half a turn about an axis along y, the far end over the near one.
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
fn a_folded_strip_rests_on_itself_only_if_it_may_touch_itself() {
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

#[test]
fn a_fast_soft_ball_does_not_pass_a_thin_plate() {
    for (speed, touch) in [10.0, 30.0]
        .into_iter()
        .flat_map(|v| TOUCHES.map(|t| (v, t)))
    {
        let mesh = tet_cuboid(Vector3::repeat(0.05), [3, 3, 3]).unwrap();
        // A cube's corners drawn in: x ↦ x |x|∞/|x|₂ is a ball.
        let rounded = mesh.vertices().iter().map(|p| {
            let norm = p.norm();
            if norm > 0.0 {
                p * (p.amax() / norm)
            } else {
                *p
            }
        });
        let tets = mesh.tets().iter().map(|t| t.map(|v| v.0)).collect();
        let options = pliant_hydroelastic::mesh::TetOptions::default();
        let ball = pliant_hydroelastic::mesh::TetMesh::build(rounded.collect(), tets, &options);
        let builder = FemBuilder::new(ball.unwrap().0, corotated(1e6, 0.4), 1000.0);
        let ball = built(builder.pose(Isometry3::translation(0.0, 0.0, 0.3)));
        let mut builder = WorldBuilder::default();
        let plate = Shape::cuboid(Vector3::new(1.0, 1.0, 0.005)).unwrap();
        let hard = ContactMaterial {
            stiffness: 1e7,
            ..ContactMaterial::default()
        };
        let mount = Mount::World(Isometry3::identity());
        builder.add_geometry(Geometry::new("plate", mount, plate, hard));
        let (body, _) = add_soft(&mut builder, "ball", ball, hard, touch);
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        state.bodies[body.0]
            .v
            .chunks_exact_mut(3)
            .for_each(|v| v[2] = -speed);
        let mut lowest = f64::INFINITY;
        run(&world, &mut state, 0.01, 0.3, |_, state| {
            let heights = state.bodies[body.0].q.chunks_exact(3).map(|p| p[2]);
            lowest = heights.fold(lowest, f64::min);
        });
        eprintln!(
            "{touch:?} at {speed} m/s: lowest vertex {:.2} mm above the plate's middle",
            1e3 * lowest
        );
        assert!(lowest > -0.0025, "{touch:?} at {speed} m/s: {lowest}");
        assert!(center(&state, body).z > 0.0);
    }
}
