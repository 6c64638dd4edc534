//! Builds a [`Model`]: resolves names to indices, joins welded links into bodies, and checks everything.

mod attach;
mod checks;
mod constraints;
mod regularity;
mod shape_pairs;
mod specs;
mod tree;

use nalgebra::{Isometry3, Matrix3, Vector3};

use crate::error::MultibodyError;
use crate::geometry::CollisionFilterGroup;
use crate::joint::{JointKind, frame_with_axis};
use crate::model::{
    Body, BodyIdx, CouplerLaw, GravityAction, Joint, JointIdx, Link, LinkIdx, Model, NamedFrame,
    PairContact, Root,
};
use crate::spatial::OriginInertia;
use checks::{check_bodies, check_inertia, check_joint};
use regularity::check_regular;
use shape_pairs::NamedShape;
use tree::Tree;

pub use specs::{JointSpec, LinkSpec, LoopSpec, TendonSpec};

struct CouplerSpec {
    joint: String,
    source: Option<String>,
    law: CouplerLaw,
    backlash: f64,
}

struct FrameSpec {
    name: String,
    link: String,
    X_LF: Isometry3<f64>,
}

/// Collects links and joints in any order; [`build`](Self::build) validates them and creates the model.
///
/// ```
/// use nalgebra::Vector3;
/// use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
///
/// let mut builder = ModelBuilder::new("pendulum");
/// builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// builder.link(LinkSpec::new("rod", SpatialInertia::solid_box(1.0, Vector3::new(0.02, 0.02, 1.0))));
/// builder.joint(JointSpec::new("hinge", JointKind::Revolute, "base", "rod").about(Vector3::y()));
/// let pendulum = builder.build()?;
/// assert_eq!((pendulum.n_q(), pendulum.n_v()), (1, 1));
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
pub struct ModelBuilder {
    name: String,
    root: Root,
    gravity: GravityAction,
    links: Vec<LinkSpec>,
    joints: Vec<JointSpec>,
    couplers: Vec<CouplerSpec>,
    loops: Vec<LoopSpec>,
    tendons: Vec<TendonSpec>,
    shape_pairs: Vec<([NamedShape; 2], PairContact)>,
    shapes_of_pairs_only: Vec<NamedShape>,
    frames: Vec<FrameSpec>,
    filter_groups: Vec<CollisionFilterGroup>,
}

impl ModelBuilder {
    /// An empty model, its root welded to the world origin, with gravity enabled.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            root: Root::Fixed(Isometry3::identity()),
            gravity: GravityAction::Enabled,
            links: Vec::new(),
            joints: Vec::new(),
            couplers: Vec::new(),
            loops: Vec::new(),
            tendons: Vec::new(),
            shape_pairs: Vec::new(),
            shapes_of_pairs_only: Vec::new(),
            frames: Vec::new(),
            filter_groups: Vec::new(),
        }
    }

    /// Sets how the root link is attached to the world.
    pub fn root(&mut self, root: Root) -> &mut Self {
        self.root = root;
        self
    }

    /// Sets whether gravity acts on the model.
    pub fn gravity(&mut self, gravity: GravityAction) -> &mut Self {
        self.gravity = gravity;
        self
    }

    /// Adds a link. The link that is no joint's child becomes the root.
    pub fn link(&mut self, link: LinkSpec) -> &mut Self {
        self.links.push(link);
        self
    }

    /// Adds a joint. Degrees of freedom are numbered depth first, with the children of a link in the order of these calls.
    pub fn joint(&mut self, joint: JointSpec) -> &mut Self {
        self.joints.push(joint);
        self
    }

    /// Couples two joints of one degree of freedom by their names: q_joint = p(q_source).
    pub fn coupler(
        &mut self,
        joint: impl Into<String>,
        source: impl Into<String>,
        law: CouplerLaw,
    ) -> &mut Self {
        self.couplers.push(CouplerSpec {
            joint: joint.into(),
            source: Some(source.into()),
            law,
            backlash: 0.0,
        });
        self
    }

    /// Holds a joint of one degree of freedom at `position`, rad or m, by a constraint.
    pub fn constant_position(&mut self, joint: impl Into<String>, position: f64) -> &mut Self {
        self.couplers.push(CouplerSpec {
            joint: joint.into(),
            source: None,
            law: CouplerLaw::linear(0.0, position),
            backlash: 0.0,
        });
        self
    }

    /// Closes a kinematic loop by a constraint between two links.
    pub fn loop_constraint(&mut self, spec: LoopSpec) -> &mut Self {
        self.loops.push(spec);
        self
    }

    /// Adds a fixed tendon.
    pub fn tendon(&mut self, spec: TendonSpec) -> &mut Self {
        self.tendons.push(spec);
        self
    }

    /// Adds a named frame, fixed on a link at `X_LF` in the link's frame (m).
    pub fn frame(
        &mut self,
        name: impl Into<String>,
        link: impl Into<String>,
        X_LF: Isometry3<f64>,
    ) -> &mut Self {
        self.frames.push(FrameSpec {
            name: name.into(),
            link: link.into(),
            X_LF,
        });
        self
    }

    /// Adds a collision filter group. [`Model::filtered_links`] gives the pairs of links that the groups exclude from contact.
    pub fn collision_filter_group(&mut self, group: CollisionFilterGroup) -> &mut Self {
        self.filter_groups.push(group);
        self
    }

    /// Validates the specification and creates the model.
    ///
    /// # Errors
    /// [`MultibodyError`], with the name of the link or joint, if the links are not one tree, a value is out of range, or the
    /// mass matrix is not positive definite. Unphysical inertias that permit simulation are not an error: see
    /// [`SpatialInertia::flaws`](crate::SpatialInertia::flaws).
    pub fn build(&self) -> Result<Model, MultibodyError> {
        for link in &self.links {
            check_inertia(link)?;
        }
        for joint in &self.joints {
            check_joint(joint)?;
        }
        let tree = Tree::of(&self.name, &self.links, &self.joints)?;
        let mut model = self.assemble(&tree);
        check_bodies(&model)?;
        self.attach_couplers(&mut model)?;
        self.attach_loops(&mut model)?;
        self.attach_frames(&mut model)?;
        self.attach_shape_pairs(&mut model)?;
        self.attach_tendons(&mut model)?;
        model.filter_groups.clone_from(&self.filter_groups);
        check_regular(&model)?;
        Ok(model)
    }

    /// Creates links, joints and bodies in the order of the tree.
    fn assemble(&self, tree: &Tree) -> Model {
        let mut model = Model {
            name: self.name.clone(),
            root: self.root,
            gravity: self.gravity,
            links: Vec::with_capacity(self.links.len()),
            joints: Vec::with_capacity(self.joints.len()),
            couplers: Vec::new(),
            loops: Vec::new(),
            tendons: Vec::new(),
            shape_pairs: Vec::new(),
            shapes_of_pairs_only: Vec::new(),
            frames: Vec::new(),
            filter_groups: Vec::new(),
            bodies: vec![Body {
                parent: 0,
                kind: JointKind::Fixed,
                q_start: 0,
                v_start: 0,
                v_end: 0,
                R_PF: Matrix3::identity(),
                p_PF: Vector3::zeros(),
                inertia_B: OriginInertia::default(),
            }],
            dof_kind: Vec::new(),
            dof_joint: Vec::new(),
            dof_body: Vec::new(),
            n_q: 0,
        };
        // Pose of each link in its body's frame.
        let mut X_BL: Vec<Isometry3<f64>> = Vec::with_capacity(self.links.len());
        for visit in &tree.order {
            let spec = &self.links[visit.link];
            let (joint, body, pose) = match (visit.joint, self.root) {
                (None, Root::Fixed(X_WR)) => (None, 0, X_WR),
                (None, Root::Floating) => {
                    let joint = JointSpec::new(
                        format!("world_to_{}", spec.name),
                        JointKind::Floating,
                        "world",
                        &*spec.name,
                    );
                    let (idx, body, pose) =
                        model.add_joint(&joint, None, &Isometry3::identity(), 0);
                    (Some(idx), body, pose)
                }
                (Some(j), _) => {
                    let joint = &self.joints[j];
                    let parent = visit.parent;
                    let parent_body = model.links[parent].body.0;
                    let (idx, body, pose) =
                        model.add_joint(joint, Some(LinkIdx(parent)), &X_BL[parent], parent_body);
                    (Some(idx), body, pose)
                }
            };
            let inertia_B = spec.inertia.expressed_in(&pose).about_origin();
            model.bodies[body]
                .inertia_B
                .add_shifted(&inertia_B, &Vector3::zeros());
            model.links.push(Link {
                name: spec.name.clone(),
                inertia: spec.inertia,
                collisions: spec.collisions.clone(),
                visuals: spec.visuals.clone(),
                rgba: spec.rgba,
                gravity_compensation: spec.gravity_compensation,
                parent_joint: joint,
                body: BodyIdx(body),
                R_BL: *pose.rotation.to_rotation_matrix().matrix(),
                p_BL: pose.translation.vector,
            });
            X_BL.push(pose);
        }
        model
    }

    fn attach_frames(&self, model: &mut Model) -> Result<(), MultibodyError> {
        for frame in &self.frames {
            let link = model.link_named(&frame.link)?;
            model.frames.push(NamedFrame {
                name: frame.name.clone(),
                link,
                X_LF: frame.X_LF,
            });
        }
        Ok(())
    }
}

impl Model {
    /// Adds `joint`, and a body unless it is fixed. Returns the joint's index, the child's body and the child's pose in it.
    fn add_joint(
        &mut self,
        joint: &JointSpec,
        parent: Option<LinkIdx>,
        X_BP: &Isometry3<f64>,
        parent_body: usize,
    ) -> (JointIdx, usize, Isometry3<f64>) {
        let index = JointIdx(self.joints.len());
        let v_start = self.dof_kind.len();
        let axis = joint.axis.try_normalize(0.0).unwrap_or_else(Vector3::x);
        self.joints.push(Joint {
            name: joint.name.clone(),
            kind: joint.kind,
            parent,
            child: LinkIdx(self.links.len()),
            X_PJ: joint.X_PJ,
            axis,
            limits: joint.limits,
            passive: joint.passive,
            drive: joint.drive,
            initial: joint.initial.clone(),
            q_start: self.n_q,
            v_start,
        });
        let X_BJ = X_BP * joint.X_PJ;
        if joint.kind == JointKind::Fixed {
            return (index, parent_body, X_BJ);
        }
        let R_JF = if joint.kind.has_axis() {
            frame_with_axis(&axis)
        } else {
            Matrix3::identity()
        };
        self.dof_kind.extend(joint.kind.dof_kinds());
        self.dof_joint.resize(self.dof_kind.len(), index.0);
        self.dof_body.resize(self.dof_kind.len(), self.bodies.len());
        self.bodies.push(Body {
            parent: parent_body,
            kind: joint.kind,
            q_start: self.n_q,
            v_start,
            v_end: self.dof_kind.len(),
            R_PF: X_BJ.rotation.to_rotation_matrix().matrix() * R_JF,
            p_PF: X_BJ.translation.vector,
            inertia_B: OriginInertia::default(),
        });
        self.n_q += joint.kind.n_q();
        let R_BL = nalgebra::Rotation3::from_matrix_unchecked(R_JF.transpose());
        let X_BL = Isometry3::from_parts(Vector3::zeros().into(), R_BL.into());
        (index, self.bodies.len() - 1, X_BL)
    }
}
