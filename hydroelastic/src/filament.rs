//! Contact geometry of filaments: chains of segments with a round or flat section, and a tree of boxes over them.

mod boxes;
mod field;
mod rigid_segment;
mod section;
mod section_mesh;
pub(crate) mod segments;

use nalgebra::{Point3, Vector3};

use crate::field::{Compliance, PieceKind, PressureField};
use crate::pressure_bvh::PressureBox;
use crate::{Aabb, GeometryError};
use boxes::SegmentBoxes;
use field::{Configuration, FilamentField};

pub(crate) use rigid_segment::{RigidSegment, Solid};
pub(crate) use section::Inscribed;
pub use section::{FlatSection, Outline, Tips};

/// Chains of segments that move with their vertices.
///
/// Round segments are capsules about the straight line between their vertices, except for cylinders at flat [`Tips`];
/// the others are boxes or elliptic cylinders along it, as given by their [`FlatSection`]. Consecutive segments in the
/// list that share a vertex form a chain; a chain whose last vertex is its first is a ring. Two segments of a chain are
/// excluded from self-contact if the arc length between them at rest is at most the width of the section: neighbours
/// overlap by construction.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::Filament;
///
/// // A rope of ten segments of 1 cm, 1 cm thick: neighbours do not touch, segments further apart along the rope can.
/// let rest: Vec<_> = (0..11).map(|i| Point3::new(0.01 * f64::from(i), 0.0, 0.0)).collect();
/// let segments: Vec<_> = (0..10).map(|i| [i, i + 1]).collect();
/// let rope = Filament::new(0, &rest, &segments, &[0.005; 11])?;
/// assert!(rope.excludes(3, 4) && !rope.excludes(3, 7));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Filament {
    id: u64,
    segments: Vec<[u32; 2]>,
    /// Of each segment, m.
    radii: Vec<f64>,
    /// Neighbours of each segment at its first and second vertex.
    neighbours: Vec<[Option<u32>; 2]>,
    /// Arc length at rest from the start of the chain to each segment's ends, m.
    arc: Vec<[f64; 2]>,
    /// Chain of each segment.
    chains: Vec<u32>,
    /// Length of each chain that is a ring, m.
    rings: Vec<Option<f64>>,
    points: Vec<Point3<f64>>,
    velocities: Vec<Vector3<f64>>,
    sections: Vec<FlatSection>,
    tips: Tips,
    boxes: SegmentBoxes,
    field: Option<Box<FilamentField>>,
}

impl Filament {
    /// Filaments at rest. `id` distinguishes filaments; `rest`: vertices of the undeformed filament, m, of which only
    /// the segment lengths matter; `radii`: of the section at each vertex, m (half the width of a flat section).
    ///
    /// # Errors
    /// [`GeometryError::ArrayLength`] for arrays of unequal length, [`GeometryError::FilamentSegment`] for a segment
    /// with invalid vertices.
    pub fn new(
        id: u64,
        rest: &[Point3<f64>],
        segments: &[[u32; 2]],
        radii: &[f64],
    ) -> Result<Self, GeometryError> {
        if radii.len() != rest.len() {
            return Err(GeometryError::ArrayLength {
                geometry: "filament",
                what: "radii",
                found: radii.len(),
                expected: rest.len(),
            });
        }
        for (segment, ends) in segments.iter().enumerate() {
            if ends[0] == ends[1] || ends.iter().any(|v| *v as usize >= rest.len()) {
                return Err(GeometryError::FilamentSegment {
                    segment,
                    vertices: *ends,
                    points: rest.len(),
                });
            }
        }
        let mut filament = Self {
            id,
            segments: segments.to_vec(),
            radii: segments
                .iter()
                .map(|[a, b]| 0.5 * (radii[*a as usize] + radii[*b as usize]))
                .collect(),
            points: rest.to_vec(),
            velocities: vec![Vector3::zeros(); rest.len()],
            ..Self::default()
        };
        filament.chain(rest);
        filament.refit(0.0);
        Ok(filament)
    }

    /// Sets the shape of the free ends; call it before [`with_field`](Self::with_field).
    #[must_use]
    pub fn with_tips(self, tips: Tips) -> Self {
        Self { tips, ..self }
    }

    /// Adds a pressure field, so that the filament makes patch contact: the pressure is the modulus of `compliance` on
    /// the centreline (on the medial line of a rectangle) and zero on the surface, linear in between. `sections`: as in
    /// [`move_to`](Self::move_to); all equal and constant in time.
    ///
    /// # Errors
    /// [`GeometryError::Material`] for parameters out of range, [`GeometryError::ArrayLength`] unless there is one
    /// section per segment, [`GeometryError::ShortTip`] for a flat tip on a segment that is too short for its field.
    pub fn with_field(
        mut self,
        compliance: &Compliance,
        sections: &[FlatSection],
    ) -> Result<Self, GeometryError> {
        if !(sections.is_empty() || sections.len() == self.segments.len()) {
            return Err(GeometryError::ArrayLength {
                geometry: "filament",
                what: "flat sections",
                found: sections.len(),
                expected: self.segments.len(),
            });
        }
        self.sections = sections.to_vec();
        let mut chains: Vec<(std::ops::Range<usize>, bool)> = Vec::new();
        for (i, chain) in self.chains.iter().enumerate() {
            match chains.get_mut(*chain as usize) {
                Some((segments, _)) => segments.end = i + 1,
                None => chains.push((i..i + 1, self.rings[*chain as usize].is_some())),
            }
        }
        let radius = self.radii.first().copied().unwrap_or(0.0);
        let chains = (chains.into_iter(), self.tips);
        let field = FilamentField::new(&self.configuration(), radius, chains, compliance)?;
        self.field = Some(Box::new(field));
        self.refit(0.0);
        Ok(self)
    }

    fn configuration(&self) -> Configuration<'_> {
        Configuration {
            points: &self.points,
            segments: &self.segments,
            sections: &self.sections,
        }
    }

    fn chain(&mut self, rest: &[Point3<f64>]) {
        let n = self.segments.len();
        self.neighbours = vec![[None; 2]; n];
        let mut first = 0;
        while first < n {
            let mut last = first;
            while last + 1 < n && self.segments[last + 1][0] == self.segments[last][1] {
                last += 1;
            }
            let chain = self.rings.len() as u32;
            let mut s = 0.0;
            for i in first..=last {
                let [a, b] = self.segments[i].map(|v| rest[v as usize]);
                let end = s + (b - a).norm();
                self.arc.push([s, end]);
                self.chains.push(chain);
                s = end;
                if i > first {
                    self.neighbours[i][0] = Some(i as u32 - 1);
                }
                if i < last {
                    self.neighbours[i][1] = Some(i as u32 + 1);
                }
            }
            let closed = last > first + 1 && self.segments[last][1] == self.segments[first][0];
            if closed {
                self.neighbours[first][0] = Some(last as u32);
                self.neighbours[last][1] = Some(first as u32);
            }
            self.rings.push(closed.then_some(s));
            first = last + 1;
        }
    }

    /// Sets the positions of the vertices (m) and their predicted velocities (m/s) over the step of length
    /// `time_step_s` (s). `sections` is empty for round segments, otherwise it has one entry per segment.
    ///
    /// # Errors
    /// [`GeometryError::ArrayLength`] unless the lengths are those of the filament.
    pub fn move_to(
        &mut self,
        points: &[Point3<f64>],
        velocities: &[Vector3<f64>],
        sections: &[FlatSection],
        time_step_s: f64,
    ) -> Result<(), GeometryError> {
        let wrong = |what, found, expected| GeometryError::ArrayLength {
            geometry: "filament",
            what,
            found,
            expected,
        };
        let n_points = self.points.len();
        if points.len() != n_points {
            return Err(wrong("vertices", points.len(), n_points));
        }
        if velocities.len() != n_points {
            return Err(wrong("velocities", velocities.len(), n_points));
        }
        if !(sections.is_empty() || sections.len() == self.segments.len()) {
            return Err(wrong("flat sections", sections.len(), self.segments.len()));
        }
        // When contacts are searched again within a step, only the velocities change.
        let moves = self.points != points || self.sections != sections;
        self.points.copy_from_slice(points);
        self.velocities.copy_from_slice(velocities);
        self.sections.clear();
        self.sections.extend_from_slice(sections);
        self.refit(time_step_s);
        if moves && let Some(mut field) = self.field.take() {
            let moved = field.follow(&self.configuration());
            self.field = Some(field);
            moved?;
        }
        Ok(())
    }

    /// Sets all predicted velocities to zero.
    pub fn clear_velocities(&mut self) {
        self.velocities.fill(Vector3::zeros());
        self.refit(0.0);
    }

    fn refit(&mut self, time_step_s: f64) {
        let mut boxes = std::mem::take(&mut self.boxes);
        boxes.refit(self.segments.len(), |i| self.segment_box(i, time_step_s));
        self.boxes = boxes;
    }

    fn segment_box(&self, i: usize, time_step_s: f64) -> Aabb {
        let half = Vector3::repeat(self.reach(i).max(self.field_reach()));
        let mut bounds = Aabb::EMPTY;
        for v in self.segments[i] {
            let ball = Aabb::from_half_extents(self.points[v as usize], half);
            bounds = bounds.merged(&ball.swept(&(self.velocities[v as usize] * time_step_s)));
        }
        bounds
    }

    /// Largest distance of a segment's surface from its centreline, m.
    fn reach(&self, i: usize) -> f64 {
        match self.sections.get(i) {
            Some(section) => section.reach(),
            None => self.radii[i],
        }
    }

    /// Identifies the filament: two with the same id are the same filament.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Vertices in the world at the last [`move_to`](Self::move_to), m.
    #[must_use]
    pub fn points(&self) -> &[Point3<f64>] {
        &self.points
    }

    /// Predicted velocity of each vertex over the step, world axes, m/s.
    #[must_use]
    pub fn velocities(&self) -> &[Vector3<f64>] {
        &self.velocities
    }

    /// Vertices of each segment.
    #[must_use]
    pub fn segments(&self) -> &[[u32; 2]] {
        &self.segments
    }

    /// Whether contact of the segments `i` and `j` of this filament is excluded: they share a vertex, or the arc length at rest between
    /// them is at most the width of the section.
    #[must_use]
    pub fn excludes(&self, i: usize, j: usize) -> bool {
        if i == j
            || self.segments[i]
                .iter()
                .any(|v| self.segments[j].contains(v))
        {
            return true;
        }
        if self.chains[i] != self.chains[j] {
            return false;
        }
        let (low, high) = (i.min(j), i.max(j));
        let width = 2.0 * self.reach(i).max(self.reach(j));
        let between = self.arc[high][0] - self.arc[low][1];
        let around = self.rings[self.chains[i] as usize].map_or(f64::INFINITY, |length| {
            length - self.arc[high][1] + self.arc[low][0]
        });
        between.min(around) <= width
    }

    /// A box around all segments during the whole step, inflated by `margin` (m).
    #[must_use]
    pub fn swept_aabb(&self, margin: f64) -> Aabb {
        self.boxes.root().inflated(margin)
    }

    /// Its pressure field in the world frame, if it has one.
    #[must_use]
    pub fn field(&self) -> Option<&PressureField> {
        self.field.as_ref().map(|field| field.field())
    }

    /// Second moment above which a polygon set from the piece of a tetrahedron is represented by three points instead
    /// of one, m⁴.
    pub(crate) fn patch_extent(&self, tet: u32) -> f64 {
        self.field
            .as_ref()
            .map_or(f64::INFINITY, |field| field.extent(tet))
    }

    /// How far the field extends from the centreline, m.
    pub(crate) fn field_reach(&self) -> f64 {
        self.field.as_ref().map_or(0.0, |field| field.reach())
    }

    /// The segment that carries a tetrahedron of the field.
    pub(crate) fn segment_of(&self, tet: u32) -> usize {
        self.field.as_ref().map_or(0, |field| field.segment_of(tet))
    }

    /// The tetrahedra of the field on a segment, with their bounding boxes and pressure intervals.
    pub(crate) fn tets_of(&self, segment: usize) -> impl Iterator<Item = (u32, PressureBox)> + '_ {
        self.field.iter().flat_map(move |f| f.tets_of(segment))
    }

    /// Fraction along `segment` and offset of the material point that is at `p_WC` now.
    pub(crate) fn material_point_at(
        &self,
        segment: usize,
        p_WC: &Point3<f64>,
    ) -> (f64, Vector3<f64>) {
        let [a, b] = self.ends(segment);
        let e = b - a;
        let along = (p_WC - a).dot(&e) / e.norm_squared();
        // NaN of a zero-length segment is mapped to its first end.
        let fraction = along.clamp(0.0, 1.0).max(0.0);
        (fraction, p_WC - (a + e * fraction))
    }

    /// As [`material_point_at`](Self::material_point_at), for a patch point with the given normal. On a round section the point is moved
    /// tangentially, to where the line along the normal intersects the centreline.
    ///
    /// The field of a round section does not rotate with its spin, so the pressure does no work on the spin, as for a
    /// solid of revolution, whose pressure has no moment about its axis. The resultant on the polygon that approximates
    /// the disc is offset from the axis by up to sin(π/n) of the radius, always to the same side: without the
    /// correction it would roll a rope over the floor.
    pub(crate) fn material_point_below_axis(
        &self,
        segment: usize,
        p_WC: &Point3<f64>,
        normal: &Vector3<f64>,
    ) -> (f64, Vector3<f64>) {
        let (fraction, offset) = self.material_point_at(segment, p_WC);
        if self.is_flat() {
            return (fraction, offset);
        }
        let [a, b] = self.ends(segment);
        let sideways = (b - a).cross(normal) / (b - a).norm().max(f64::MIN_POSITIVE);
        // For end-on contact at a tip no tangential direction is defined.
        let part = sideways.dot(&offset) / sideways.norm_squared().max(0.25);
        (fraction, offset - sideways * part)
    }

    /// Whether its segments have directors (flat sections).
    pub(crate) fn is_flat(&self) -> bool {
        !self.sections.is_empty()
    }

    /// Whether its segments are boxes.
    pub(crate) fn is_box(&self) -> bool {
        let outline = self.sections.first().map(|section| section.outline);
        outline == Some(Outline::Rectangle)
    }

    /// Whether the resultant force on a tetrahedron of the field passes through the axis.
    pub(crate) fn passes_through_axis(&self, tet: u32) -> bool {
        let kind = self.field().map(|field| field.piece_kind(tet));
        kind == Some(PieceKind::AboutAxis)
    }

    /// The section of a segment, if it is elliptic.
    pub(crate) fn ellipse(&self, i: usize) -> Option<&FlatSection> {
        let section = self.sections.get(i);
        section.filter(|section| section.outline == Outline::Ellipse)
    }

    pub(crate) fn radius(&self, i: usize) -> f64 {
        self.radii[i]
    }

    pub(crate) fn neighbours(&self, i: usize) -> [Option<u32>; 2] {
        self.neighbours[i]
    }

    pub(crate) fn boxes(&self) -> &SegmentBoxes {
        &self.boxes
    }

    pub(crate) fn ends(&self, i: usize) -> [Point3<f64>; 2] {
        self.segments[i].map(|v| self.points[v as usize])
    }

    pub(crate) fn end_velocities(&self, i: usize) -> [Vector3<f64>; 2] {
        self.segments[i].map(|v| self.velocities[v as usize])
    }

    pub(crate) fn check(&self, side: char) -> Result<(), GeometryError> {
        let point = self.points.iter().map(|p| p.coords.sum());
        let velocity = self.velocities.iter().map(|v| v.sum());
        let radius = self.radii.iter().copied();
        let bad = |x: &f64| !x.is_finite();
        for (quantity, found) in [
            ("point", point.clone().find(bad)),
            ("velocity", velocity.clone().find(bad)),
            ("radius", radius.clone().find(bad)),
        ] {
            if let Some(value) = found {
                return Err(GeometryError::NotFinite {
                    quantity,
                    side,
                    value,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
