//! A net of masses and springs: a body with a fixed number of velocities, a sparse A, and a surface of vertices.

use nalgebra::{Matrix3, Point3, Vector3};
use sprs::CsMatI;

use crate::body::{
    BasisIdx, BodyReport, BodyState, BodyStep, Control, DeformableModel, Energy, MaterialPoint,
    Primitive, StepInput, Surface,
};
use crate::dynamics::{Assembled, BlockDiagonal, Dynamics};
use crate::error::BodyError;
use crate::rows::{Lever, Rows};

/// Settings of a [`MassSpringNet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetSettings {
    /// Nodes along each side, at least 2.
    pub n: usize,
    /// Distance of neighbours at rest, m.
    pub spacing: f64,
    /// Mass of a node, kg.
    pub node_mass: f64,
    /// Stiffness of a spring, N/m.
    pub stiffness: f64,
    /// Damping along a spring, N·s/m.
    pub damping: f64,
    /// Radius about each node, m.
    pub radius: f64,
    /// Place of the first node; the net lies in the plane z = const, towards +x and +y.
    pub corner_W: Point3<f64>,
}

impl Default for NetSettings {
    /// A handkerchief: 10 × 10 nodes, 3 cm apart, 50 g.
    fn default() -> Self {
        Self {
            n: 10,
            spacing: 0.03,
            node_mass: 5e-4,
            stiffness: 50.0,
            damping: 0.01,
            radius: 0.01,
            corner_W: Point3::new(0.0, 0.0, 0.5),
        }
    }
}

/// A square net of point masses joined by springs along its sides and both diagonals of each mesh.
///
/// A step is linearised backward Euler, A = M + δt D + δt²K with K made positive semidefinite spring by spring. Every
/// surface vertex is a node, every surface point a weighted sum of nodes. Nodes whose three velocities are held leave the
/// solve: their velocity becomes the bias of their basis. It bears no bending, but contact with itself.
#[derive(Clone, Debug)]
pub struct MassSpringNet {
    settings: NetSettings,
    springs: Vec<Spring>,
    edges: Vec<[u32; 2]>,
    triangles: Vec<[u32; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Spring {
    nodes: [usize; 2],
    rest_length: f64,
}

impl MassSpringNet {
    /// # Errors
    /// [`BodyError::Model`] naming the first setting that is out of range.
    pub fn new(settings: NetSettings) -> Result<Self, BodyError> {
        let NetSettings { n, spacing, .. } = settings;
        if n < 2 {
            return Err(BodyError::Model(format!(
                "a net needs 2 nodes a side, not {n}"
            )));
        }
        for (name, value, least) in [
            ("spacing", spacing, f64::MIN_POSITIVE),
            ("node mass", settings.node_mass, f64::MIN_POSITIVE),
            ("stiffness", settings.stiffness, 0.0),
            ("damping", settings.damping, 0.0),
            ("radius", settings.radius, 0.0),
        ] {
            if !(value >= least && value.is_finite()) {
                return Err(BodyError::Model(format!(
                    "{name} of a net cannot be {value}"
                )));
            }
        }
        let node = |i: usize, j: usize| i * n + j;
        let mut net = Self {
            settings,
            springs: Vec::new(),
            edges: Vec::new(),
            triangles: Vec::new(),
        };
        for i in 0..n {
            for j in 0..n {
                if i + 1 < n {
                    net.join(node(i, j), node(i + 1, j), spacing);
                    net.edge(node(i, j), node(i + 1, j));
                }
                if j + 1 < n {
                    net.join(node(i, j), node(i, j + 1), spacing);
                    net.edge(node(i, j), node(i, j + 1));
                }
                if i + 1 < n && j + 1 < n {
                    let diagonal = spacing * std::f64::consts::SQRT_2;
                    net.join(node(i, j), node(i + 1, j + 1), diagonal);
                    net.join(node(i + 1, j), node(i, j + 1), diagonal);
                    net.edge(node(i, j), node(i + 1, j + 1));
                    let [a, b, c, d] = [
                        node(i, j),
                        node(i + 1, j),
                        node(i + 1, j + 1),
                        node(i, j + 1),
                    ]
                    .map(|k| k as u32);
                    net.triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
        }
        Ok(net)
    }

    fn join(&mut self, a: usize, b: usize, rest_length: f64) {
        self.springs.push(Spring {
            nodes: [a, b],
            rest_length,
        });
    }

    fn edge(&mut self, a: usize, b: usize) {
        self.edges.push([a as u32, b as u32]);
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.settings.n * self.settings.n
    }

    /// The control that holds `nodes` where they are.
    #[must_use]
    pub fn holding(&self, nodes: &[usize]) -> Control {
        let mut held = vec![None; 3 * self.n_nodes()];
        for node in nodes {
            held[3 * node..3 * node + 3].fill(Some(0.0));
        }
        Control {
            held,
            ..Control::default()
        }
    }
}

impl DeformableModel for MassSpringNet {
    fn default_state(&self) -> BodyState {
        let NetSettings {
            n,
            spacing,
            corner_W,
            ..
        } = self.settings;
        let mut q = Vec::with_capacity(3 * n * n);
        for i in 0..n {
            for j in 0..n {
                let at = corner_W + Vector3::new(i as f64, j as f64, 0.0) * spacing;
                q.extend_from_slice(at.coords.as_slice());
            }
        }
        BodyState {
            v: vec![0.0; q.len()],
            q,
            history: Vec::new(),
        }
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(NetStep {
            net: self.clone(),
            ..NetStep::default()
        })
    }

    fn surface(&self, state: &BodyState, out: &mut Surface) {
        out.clear();
        let vertices = state.q.chunks_exact(3).map(Point3::from_slice);
        out.vertices.extend(vertices);
        out.radii.resize(out.vertices.len(), self.settings.radius);
        out.edges.extend_from_slice(&self.edges);
        out.triangles.extend_from_slice(&self.triangles);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        let mut energy = Energy::default();
        for i in 0..self.n_nodes() {
            let (x, p) = (at(&state.q, i), at(&state.v, i) * self.settings.node_mass);
            energy.kinetic += 0.5 * p.dot(&at(&state.v, i));
            energy.potential -= self.settings.node_mass * gravity.dot(&x);
            energy.linear_momentum_W += p;
            energy.angular_momentum_W += x.cross(&p);
        }
        for spring in &self.springs {
            let stretch = spring.between(&state.q).norm() - spring.rest_length;
            energy.potential += 0.5 * self.settings.stiffness * stretch * stretch;
        }
        energy
    }
}

fn at(values: &[f64], node: usize) -> Vector3<f64> {
    Vector3::from_column_slice(&values[3 * node..3 * node + 3])
}

fn add(values: &mut [f64], node: usize, x: &Vector3<f64>) {
    for (value, x) in values[3 * node..].iter_mut().zip(x.iter()) {
        *value += x;
    }
}

impl Spring {
    /// From its first node to its second.
    fn between(&self, values: &[f64]) -> Vector3<f64> {
        at(values, self.nodes[1]) - at(values, self.nodes[0])
    }

    /// Force on the second node, −∂/∂x of ½k(‖x‖ − L)².
    fn force(&self, k: f64, x: &Vector3<f64>) -> Vector3<f64> {
        x * (-k * (1.0 - self.rest_length / x.norm()))
    }

    /// ∂²/∂x² of ½k(‖x‖ − L)² with the share of compression across the spring scaled: 1 is exact, 0 drops it where negative.
    fn stiffness(&self, k: f64, x: &Vector3<f64>, compression: Compression) -> Matrix3<f64> {
        let along = x.normalize();
        let across = match (1.0 - self.rest_length / x.norm(), compression) {
            (tension, Compression::Dropped) => tension.max(0.0),
            (tension, Compression::Kept) => tension,
        };
        let along = along * along.transpose();
        (along + (Matrix3::identity() - along) * across) * k
    }
}

/// What to do with the negative curvature of a compressed spring.
#[derive(Clone, Copy)]
enum Compression {
    Dropped,
    Kept,
}

/// A step of a net.
#[derive(Clone, Debug, Default)]
struct NetStep {
    net: MassSpringNet,
    time_step_s: f64,
    q: Vec<f64>,
    /// Start velocities of all nodes, those of held nodes being what they are held at.
    v: Vec<f64>,
    /// Gravity and loads on all nodes, N.
    external: Vec<f64>,
    /// Node to the first of its three velocities in the solve.
    dof: Vec<Option<usize>>,
    start: Vec<f64>,
    dynamics: NetDynamics,
}

impl Default for MassSpringNet {
    fn default() -> Self {
        Self::new(NetSettings::default()).expect("the default settings are in range")
    }
}

#[derive(Clone, Debug)]
struct NetDynamics {
    matrix: CsMatI<f64, u32>,
    diagonal: Vec<f64>,
    right_hand_side: Vec<f64>,
}

impl Default for NetDynamics {
    fn default() -> Self {
        Self {
            matrix: CsMatI::zero((0, 0)).into_csc(),
            diagonal: Vec::new(),
            right_hand_side: Vec::new(),
        }
    }
}

impl NetStep {
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

    /// δt D + δt²K of a spring, about `q`; D along the spring as it was at the start.
    fn impedance(&self, spring: &Spring, q: &[f64], compression: Compression) -> Matrix3<f64> {
        let NetSettings {
            stiffness, damping, ..
        } = self.net.settings;
        let dt = self.time_step_s;
        let along = spring.between(&self.q).normalize();
        along * along.transpose() * (dt * damping)
            + spring.stiffness(stiffness, &spring.between(q), compression) * (dt * dt)
    }

    /// M v0 + δt f(q), f with gravity and loads and without damping; all nodes.
    fn impulse(&self, q: &[f64]) -> Vec<f64> {
        let NetSettings {
            node_mass,
            stiffness,
            ..
        } = self.net.settings;
        let dt = self.time_step_s;
        let started = self.v.iter().zip(&self.external);
        let mut p: Vec<f64> = started.map(|(v, f)| node_mass * v + dt * f).collect();
        for spring in &self.net.springs {
            let force = spring.force(stiffness, &spring.between(q)) * dt;
            add(&mut p, spring.nodes[1], &force);
            add(&mut p, spring.nodes[0], &-force);
        }
        p
    }

    /// (M + δt D + δt²K(q)) x for all nodes, matrix-free.
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
        let (mut starts, mut rows) = (vec![0], Vec::new());
        for list in &mut neighbours {
            list.sort_unstable();
            for _ in 0..3 {
                rows.extend(
                    list.iter()
                        .flat_map(|&i| [3 * i, 3 * i + 1, 3 * i + 2])
                        .map(|i| i as u32),
                );
                starts.push(rows.len() as u32);
            }
        }
        let values = vec![0.0; rows.len()];
        self.dynamics.matrix = CsMatI::new_csc((3 * n, 3 * n), starts, rows, values);
    }

    fn check(&self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        let expected = 3 * self.net.n_nodes();
        for (what, values) in [("q of a net", &state.q), ("v of a net", &state.v)] {
            if values.len() != expected {
                return Err(BodyError::StateLength {
                    what,
                    found: values.len(),
                    expected,
                });
            }
            if let Some(i) = values.iter().position(|x| !x.is_finite()) {
                return Err(BodyError::NotFinite {
                    place: format!("{what}, entry {i}"),
                    value: values[i],
                });
            }
        }
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
        self.time_step_s = input.time_step_s;
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

    fn linearise(&mut self) -> Result<(), BodyError> {
        if let Some(spring) = self
            .net
            .springs
            .iter()
            .find(|s| s.between(&self.q).norm() == 0.0)
        {
            let [a, b] = spring.nodes;
            return Err(BodyError::Model(format!(
                "nodes {a} and {b} of a net are at one place"
            )));
        }
        let n = self.start.len();
        let mut dynamics = std::mem::take(&mut self.dynamics);
        dynamics.diagonal.clear();
        dynamics.diagonal.resize(3 * n, 0.0);
        dynamics.right_hand_side.resize(n, 0.0);
        dynamics.matrix.data_mut().fill(0.0);
        let mass = Matrix3::identity() * self.net.settings.node_mass;
        for dof in self.dof.iter().flatten() {
            dynamics.add_block(*dof, *dof, &mass);
        }
        // A v = b with the velocities of held nodes known: their columns go to the right.
        let mut b = self.impulse(&self.q);
        for spring in &self.net.springs {
            let s = self.impedance(spring, &self.q, Compression::Dropped);
            for (me, other) in [(0, 1), (1, 0)] {
                let nodes = [spring.nodes[me], spring.nodes[other]];
                let Some(row) = self.dof[nodes[0]] else {
                    continue;
                };
                dynamics.add_block(row, row, &s);
                match self.dof[nodes[1]] {
                    Some(column) => dynamics.add_block(row, column, &-s),
                    None => add(&mut b, nodes[0], &(s * at(&self.v, nodes[1]))),
                }
            }
        }
        self.gather(&b, &mut dynamics.right_hand_side);
        self.dynamics = dynamics;
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }

    fn lever(&self, p: &MaterialPoint, out: &mut Lever) -> BasisIdx {
        // A vertex is a basis of its own; edges and triangles follow.
        let n = self.net.n_nodes() as u32;
        let (basis, weights) = match p.primitive {
            Primitive::Edge(i) => (n + i, &p.weights[..2]),
            Primitive::Triangle(i) => (n + self.net.edges.len() as u32 + i, &p.weights[..3]),
            Primitive::Vertex(i) | Primitive::Frame(i) | Primitive::Tetrahedron(i) => {
                (i, &[1.0][..])
            }
        };
        *out = Lever::Weights(weights.to_vec());
        BasisIdx(basis)
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

    fn advance(&self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        next.v = self.all_velocities(v);
        next.q.clear();
        let moved = self
            .q
            .iter()
            .zip(&next.v)
            .map(|(q, v)| q + self.time_step_s * v);
        next.q.extend(moved);
        next.history.clear();
        Ok(BodyReport::default())
    }

    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let NetSettings {
            node_mass, damping, ..
        } = self.net.settings;
        let mut p = self.impulse(&self.q);
        for spring in &self.net.springs {
            let along = spring.between(&self.q).normalize();
            let rate = along.dot(&spring.between(&self.v));
            let impulse = along * (-damping * rate * self.time_step_s);
            add(&mut p, spring.nodes[1], &impulse);
            add(&mut p, spring.nodes[0], &-impulse);
        }
        p.iter_mut().for_each(|p| *p /= node_mass);
        self.gather(&p, out);
        Ok(())
    }

    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        // m(v) = M(v − v0) + δt D v − δt f(q0 + δt v).
        let NetSettings {
            node_mass, damping, ..
        } = self.net.settings;
        let dt = self.time_step_s;
        let all = self.all_velocities(v);
        let q: Vec<f64> = self.q.iter().zip(&all).map(|(q, v)| q + dt * v).collect();
        let mut m: Vec<f64> = self.impulse(&q).iter().map(|p| -p).collect();
        for (m, v) in m.iter_mut().zip(&all) {
            *m += node_mass * v;
        }
        for spring in &self.net.springs {
            let along = spring.between(&self.q).normalize();
            let impulse = along * (dt * damping * along.dot(&spring.between(&all)));
            add(&mut m, spring.nodes[1], &impulse);
            add(&mut m, spring.nodes[0], &-impulse);
        }
        self.gather(&m, out);
        Ok(())
    }

    fn tangent(&self, v: &[f64], x: &[f64], y: &mut [f64]) -> Result<(), BodyError> {
        let all = self.all_velocities(v);
        let moved = self
            .q
            .iter()
            .zip(&all)
            .map(|(q, v)| q + self.time_step_s * v);
        let q: Vec<f64> = moved.collect();
        let mut full = vec![0.0; self.q.len()];
        for (node, dof) in self.dof.iter().enumerate() {
            if let Some(dof) = *dof {
                full[3 * node..3 * node + 3].copy_from_slice(&x[dof..dof + 3]);
            }
        }
        self.gather(&self.product(&q, &full, Compression::Kept), y);
        Ok(())
    }

    fn point(&self, v: &[f64], p: &MaterialPoint) -> Point3<f64> {
        let mut place = p.offset;
        self.for_each_node(p, |node, w| {
            let velocity = match self.dof[node] {
                Some(dof) => Vector3::from_column_slice(&v[dof..dof + 3]),
                None => at(&self.v, node),
            };
            place += (at(&self.q, node) + velocity * self.time_step_s) * w;
        });
        place.into()
    }
}

impl NetDynamics {
    /// Adds a 3×3 block at the velocities `row`, `column` of two nodes.
    fn add_block(&mut self, row: usize, column: usize, block: &Matrix3<f64>) {
        if row == column {
            let diagonal = self.diagonal[3 * row..3 * row + 9].iter_mut();
            diagonal.zip(block.iter()).for_each(|(d, b)| *d += b);
        }
        for c in 0..3 {
            let range = self.matrix.indptr().outer_inds_sz(column + c);
            let rows = &self.matrix.indices()[range.clone()];
            let first = rows.partition_point(|&r| (r as usize) < row);
            let values = &mut self.matrix.data_mut()[range.start + first..];
            for (value, b) in values.iter_mut().zip(block.column(c).iter()) {
                *value += b;
            }
        }
    }
}

impl Dynamics for NetDynamics {
    fn right_hand_side(&self) -> &[f64] {
        &self.right_hand_side
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (column, x) in self.matrix.outer_iterator().zip(x) {
            for (row, a) in column.iter() {
                y[row as usize] += a * x;
            }
        }
    }

    fn diagonal_blocks(&self) -> BlockDiagonal<'_> {
        BlockDiagonal::Vertices(&self.diagonal)
    }

    fn assembled(&self) -> Option<Assembled<'_>> {
        Some(Assembled::Sparse(self.matrix.view()))
    }
}

#[cfg(test)]
mod tests;
