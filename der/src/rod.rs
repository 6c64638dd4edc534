//! The rod itself: what is fixed once it is built.
//!
//! Nodes, edges and joints are numbered along the rod. A clamped or welded end adds a *stub*: one edge before (after) the
//! first (last) node of the centreline, so that the tangent at the node is given and not the one half an edge further.
//! Public node and edge numbers are those of the centreline, without stubs.

mod parts;

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{Matrix3, Point3, Rotation3, Vector3};
use pliant_contact_sap::{BodyState, Control};

use crate::centreline::Closure;
use crate::elasticity::{Depth, ElasticEnergy, Elasticity, Reference};
use crate::error::RodError;
use crate::section::Section;
use crate::strain::EdgeKinematics;

pub(crate) use parts::{RodFrame, RodParts};

/// Which end of an open rod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At the first node.
    Start,
    /// At the last node.
    Finish,
}

/// Rayleigh damping, (αM + βK) v.
///
/// K is the material part of the stiffness at the start of the step: a rod under compression is not pumped, and rigid
/// motion is not resisted. A mode of frequency ω is damped by ζ = α/(2ω) + βω/2.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rayleigh {
    /// α, 1/s.
    pub mass: f64,
    /// β, s.
    pub stiffness: f64,
}

/// A discrete elastic rod, checked and immutable; a clone shares its memory. Built by [`RodBuilder`](crate::RodBuilder).
///
/// It is a [`DeformableModel`](pliant_contact_sap::DeformableModel): its positions are (x₀, γ⁰, x₁, γ¹, …), nodes in metres
/// and material angles in radians, its velocities their rates.
#[derive(Clone, Debug)]
pub struct Rod {
    pub(crate) parts: Arc<RodParts>,
}

/// Strains of a rod at one state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strains {
    /// l/l̄ − 1 of each edge.
    pub stretch: Vec<f64>,
    /// At each joint (interior nodes, every node of a ring; the first is that of the rod's second edge): curvature
    /// along m2 and along −m1, 2 tan(φ/2) in size.
    pub curvature: Vec<[f64; 2]>,
    /// τ of each joint, rad: turn of the material frame from edge to edge, whole turns included.
    pub twist: Vec<f64>,
}

impl Rod {
    /// Whether it has ends.
    #[must_use]
    pub fn closure(&self) -> Closure {
        self.parts.closure
    }

    /// Nodes of the centreline.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.parts.n_vertices()
    }

    /// Edges of the centreline.
    #[must_use]
    pub fn n_edges(&self) -> usize {
        self.parts.n_segments()
    }

    /// Velocities, stubs and held ones included.
    #[must_use]
    pub fn n_dofs(&self) -> usize {
        self.parts.n_dofs()
    }

    /// The three unknowns of a node's position.
    ///
    /// # Errors
    /// [`RodError::NoSuchPlace`].
    pub fn node_dofs(&self, node: usize) -> Result<Range<usize>, RodError> {
        self.check("node", node, self.n_nodes())?;
        let first = 4 * (node + self.parts.first_node());
        Ok(first..first + 3)
    }

    /// The unknown of an edge's material angle.
    ///
    /// # Errors
    /// [`RodError::NoSuchPlace`].
    pub fn angle_dof(&self, edge: usize) -> Result<usize, RodError> {
        self.check("edge", edge, self.n_edges())?;
        Ok(4 * (edge + self.parts.first_node()) + 3)
    }

    fn check(&self, what: &'static str, index: usize, count: usize) -> Result<(), RodError> {
        if index < count {
            Ok(())
        } else {
            Err(RodError::NoSuchPlace { what, index, count })
        }
    }

    /// Where a node is.
    ///
    /// # Panics
    /// If the rod has no such node or the state is not one of this rod's.
    #[must_use]
    pub fn position(&self, state: &BodyState, node: usize) -> Point3<f64> {
        let first = 4 * (node + self.parts.first_node());
        Point3::from_slice(&state.q[first..first + 3])
    }

    /// How fast a node is, m/s.
    ///
    /// # Panics
    /// If the rod has no such node or the state is not one of this rod's.
    #[must_use]
    pub fn velocity(&self, state: &BodyState, node: usize) -> Vector3<f64> {
        let first = 4 * (node + self.parts.first_node());
        Vector3::from_column_slice(&state.v[first..first + 3])
    }

    /// Mass of a node, kg: half of each edge that meets there.
    ///
    /// # Panics
    /// If the rod has no such node.
    #[must_use]
    pub fn node_mass(&self, node: usize) -> f64 {
        self.parts.node_mass(node + self.parts.first_node())
    }

    /// Rest length of an edge, m.
    ///
    /// # Panics
    /// If the rod has no such edge.
    #[must_use]
    pub fn rest_length(&self, edge: usize) -> f64 {
        self.parts.rest_length[edge + self.parts.first_node()]
    }

    /// Length at rest without stubs, m.
    #[must_use]
    pub fn total_rest_length(&self) -> f64 {
        (0..self.n_edges()).map(|i| self.rest_length(i)).sum()
    }

    /// Mass without stubs, kg.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        let parts = &self.parts;
        let nodes = parts.first_node()..parts.first_node() + parts.n_vertices();
        nodes.map(|i| parts.node_mass(i)).sum()
    }

    /// The section, if the rod has one: contact geometry is made of it.
    #[must_use]
    pub fn section(&self) -> Option<Section> {
        self.parts.section
    }

    /// Material frame of an edge as the columns m1, m2, t.
    ///
    /// # Errors
    /// [`RodError::NoSuchPlace`]; [`RodError::Body`] for a state that the rod cannot be in.
    pub fn material_frame(
        &self,
        state: &BodyState,
        edge: usize,
    ) -> Result<Rotation3<f64>, RodError> {
        self.check("edge", edge, self.n_edges())?;
        Ok(self.material_frames(state)?[edge])
    }

    /// [`material_frame`](Self::material_frame) of every edge.
    ///
    /// # Errors
    /// [`RodError::Body`] for a state that the rod cannot be in.
    pub fn material_frames(&self, state: &BodyState) -> Result<Vec<Rotation3<f64>>, RodError> {
        let elasticity = self.look(state, Depth::Strains)?.0;
        let first = self.parts.first_node();
        let edges = &elasticity.edges[first..first + self.n_edges()];
        let frame = |edge: &EdgeKinematics| {
            let columns = [edge.m_1, edge.m_2, edge.tangent];
            Rotation3::from_matrix_unchecked(Matrix3::from_columns(&columns))
        };
        Ok(edges.iter().map(frame).collect())
    }

    /// Strains at a state, stubs' joints included.
    ///
    /// # Errors
    /// [`RodError::Body`] for a state that the rod cannot be in.
    pub fn strains(&self, state: &BodyState) -> Result<Strains, RodError> {
        let elasticity = self.look(state, Depth::Strains)?.0;
        let first = self.parts.first_node();
        let edges = first..first + self.n_edges();
        Ok(Strains {
            stretch: edges
                .map(|i| elasticity.edges[i].length / self.parts.rest_length[i] - 1.0)
                .collect(),
            curvature: elasticity.joints.iter().map(|j| [j.k_1, j.k_2]).collect(),
            twist: elasticity.joints.iter().map(|j| j.tau).collect(),
        })
    }

    /// Elastic energies at a state.
    ///
    /// # Errors
    /// [`RodError::Body`] for a state that the rod cannot be in.
    pub fn elastic_energy(&self, state: &BodyState) -> Result<ElasticEnergy, RodError> {
        Ok(self.look(state, Depth::Strains)?.1)
    }

    /// dE/dq at a state, N on nodes and N·m on angles: minus the elastic forces.
    ///
    /// # Errors
    /// [`RodError::Body`] for a state that the rod cannot be in.
    pub fn energy_gradient(&self, state: &BodyState) -> Result<Vec<f64>, RodError> {
        let elasticity = self.look(state, Depth::Gradient)?.0;
        let mut gradient = vec![0.0; self.n_dofs()];
        elasticity.add_gradient(&self.parts, 1.0, &mut gradient);
        Ok(gradient)
    }

    /// d²E/dq² at a state, n×n column-major; for looking at, a step never forms it.
    ///
    /// # Errors
    /// [`RodError::Body`] for a state that the rod cannot be in.
    pub fn energy_hessian(&self, state: &BodyState) -> Result<Vec<f64>, RodError> {
        let elasticity = self.look(state, Depth::Hessian)?.0;
        let n = self.n_dofs();
        let mut matrix = self.parts.new_matrix();
        elasticity.write_hessian(&self.parts, 1.0, &mut matrix);
        let mut dense = vec![0.0; n * n];
        matrix.for_each_coupling(|r, c| {
            let value = matrix.get(r, c);
            dense[c * n + r] = value;
            dense[r * n + c] = value;
        });
        Ok(dense)
    }

    /// Checks a state and evaluates it.
    pub(crate) fn look(
        &self,
        state: &BodyState,
        depth: Depth,
    ) -> Result<(Elasticity, ElasticEnergy), RodError> {
        self.parts.check_state(state)?;
        let mut reference = Reference::default();
        let time_s = self.parts.history().time_s(&state.history);
        self.parts.refer(&state.history, time_s, &mut reference);
        let mut elasticity = Elasticity::default();
        let energy = elasticity
            .evaluate(&self.parts, &reference, &state.q, depth)
            .map_err(|i| pliant_contact_sap::BodyError::Model(self.parts.describe(i)))?;
        Ok((elasticity, energy))
    }

    /// Index in the rod's surface of a frame that was named when it was built: constraints and welds ask for it.
    ///
    /// # Errors
    /// [`RodError::NoSuchFrame`], listing those there are.
    pub fn frame(&self, name: &str) -> Result<u32, RodError> {
        let frames = &self.parts.frames;
        match frames.iter().position(|f| f.name == name) {
            Some(i) => Ok(i as u32),
            None => {
                let known: Vec<_> = frames.iter().map(|f| f.name.as_str()).collect();
                Err(RodError::NoSuchFrame {
                    name: name.into(),
                    known: known.join(", "),
                })
            }
        }
    }

    /// Names of the frames, in the order of the surface.
    pub fn frame_names(&self) -> impl Iterator<Item = &str> {
        self.parts.frames.iter().map(|f| f.name.as_str())
    }

    /// Moves a clamped or welded end: its two nodes and its angle get the velocities of a rigid motion with angular
    /// velocity `omega_W` (rad/s) and velocity `v_W` (m/s) of the end's node, held until changed.
    ///
    /// # Errors
    /// [`RodError::RingHasNoEnds`], or [`RodError::Parameter`] at an end without a stub.
    pub fn drive_clamp(
        &self,
        end: End,
        state: &BodyState,
        omega_W: &Vector3<f64>,
        v_W: &Vector3<f64>,
        control: &mut Control,
    ) -> Result<(), RodError> {
        let parts = &self.parts;
        if parts.is_ring() {
            return Err(RodError::RingHasNoEnds {
                what: "a clamp to be moved".into(),
            });
        }
        let (stub, node, edge) = match end {
            End::Start => (0, 1, 0),
            End::Finish => (parts.n_nodes - 1, parts.n_nodes - 2, parts.n_edges - 1),
        };
        if !parts.stubs[end as usize] {
            return Err(crate::section::parameter(
                format!("stubs at the {end:?} end"),
                0.0,
                "is one short: build the rod with this end clamped",
            ));
        }
        let at = |i: usize| crate::elasticity::node(&state.q, i);
        let (a, b) = parts.nodes_of_edge(edge);
        let tangent = (at(b) - at(a)).normalize();
        control.held.resize(parts.n_dofs(), None);
        let stub_velocity = v_W + omega_W.cross(&(at(stub) - at(node)));
        for k in 0..3 {
            control.held[4 * node + k] = Some(v_W[k]);
            control.held[4 * stub + k] = Some(stub_velocity[k]);
        }
        control.held[4 * edge + 3] = Some(omega_W.dot(&tangent));
        Ok(())
    }

    /// Undeformed arc length between two edges, m, from the end of one to the beginning of the other; the shorter way
    /// round a ring. Zero for neighbours.
    ///
    /// # Panics
    /// If the rod has no such edges.
    #[must_use]
    pub fn arc_between(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (a.min(b), a.max(b));
        let between: f64 = (a + 1..b).map(|i| self.rest_length(i)).sum();
        match self.parts.closure {
            Closure::Open => between,
            Closure::Closed => {
                let all = self.total_rest_length();
                let own = self.rest_length(a) + if a == b { 0.0 } else { self.rest_length(b) };
                between.min(all - between - own).max(0.0)
            }
        }
    }

    /// Whether two edges may touch each other: only those further apart along the rod than its section is wide. Closer
    /// ones overlap by construction and are kept apart by bending stiffness.
    ///
    /// # Panics
    /// If the rod has no such edges.
    #[must_use]
    pub fn may_touch(&self, a: usize, b: usize) -> bool {
        a != b && self.arc_between(a, b) > self.exclusion_length()
    }

    /// Arc length within which a rod doesn't touch itself, m: the largest width of its section.
    #[must_use]
    pub fn exclusion_length(&self) -> f64 {
        let radius = self.parts.contact_radius;
        self.parts
            .section
            .map_or(2.0 * radius, |section| section.largest_width())
    }

    /// The longest time step that an explicit integrator takes, s.
    ///
    /// ```text
    /// stretch l √(ρA/EA)      bend (l²/2) √(ρA/EI)      twist l √(ρI_p/GJ)
    /// ```
    #[must_use]
    pub fn explicit_time_step_s(&self) -> f64 {
        let parts = &self.parts;
        let mut limit = f64::INFINITY;
        for (joint, w) in parts.joint_stiffness.iter().enumerate() {
            let v = parts.voronoi[joint];
            let node = parts.node_of_joint(joint);
            let (a, b) = parts.edges_of_joint(joint);
            let l = parts.rest_length[a].min(parts.rest_length[b]).min(v);
            let mass = parts.node_mass(node) / v;
            let spin = parts.mass[4 * b + 3] / parts.rest_length[b];
            let bend = w.bend_1.max(w.bend_2) * v;
            limit = limit
                .min(l * (mass / parts.stretch[b]).sqrt())
                .min(0.5 * l * l * (mass / bend).sqrt())
                .min(l * (spin / (w.twist * v)).sqrt());
        }
        limit
    }
}
