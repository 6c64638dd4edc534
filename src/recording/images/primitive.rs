//! What rays meet: triangles, balls and capsules.

use nalgebra::{Point3, Vector3};
use pliant_hydroelastic::Aabb;

/// A half-line; its direction need not have length 1, and distances are multiples of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ray {
    pub(super) origin: Point3<f64>,
    pub(super) direction: Vector3<f64>,
}

/// Where a ray meets a surface first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// In lengths of the direction.
    pub(super) distance: f64,
    /// Not normalised.
    pub(super) normal: Vector3<f64>,
}

/// A piece of a surface.
#[derive(Clone, Copy, Debug)]
pub(super) enum Primitive {
    Triangle([Point3<f64>; 3]),
    /// A segment with a radius; a ball if both ends are one point.
    Capsule([Point3<f64>; 2], f64),
}

impl Primitive {
    pub(super) fn bounds(&self) -> Aabb {
        match self {
            Self::Triangle(corners) => Aabb::from_points(corners),
            Self::Capsule(ends, radius) => Aabb::from_points(ends).inflated(*radius),
        }
    }

    /// The first hit in front of the origin.
    pub(super) fn hit(&self, ray: &Ray) -> Option<Hit> {
        match self {
            Self::Triangle(corners) => triangle(corners, ray),
            Self::Capsule([a, b], radius) if a == b => ball(a, *radius, ray),
            Self::Capsule([a, b], radius) => {
                let caps = [a, b].map(|end| ball(end, *radius, ray));
                let side = side(a, b, *radius, ray);
                let all = caps.into_iter().chain([side]).flatten();
                all.min_by(|p, q| p.distance.total_cmp(&q.distance))
            }
        }
    }
}

/// Share of an edge by which a triangle is larger for rays, so that none slips through between two neighbours.
const SEAM: f64 = 1e-9;

/// Source: Möller, Trumbore (1997), Fast, minimum storage ray/triangle intersection.
fn triangle([a, b, c]: &[Point3<f64>; 3], ray: &Ray) -> Option<Hit> {
    let (u, v) = (b - a, c - a);
    let p = ray.direction.cross(&v);
    let determinant = u.dot(&p);
    if determinant == 0.0 {
        return None;
    }
    let from_a = ray.origin - a;
    let s = from_a.dot(&p) / determinant;
    let q = from_a.cross(&u);
    let t = ray.direction.dot(&q) / determinant;
    let distance = v.dot(&q) / determinant;
    let is_inside = s >= -SEAM && t >= -SEAM && s + t <= 1.0 + SEAM;
    (is_inside && distance > 0.0).then(|| Hit {
        distance,
        normal: u.cross(&v),
    })
}

fn ball(centre: &Point3<f64>, radius: f64, ray: &Ray) -> Option<Hit> {
    let from_centre = ray.origin - centre;
    let distance = first_root(
        ray.direction.norm_squared(),
        from_centre.dot(&ray.direction),
        from_centre.norm_squared() - radius * radius,
    )?;
    let normal = from_centre + ray.direction * distance;
    Some(Hit { distance, normal })
}

/// The side of a capsule, without its ends.
fn side(a: &Point3<f64>, b: &Point3<f64>, radius: f64, ray: &Ray) -> Option<Hit> {
    let length = (b - a).norm();
    let axis = (b - a) / length;
    let across = |x: &Vector3<f64>| x - axis * axis.dot(x);
    let (origin, direction) = (across(&(ray.origin - a)), across(&ray.direction));
    let distance = first_root(
        direction.norm_squared(),
        origin.dot(&direction),
        origin.norm_squared() - radius * radius,
    )?;
    let along = axis.dot(&(ray.origin + ray.direction * distance - a));
    (0.0..=length).contains(&along).then(|| Hit {
        distance,
        normal: origin + direction * distance,
    })
}

/// The smaller root of a x² + 2 b x + c = 0 if it is positive, with a > 0; the larger if the origin is inside.
fn first_root(a: f64, b: f64, c: f64) -> Option<f64> {
    let discriminant = b * b - a * c;
    if a <= 0.0 || discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    let candidates = [(-b - root) / a, (-b + root) / a];
    candidates.into_iter().find(|x| *x > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ray(origin: [f64; 3], direction: [f64; 3]) -> Ray {
        Ray {
            origin: origin.into(),
            direction: direction.into(),
        }
    }

    #[test]
    fn a_triangle_is_hit_inside_its_edges_only() {
        let corners = [[0.0, 0.0, 2.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0]];
        let triangle = Primitive::Triangle(corners.map(Point3::from));
        let hit = triangle.hit(&ray([0.2, 0.2, 0.0], [0.0, 0.0, 0.5]));
        assert_eq!(hit.expect("inside").distance, 4.0);
        // A ray along the edge between two triangles hits one of them, whatever the rounding.
        let edge = triangle.hit(&ray([0.0, 0.5, 0.0], [0.0, 0.0, 1.0]));
        assert!(edge.is_some());
        for origin in [[0.6, 0.6, 0.0], [-0.1, 0.2, 0.0], [0.2, 0.2, 3.0]] {
            assert!(triangle.hit(&ray(origin, [0.0, 0.0, 1.0])).is_none());
        }
    }

    #[test]
    fn a_capsule_is_hit_at_its_side_and_its_ends() {
        let ends = [Point3::new(-1.0, 0.0, 0.0), Point3::new(1.0, 0.0, 0.0)];
        let capsule = Primitive::Capsule(ends, 0.5);
        let side = capsule.hit(&ray([0.3, 0.0, 4.0], [0.0, 0.0, -1.0]));
        let side = side.expect("the side");
        assert!((side.distance - 3.5).abs() < 1e-12);
        assert!((side.normal.normalize() - Vector3::z()).norm() < 1e-12);
        let end = capsule.hit(&ray([4.0, 0.0, 0.0], [-1.0, 0.0, 0.0]));
        assert!((end.expect("an end").distance - 2.5).abs() < 1e-12);
        let beside = capsule.hit(&ray([1.6, 0.0, 4.0], [0.0, 0.0, -1.0]));
        assert!(beside.is_none());
        let ball = Primitive::Capsule([Point3::origin(); 2], 0.5);
        let from_inside = ball.hit(&ray([0.0; 3], [1.0, 0.0, 0.0]));
        assert!((from_inside.expect("out of it").distance - 0.5).abs() < 1e-12);
    }
}
