//! The terms of cloth in the balance of a step.
//!
//! Positions x of the vertices and normals d₃ of the centroids are linear in the velocities of the nodes, see
//! [`StepMotion`](super::StepMotion). With F = [x ∇N, d₃] of every triangle, a cloth adds to E(v), times δt/α,
//!
//! ```text
//! Σ_t V ψ(F) + Σ_t V τ/2 Ė:S(Ė) + E_b(x)        Ė = sym(F₀ᵀ(F − F₀))/τ
//! ```
//!
//! τ is the time over which forces act. The first and the third term are not convex in v: A has their positive semidefinite tangents
//! (`ClothLaw::positive_second_derivative`, `Hinge::root_stiffness`), and the free motion is found by Newton's method on the exact gradient.
//! Two things lag: the bound b of the shear traction between layers, c_F times their pressure at the start of the step, and F₀ of the
//! damping, the deformation there. Layers slip plastically at the end of a step.

use std::sync::Arc;

use nalgebra::{Matrix3, Matrix3x2, SMatrix, SVector, Vector3};
use rayon::prelude::*;

use super::GridSystem;
use super::at_nodes::{AtNodes, NodeRows, Padded, padded};
use super::bending_term::{BendingTangent, Blocks, bending_forces};
use super::motion::{ClothPoint, ClothVertex};
use super::vertex_stiffness::{VertexPattern, VertexStiffness};
use crate::cloth::{ClothObject, ClothTriangle, SurfaceFrame, shape_gradients};
use crate::material::Definiteness;
use crate::particle::Particle;

/// Below so many elements, waking threads costs more than they save.
pub(super) const PARALLEL_MIN: usize = 2048;

/// One cloth in one step.
#[derive(Clone, Debug)]
pub(crate) struct ClothTerm {
    object: Arc<ClothObject>,
    pattern: VertexPattern,
    /// Of the vertices.
    at_nodes: AtNodes,
    /// Index in sorted order of each vertex, then of each centroid.
    sorted: Vec<u32>,
    /// Of the vertices at the start of the step, m.
    positions: Vec<Vector3<f64>>,
    /// At the start of the step.
    triangles: Vec<TriangleStart>,
    /// τ, s.
    time_s: f64,
}

/// A triangle at the start of a step.
#[derive(Clone, Copy, Debug)]
struct TriangleStart {
    F: Matrix3<f64>,
    /// Ḟ₁₂, 1/s: of symplectic Euler, where damping is that of the start.
    rate: Matrix3x2<f64>,
    /// b, Pa.
    bound: f64,
}

/// ∂²E/∂(x, d₃)² of a cloth.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClothTangent {
    /// Of triangles without layers near them, on their vertices.
    in_plane: VertexStiffness,
    /// Of the others, on vec F, times the volume.
    pressed: Vec<(u32, SMatrix<f64, 9, 9>)>,
    /// Their normals.
    normals: AtNodes,
    bending: BendingTangent,
}

impl ClothTerm {
    pub(crate) fn new(object: Arc<ClothObject>) -> Self {
        Self {
            pattern: VertexPattern::new(object.n_vertices(), object.cloth.triangles()),
            object,
            at_nodes: AtNodes::default(),
            sorted: Vec::new(),
            positions: Vec::new(),
            triangles: Vec::new(),
            time_s: 0.0,
        }
    }

    /// Reads the start of a step from all particles in sorted order; `object` is the number of this one. Enters the centroids and free
    /// vertices in `points`.
    pub(super) fn open(
        &mut self,
        (particles, object): (&[Particle<f64>], u32),
        time_s: f64,
        points: &mut [ClothPoint],
    ) {
        let cloth = &self.object.cloth;
        let n = self.object.n_vertices();
        self.time_s = time_s;
        self.sorted.clear();
        self.sorted.resize(self.object.n_particles(), 0);
        for (sorted, p) in particles.iter().enumerate() {
            if p.object == object {
                self.sorted[(p.index - self.object.first) as usize] = sorted as u32;
            }
        }
        let (of_vertices, of_centroids) = self.sorted.split_at(n);
        let vertex = |k: &u32| &particles[*k as usize];
        self.positions.clear();
        self.positions
            .extend(of_vertices.iter().map(|k| vertex(k).x));
        for k in of_vertices {
            points[*k as usize] = ClothPoint::Vertex(ClothVertex::free());
        }
        let each = cloth.triangles().iter().zip(of_centroids);
        self.triangles.clear();
        self.triangles.extend(each.map(|(triangle, centroid)| {
            let normal = particles[*centroid as usize]
                .strain
                .f
                .column(2)
                .into_owned();
            points[*centroid as usize] = ClothPoint::Centroid(normal);
            let corners = triangle.vertices.map(|v| self.positions[v as usize]);
            let velocities = triangle
                .vertices
                .map(|v| vertex(&of_vertices[v as usize]).v);
            let F = triangle.deformation_gradient(&corners, &normal);
            TriangleStart {
                F,
                rate: triangle.surface_gradient(&velocities),
                bound: cloth.law().friction_bound(&F),
            }
        }));
    }

    /// Centroids, deformation gradients and affine velocities at the end of a step with these changes; `particles`, in sorted order,
    /// have moved with the grid.
    pub(super) fn follow(&self, changes: &[Vector3<f64>], particles: &mut [Particle<f64>]) {
        let cloth = &self.object.cloth;
        let law = cloth.law();
        let positions = self.positions_after(changes);
        let of_triangle = |t: usize| {
            let mut F = self.deformation(t, &positions, changes);
            F.set_column(2, &law.return_normal(&F));
            F
        };
        let deformations = in_parallel(cloth.triangles().len(), of_triangle);
        for (t, (triangle, F)) in cloth.triangles().iter().zip(deformations).enumerate() {
            let centroid = &mut particles[self.centroid(t)];
            let [a, b, c] = triangle.vertices.map(|v| positions[v as usize]);
            centroid.x = (a + b + c) / 3.0;
            centroid.strain.f = F;
        }
        for k in &self.sorted {
            let c = &mut particles[*k as usize].c;
            *c = law.transferred_affine(c);
        }
    }

    pub(crate) fn object(&self) -> &ClothObject {
        &self.object
    }

    /// Positions of the vertices after `changes`, which are in sorted order.
    fn positions_after(&self, changes: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
        let each = self.positions.iter().zip(&self.sorted);
        each.map(|(x, k)| x + changes[*k as usize]).collect()
    }

    /// F of triangle `t`.
    fn deformation(
        &self,
        t: usize,
        positions: &[Vector3<f64>],
        changes: &[Vector3<f64>],
    ) -> Matrix3<f64> {
        let triangle = &self.object.cloth.triangles()[t];
        let corners = triangle.vertices.map(|v| positions[v as usize]);
        let normal = self.triangles[t].F.column(2) + changes[self.centroid(t)];
        triangle.deformation_gradient(&corners, &normal)
    }

    fn centroid(&self, t: usize) -> usize {
        self.sorted[self.object.n_vertices() + t] as usize
    }

    /// Ḟ₁₂ of the damping, 1/s.
    fn rate(&self, start: &TriangleStart, F: &Matrix3<f64>) -> Matrix3x2<f64> {
        match self.time_s > 0.0 {
            true => (F - start.F).fixed_columns::<2>(0) / self.time_s,
            false => start.rate,
        }
    }

    /// E, J: elastic energy, and the potential of damping.
    pub(crate) fn energy(&self, changes: &[Vector3<f64>]) -> f64 {
        let cloth = &self.object.cloth;
        let law = cloth.law();
        let positions = self.positions_after(changes);
        let of_triangle = |t: usize| {
            let (triangle, start) = (&cloth.triangles()[t], &self.triangles[t]);
            let F = self.deformation(t, &positions, changes);
            let mut density = law.frame_energy(&SurfaceFrame::of(&F), start.bound);
            if law.is_damped() {
                density += self.time_s * law.viscous_potential(&start.F, &self.rate(start, &F));
            }
            density * triangle.volume
        };
        let of_triangles = in_parallel(cloth.triangles().len(), of_triangle);
        of_triangles.iter().sum::<f64>() + cloth.bending_energy(&positions)
    }

    /// Writes ∂E/∂x (N) of the vertices and ∂E/∂d₃ (J) of the centroids to their entries of `out`.
    pub(crate) fn gradient(&self, changes: &[Vector3<f64>], out: &mut [Vector3<f64>]) {
        let cloth = &self.object.cloth;
        let law = cloth.law();
        let positions = self.positions_after(changes);
        let of_triangle = |t: usize| {
            let (triangle, start) = (&cloth.triangles()[t], &self.triangles[t]);
            let F = self.deformation(t, &positions, changes);
            let mut stress = law.frame_stress(&SurfaceFrame::of(&F), start.bound);
            if law.is_damped() {
                let viscous = law.viscous_stress(&start.F, &self.rate(start, &F));
                let mut in_plane = stress.fixed_columns_mut::<2>(0);
                in_plane += viscous;
            }
            by_corners(triangle, &stress)
        };
        let of_triangles = in_parallel(cloth.triangles().len(), of_triangle);
        let mut of_hinges = bending_forces(cloth, &positions);
        of_hinges.iter_mut().flatten().for_each(|f| *f = -*f);
        self.sum(&of_triangles, &of_hinges, out);
    }

    /// Second derivatives, positive semidefinite unless exact ones are asked for.
    pub(crate) fn tangent(
        &self,
        system: &GridSystem,
        changes: &[Vector3<f64>],
        definiteness: Definiteness,
        out: &mut ClothTangent,
    ) {
        let cloth = &self.object.cloth;
        let law = cloth.law();
        let positions = self.positions_after(changes);
        let is_exact = definiteness == Definiteness::Exact;
        let of_triangle = |t: usize| {
            let (triangle, start) = (&cloth.triangles()[t], &self.triangles[t]);
            let frame = SurfaceFrame::of(&self.deformation(t, &positions, changes));
            let mut stiffness = match is_exact {
                true => law.second_derivative(&frame, start.bound),
                false => law.positive_second_derivative(&frame, start.bound),
            };
            if law.is_damped() && self.time_s > 0.0 {
                let mut in_plane = stiffness.fixed_view_mut::<6, 6>(0, 0);
                in_plane += law.viscosity(&start.F) / self.time_s;
            }
            stiffness * triangle.volume
        };
        let of_triangles = in_parallel(cloth.triangles().len(), of_triangle);
        out.in_plane.clear(&self.pattern);
        out.pressed.clear();
        for (t, stiffness) in of_triangles.into_iter().enumerate() {
            let has_layers = stiffness.fixed_columns::<3>(6).iter().any(|k| *k != 0.0);
            match has_layers {
                true => out.pressed.push((t as u32, stiffness)),
                false => {
                    let triangle = &cloth.triangles()[t];
                    out.in_plane.add(&self.pattern, (t, triangle), &stiffness);
                }
            }
        }
        let centroids = out.pressed.iter().map(|(t, _)| self.centroid(*t as usize));
        out.normals = AtNodes::new(system, centroids);
        out.bending = BendingTangent::of(cloth, &positions, definiteness);
    }

    /// Finds the nodes around the vertices, after all that are held are known.
    pub(super) fn settle(&mut self, system: &GridSystem) {
        let (of_vertices, _) = self.sorted.split_at(self.object.n_vertices());
        let places = of_vertices.iter().map(|k| *k as usize);
        self.at_nodes = AtNodes::new(system, places);
    }

    /// Adds `scale` times the product of Jᵀ (∂²E) J with the velocities `x` of the nodes to `out`, J the derivative of
    /// [`GridSystem::cloth_changes`] by them.
    pub(crate) fn add_product(
        &self,
        tangent: &ClothTangent,
        x: &[f64],
        scale: f64,
        out: &mut [f64],
    ) {
        // With the vectors of the processor.
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || self.add_wide_product(tangent, x, scale, out),
        );
    }

    #[inline(always)]
    fn add_wide_product(&self, tangent: &ClothTangent, x: &[f64], scale: f64, out: &mut [f64]) {
        let cloth = &self.object.cloth;
        let moved = self.at_nodes.gather(x);
        let mut forces = vec![Padded::zeros(); moved.len()];
        tangent.in_plane.apply(&self.pattern, &moved, &mut forces);
        let mut normals = tangent.normals.gather(x);
        for ((t, stiffness), normal) in tangent.pressed.iter().zip(&mut normals) {
            let triangle = &cloth.triangles()[*t as usize];
            let corners = triangle.vertices.map(|v| moved[v as usize].xyz());
            let dF = triangle.deformation_gradient(&corners, &normal.xyz());
            let change = stiffness * SVector::<f64, 9>::from_column_slice(dF.as_slice());
            // The volume is in the tangent.
            let stress = Matrix3::from_column_slice(change.as_slice()) / triangle.volume;
            let [a, b, c, across] = by_corners(triangle, &stress);
            for (v, force) in triangle.vertices.iter().zip([a, b, c]) {
                forces[*v as usize] += padded(&force);
            }
            *normal = padded(&across);
        }
        tangent.bending.apply(cloth, &moved, &mut forces);
        self.at_nodes.scatter(&mut forces, scale, out);
        if !normals.is_empty() {
            tangent.normals.scatter(&mut normals, scale, out);
        }
    }

    /// Sums corners of triangles and hinges at the vertices, and writes them and the values of the centroids.
    fn sum(
        &self,
        of_triangles: &[[Vector3<f64>; 4]],
        of_hinges: &[[Vector3<f64>; 4]],
        out: &mut [Vector3<f64>],
    ) {
        let cloth = &self.object.cloth;
        let mut corners = Vec::with_capacity(cloth.n_corners());
        for (t, [a, b, c, across]) in of_triangles.iter().enumerate() {
            corners.extend([a, b, c]);
            out[self.centroid(t)] = *across;
        }
        corners.extend(of_hinges.iter().flatten());
        let mut vertices = vec![Vector3::zeros(); self.object.n_vertices()];
        cloth.sum_corners(&corners, &mut vertices);
        for (k, sum) in self.sorted.iter().zip(vertices) {
            out[*k as usize] = sum;
        }
    }

    /// Adds `scale` times the 3×3 blocks on the diagonal of the matrix of [`Self::add_product`] to `out`, column-major.
    pub(crate) fn add_diagonal(
        &self,
        system: &GridSystem,
        (tangent, blocks): (&ClothTangent, Blocks),
        scale: f64,
        out: &mut [f64],
    ) {
        let cloth = &self.object.cloth;
        let at_nodes = &self.at_nodes;
        let mut add = |node: u32, block: &Matrix3<f64>| {
            let to = &mut out[9 * node as usize..][..9];
            let each = to.iter_mut().zip(block.iter());
            each.for_each(|(to, b)| *to += scale * b);
        };
        at_nodes.add_pairs(&self.pattern, &tangent.in_plane, &mut add);
        let of_pressed = in_parallel(tangent.pressed.len(), |k| {
            let (t, stiffness) = &tangent.pressed[k];
            let triangle = &cloth.triangles()[*t as usize];
            let mut nodes = NodeRows::<3>::default();
            for (v, [x, y]) in triangle
                .vertices
                .iter()
                .zip(shape_gradients(&triangle.inverse_edges))
            {
                let at = self.sorted[*v as usize] as usize;
                nodes.add(system, at, &[x, y, 0.0]);
            }
            nodes.add(system, self.centroid(*t as usize), &[0.0, 0.0, 1.0]);
            nodes.blocks(|r, c| stiffness[(r, c)])
        });
        for (node, block) in of_pressed.iter().flatten() {
            add(*node, block);
        }
        let of_bending = (at_nodes, blocks);
        tangent.bending.add_diagonal(cloth, of_bending, &mut add);
    }
}

/// V P₁₂ D_m⁻ᵀ of the corners, then V P₃.
fn by_corners(triangle: &ClothTriangle<f64>, stress: &Matrix3<f64>) -> [Vector3<f64>; 4] {
    let in_plane = stress.fixed_columns::<2>(0).into_owned();
    let [a, b, c] = triangle.energy_gradient(&in_plane);
    [a, b, c, stress.column(2) * triangle.volume]
}

/// f(0), f(1), …
#[inline(always)]
pub(super) fn in_parallel<V: Send>(count: usize, f: impl Fn(usize) -> V + Send + Sync) -> Vec<V> {
    if count < PARALLEL_MIN {
        // A loop, which takes the vectors of its caller.
        let mut values = Vec::with_capacity(count);
        for k in 0..count {
            values.push(f(k));
        }
        return values;
    }
    let numbers = (0..count).into_par_iter();
    numbers.with_min_len(PARALLEL_MIN / 8).map(f).collect()
}
