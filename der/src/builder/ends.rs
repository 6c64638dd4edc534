//! Ends and other places of a rod: stubs, what is held, frames.

use nalgebra::Vector3;

use super::{FramePlace, RodBuilder};
use crate::centreline::Closure;
use crate::error::RodError;
use crate::rod::{End, RodFrame, RodParts};
use crate::section::parameter;

/// How an end of an open rod is held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum EndCondition {
    /// Not at all.
    #[default]
    Free,
    /// The node stays in place, the tangent turns freely.
    Pinned,
    /// The node, the tangent and the spin are held in the world by the default control, or moved by
    /// [`Rod::drive_clamp`](crate::Rod::drive_clamp).
    ///
    /// A stub edge before the node carries the tangent: deflections converge with the square of the edge length, where
    /// two held nodes would err by half an edge.
    Clamped {
        /// Direction of the rod at the node, towards its finish; `None`: that of its first (last) edge.
        tangent: Option<Vector3<f64>>,
    },
    /// As clamped, but to nothing yet: a weld of a frame at this end to another body holds node, tangent and spin. The
    /// stub has the mass of an edge.
    Welded {
        /// Direction of the rod at the node, towards its finish; `None`: that of its first (last) edge.
        tangent: Option<Vector3<f64>>,
    },
}

impl EndCondition {
    pub(super) fn has_stub(&self) -> bool {
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
    /// One condition an end, none of them contradicting another or a pin.
    pub(super) fn end_conditions(&self) -> Result<[EndCondition; 2], RodError> {
        let mut ends = [EndCondition::Free; 2];
        let n = self.centreline.nodes.len();
        for (end, condition) in &self.ends {
            if self.centreline.closure == Closure::Closed {
                return Err(RodError::RingHasNoEnds {
                    what: format!("{end:?} end {}", condition.name()),
                });
            }
            let slot = &mut ends[*end as usize];
            let node = match end {
                End::Start => 0,
                End::Finish => n - 1,
            };
            if *slot != EndCondition::Free && slot != condition {
                return Err(RodError::Contradiction {
                    node,
                    first: slot.name().into(),
                    second: condition.name().into(),
                });
            }
            *slot = *condition;
        }
        for &node in &self.pins {
            if node >= n {
                return Err(RodError::NoSuchPlace {
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
            if condition.has_stub() {
                return Err(RodError::Contradiction {
                    node,
                    first: condition.name().into(),
                    second: "pinned".into(),
                });
            }
        }
        Ok(ends)
    }

    /// Nodes of the centreline and of the stubs.
    pub(super) fn nodes_with_stubs(
        &self,
        ends: &[EndCondition; 2],
    ) -> Result<(Vec<Vector3<f64>>, [bool; 2]), RodError> {
        let line = &self.centreline;
        let mut nodes: Vec<Vector3<f64>> = line.nodes.iter().map(|p| p.coords).collect();
        let last_edge = line.n_edges() - 1;
        let last_node = nodes.len() - 1;
        let stub = |condition: &EndCondition,
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
            let refused = |what: &str, value, allowed| {
                let tangent = direction.as_slice();
                let name = format!("{what} of the clamp's tangent {tangent:?} at node {node}");
                Err(parameter(name, value, allowed))
            };
            let length = direction.norm();
            // Not "greater": NaN is to be refused, too.
            let is_unit = (length - 1.0).abs() <= 1e-6;
            if !is_unit {
                return refused("length", length, "must be 1");
            }
            // More than 60 degrees off the edge is no tangent of this centreline.
            let cosine = direction.dot(&along) / along.norm();
            if cosine <= 0.5 {
                return refused(
                    "cosine with the edge",
                    cosine,
                    "must be at least 0.5: within 60 degrees of the edge next to it, towards the finish",
                );
            }
            Ok(Some(direction * along.norm()))
        };
        let (start, finish) = (
            stub(&ends[0], (0, 0))?,
            stub(&ends[1], (last_edge, last_node))?,
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

    /// Marks what the default control holds.
    pub(super) fn hold(
        &self,
        parts: &mut RodParts,
        ends: &[EndCondition; 2],
    ) -> Result<(), RodError> {
        let n = parts.n_nodes;
        let places = [(0, 1, 0), (n - 1, n.saturating_sub(2), parts.n_edges - 1)];
        for (condition, (stub, node, edge)) in ends.iter().zip(places) {
            match condition {
                EndCondition::Clamped { .. } => {
                    parts.held[4 * stub..4 * stub + 3].fill(true);
                    parts.held[4 * node..4 * node + 3].fill(true);
                    parts.held[4 * edge + 3] = true;
                }
                EndCondition::Pinned => parts.held[4 * stub..4 * stub + 3].fill(true),
                EndCondition::Free | EndCondition::Welded { .. } => {}
            }
        }
        for pin in &self.pins {
            let node = pin + parts.first_node();
            parts.held[4 * node..4 * node + 3].fill(true);
        }
        Ok(())
    }

    pub(super) fn place_frames(&self, parts: &mut RodParts) -> Result<(), RodError> {
        for (name, place) in &self.frames {
            if parts.frames.iter().any(|f| f.name == *name) {
                return Err(RodError::DuplicateFrame { name: name.clone() });
            }
            let (edge, fraction) = match *place {
                FramePlace::Edge { edge, fraction } => {
                    let count = parts.n_segments();
                    if edge >= count {
                        return Err(RodError::NoSuchPlace {
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
                FramePlace::End(_) if parts.is_ring() => {
                    return Err(RodError::RingHasNoEnds {
                        what: format!("frame \"{name}\" at an end"),
                    });
                }
                FramePlace::End(End::Start) => (0, if parts.stubs[0] { 1.0 } else { 0.0 }),
                FramePlace::End(End::Finish) => {
                    (parts.n_edges - 1, if parts.stubs[1] { 0.0 } else { 1.0 })
                }
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
