//! The contact surface of a rod and its motion, and its named frames.

use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, UnitQuaternion, Vector3};
use pliant_contact_sap::{FlatEdge, Surface, SurfaceMotion};

use super::RodStep;
use crate::elasticity::node;
use crate::rod_parts::RodParts;
use crate::strain::EdgeKinematics;

/// Material frame of an edge as a rotation, columns m1, m2, t.
pub(crate) fn frame_axes(edge: &EdgeKinematics) -> Rotation3<f64> {
    let axes = Matrix3::from_columns(&[edge.m_1, edge.m_2, edge.tangent]);
    Rotation3::from_matrix_unchecked(axes)
}

/// Writes the contact surface of a rod at `q`, with the edges' kinematics from `edges`.
pub(crate) fn write_surface(
    rod: &RodParts,
    q: &[f64],
    edges: impl Fn(usize) -> Option<EdgeKinematics>,
    out: &mut Surface,
) {
    out.clear();
    for frame in &rod.frames {
        let pose = edges(frame.edge).map_or_else(Isometry3::identity, |edge| {
            let (a, _) = rod.nodes_of_edge(frame.edge);
            let origin = node(q, a) + edge.tangent * (edge.length * frame.fraction);
            let axes = UnitQuaternion::from_rotation_matrix(&frame_axes(&edge));
            Isometry3::from_parts(origin.into(), axes)
        });
        out.frames.push(pose);
    }
    let first = rod.first_node();
    let nodes = first..first + rod.n_vertices();
    out.vertices.extend(nodes.map(|i| Point3::from(node(q, i))));
    out.radii.resize(rod.n_vertices(), rod.contact_radius);
    let flat = rod.section.and_then(|section| section.flat_outline());
    for i in 0..rod.n_segments() {
        let (a, b) = rod.nodes_of_edge(i + first);
        out.edges.push([(a - first) as u32, (b - first) as u32]);
        let Some(edge) = edges(i + first) else {
            continue;
        };
        let m_1 = edge.m_1;
        out.directors.push(m_1);
        if let Some((outline, half_extents)) = flat {
            out.sections.push(FlatEdge {
                m_1,
                half_extents,
                outline,
            });
        }
    }
}

impl SurfaceMotion for RodStep {
    fn start_surface(&self, out: &mut Surface) {
        write_surface(&self.rod, &self.q, |i| Some(self.start[i]), out);
    }

    fn vertex_velocities(&self, v: &[f64], out: &mut Vec<Vector3<f64>>) {
        let rod = &*self.rod;
        let (start, held) = (&self.motion.start, &self.motion.held);
        out.clear();
        let nodes = rod.first_node()..rod.first_node() + rod.n_vertices();
        out.extend(nodes.map(|i| {
            Vector3::from_fn(|k, _| {
                let dof = 4 * i + k;
                if held[dof] { start[dof] } else { v[dof] }
            })
        }));
    }
}
