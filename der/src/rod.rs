//! The rod: immutable once built.
//!
//! Nodes, edges and joints are numbered along the rod. A clamped or welded end adds a *clamp edge* before the first (after
//! the last) node of the centreline. It prescribes the tangent at the node itself; holding the first edge instead would
//! prescribe it half an edge further in. The outer node of a clamp edge is its *clamp node*. Public node and edge numbers
//! are those of the centreline, without clamp edges.

mod self_contact;

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{Matrix3, Point3, Rotation3, Vector3};
use pliant_contact_sap::{BodyState, Control};

use crate::centreline::Closure;
use crate::elasticity::{DerivativeOrder, ElasticEnergy, Elasticity, Reference};
use crate::error::RodError;
use crate::rod_parts::RodParts;
use crate::section::Section;
use crate::strain::EdgeKinematics;

/// Which end of an open rod.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
/// use pliant_der::{End, EndCondition};
///
/// // A rope that is clamped at its finish, which a control pulls away at 0.1 m/s.
/// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 10);
/// # let (section, rubber) = (Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?);
/// let clamped = EndCondition::Clamped { tangent: None };
/// let rod = RodBuilder::new(line).section(section, rubber).end(End::Finish, clamped).build()?;
/// let (state, mut control) = (rod.default_state(), rod.default_control());
/// let (omega_W, v_W) = (Vector3::zeros(), Vector3::new(0.1, 0.0, 0.0));
/// rod.set_clamp_velocity(End::Finish, &state, &omega_W, &v_W, &mut control)?;
/// assert_eq!(control.held[rod.node_dofs(10)?.start], Some(0.1));
/// // The start is free and cannot be moved so.
/// assert!(rod.set_clamp_velocity(End::Start, &state, &omega_W, &v_W, &mut control).is_err());
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At the first node.
    Start,
    /// At the last node.
    Finish,
}

/// A discrete elastic rod, immutable; a clone shares its memory. Built by [`RodBuilder`](crate::RodBuilder).
///
/// It is a [`DeformableModel`](pliant_contact_sap::DeformableModel). Its positions are q = (x₀, γ⁰, x₁, γ¹, …): node
/// positions in the world frame (m) and material angles of the edges (rad). Its velocities are their time derivatives. The
/// history of its state has the time (s), the reference frame of each edge and the reference twist of each joint.
///
/// Numbers of nodes and edges are those of the centreline, from 0; nodes and edges that clamps add are not counted.
///
/// Sources: Bergou et al. (2010), "Discrete viscous threads"; Li and Chou (2025), section III-A, q in eq. (2).
///
/// ```
/// use nalgebra::Point3;
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
///
/// // 1 m of rubber in 10 edges: three numbers a node and one an edge.
/// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 10);
/// # let section = Section::Rectangle { extent_1: 0.01, extent_2: 0.01 };
/// # let rod = RodBuilder::new(line).section(section, Material::isotropic(1e6, 0.5, 1000.0)?).build()?;
/// assert_eq!((rod.n_nodes(), rod.n_edges(), rod.n_dofs()), (11, 10, 43));
/// assert!((rod.total_mass() - 0.1).abs() < 1e-12); // ρAL
/// let state = rod.default_state();
/// assert_eq!(rod.position(&state, 10), Point3::new(1.0, 0.0, 0.0));
/// assert!(rod.strains(&state)?.stretch.iter().all(|e| e.abs() < 1e-12));
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rod {
    pub(crate) parts: Arc<RodParts>,
}

/// Strains of a rod at one state, from [`Rod::strains`]: what the energies of [`ElasticEnergy`] are quadratic in.
///
/// Source: Li and Chou (2025), eqs. (3) to (5).
///
/// ```
/// use nalgebra::Point3;
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
///
/// // A square of wire: every joint turns by 90°, 2 tan(φ/2) = 2.
/// # let line = Centreline::circle(1.0, 4);
/// # let rod = RodBuilder::new(line).section(Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?).build()?;
/// let strains = rod.strains(&rod.default_state())?;
/// assert_eq!(strains.curvature.len(), 4);
/// assert!(strains.curvature.iter().all(|[a, b]| (a.hypot(*b) - 2.0).abs() < 1e-12));
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strains {
    /// l/l̄ − 1 of each edge of the centreline, with its rest length l̄.
    pub stretch: Vec<f64>,
    /// Curvature (k₁, k₂) of each joint, along m2 and along −m1, of norm 2 tan(φ/2) for the turning angle φ; without unit. Over the
    /// Voronoi length, half the rest length of both edges, it is a curvature in 1/m. Joints are the interior nodes of an open rod,
    /// starting at its second node, and every node of a closed one, starting at node 1.
    pub curvature: Vec<[f64; 2]>,
    /// τ of each joint, rad: rotation of the material frame about the tangent from edge to edge, full turns included.
    pub twist: Vec<f64>,
}

impl Rod {
    /// Whether the rod is open or closed.
    #[must_use]
    pub fn closure(&self) -> Closure {
        self.parts.closure
    }

    /// Number of nodes of the centreline.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.parts.n_vertices()
    }

    /// Number of edges of the centreline.
    #[must_use]
    pub fn n_edges(&self) -> usize {
        self.parts.n_segments()
    }

    /// Number of degrees of freedom, those of clamp edges and held ones included: length of q, of v and of
    /// [`Control::held`](pliant_contact_sap::Control::held). Three for each node and one for each edge.
    #[must_use]
    pub fn n_dofs(&self) -> usize {
        self.parts.n_dofs()
    }

    /// Indices in q and v of a node's position: three, in the order x, y, z.
    ///
    /// # Errors
    /// [`RodError::IndexOutOfRange`].
    pub fn node_dofs(&self, node: usize) -> Result<Range<usize>, RodError> {
        self.check("node", node, self.n_nodes())?;
        let first = 4 * (node + self.parts.first_node());
        Ok(first..first + 3)
    }

    /// Index in q and v of an edge's material angle.
    ///
    /// # Errors
    /// [`RodError::IndexOutOfRange`].
    pub fn angle_dof(&self, edge: usize) -> Result<usize, RodError> {
        self.check("edge", edge, self.n_edges())?;
        Ok(4 * (edge + self.parts.first_node()) + 3)
    }

    fn check(&self, what: &'static str, index: usize, count: usize) -> Result<(), RodError> {
        if index < count {
            Ok(())
        } else {
            Err(RodError::IndexOutOfRange { what, index, count })
        }
    }

    /// Position of a node, world frame, m.
    ///
    /// # Panics
    /// If the rod has no such node or the state is not one of this rod's.
    #[must_use]
    pub fn position(&self, state: &BodyState, node: usize) -> Point3<f64> {
        let first = 4 * (node + self.parts.first_node());
        Point3::from_slice(&state.q[first..first + 3])
    }

    /// Velocity of a node, world axes, m/s.
    ///
    /// # Panics
    /// If the rod has no such node or the state is not one of this rod's.
    #[must_use]
    pub fn velocity(&self, state: &BodyState, node: usize) -> Vector3<f64> {
        let first = 4 * (node + self.parts.first_node());
        Vector3::from_column_slice(&state.v[first..first + 3])
    }

    /// Mass of a node, kg: half the mass of each adjacent edge of the centreline.
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

    /// Rest length of the centreline, m; clamp edges are not included.
    #[must_use]
    pub fn total_rest_length(&self) -> f64 {
        (0..self.n_edges()).map(|i| self.rest_length(i)).sum()
    }

    /// Mass of the centreline, kg; clamp edges are not included.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        let parts = &self.parts;
        let nodes = parts.first_node()..parts.first_node() + parts.n_vertices();
        nodes.map(|i| parts.node_mass(i)).sum()
    }

    /// The cross-section, if the rod has one; contact geometry is derived from it.
    #[must_use]
    pub fn section(&self) -> Option<Section> {
        self.parts.section
    }

    /// Material frame of an edge as the columns m1, m2, t in world axes: it takes coordinates in the section to the world.
    ///
    /// # Errors
    /// [`RodError::IndexOutOfRange`]; [`RodError::Body`] for a state that the rod cannot be in.
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
        let elasticity = self.evaluate(state, DerivativeOrder::Energy)?.0;
        let first = self.parts.first_node();
        let edges = &elasticity.edges[first..first + self.n_edges()];
        let frame = |edge: &EdgeKinematics| {
            let columns = [edge.m_1, edge.m_2, edge.tangent];
            Rotation3::from_matrix_unchecked(Matrix3::from_columns(&columns))
        };
        Ok(edges.iter().map(frame).collect())
    }

    /// Strains at a state, joints at clamp edges included.
    ///
    /// # Errors
    /// [`RodError::Body`] for an inadmissible state.
    pub fn strains(&self, state: &BodyState) -> Result<Strains, RodError> {
        let elasticity = self.evaluate(state, DerivativeOrder::Energy)?.0;
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

    /// Elastic energies at a state, J, with the natural shape at the state's time.
    ///
    /// # Errors
    /// [`RodError::Body`] for an inadmissible state.
    pub fn elastic_energy(&self, state: &BodyState) -> Result<ElasticEnergy, RodError> {
        Ok(self.evaluate(state, DerivativeOrder::Energy)?.1)
    }

    /// dE/dq at a state, n values in the order of q, N for nodes and N·m for angles: minus the elastic forces.
    ///
    /// ```
    /// use nalgebra::Point3;
    /// use pliant_contact_sap::DeformableModel;
    /// # use pliant_der::{Centreline, Material, RodBuilder, Section};
    ///
    /// // EA = 100 N; the last of ten edges of 0.1 m is stretched by a tenth of its length: 10 N.
    /// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 10);
    /// # let section = Section::Rectangle { extent_1: 0.01, extent_2: 0.01 };
    /// # let rod = RodBuilder::new(line).section(section, Material::isotropic(1e6, 0.5, 1000.0)?).build()?;
    /// let (mut state, x) = (rod.default_state(), rod.node_dofs(10)?.start);
    /// state.q[x] += 0.01;
    /// assert!((rod.energy_gradient(&state)?[x] - 10.0).abs() < 1e-9);
    /// # Ok::<(), pliant_der::RodError>(())
    /// ```
    ///
    /// # Errors
    /// [`RodError::Body`] for an inadmissible state.
    pub fn energy_gradient(&self, state: &BodyState) -> Result<Vec<f64>, RodError> {
        let elasticity = self.evaluate(state, DerivativeOrder::Gradient)?.0;
        let mut gradient = vec![0.0; self.n_dofs()];
        elasticity.add_gradient(&self.parts, 1.0, &mut gradient);
        Ok(gradient)
    }

    /// d²E/dq² at a state, a dense symmetric n×n matrix, column-major: N/m between positions, N between a position and an angle,
    /// N·m between angles. For inspection and tests: a step assembles it in band form.
    ///
    /// # Errors
    /// [`RodError::Body`] for an inadmissible state.
    pub fn energy_hessian(&self, state: &BodyState) -> Result<Vec<f64>, RodError> {
        let elasticity = self.evaluate(state, DerivativeOrder::Hessian)?.0;
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

    /// Checks a state, then evaluates its energy with derivatives up to `order`.
    pub(crate) fn evaluate(
        &self,
        state: &BodyState,
        order: DerivativeOrder,
    ) -> Result<(Elasticity, ElasticEnergy), RodError> {
        self.parts.check_state(state)?;
        let mut reference = Reference::default();
        let time_s = self.parts.history().time_s(&state.history);
        reference.read(&self.parts, &state.history, time_s);
        let mut elasticity = Elasticity::default();
        let energy = elasticity
            .evaluate(&self.parts, &reference, &state.q, order)
            .map_err(|i| pliant_contact_sap::BodyError::Model(self.parts.describe(i)))?;
        Ok((elasticity, energy))
    }

    /// Index in the rod's surface of a named frame; constraints and welds refer to frames by it.
    ///
    /// # Errors
    /// [`RodError::NoSuchFrame`], listing the rod's frames.
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

    /// Prescribes the motion of a clamped or welded end: a rigid motion with angular velocity `omega_W` (rad/s) and
    /// velocity `v_W` (m/s) of the end's node, both in world axes. It is written to `control.held` and stays until changed. A
    /// rotation changes the clamp's tangent, on which these velocities depend: set them again for every step.
    ///
    /// # Errors
    /// [`RodError::ClosedRodHasNoEnds`], or [`RodError::Parameter`] for an end that is neither clamped nor welded.
    pub fn set_clamp_velocity(
        &self,
        end: End,
        state: &BodyState,
        omega_W: &Vector3<f64>,
        v_W: &Vector3<f64>,
        control: &mut Control,
    ) -> Result<(), RodError> {
        let parts = &self.parts;
        if parts.is_closed() {
            return Err(RodError::ClosedRodHasNoEnds {
                what: "clamp velocity".into(),
            });
        }
        let (clamp_node, node, edge) = match end {
            End::Start => (0, 1, 0),
            End::Finish => (parts.n_nodes - 1, parts.n_nodes - 2, parts.n_edges - 1),
        };
        if !parts.clamp_edges[end as usize] {
            return Err(crate::section::parameter(
                format!("number of clamp edges at the {end:?} end"),
                0.0,
                "must be 1: build the rod with this end clamped or welded",
            ));
        }
        let at = |i: usize| crate::elasticity::node(&state.q, i);
        let (a, b) = parts.nodes_of_edge(edge);
        let tangent = (at(b) - at(a)).normalize();
        control.held.resize(parts.n_dofs(), None);
        let clamp_velocity = v_W + omega_W.cross(&(at(clamp_node) - at(node)));
        for k in 0..3 {
            control.held[4 * node + k] = Some(v_W[k]);
            control.held[4 * clamp_node + k] = Some(clamp_velocity[k]);
        }
        control.held[4 * edge + 3] = Some(omega_W.dot(&tangent));
        Ok(())
    }
}
