//! Frames and joints, by name.

use nalgebra::Isometry3;
use pliant_coupling::BodyIdx;
use pliant_multibody::LinkIdx;

use super::in_tree::joint_in;
use super::{Directory, FrameRef, JointRef, TendonRef};
use crate::scene::{NameKind, NamedReference, Scene, SceneError};

impl Directory {
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

    pub(super) fn frame_of(
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

    /// A tendon of a model; `None` if none has this name.
    pub(crate) fn tendon(
        &self,
        scene: &Scene,
        model: &NamedReference,
        tendon: &NamedReference,
    ) -> Result<Option<TendonRef>, SceneError> {
        let (_, head, _) = scene.names.find(&scene.text, model, &[NameKind::Model])?;
        let body = self.bodies[head];
        let tree = self.tree(body);
        let found = tree.tendon_named(&tendon.name);
        Ok(found.map(|tendon| TendonRef {
            body,
            tendon,
            control: tree.control_of_tendon(tendon),
        }))
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
}
