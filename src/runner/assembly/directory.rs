//! Names of the scene and the indices they refer to.

mod frames;
mod in_tree;
#[cfg(test)]
mod tests;
mod touching;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use nalgebra::Isometry3;
use pliant_coupling::{BodyIdx, ConstraintIdx, GeometryIdx};
use pliant_multibody::{DofIdx, JointIdx, LinkIdx, Model, TendonIdx};

use super::soft::SoftBody;
use crate::scene::{NameKind, NamedReference, Scene, SceneError, SceneFault, remedy};
pub(super) use in_tree::{joint_in, link_in, movable_joint_in};

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

/// A tendon of a robot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TendonRef {
    pub(crate) body: BodyIdx,
    pub(crate) tendon: TendonIdx,
    /// Its entry of the controls.
    pub(crate) control: usize,
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
    copies: BTreeMap<String, Vec<usize>>,
    /// Joints with an actuator.
    actuated: BTreeSet<(BodyIdx, JointIdx)>,
    /// Tendons with an actuator.
    actuated_tendons: BTreeSet<(BodyIdx, TendonIdx)>,
}

/// An object with mass and energy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MassRef {
    /// A rigid body or a tree of them.
    Body(BodyIdx),
    /// By its index in [`Directory::soft`].
    Soft(usize),
}

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

    /// Copies of one entry by their names. The order of the scene is not that of [`soft`](Self::soft): bodies that share the grid
    /// come last.
    pub(super) fn add_copies<'n>(&mut self, name: &str, copies: impl Iterator<Item = &'n str>) {
        let soft = copies.map(|copy| self.soft_names[copy]).collect();
        self.copies.insert(name.into(), soft);
    }

    pub(super) fn add_actuator(&mut self, body: BodyIdx, joint: JointIdx) {
        self.actuated.insert((body, joint));
    }

    pub(super) fn add_tendon_actuator(&mut self, body: BodyIdx, tendon: TendonIdx) {
        self.actuated_tendons.insert((body, tendon));
    }

    /// Whether a tendon has an actuator.
    pub(crate) fn is_tendon_actuated(&self, tendon: &TendonRef) -> bool {
        self.actuated_tendons
            .contains(&(tendon.body, tendon.tendon))
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
        Ok(match self.soft_named(&reference.name) {
            Some(soft) => soft.iter().copied().map(MassRef::Soft).collect(),
            None => bodies.into_iter().map(MassRef::Body).collect(),
        })
    }

    /// All objects with mass.
    pub(crate) fn all_with_mass(&self) -> Vec<MassRef> {
        let bodies = (0..self.trees.len()).map(|b| MassRef::Body(BodyIdx(b)));
        let soft = (0..self.soft.len()).map(MassRef::Soft);
        bodies.chain(soft).collect()
    }

    /// The soft body, or the copies, of this name.
    pub(super) fn soft_named(&self, name: &str) -> Option<&[usize]> {
        let one = self.soft_names.get(name).map(std::slice::from_ref);
        one.or_else(|| self.copies.get(name).map(Vec::as_slice))
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
            return Ok(self.copies[head].iter().copied().map(whole).collect());
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
                let copies = self.copies[head].iter();
                copies.map(|soft| self.soft[*soft].body).collect()
            }
            _ => vec![self.bodies[head]],
        })
    }

    /// The constraints of an entry: several where it holds a region.
    pub(crate) fn constraints(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<&[ConstraintIdx], SceneError> {
        match self.constraints.get(&reference.name) {
            Some(constraints) => Ok(constraints),
            None => {
                let known = self.constraints.keys().map(|name| &**name);
                Err(self.unknown(scene, reference, "constraint", known))
            }
        }
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
