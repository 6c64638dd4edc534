//! A rope as a chain of rigid capsules on joints with bending and twisting springs: a baseline for the rods of `pliant-der`.
//!
//! Between two capsules are three revolute joints: two for bending, each with a spring EI/l, and one for twist, with GJ/l,
//! where l is the mean of both lengths. The chain is inextensible. It converges to an elastic rod as the capsules become
//! short. Bending is two angles where a rod has a curvature, so the models differ for bends of tens of degrees per joint. It
//! requires shorter steps than a rod: in a knot pulled at 0.8 m/s it oscillates at Δt = 1e-4 s, where a rod does not; at
//! 3e-5 s it does not either.
//!
//! Its contact surface is that of a rod: nodes are vertices with a radius, capsules are edges.
//!
//! # Source
//! Li and Chou 2025, section V, use such a chain for comparison.

mod row;
mod step;

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::{
    BodyError, BodyState, BodyStep, Control, DeformableModel, Energy, StepInput, Surface,
};

use crate::builder::{JointSpec, LinkSpec, ModelBuilder};
use crate::error::MultibodyError;
use crate::inertia::SpatialInertia;
use crate::joint::{JointKind, PassiveForces, write_floating_position};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::{Model, Root};
use crate::rigid_tree::RigidTree;
use row::Row;
use step::ChainStep;

/// The specification of a [`CapsuleChain`].
///
/// ```
/// use nalgebra::Point3;
/// use pliant_multibody::{CapsuleChain, CapsuleChainSpec, RestShape};
///
/// let spec = CapsuleChainSpec {
///     nodes: (0..11).map(|i| Point3::new(0.1 * f64::from(i), 0.0, 0.0)).collect(),
///     radius: 0.005,
///     linear_density: 0.1,
///     bending_stiffness: 1e-3,
///     twisting_stiffness: 1e-3,
///     stiffness_damping: 0.01,
///     rest: RestShape::AsBuilt,
/// };
/// let chain = CapsuleChain::new(&spec)?;
/// let mass: f64 = (0..chain.n_nodes()).map(|node| chain.node_mass(node)).sum();
/// assert!((mass - 0.1).abs() < 1e-12); // 1 m
/// assert!(CapsuleChain::new(&CapsuleChainSpec { radius: -1.0, ..spec }).is_err());
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CapsuleChainSpec {
    /// End points of the capsules, in order, world frame, m.
    pub nodes: Vec<Point3<f64>>,
    /// Radius of the capsules, m.
    pub radius: f64,
    /// Mass per unit length, kg/m.
    pub linear_density: f64,
    /// Bending stiffness EI, N·m².
    pub bending_stiffness: f64,
    /// Twisting stiffness GJ, N·m².
    pub twisting_stiffness: f64,
    /// Ratio of damping to stiffness of every spring, s.
    pub stiffness_damping: f64,
    /// Rest shape of the springs.
    pub rest: RestShape,
}

/// Rest shape of a chain: the shape with relaxed springs.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_contact_sap::DeformableModel;
/// use pliant_multibody::{CapsuleChain, CapsuleChainSpec, MultibodyError, RestShape};
///
/// // A chain that is built as a quarter of a circle of 1 m: straight at rest, its springs hold about ½ EI κ² · arc length.
/// let energy = |rest| -> Result<f64, MultibodyError> {
///     let node = |i: u32| (f64::from(i) / 20.0 * std::f64::consts::FRAC_PI_2).sin_cos();
///     let chain = CapsuleChain::new(&CapsuleChainSpec {
///         nodes: (0..21).map(node).map(|(sin, cos)| Point3::new(cos, sin, 0.0)).collect(),
///         radius: 0.005,
///         linear_density: 0.1,
///         bending_stiffness: 1e-3,
///         twisting_stiffness: 1e-3,
///         stiffness_damping: 0.0,
///         rest,
///     })?;
///     Ok(chain.spring_energy(&chain.default_state()))
/// };
/// let expected = 0.5 * 1e-3 * std::f64::consts::FRAC_PI_2;
/// assert!((energy(RestShape::Straight)? / expected - 1.0).abs() < 0.06); // 19 of 20 lengths bend
/// assert_eq!(energy(RestShape::AsBuilt)?, 0.0);
/// # Ok::<(), MultibodyError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestShape {
    /// A straight line.
    #[default]
    Straight,
    /// The initial shape.
    AsBuilt,
}

/// A chain of rigid capsules on bending and twisting springs, as a body of the contact problem.
///
/// Between two capsules of lengths l₁ and l₂ are three revolute joints: two with a spring EI/l for bending, one with GJ/l for twist,
/// l = (l₁ + l₂)/2. The chain is inextensible; its nodes are the ends of the capsules.
///
/// # Source
/// Li and Chou 2025, section V.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_contact_sap::DeformableModel;
/// use pliant_multibody::{CapsuleChain, CapsuleChainSpec, RestShape};
///
/// // Two capsules of 0.1 m at an angle θ = 0.2 rad, straight at rest: the springs hold ½ (EI/l) θ².
/// let theta = 0.2_f64;
/// let chain = CapsuleChain::new(&CapsuleChainSpec {
///     nodes: vec![Point3::origin(), Point3::new(0.1, 0.0, 0.0), Point3::new(0.1 + 0.1 * theta.cos(), 0.1 * theta.sin(), 0.0)],
///     radius: 0.005,
///     linear_density: 0.1,
///     bending_stiffness: 1e-3,
///     twisting_stiffness: 1e-3,
///     stiffness_damping: 0.0,
///     rest: RestShape::Straight,
/// })?;
/// let energy = chain.spring_energy(&chain.default_state());
/// assert!((energy - 0.5 * 1e-3 / 0.1 * theta * theta).abs() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CapsuleChain {
    tree: RigidTree,
    row: Arc<Row>,
}

impl CapsuleChain {
    /// Builds the chain at rest.
    ///
    /// # Errors
    /// [`MultibodyError::Value`] for fewer than two nodes, coincident nodes, a bend of a right angle or more, and values out of
    /// range.
    pub fn new(spec: &CapsuleChainSpec) -> Result<Self, MultibodyError> {
        check(spec)?;
        let edges: Vec<Vector3<f64>> = spec.nodes.windows(2).map(|n| n[1] - n[0]).collect();
        let lengths: Vec<f64> = edges.iter().map(Vector3::norm).collect();
        let mut builder = ModelBuilder::new("chain");
        builder.root(Root::Floating);
        let root =
            UnitQuaternion::rotation_between(&Vector3::z(), &edges[0]).unwrap_or_else(|| {
                UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI)
            });
        let mut orientation = root;
        let mut angles = Vec::new();
        for (i, (edge, length)) in edges.iter().zip(&lengths).enumerate() {
            builder.link(LinkSpec::new(
                format!("capsule_{i}"),
                capsule(spec, *length),
            ));
            if i == 0 {
                continue;
            }
            let d = orientation.inverse() * edge / *length;
            let bend = bend_angles(&d).ok_or_else(|| {
                value(
                    format!("node {i}"),
                    "position",
                    format!("{:?}", spec.nodes[i].coords.as_slice()),
                    "bends the chain by a right angle or more: use shorter capsules",
                )
            })?;
            let rotation = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), bend[0])
                * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), bend[1]);
            orientation *= rotation;
            angles.extend([bend[0], bend[1], 0.0]);
            add_joints(
                &mut builder,
                spec,
                i,
                0.5 * (lengths[i - 1] + length),
                lengths[i - 1],
                bend,
            );
        }
        let model = Arc::new(builder.build()?);
        let links = (0..edges.len())
            .map(|i| model.link_named(&format!("capsule_{i}")))
            .collect::<Result<Vec<_>, _>>()?;
        let mut q = model.neutral_positions();
        let start = Isometry3::from_parts(spec.nodes[0].into(), root);
        write_floating_position(&start, &mut q[..7]);
        for joint in model.joints().iter().filter(|joint| joint.kind.n_v() == 1) {
            // Names end in their index in the list of angles.
            let index = joint
                .name
                .rsplit('_')
                .next()
                .and_then(|n| n.parse::<usize>().ok());
            if let Some(index) = index {
                q[joint.positions()].fill(angles[index]);
            }
        }
        let v = vec![0.0; model.n_v()];
        Ok(Self {
            tree: RigidTree::new(model).starting_at(&q, &v),
            row: Arc::new(Row {
                links,
                lengths,
                radius: spec.radius,
                linear_density: spec.linear_density,
            }),
        })
    }

    /// Number of nodes: one more than capsules.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.row.lengths.len() + 1
    }

    /// The kinematic tree.
    #[must_use]
    pub fn model(&self) -> &Arc<Model> {
        self.tree.model()
    }

    /// Volume π r² Σ l of the cylinders between nodes, m³.
    #[must_use]
    pub fn volume(&self) -> f64 {
        std::f64::consts::PI * self.row.radius.powi(2) * self.row.lengths.iter().sum::<f64>()
    }

    /// Mass of a node, kg: half of each adjacent capsule.
    #[must_use]
    pub fn node_mass(&self, node: usize) -> f64 {
        let l = &self.row.lengths;
        let before = node.checked_sub(1).map_or(0.0, |i| l[i]);
        let after = l.get(node).copied().unwrap_or(0.0);
        0.5 * self.row.linear_density * (before + after)
    }

    /// Positions of all nodes, world frame, m; `out` is overwritten.
    pub fn positions(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        let mut surface = Surface::default();
        self.tree.surface(state, &mut surface);
        out.clear();
        self.row.write_nodes(&surface.frames, out);
    }

    /// Velocities of all nodes, world axes, m/s; `out` is overwritten.
    pub fn velocities(&self, state: &BodyState, out: &mut Vec<Vector3<f64>>) {
        let model = &**self.tree.model();
        let mut positions = PositionKinematics::new(model);
        positions.update(model, &state.q);
        let mut velocities = VelocityKinematics::new(model);
        velocities.update(model, &positions, &state.v);
        out.clear();
        out.extend((0..self.n_nodes()).map(|node| {
            let (link, along) = self.row.node_on_link(node);
            let p_WQ = positions.point(model, link, &(Vector3::z() * along));
            velocities.twist_at(model, &positions, link, &p_WQ).linear
        }));
    }

    /// Potential energy of the bending and twisting springs, J.
    #[must_use]
    pub fn spring_energy(&self, state: &BodyState) -> f64 {
        self.tree.model().spring_energy(&state.q)
    }
}

impl DeformableModel for CapsuleChain {
    fn default_state(&self) -> BodyState {
        self.tree.default_state()
    }

    fn default_control(&self) -> Control {
        self.tree.default_control()
    }

    fn new_step(&self) -> Box<dyn BodyStep> {
        Box::new(ChainStep::new(&self.tree, Arc::clone(&self.row)))
    }

    fn check_state(&self, state: &BodyState, control: &Control) -> Result<(), BodyError> {
        let input = StepInput::new(1e-3, Vector3::zeros(), control);
        self.new_step().begin(state, &input)?;
        self.tree.check_state(state, &Control::default())
    }

    /// The frames of all links, nodes as vertices, capsules as edges.
    fn surface(&self, state: &BodyState, out: &mut Surface) {
        self.tree.surface(state, out);
        self.row.complete(out);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        self.tree.energy(state, gravity)
    }
}

/// Angles (a, b) of the rotation that takes z to the unit vector `d` = Rx(a) Ry(b) z = (sin b, −sin a cos b, cos a cos b);
/// `None` beyond a right angle.
fn bend_angles(d: &Vector3<f64>) -> Option<[f64; 2]> {
    (d.z > 0.0).then(|| [(-d.y).atan2(d.z), d.x.clamp(-1.0, 1.0).asin()])
}

fn capsule(spec: &CapsuleChainSpec, length: f64) -> SpatialInertia {
    let solid = SpatialInertia::solid_cylinder(spec.linear_density * length, spec.radius, length);
    SpatialInertia::new(solid.mass, Vector3::z() * (0.5 * length), solid.rotational)
}

/// Adds the three revolute joints from capsule `i` − 1 to capsule `i`, with massless links in between.
fn add_joints(
    builder: &mut ModelBuilder,
    spec: &CapsuleChainSpec,
    i: usize,
    spacing: f64,
    length_before: f64,
    bend: [f64; 2],
) {
    let rest = match spec.rest {
        RestShape::Straight => [0.0; 3],
        RestShape::AsBuilt => [bend[0], bend[1], 0.0],
    };
    let (ei, gj) = (spec.bending_stiffness, spec.twisting_stiffness);
    let hinges = [(Vector3::x(), ei), (Vector3::y(), ei), (Vector3::z(), gj)];
    let mut parent = format!("capsule_{}", i - 1);
    for (k, (axis, stiffness)) in hinges.into_iter().enumerate() {
        let child = match k {
            2 => format!("capsule_{i}"),
            _ => format!("hinge_{i}_{k}"),
        };
        if k < 2 {
            builder.link(LinkSpec::new(&*child, SpatialInertia::zero()));
        }
        let name = format!("bend_{i}_{}", 3 * (i - 1) + k);
        let mut joint = JointSpec::new(name, JointKind::Continuous, &*parent, &*child).about(axis);
        if k == 0 {
            joint.X_PJ = Isometry3::translation(0.0, 0.0, length_before);
        }
        let spring = stiffness / spacing;
        joint.passive = PassiveForces {
            damping: spec.stiffness_damping * spring,
            spring_stiffness: spring,
            spring_rest: rest[k],
            ..PassiveForces::default()
        };
        builder.joint(joint);
        parent = child;
    }
}

fn value(subject: String, quantity: &str, value: String, allowed: &str) -> MultibodyError {
    MultibodyError::Value {
        subject: format!("capsule chain, {subject}"),
        quantity: quantity.into(),
        value,
        allowed: allowed.into(),
    }
}

fn check(spec: &CapsuleChainSpec) -> Result<(), MultibodyError> {
    let n = spec.nodes.len();
    if n < 2 {
        return Err(value(
            "nodes".into(),
            "number",
            n.to_string(),
            "must be 2 or more",
        ));
    }
    for (name, x, least) in [
        ("radius (m)", spec.radius, f64::MIN_POSITIVE),
        (
            "linear density (kg/m)",
            spec.linear_density,
            f64::MIN_POSITIVE,
        ),
        ("bending stiffness (N·m²)", spec.bending_stiffness, 0.0),
        ("twisting stiffness (N·m²)", spec.twisting_stiffness, 0.0),
        ("stiffness damping (s)", spec.stiffness_damping, 0.0),
    ] {
        if !(x >= least && x.is_finite()) {
            let allowed = match least > 0.0 {
                true => "must be positive and finite",
                false => "must be finite and not negative",
            };
            return Err(value("specification".into(), name, x.to_string(), allowed));
        }
    }
    for (i, node) in spec.nodes.iter().enumerate() {
        if !node.coords.iter().all(|x| x.is_finite()) {
            let found = format!("{:?}", node.coords.as_slice());
            return Err(value(
                format!("node {i}"),
                "position",
                found,
                "must be finite",
            ));
        }
    }
    let apart = |i: usize| (spec.nodes[i + 1] - spec.nodes[i]).norm();
    let total: f64 = (0..n - 1).map(apart).sum();
    match (0..n - 1).find(|&i| apart(i) <= 1e-9 * total) {
        Some(i) => {
            let subject = format!("nodes {i} and {}", i + 1);
            Err(value(
                subject,
                "distance",
                apart(i).to_string(),
                "m: the nodes must not coincide; remove one",
            ))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
