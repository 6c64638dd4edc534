//! An attachment on a deforming surface at an iterate.
//!
//! With triangle vertices x_i, weights w_i of Y and the particle at distance a from the surface,
//!
//! ```text
//! f = κ (Σ w_i x_i − Z'),   Z' = Z − a n        on the particle f, on vertex i −w_i f
//! δf = κ (Σ w_i δx_i + Σ x_i δw_i − δZ') + κ' (Y − Z') δd        δ(−w_i f) = −w_i δf − f δw_i
//! δZ' = δZ + a Σ G_j (n·δx_j)                   n, G_j of the triangle of X
//! δd = −n·δZ + Σ (w⁰_j − G_j·(X − Z')) n·δx_j   w⁰ weights of X
//! ```
//!
//! δw depends on Z' and on all vertices that the walk from X to Y has visited. Σ δw_i = 0 keeps momentum.

use nalgebra::{Matrix3, Point3, Vector3};
use pliant_hydroelastic::{Branch, Facing, MeshPlace, MeshRelaxed, Variable, WalkSurface};

use super::pull::Pull;

/// A relaxed attachment on a surface, and the force.
#[derive(Clone, Debug, Default)]
pub(super) struct OnSurface {
    pub(super) relaxed: MeshRelaxed,
    /// X, the unit normal of its triangle on the particle's side, and G_j.
    before: Option<MeshPlace>,
    normal: Vector3<f64>,
    gradients: [Vector3<f64>; 3],
    /// On the particle.
    pub(super) force: Vector3<f64>,
    /// X relative to W, and depth below the triangle of X.
    pub(super) offset: Vector3<f64>,
    pub(super) depth: f64,
    /// Y.
    pub(super) point: Point3<f64>,
    /// The derivative of the forces by the position of the particle and of each vertex in `variables`: on the particle, and on the three vertices.
    pub(super) by: Vec<[Matrix3<f64>; 4]>,
    pub(super) variables: Vec<Variable>,
}

impl OnSurface {
    /// Relaxes X = `place` for the particle at `z` and evaluates the force.
    pub(super) fn evaluate(
        &mut self,
        (walk, vertices): (&WalkSurface, &[Point3<f64>]),
        pull: &Pull,
        facing: Facing,
        place: &MeshPlace,
        z: &Point3<f64>,
    ) {
        let (normal, gradients) = walk.plane(vertices, place.triangle);
        self.before = Some(*place);
        self.normal = normal * facing.sign();
        self.gradients = gradients;
        let kept = z - self.normal * pull.distance;
        walk.relax(
            vertices,
            pull.friction,
            facing,
            place,
            &kept,
            &mut self.relaxed,
        );
        let old = walk.point(vertices, place);
        self.depth = -(kept - old).dot(&self.normal);
        self.offset = old - (kept + self.normal * self.depth);
        let relaxed = self.relaxed.place.unwrap_or(*place);
        self.point = walk.point(vertices, &relaxed);
        self.force = match self.relaxed.branch {
            Branch::Separate => Vector3::zeros(),
            Branch::Stick | Branch::Slip => {
                (self.point - kept) * (pull.secant(self.depth).0 * self.relaxed.share.value)
            }
        };
    }

    /// The triangle of Y and its weights, of an attachment that exerts a force.
    pub(super) fn place(&self) -> Option<&MeshPlace> {
        match self.relaxed.branch {
            Branch::Separate => None,
            Branch::Stick | Branch::Slip => self.relaxed.place.as_ref(),
        }
    }

    /// X of the next step, of an attachment that exerts a force.
    pub(super) fn kept(&self) -> Option<MeshPlace> {
        self.place().and(self.relaxed.kept)
    }

    /// Differentiates the forces of the last evaluation.
    pub(super) fn linearise(&mut self, walk: &WalkSurface, vertices: &[Point3<f64>], pull: &Pull) {
        self.variables.clear();
        self.by.clear();
        let (Some(place), Some(before)) = (self.place().copied(), self.before) else {
            return;
        };
        let (kappa, slope) = pull.secant(self.depth);
        let share = &self.relaxed.share;
        let whole = self.force / share.value;
        let corners = walk.triangle(place.triangle);
        let old_corners = walk.triangle(before.triangle);
        let terms = self.relaxed.derivative.terms();
        self.variables.push(Variable::Particle);
        self.variables.extend(corners.map(Variable::Vertex));
        let shifted = (pull.distance != 0.0 || pull.is_damped()).then_some(old_corners);
        let others = terms.iter().map(|(variable, _)| *variable);
        for variable in others.chain(shifted.into_iter().flatten().map(Variable::Vertex)) {
            if !self.variables.contains(&variable) {
                self.variables.push(variable);
            }
        }
        let x = Matrix3::from_columns(&walk.corners(vertices, place.triangle).map(|p| p.coords));
        let by_kept = self.relaxed.derivative.by(Variable::Particle);
        let share_by_kept = share.by(Variable::Particle);
        for variable in &self.variables {
            // ∂Z'/∂y of this variable.
            let kept_by = match variable {
                Variable::Particle => Matrix3::identity(),
                Variable::Vertex(v) => match old_corners.iter().position(|c| c == v) {
                    Some(j) => {
                        // n = ±n₀ with δn = −Σ G_j (n·δx_j) for either sign.
                        self.gradients[j] * self.normal.transpose() * pull.distance
                    }
                    None => Matrix3::zeros(),
                },
            };
            let mut w_by = by_kept * kept_by;
            let mut share_by = share_by_kept * kept_by;
            let mut y_by = Matrix3::zeros();
            if let Variable::Vertex(v) = variable {
                share_by += share.by(*variable);
                w_by += self.relaxed.derivative.by(*variable);
                if let Some(i) = corners.iter().position(|c| c == v) {
                    y_by += Matrix3::from_diagonal_element(place.weights[i]);
                }
            }
            y_by += x * w_by;
            let mut f_by = (y_by - kept_by) * kappa;
            if slope != 0.0 {
                let depth_by = match variable {
                    Variable::Particle => -1.0,
                    Variable::Vertex(v) => match old_corners.iter().position(|c| c == v) {
                        Some(j) => before.weights[j] - self.gradients[j].dot(&self.offset),
                        None => 0.0,
                    },
                };
                // (Y − Z') κ' nᵀ ∂d, where m (Y − Z') = f/κ.
                f_by += whole * self.normal.transpose() * (depth_by * slope / kappa);
            }
            f_by = f_by * share.value + whole * share_by;
            let on_vertex = |i: usize| -f_by * place.weights[i] - self.force * w_by.row(i);
            self.by
                .push([f_by, on_vertex(0), on_vertex(1), on_vertex(2)]);
        }
    }
}
