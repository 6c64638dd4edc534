//! The nodes of a contact problem: those of the grid that its contacts reach.

use nalgebra::Vector3;
use pliant_constitutive::Real;

use super::contact_problem::{ContactNode, ContactProblem};
use super::prescribed::Prescribed;
use crate::sparse_grid::NONE;
use crate::transfer::NodeField;

/// Numbers of nodes in the contact problem; none between the substeps.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeNumbers {
    numbers: Vec<u32>,
}

impl NodeNumbers {
    /// Replaces storage indices of nodes in contacts by numbers of the problem, and lists its nodes. Nodes lighter than `mass_min` have no
    /// velocity to speak of, and no weight.
    pub(super) fn assign<T: Real>(
        &mut self,
        problem: &mut ContactProblem,
        field: &NodeField<T>,
        prescribed: &Prescribed,
        mass_min: f64,
    ) {
        self.numbers.resize(field.values.len() / 4, NONE);
        for contact in &mut problem.contacts {
            for (node, weight) in contact.nodes.iter_mut().zip(&mut contact.weights) {
                if *node == NONE {
                    *node = 0;
                    continue;
                }
                let number = &mut self.numbers[*node as usize];
                if *number == NONE {
                    *number = problem.nodes.len() as u32;
                    problem
                        .nodes
                        .push(node_of(*node, field, prescribed, mass_min));
                }
                *node = *number;
                let node = &problem.nodes[*number as usize];
                if node.inverse_mass == Vector3::zeros()
                    && prescribed.of_node(node.node)[0].is_nan()
                {
                    *weight = 0.0;
                }
            }
        }
        for node in &problem.nodes {
            self.numbers[node.node as usize] = NONE;
        }
    }
}

fn node_of<T: Real>(
    node: u32,
    field: &NodeField<T>,
    prescribed: &Prescribed,
    mass_min: f64,
) -> ContactNode {
    let values = &field.values[4 * node as usize..][..4];
    let mass = values[3].wide();
    let inverse = if mass > mass_min { 1.0 / mass } else { 0.0 };
    let prescribed = prescribed.of_node(node);
    ContactNode {
        node,
        free: Vector3::from_fn(|k, _| values[k].wide()),
        inverse_mass: Vector3::from_fn(|k, _| match prescribed[k].is_nan() {
            true => inverse,
            false => 0.0,
        }),
    }
}
