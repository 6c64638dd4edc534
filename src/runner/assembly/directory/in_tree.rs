//! Joints and links of one robot, by name.

use pliant_coupling::BodyIdx;
use pliant_multibody::{DofIdx, Joint, JointIdx, LinkIdx, Model};

use super::JointRef;
use crate::scene::{NamedReference, Scene, SceneError, SceneFault, remedy};

/// The joint of one degree of freedom that `reference` names in `tree`; its `body` is still to be set.
pub(in crate::runner::assembly) fn joint_in(
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
pub(in crate::runner::assembly) fn movable_joint_in<'a>(
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
pub(in crate::runner::assembly) fn link_in(
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
