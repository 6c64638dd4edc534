//! One step of a rod: free motion, then what contact and ties need to know of it.

use std::sync::Arc;

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, SMatrix, UnitQuaternion, Vector3};
use pliant_contact_sap::{
    BasisIdx, BodyError, BodyReport, BodyState, BodyStep, Dynamics, FlatEdge, Lever, Load,
    MaterialPoint, Primitive, Rows, StepInput, Surface,
};

use crate::dynamics::RodDynamics;
use crate::elasticity::{Impossible, edge_direction, edge_kinematics, node};
use crate::frames::reference_twist;
use crate::free_motion::{FreeMotion, FreeMotionReport, FreeMotionSettings, FreeMotionStop};
use crate::rod::{Rod, RodParts};
use crate::strain::EdgeKinematics;

/// A step of a [`Rod`]: what [`DeformableModel::new_step`](pliant_contact_sap::DeformableModel::new_step) makes, with the
/// report of its free motion.
#[derive(Clone, Debug)]
pub struct RodStep {
    rod: Arc<RodParts>,
    motion: FreeMotion,
    dynamics: RodDynamics,
    report: FreeMotionReport,
    q: Vec<f64>,
    end_time_s: f64,
    /// Frames at the start of the step.
    start: Vec<EdgeKinematics>,
    force: Vec<f64>,
}

/// Where a material point lies on the rod.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// On an edge, at a fraction, at an offset r from the centreline in world axes at the start of the step.
    Edge {
        edge: usize,
        fraction: f64,
        offset: Vector3<f64>,
    },
    /// A node.
    Node(usize),
    /// A frame's origin and the offset in its axes.
    Frame { frame: usize, offset: Vector3<f64> },
}

impl RodStep {
    /// A workspace for steps of `rod`.
    #[must_use]
    pub fn new(rod: &Rod) -> Self {
        Self {
            rod: Arc::clone(&rod.parts),
            motion: FreeMotion::new(rod.parts.settings),
            dynamics: RodDynamics::default(),
            report: FreeMotionReport::default(),
            q: Vec::new(),
            end_time_s: 0.0,
            start: Vec::new(),
            force: Vec::new(),
        }
    }

    /// How the last [`BodyStep::linearise`] went.
    pub fn report(&self) -> FreeMotionReport {
        self.report
    }

    /// The velocity of free motion, A⁻¹b, of the last [`BodyStep::linearise`]; `out` is overwritten.
    pub fn free_velocity(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(self.dynamics.right_hand_side());
        let _ = self.dynamics.precondition(out);
    }

    /// Other settings than the rod's.
    pub(crate) fn set_free_motion(&mut self, settings: FreeMotionSettings) {
        self.motion.settings = settings;
    }

    /// Where the iterations of the last [`BodyStep::linearise`] ended.
    pub(crate) fn last_iterate(&self) -> &[f64] {
        &self.motion.velocity
    }

    /// Static residual at the start of the step, relative, and the centreline's node with the largest force left.
    pub(crate) fn static_residual(&mut self) -> Result<(f64, usize), BodyError> {
        let rod = Arc::clone(&self.rod);
        let found = self.motion.static_residual(&rod, &self.q, &self.force);
        let (residual, node) = found.map_err(|i| self.impossible(i))?;
        Ok((residual, node.saturating_sub(rod.first_node())))
    }

    fn impossible(&self, impossible: Impossible) -> BodyError {
        BodyError::Model(self.rod.describe(impossible))
    }

    fn place(&self, p: &MaterialPoint) -> Result<Place, BodyError> {
        let rod = &*self.rod;
        let (first, n_segments) = (rod.first_node(), rod.n_segments());
        let nowhere = || BodyError::NoSuchPoint {
            point: p.primitive,
            places: format!(
                "{} frames, {} vertices, {n_segments} edges",
                rod.frames.len(),
                rod.n_vertices()
            ),
        };
        let offset = p.offset;
        match p.primitive {
            Primitive::Frame(i) if (i as usize) < rod.frames.len() => Ok(Place::Frame {
                frame: i as usize,
                offset,
            }),
            Primitive::Edge(i) if (i as usize) < n_segments => Ok(Place::Edge {
                edge: i as usize + first,
                fraction: p.weights[1] / (p.weights[0] + p.weights[1]),
                offset,
            }),
            Primitive::Vertex(i) if (i as usize) < rod.n_vertices() => {
                let node = i as usize + first;
                if offset == Vector3::zeros() {
                    return Ok(Place::Node(node));
                }
                // A point beside a node moves with an edge of it.
                let (edge, fraction) = self.edge_at(node);
                Ok(Place::Edge {
                    edge,
                    fraction,
                    offset,
                })
            }
            _ => Err(nowhere()),
        }
    }

    /// The edge of the centreline after a node, at the last node that before it, and where the node is on it.
    fn edge_at(&self, node: usize) -> (usize, f64) {
        let rod = &*self.rod;
        let last = rod.first_node() + rod.n_segments() - 1;
        if node <= last {
            (node, 0.0)
        } else {
            (last, 1.0)
        }
    }

    /// Bases: edges (seven unknowns x_i, γ, x_i+1), then nodes (three), then frames (a twist, six rows).
    fn basis_of(&self, place: &Place) -> BasisIdx {
        let (n_edges, n_nodes) = (self.rod.n_edges, self.rod.n_nodes);
        BasisIdx(match place {
            Place::Edge { edge, .. } => *edge,
            Place::Node(node) => n_edges + node,
            Place::Frame { frame, .. } => n_edges + n_nodes + frame,
        } as u32)
    }

    /// Φ of a point of an edge on (x_i', γ', x_i+1'), 3×7:
    ///
    /// ```text
    /// v = (1−s) x_i' + s x_i+1' + (t × r) γ' − t (r·(x_i+1' − x_i'))/l
    /// ```
    ///
    /// The third term lets friction twist the rod, the fourth is the swing of the section: without it the couple r × f of
    /// a friction force along the rod would be lost.
    fn edge_lever(edge: &EdgeKinematics, fraction: f64, r: &Vector3<f64>) -> SMatrix<f64, 3, 7> {
        let t = &edge.tangent;
        let swing = t * r.transpose() / edge.length;
        let mut phi = SMatrix::<f64, 3, 7>::zeros();
        let first = Matrix3::identity() * (1.0 - fraction) + swing;
        let second = Matrix3::identity() * fraction - swing;
        phi.fixed_columns_mut::<3>(0).copy_from(&first);
        phi.set_column(3, &t.cross(r));
        phi.fixed_columns_mut::<3>(4).copy_from(&second);
        phi
    }

    /// Unknowns of the two nodes and the angle of an edge.
    fn edge_dofs(&self, edge: usize) -> (usize, usize, usize) {
        let (a, b) = self.rod.nodes_of_edge(edge);
        (4 * a, 4 * edge + 3, 4 * b)
    }

    /// Identity rows of `n` unknowns; what is held becomes bias.
    fn identity(&self, row: usize, dof: usize, n: usize, out: &mut Rows) {
        let held = &self.motion.held[dof..dof + n];
        if !held.contains(&true) {
            out.identity(row, dof, n);
            return;
        }
        for (k, held) in held.iter().enumerate() {
            if *held {
                out.bias_mut()[row + k] = self.motion.start[dof + k];
            } else {
                out.identity(row + k, dof + k, 1);
            }
        }
    }

    /// Generalised force of a force and a torque at a point, added to `self.force`. A torque on a node acts on an edge of it.
    fn add_load(&mut self, load: &Load) -> Result<(), BodyError> {
        let (edge, fraction, offset) = match self.place(&load.point)? {
            Place::Edge {
                edge,
                fraction,
                offset,
            } => (edge, fraction, offset),
            Place::Node(node) => {
                let (edge, fraction) = self.edge_at(node);
                (edge, fraction, Vector3::zeros())
            }
            Place::Frame { frame, offset } => {
                let frame = &self.rod.frames[frame];
                let turned = frame_axes(&self.start[frame.edge]) * offset;
                (frame.edge, frame.fraction, turned)
            }
        };
        let phi = Self::edge_lever(&self.start[edge], fraction, &offset);
        let generalised = phi.transpose() * load.force_W;
        let (a, angle, b) = self.edge_dofs(edge);
        for k in 0..3 {
            self.force[a + k] += generalised[k];
            self.force[b + k] += generalised[4 + k];
        }
        self.force[angle] += generalised[3];
        self.add_torque(edge, &load.torque_W);
        Ok(())
    }

    /// A torque: along the edge it drives the angle, across it is a pair of forces on the nodes.
    fn add_torque(&mut self, edge: usize, torque_W: &Vector3<f64>) {
        let kinematics = self.start[edge];
        let (a, angle, b) = self.edge_dofs(edge);
        let pair = torque_W.cross(&kinematics.tangent) / kinematics.length;
        for k in 0..3 {
            self.force[a + k] -= pair[k];
            self.force[b + k] += pair[k];
        }
        self.force[angle] += kinematics.tangent.dot(torque_W);
    }

    /// Position of an unknown at the end of a step with velocity `v`.
    fn moved(&self, v: &[f64], i: usize) -> f64 {
        let v0 = self.motion.start[i];
        let v = if self.motion.held[i] { v0 } else { v[i] };
        let step = &self.motion.time_step;
        self.q[i] + step.length_s * step.mean_velocity(v0, v)
    }

    fn moved_node(&self, v: &[f64], node: usize) -> Vector3<f64> {
        Vector3::from_fn(|k, _| self.moved(v, 4 * node + k))
    }

    /// An edge at the end of a step, and where its first node is.
    fn moved_edge(
        &self,
        v: &[f64],
        edge: usize,
    ) -> Result<(EdgeKinematics, Vector3<f64>), Impossible> {
        let (a, b) = self.rod.nodes_of_edge(edge);
        let (x_a, x_b) = (self.moved_node(v, a), self.moved_node(v, b));
        let kinematics = edge_kinematics(
            self.rod.rest_length[edge],
            &self.motion.reference.anchors[edge],
            &(x_b - x_a),
            self.moved(v, 4 * edge + 3),
            edge,
        )?;
        Ok((kinematics, x_a))
    }

    fn moved_point(&self, v: &[f64], place: &Place) -> Result<Point3<f64>, Impossible> {
        let (edge, fraction, from_start) = match *place {
            Place::Node(node) => return Ok(self.moved_node(v, node).into()),
            Place::Edge {
                edge,
                fraction,
                offset,
            } => {
                let in_section = frame_axes(&self.start[edge]).inverse() * offset;
                (edge, fraction, in_section)
            }
            Place::Frame { frame, offset } => {
                let frame = &self.rod.frames[frame];
                (frame.edge, frame.fraction, offset)
            }
        };
        let (kinematics, x_a) = self.moved_edge(v, edge)?;
        let on_axis = x_a + kinematics.tangent * (kinematics.length * fraction);
        Ok((on_axis + frame_axes(&kinematics) * from_start).into())
    }

    fn read_control(&mut self, input: &StepInput<'_>) -> Result<(), BodyError> {
        let control = input.control;
        let n = self.rod.n_dofs();
        if [&control.position, &control.velocity]
            .iter()
            .any(|x| !x.is_empty())
        {
            return Err(BodyError::Unsupported {
                what: "actuators on a rod",
            });
        }
        for (what, found) in [
            ("held velocities of a rod", control.held.len()),
            ("effort of a rod", control.effort.len()),
        ] {
            if found != 0 && found != n {
                return Err(BodyError::StateLength {
                    what,
                    found,
                    expected: n,
                });
            }
        }
        let motion = &mut self.motion;
        motion.held.clear();
        motion.held.resize(n, false);
        for (i, held) in control.held.iter().enumerate() {
            if let Some(velocity) = *held {
                if !velocity.is_finite() {
                    return Err(BodyError::NotFinite {
                        place: format!("held velocity {i} of a rod"),
                        value: velocity,
                    });
                }
                motion.held[i] = true;
                motion.start[i] = velocity;
            }
        }
        self.force.clear();
        self.force.resize(n, 0.0);
        for i in 0..self.rod.n_nodes {
            let weight = input.gravity * self.rod.node_mass(i);
            self.force[4 * i..4 * i + 3].copy_from_slice(weight.as_slice());
        }
        for (force, effort) in self.force.iter_mut().zip(&control.effort) {
            *force += effort;
        }
        for load in &control.loads {
            self.add_load(load)?;
        }
        Ok(())
    }

    /// Anything doubtful about the state just reached.
    fn warnings(&self, twists: impl Iterator<Item = f64>) -> Vec<String> {
        let mut warnings = Vec::new();
        let report = &self.report;
        let doubtful = report.residual > 1e3 * self.motion.settings.relative_tolerance;
        if report.stop == FreeMotionStop::IterationLimit
            || (report.stop == FreeMotionStop::RoundOff && doubtful)
        {
            warnings.push(format!(
                "the free motion stopped after {} iterations with a relative residual of {:.1e}; take a smaller time step",
                report.iterations, report.residual
            ));
        }
        let (mut worst, mut most) = (0, 0.0);
        for (joint, twist) in twists.enumerate() {
            if twist.abs() > most {
                (worst, most) = (joint, twist.abs());
            }
        }
        // Bending stiffness falls by cos²(τ/2): 6 % here.
        if most > 0.5 {
            warnings.push(format!(
                "the twist at {} is {most:.2} rad, which makes the rod {:.0} % softer in bending there; use shorter edges",
                self.rod.node_name(self.rod.node_of_joint(worst)),
                100.0 * (0.5 * most).sin().powi(2)
            ));
        }
        warnings
    }
}

/// Material frame of an edge as a rotation, columns m1, m2, t.
pub(crate) fn frame_axes(edge: &EdgeKinematics) -> Rotation3<f64> {
    let axes = Matrix3::from_columns(&[edge.m_1, edge.m_2, edge.tangent]);
    Rotation3::from_matrix_unchecked(axes)
}

/// What can be touched of a rod at `q` with edges `edges`.
pub(crate) fn write_surface(
    rod: &RodParts,
    q: &[f64],
    edges: impl Fn(usize) -> Option<EdgeKinematics>,
    out: &mut Surface,
) {
    out.clear();
    for frame in &rod.frames {
        let pose = edges(frame.edge).map_or_else(Isometry3::identity, |edge| {
            let (a, _) = rod.nodes_of_edge(frame.edge);
            let origin = node(q, a) + edge.tangent * (edge.length * frame.fraction);
            let axes = UnitQuaternion::from_rotation_matrix(&frame_axes(&edge));
            Isometry3::from_parts(origin.into(), axes)
        });
        out.frames.push(pose);
    }
    let first = rod.first_node();
    let nodes = first..first + rod.n_vertices();
    out.vertices.extend(nodes.map(|i| Point3::from(node(q, i))));
    out.radii.resize(rod.n_vertices(), rod.contact_radius);
    let flat = rod.section.and_then(|section| section.half_extents());
    for i in 0..rod.n_segments() {
        let (a, b) = rod.nodes_of_edge(i + first);
        out.edges.push([(a - first) as u32, (b - first) as u32]);
        if let (Some(half_extents), Some(edge)) = (flat, edges(i + first)) {
            let m_1 = edge.m_1;
            out.sections.push(FlatEdge { m_1, half_extents });
        }
    }
}

impl BodyStep for RodStep {
    fn begin(&mut self, state: &BodyState, input: &StepInput<'_>) -> Result<(), BodyError> {
        let rod = Arc::clone(&self.rod);
        rod.check_state(state)?;
        let step = input.time_step;
        self.motion.time_step = step;
        let start_s = rod.history().time_s(&state.history);
        self.end_time_s = start_s + step.length_s;
        // Natural shape where the forces act: at the end of the step for backward Euler.
        let forces_s = start_s + step.forces_s();
        rod.refer(&state.history, forces_s, &mut self.motion.reference);
        self.q.clone_from(&state.q);
        self.motion.start.clone_from(&state.v);
        let anchored = self
            .motion
            .reference
            .move_to(&rod, &self.q, &mut self.start);
        anchored.map_err(|i| self.impossible(i))?;
        self.read_control(input)?;
        let opened = self.motion.open(&rod, &self.q, &self.force);
        opened.map_err(|i| self.impossible(i))?;
        self.report = FreeMotionReport::default();
        Ok(())
    }

    fn start_velocity(&self) -> &[f64] {
        &self.motion.start
    }

    fn linearise(&mut self) -> Result<(), BodyError> {
        let rod = Arc::clone(&self.rod);
        self.motion.velocity.clone_from(&self.motion.start);
        self.report = match self.motion.solve(&rod) {
            Ok(report) => report,
            Err(i) => return Err(self.impossible(i)),
        };
        let motion = &mut self.motion;
        self.dynamics.adopt(
            &mut motion.matrix,
            &mut motion.factor,
            &motion.velocity,
            &motion.residual,
        );
        Ok(())
    }

    fn dynamics(&self) -> &dyn Dynamics {
        &self.dynamics
    }

    fn lever(&self, p: &MaterialPoint, out: &mut Lever) -> Result<BasisIdx, BodyError> {
        let place = self.place(p)?;
        match &place {
            Place::Frame { .. } => *out = Lever::Twist,
            Place::Node(_) => out.set_weights([1.0]),
            Place::Edge {
                edge,
                fraction,
                offset,
            } => {
                let phi = Self::edge_lever(&self.start[*edge], *fraction, offset);
                out.set_dense(phi.iter().copied());
            }
        }
        Ok(self.basis_of(&place))
    }

    fn basis(&self, basis: BasisIdx, p_WO: &Point3<f64>, out: &mut Rows) {
        let (n_edges, n_nodes) = (self.rod.n_edges, self.rod.n_nodes);
        let i = basis.0 as usize;
        if i < n_edges {
            let (a, angle, b) = self.edge_dofs(i);
            out.reset(7);
            if b == a + 4 {
                self.identity(0, a, 7, out);
            } else {
                self.identity(0, a, 3, out);
                self.identity(3, angle, 1, out);
                self.identity(4, b, 3, out);
            }
        } else if i < n_edges + n_nodes {
            out.reset(3);
            self.identity(0, 4 * (i - n_edges), 3, out);
        } else {
            let frame = &self.rod.frames[i - n_edges - n_nodes];
            let edge = &self.start[frame.edge];
            let (a, angle, b) = self.edge_dofs(frame.edge);
            // ω = t × (x_b' − x_a')/l + t γ'.
            let turn = edge.tangent.cross_matrix() / edge.length;
            let origin = node(&self.q, a / 4) + edge.tangent * (edge.length * frame.fraction);
            let lever = p_WO.coords - origin;
            let swing = -lever.cross_matrix();
            out.reset(6);
            let identity = Matrix3::identity();
            let of_a = (-turn, identity * (1.0 - frame.fraction) - swing * turn);
            let of_b = (turn, identity * frame.fraction + swing * turn);
            for (dof, (angular, linear)) in [(a, of_a), (b, of_b)] {
                for k in 0..3 {
                    self.column(
                        dof + k,
                        &angular.column(k).into(),
                        &linear.column(k).into(),
                        out,
                    );
                }
            }
            let linear = edge.tangent.cross(&lever);
            self.column(angle, &edge.tangent, &linear, out);
        }
    }

    fn advance(&self, v: &[f64], next: &mut BodyState) -> Result<BodyReport, BodyError> {
        let rod = &*self.rod;
        next.v.clear();
        let end = v.iter().zip(&self.motion.start).zip(&self.motion.held);
        next.v
            .extend(end.map(|((v, v0), held)| if *held { *v0 } else { *v }));
        next.q.clear();
        next.q.extend((0..v.len()).map(|i| self.moved(v, i)));
        let mut edges = Vec::with_capacity(rod.n_edges);
        for edge in 0..rod.n_edges {
            let (a, b) = rod.nodes_of_edge(edge);
            let e = node(&next.q, b) - node(&next.q, a);
            let anchor = &self.motion.reference.anchors[edge];
            let direction = edge_direction(rod.rest_length[edge], anchor, &e, edge);
            let (_, tangent) = direction.map_err(|i| self.impossible(i))?;
            edges.push(anchor.moved_to(&tangent));
        }
        let frame = |i: usize| (&edges[i].tangent, &edges[i].director);
        let mut betas = Vec::with_capacity(rod.n_joints);
        for joint in 0..rod.n_joints {
            let (a, b) = rod.edges_of_joint(joint);
            if 1.0 + edges[a].tangent.dot(&edges[b].tangent) < 1e-4 {
                return Err(self.impossible(Impossible::Folded { joint }));
            }
            let near = self.motion.reference.betas[joint];
            betas.push(reference_twist(frame(a), frame(b), near));
        }
        let twists = betas.iter().enumerate().map(|(joint, beta)| {
            let (a, b) = rod.edges_of_joint(joint);
            next.q[4 * b + 3] - next.q[4 * a + 3] + beta
        });
        let warnings = self.warnings(twists);
        rod.history().write(
            self.end_time_s,
            edges.iter().copied(),
            betas.iter().copied(),
            &mut next.history,
        );
        Ok(BodyReport { warnings })
    }

    fn explicit_velocity(&self, out: &mut [f64]) -> Result<(), BodyError> {
        let mut motion = self.motion.clone();
        let v0 = motion.start.clone();
        motion.time_step.integration = pliant_contact_sap::Integration::Symplectic;
        let opened = motion.open(&self.rod, &self.q, &self.force);
        opened
            .and_then(|()| motion.residual_at(&self.rod, &v0, out))
            .map_err(|i| self.impossible(i))?;
        for (i, out) in out.iter_mut().enumerate() {
            let change = if motion.held[i] {
                0.0
            } else {
                *out / self.rod.mass[i]
            };
            *out = v0[i] - change;
        }
        Ok(())
    }

    fn residual(&self, v: &[f64], out: &mut [f64]) -> Result<(), BodyError> {
        let mut motion = self.motion.apart();
        let done = motion.residual_at(&self.rod, v, out);
        done.map_err(|i| self.impossible(i))
    }

    fn tangent(&self, v: &[f64], x: &[f64], y: &mut [f64]) -> Result<(), BodyError> {
        let mut motion = self.motion.apart();
        let done = motion.tangent_at(&self.rod, v, x, y);
        done.map_err(|i| self.impossible(i))
    }

    fn start_surface(&self, out: &mut Surface) -> Option<()> {
        write_surface(&self.rod, &self.q, |i| Some(self.start[i]), out);
        Some(())
    }

    fn point(&self, v: &[f64], p: &MaterialPoint) -> Result<Point3<f64>, BodyError> {
        let place = self.place(p)?;
        self.moved_point(v, &place).map_err(|i| self.impossible(i))
    }
}

impl RodStep {
    /// A column of a twist basis; what is held becomes bias.
    fn column(&self, dof: usize, angular: &Vector3<f64>, linear: &Vector3<f64>, out: &mut Rows) {
        let held = self.motion.held[dof];
        let v0 = self.motion.start[dof];
        let values = if held {
            &mut out.bias_mut()[..6]
        } else {
            out.dense(0, 6, dof, 1)
        };
        let scale = if held { v0 } else { 1.0 };
        for k in 0..3 {
            values[k] += scale * angular[k];
            values[3 + k] += scale * linear[k];
        }
    }
}
