//! Builds rods, and refuses what cannot be one.

mod ends;
mod initial_frames;

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::BodyState;

use crate::centreline::{Centreline, Closure};
use crate::error::RodError;
use crate::free_motion::FreeMotionSettings;
use crate::natural_shape::{Drive, JointStrain, NaturalShape, NaturalTable};
use crate::rod::{End, Rayleigh, Rod, RodParts};
use crate::section::{Material, RodProperties, Section, parameter, positive};
use crate::strain::JointStiffness;

pub use ends::EndCondition;
use initial_frames::InitialFrames;

/// Where a frame rides.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FramePlace {
    Edge { edge: usize, fraction: f64 },
    End(End),
}

#[derive(Clone, Debug)]
enum Stiffness {
    None,
    OfSection(Material),
    Given(RodProperties),
    Along(Vec<RodProperties>),
}

/// Collects what a rod is made of.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_der::{Centreline, EndCondition, End, Material, RodBuilder, Section};
///
/// let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 40);
/// let rubber = Material::isotropic(1e6, 0.5, 1000.0)?;
/// let rod = RodBuilder::new(line)
///     .section(Section::Circle { radius: 5e-3 }, rubber)
///     .end(End::Start, EndCondition::Clamped { tangent: None })
///     .build()?;
/// assert_eq!(rod.n_nodes(), 41);
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RodBuilder {
    centreline: Centreline,
    section: Option<Section>,
    stiffness: Stiffness,
    directors: Vec<Vector3<f64>>,
    natural: NaturalShape,
    drive: Option<Drive>,
    rest_length_scale: f64,
    initial_twist: f64,
    damping: Rayleigh,
    ends: Vec<(End, EndCondition)>,
    pins: Vec<usize>,
    frames: Vec<(String, FramePlace)>,
    settings: FreeMotionSettings,
}

impl RodBuilder {
    /// A rod along `centreline`: naturally straight, undamped and free until told otherwise.
    #[must_use]
    pub fn new(centreline: Centreline) -> Self {
        Self {
            centreline,
            section: None,
            stiffness: Stiffness::None,
            directors: Vec::new(),
            natural: NaturalShape::Straight,
            drive: None,
            rest_length_scale: 1.0,
            initial_twist: 0.0,
            damping: Rayleigh::default(),
            ends: Vec::new(),
            pins: Vec::new(),
            frames: Vec::new(),
            settings: FreeMotionSettings::default(),
        }
    }

    /// A homogeneous rod: stiffnesses, inertia and contact outline all come from here.
    #[must_use]
    pub fn section(mut self, section: Section, material: Material) -> Self {
        self.section = Some(section);
        self.stiffness = Stiffness::OfSection(material);
        self
    }

    /// The contact outline alone, for rods whose properties are given.
    #[must_use]
    pub fn outline(mut self, section: Section) -> Self {
        self.section = Some(section);
        self
    }

    /// Stiffnesses and inertia given directly, the same everywhere; replaces those of the section.
    #[must_use]
    pub fn properties(mut self, properties: RodProperties) -> Self {
        self.stiffness = Stiffness::Given(properties);
        self
    }

    /// Stiffnesses and inertia of each edge; a joint has the mean of its two edges.
    #[must_use]
    pub fn properties_along(mut self, properties: Vec<RodProperties>) -> Self {
        self.stiffness = Stiffness::Along(properties);
        self
    }

    /// m1 of the first edge, a unit vector; what it has along the edge is removed. The frames of the other edges follow
    /// without twist.
    #[must_use]
    pub fn director(mut self, director: Vector3<f64>) -> Self {
        self.directors = vec![director];
        self
    }

    /// m1 of every edge, unit vectors: a rod built on twisted frames.
    #[must_use]
    pub fn directors(mut self, directors: Vec<Vector3<f64>>) -> Self {
        self.directors = directors;
        self
    }

    /// The shape without stress.
    #[must_use]
    pub fn natural_shape(mut self, natural: NaturalShape) -> Self {
        self.natural = natural;
        self
    }

    /// Lets the natural curvature and twist follow the clock.
    #[must_use]
    pub fn drive(mut self, drive: Drive) -> Self {
        self.drive = Some(drive);
        self
    }

    /// Rest lengths are this times the lengths of the centreline's edges: below 1 for a tensioned belt.
    #[must_use]
    pub fn rest_length_scale(mut self, scale: f64) -> Self {
        self.rest_length_scale = scale;
        self
    }

    /// Twists the rod by this angle from its first to its last edge, evenly; a ring by whole turns only. The natural
    /// shape does not take part.
    #[must_use]
    pub fn initial_twist(mut self, angle: f64) -> Self {
        self.initial_twist = angle;
        self
    }

    /// Damping.
    #[must_use]
    pub fn damping(mut self, damping: Rayleigh) -> Self {
        self.damping = damping;
        self
    }

    /// How an end is held.
    #[must_use]
    pub fn end(mut self, end: End, condition: EndCondition) -> Self {
        self.ends.push((end, condition));
        self
    }

    /// Holds a node in place by the default control.
    #[must_use]
    pub fn pin(mut self, node: usize) -> Self {
        self.pins.push(node);
        self
    }

    /// Names a frame on an edge, `fraction` of the way along it, for constraints and loads.
    #[must_use]
    pub fn frame(mut self, name: impl Into<String>, edge: usize, fraction: f64) -> Self {
        let place = FramePlace::Edge { edge, fraction };
        self.frames.push((name.into(), place));
        self
    }

    /// Names a frame at an end: origin at the end's node, axes of the stub where there is one, so that a weld of it is a
    /// clamp.
    #[must_use]
    pub fn frame_at_end(mut self, name: impl Into<String>, end: End) -> Self {
        self.frames.push((name.into(), FramePlace::End(end)));
        self
    }

    /// How free motion is solved for.
    #[must_use]
    pub fn free_motion(mut self, settings: FreeMotionSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Checks everything and builds.
    ///
    /// # Errors
    /// [`RodError`] naming node, edge or parameter, its value and what would be right.
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
        let (nodes, stubs) = self.nodes_with_stubs(&ends)?;
        let ring = self.centreline.closure == Closure::Closed;
        let n_nodes = nodes.len();
        let n_edges = if ring { n_nodes } else { n_nodes - 1 };
        let n_joints = if ring { n_edges } else { n_edges - 1 };
        // Edges of the centreline that stand for each edge, stubs included.
        let first = usize::from(stubs[0]);
        let n_real = self.centreline.n_edges();
        let real = |edge: usize| edge.saturating_sub(first).min(n_real - 1);
        let is_stub = |edge: usize| (stubs[0] && edge == 0) || (stubs[1] && edge + 1 == n_edges);

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
            // A clamp's own half of the joint is rigid.
            let share = |edge: usize| {
                if is_stub(edge) {
                    0.0
                } else {
                    rest_length[edge]
                }
            };
            let (l_a, l_b) = (share(a), share(b));
            let v = 0.5 * (l_a + l_b);
            let (p_a, p_b) = (&properties[real(a)], &properties[real(b)]);
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
            let p = &properties[real(edge)];
            let half = 0.5 * p.mass * rest_length[edge];
            // A stub's mass stays at its far node, so that the rod itself has the mass of its centreline.
            let shares = match (is_stub(edge), edge) {
                (false, _) => [half, half],
                (true, 0) => [2.0 * half, 0.0],
                (true, _) => [0.0, 2.0 * half],
            };
            for (node, share) in [edge, (edge + 1) % n_nodes].into_iter().zip(shares) {
                for k in 0..3 {
                    mass[4 * node + k] += share;
                }
            }
            mass[4 * edge + 3] = p.spin_inertia * rest_length[edge];
            polar_radius.push((p.spin_inertia / p.mass).sqrt());
        }

        if self.directors.len() > 1 && self.directors.len() != n_real {
            return Err(RodError::Count {
                what: "directors",
                found: self.directors.len(),
                expected: n_real,
                of: "edges",
            });
        }
        let mut frames = InitialFrames::new(&edges, first, ring, &self.directors, &rest_length)?;
        // Joint j lies at node j + 1, stubs counted.
        let node_of = |joint: usize| (joint + 1 - first) % self.centreline.nodes.len();
        let natural = self.natural_strains(&frames.strains(&edges), &voronoi, node_of)?;
        let natural = NaturalTable::new(natural, &voronoi, self.drive.clone(), node_of)?;
        frames.twist(self.initial_twist, &rest_length, ring)?;

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
            stubs,
            rest_length,
            stretch: (0..n_edges).map(|i| properties[real(i)].stretch).collect(),
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
        for (edge, anchor) in frames.anchors.iter().enumerate() {
            layout.set_anchor(history, edge, anchor);
        }
        layout.twists_mut(history).copy_from_slice(&frames.betas);
        self.hold(&mut parts, &ends)?;
        self.place_frames(&mut parts)?;
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
            Stiffness::Given(properties) => vec![*properties; n],
            Stiffness::Along(properties) => {
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
