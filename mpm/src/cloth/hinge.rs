//! Bending across an edge between two triangles.

use nalgebra::Vector3;
use pliant_constitutive::Real;

use super::FADING_AREA_RATIO;
use super::mesh::{ClothMesh, HingeVertices};

/// An edge between two triangles that resists bending.
///
/// ```text
/// E = ½ c (θ − θ₀)²        c = D |e|²/(A₁ + A₂) at rest
/// ```
///
/// θ is the angle between the normals, D the bending stiffness in N m. In the notation of Grinspun, Hirani, Desbrun, Schröder
/// (2003), k_b 3|e|²/(A₁ + A₂) (θ − θ₀)², the coefficient is k_b = D/6: a sheet that is rolled to a cylinder along the rows of a
/// regular mesh then has the energy D κ²/2 per area of a plate of stiffness D = E t³/(12 (1 − ν²)). A sheet bent in two
/// directions behaves as a plate with its own Poisson's ratio, −1/3 on a mesh of equilateral triangles (Seung, Nelson 1988).
///
/// θ − θ₀ lies in (−π, π]. A hinge that is bent further passes through itself and springs back the other way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hinge<T> {
    /// The ends of the edge, then the third vertex of each of its triangles.
    pub vertices: [u32; 4],
    /// θ₀.
    pub rest_angle: T,
    /// c, J.
    pub stiffness: T,
    /// 2A₁ and 2A₂ at rest, m².
    pub rest_doubled_areas: [T; 2],
}

/// The geometry of a bent edge.
struct Bent<T> {
    edge: Vector3<T>,
    length: T,
    normals: [Vector3<T>; 2],
    angle: T,
}

impl<T: Real> Bent<T> {
    #[inline(always)]
    fn of([from, to, first, second]: &[Vector3<T>; 4]) -> Self {
        let edge = to - from;
        let length = edge.norm();
        let normals = [edge.cross(&(first - from)), (second - from).cross(&edge)];
        let sine = normals[0].cross(&normals[1]).dot(&edge);
        let cosine = normals[0].dot(&normals[1]) * length;
        Self {
            edge,
            length,
            normals,
            angle: sine.atan2(cosine),
        }
    }
}

impl<T: Real> Hinge<T> {
    pub(super) fn new(mesh: &ClothMesh, hinge: &HingeVertices, bending_stiffness: f64) -> Self {
        let positions = hinge
            .vertices
            .map(|v| mesh.surface().vertices()[v as usize]);
        let areas = hinge.triangles.map(|t| mesh.rest()[t as usize].area);
        let bent = Bent::of(&positions);
        let stiffness = bending_stiffness * bent.length * bent.length / (areas[0] + areas[1]);
        Self {
            vertices: hinge.vertices,
            rest_angle: T::of(bent.angle),
            stiffness: T::of(stiffness),
            rest_doubled_areas: areas.map(|area| T::of(2.0 * area)),
        }
    }

    /// E, J.
    #[must_use]
    pub fn energy(&self, positions: &[Vector3<T>; 4]) -> T {
        let bending = self.bending(Bent::of(positions).angle);
        T::of(0.5) * self.stiffness * bending * bending
    }

    /// −∂E/∂x of the four vertices, N; forces and torques sum to zero.
    ///
    /// A triangle that has lost more than nine tenths of its area scales all four forces down, in proportion to its area: they
    /// stay finite and balanced, but are no longer the gradient of E.
    ///
    /// Gradients of θ as in Bridson, Marino, Fedkiw (2003) and Tamstorf, Grinspun (2013).
    #[must_use]
    #[inline]
    pub fn forces(&self, positions: &[Vector3<T>; 4]) -> [Vector3<T>; 4] {
        let bent = Bent::of(positions);
        let mut moment = self.stiffness * self.bending(bent.angle);
        let squares = bent.normals.map(|n| n.norm_squared());
        if !(squares[0] > T::zero() && squares[1] > T::zero() && bent.length > T::zero()) {
            return [Vector3::zeros(); 4];
        }
        for (square, rest) in squares.iter().zip(self.rest_doubled_areas) {
            let least = rest * T::of(FADING_AREA_RATIO);
            moment *= (square.sqrt() / least).min(T::one());
        }
        // −∂θ/∂x of a third vertex is its triangle's normal over its distance from the edge.
        let [first, second] = [0, 1].map(|k| bent.normals[k] * (moment * bent.length / squares[k]));
        let along =
            |k: usize| (positions[k] - positions[0]).dot(&bent.edge) / (bent.length * bent.length);
        let (s, t) = (along(2), along(3));
        let to = -(first * s + second * t);
        [-(first + second + to), to, first, second]
    }

    /// θ − θ₀ in (−π, π].
    #[inline(always)]
    fn bending(&self, angle: T) -> T {
        let (difference, half_turn) = (angle - self.rest_angle, T::pi());
        if difference > half_turn {
            difference - T::two_pi()
        } else if difference <= -half_turn {
            difference + T::two_pi()
        } else {
            difference
        }
    }
}
