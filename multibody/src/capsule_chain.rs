//! A rope as rigid-body programs have it: capsules in a row, on joints with springs that bend and twist.
//!
//! Between two capsules are three hinges: two that bend, each with a spring EI/l, and one that twists, with GJ/l, l the mean of
//! both lengths. Nothing stretches. It tends to an elastic rod of natural shape as capsules get short, but springs get stiff as l falls
//! and bending is two angles where a rod has a curvature: for turns of tens of degrees a joint they are not the same. It is here to
//! compare with (Li and Chou 2025, section V); `pliant-der` has rods. It needs shorter steps than a rod: in a knot
//! pulled at 0.8 m/s it shakes at 1e-4 s, where a rod does not, and not at 3e-5 s.
//!
//! To contact it looks like a rod: its nodes are vertices with the radius about them, its capsules are edges.

mod step;

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use pliant_contact_sap::{BodyState, BodyStep, Control, DeformableModel, Energy, Surface};

use crate::builder::{JointSpec, LinkSpec, ModelBuilder};
use crate::error::MultibodyError;
use crate::inertia::SpatialInertia;
use crate::joint::{JointKind, PassiveForces, write_floating_position};
use crate::kinematics::{PositionKinematics, VelocityKinematics};
use crate::model::{LinkIdx, Model, Root};
use crate::rigid_tree::RigidTree;
use step::ChainStep;

/// What a [`CapsuleChain`] is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct CapsuleChainSpec {
    /// Where the capsules meet, ends included, m, world frame.
    pub nodes: Vec<Point3<f64>>,
    /// m.
    pub radius: f64,
    /// kg/m.
    pub linear_density: f64,
    /// EI, N·m².
    pub bending_stiffness: f64,
    /// GJ, N·m².
    pub twisting_stiffness: f64,
    /// Damping over stiffness of every spring, s.
    pub stiffness_damping: f64,
    /// Where springs are at rest.
    pub rest: RestShape,
}

/// Where the springs of a chain are at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestShape {
    /// In a straight line.
    #[default]
    Straight,
    /// As the nodes are given.
    AsBuilt,
}

/// A chain of rigid capsules.
#[derive(Clone, Debug)]
pub struct CapsuleChain {
    tree: RigidTree,
    row: Arc<Row>,
}

/// The capsules, and which links they are.
#[derive(Debug)]
struct Row {
    links: Vec<LinkIdx>,
    lengths: Vec<f64>,
    radius: f64,
    linear_density: f64,
}

impl CapsuleChain {
    /// Builds it at rest.
    ///
    /// # Errors
    /// [`MultibodyError::Value`] for fewer than two nodes, nodes that coincide or fold back on their line, and numbers that are
    /// not finite or not positive where they must be.
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
            let bend = bends(&d).ok_or_else(|| {
                value(
                    format!("node {i}"),
                    "position",
                    format!("{:?}", spec.nodes[i].coords.as_slice()),
                    "folds the chain by more than a right angle: use shorter capsules",
                )
            })?;
            let turned = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), bend[0])
                * UnitQuaternion::from_axis_angle(&Vector3::y_axis(), bend[1]);
            orientation *= turned;
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
            // Names end in their place in the list of angles.
            let place = joint
                .name
                .rsplit('_')
                .next()
                .and_then(|n| n.parse::<usize>().ok());
            if let Some(place) = place {
                q[joint.positions()].fill(angles[place]);
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

    /// Number of nodes, one more than capsules.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.row.lengths.len() + 1
    }

    /// The tree that it is.
    #[must_use]
    pub fn model(&self) -> &Arc<Model> {
        self.tree.model()
    }

    /// m³, of its cylinders.
    #[must_use]
    pub fn volume(&self) -> f64 {
        std::f64::consts::PI * self.row.radius.powi(2) * self.row.lengths.iter().sum::<f64>()
    }

    /// Half of the capsules on either side, kg.
    #[must_use]
    pub fn node_mass(&self, node: usize) -> f64 {
        let l = &self.row.lengths;
        let before = node.checked_sub(1).map_or(0.0, |i| l[i]);
        let after = l.get(node).copied().unwrap_or(0.0);
        0.5 * self.row.linear_density * (before + after)
    }

    /// Places of all nodes, m, world frame; `out` is overwritten.
    pub fn positions(&self, state: &BodyState, out: &mut Vec<Point3<f64>>) {
        let mut surface = Surface::default();
        self.tree.surface(state, &mut surface);
        out.clear();
        self.row.write_nodes(&surface.frames, out);
    }

    /// Velocities of all nodes, m/s, world axes; `out` is overwritten.
    pub fn velocities(&self, state: &BodyState, out: &mut Vec<Vector3<f64>>) {
        let model = &**self.tree.model();
        let mut positions = PositionKinematics::new(model);
        positions.update(model, &state.q);
        let mut velocities = VelocityKinematics::new(model);
        velocities.update(model, &positions, &state.v);
        out.clear();
        out.extend((0..self.n_nodes()).map(|node| {
            let (link, along) = self.row.place_of_node(node);
            let p_WQ = positions.point(model, link, &(Vector3::z() * along));
            velocities.twist_at(model, &positions, link, &p_WQ).linear
        }));
    }

    /// Energy in its springs, J.
    #[must_use]
    pub fn spring_energy(&self, state: &BodyState) -> f64 {
        self.tree.model().spring_energy(&state.q)
    }
}

impl Row {
    /// The link that carries a node, and how far along it the node is, m.
    fn place_of_node(&self, node: usize) -> (LinkIdx, f64) {
        match self.links.get(node) {
            Some(link) => (*link, 0.0),
            None => (self.links[node - 1], self.lengths[node - 1]),
        }
    }

    fn write_nodes(&self, frames: &[Isometry3<f64>], out: &mut Vec<Point3<f64>>) {
        out.extend((0..=self.lengths.len()).map(|node| {
            let (link, along) = self.place_of_node(node);
            frames[link.0] * Point3::new(0.0, 0.0, along)
        }));
    }

    /// Adds vertices and edges to a surface that has the frames of all links.
    fn complete(&self, surface: &mut Surface) {
        let Surface {
            frames, vertices, ..
        } = surface;
        self.write_nodes(frames, vertices);
        surface.radii.resize(surface.vertices.len(), self.radius);
        surface
            .edges
            .extend((0..self.lengths.len() as u32).map(|i| [i, i + 1]));
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

    /// The frames of all links, nodes as vertices, capsules as edges.
    fn surface(&self, state: &BodyState, out: &mut Surface) {
        self.tree.surface(state, out);
        self.row.complete(out);
    }

    fn energy(&self, state: &BodyState, gravity: &Vector3<f64>) -> Energy {
        self.tree.energy(state, gravity)
    }
}

/// Angles of the two bends that lead from z to the unit vector `d`, Rx(a) Ry(b) z = (sin b, −sin a cos b, cos a cos b); none
/// beyond a right angle.
fn bends(d: &Vector3<f64>) -> Option<[f64; 2]> {
    (d.z > 0.0).then(|| [(-d.y).atan2(d.z), d.x.clamp(-1.0, 1.0).asin()])
}

fn capsule(spec: &CapsuleChainSpec, length: f64) -> SpatialInertia {
    let solid = SpatialInertia::solid_cylinder(spec.linear_density * length, spec.radius, length);
    SpatialInertia::new(solid.mass, Vector3::z() * (0.5 * length), solid.rotational)
}

/// The three hinges from capsule `i` − 1 to capsule `i`, with massless links in between.
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
        subject: format!("chain of capsules, {subject}"),
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
            return Err(value("numbers".into(), name, x.to_string(), allowed));
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
                "m: must not coincide",
            ))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
