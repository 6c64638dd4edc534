//! Where a camera stands so that what moves fills its image.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_hydroelastic::AnalyticShape;

use crate::recording::paraview::Surface;
use crate::recording::{Anchor, Frame, Visual, VisualShape};

/// The middle of what moves in `frame`, or of everything where nothing moves, and the radius of a ball about it that has all of it, m; half
/// spaces do not count. `None` where there is nothing.
pub(crate) fn framed(visuals: &[Visual], frame: &Frame) -> Option<(Point3<f64>, f64)> {
    let mut deformed = frame.deformed.iter();
    let (mut moving, mut fixed) = (Vec::new(), Vec::new());
    for visual in visuals {
        if visual.shape.deforms() {
            let points = deformed.next().map(|of| of.points.iter().copied());
            moving.extend(points.into_iter().flatten());
            continue;
        }
        let is_plane = matches!(
            visual.shape,
            VisualShape::Analytic(AnalyticShape::HalfSpace {})
        );
        let surface = Surface::of(&visual.shape, 1.0);
        let Some(surface) = surface.ok().filter(|_| !is_plane) else {
            continue;
        };
        let (X_WB, points) = match visual.anchor {
            Anchor::Body(body) => (frame.X_WB[body.0], &mut moving),
            Anchor::World => (Isometry3::identity(), &mut fixed),
        };
        let vertices = surface.vertices.iter();
        points.extend(vertices.map(|p| X_WB * visual.X_BG * Point3::from(*p)));
    }
    let points = if moving.is_empty() { fixed } else { moving };
    let low = points.iter().map(|p| p.coords).reduce(|a, b| a.inf(&b))?;
    let high = points.iter().map(|p| p.coords).reduce(|a, b| a.sup(&b))?;
    let middle: Vector3<f64> = 0.5 * (low + high);
    let radius = points.iter().map(|p| (p.coords - middle).norm());
    Some((middle.into(), radius.fold(0.0, f64::max)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{BodyIdx, Color};

    fn visual(anchor: Anchor, shape: VisualShape) -> Visual {
        Visual {
            name: "v".into(),
            anchor,
            X_BG: Isometry3::translation(0.0, 0.0, 1.0),
            shape,
            color: Color::GROUND,
        }
    }

    #[test]
    fn what_moves_is_framed_without_what_is_fixed() {
        let size = Vector3::new(2.0, 4.0, 4.0);
        let cuboid = AnalyticShape::Box { size };
        let fixed = visual(Anchor::World, cuboid.into());
        let frame = Frame {
            X_WB: vec![Isometry3::translation(5.0, 0.0, 0.0)],
            ..Frame::default()
        };
        let moving = visual(Anchor::Body(BodyIdx(0)), cuboid.into());
        let (middle, radius) = framed(&[fixed.clone(), moving], &frame).unwrap();
        assert!((middle - Point3::new(5.0, 0.0, 1.0)).norm() < 1e-12);
        assert!((radius - 3.0).abs() < 1e-12);
        let (middle, _) = framed(&[fixed], &frame).unwrap();
        assert!((middle - Point3::new(0.0, 0.0, 1.0)).norm() < 1e-12);
        assert_eq!(framed(&[], &frame), None);
    }
}
