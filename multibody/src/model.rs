//! `Model`: one kinematic tree, built and checked once, then immutable.
//!
//! Two levels. *Links* are what a model file names: frames with inertia and shapes. *Bodies* are what moves: all links
//! joined by fixed joints are one body, so a humanoid of 58 links is 31 bodies to the dynamics. Body 0 is what is
//! fixed in the world. Bodies and their degrees of freedom are numbered depth first, in the order of the joints as
//! given, so each subtree is one contiguous range.

mod coordinates;

use nalgebra::{Isometry3, Matrix3, Vector3};

use crate::error::MultibodyError;
use crate::geometry::{Collision, CollisionFilterGroup, Visual};
use crate::inertia::SpatialInertia;
use crate::joint::{DofKind, Drive, JointKind, JointLimits, PassiveForces};
use crate::spatial::OriginInertia;

/// Index of a link of one model; parents come before children, 0 is the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkIdx(pub usize);

/// Index of a joint of one model, in the order of its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointIdx(pub usize);

/// Index of a moving body of one model; 0 is the part fixed in the world, which may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyIdx(pub usize);

/// Index of a degree of freedom of one model: an entry of v.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DofIdx(pub usize);

/// How the root link hangs in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Root {
    /// Welded at this pose `X_WR`.
    Fixed(Isometry3<f64>),
    /// Free: its position is q[0..7] = x, y, z, w, qx, qy, qz and its velocity v[0..6] = [ω; v], world axes.
    Floating,
}

/// Whether the world's gravity acts on a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GravityAction {
    /// As on everything else.
    Acts,
    /// Compensated, as in a balanced arm.
    Absent,
}

/// A link: a named frame with inertia and shapes.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its name, unique in the model.
    pub name: String,
    /// Mass properties in the link frame, as written in the file.
    pub inertia: SpatialInertia,
    /// Shapes that touch.
    pub collisions: Vec<Collision>,
    /// Shapes that are seen.
    pub visuals: Vec<Visual>,
    /// The joint that moves it; none for a fixed root.
    pub parent_joint: Option<JointIdx>,
    /// The moving body it is part of.
    pub body: BodyIdx,
    pub(crate) R_BL: Matrix3<f64>,
    pub(crate) p_BL: Vector3<f64>,
}

/// A joint between two links, or between the world and a floating root.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Its name, unique in the model.
    pub name: String,
    /// What it lets free.
    pub kind: JointKind,
    /// The parent link; `None` is the world (a floating root).
    pub parent: Option<LinkIdx>,
    /// The child link.
    pub child: LinkIdx,
    /// Pose of the joint frame J in the parent link's frame.
    pub X_PJ: Isometry3<f64>,
    /// Unit vector in J.
    pub axis: Vector3<f64>,
    /// Bounds.
    pub limits: JointLimits,
    /// Damping, friction, spring.
    pub passive: PassiveForces,
    /// Rotor and gear.
    pub drive: Drive,
    pub(crate) q_start: usize,
    pub(crate) v_start: usize,
}

impl Joint {
    /// Its entries of q.
    pub fn positions(&self) -> core::ops::Range<usize> {
        self.q_start..self.q_start + self.kind.n_q()
    }

    /// Its entries of v.
    pub fn dofs(&self) -> core::ops::Range<usize> {
        self.v_start..self.v_start + self.kind.n_v()
    }
}

/// `joint` follows `source`: q_joint = multiplier · q_source + offset (URDF's `<mimic>`). Data for a constraint; the
/// dynamics here treat both joints as independent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coupler {
    /// The coupled joint.
    pub joint: JointIdx,
    /// The joint it follows.
    pub source: JointIdx,
    /// Ratio of the two motions.
    pub multiplier: f64,
    /// Offset, rad or m.
    pub offset: f64,
}

/// A named frame fixed on a link.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedFrame {
    /// Its name.
    pub name: String,
    /// The link that carries it.
    pub link: LinkIdx,
    /// Its pose in the link frame.
    pub X_LF: Isometry3<f64>,
}

/// What the algorithms read of a moving body: one cache-friendly record. The body frame B has its origin at the child
/// link's and its z axis along the joint's axis, F is the joint frame with the same z axis, fixed on the parent.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) parent: usize,
    pub(crate) kind: JointKind,
    pub(crate) q_start: usize,
    pub(crate) v_start: usize,
    pub(crate) v_end: usize,
    pub(crate) R_PF: Matrix3<f64>,
    pub(crate) p_PF: Vector3<f64>,
    pub(crate) inertia_B: OriginInertia,
}

/// One kinematic tree of rigid links. Built by [`ModelBuilder`](crate::ModelBuilder) or read from a file, then immutable; states are plain
/// arrays q (positions) and v (velocities), laid out as the [`joint`](crate::joint) module says.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) name: String,
    pub(crate) root: Root,
    pub(crate) gravity: GravityAction,
    pub(crate) links: Vec<Link>,
    pub(crate) joints: Vec<Joint>,
    pub(crate) couplers: Vec<Coupler>,
    pub(crate) frames: Vec<NamedFrame>,
    pub(crate) filter_groups: Vec<CollisionFilterGroup>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) dof_kind: Vec<DofKind>,
    pub(crate) dof_joint: Vec<usize>,
    pub(crate) dof_body: Vec<usize>,
    pub(crate) n_q: usize,
}

impl Model {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the root hangs in the world.
    pub fn root(&self) -> Root {
        self.root
    }

    /// Whether gravity acts on it.
    pub fn gravity_action(&self) -> GravityAction {
        self.gravity
    }

    /// Number of position coordinates.
    pub fn n_q(&self) -> usize {
        self.n_q
    }

    /// Number of degrees of freedom.
    pub fn n_v(&self) -> usize {
        self.dof_kind.len()
    }

    /// Number of moving bodies, with the fixed body 0.
    pub fn n_bodies(&self) -> usize {
        self.bodies.len()
    }

    /// All links, parents before children.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// All joints, fixed ones too, in the order of their degrees of freedom.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// Joints that follow others.
    pub fn couplers(&self) -> &[Coupler] {
        &self.couplers
    }

    /// Named frames.
    pub fn frames(&self) -> &[NamedFrame] {
        &self.frames
    }

    /// Groups of links that don't touch each other.
    pub fn collision_filter_groups(&self) -> &[CollisionFilterGroup] {
        &self.filter_groups
    }

    /// One link.
    pub fn link(&self, link: LinkIdx) -> &Link {
        &self.links[link.0]
    }

    /// One joint.
    pub fn joint(&self, joint: JointIdx) -> &Joint {
        &self.joints[joint.0]
    }

    /// The joint a degree of freedom belongs to.
    pub fn joint_of_dof(&self, dof: DofIdx) -> JointIdx {
        JointIdx(self.dof_joint[dof.0])
    }

    /// Whether a degree of freedom turns or slides.
    pub fn dof_kind(&self, dof: DofIdx) -> DofKind {
        self.dof_kind[dof.0]
    }

    /// The link of that name.
    ///
    /// # Errors
    /// [`MultibodyError::NoSuchName`] with the most similar name there is.
    pub fn link_named(&self, name: &str) -> Result<LinkIdx, MultibodyError> {
        let found = self.links.iter().position(|l| l.name == name);
        found
            .map(LinkIdx)
            .ok_or_else(|| self.no_such("link", name, self.links.iter().map(|l| &*l.name)))
    }

    /// The joint of that name.
    ///
    /// # Errors
    /// [`MultibodyError::NoSuchName`] with the most similar name there is.
    pub fn joint_named(&self, name: &str) -> Result<JointIdx, MultibodyError> {
        let found = self.joints.iter().position(|j| j.name == name);
        found
            .map(JointIdx)
            .ok_or_else(|| self.no_such("joint", name, self.joints.iter().map(|j| &*j.name)))
    }

    /// The frame of that name: a named frame, or a link's own.
    ///
    /// # Errors
    /// [`MultibodyError::NoSuchName`] with the most similar name there is.
    pub fn frame_named(&self, name: &str) -> Result<NamedFrame, MultibodyError> {
        if let Some(frame) = self.frames.iter().find(|f| f.name == name) {
            return Ok(frame.clone());
        }
        if let Some(link) = self.links.iter().position(|l| l.name == name) {
            return Ok(NamedFrame {
                name: name.to_owned(),
                link: LinkIdx(link),
                X_LF: Isometry3::identity(),
            });
        }
        let names = self.frames.iter().map(|f| &*f.name);
        Err(self.no_such(
            "frame or link",
            name,
            names.chain(self.links.iter().map(|l| &*l.name)),
        ))
    }

    fn no_such<'a>(
        &self,
        what: &'static str,
        name: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> MultibodyError {
        MultibodyError::NoSuchName {
            model: self.name.clone(),
            what,
            name: name.to_owned(),
            nearest: nearest_name(name, names),
        }
    }

    /// Mass of all links that can move, kg.
    pub fn moving_mass(&self) -> f64 {
        self.bodies[1..].iter().map(|b| b.inertia_B.mass).sum()
    }

    /// The gravitational acceleration that acts on this model in a world with `world_gravity`, m/s².
    pub fn gravity_from(&self, world_gravity: &Vector3<f64>) -> Vector3<f64> {
        match self.gravity {
            GravityAction::Acts => *world_gravity,
            GravityAction::Absent => Vector3::zeros(),
        }
    }

    /// Whether `link` moves when `dof` does.
    pub fn is_moved_by(&self, link: LinkIdx, dof: DofIdx) -> bool {
        self.support(self.links[link.0].body).any(|d| d == dof)
    }

    /// The degrees of freedom that move a body: its own and its ancestors', from the tip to the root.
    pub fn support(&self, body: BodyIdx) -> impl Iterator<Item = DofIdx> + '_ {
        let chain =
            core::iter::successors(Some(body.0), |&b| (b != 0).then(|| self.bodies[b].parent));
        chain.flat_map(|b| {
            (self.bodies[b].v_start..self.bodies[b].v_end)
                .rev()
                .map(DofIdx)
        })
    }

    /// Pairs of links that a joint joins directly or that are welded into one body (ascending): no contact is
    /// computed between them.
    pub fn adjacent_links(&self) -> Vec<(LinkIdx, LinkIdx)> {
        let mut pairs = Vec::new();
        for b in 0..self.links.len() {
            for a in 0..b {
                let (body_a, body_b) = (self.links[a].body.0, self.links[b].body.0);
                // Links welded to the two sides of one joint touch where the joint is, like its own two links.
                let joined = |x: usize, y: usize| y != 0 && self.bodies[y].parent == x && x != 0;
                let by_joint = self.links[b]
                    .parent_joint
                    .is_some_and(|j| self.joints[j.0].parent == Some(LinkIdx(a)));
                if body_a == body_b || by_joint || joined(body_a, body_b) || joined(body_b, body_a)
                {
                    pairs.push((LinkIdx(a), LinkIdx(b)));
                }
            }
        }
        pairs
    }

    /// Pairs of links the file's collision filter groups exclude (ascending).
    pub fn filtered_links(&self) -> Vec<(LinkIdx, LinkIdx)> {
        let mut pairs = Vec::new();
        let group = |name: &str| self.filter_groups.iter().find(|g| g.name == name);
        let link = |name: &String| self.links.iter().position(|l| l.name == *name);
        for first in &self.filter_groups {
            for second in first.ignored_groups.iter().filter_map(|name| group(name)) {
                for a in first.members.iter().filter_map(link) {
                    for b in second.members.iter().filter_map(link).filter(|&b| b != a) {
                        pairs.push((LinkIdx(a.min(b)), LinkIdx(a.max(b))));
                    }
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// The most similar of `names`, if any is similar: at most a third of the letters differ.
pub(crate) fn nearest_name<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    names
        .map(|n| (edit_distance(name, n), n))
        .filter(|(d, n)| 3 * d <= name.chars().count().max(n.chars().count()))
        .min_by_key(|(d, _)| *d)
        .map(|(_, n)| n.to_owned())
}

/// Levenshtein's distance in letters, by the usual single row.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
