//! One step of a net: the linearised θ-method.

use nalgebra::{Matrix3, Point3, Vector3};

use super::{Compression, MassSpringNet, NetSettings, Spring, add, at};
use crate::body::{
    BalanceTangent, BasisIdx, BodyReport, BodyState, BodyStep, ExplicitStep, MaterialPoint,
    MomentumBalance, Primitive, StepInput, Surface, SurfaceMotion,
};
use crate::conformance::vertex_dynamics::VertexDynamics;
use crate::dynamics::Dynamics;
use crate::error::BodyError;
use crate::rows::{Interpolation, Rows};
use crate::time_step::TimeStep;

/// A step of a net.
#[derive(Clone, Debug, Default)]
pub(super) struct NetStep {
    net: MassSpringNet,
    time_step: TimeStep,
    q: Vec<f64>,
    /// Start velocities of all nodes, those of held nodes being what they are held at.
    v: Vec<f64>,
    /// Gravity and loads on all nodes, N.
    external: Vec<f64>,
    /// Node to the first of its three velocities in the solve.
    dof: Vec<Option<usize>>,
    start: Vec<f64>,
    dynamics: VertexDynamics,
}

impl NetStep {
    pub(super) fn new(net: MassSpringNet) -> Self {
        Self {
            net,
            ..Self::default()
        }
    }

    fn nodes_of(&self, primitive: Primitive) -> &[u32] {
        match &primitive {
            Primitive::Edge(i) => &self.net.edges[*i as usize],
            Primitive::Triangle(i) => &self.net.triangles[*i as usize],
            _ => &[],
        }
    }

    /// Calls `each` with nodes and weights of a material point.
    fn for_each_node(&self, p: &MaterialPoint, mut each: impl FnMut(usize, f64)) {
        match p.primitive {
            Primitive::Vertex(i) => each(i as usize, 1.0),
            other => {
                for (node, weight) in self.nodes_of(other).iter().zip(p.weights) {
                    each(*node as usize, weight);
                }
            }
        }
    }

    /// Velocities of all nodes from those in the solve.
    fn all_velocities(&self, v: &[f64]) -> Vec<f64> {
        let mut all = self.v.clone();
        for (node, dof) in self.dof.iter().enumerate() {
            if let Some(dof) = *dof {
                all[3 * node..3 * node + 3].copy_from_slice(&v[dof..dof + 3]);
            }
        }
        all
    }

    /// The entries of nodes in the solve.
    fn gather(&self, all: &[f64], out: &mut [f64]) {
        for (node, dof) in self.dof.iter().enumerate() {
            if let Some(dof) = *dof {
                out[dof..dof + 3].copy_from_slice(&all[3 * node..3 * node + 3]);
            }
        }
    }

    /// θδt D + θδt·θ_vq δt K of a spring, about `q`; D along the spring as it was at the start.
    fn impedance(&self, spring: &Spring, q: &[f64], compression: Compression) -> Matrix3<f64> {
        let NetSettings {
            stiffness, damping, ..
        } = self.net.settings;
        let (forces_s, positions_s) = (self.time_step.forces_s(), self.time_step.positions_s());
        let along = spring.between(&self.q).normalize();
        along * along.transpose() * (forces_s * damping)
            + spring.stiffness(stiffness, &spring.between(q), compression)
                * (forces_s * positions_s)
    }

    /// M v0 + δt f(q), f with gravity and loads and without damping; all nodes.
    fn impulse(&self, q: &[f64]) -> Vec<f64> {
        let NetSettings {
            node_mass,
            stiffness,
            ..
        } = self.net.settings;
        let dt = self.time_step.length_s;
        let started = self.v.iter().zip(&self.external);
        let mut p: Vec<f64> = started.map(|(v, f)| node_mass * v + dt * f).collect();
        for spring in &self.net.springs {
            let force = spring.force(stiffness, &spring.between(q)) * dt;
            add(&mut p, spring.nodes[1], &force);
            add(&mut p, spring.nodes[0], &-force);
        }
        p
    }

    /// Adds −δt D v of the dampers, along the springs as they were at the start, at the velocities `v` of all nodes.
    fn add_damping(&self, v: &[f64], p: &mut [f64]) {
        let scale = self.time_step.length_s * self.net.settings.damping;
        for spring in &self.net.springs {
            let along = spring.between(&self.q).normalize();
            let impulse = along * (-scale * along.dot(&spring.between(v)));
            add(p, spring.nodes[1], &impulse);
            add(p, spring.nodes[0], &-impulse);
        }
    }

    /// q^θ of all nodes after a step with end velocities `all`.
    fn places_of_forces(&self, all: &[f64]) -> Vec<f64> {
        let step = &self.time_step;
        let moved = self.q.iter().zip(self.v.iter().zip(all));
        moved
            .map(|(q, (v0, v))| q + step.forces_s() * step.mean_velocity(*v0, *v))
            .collect()
    }

    /// (M + θδt D + θδt·θ_vq δt K(q)) x for all nodes, matrix-free.
    fn product(&self, q: &[f64], x: &[f64], compression: Compression) -> Vec<f64> {
        let mut y: Vec<f64> = x.iter().map(|x| self.net.settings.node_mass * x).collect();
        for spring in &self.net.springs {
            let force = self.impedance(spring, q, compression) * spring.between(x);
            add(&mut y, spring.nodes[1], &force);
            add(&mut y, spring.nodes[0], &-force);
        }
        y
    }

    fn lay_out_matrix(&mut self) {
        // Neighbours among the nodes in the solve, by their order there.
        let n = self.start.len() / 3;
        let mut neighbours: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        for spring in &self.net.springs {
            if let [Some(a), Some(b)] = spring.nodes.map(|node| self.dof[node]) {
                neighbours[a / 3].push(b / 3);
                neighbours[b / 3].push(a / 3);
            }
        }
        self.dynamics.lay_out(neighbours);
    }

    fn check(&self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        let expected = 3 * self.net.n_nodes();
        state.check(expected, expected, 0)?;
        let control = input.control;
        if [&control.position, &control.velocity, &control.effort]
            .iter()
            .any(|x| !x.is_empty())
        {
            return Err(BodyError::Unsupported { what: "actuators" });
        }
        if !control.held.is_empty() && control.held.len() != expected {
            let found = control.held.len();
            return Err(BodyError::StateLength {
                what: "held velocities of a net",
                found,
                expected,
            });
        }
        for load in &control.loads {
            self.net.check_point(&load.point)?;
        }
        let partly =
            |held: &[Option<f64>]| held.iter().any(|h| h.is_some()) && held.contains(&None);
        if control.held.chunks_exact(3).any(partly) {
            return Err(BodyError::Unsupported {
                what: "node held in one direction only",
            });
        }
        Ok(())
    }
}

impl BodyStep for NetStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        self.check(state, input)?;
        let n_nodes = self.net.n_nodes();
        self.time_step = input.time_step;
        self.q.clone_from(&state.q);
        self.v.clone_from(&state.v);
        let mut dof = Vec::with_capacity(n_nodes);
        let mut n_dofs = 0;
        for node in 0..n_nodes {
            let held = input.control.held.get(3 * node..3 * node + 3);
            match held.unwrap_or(&[None; 3]) {
                [Some(x), Some(y), Some(z)] => {
                    self.v[3 * node..3 * node + 3].copy_from_slice(&[*x, *y, *z]);
                    dof.push(None);
                }
                _ => {
                    dof.push(Some(n_dofs));
                    n_dofs += 3;
                }
            }
        }
        self.start.resize(n_dofs, 0.0);
        if dof != self.dof {
            self.dof = dof;
            self.lay_out_matrix();
        }
        let mut start = std::mem::take(&mut self.start);
        self.gather(&self.v, &mut start);
        self.start = start;

        let mut external = std::mem::take(&mut self.external);
        external.clear();
        for _ in 0..n_nodes {
            let weight = input.gravity * self.net.settings.node_mass;
            external.extend_from_slice(weight.as_slice());
        }
        for load in &input.control.loads {
            self.for_each_node(&load.point, |node, w| {
                add(&mut external, node, &(load.force_W * w))
            });
        }
        self.external = external;
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.start
    }

    fn linearise(&mut self, v: &[f64]) -> Result<(), BodyError> {
        if let Some(spring) = self
            .net
            .springs
            .iter()
            .find(|s| s.between(&self.q).norm() == 0.0)
        {
            let [a, b] = spring.nodes;
            return Err(BodyError::Model(format!(
                "nodes {a} and {b} of a net have the same position"
            )));
        }
        let mut dynamics = std::mem::take(&mut self.dynamics);
        dynamics.clear();
        let mass = Matrix3::identity() * self.net.settings.node_mass;
        for vertex in 0..self.start.len() / 3 {
            dynamics.add_block(vertex, vertex, &mass);
        }
        let places = self.places_of_forces(&self.all_velocities(v));
        for spring in &self.net.springs {
            let s = self.impedance(spring, &places, Compression::Dropped);
            let vertices = spring.nodes.map(|node| self.dof[node].map(|dof| dof / 3));
            for vertex in vertices.into_iter().flatten() {
                dynamics.add_block(vertex, vertex, &s);
            }
            if let [Some(a), Some(b)] = vertices {
                dynamics.add_block(a, b, &-s);
                dynamics.add_block(b, a, &-s);
            }
        }
        // b = A v − m(v).
        let (mut m, mut b) = (vec![0.0; v.len()], vec![0.0; v.len()]);
        self.residual(v, &mut m)?;
        dynamics.apply(v, &mut b);
        b.iter_mut().zip(&m).for_each(|(b, m)| *b -= m);
        dynamics.right_hand_side_mut().copy_from_slice(&b);
        self.dynamics = dynamics;
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }

    fn interpolation(
        &self,
        p: &MaterialPoint,
        out: &mut Interpolation,
    ) -> Result<BasisIdx, BodyError> {
        self.net.check_point(p)?;
        // A vertex is a basis of its own; edges and triangles follow.
        let n = self.net.n_nodes() as u32;
        let (basis, weights) = match p.primitive {
            Primitive::Edge(i) => (n + i, &p.weights[..2]),
            Primitive::Triangle(i) => (n + self.net.edges.len() as u32 + i, &p.weights[..3]),
            Primitive::Vertex(i) | Primitive::Frame(i) | Primitive::Tetrahedron(i) => {
                (i, &[1.0][..])
            }
        };
        out.set_weights(weights.iter().copied());
        Ok(BasisIdx(basis))
    }

    fn basis(&self, basis: BasisIdx, _: &Point3<f64>, out: &mut Rows) {
        let (n, n_edges) = (self.net.n_nodes(), self.net.edges.len());
        let i = basis.0 as usize;
        let vertex = [basis.0];
        let nodes: &[u32] = match i {
            _ if i < n => &vertex,
            _ if i < n + n_edges => &self.net.edges[i - n],
            _ => &self.net.triangles[i - n - n_edges],
        };
        out.reset(3 * nodes.len());
        for (k, &node) in nodes.iter().enumerate() {
            match self.dof[node as usize] {
                Some(dof) => out.identity(3 * k, dof, 3),
                None => {
                    let held = at(&self.v, node as usize);
                    out.bias_mut()[3 * k..3 * k + 3].copy_from_slice(held.as_slice());
                }
            }
        }
    }

    fn advance(&mut self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        next.v = self.all_velocities(v);
        next.q.clear();
        let step = &self.time_step;
        let moved = self.q.iter().zip(self.v.iter().zip(&next.v));
        next.q
            .extend(moved.map(|(q, (v0, v))| q + step.length_s * step.mean_velocity(*v0, *v)));
        next.history.clear();
        Ok(BodyReport::default())
    }

    fn as_balance(&self) -> Option<&dyn MomentumBalance> {
        Some(self)
    }

    fn as_explicit(&self) -> Option<&dyn ExplicitStep> {
        Some(self)
    }

    fn as_surface(&self) -> Option<&dyn SurfaceMotion> {
        Some(self)
    }
}

impl SurfaceMotion for NetStep {
    fn start_surface(&self, out: &mut Surface) {
        self.net.surface_at(&self.q, out);
    }

    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) {
        out.clear();
        let nodes = self.v.chunks_exact(3).zip(&self.dof);
        out.extend(nodes.map(|(fixed, dof)| {
            Vector3::from_column_slice(dof.map_or(fixed, |dof| &v[dof..dof + 3]))
        }));
    }
}

impl ExplicitStep for NetStep {
    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let mut p = self.impulse(&self.q);
        self.add_damping(&self.v, &mut p);
        let node_mass = self.net.settings.node_mass;
        p.iter_mut().for_each(|p| *p /= node_mass);
        self.gather(&p, out);
        Ok(())
    }
}

impl MomentumBalance for NetStep {
    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        // m(v) = M(v − v0) + δt D v^θ − δt f(q^θ).
        let all = self.all_velocities(v);
        let mut p = self.impulse(&self.places_of_forces(&all));
        let both = self.v.iter().zip(&all);
        let at_forces: Vec<f64> = both
            .map(|(v0, v)| self.time_step.force_velocity(*v0, *v))
            .collect();
        self.add_damping(&at_forces, &mut p);
        for (p, v) in p.iter_mut().zip(&all) {
            *p = self.net.settings.node_mass * v - *p;
        }
        self.gather(&p, out);
        Ok(())
    }

    fn tangent(&self, v: &[f64]) -> Result<BalanceTangent<'_>, BodyError> {
        let all = self.all_velocities(v);
        let q = self.places_of_forces(&all);
        let mut full = vec![0.0; self.q.len()];
        Ok(Box::new(move |x, y| {
            for (node, dof) in self.dof.iter().enumerate() {
                if let Some(dof) = *dof {
                    full[3 * node..3 * node + 3].copy_from_slice(&x[dof..dof + 3]);
                }
            }
            self.gather(&self.product(&q, &full, Compression::Kept), y);
        }))
    }

    fn external_impulse(&self, out: &mut [f64]) {
        self.gather(&self.external, out);
        let dt = self.time_step.length_s;
        out.iter_mut().for_each(|p| *p *= dt);
    }
}
