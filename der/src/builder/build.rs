//! From the specification of a rod to its data: rest lengths, masses, stiffnesses of joints, initial frames.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::BodyState;

use super::initial_frames::InitialFrames;
use super::{RodBuilder, Stiffness};
use crate::centreline::Closure;
use crate::error::RodError;
use crate::natural_shape::{JointStrain, NaturalShape, NaturalTable};
use crate::rod::Rod;
use crate::rod_parts::RodParts;
use crate::section::{RodProperties, parameter, positive};
use crate::strain::JointStiffness;

impl RodBuilder {
    /// Validates the specification and builds the rod.
    ///
    /// # Errors
    /// [`RodError`] with the node, edge or parameter, its value and the allowed range.
    pub fn build(self) -> Result<Rod, RodError> {
        self.centreline.validate()?;
        self.settings.validate()?;
        let non_negative = |name: &str, value: f64| match value {
            v if v >= 0.0 && v.is_finite() => Ok(()),
            v => Err(parameter(name, v, "must be finite and not negative")),
        };
        non_negative("mass damping alpha", self.damping.mass)?;
        non_negative("stiffness damping beta", self.damping.stiffness)?;
        positive("rest length scale", self.rest_length_scale)?;
        let ends = self.end_conditions()?;
        let properties = self.edge_properties()?;
        if let Some(section) = &self.section {
            section.validate()?;
        }
        let (nodes, clamp_edges) = self.nodes_with_clamp_nodes(&ends)?;
        let is_closed = self.centreline.closure == Closure::Closed;
        let n_nodes = nodes.len();
        let n_edges = if is_closed { n_nodes } else { n_nodes - 1 };
        let n_joints = if is_closed { n_edges } else { n_edges - 1 };
        // The centreline's edge whose properties an edge has; clamp edges have those of their neighbours.
        let first = usize::from(clamp_edges[0]);
        let n_segments = self.centreline.n_edges();
        let segment = |edge: usize| edge.saturating_sub(first).min(n_segments - 1);
        let is_clamp_edge =
            |edge: usize| (clamp_edges[0] && edge == 0) || (clamp_edges[1] && edge + 1 == n_edges);

        let edges: Vec<Vector3<f64>> = (0..n_edges)
            .map(|i| nodes[(i + 1) % n_nodes] - nodes[i])
            .collect();
        let rest_length: Vec<f64> = edges
            .iter()
            .map(|e| e.norm() * self.rest_length_scale)
            .collect();
        let mut voronoi = Vec::with_capacity(n_joints);
        let mut joint_stiffness = Vec::with_capacity(n_joints);
        for joint in 0..n_joints {
            let (a, b) = (joint, (joint + 1) % n_edges);
            // The clamp's half of the Voronoi cell is rigid.
            let half_cell = |edge: usize| {
                if is_clamp_edge(edge) {
                    0.0
                } else {
                    rest_length[edge]
                }
            };
            let (l_a, l_b) = (half_cell(a), half_cell(b));
            let v = 0.5 * (l_a + l_b);
            let (p_a, p_b) = (&properties[segment(a)], &properties[segment(b)]);
            let mean =
                |of: fn(&RodProperties) -> f64| (of(p_a) * l_a + of(p_b) * l_b) / (l_a + l_b);
            voronoi.push(v);
            joint_stiffness.push(JointStiffness {
                bend_1: mean(|p| p.bend_1) / v,
                bend_2: mean(|p| p.bend_2) / v,
                twist: mean(|p| p.twist) / v,
            });
        }
        let mut mass = vec![0.0; 3 * n_nodes + n_edges];
        let mut polar_radius = Vec::with_capacity(n_edges);
        for edge in 0..n_edges {
            let p = &properties[segment(edge)];
            let half = 0.5 * p.mass * rest_length[edge];
            // A clamp edge's mass is lumped at its clamp node, so that the rod has the mass of its centreline.
            let lumped = match (is_clamp_edge(edge), edge) {
                (false, _) => [half, half],
                (true, 0) => [2.0 * half, 0.0],
                (true, _) => [0.0, 2.0 * half],
            };
            for (node, lumped) in [edge, (edge + 1) % n_nodes].into_iter().zip(lumped) {
                for k in 0..3 {
                    mass[4 * node + k] += lumped;
                }
            }
            mass[4 * edge + 3] = p.spin_inertia * rest_length[edge];
            polar_radius.push((p.spin_inertia / p.mass).sqrt());
        }

        if self.directors.len() > 1 && self.directors.len() != n_segments {
            return Err(RodError::Count {
                what: "directors",
                found: self.directors.len(),
                expected: n_segments,
                of: "edges",
            });
        }
        let mut frames =
            InitialFrames::new(&edges, first, is_closed, &self.directors, &rest_length)?;
        // Joint j is at node j + 1, clamp nodes counted.
        let node_of = |joint: usize| (joint + 1 - first) % self.centreline.nodes.len();
        let natural = self.natural_strains(&frames.strains(&edges), &voronoi, node_of)?;
        let natural = NaturalTable::new(
            natural,
            &voronoi,
            self.natural_shape_schedule.clone(),
            node_of,
        )?;
        frames.twist(self.initial_twist, &rest_length, is_closed)?;

        let mut q = Vec::with_capacity(mass.len());
        for (i, node) in nodes.iter().enumerate() {
            q.extend_from_slice(node.as_slice());
            q.extend(frames.angles.get(i));
        }
        let contact_radius = self.section.map_or(0.0, |section| section.inner_radius());
        let mut parts = RodParts {
            closure: self.centreline.closure,
            n_nodes,
            n_edges,
            n_joints,
            clamp_edges,
            rest_length,
            stretch: (0..n_edges)
                .map(|i| properties[segment(i)].stretch)
                .collect(),
            voronoi,
            joint_stiffness,
            held: vec![false; mass.len()],
            mass,
            polar_radius,
            natural,
            damping: self.damping,
            section: self.section,
            contact_radius,
            frames: Vec::new(),
            start: BodyState {
                v: vec![0.0; q.len()],
                q,
                history: Vec::new(),
            },
            settings: self.settings,
        };
        let layout = parts.history();
        let history = &mut parts.start.history;
        layout.resize(history);
        for (edge, frame) in frames.references.iter().enumerate() {
            layout.set_frame(history, edge, frame);
        }
        layout.twists_mut(history).copy_from_slice(&frames.betas);
        self.hold(&mut parts, &ends)?;
        self.add_frames(&mut parts)?;
        Ok(Rod {
            parts: Arc::new(parts),
        })
    }

    fn edge_properties(&self) -> Result<Vec<RodProperties>, RodError> {
        let n = self.centreline.n_edges();
        let properties = match &self.stiffness {
            Stiffness::None => return Err(RodError::NoStiffness),
            Stiffness::OfSection(material) => {
                let section = self.section.ok_or(RodError::NoStiffness)?;
                vec![section.properties(material)?; n]
            }
            Stiffness::Uniform(properties) => vec![*properties; n],
            Stiffness::PerEdge(properties) => {
                if properties.len() != n {
                    return Err(RodError::Count {
                        what: "properties",
                        found: properties.len(),
                        expected: n,
                        of: "edges",
                    });
                }
                properties.clone()
            }
        };
        for (edge, p) in properties.iter().enumerate() {
            p.validate().map_err(|error| match error {
                RodError::Parameter {
                    name,
                    value,
                    allowed,
                } => parameter(format!("{name} of edge {edge}"), value, allowed),
                other => other,
            })?;
        }
        Ok(properties)
    }

    fn natural_strains(
        &self,
        built: &[JointStrain],
        voronoi: &[f64],
        node_of: impl Fn(usize) -> usize,
    ) -> Result<Vec<JointStrain>, RodError> {
        let n = self.centreline.nodes.len();
        match &self.natural {
            NaturalShape::Straight => Ok(vec![JointStrain::default(); voronoi.len()]),
            NaturalShape::AsBuilt => Ok(built.to_vec()),
            NaturalShape::Uniform(strain) => {
                let joints = voronoi.iter().enumerate();
                joints
                    .map(|(joint, v)| {
                        strain.validate(node_of(joint), *v)?;
                        Ok(strain.joint(*v, 1.0, 1.0))
                    })
                    .collect()
            }
            NaturalShape::PerNode(strains) => {
                if strains.len() != n {
                    return Err(RodError::Count {
                        what: "natural strains",
                        found: strains.len(),
                        expected: n,
                        of: "nodes",
                    });
                }
                let joints = voronoi.iter().enumerate();
                joints
                    .map(|(joint, v)| {
                        let strain = &strains[node_of(joint)];
                        strain.validate(node_of(joint), *v)?;
                        Ok(strain.joint(*v, 1.0, 1.0))
                    })
                    .collect()
            }
        }
    }
}
