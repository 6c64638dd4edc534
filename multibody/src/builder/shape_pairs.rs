//! Contact of pairs of collision shapes: from names of links to indices.

use super::ModelBuilder;
use crate::error::MultibodyError;
use crate::model::{Model, PairContact, ShapeIdx, ShapePair};

/// A collision shape by the name of its link and its index there.
pub(super) type NamedShape = (String, usize);

impl ModelBuilder {
    /// Prescribes the contact of two collision shapes, each given by the name of its link and its index among the collision shapes of the
    /// link. The last call for a pair holds.
    pub fn shape_pair(&mut self, shapes: [(String, usize); 2], contact: PairContact) -> &mut Self {
        self.shape_pairs.push((shapes, contact));
        self
    }

    /// Excludes a collision shape from all contact but that of its pairs.
    pub fn shape_of_pairs_only(&mut self, link: impl Into<String>, shape: usize) -> &mut Self {
        self.shapes_of_pairs_only.push((link.into(), shape));
        self
    }

    pub(super) fn attach_shape_pairs(&self, model: &mut Model) -> Result<(), MultibodyError> {
        let index =
            |model: &Model, (name, shape): &NamedShape| -> Result<ShapeIdx, MultibodyError> {
                let link = model.link_named(name)?;
                let shapes = model.link(link).collisions.len();
                if *shape >= shapes {
                    return Err(MultibodyError::Value {
                        subject: format!("link \"{name}\""),
                        quantity: "index of a collision shape".to_owned(),
                        value: shape.to_string(),
                        allowed: format!("must be less than {shapes}, the number of its shapes"),
                    });
                }
                Ok(ShapeIdx {
                    link,
                    shape: *shape,
                })
            };
        let mut pairs = std::collections::BTreeMap::new();
        for ([a, b], contact) in &self.shape_pairs {
            let (a, b) = (index(model, a)?, index(model, b)?);
            pairs.insert([a.min(b), a.max(b)], *contact);
        }
        let pairs = pairs.into_iter();
        model.shape_pairs = pairs
            .map(|(shapes, contact)| ShapePair { shapes, contact })
            .collect();
        for shape in &self.shapes_of_pairs_only {
            let shape = index(model, shape)?;
            model.shapes_of_pairs_only.push(shape);
        }
        model.shapes_of_pairs_only.sort_unstable();
        Ok(())
    }
}
