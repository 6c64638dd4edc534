//! Rods as chains of rigid capsules.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::DeformableModel;
use pliant_der::{Centreline, NaturalShape};
use pliant_multibody::{CapsuleChain, CapsuleChainSpec, RestShape};

use super::Draft;
use super::soft::{Made, Touches, scale};
use crate::recording::{ThreadEnds, VisualShape};
use crate::scene::{RodEntry, SceneError, SceneFault, SoftEntry};

impl Draft<'_> {
    pub(super) fn capsule_chain(
        &mut self,
        entry: &SoftEntry,
        given: &RodEntry,
        line: &Centreline,
        regions: Vec<Vec<u32>>,
    ) -> Result<Made, SceneError> {
        let radius = (given.section.area() / std::f64::consts::PI).sqrt();
        let spec = CapsuleChainSpec {
            nodes: line.nodes.clone(),
            radius,
            linear_density: given.properties.mass,
            bending_stiffness: given.properties.bend_1,
            twisting_stiffness: given.properties.twist,
            stiffness_damping: given.damping.stiffness,
            rest: match given.natural {
                NaturalShape::AsBuilt => RestShape::AsBuilt,
                _ => RestShape::Straight,
            },
        };
        let chain = CapsuleChain::new(&spec).map_err(|error| {
            let text = format!("rod {:?}: {error}", entry.name.name);
            self.scene
                .text
                .error(entry.name.at, SceneFault::World(text))
        })?;
        let mut start = chain.default_state();
        // Angular velocity of the root, then the velocity of its first node.
        let mut center = Vector3::zeros();
        let mut mass = 0.0;
        for (node, p) in spec.nodes.iter().enumerate() {
            center += p.coords * chain.node_mass(node);
            mass += chain.node_mass(node);
        }
        let arm = spec.nodes[0] - Point3::from(center / mass);
        let velocity = entry.velocity + entry.angular_velocity.cross(&arm);
        start.v[..3].copy_from_slice(entry.angular_velocity.as_slice());
        start.v[3..6].copy_from_slice(velocity.as_slice());
        Ok(Made {
            start,
            held: Vec::new(),
            welds: Vec::new(),
            look: VisualShape::Thread {
                radius,
                ends: ThreadEnds::Open,
                scale: scale(entry.shown, entry.shown_max),
            },
            soft: std::sync::Arc::new(chain.clone()),
            model: Box::new(chain),
            regions,
            self_contact: given.self_contact,
            touches: Touches::Segments(given.tips),
        })
    }
}
