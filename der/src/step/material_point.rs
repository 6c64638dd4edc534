//! Material points of a rod in a step: their location, interpolation and motion.

use nalgebra::{Matrix3, SMatrix, Vector3};
use pliant_contact_sap::{BasisIdx, BodyError, MaterialPoint, Primitive, Rows};

use super::RodStep;
use super::point_location::PointLocation;
use crate::strain::EdgeKinematics;

impl RodStep {
    pub(super) fn locate(&self, p: &MaterialPoint) -> Result<PointLocation, BodyError> {
        let rod = &*self.rod;
        let (first, n_segments) = (rod.first_node(), rod.n_segments());
        let no_such_point = || BodyError::NoSuchPoint {
            point: p.primitive,
            available: format!(
                "{} frames, {} vertices, {n_segments} edges",
                rod.frames.len(),
                rod.n_vertices()
            ),
        };
        let offset = p.offset;
        match p.primitive {
            Primitive::Frame(i) if (i as usize) < rod.frames.len() => Ok(PointLocation::Frame {
                frame: i as usize,
                offset,
            }),
            Primitive::Edge(i) if (i as usize) < n_segments => Ok(PointLocation::Edge {
                edge: i as usize + first,
                fraction: p.weights[1] / (p.weights[0] + p.weights[1]),
                offset,
            }),
            Primitive::Vertex(i) if (i as usize) < rod.n_vertices() => {
                let node = i as usize + first;
                if offset == Vector3::zeros() {
                    return Ok(PointLocation::Node(node));
                }
                // A point beside a node moves with an adjacent edge.
                let (edge, fraction) = self.edge_at(node);
                Ok(PointLocation::Edge {
                    edge,
                    fraction,
                    offset,
                })
            }
            _ => Err(no_such_point()),
        }
    }

    /// The edge after a node (before it, for the last node), and the node's fraction on it.
    pub(super) fn edge_at(&self, node: usize) -> (usize, f64) {
        let rod = &*self.rod;
        let last = rod.first_node() + rod.n_segments() - 1;
        if node <= last {
            (node, 0.0)
        } else {
            (last, 1.0)
        }
    }

    /// Bases: edges (seven unknowns x_i, γ, x_i+1), then nodes (three), then named frames (a twist, six rows).
    pub(super) fn basis_of(&self, location: &PointLocation) -> BasisIdx {
        let (n_edges, n_nodes) = (self.rod.n_edges, self.rod.n_nodes);
        BasisIdx(match location {
            PointLocation::Edge { edge, .. } => *edge,
            PointLocation::Node(node) => n_edges + node,
            PointLocation::Frame { frame, .. } => n_edges + n_nodes + frame,
        } as u32)
    }

    /// Φ of a point of an edge on (x_i', γ', x_i+1'), 3×7:
    ///
    /// ```text
    /// v = (1−s) x_i' + s x_i+1' + (t × r) γ' − t (r·(x_i+1' − x_i'))/l
    /// ```
    ///
    /// The third term is the rotation of the section about the tangent: through it friction twists the rod. The fourth is
    /// its rotation across the tangent, which carries the moment r × f of a force along the rod.
    pub(super) fn edge_interpolation(
        edge: &EdgeKinematics,
        fraction: f64,
        r: &Vector3<f64>,
    ) -> SMatrix<f64, 3, 7> {
        let t = &edge.tangent;
        let swing = t * r.transpose() / edge.length;
        let mut phi = SMatrix::<f64, 3, 7>::zeros();
        let first = Matrix3::identity() * (1.0 - fraction) + swing;
        let second = Matrix3::identity() * fraction - swing;
        phi.fixed_columns_mut::<3>(0).copy_from(&first);
        phi.set_column(3, &t.cross(r));
        phi.fixed_columns_mut::<3>(4).copy_from(&second);
        phi
    }

    /// Unknowns of the two nodes and the angle of an edge.
    pub(super) fn edge_dofs(&self, edge: usize) -> (usize, usize, usize) {
        let (a, b) = self.rod.nodes_of_edge(edge);
        (4 * a, 4 * edge + 3, 4 * b)
    }

    /// Identity rows of `n` unknowns; held velocities become bias.
    pub(super) fn identity(&self, row: usize, dof: usize, n: usize, out: &mut Rows) {
        let held = &self.motion.held[dof..dof + n];
        if !held.contains(&true) {
            out.identity(row, dof, n);
            return;
        }
        for (k, held) in held.iter().enumerate() {
            if *held {
                out.bias_mut()[row + k] = self.motion.start[dof + k];
            } else {
                out.identity(row + k, dof + k, 1);
            }
        }
    }

    /// Value of unknown `i` of q at the end of a step with velocity `v`.
    pub(super) fn moved(&self, v: &[f64], i: usize) -> f64 {
        let v0 = self.motion.start[i];
        let v = if self.motion.held[i] { v0 } else { v[i] };
        let step = &self.motion.time_step;
        self.q[i] + step.length_s * step.mean_velocity(v0, v)
    }

    /// A column of a twist basis; a held velocity becomes bias.
    pub(super) fn column(
        &self,
        dof: usize,
        angular: &Vector3<f64>,
        linear: &Vector3<f64>,
        out: &mut Rows,
    ) {
        let held = self.motion.held[dof];
        let v0 = self.motion.start[dof];
        let values = if held {
            &mut out.bias_mut()[..6]
        } else {
            out.dense(0, 6, dof, 1)
        };
        let scale = if held { v0 } else { 1.0 };
        for k in 0..3 {
            values[k] += scale * angular[k];
            values[3 + k] += scale * linear[k];
        }
    }
}
