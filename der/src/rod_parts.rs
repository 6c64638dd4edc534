//! The immutable data of a rod, shared by its energies, its steps and its surface.

use pliant_contact_sap::{BodyError, BodyState};

use crate::centreline::Closure;
use crate::damping::Rayleigh;
use crate::frames::HistoryLayout;
use crate::free_motion_settings::FreeMotionSettings;
use crate::impossible::Impossible;
use crate::natural_shape::NaturalTable;
use crate::rod_matrix::RodMatrix;
use crate::section::Section;
use crate::strain::JointStiffness;

#[derive(Clone, Debug)]
pub(crate) struct RodParts {
    pub(crate) closure: Closure,
    pub(crate) n_nodes: usize,
    pub(crate) n_edges: usize,
    pub(crate) n_joints: usize,
    /// Whether the start and the finish have a clamp edge.
    pub(crate) clamp_edges: [bool; 2],
    pub(crate) rest_length: Vec<f64>,
    /// EA of each edge, N.
    pub(crate) stretch: Vec<f64>,
    /// v̄ of each joint, m.
    pub(crate) voronoi: Vec<f64>,
    pub(crate) joint_stiffness: Vec<JointStiffness>,
    /// Diagonal of M: kg for nodes, kg·m² for angles.
    pub(crate) mass: Vec<f64>,
    /// √(I_p/A) of each edge, m: scales residuals of angles to those of nodes.
    pub(crate) polar_radius: Vec<f64>,
    pub(crate) natural: NaturalTable,
    pub(crate) damping: Rayleigh,
    pub(crate) section: Option<Section>,
    pub(crate) contact_radius: f64,
    pub(crate) frames: Vec<RodFrame>,
    /// Unknowns held fixed by the default control.
    pub(crate) held: Vec<bool>,
    pub(crate) start: BodyState,
    pub(crate) settings: FreeMotionSettings,
}

/// A named frame fixed on an edge: origin on the centreline, axes m1, m2, t. Constraints and loads refer to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RodFrame {
    pub(crate) name: String,
    /// Edge, clamp edges counted.
    pub(crate) edge: usize,
    /// 0 at its first node, 1 at its second.
    pub(crate) fraction: f64,
}

impl RodParts {
    pub(crate) fn is_closed(&self) -> bool {
        self.closure == Closure::Closed
    }

    pub(crate) fn n_dofs(&self) -> usize {
        3 * self.n_nodes + self.n_edges
    }

    /// Edges before and after a joint.
    #[inline]
    pub(crate) fn edges_of_joint(&self, joint: usize) -> (usize, usize) {
        let next = joint + 1;
        (joint, if next == self.n_edges { 0 } else { next })
    }

    /// The node of a joint.
    pub(crate) fn node_of_joint(&self, joint: usize) -> usize {
        (joint + 1) % self.n_nodes
    }

    #[inline]
    pub(crate) fn nodes_of_edge(&self, edge: usize) -> (usize, usize) {
        let next = edge + 1;
        (edge, if next == self.n_nodes { 0 } else { next })
    }

    pub(crate) fn history(&self) -> HistoryLayout {
        HistoryLayout {
            n_edges: self.n_edges,
            n_joints: self.n_joints,
        }
    }

    /// First node of the centreline.
    pub(crate) fn first_node(&self) -> usize {
        usize::from(self.clamp_edges[0])
    }

    /// Nodes of the centreline.
    pub(crate) fn n_vertices(&self) -> usize {
        self.n_nodes - usize::from(self.clamp_edges[0]) - usize::from(self.clamp_edges[1])
    }

    /// Edges of the centreline.
    pub(crate) fn n_segments(&self) -> usize {
        self.n_edges - usize::from(self.clamp_edges[0]) - usize::from(self.clamp_edges[1])
    }

    /// The node in words, numbered as the user does.
    pub(crate) fn node_name(&self, node: usize) -> String {
        if self.clamp_edges[0] && node == 0 {
            "the clamp node before the first node".into()
        } else if self.clamp_edges[1] && node + 1 == self.n_nodes {
            "the clamp node after the last node".into()
        } else {
            format!("node {}", node - self.first_node())
        }
    }

    /// Entry `i` of the velocities in words, numbered as the user does.
    pub(crate) fn unknown_name(&self, i: usize) -> String {
        let edge = i / 4;
        if i % 4 != 3 {
            self.node_name(i / 4)
        } else if self.clamp_edges[0] && edge == 0 {
            "angle of the clamp edge before the first node".into()
        } else if self.clamp_edges[1] && edge + 1 == self.n_edges {
            "angle of the clamp edge after the last node".into()
        } else {
            format!("angle of edge {}", edge - self.first_node())
        }
    }

    /// Error message for an inadmissible configuration.
    pub(crate) fn describe(&self, impossible: Impossible) -> String {
        let edge_name = |edge: usize| {
            let (a, b) = self.nodes_of_edge(edge);
            format!("between {} and {}", self.node_name(a), self.node_name(b))
        };
        match impossible {
            Impossible::Turned { edge } => format!(
                "the edge {} would turn by more than 143 degrees in one step; use a smaller time step",
                edge_name(edge)
            ),
            Impossible::Collapsed { edge } => format!(
                "the edge {} is shorter than 1/1000 of its rest length {:e} m; increase the stretching stiffness or reduce the load",
                edge_name(edge),
                self.rest_length[edge]
            ),
            Impossible::Folded { joint } => format!(
                "the rod is folded by 180 degrees at {}, where its curvature is infinite; use a smaller time step or more edges",
                self.node_name(self.node_of_joint(joint))
            ),
        }
    }

    pub(crate) fn node_mass(&self, node: usize) -> f64 {
        self.mass[4 * node]
    }

    pub(crate) fn new_matrix(&self) -> RodMatrix {
        match self.closure {
            Closure::Open => RodMatrix::open(self.n_dofs()),
            Closure::Closed => RodMatrix::closed(self.n_dofs()),
        }
    }

    /// Checks that tangent and director of each edge are unit vectors at a right angle.
    pub(crate) fn check_frames(&self, history: &[f64]) -> Result<(), BodyError> {
        let layout = self.history();
        let off = |edge: usize| {
            let frame = layout.frame(history, edge);
            let lengths = [frame.tangent, frame.director].map(|d| (d.norm() - 1.0).abs());
            let cosine = frame.tangent.dot(&frame.director).abs();
            lengths.into_iter().fold(cosine, f64::max)
        };
        match (0..self.n_edges).find(|edge| off(*edge) > 1e-6) {
            None => Ok(()),
            Some(edge) => Err(BodyError::Model(format!(
                "tangent and director of edge {edge} of the rod are off unit length or a right angle by {:.1e}",
                off(edge)
            ))),
        }
    }

    /// Checks that the arrays have the right lengths and finite entries.
    pub(crate) fn check_state(&self, state: &BodyState) -> Result<(), BodyError> {
        let n = self.n_dofs();
        let vectors = [
            ("q of a rod", &state.q, n),
            ("v of a rod", &state.v, n),
            ("history of a rod", &state.history, self.history().len()),
        ];
        for (what, values, expected) in vectors {
            if values.len() != expected {
                return Err(BodyError::StateLength {
                    what,
                    found: values.len(),
                    expected,
                });
            }
            if let Some(i) = values.iter().position(|x| !x.is_finite()) {
                let entry = match what {
                    "history of a rod" => format!("{what}, entry {i}"),
                    _ => format!("{what}, {}", self.unknown_name(i)),
                };
                return Err(BodyError::NotFinite {
                    location: entry,
                    value: values[i],
                });
            }
        }
        Ok(())
    }
}
