use std::f64::consts::FRAC_PI_2;

use nalgebra::{Point3, UnitQuaternion, Vector3};
use pliant_hydroelastic::AnalyticShape;

use super::*;
use crate::recording::{BodyIdx, Color, Deformed, Frame, PointsLook, Visual, VisualShape};

fn visual(anchor: Anchor, at: [f64; 3], shape: VisualShape, color: Color) -> Visual {
    Visual {
        name: "v".into(),
        anchor,
        X_BG: Isometry3::translation(at[0], at[1], at[2]),
        shape,
        color,
    }
}

/// 5 × 3 pixels and a field of view of a quarter turn, at the origin, along z.
fn sensor(anchor: Anchor) -> ImageSensor {
    ImageSensor {
        name: "eye".into(),
        anchor,
        X_BS: Isometry3::identity(),
        size: [5, 3],
        field_of_view: FRAC_PI_2,
    }
}

fn sphere(radius: f64) -> VisualShape {
    AnalyticShape::Sphere { radius }.into()
}

const RED: Color = Color::rgb(1.0, 0.0, 0.0);

#[test]
fn the_depth_of_a_wall_is_the_same_in_all_pixels() {
    // Depth is along the axis, not along the ray.
    let wall = AnalyticShape::Box {
        size: Vector3::new(100.0, 100.0, 1.0),
    };
    let visuals = [visual(Anchor::World, [0.0, 0.0, 4.5], wall.into(), RED)];
    let image = Stage::new(&visuals).image(&visuals, &sensor(Anchor::World), &Frame::default());
    assert!(
        image.depths.iter().all(|depth| (depth - 4.0).abs() < 1e-6),
        "{image:?}"
    );
    // The middle faces the camera; the corner is darker by the angle of its ray.
    assert_eq!(image.colors[7], [255, 0, 0]);
    let corner = Vector3::<f64>::new(2.0, 1.0, 1.5);
    let light = 0.35 + 0.65 * 1.5 / corner.norm();
    assert_eq!(image.colors[0], [(255.0 * light).round() as u8, 0, 0]);
}

#[test]
fn pixels_are_to_the_right_along_x_and_downward_along_y() {
    // A small ball in the direction of the pixel in the last column of the first row.
    let f = 1.5;
    let at = [2.0 / f * 3.0, -1.0 / f * 3.0, 3.0];
    let visuals = [visual(Anchor::World, at, sphere(0.3), RED)];
    let image = Stage::new(&visuals).image(&visuals, &sensor(Anchor::World), &Frame::default());
    let hits: Vec<usize> = (0..15).filter(|k| image.depths[*k].is_finite()).collect();
    assert_eq!(hits, [4]);
    assert_eq!(image.colors[0], [235, 240, 245]);
}

#[test]
fn the_camera_and_bodies_move_with_their_frames() {
    let visuals = [
        visual(Anchor::Body(BodyIdx(1)), [0.0; 3], sphere(0.5), RED),
        visual(
            Anchor::World,
            [0.0; 3],
            AnalyticShape::HalfSpace {}.into(),
            Color::GROUND,
        ),
    ];
    // Camera 2 m above the floor, looking down; a ball in between.
    let down = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    let frame = Frame {
        X_WB: vec![
            Isometry3::from_parts(Vector3::new(7.0, 0.0, 2.0).into(), down),
            Isometry3::translation(7.0, 0.0, 0.5),
        ],
        ..Frame::default()
    };
    let image = Stage::new(&visuals).image(&visuals, &sensor(Anchor::Body(BodyIdx(0))), &frame);
    assert!(
        (image.depths[7] - 1.0).abs() < 2e-3,
        "the ball: {}",
        image.depths[7]
    );
    assert!(
        (image.depths[0] - 2.0).abs() < 1e-6,
        "the floor: {}",
        image.depths[0]
    );
}

#[test]
fn what_deforms_is_seen_where_it_is_and_glass_is_not() {
    let glass = Color {
        opacity: 0.2,
        ..RED
    };
    let mesh = VisualShape::DeformingMesh {
        n_vertices: 3,
        triangles: vec![[0, 1, 2]],
        tetrahedra: Vec::new(),
        scale: None,
    };
    let grains = VisualShape::Points {
        radius: 0.1,
        look: PointsLook::Grains,
        scale: None,
    };
    let visuals = [
        visual(Anchor::World, [0.0, 0.0, 1.0], sphere(0.5), glass),
        visual(Anchor::World, [0.0; 3], mesh, RED),
        visual(Anchor::World, [0.0; 3], grains, RED),
    ];
    let at = |points: &[[f64; 3]]| Deformed {
        points: points.iter().map(|p| Point3::from(*p)).collect(),
        ..Deformed::default()
    };
    let frame = |z: f64| Frame {
        deformed: vec![
            at(&[[-9.0, -9.0, z], [9.0, -9.0, z], [0.0, 9.0, z]]),
            at(&[[0.0, 0.0, 3.0]]),
        ],
        ..Frame::default()
    };
    let stage = Stage::new(&visuals);
    assert_eq!(
        stage
            .image(&visuals, &sensor(Anchor::World), &frame(2.0))
            .depths[7],
        2.0
    );
    let behind = stage
        .image(&visuals, &sensor(Anchor::World), &frame(5.0))
        .depths[7];
    assert!((behind - 2.9).abs() < 1e-6, "the grain: {behind}");
}
