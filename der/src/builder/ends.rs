//! Boundary conditions of a rod: clamp edges, held unknowns, named frames.

use nalgebra::Vector3;

use super::{FramePosition, RodBuilder};
use crate::centreline::Closure;
use crate::error::RodError;
use crate::rod::End;
use crate::rod_parts::{RodFrame, RodParts};
use crate::section::parameter;

/// Boundary condition of an end of an open rod.
///
/// ```
/// use nalgebra::{Point3, Vector3};
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
/// use pliant_der::{End, EndCondition, EquilibriumSettings};
///
/// // A cantilever of 1 m under its weight: the tip sinks by q L⁴/8EI while that is small.
/// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 20);
/// # let (section, steel) = (Section::Circle { radius: 5e-3 }, Material::isotropic(2e11, 0.3, 7800.0)?);
/// let rod = RodBuilder::new(line)
///     .section(section, steel)
///     .end(End::Start, EndCondition::Clamped { tangent: None })
///     .build()?;
/// let gravity = Vector3::new(0.0, 0.0, -9.81);
/// let rest = rod.equilibrium(&rod.default_state(), &gravity, &rod.default_control(), &EquilibriumSettings::default())?;
/// let properties = section.properties(&steel)?;
/// let expected = properties.mass * 9.81 / (8.0 * properties.bend_1);
/// assert!((-rod.position(&rest.state, 20).z / expected - 1.0).abs() < 0.01);
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum EndCondition {
    /// Free.
    #[default]
    Free,
    /// The node's position is fixed, the tangent is free.
    Pinned,
    /// Position, tangent and material angle are held in the world by the default control, or moved by
    /// [`Rod::set_clamp_velocity`](crate::Rod::set_clamp_velocity).
    ///
    /// An additional clamp edge before the node prescribes the tangent. Deflections then converge with second order in the
    /// edge length; holding two nodes of the centreline instead would shorten the rod by half an edge.
    Clamped {
        /// Unit tangent at the node, from start to finish; `None`: the direction of the first (last) edge.
        tangent: Option<Vector3<f64>>,
    },
    /// A clamp edge that is free to move. Welding a frame at this end to another body then holds position, tangent and
    /// material angle. The clamp edge has the mass of its neighbouring edge.
    Welded {
        /// Unit tangent at the node, from start to finish; `None`: the direction of the first (last) edge.
        tangent: Option<Vector3<f64>>,
    },
}

impl EndCondition {
    pub(super) fn has_clamp_edge(&self) -> bool {
        matches!(self, Self::Clamped { .. } | Self::Welded { .. })
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Pinned => "pinned",
            Self::Clamped { .. } => "clamped",
            Self::Welded { .. } => "welded",
        }
    }
}

impl RodBuilder {
    /// One condition for each end, compatible with the pinned nodes.
    pub(super) fn end_conditions(&self) -> Result<[EndCondition; 2], RodError> {
        let mut ends = [EndCondition::Free; 2];
        let n = self.centreline.nodes.len();
        for (end, condition) in &self.ends {
            if self.centreline.closure == Closure::Closed {
                return Err(RodError::ClosedRodHasNoEnds {
                    what: format!("{end:?} end {}", condition.name()),
                });
            }
            let slot = &mut ends[*end as usize];
            let node = match end {
                End::Start => 0,
                End::Finish => n - 1,
            };
            if *slot != EndCondition::Free && slot != condition {
                return Err(RodError::ConflictingConditions {
                    node,
                    first: slot.name().into(),
                    second: condition.name().into(),
                });
            }
            *slot = *condition;
        }
        for &node in &self.pins {
            if node >= n {
                return Err(RodError::IndexOutOfRange {
                    what: "node",
                    index: node,
                    count: n,
                });
            }
            let condition = match node {
                0 => ends[0],
                _ if node == n - 1 => ends[1],
                _ => EndCondition::Free,
            };
            if condition.has_clamp_edge() {
                return Err(RodError::ConflictingConditions {
                    node,
                    first: condition.name().into(),
                    second: "pinned".into(),
                });
            }
        }
        Ok(ends)
    }

    /// Nodes of the centreline with the clamp nodes, and which ends have a clamp edge.
    pub(super) fn nodes_with_clamp_nodes(
        &self,
        ends: &[EndCondition; 2],
    ) -> Result<(Vec<Vector3<f64>>, [bool; 2]), RodError> {
        let line = &self.centreline;
        let mut nodes: Vec<Vector3<f64>> = line.nodes.iter().map(|p| p.coords).collect();
        let last_edge = line.n_edges() - 1;
        let last_node = nodes.len() - 1;
        let clamp_edge = |condition: &EndCondition,
                          (edge, node): (usize, usize)|
         -> Result<Option<_>, RodError> {
            let (EndCondition::Clamped { tangent } | EndCondition::Welded { tangent }) = condition
            else {
                return Ok(None);
            };
            let along = line.edge(edge);
            let Some(direction) = tangent else {
                return Ok(Some(along));
            };
            let invalid = |what: &str, value, allowed| {
                let tangent = direction.as_slice();
                let name = format!("{what} of the clamp's tangent {tangent:?} at node {node}");
                Err(parameter(name, value, allowed))
            };
            let length = direction.norm();
            // Written so that NaN is rejected, too.
            let is_unit = (length - 1.0).abs() <= 1e-6;
            if !is_unit {
                return invalid("length", length, "must be 1");
            }
            // Beyond 60 degrees from the edge, the tangent does not belong to this centreline.
            let cosine = direction.dot(&along) / along.norm();
            if cosine <= 0.5 {
                return invalid(
                    "cosine with the edge",
                    cosine,
                    "must exceed 0.5: the tangent must lie within 60 degrees of the adjacent edge and point from start to finish",
                );
            }
            Ok(Some(direction * along.norm()))
        };
        let (start, finish) = (
            clamp_edge(&ends[0], (0, 0))?,
            clamp_edge(&ends[1], (last_edge, last_node))?,
        );
        if let Some(along) = finish {
            let last = nodes[nodes.len() - 1];
            nodes.push(last + along);
        }
        if let Some(along) = start {
            nodes.insert(0, nodes[0] - along);
        }
        Ok((nodes, [start.is_some(), finish.is_some()]))
    }

    /// Marks the unknowns that the default control holds.
    pub(super) fn hold(
        &self,
        parts: &mut RodParts,
        ends: &[EndCondition; 2],
    ) -> Result<(), RodError> {
        let n = parts.n_nodes;
        let outermost = [(0, 1, 0), (n - 1, n.saturating_sub(2), parts.n_edges - 1)];
        for (condition, (last_node, node, edge)) in ends.iter().zip(outermost) {
            match condition {
                EndCondition::Clamped { .. } => {
                    parts.held[4 * last_node..4 * last_node + 3].fill(true);
                    parts.held[4 * node..4 * node + 3].fill(true);
                    parts.held[4 * edge + 3] = true;
                }
                EndCondition::Pinned => parts.held[4 * last_node..4 * last_node + 3].fill(true),
                EndCondition::Free | EndCondition::Welded { .. } => {}
            }
        }
        for pin in &self.pins {
            let node = pin + parts.first_node();
            parts.held[4 * node..4 * node + 3].fill(true);
        }
        Ok(())
    }

    /// Adds the named frames.
    pub(super) fn add_frames(&self, parts: &mut RodParts) -> Result<(), RodError> {
        for (name, position) in &self.frames {
            if parts.frames.iter().any(|f| f.name == *name) {
                return Err(RodError::DuplicateFrame { name: name.clone() });
            }
            let (edge, fraction) = match *position {
                FramePosition::Edge { edge, fraction } => {
                    let count = parts.n_segments();
                    if edge >= count {
                        return Err(RodError::IndexOutOfRange {
                            what: "edge",
                            index: edge,
                            count,
                        });
                    }
                    if !(0.0..=1.0).contains(&fraction) {
                        return Err(parameter(
                            format!("fraction of frame \"{name}\""),
                            fraction,
                            "must lie in [0, 1]",
                        ));
                    }
                    (edge + parts.first_node(), fraction)
                }
                FramePosition::End(_) if parts.is_closed() => {
                    return Err(RodError::ClosedRodHasNoEnds {
                        what: format!("frame \"{name}\" at an end"),
                    });
                }
                FramePosition::End(End::Start) => (0, if parts.clamp_edges[0] { 1.0 } else { 0.0 }),
                FramePosition::End(End::Finish) => (
                    parts.n_edges - 1,
                    if parts.clamp_edges[1] { 0.0 } else { 1.0 },
                ),
            };
            parts.frames.push(RodFrame {
                name: name.clone(),
                edge,
                fraction,
            });
        }
        Ok(())
    }
}
