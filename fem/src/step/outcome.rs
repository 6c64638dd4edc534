//! Checks of the end of a step: elements that are inverted or have rotated too far.

use nalgebra::Vector3;
use pliant_contact_sap::BodyError;

use super::FemStep;
use super::lagged_rotation::ROTATION_WARNED;
use crate::element::Element;
use crate::material::Linearity;
use crate::parallel;

impl FemStep {
    /// Rejects inverted domains of a barrier law.
    pub(super) fn refuse_inverted(&self, q: &[Vector3<f64>], when: &str) -> Result<(), BodyError> {
        let parts = &*self.motion.parts;
        let det = |d: usize| parts.deformation(d, q).determinant();
        let inverted = |d: usize| parts.laws.at(d).has_barrier() && det(d) <= 0.0;
        let Some((first, many)) = parallel::count(parts.domains.len(), inverted) else {
            return Ok(());
        };
        let more = match many {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        let group = parts.domains.group_of(first);
        let domain = match (parts.element, parts.domains.members(group)) {
            (Element::Quadratic, [tet, ..]) => {
                format!("quadratic element {}, at a point or its mean,", tet / 8)
            }
            (_, [tet]) => format!("tetrahedron {tet}"),
            (_, [tet, ..]) => format!("the mean over tetrahedron {tet} and its neighbours"),
            (_, []) => format!("domain {first}"),
        };
        Err(BodyError::Model(format!(
            "{domain} (vertices {:?}){more} is inverted {when}, det F = {:.3e}, where this material's energy is infinite; use a smaller time step, or a law that is defined for inverted elements, such as stable-neo-hookean",
            parts.domains.at(first).vertices,
            det(first)
        )))
    }

    pub(super) fn warnings(&self, q: &[Vector3<f64>], v: &[Vector3<f64>]) -> Vec<String> {
        let parts = &*self.motion.parts;
        let mut warnings = Vec::new();
        let det = |e: usize| parts.tet_deformation(e, q).determinant();
        if let Some((first, many)) = parallel::count(parts.elements.len(), |e| det(e) <= 0.0) {
            warnings.push(format!(
                "{many} of {} tetrahedra are inverted, the first is {first} (vertices {:?}), det F = {:.3e}; their surfaces make no contact",
                parts.elements.len(),
                parts.elements[first].vertices,
                det(first)
            ));
        }
        if parts.linearity == Linearity::Corotated {
            let rotation = self.elements.largest_rotation(&self.motion, v);
            if rotation > ROTATION_WARNED {
                warnings.push(format!(
                    "an element rotated by {rotation:.2} rad in one step; beyond {ROTATION_WARNED} the linear corotated law overestimates volume: use a smaller time step"
                ));
            }
        }
        warnings
    }
}
