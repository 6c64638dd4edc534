//! Ten-node elements of a body under construction.

use nalgebra::Vector3;
use pliant_hydroelastic::mesh::{FilePosition, LoadReport, Location, QuadraticMesh, Severity};

use super::FemBuilder;
use crate::element::Element;
use crate::error::FemError;
use crate::quadratic::{Nodal, RestQuadratic, folds_at_a_corner};

impl FemBuilder {
    /// Replaces the mesh with that of all nodes, if elements are quadratic, and returns the nodes of each element then.
    pub(super) fn raise(&mut self) -> Result<Option<Vec<Nodal<u32>>>, FemError> {
        if self.element != Element::Quadratic {
            return Ok(None);
        }
        let (refinement, elements) = QuadraticMesh::of(&self.mesh)?.into_parts();
        self.mesh = refinement;
        let nodes = elements.iter().map(|nodes| nodes.map(|node| node.0));
        Ok(Some(nodes.collect()))
    }

    /// The elements of `nodes` at rest.
    pub(super) fn rest_quadratic(
        &self,
        nodes: &[Nodal<u32>],
        rest: &[Vector3<f64>],
    ) -> Result<Vec<RestQuadratic>, FemError> {
        let elements = nodes.iter().zip(0_u32..);
        let elements = elements.map(|(nodes, element)| {
            let at = nodes.map(|node| rest[node as usize]);
            let built = RestQuadratic::new(*nodes, &at, self.kinematics);
            built.map_err(|inverted| FemError::FoldedElement {
                element,
                nodes: *nodes,
                determinant: inverted.determinant,
            })
        });
        elements.collect()
    }
}

/// Reports elements that are curved too much near a corner.
pub(super) fn report_folds(
    elements: &[RestQuadratic],
    rest: &[Vector3<f64>],
    report: &mut LoadReport,
) {
    let folds =
        |element: &RestQuadratic| folds_at_a_corner(&element.nodes.map(|node| rest[node as usize]));
    let folded: Vec<usize> = (0..elements.len())
        .filter(|e| folds(&elements[*e]))
        .collect();
    if let Some(first) = folded.first() {
        let location = Location::new("finite-element body", FilePosition::Whole);
        let text = format!(
            "{} of {} quadratic elements are folded at a corner, the first is {first}: nodes of its edges are nearer to it than a quarter of the edges; they are simulated, with less accuracy",
            folded.len(),
            elements.len()
        );
        report.add(Severity::Suspicious, location, text);
    }
}
