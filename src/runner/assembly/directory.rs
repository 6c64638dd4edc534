//! Names of the scene and the indices they refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use nalgebra::Isometry3;
use pliant_coupling::{BodyIdx, ConstraintIdx, GeometryIdx};
use pliant_multibody::{DofIdx, Joint, JointIdx, LinkIdx, Model};

use super::soft::SoftBody;
use crate::scene::{NameKind, NamedReference, Scene, SceneError, SceneFault, remedy};

/// The owner of a geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Fixed,
    Link(BodyIdx, LinkIdx),
    Soft(BodyIdx),
}

/// A frame: fixed in the world, or on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FrameRef {
    World(Isometry3<f64>),
    Link {
        body: BodyIdx,
        link: LinkIdx,
        X_LF: Isometry3<f64>,
    },
}

/// A soft body, or one of its regions.
#[derive(Clone, Debug)]
pub(crate) struct SoftPart {
    /// Which of the directory's soft bodies.
    pub(crate) soft: usize,
    /// The region's points; `None`: the whole body.
    pub(crate) points: Option<Arc<[u32]>>,
}

/// An end of a rod that a constraint of its node holds with tangent and spin.
#[derive(Clone, Debug)]
pub(crate) struct WeldedEnd {
    /// The key that requires it.
    pub(crate) key: &'static str,
    /// Its node.
    pub(crate) point: u32,
    /// Vertex on the rod's surface.
    pub(crate) frame: u32,
    /// Initial pose of that frame.
    pub(crate) X_WF: Isometry3<f64>,
}

/// A joint with one degree of freedom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JointRef {
    pub(crate) body: BodyIdx,
    pub(crate) joint: JointIdx,
    /// Its entry of q.
    pub(crate) q: usize,
    /// Its entry of v.
    pub(crate) dof: DofIdx,
}

/// Names and the objects they refer to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// The kinematic tree of each rigid body and robot: the first bodies of the world.
    pub(crate) trees: Vec<Arc<Model>>,
    /// The soft bodies: those of the world that come after.
    pub(crate) soft: Vec<SoftBody>,
    /// Owner of each geometry.
    pub(super) owners: Vec<Owner>,
    fixed: BTreeMap<String, (GeometryIdx, Isometry3<f64>)>,
    bodies: BTreeMap<String, BodyIdx>,
    repeats: BTreeMap<String, Range<usize>>,
    constraints: BTreeMap<String, Vec<ConstraintIdx>>,
    soft_names: BTreeMap<String, usize>,
    copies: BTreeMap<String, Range<usize>>,
    /// Joints with an actuator.
    actuated: BTreeSet<(BodyIdx, JointIdx)>,
}

/// An object with mass and energy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MassRef {
    /// A rigid body or a tree of them.
    Body(BodyIdx),
    /// By its index in [`Directory::soft`].
    Soft(usize),
}

const TOUCHING: &[NameKind] = &[
    NameKind::Fixed,
    NameKind::Body,
    NameKind::Model,
    NameKind::Repeat,
    NameKind::Soft,
    NameKind::Copies,
];

impl Directory {
    pub(super) fn add_fixed(&mut self, name: &str, geometry: GeometryIdx, pose: Isometry3<f64>) {
        self.fixed.insert(name.into(), (geometry, pose));
    }

    pub(super) fn add_body(&mut self, name: &str, body: BodyIdx, tree: Arc<Model>) {
        debug_assert_eq!(
            self.trees.len(),
            body.0,
            "bodies come in the order of the world"
        );
        self.bodies.insert(name.into(), body);
        self.trees.push(tree);
    }

    /// The bodies of a repeat are those of the scene's list in `range`, which come first in the world.
    pub(super) fn add_repeat(&mut self, name: &str, range: Range<usize>) {
        self.repeats.insert(name.into(), range);
    }

    /// The constraints of an entry.
    pub(super) fn add_constraints(&mut self, name: &str, constraints: Vec<ConstraintIdx>) {
        self.constraints.insert(name.into(), constraints);
    }

    pub(super) fn add_soft(&mut self, name: &str, soft: SoftBody) {
        self.soft_names.insert(name.into(), self.soft.len());
        self.soft.push(soft);
    }

    /// The index of a soft body in [`soft`](Self::soft).
    pub(super) fn soft_by_name(&self, name: &str) -> Option<usize> {
        self.soft_names.get(name).copied()
    }

    /// Copies are the soft bodies in `range`.
    pub(super) fn add_copies(&mut self, name: &str, range: Range<usize>) {
        self.copies.insert(name.into(), range);
    }

    pub(super) fn add_actuator(&mut self, body: BodyIdx, joint: JointIdx) {
        self.actuated.insert((body, joint));
    }

    /// Whether a joint has an actuator.
    pub(crate) fn is_actuated(&self, body: BodyIdx, joint: JointIdx) -> bool {
        self.actuated.contains(&(body, joint))
    }

    /// The joints of a body that have an actuator.
    pub(crate) fn actuated_joints(&self, body: BodyIdx) -> impl Iterator<Item = JointIdx> + '_ {
        let actuated = self.actuated.iter().filter(move |(of, _)| *of == body);
        actuated.map(|(_, joint)| *joint)
    }

    /// The objects with mass of `reference`: bodies, or deformable bodies, several of which may be one body of the world.
    pub(crate) fn with_mass(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<Vec<MassRef>, SceneError> {
        let bodies = self.bodies(scene, reference)?;
        Ok(match self.soft_range(&reference.name) {
            Some(range) => range.map(MassRef::Soft).collect(),
            None => bodies.into_iter().map(MassRef::Body).collect(),
        })
    }

    /// All objects with mass.
    pub(crate) fn all_with_mass(&self) -> Vec<MassRef> {
        let bodies = (0..self.trees.len()).map(|b| MassRef::Body(BodyIdx(b)));
        let soft = (0..self.soft.len()).map(MassRef::Soft);
        bodies.chain(soft).collect()
    }

    fn soft_range(&self, name: &str) -> Option<Range<usize>> {
        let one = self.soft_names.get(name).map(|&soft| soft..soft + 1);
        one.or_else(|| self.copies.get(name).cloned())
    }

    /// Bodies, models and soft bodies by name.
    pub(crate) fn named_bodies(&self) -> impl Iterator<Item = (&str, BodyIdx)> {
        let rigid = self.bodies.iter().map(|(name, body)| (&**name, *body));
        let soft = (self.soft_names.iter()).map(|(name, soft)| (&**name, self.soft[*soft].body));
        rigid.chain(soft)
    }

    pub(crate) fn tree(&self, body: BodyIdx) -> &Arc<Model> {
        &self.trees[body.0]
    }

    /// All geometries of a fixed shape, body, link, model, repeat, soft body or set of copies.
    pub(crate) fn geometries(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<Vec<GeometryIdx>, SceneError> {
        let (kind, head, part) = scene.names.find(&scene.text, reference, TOUCHING)?;
        let of = |requested: &dyn Fn(BodyIdx, LinkIdx) -> bool| {
            let touches =
                |owner: &Owner| matches!(owner, Owner::Link(body, link) if requested(*body, *link));
            let owned = self
                .owners
                .iter()
                .enumerate()
                .filter(|(_, owner)| touches(owner));
            owned.map(|(index, _)| GeometryIdx(index)).collect()
        };
        Ok(match (kind, part) {
            (NameKind::Fixed, _) => vec![self.fixed[head].0],
            (NameKind::Soft, None) => {
                self.soft_geometries(self.soft_names[head]..self.soft_names[head] + 1)
            }
            (NameKind::Soft, Some(_)) => {
                return Err(self.unknown(
                    scene,
                    reference,
                    "thing that touches (a region does not on its own)",
                    [head].into_iter(),
                ));
            }
            (NameKind::Copies, _) => self.soft_geometries(self.copies[head].clone()),
            (NameKind::Repeat, _) => of(&|body, _| self.repeats[head].contains(&body.0)),
            (_, None) => of(&|body, _| body == self.bodies[head]),
            (_, Some(part)) => {
                let (body, requested, _) = self.frame_of(scene, reference, head, part)?;
                of(&|b, link| (b, link) == (body, requested))
            }
        })
    }

    fn soft_geometries(&self, range: Range<usize>) -> Vec<GeometryIdx> {
        self.soft[range].iter().map(|soft| soft.geometry).collect()
    }

    /// Whether a name refers to a soft body, a region of one, or copies.
    pub(crate) fn is_soft(&self, reference: &NamedReference) -> bool {
        let head = reference.name.split('/').next().unwrap_or_default();
        self.soft_names.contains_key(head) || self.copies.contains_key(head)
    }

    /// A soft body, one of its regions, or all copies.
    pub(crate) fn soft_parts(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<Vec<SoftPart>, SceneError> {
        let allowed = [NameKind::Soft, NameKind::Copies];
        let (kind, head, part) = scene.names.find(&scene.text, reference, &allowed)?;
        let whole = |soft| SoftPart { soft, points: None };
        if kind == NameKind::Copies {
            return Ok(self.copies[head].clone().map(whole).collect());
        }
        let soft = self.soft_names[head];
        let Some(part) = part else {
            return Ok(vec![whole(soft)]);
        };
        let regions = &self.soft[soft].regions;
        let Some(points) = regions.get(part) else {
            let reference = NamedReference {
                name: part.into(),
                at: reference.at,
            };
            let known = regions.keys().map(String::as_str);
            let what = format!("region of {head:?}");
            return Err(self.unknown(scene, &reference, &what, known));
        };
        Ok(vec![SoftPart {
            soft,
            points: Some(Arc::clone(points)),
        }])
    }

    /// All cloths, whole.
    pub(crate) fn cloths(&self) -> impl Iterator<Item = SoftPart> + '_ {
        let is_cloth = |soft: &usize| !self.soft[*soft].model.triangles().is_empty();
        let whole = |soft| SoftPart { soft, points: None };
        (0..self.soft.len()).filter(is_cloth).map(whole)
    }

    /// As [`geometries`](Self::geometries), of one end of a constraint: the world has none, a model alone is its root link.
    pub(super) fn geometries_at(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<Vec<GeometryIdx>, SceneError> {
        match self.frame(scene, reference)? {
            FrameRef::World(_) if reference.name == "world" => Ok(Vec::new()),
            FrameRef::World(_) => self.geometries(scene, reference),
            FrameRef::Link { body, link, .. } => {
                let on_link = |(_, owner): &(usize, &Owner)| **owner == Owner::Link(body, link);
                let geometries = self.owners.iter().enumerate().filter(on_link);
                Ok(geometries.map(|(index, _)| GeometryIdx(index)).collect())
            }
        }
    }

    /// The bodies of a body, model, repeat, soft body or set of copies.
    pub(crate) fn bodies(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<Vec<BodyIdx>, SceneError> {
        let allowed = [
            NameKind::Body,
            NameKind::Model,
            NameKind::Repeat,
            NameKind::Soft,
            NameKind::Copies,
        ];
        let (kind, head, part) = scene.names.find(&scene.text, reference, &allowed)?;
        if part.is_some() {
            return Err(self.unknown(
                scene,
                reference,
                "body, model, repeat or soft body",
                [].into_iter(),
            ));
        }
        Ok(match kind {
            NameKind::Repeat => self.repeats[head].clone().map(BodyIdx).collect(),
            NameKind::Soft => vec![self.soft[self.soft_names[head]].body],
            NameKind::Copies => {
                let copies = &self.soft[self.copies[head].clone()];
                copies.iter().map(|soft| soft.body).collect()
            }
            _ => vec![self.bodies[head]],
        })
    }

    /// A body's frame, a link, a named frame of a model, a fixed shape, the world. A model alone is its root link.
    pub(crate) fn frame(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<FrameRef, SceneError> {
        let allowed = [
            NameKind::World,
            NameKind::Fixed,
            NameKind::Body,
            NameKind::Model,
        ];
        let (kind, head, part) = scene.names.find(&scene.text, reference, &allowed)?;
        Ok(match (kind, part) {
            (NameKind::World, _) => FrameRef::World(Isometry3::identity()),
            (NameKind::Fixed, _) => FrameRef::World(self.fixed[head].1),
            (_, None) => FrameRef::Link {
                body: self.bodies[head],
                link: LinkIdx(0),
                X_LF: Isometry3::identity(),
            },
            (_, Some(part)) => {
                let (body, link, X_LF) = self.frame_of(scene, reference, head, part)?;
                FrameRef::Link { body, link, X_LF }
            }
        })
    }

    /// The link of `body` that owns a geometry, if it does.
    pub(crate) fn link_of(&self, geometry: GeometryIdx, body: BodyIdx) -> Option<LinkIdx> {
        match self.owners[geometry.0] {
            Owner::Link(owner, link) if owner == body => Some(link),
            _ => None,
        }
    }

    /// As [`frame`](Self::frame); a joint of a model stands for the frame of its child link.
    pub(crate) fn frame_or_joint(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<FrameRef, SceneError> {
        let joint = reference.name.split_once('/').and_then(|(head, part)| {
            let body = *self.bodies.get(head)?;
            let tree = self.tree(body);
            let joint = tree.joint_named(part).ok()?;
            Some((body, tree.joint(joint).child))
        });
        match (self.frame(scene, reference), joint) {
            (Err(_), Some((body, link))) => Ok(FrameRef::Link {
                body,
                link,
                X_LF: Isometry3::identity(),
            }),
            (found, _) => found,
        }
    }

    /// The frames of the bodies of a repeat, or the one of anything else.
    pub(crate) fn frames(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<Vec<FrameRef>, SceneError> {
        let Some(range) = self.repeats.get(&reference.name) else {
            return Ok(vec![self.frame(scene, reference)?]);
        };
        let frame = |index| FrameRef::Link {
            body: BodyIdx(index),
            link: LinkIdx(0),
            X_LF: Isometry3::identity(),
        };
        Ok(range.clone().map(frame).collect())
    }

    fn frame_of(
        &self,
        scene: &Scene,
        reference: &NamedReference,
        head: &str,
        part: &str,
    ) -> Result<(BodyIdx, LinkIdx, Isometry3<f64>), SceneError> {
        let body = self.bodies[head];
        let tree = self.tree(body);
        match tree.frame_named(part) {
            Ok(frame) => Ok((body, frame.link, frame.X_LF)),
            Err(_) => {
                let links = tree.links().iter().map(|link| link.name.as_str());
                let frames = tree.frames().iter().map(|frame| frame.name.as_str());
                let names = links.chain(frames);
                Err(self.unknown(
                    scene,
                    &NamedReference {
                        name: part.into(),
                        at: reference.at,
                    },
                    "link or frame",
                    names,
                ))
            }
        }
    }

    /// A joint of a model.
    pub(crate) fn joint(
        &self,
        scene: &Scene,
        model: &NamedReference,
        joint: &NamedReference,
    ) -> Result<JointRef, SceneError> {
        let (_, head, part) = scene.names.find(&scene.text, model, &[NameKind::Model])?;
        if part.is_some() {
            return Err(self.unknown(scene, model, "model", [].into_iter()));
        }
        let body = self.bodies[head];
        joint_in(scene, self.tree(body), joint).map(|joint| JointRef { body, ..joint })
    }

    /// A joint written as `MODEL/JOINT`.
    pub(crate) fn joint_path(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<JointRef, SceneError> {
        let (_, head, part) = scene
            .names
            .find(&scene.text, reference, &[NameKind::Model])?;
        let body = self.bodies[head];
        let Some(part) = part else {
            let what = format!("joint, written as \"{head}/JOINT\",");
            let joints = self.tree(body).joints().iter();
            return Err(self.unknown(scene, reference, &what, joints.map(|j| j.name.as_str())));
        };
        let joint = NamedReference {
            name: part.into(),
            at: reference.at,
        };
        joint_in(scene, self.tree(body), &joint).map(|joint| JointRef { body, ..joint })
    }

    /// The constraints of an entry: several where it holds a region.
    pub(crate) fn constraints(&self, reference: &NamedReference) -> &[ConstraintIdx] {
        self.constraints
            .get(&reference.name)
            .map_or(&[], Vec::as_slice)
    }

    fn unknown<'a>(
        &self,
        scene: &Scene,
        reference: &NamedReference,
        what: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> SceneError {
        let fault = SceneFault::UnknownName {
            what: what.into(),
            name: reference.name.clone(),
            remedy: remedy(&reference.name, known),
        };
        scene.text.error(reference.at, fault)
    }
}

/// The joint of one degree of freedom that `reference` names in `tree`; its `body` is still to be set.
pub(super) fn joint_in(
    scene: &Scene,
    tree: &Model,
    reference: &NamedReference,
) -> Result<JointRef, SceneError> {
    let index = joint_named_in(scene, tree, reference)?;
    let joint = tree.joint(index);
    if joint.kind.n_v() != 1 {
        let fault = SceneFault::UnknownName {
            what: "joint of one degree of freedom".into(),
            name: reference.name.clone(),
            remedy: format!("; it is {:?} and has {}", joint.kind, joint.kind.n_v()),
        };
        return Err(scene.text.error(reference.at, fault));
    }
    Ok(JointRef {
        body: BodyIdx(0),
        joint: index,
        q: joint.positions().start,
        dof: DofIdx(joint.dofs().start),
    })
}

/// The movable joint of that name.
pub(super) fn movable_joint_in<'a>(
    scene: &Scene,
    tree: &'a Model,
    reference: &NamedReference,
) -> Result<&'a Joint, SceneError> {
    let joint = tree.joint(joint_named_in(scene, tree, reference)?);
    if joint.kind.n_v() == 0 {
        let fault = SceneFault::UnknownName {
            what: "movable joint".into(),
            name: reference.name.clone(),
            remedy: "; it is fixed".into(),
        };
        return Err(scene.text.error(reference.at, fault));
    }
    Ok(joint)
}

/// The link of that name.
pub(super) fn link_in(
    scene: &Scene,
    tree: &Model,
    reference: &NamedReference,
) -> Result<LinkIdx, SceneError> {
    tree.link_named(&reference.name).map_err(|_| {
        let names = tree.links().iter().map(|link| link.name.as_str());
        let fault = SceneFault::UnknownName {
            what: "link".into(),
            name: reference.name.clone(),
            remedy: format!(
                " in robot {:?}{}",
                tree.name(),
                remedy(&reference.name, names)
            ),
        };
        scene.text.error(reference.at, fault)
    })
}

fn joint_named_in(
    scene: &Scene,
    tree: &Model,
    reference: &NamedReference,
) -> Result<JointIdx, SceneError> {
    tree.joint_named(&reference.name).map_err(|_| {
        let movable = tree.joints().iter().filter(|joint| joint.kind.n_v() > 0);
        let names = movable.map(|joint| joint.name.as_str());
        let fault = SceneFault::UnknownName {
            what: "joint".into(),
            name: reference.name.clone(),
            remedy: format!(
                " in robot {:?}{}",
                tree.name(),
                remedy(&reference.name, names)
            ),
        };
        scene.text.error(reference.at, fault)
    })
}
