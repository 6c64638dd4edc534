//! The pressure field of a filament: a polygonal section swept along its segments, with the maximum on the centreline.
//!
//! Every triangle of the section sweeps a prism of three tetrahedra along every segment. A cone closes each round end
//! of an open chain, so that end-on contact begins without a jump. At a flat tip a section of prism does: the pressure
//! there falls to zero at the last vertex, linearly over its face and towards the rim. Sections at joints lie in the
//! plane that bisects the bend and are shared by both segments.
//!
//! Source: Li and Chou (2025), III-B 2.

use std::ops::Range as Span;

use nalgebra::{Point3, Vector3};

use super::section::{FlatSection, Tips, across};
use super::section_mesh::SectionMesh;
use crate::GeometryError;
use crate::field::{Compliance, FieldMesh, PieceKind, PressureField};
use crate::pressure_bvh::PressureBox;

/// Index of the tetrahedron of a prism without a vertex on the first section's rim.
const LAST_OF_PRISM: u32 = 2;

/// A free end of a chain: its vertex and segment.
#[derive(Clone, Copy, Debug)]
struct Tip {
    vertex: u32,
    segment: u32,
    /// Outward direction along the segment: −1 at its first vertex.
    sign: f64,
    /// Its first tetrahedron.
    first: u32,
}

/// A chain: its segments, and whether it is closed.
#[derive(Clone, Debug)]
struct ChainSpan {
    segments: Span<usize>,
    closed: bool,
}

/// Numbering of the points and tetrahedra.
#[derive(Clone, Debug)]
struct Layout {
    section: SectionMesh,
    tips: Vec<Tip>,
    spans: Vec<ChainSpan>,
    n_segments: usize,
    margin: f64,
    ends: Tips,
}

/// Positions of the field's vertices, and tangent and m1 at the vertices of the filament.
#[derive(Clone, Debug, Default)]
struct FieldPoints {
    vertices: Vec<Vector3<f64>>,
    axes: Vec<[Vector3<f64>; 2]>,
}

/// The field of a whole filament; its vertices are in the world frame.
#[derive(Clone, Debug)]
pub(crate) struct FilamentField {
    layout: Layout,
    field: PressureField,
    /// Second moment above which a polygon set on the lateral surface is represented by three points instead of one,
    /// m⁴.
    extent: f64,
    /// The same for the face of a flat tip, m⁴.
    face_extent: f64,
    /// Reused buffer.
    field_points: FieldPoints,
}

/// Current configuration of the filament.
pub(super) struct Configuration<'a> {
    pub(super) points: &'a [Point3<f64>],
    pub(super) segments: &'a [[u32; 2]],
    pub(super) sections: &'a [FlatSection],
}

impl FilamentField {
    /// `radius`: of a round section, m; `chains`: for each, the range of its segments and whether it is closed; `tips`:
    /// the shape of the free ends.
    pub(super) fn new(
        configuration: &Configuration<'_>,
        radius: f64,
        (chains, ends): (impl Iterator<Item = (Span<usize>, bool)>, Tips),
        compliance: &Compliance,
    ) -> Result<Self, GeometryError> {
        compliance.validate()?;
        let section = match configuration.sections.first() {
            Some(flat) => SectionMesh::of_flat(flat, compliance),
            None => SectionMesh::round(radius, compliance),
        };
        if !(section.depth > 0.0 && section.depth.is_finite()) {
            return Err(GeometryError::Material {
                parameter: "half thickness of a filament with a pressure field (m)",
                value: section.depth,
                allowed: "must be finite and positive",
            });
        }
        let spans: Vec<ChainSpan> = chains
            .map(|(segments, closed)| ChainSpan { segments, closed })
            .collect();
        let n = section.points.len() as u32;
        let mut tets = Vec::new();
        for vertices in configuration.segments {
            section.sweep(vertices.map(|v| v * n), &mut tets);
        }
        let mut vertices = n * configuration.points.len() as u32;
        let modulus = compliance.hydroelastic_modulus;
        let mut pressures = Vec::new();
        for _ in configuration.points {
            pressures.extend(section.points.iter().map(|(_, part)| part * modulus));
        }
        let mut tips = Vec::new();
        for span in spans.iter().filter(|span| !span.closed) {
            let (start, end) = (span.segments.start, span.segments.end - 1);
            for (segment, side, sign) in [(start, 0, -1.0), (end, 1, 1.0)] {
                let vertex = configuration.segments[segment][side];
                tips.push(Tip {
                    vertex,
                    segment: segment as u32,
                    sign,
                    first: tets.len() as u32,
                });
                let outside = -compliance.margin / section.depth * modulus;
                let more = match ends {
                    Tips::Round => section.cone([n * vertex, vertices], &mut tets),
                    Tips::Flat => {
                        section.sweep([n * vertex, vertices], &mut tets);
                        n
                    }
                };
                vertices += more;
                pressures.extend((0..more).map(|_| outside));
            }
        }
        let length = |[a, b]: [u32; 2]| {
            (configuration.points[b as usize] - configuration.points[a as usize]).norm()
        };
        let longest = configuration
            .segments
            .iter()
            .map(|s| length(*s))
            .fold(0.0, f64::max);
        if ends == Tips::Flat {
            for (i, vertices) in configuration.segments.iter().enumerate() {
                let cut = tips.iter().filter(|tip| tip.segment as usize == i).count();
                let least = cut as f64 * section.depth;
                if cut > 0 && length(*vertices) <= least {
                    return Err(GeometryError::ShortTip {
                        segment: i,
                        length: length(*vertices),
                        least,
                    });
                }
            }
        }
        let extent = match configuration.sections.first() {
            // The broad side of one segment is three points: it resists rolling about the centreline.
            Some(flat) => {
                let half = flat.half_1.max(flat.half_2);
                10.0 * 2.0 * half * longest * (half * half + longest * longest / 4.0) / 3.0
            }
            None => f64::INFINITY,
        };
        let layout = Layout {
            section,
            tips,
            spans,
            n_segments: configuration.segments.len(),
            margin: compliance.margin,
            ends,
        };
        let mut field_points = FieldPoints::default();
        layout.set_points(configuration, &mut field_points);
        let field = PressureField::assemble(FieldMesh {
            vertices: field_points.vertices.clone(),
            pressures,
            tets,
            depth: layout.section.depth,
            margin: compliance.margin,
        })?
        .with_pieces(layout.pieces())
        .without_shell();
        Ok(Self {
            face_extent: layout.section.second_moment(),
            layout,
            field,
            extent,
            field_points,
        })
    }

    pub(super) fn follow(
        &mut self,
        configuration: &Configuration<'_>,
    ) -> Result<(), GeometryError> {
        self.layout
            .set_points(configuration, &mut self.field_points);
        self.field.move_vertices(&self.field_points.vertices)
    }

    pub(super) fn field(&self) -> &PressureField {
        &self.field
    }

    /// How far the field extends from the centreline, m.
    pub(super) fn reach(&self) -> f64 {
        self.layout.section.reach()
    }

    /// Second moment above which a polygon set from the piece of a tetrahedron is represented by three points instead
    /// of one, m⁴.
    pub(super) fn extent(&self, tet: u32) -> f64 {
        match self.layout.is_face(tet) {
            true => self.face_extent,
            false => self.extent,
        }
    }

    /// The segment that carries a tetrahedron.
    pub(super) fn segment_of(&self, tet: u32) -> usize {
        match self.layout.tip_of(tet) {
            Some(tip) => tip.segment as usize,
            None => tet as usize / (3 * self.layout.section.triangles.len()),
        }
    }

    /// The tetrahedra on a segment, including those of its tips, with their bounding boxes and pressure intervals.
    pub(super) fn tets_of(&self, segment: usize) -> impl Iterator<Item = (u32, PressureBox)> + '_ {
        let layout = &self.layout;
        let per_segment = 3 * layout.section.triangles.len();
        let own = (per_segment * segment) as u32..(per_segment * (segment + 1)) as u32;
        let end = self.field.tets().len() as u32;
        let tips = layout.tips.iter().enumerate();
        let at_tips = tips
            .filter(move |(_, tip)| tip.segment as usize == segment)
            .flat_map(move |(i, tip)| {
                tip.first..layout.tips.get(i + 1).map_or(end, |next| next.first)
            });
        own.chain(at_tips).map(|t| (t, self.field.tet_bounds(t)))
    }
}

impl Layout {
    /// The tip that a tetrahedron belongs to, if any.
    fn tip_of(&self, tet: u32) -> Option<&Tip> {
        let past = self.tips.partition_point(|tip| tip.first <= tet);
        past.checked_sub(1).map(|tip| &self.tips[tip])
    }

    /// Whether a tetrahedron lies behind the face of a flat tip, nearer to the face than to the rim.
    fn is_face(&self, tet: u32) -> bool {
        match (self.ends, self.tip_of(tet)) {
            (Tips::Flat, Some(tip)) => self.section.is_over_second(tet - tip.first),
            _ => false,
        }
    }

    /// Tetrahedra of a prism share a piece and, where their segment is straight, their pressure function. On a round
    /// section all tetrahedra of a segment share one piece: their resultant passes through the axis. Behind the face of
    /// a flat tip all do, for any section.
    fn pieces(&self) -> impl Iterator<Item = (u32, PieceKind)> + '_ {
        let n_triangles = self.section.triangles.len();
        let in_segment = 3 * n_triangles as u32;
        let in_tip = match self.ends {
            Tips::Round => (n_triangles + if self.section.n_medial == 2 { 2 } else { 0 }) as u32,
            Tips::Flat => in_segment,
        };
        let prisms = in_segment * self.n_segments as u32;
        let all = prisms + in_tip * self.tips.len() as u32;
        (0..all).map(move |t| {
            let tip = self.tip_of(t);
            match (self.section.is_round, tip) {
                (_, Some(tip)) if self.is_face(t) => (tip.first + LAST_OF_PRISM, PieceKind::Linear),
                (true, Some(tip)) => (tip.first, PieceKind::AboutAxis),
                (true, None) => (t - t % in_segment, PieceKind::AboutAxis),
                (false, Some(_)) if self.ends == Tips::Round => (t, PieceKind::Linear),
                (false, _) => (t - t % 3, PieceKind::Linear),
            }
        })
    }

    fn set_points(&self, configuration: &Configuration<'_>, field_points: &mut FieldPoints) {
        let FieldPoints { vertices, axes } = field_points;
        axes.clear();
        axes.resize(configuration.points.len(), [Vector3::zeros(); 2]);
        for span in &self.spans {
            tangents(configuration, span, axes);
            match configuration.sections.is_empty() {
                true => transported(configuration, span, axes),
                false => given(configuration, span, axes),
            }
        }
        vertices.clear();
        for (x, [t, m_1]) in configuration.points.iter().zip(axes.iter()) {
            let m_2 = t.cross(m_1);
            let points = self.section.points.iter();
            vertices.extend(points.map(|([u, v], _)| x.coords + m_1 * *u + m_2 * *v));
        }
        let n = self.section.points.len();
        for tip in &self.tips {
            let out = axes[tip.vertex as usize][0] * tip.sign;
            let base = n * tip.vertex as usize;
            match self.ends {
                Tips::Round => {
                    let out = out * (self.section.depth + self.margin);
                    for k in base..base + self.section.n_medial {
                        vertices.push(vertices[k] + out);
                    }
                }
                Tips::Flat => {
                    for k in base..base + n {
                        vertices.push(vertices[k] + out * self.margin);
                        vertices[k] -= out * self.section.depth;
                    }
                }
            }
        }
    }
}

/// The unit tangent at every vertex of a chain: the bisector of the adjacent segments' tangents.
fn tangents(configuration: &Configuration<'_>, span: &ChainSpan, axes: &mut [[Vector3<f64>; 2]]) {
    for i in span.segments.clone() {
        let [a, b] = configuration.segments[i].map(|v| v as usize);
        let t = (configuration.points[b] - configuration.points[a])
            .try_normalize(1e-300)
            .unwrap_or_else(Vector3::z);
        axes[a][0] += t;
        axes[b][0] += t;
    }
    for i in span.segments.clone() {
        for v in configuration.segments[i] {
            let t = &mut axes[v as usize][0];
            *t = t.try_normalize(1e-12).unwrap_or_else(Vector3::z);
        }
    }
}

/// m1 at the vertices between segments with given directors: the bisector.
fn given(configuration: &Configuration<'_>, span: &ChainSpan, axes: &mut [[Vector3<f64>; 2]]) {
    for i in span.segments.clone() {
        for v in configuration.segments[i] {
            axes[v as usize][1] += configuration.sections[i].m_1;
        }
    }
    for i in span.segments.clone() {
        for v in configuration.segments[i] {
            let [t, m_1] = &mut axes[v as usize];
            *m_1 = (*m_1 - *t * t.dot(m_1))
                .try_normalize(1e-12)
                .unwrap_or_else(|| across(t));
        }
    }
}

/// m1 of a round section: parallel-transported along the chain; on a ring the holonomy is distributed along it.
fn transported(
    configuration: &Configuration<'_>,
    span: &ChainSpan,
    axes: &mut [[Vector3<f64>; 2]],
) {
    let vertex = |i: usize, side: usize| configuration.segments[i][side] as usize;
    let first = vertex(span.segments.start, 0);
    let t_0 = axes[first][0];
    let start = beside(&t_0);
    axes[first][1] = start;
    let mut carried = start;
    for i in span.segments.clone() {
        let (a, b) = (vertex(i, 0), vertex(i, 1));
        carried = parallel_transport(&carried, &axes[a][0], &axes[b][0]);
        if b != first {
            axes[b][1] = carried;
        }
    }
    if span.closed {
        let angle = t_0.dot(&start.cross(&carried)).atan2(start.dot(&carried));
        let n = span.segments.len() as f64;
        for (k, i) in span.segments.clone().enumerate().skip(1) {
            let [t, m_1] = &mut axes[vertex(i, 0)];
            let (s, c) = (-angle * k as f64 / n).sin_cos();
            *m_1 = *m_1 * c + t.cross(m_1) * s;
        }
    }
}

/// A unit vector perpendicular to `t`, continuous in `t` except at one direction that is rare in filaments.
fn beside(t: &Vector3<f64>) -> Vector3<f64> {
    let rare = Vector3::new(-0.48, 0.6, 0.64);
    parallel_transport(&across(&rare), &rare, t)
}

/// `m` rotated by the shortest rotation from unit vector `from` to unit vector `to`.
fn parallel_transport(m: &Vector3<f64>, from: &Vector3<f64>, to: &Vector3<f64>) -> Vector3<f64> {
    let sum = from + to;
    let rotated = m - sum * (m.dot(to) / (1.0 + from.dot(to)).max(1e-12));
    (rotated - to * to.dot(&rotated))
        .try_normalize(1e-12)
        .unwrap_or_else(|| across(to))
}
