//! Builds rods, and refuses what cannot be one.

use std::sync::Arc;

use nalgebra::Vector3;
use pliant_contact_sap::BodyState;

use crate::centreline::{Centreline, Closure};
use crate::error::RodError;
use crate::frames::{Anchor, any_director, nearest_branch, reference_twist, transport};
use crate::free_motion::FreeMotionSettings;
use crate::natural_shape::{Drive, JointStrain, NaturalShape, NaturalTable};
use crate::rod::{End, Rayleigh, Rod, RodFrame, RodParts};
use crate::section::{Material, RodProperties, Section, parameter, positive};
use crate::strain::{EdgeKinematics, JointStiffness, JointStrains};

/// How an end of an open rod is held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum EndCondition {
    /// Not at all.
    #[default]
    Free,
    /// The node stays in place, the tangent turns freely.
    Pinned,
    /// The node, the tangent and the spin are held in the world by the default control, or moved by
    /// [`Rod::drive_clamp`].
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
    fn has_stub(&self) -> bool {
        matches!(self, Self::Clamped { .. } | Self::Welded { .. })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Pinned => "pinned",
            Self::Clamped { .. } => "clamped",
            Self::Welded { .. } => "welded",
        }
    }
}

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

    /// Names a frame on an edge, `fraction` of the way along it, for ties and loads.
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
        let natural = self.natural_strains(&frames.strains(&edges), &voronoi, first)?;
        let natural = NaturalTable::new(natural, &voronoi, self.drive.clone())?;
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
        let mut history = Vec::new();
        parts.history().write(
            0.0,
            frames.anchors.iter().copied(),
            frames.betas.iter().copied(),
            &mut history,
        );
        parts.start.history = history;
        self.hold(&mut parts, &ends)?;
        self.place_frames(&mut parts)?;
        Ok(Rod {
            parts: Arc::new(parts),
        })
    }

    /// One condition an end, none of them contradicting another or a pin.
    fn end_conditions(&self) -> Result<[EndCondition; 2], RodError> {
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

    /// Nodes of the centreline and of the stubs.
    fn nodes_with_stubs(
        &self,
        ends: &[EndCondition; 2],
    ) -> Result<(Vec<Vector3<f64>>, [bool; 2]), RodError> {
        let line = &self.centreline;
        let mut nodes: Vec<Vector3<f64>> = line.nodes.iter().map(|p| p.coords).collect();
        let last_edge = line.n_edges() - 1;
        let stub = |condition: &EndCondition, edge: usize| -> Result<Option<_>, RodError> {
            let (EndCondition::Clamped { tangent } | EndCondition::Welded { tangent }) = condition
            else {
                return Ok(None);
            };
            let along = line.edge(edge);
            let Some(direction) = tangent else {
                return Ok(Some(along));
            };
            let cosine = direction.dot(&along) / along.norm();
            // More than 60 degrees off the edge is no tangent of this centreline.
            if (direction.norm() - 1.0).abs() > 1e-6 || cosine.is_nan() || cosine <= 0.5 {
                return Err(parameter(
                    format!(
                        "cosine of the clamp's tangent {:?} with the edge",
                        direction.as_slice()
                    ),
                    cosine,
                    "is wrong: give a unit vector within 60 degrees of the edge next to it, towards the finish",
                ));
            }
            Ok(Some(direction * along.norm()))
        };
        let (start, finish) = (stub(&ends[0], 0)?, stub(&ends[1], last_edge)?);
        if let Some(along) = finish {
            let last = nodes[nodes.len() - 1];
            nodes.push(last + along);
        }
        if let Some(along) = start {
            nodes.insert(0, nodes[0] - along);
        }
        Ok((nodes, [start.is_some(), finish.is_some()]))
    }

    fn natural_strains(
        &self,
        built: &[JointStrain],
        voronoi: &[f64],
        first: usize,
    ) -> Result<Vec<JointStrain>, RodError> {
        let n = self.centreline.nodes.len();
        // Joint j lies at node j + 1, stubs counted.
        let node_of = |joint: usize| (joint + 1 - first) % n;
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

    /// Marks what the default control holds.
    fn hold(&self, parts: &mut RodParts, ends: &[EndCondition; 2]) -> Result<(), RodError> {
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

    fn place_frames(&self, parts: &mut RodParts) -> Result<(), RodError> {
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

/// Anchors and material angles of a new rod.
struct InitialFrames {
    anchors: Vec<Anchor>,
    angles: Vec<f64>,
    betas: Vec<f64>,
}

/// A director closer to its edge than this has lost its direction across it.
const LEAST_DIRECTOR_ANGLE_DEG: f64 = 5.0;

impl InitialFrames {
    /// Reference directors carried along the rod from its first edge without twist; angles that take them to `directors`
    /// where those are given, and that spread what a ring fails to close by where not.
    fn new(
        edges: &[Vector3<f64>],
        first: usize,
        ring: bool,
        directors: &[Vector3<f64>],
        rest_length: &[f64],
    ) -> Result<Self, RodError> {
        let n_edges = edges.len();
        let tangents: Vec<_> = edges.iter().map(|e| e.normalize()).collect();
        for (edge, director) in directors.iter().enumerate() {
            check_director(edge, director, &tangents[edge + first])?;
        }
        let across = |edge: usize, director: &Vector3<f64>| {
            let t = &tangents[edge];
            (director - t * t.dot(director)).normalize()
        };
        let start = match directors.first() {
            Some(director) => across(first, director),
            None => any_director(&tangents[first]),
        };
        let mut carried = vec![start; n_edges];
        for edge in first + 1..n_edges {
            let (t, u) = (&tangents[edge - 1], &tangents[edge]);
            let director = transport(t, u, &carried[edge - 1]);
            carried[edge] = across(edge, &director);
        }
        if first > 0 {
            let director = transport(&tangents[1], &tangents[0], &carried[1]);
            carried[0] = across(0, &director);
        }
        let anchors: Vec<_> = tangents
            .iter()
            .zip(&carried)
            .map(|(tangent, director)| Anchor {
                tangent: *tangent,
                director: *director,
            })
            .collect();
        let mut angles = vec![0.0; n_edges];
        if directors.len() > 1 {
            let mut last: f64 = 0.0;
            for edge in 0..n_edges {
                // Stubs take after their neighbours: the one before the first has its angle, 0.
                if let Some(director) = edge.checked_sub(first).and_then(|i| directors.get(i)) {
                    let (t, d_1) = (&tangents[edge], &carried[edge]);
                    let m_1 = across(edge, director);
                    let angle = t.dot(&d_1.cross(&m_1)).atan2(d_1.dot(&m_1));
                    last = nearest_branch(angle, last);
                }
                angles[edge] = last;
            }
        }
        let n_joints = if ring { n_edges } else { n_edges - 1 };
        let frames = |i: usize| (&anchors[i].tangent, &anchors[i].director);
        let betas: Vec<f64> = (0..n_joints)
            .map(|j| reference_twist(frames(j), frames((j + 1) % n_edges), 0.0))
            .collect();
        let mut frames = Self {
            anchors,
            angles,
            betas,
        };
        if ring && directors.len() <= 1 {
            // Carried around a ring that is not plane, a frame comes back turned.
            let turned = frames.betas[n_joints - 1];
            frames.spread(turned, rest_length);
        }
        Ok(frames)
    }

    /// Adds `angle` to the material angles, growing along the rod with its arc length.
    fn spread(&mut self, angle: f64, rest_length: &[f64]) {
        let n = rest_length.len();
        let step = |joint: usize| 0.5 * (rest_length[joint] + rest_length[(joint + 1) % n]);
        let total: f64 = (0..self.betas.len()).map(step).sum();
        let mut way = 0.0;
        for edge in 1..n {
            way += step(edge - 1);
            self.angles[edge] += angle * way / total;
        }
    }

    /// Strains of the centreline as built.
    fn strains(&self, edges: &[Vector3<f64>]) -> Vec<JointStrain> {
        let kinematics: Vec<_> = (0..edges.len())
            .map(|i| EdgeKinematics::at_anchor(&self.anchors[i], edges[i].norm(), self.angles[i]))
            .collect();
        let joint = |(j, beta): (usize, &f64)| {
            let (a, b) = (&kinematics[j], &kinematics[(j + 1) % edges.len()]);
            let strains =
                JointStrains::new(a, b, *beta).expect("a centreline without folds has strains");
            JointStrain {
                k_1: strains.k_1,
                k_2: strains.k_2,
                tau: strains.tau,
            }
        };
        self.betas.iter().enumerate().map(joint).collect()
    }

    /// Angles and reference twists with the initial twist in them.
    fn twist(&mut self, angle: f64, rest_length: &[f64], ring: bool) -> Result<(), RodError> {
        if !angle.is_finite() {
            return Err(parameter("initial twist", angle, "must be finite"));
        }
        let turns = angle / std::f64::consts::TAU;
        if ring && (turns - turns.round()).abs() > 1e-9 {
            return Err(parameter(
                "initial twist of a ring (turns)",
                turns,
                "must be a whole number, or the ends of its section do not meet",
            ));
        }
        if angle != 0.0 {
            self.spread(angle, rest_length);
            if ring {
                let closing = self.betas.len() - 1;
                self.betas[closing] += std::f64::consts::TAU * turns.round();
            }
        }
        Ok(())
    }
}

fn check_director(
    edge: usize,
    director: &Vector3<f64>,
    tangent: &Vector3<f64>,
) -> Result<(), RodError> {
    let length = director.norm();
    let angle = director.angle(tangent);
    let angle_deg = angle.min(std::f64::consts::PI - angle).to_degrees();
    // Not "greater": NaN is to be refused, too.
    let is_unit = (length - 1.0).abs() <= 1e-6;
    if is_unit && angle_deg >= LEAST_DIRECTOR_ANGLE_DEG {
        return Ok(());
    }
    Err(RodError::Director {
        edge,
        director: [director.x, director.y, director.z],
        length,
        angle_deg,
        least_deg: LEAST_DIRECTOR_ANGLE_DEG,
    })
}
