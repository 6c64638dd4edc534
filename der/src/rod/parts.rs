//! What a rod is made of, as its step and its energies read it.

use pliant_contact_sap::BodyState;

use super::Rayleigh;
use crate::centreline::Closure;
use crate::elasticity::{Impossible, Reference};
use crate::frames::HistoryLayout;
use crate::free_motion::FreeMotionSettings;
use crate::natural_shape::NaturalTable;
use crate::section::Section;
use crate::strain::JointStiffness;

#[derive(Clone, Debug)]
pub(crate) struct RodParts {
    pub(crate) closure: Closure,
    pub(crate) n_nodes: usize,
    pub(crate) n_edges: usize,
    pub(crate) n_joints: usize,
    /// Stubs at start and finish.
    pub(crate) stubs: [bool; 2],
    pub(crate) rest_length: Vec<f64>,
    /// EA of each edge, N.
    pub(crate) stretch: Vec<f64>,
    /// v̄ of each joint, m.
    pub(crate) voronoi: Vec<f64>,
    pub(crate) joint_stiffness: Vec<JointStiffness>,
    /// Diagonal of M: kg for nodes, kg·m² for angles.
    pub(crate) mass: Vec<f64>,
    /// √(I_p/A) of each edge, m: makes residuals of angles comparable to those of nodes.
    pub(crate) polar_radius: Vec<f64>,
    pub(crate) natural: NaturalTable,
    pub(crate) damping: Rayleigh,
    pub(crate) section: Option<Section>,
    pub(crate) contact_radius: f64,
    pub(crate) frames: Vec<RodFrame>,
    /// Unknowns held by the default control.
    pub(crate) held: Vec<bool>,
    pub(crate) start: BodyState,
    pub(crate) settings: FreeMotionSettings,
}

/// A frame that rides on an edge: origin on the centreline, axes m1, m2, t. Constraints hold it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RodFrame {
    pub(crate) name: String,
    /// Edge, stubs counted.
    pub(crate) edge: usize,
    /// 0 at its first node, 1 at its second.
    pub(crate) fraction: f64,
}

impl RodParts {
    pub(crate) fn is_ring(&self) -> bool {
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
        usize::from(self.stubs[0])
    }

    /// Nodes of the centreline.
    pub(crate) fn n_vertices(&self) -> usize {
        self.n_nodes - usize::from(self.stubs[0]) - usize::from(self.stubs[1])
    }

    /// Edges of the centreline.
    pub(crate) fn n_segments(&self) -> usize {
        self.n_edges - usize::from(self.stubs[0]) - usize::from(self.stubs[1])
    }

    /// The number the user knows a node by, as words.
    pub(crate) fn node_name(&self, node: usize) -> String {
        if self.stubs[0] && node == 0 {
            "the stub before the first node".into()
        } else if self.stubs[1] && node + 1 == self.n_nodes {
            "the stub after the last node".into()
        } else {
            format!("node {}", node - self.first_node())
        }
    }

    /// What is impossible, in words.
    pub(crate) fn describe(&self, impossible: Impossible) -> String {
        let edge_name = |edge: usize| {
            let (a, b) = self.nodes_of_edge(edge);
            format!("between {} and {}", self.node_name(a), self.node_name(b))
        };
        match impossible {
            Impossible::Turned { edge } => format!(
                "the edge {} would turn by more than 140 degrees in one step; take a smaller time step",
                edge_name(edge)
            ),
            Impossible::Collapsed { edge } => format!(
                "the edge {} is shorter than a thousandth of its {:e} m at rest: loads crush it; raise the stretching stiffness or lower the load",
                edge_name(edge),
                self.rest_length[edge]
            ),
            Impossible::Folded { joint } => format!(
                "the rod is folded flat at {}, where its curvature is infinite",
                self.node_name(self.node_of_joint(joint))
            ),
        }
    }

    /// Frames of `history` and natural strains at `time_s`.
    pub(crate) fn refer(&self, history: &[f64], time_s: f64, out: &mut Reference) {
        let layout = self.history();
        out.anchors.clear();
        let anchors = (0..self.n_edges).map(|i| layout.anchor(history, i));
        out.anchors.extend(anchors);
        out.betas.clear();
        out.betas.extend_from_slice(layout.twists(history));
        self.natural.at(time_s, &mut out.natural);
    }
}

impl RodParts {
    pub(crate) fn node_mass(&self, node: usize) -> f64 {
        self.mass[4 * node]
    }

    pub(crate) fn new_matrix(&self) -> crate::rod_matrix::RodMatrix {
        match self.closure {
            Closure::Open => crate::rod_matrix::RodMatrix::open(self.n_dofs()),
            Closure::Closed => crate::rod_matrix::RodMatrix::ring(self.n_dofs()),
        }
    }

    /// Lengths and finiteness.
    pub(crate) fn check_state(
        &self,
        state: &BodyState,
    ) -> Result<(), pliant_contact_sap::BodyError> {
        use pliant_contact_sap::BodyError;
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
                let place = match what {
                    "history of a rod" => format!("{what}, entry {i}"),
                    _ if i % 4 == 3 => format!("{what}, angle of edge {}", i / 4),
                    _ => format!("{what}, {}", self.node_name(i / 4)),
                };
                return Err(BodyError::NotFinite {
                    place,
                    value: values[i],
                });
            }
        }
        Ok(())
    }
}
