//! What touches, by name.

use pliant_coupling::{BodyIdx, GeometryIdx};
use pliant_multibody::LinkIdx;

use super::{Directory, FrameRef, Owner};
use crate::scene::{NameKind, NamedReference, Scene, SceneError};

impl Directory {
    /// All geometries of a fixed shape, body, link, model, repeat, soft body or set of copies.
    pub(crate) fn geometries(
        &self,
        scene: &Scene,
        reference: &NamedReference,
    ) -> Result<Vec<GeometryIdx>, SceneError> {
        let (kind, head, part) = scene
            .names
            .find(&scene.text, reference, NameKind::TOUCHING)?;
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
            (NameKind::Soft, Some(_)) => {
                return Err(self.unknown(
                    scene,
                    reference,
                    "thing that touches (a region does not on its own)",
                    [head].into_iter(),
                ));
            }
            (NameKind::Soft | NameKind::Copies, _) => {
                let soft = self.soft_named(head).unwrap_or_default().iter();
                soft.map(|soft| self.soft[*soft].geometry).collect()
            }
            (NameKind::Repeat, _) => of(&|body, _| self.repeats[head].contains(&body.0)),
            (_, None) => of(&|body, _| body == self.bodies[head]),
            (_, Some(part)) => {
                let (body, requested, _) = self.frame_of(scene, reference, head, part)?;
                of(&|b, link| (b, link) == (body, requested))
            }
        })
    }

    /// As [`geometries`](Self::geometries), of one end of a constraint: the world has none, a model alone is its root link.
    pub(in crate::runner::assembly) fn geometries_at(
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

    /// The link of `body` that owns a geometry, if it does.
    pub(crate) fn link_of(&self, geometry: GeometryIdx, body: BodyIdx) -> Option<LinkIdx> {
        match self.owners[geometry.0] {
            Owner::Link(owner, link) if owner == body => Some(link),
            _ => None,
        }
    }
}
