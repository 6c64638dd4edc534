//! Bending across an edge between two triangles.

use nalgebra::{SMatrix, SVector, Vector3};
use pliant_constitutive::Real;

use super::fading::Fading;
use super::mesh::{ClothMesh, HingeVertices};

/// An edge between two triangles that resists bending.
///
/// ```text
/// E = ½ c φ₁φ₂ (θ − θ₀)²        c = D |e|²/(A₁ + A₂) at rest
/// ```
///
/// Only the triangle that bends counts where the other is clamped ([`ClothMesh::clamped_at`](super::ClothMesh::clamped_at)).
///
/// θ is the angle between the normals, D the bending stiffness in N m; φ is 1 unless a triangle has lost nine tenths of its area, and then
/// vanishes with it. In the notation of Grinspun, Hirani, Desbrun, Schröder
/// (2003), k_b 3|e|²/(A₁ + A₂) (θ − θ₀)², the coefficient is k_b = D/6: a sheet that is rolled to a cylinder along the rows of a
/// regular mesh then has the energy D κ²/2 per area of a plate of stiffness D = E t³/(12 (1 − ν²)). A sheet bent in two
/// directions behaves as a plate with its own Poisson's ratio, −1/3 on a mesh of equilateral triangles (Seung, Nelson 1988).
///
/// θ − θ₀ lies in (−π, π]. A hinge that is bent further passes through itself and springs back the other way.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_mpm::Hinge;
///
/// // Two triangles of ½ m² on an edge along x, folded by a right angle: ½ c (π/2)².
/// let hinge = Hinge { vertices: [0, 1, 2, 3], rest_angle: 0.0, stiffness: 2.0, rest_doubled_areas: [1.0, 1.0] };
/// let flat = [Vector3::zeros(), Vector3::x(), Vector3::y(), -Vector3::y()];
/// let folded = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
/// assert_eq!(hinge.energy(&flat), 0.0);
/// assert!((hinge.energy(&folded) - std::f64::consts::FRAC_PI_2.powi(2)).abs() < 1e-12);
/// let forces = hinge.forces(&folded);
/// assert!(forces.iter().sum::<Vector3<f64>>().norm() < 1e-12);
/// assert!(forces[2].z < 0.0 && forces[3].y < 0.0); // it unfolds
/// ```
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
pub(super) struct Bent<T> {
    pub(super) edge: Vector3<T>,
    pub(super) length: T,
    /// e × (x₂ − x₀) and (x₃ − x₀) × e: twice the areas long.
    pub(super) normals: [Vector3<T>; 2],
    pub(super) angle: T,
}

impl<T: Real> Bent<T> {
    #[inline(always)]
    pub(super) fn of([from, to, first, second]: &[Vector3<T>; 4]) -> Self {
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

    /// Whether both triangles have an area.
    #[inline(always)]
    fn has_angle(&self) -> bool {
        let area = |n: &Vector3<T>| n.norm_squared() > T::zero();
        self.length > T::zero() && self.normals.iter().all(area)
    }

    /// ∂θ/∂x of the four vertices, as in Bridson, Marino, Fedkiw (2003) and Tamstorf, Grinspun (2013): that of a third vertex is the
    /// opposite of its triangle's normal over its distance from the edge.
    #[inline(always)]
    pub(super) fn angle_gradient(&self, positions: &[Vector3<T>; 4]) -> [Vector3<T>; 4] {
        let [first, second] = self.normals.map(|n| n * (-self.length / n.norm_squared()));
        let along =
            |k: usize| (positions[k] - positions[0]).dot(&self.edge) / (self.length * self.length);
        let to = -(first * along(2) + second * along(3));
        [-(first + second + to), to, first, second]
    }
}

impl<T: Real> Hinge<T> {
    pub(super) fn new(mesh: &ClothMesh, hinge: &HingeVertices, bending_stiffness: f64) -> Self {
        let positions = hinge
            .vertices
            .map(|v| mesh.surface().vertices()[v as usize]);
        let areas = hinge.triangles.map(|t| mesh.rest()[t as usize].area);
        let bent = Bent::of(&positions);
        let stiffness = bending_stiffness * bent.length * bent.length / hinge.bent_area;
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
        let bent = Bent::of(positions);
        let bending = self.bending(bent.angle);
        let [first, second] = self.fadings(&bent);
        T::of(0.5) * self.stiffness * first.factor * second.factor * bending * bending
    }

    /// −∂E/∂x of the four vertices, N; forces and torques sum to zero.
    #[must_use]
    #[inline]
    pub fn forces(&self, positions: &[Vector3<T>; 4]) -> [Vector3<T>; 4] {
        let bent = Bent::of(positions);
        if !bent.has_angle() {
            return [Vector3::zeros(); 4];
        }
        let bending = self.bending(bent.angle);
        let [first, second] = self.fadings(&bent);
        let moment = self.stiffness * bending * first.factor * second.factor;
        let mut forces = bent.angle_gradient(positions).map(|g| g * -moment);
        if first.fades() || second.fades() {
            let energy = T::of(0.5) * self.stiffness * bending * bending;
            let areas = [
                first.slope * second.factor / self.rest_doubled_areas[0],
                second.slope * first.factor / self.rest_doubled_areas[1],
            ];
            self.add_area_gradients(&bent, positions, areas.map(|a| -energy * a), &mut forces);
        }
        forces
    }

    /// The strain s = φ₁φ₂ (θ − θ₀), and ∂s/∂x of the four vertices, 1/m.
    #[inline]
    pub(crate) fn strain(&self, positions: &[Vector3<T>; 4]) -> (T, [Vector3<T>; 4]) {
        let bent = Bent::of(positions);
        if !bent.has_angle() {
            return (T::zero(), [Vector3::zeros(); 4]);
        }
        let bending = self.bending(bent.angle);
        let [first, second] = self.fadings(&bent);
        let factor = first.factor * second.factor;
        let mut gradient = bent.angle_gradient(positions).map(|g| g * factor);
        if first.fades() || second.fades() {
            let areas = [
                first.slope * second.factor / self.rest_doubled_areas[0],
                second.slope * first.factor / self.rest_doubled_areas[1],
            ];
            self.add_area_gradients(&bent, positions, areas.map(|a| a * bending), &mut gradient);
        }
        (bending * factor, gradient)
    }

    /// Adds ∂(2A)/∂x of both triangles with these factors.
    fn add_area_gradients(
        &self,
        bent: &Bent<T>,
        positions: &[Vector3<T>; 4],
        factors: [T; 2],
        out: &mut [Vector3<T>; 4],
    ) {
        let vertices = [[0, 1, 2], [1, 0, 3]];
        for (k, [a, b, c]) in vertices.into_iter().enumerate() {
            let normal = bent.normals[k].normalize() * factors[k];
            for [a, b, c] in [[a, b, c], [b, c, a], [c, a, b]] {
                // Twice the area grows by n × (the opposite edge).
                out[a] += normal.cross(&(positions[c] - positions[b]));
            }
        }
    }

    /// ∂²s/∂x², 1/m²; zero where a triangle has lost nine tenths of its area.
    pub(crate) fn strain_curvature(&self, positions: &[Vector3<T>; 4]) -> SMatrix<T, 12, 12> {
        let bent = Bent::of(positions);
        if !bent.has_angle() || self.fadings(&bent).iter().any(Fading::fades) {
            return SMatrix::zeros();
        }
        bent.angle_curvature(positions)
    }

    /// The positive semidefinite part c φ₁φ₂ ∇θ∇θᵀ of ∂²E/∂x², as the vector √(c φ₁φ₂) ∇θ (Gauss and Newton's approximation).
    pub(crate) fn root_stiffness(&self, positions: &[Vector3<T>; 4]) -> SVector<T, 12> {
        let bent = Bent::of(positions);
        if !bent.has_angle() {
            return SVector::zeros();
        }
        let [first, second] = self.fadings(&bent);
        let root = (self.stiffness * first.factor * second.factor).sqrt();
        let gradient = bent.angle_gradient(positions);
        SVector::from_fn(|i, _| gradient[i / 3][i % 3] * root)
    }

    /// ∂²E/∂x² on the coordinates of the four vertices, N/m. Of a triangle that has lost nine tenths of its area, only the part of
    /// [`Self::root_stiffness`].
    pub(crate) fn second_derivative(&self, positions: &[Vector3<T>; 4]) -> SMatrix<T, 12, 12> {
        let root = self.root_stiffness(positions);
        let part = root * root.transpose();
        let bent = Bent::of(positions);
        if !bent.has_angle() || self.fadings(&bent).iter().any(Fading::fades) {
            return part;
        }
        part + bent.angle_curvature(positions) * (self.stiffness * self.bending(bent.angle))
    }

    fn fadings(&self, bent: &Bent<T>) -> [Fading<T>; 2] {
        [0, 1].map(|k| Fading::of(bent.normals[k].norm() / self.rest_doubled_areas[k]))
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
