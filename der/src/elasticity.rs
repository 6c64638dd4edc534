//! Elastic energy of a whole rod, its gradient and its Hessian.
//!
//! Derivatives are computed edge by edge and joint by joint, then transformed to the nodes by e = x₊ − x₋.

mod node_hessian;

use nalgebra::Vector3;

use crate::frames::{ReferenceFrame, material_directors};
use crate::impossible::Impossible;
use crate::natural_shape::JointStrain;
use crate::rod_parts::RodParts;
use crate::strain::{
    EdgeBlock, EdgeKinematics, JointBlock, JointStrains, StrainGradients, geometric_blocks,
    material_blocks, moments,
};

/// Elastic energies, J, of [`Strains`](crate::Strains) relative to rest lengths and natural shape; l̄ is a rest length, v̄ the Voronoi
/// length of a joint, the mean of its two edges' rest lengths.
///
/// Source: Li and Chou (2025), eqs. (3), (5) and (4), with the torsion constant J of the section in (4).
///
/// ```
/// use nalgebra::Point3;
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
///
/// // A rubber band of EA = 100 N and 1 m, pulled to 1.1 m: ½ EA ε² L.
/// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 10);
/// # let section = Section::Rectangle { extent_1: 0.01, extent_2: 0.01 };
/// # let rod = RodBuilder::new(line).section(section, Material::isotropic(1e6, 0.5, 1000.0)?).build()?;
/// let mut state = rod.default_state();
/// for node in 0..rod.n_nodes() {
///     state.q[rod.node_dofs(node)?.start] *= 1.1;
/// }
/// let energy = rod.elastic_energy(&state)?;
/// assert!((energy.stretch - 0.5 * 100.0 * 0.01).abs() < 1e-9);
/// assert!(energy.bend + energy.twist < 1e-12);
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElasticEnergy {
    /// ½ Σ EA (l/l̄ − 1)² l̄ over edges.
    pub stretch: f64,
    /// ½ Σ [EI₁ (k₁ − k̄₁)² + EI₂ (k₂ − k̄₂)²]/v̄ over joints.
    pub bend: f64,
    /// ½ Σ GJ (τ − τ̄)²/v̄ over joints.
    pub twist: f64,
}

impl ElasticEnergy {
    /// The sum, J.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.stretch + self.bend + self.twist
    }
}

/// The highest derivative of the energy to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DerivativeOrder {
    /// Strains and energy only.
    Energy,
    Gradient,
    Hessian,
}

/// Reference frames and reference twists of the last accepted state, and the natural strains of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reference {
    pub(crate) frames: Vec<ReferenceFrame>,
    pub(crate) betas: Vec<f64>,
    pub(crate) natural: Vec<JointStrain>,
}

impl Reference {
    /// Reads the frames of `history` and the natural strains at `time_s`.
    pub(crate) fn read(&mut self, rod: &RodParts, history: &[f64], time_s: f64) {
        let layout = rod.history();
        self.frames.clear();
        let frames = (0..rod.n_edges).map(|i| layout.frame(history, i));
        self.frames.extend(frames);
        self.betas.clear();
        self.betas.extend_from_slice(layout.twists(history));
        rod.natural.at(time_s, &mut self.natural);
    }

    /// Transports the frames to `q`, where those of an accepted state are already; `edges` become the kinematics there.
    pub(crate) fn move_to(
        &mut self,
        rod: &RodParts,
        q: &[f64],
        edges: &mut Vec<EdgeKinematics>,
    ) -> Result<(), Impossible> {
        edges.clear();
        let mut moved = false;
        for i in 0..rod.n_edges {
            let (first, second) = rod.nodes_of_edge(i);
            let e = node(q, second) - node(q, first);
            let angle = q[4 * i + 3];
            let frame = &mut self.frames[i];
            let (length, tangent) = edge_direction(rod.rest_length[i], frame, &e, i)?;
            if tangent != frame.tangent {
                *frame = frame.transported_to(&tangent);
                moved = true;
            }
            edges.push(EdgeKinematics::at_reference(frame, length, angle));
        }
        if !moved {
            return Ok(());
        }
        for (joint, beta) in self.betas.iter_mut().enumerate() {
            let (a, b) = rod.edges_of_joint(joint);
            let strains = JointStrains::new(&edges[a], &edges[b], *beta)
                .ok_or(Impossible::Folded { joint })?;
            *beta = strains.beta;
        }
        Ok(())
    }
}

/// Kinematics and derivatives of the energy at one position; a workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elasticity {
    pub(crate) edges: Vec<EdgeKinematics>,
    pub(crate) joints: Vec<JointStrains>,
    /// dE/de and dE/dγ of each edge.
    gradients: Vec<(Vector3<f64>, f64)>,
    edge_blocks: Vec<EdgeBlock>,
    joint_blocks: Vec<JointBlock>,
}

/// [`Elasticity::evaluate`], dispatched to the widest SIMD instructions of the processor.
struct Evaluation<'a> {
    elasticity: &'a mut Elasticity,
    rod: &'a RodParts,
    reference: &'a Reference,
    q: &'a [f64],
    order: DerivativeOrder,
}

impl pulp::WithSimd for Evaluation<'_> {
    type Output = Result<ElasticEnergy, Impossible>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
        let Self {
            elasticity,
            rod,
            reference,
            q,
            order,
        } = self;
        match order {
            DerivativeOrder::Energy => {
                elasticity.evaluate_here(rod, reference, q, DerivativeOrder::Energy)
            }
            DerivativeOrder::Gradient => {
                elasticity.evaluate_here(rod, reference, q, DerivativeOrder::Gradient)
            }
            DerivativeOrder::Hessian => {
                elasticity.evaluate_here(rod, reference, q, DerivativeOrder::Hessian)
            }
        }
    }
}

/// Least 1 + t0·t of an edge: it may turn by up to 143 degrees from its reference frame in one step.
const LEAST_CHI: f64 = 0.2;
/// An edge shorter than this fraction of its rest length has collapsed.
const LEAST_LENGTH: f64 = 1e-3;

impl Elasticity {
    /// Strains and energy at `q`, with derivatives up to `order`.
    pub(crate) fn evaluate(
        &mut self,
        rod: &RodParts,
        reference: &Reference,
        q: &[f64],
        order: DerivativeOrder,
    ) -> Result<ElasticEnergy, Impossible> {
        // The bits do not depend on the width of the registers.
        pulp::Arch::new().dispatch(Evaluation {
            elasticity: self,
            rod,
            reference,
            q,
            order,
        })
    }

    #[inline(always)]
    fn evaluate_here(
        &mut self,
        rod: &RodParts,
        reference: &Reference,
        q: &[f64],
        order: DerivativeOrder,
    ) -> Result<ElasticEnergy, Impossible> {
        let mut energy = ElasticEnergy::default();
        self.edges.clear();
        self.gradients.clear();
        self.edge_blocks.clear();
        for i in 0..rod.n_edges {
            let (first, second) = rod.nodes_of_edge(i);
            let kinematics = edge_kinematics(
                rod.rest_length[i],
                &reference.frames[i],
                &(node(q, second) - node(q, first)),
                q[4 * i + 3],
                i,
            )?;
            let (rest, stiffness) = (rod.rest_length[i], rod.stretch[i]);
            let strain = kinematics.length / rest - 1.0;
            energy.stretch += 0.5 * stiffness * strain * strain * rest;
            if order >= DerivativeOrder::Gradient {
                let tension = stiffness * strain;
                // Like all derivatives here, with respect to ε = de/|e|.
                let along = kinematics.tangent * (tension * kinematics.length);
                self.gradients.push((along, 0.0));
                if order == DerivativeOrder::Hessian {
                    self.edge_blocks.push(stretch_block(
                        &kinematics,
                        tension * kinematics.length,
                        stiffness * kinematics.length * kinematics.length / rest,
                    ));
                }
            }
            self.edges.push(kinematics);
        }
        self.joints.clear();
        self.joint_blocks.clear();
        for joint in 0..rod.n_joints {
            let (i_a, i_b) = rod.edges_of_joint(joint);
            let (a, b) = (&self.edges[i_a], &self.edges[i_b]);
            let strains = JointStrains::new(a, b, reference.betas[joint])
                .ok_or(Impossible::Folded { joint })?;
            let (w, natural) = (&rod.joint_stiffness[joint], &reference.natural[joint]);
            let (bend, twist) = strains.energy(w, natural);
            energy.bend += bend;
            energy.twist += twist;
            self.joints.push(strains);
            if order == DerivativeOrder::Energy {
                continue;
            }
            let c = moments(&strains, w, natural);
            let strain_gradients = StrainGradients::new(&strains, a, b);
            let gradient = strain_gradients.weighted(&c);
            let of_a = &mut self.gradients[i_a];
            of_a.0 += gradient.e;
            of_a.1 += gradient.g_a;
            let of_b = &mut self.gradients[i_b];
            of_b.0 += gradient.f;
            of_b.1 += gradient.g_b;
            if order == DerivativeOrder::Hessian {
                let mut block_a = self.edge_blocks[i_a];
                let mut block_b = self.edge_blocks[i_b];
                let mut between = JointBlock::default();
                material_blocks(
                    w,
                    &strain_gradients,
                    &mut block_a,
                    &mut block_b,
                    &mut between,
                );
                geometric_blocks(&strains, &c, a, b, &mut block_a, &mut block_b, &mut between);
                self.edge_blocks[i_a] = block_a;
                self.edge_blocks[i_b] = block_b;
                self.joint_blocks.push(between);
            }
        }
        Ok(energy)
    }

    /// Replaces the Hessian by its material part, Σ w ds dsᵀ + (EA/l̄) t tᵀ, at the position last evaluated: positive
    /// semidefinite, and zero on rigid motions.
    pub(crate) fn keep_material_part(&mut self, rod: &RodParts) {
        self.edge_blocks.clear();
        self.joint_blocks.clear();
        for (i, edge) in self.edges.iter().enumerate() {
            let along = rod.stretch[i] * edge.length * edge.length / rod.rest_length[i];
            self.edge_blocks.push(EdgeBlock {
                xx: edge.tangent * edge.tangent.transpose() * along,
                ..EdgeBlock::default()
            });
        }
        for (joint, strains) in self.joints.iter().enumerate() {
            let (i_a, i_b) = rod.edges_of_joint(joint);
            let (a, b) = (&self.edges[i_a], &self.edges[i_b]);
            let gradients = StrainGradients::new(strains, a, b);
            let (mut block_a, mut block_b) = (self.edge_blocks[i_a], self.edge_blocks[i_b]);
            let mut between = JointBlock::default();
            material_blocks(
                &rod.joint_stiffness[joint],
                &gradients,
                &mut block_a,
                &mut block_b,
                &mut between,
            );
            self.edge_blocks[i_a] = block_a;
            self.edge_blocks[i_b] = block_b;
            self.joint_blocks.push(between);
        }
    }

    /// out += scale · dE/dq.
    pub(crate) fn add_gradient(&self, rod: &RodParts, scale: f64, out: &mut [f64]) {
        for (i, (edge, (along, angle))) in self.edges.iter().zip(&self.gradients).enumerate() {
            let force = along * (scale / edge.length);
            let (first, second) = rod.nodes_of_edge(i);
            for k in 0..3 {
                out[4 * first + k] -= force[k];
                out[4 * second + k] += force[k];
            }
            out[4 * i + 3] += scale * angle;
        }
    }
}

/// (EA/l̄) t tᵀ + (EA ε/l)(I − t tᵀ), both with l².
#[inline(always)]
fn stretch_block(edge: &EdgeKinematics, tension_length: f64, along: f64) -> EdgeBlock {
    let mut xx = edge.tangent * (edge.tangent * (along - tension_length)).transpose();
    for i in 0..3 {
        xx[(i, i)] += tension_length;
    }
    EdgeBlock {
        xx,
        ..EdgeBlock::default()
    }
}

/// Length and tangent of edge `i` with vector `e`, unless it has collapsed or turned too far from `reference`.
#[inline(always)]
pub(crate) fn edge_direction(
    rest_length: f64,
    reference: &ReferenceFrame,
    e: &Vector3<f64>,
    i: usize,
) -> Result<(f64, Vector3<f64>), Impossible> {
    let length = e.norm();
    if length.is_nan() || length <= LEAST_LENGTH * rest_length {
        return Err(Impossible::Collapsed { edge: i });
    }
    let tangent = e / length;
    let chi = 1.0 + reference.tangent.dot(&tangent);
    if chi.is_nan() || chi <= LEAST_CHI {
        return Err(Impossible::Turned { edge: i });
    }
    Ok((length, tangent))
}

/// Length, tangent and frames of edge `i` with vector `e` and material angle `angle`.
#[inline(always)]
pub(crate) fn edge_kinematics(
    rest_length: f64,
    reference: &ReferenceFrame,
    e: &Vector3<f64>,
    angle: f64,
    i: usize,
) -> Result<EdgeKinematics, Impossible> {
    let (length, tangent) = edge_direction(rest_length, reference, e, i)?;
    let ReferenceFrame {
        tangent: t_0,
        director: d_0,
    } = reference;
    let chi = 1.0 + t_0.dot(&tangent);
    let w = t_0.cross(&tangent);
    let z = w / chi;
    let director = d_0 * (chi - 1.0) + w.cross(d_0) + z * w.dot(d_0);
    let (m_1, m_2) = material_directors(&tangent, &director, angle);
    Ok(EdgeKinematics {
        length,
        tangent,
        director,
        m_1,
        m_2,
        z,
        s: tangent + (tangent + t_0) / chi,
        angle,
    })
}

/// Position of a node.
#[inline(always)]
pub(crate) fn node(q: &[f64], i: usize) -> Vector3<f64> {
    Vector3::new(q[4 * i], q[4 * i + 1], q[4 * i + 2])
}
