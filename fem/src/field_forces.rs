//! Forces of fields on the vertices, ∫N f dV, by adaptive quadrature over the tetrahedra.
//!
//! Every tetrahedron is integrated by one rule. Where its error estimate is too large for the body, or where the bounds of the field
//! permit much larger values than those at the points of the rule, it is split into eight pieces, the worst pieces first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::BodyError;

use crate::element::Element;
use crate::parallel;
use crate::parts::Parts;
use crate::quadratic::{N_PARTS, scatter_forces};
use crate::quadrature::{Barycentric, Rule};

/// Error of the force that is tolerated, over the integral of its magnitude.
const TOLERANCE: f64 = 1e-3;
/// Fields that accelerate the body by less than this are negligible, m/s².
const ACCELERATION_MIN: f64 = 1e-6;
/// Splits of a step: a few thousand evaluations at least, a fraction of those of the unsplit elements in large meshes.
const SPLITS_FREE: usize = 1024;
const SPLITS_PER_ELEMENT: usize = 4;
/// Bounds of the field that exceed the values at the points by more than this factor permit a peak between the points.
const PEAK_FACTOR: f64 = 4.0;
/// Error of one rule per element, over the integral of the magnitude, beyond which elements are too large for the field.
const COARSE_ERROR: f64 = 0.1;
/// The same of the final force beyond which it is reported as inaccurate.
const INACCURATE_ERROR: f64 = 0.01;

/// A part of a tetrahedron.
#[derive(Clone, Copy, Debug)]
struct Piece {
    element: u32,
    corners: [Barycentric; 4],
    /// Its share of the element's volume.
    share: f64,
    /// Of the element's vertices, N.
    forces: [Vector3<f64>; 4],
    /// ∫|f| dV, N.
    magnitude: f64,
    /// Estimate, N.
    error: f64,
}

/// A piece in the order of errors; pieces of equal errors in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ranked {
    error: f64,
    piece: usize,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_error = self.error.total_cmp(&other.error);
        by_error.then(other.piece.cmp(&self.piece))
    }
}

/// Workspace, reused from step to step.
#[derive(Debug)]
pub(crate) struct FieldForces {
    rule: Rule,
    pieces: Vec<Piece>,
    queue: BinaryHeap<Ranked>,
    /// Of the last integral.
    warning: Option<String>,
}

impl Default for FieldForces {
    fn default() -> Self {
        Self {
            rule: Rule::new(),
            pieces: Vec::new(),
            queue: BinaryHeap::new(),
            warning: None,
        }
    }
}

impl FieldForces {
    /// Adds the forces of all fields of a body with vertices at `q` (m) to `out` (N).
    ///
    /// # Errors
    /// [`BodyError::NotFinite`].
    pub(crate) fn add(
        &mut self,
        parts: &Parts,
        q: &[Vector3<f64>],
        out: &mut [Vector3<f64>],
    ) -> Result<(), BodyError> {
        self.warning = None;
        if parts.fields.is_empty() {
            return Ok(());
        }
        let whole = Piece::whole();
        self.pieces.clear();
        self.pieces.resize(parts.elements.len(), whole);
        let rule = &self.rule;
        parallel::fill(&mut self.pieces, |e| {
            let element = e as u32;
            Piece { element, ..whole }.integrated(rule, parts, q)
        });
        self.refine(parts, q);
        for piece in self.pieces.iter().filter(|piece| piece.share > 0.0) {
            for force in piece.forces {
                if let Some(value) = force.iter().find(|x| !x.is_finite()) {
                    return Err(BodyError::NotFinite {
                        location: format!("force field in tetrahedron {}", piece.element),
                        value: *value,
                    });
                }
            }
            scatter(parts, piece, out);
        }
        Ok(())
    }

    /// A warning on the last integral.
    pub(crate) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Splits the pieces with the largest errors until their sum is tolerable.
    fn refine(&mut self, parts: &Parts, q: &[Vector3<f64>]) {
        let n = self.pieces.len();
        let sum = |of: fn(&Piece) -> f64| self.pieces.iter().map(of).sum::<f64>();
        let (mut magnitude, mut error) = (sum(|piece| piece.magnitude), sum(|piece| piece.error));
        let unsplit_error = error;
        let negligible = parts.mass() * ACCELERATION_MIN;
        let too_large = |error: f64, magnitude: f64| error > TOLERANCE * magnitude.max(negligible);
        if !too_large(error, magnitude) {
            return;
        }
        self.queue.clear();
        let ranked = self.pieces.iter().enumerate();
        self.queue.extend(ranked.map(|(piece, of)| Ranked {
            error: of.error,
            piece,
        }));
        let splits_max = SPLITS_FREE + n / SPLITS_PER_ELEMENT;
        for _ in 0..splits_max {
            let Some(worst) = self.queue.pop() else {
                break;
            };
            let split = std::mem::replace(&mut self.pieces[worst.piece], Piece::whole());
            self.pieces[worst.piece].share = 0.0;
            magnitude -= split.magnitude;
            error -= split.error;
            for part in split.parts() {
                let part = part.integrated(&self.rule, parts, q);
                magnitude += part.magnitude;
                error += part.error;
                self.queue.push(Ranked {
                    error: part.error,
                    piece: self.pieces.len(),
                });
                self.pieces.push(part);
            }
            if !too_large(error, magnitude) {
                break;
            }
        }
        let of_magnitude = |error: f64| error / magnitude.max(negligible);
        self.warning = if of_magnitude(error) > INACCURATE_ERROR {
            Some(format!(
                "a force field changes too fast within the elements: its force is uncertain by {:.0} %; refine the mesh, or smooth the field",
                100.0 * of_magnitude(error)
            ))
        } else if of_magnitude(unsplit_error) > COARSE_ERROR {
            Some(
                "a force field is narrower than the elements: the body gets its whole force, but deforms only as elements of this size can; refine the mesh there".into(),
            )
        } else {
            None
        };
    }
}

impl Piece {
    /// A whole element, not yet integrated.
    fn whole() -> Self {
        let mut corners = [[0.0; 4]; 4];
        (0..4).for_each(|k| corners[k][k] = 1.0);
        Self {
            element: 0,
            corners,
            share: 1.0,
            forces: [Vector3::zeros(); 4],
            magnitude: 0.0,
            error: 0.0,
        }
    }

    /// Eight pieces of equal volume: one at each corner, and four around a diagonal of the octahedron between them.
    fn parts(&self) -> [Self; 8] {
        let c = &self.corners;
        let between = |i: usize, j: usize| std::array::from_fn(|k| 0.5 * (c[i][k] + c[j][k]));
        let (m01, m02, m03) = (between(0, 1), between(0, 2), between(0, 3));
        let (m12, m13, m23) = (between(1, 2), between(1, 3), between(2, 3));
        [
            [c[0], m01, m02, m03],
            [m01, c[1], m12, m13],
            [m02, m12, c[2], m23],
            [m03, m13, m23, c[3]],
            [m01, m02, m03, m13],
            [m01, m02, m12, m13],
            [m02, m03, m13, m23],
            [m02, m12, m13, m23],
        ]
        .map(|corners| Self {
            corners,
            share: self.share / 8.0,
            ..*self
        })
    }

    fn integrated(mut self, rule: &Rule, parts: &Parts, q: &[Vector3<f64>]) -> Self {
        let element = &parts.elements[self.element as usize];
        let at = element.vertices.map(|vertex| q[vertex as usize]);
        let position = |of: &Barycentric| -> Vector3<f64> { (0..4).map(|k| at[k] * of[k]).sum() };
        let volume = element.volume * self.share;
        let bounds = bounds(parts, self.corners.map(|corner| position(&corner)));
        if let Some([low, high]) = bounds
            && low == high
        {
            return self.uniform(low, volume);
        }
        self.forces = [Vector3::zeros(); 4];
        self.magnitude = 0.0;
        let mut differences = [Vector3::zeros(); 4];
        let mut largest = Vector3::zeros();
        let rows = rule.points.iter().zip(&rule.weights).zip(&rule.differences);
        for ((point, weight), difference) in rows {
            let of_element: Barycentric = std::array::from_fn(|k| {
                (0..4)
                    .map(|corner| point[corner] * self.corners[corner][k])
                    .sum()
            });
            let place = Point3::from(position(&of_element));
            let density = density(parts, &place);
            for k in 0..4 {
                self.forces[k] += density * (volume * weight * of_element[k]);
                differences[k] += density * (volume * difference * of_element[k]);
            }
            self.magnitude += volume * weight * density.norm();
            largest = largest.sup(&density.abs());
        }
        self.error = differences.iter().map(Vector3::norm).sum();
        if let Some([low, high]) = bounds {
            let hidden = low.abs().sup(&high.abs()) - largest * PEAK_FACTOR;
            self.error += volume * hidden.sup(&Vector3::zeros()).norm();
        }
        self
    }

    /// The integral of the same density everywhere.
    fn uniform(mut self, density: Vector3<f64>, volume: f64) -> Self {
        for k in 0..4 {
            let weight: f64 = self.corners.iter().map(|corner| 0.25 * corner[k]).sum();
            self.forces[k] = density * (volume * weight);
        }
        self.magnitude = volume * density.norm();
        self.error = 0.0;
        self
    }
}

/// Adds the forces of a piece on the vertices of its tetrahedron.
fn scatter(parts: &Parts, piece: &Piece, out: &mut [Vector3<f64>]) {
    let tet = piece.element as usize;
    let vertices = &parts.elements[tet].vertices;
    if parts.element == Element::Quadratic {
        let nodes = parts.domains.vertices(tet / N_PARTS);
        return scatter_forces(nodes, vertices, &piece.forces, out);
    }
    for (vertex, force) in vertices.iter().zip(piece.forces) {
        out[*vertex as usize] += force;
    }
}

/// N/m³ of all fields.
fn density(parts: &Parts, p: &Point3<f64>) -> Vector3<f64> {
    parts
        .fields
        .iter()
        .map(|field| field.force_density(p))
        .sum()
}

/// Finite bounds of the sum of all fields in the box around `corners`.
fn bounds(parts: &Parts, corners: [Vector3<f64>; 4]) -> Option<[Vector3<f64>; 2]> {
    let low = corners.iter().fold(corners[0], |a, b| a.inf(b));
    let high = corners.iter().fold(corners[0], |a, b| a.sup(b));
    let mut sum = [Vector3::zeros(); 2];
    for field in &parts.fields {
        let [least, most] = field.bounds(&low.into(), &high.into())?;
        sum = [sum[0] + least, sum[1] + most];
    }
    let finite = sum
        .iter()
        .flat_map(|bound| bound.iter())
        .all(|x| x.is_finite());
    finite.then_some(sum)
}
