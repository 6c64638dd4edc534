//! Particles of a deforming body at the end of the step: its vertices, or for a rod the rings around its segments.

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyError, DeformableModel, Interpolation, MaterialPoint, Rows, Surface};

use super::BodyFault;
use super::bodies::Bodies;
use super::rings::Rings;
use crate::world::BodyIdx;

#[derive(Clone, Debug)]
pub(super) struct VertexPlace {
    pub(super) body: BodyIdx,
    pub(super) at_end: Vec<Point3<f64>>,
    velocities: Vec<Vector3<f64>>,
    /// Whether each vertex is within the body: of tetrahedra, but of no triangle.
    is_inner: Vec<bool>,
    /// The particles in place of the vertices.
    rings: Option<Rings>,
}

/// How a particle moves: the columns of ∂ṗ/∂v with the velocities that they belong to, and ṗ where these are zero.
#[derive(Clone, Debug, Default)]
pub(super) struct PointMotion {
    pub(super) columns: Vec<(u32, Vector3<f64>)>,
    pub(super) bias: Vector3<f64>,
}

impl VertexPlace {
    /// Of a body; if it is of segments alone, with `around` particles on each, or its nodes for 0.
    pub(super) fn new(model: &dyn DeformableModel, body: BodyIdx, around: u32) -> Self {
        let mut surface = Surface::default();
        model.surface(&model.default_state(), &mut surface);
        let is_rod = surface.triangles.is_empty() && !surface.edges.is_empty();
        Self {
            body,
            at_end: Vec::new(),
            velocities: Vec::new(),
            is_inner: Vec::new(),
            rings: (is_rod && around > 0).then(|| Rings::new(around)),
        }
    }

    pub(super) fn begin(&mut self, bodies: &Bodies) -> Result<(), BodyFault> {
        let surface = bodies.surface(self.body);
        self.is_inner.clear();
        self.is_inner.resize(surface.vertices.len(), false);
        for v in surface.tetrahedra.iter().flatten() {
            self.is_inner[*v as usize] = true;
        }
        for v in surface.triangles.iter().flatten() {
            self.is_inner[*v as usize] = false;
        }
        match &mut self.rings {
            Some(rings) => rings.begin(bodies, self.body),
            None => Ok(()),
        }
    }

    pub(super) fn n_particles(&self, bodies: &Bodies) -> usize {
        self.at_start(bodies).len()
    }

    /// Particles at the start of the step.
    pub(super) fn at_start<'a>(&'a self, bodies: &'a Bodies) -> &'a [Point3<f64>] {
        match &self.rings {
            Some(rings) => &rings.start,
            None => &bodies.surface(self.body).vertices,
        }
    }

    /// Whether a particle can't meet a surface before others of its body do.
    pub(super) fn is_inner(&self, particle: usize) -> bool {
        self.rings.is_none() && self.is_inner[particle]
    }

    /// The radius about a particle, m.
    pub(super) fn radius(&self, bodies: &Bodies, particle: usize) -> f64 {
        match &self.rings {
            Some(_) => 0.0,
            None => {
                let radii = &bodies.surface(self.body).radii;
                radii.get(particle).copied().unwrap_or(0.0)
            }
        }
    }

    pub(super) fn move_to(&mut self, bodies: &Bodies, v: &[f64]) -> Result<(), BodyFault> {
        let length_s = bodies.time_step.length_s;
        self.at_end.clear();
        if let Some(rings) = &self.rings {
            self.at_end.extend(rings.at_end(v, length_s));
            return Ok(());
        }
        let step = &bodies.steps[self.body.0];
        let motion = step.as_surface().ok_or((self.body, NO_VERTEX_VELOCITIES))?;
        motion.vertex_velocities(&v[bodies.range(self.body)], &mut self.velocities);
        let start = bodies.surface(self.body).vertices.iter();
        (self.at_end).extend(start.zip(&self.velocities).map(|(p, v)| p + v * length_s));
        Ok(())
    }

    /// The columns of ∂ṗ/∂v of a particle.
    pub(super) fn columns(
        &self,
        bodies: &Bodies,
        particle: u32,
        out: &mut Vec<(u32, Vector3<f64>)>,
    ) -> Result<(), BodyFault> {
        match &self.rings {
            Some(rings) => out.clone_from(&rings.motions[particle as usize].columns),
            None => {
                let point = MaterialPoint::on_vertex(particle);
                *out = PointMotion::of(bodies, self.body, &point)?.columns;
            }
        }
        Ok(())
    }
}

impl PointMotion {
    /// Of a material point of a body.
    pub(super) fn of(
        bodies: &Bodies,
        body: BodyIdx,
        point: &MaterialPoint,
    ) -> Result<Self, BodyFault> {
        let (mut interpolation, mut rows) = (Interpolation::Twist, Rows::default());
        let step = &bodies.steps[body.0];
        let basis = step.interpolation(point, &mut interpolation);
        let basis = basis.map_err(|source| (body, source))?;
        step.basis(basis, &Point3::origin(), &mut rows);
        let direction = |row: usize| match &interpolation {
            Interpolation::Weights(weights) => Vector3::ith(row % 3, weights[row / 3]),
            Interpolation::Dense(phi) => Vector3::from_column_slice(&phi[3 * row..3 * row + 3]),
            Interpolation::Twist => Vector3::zeros(),
        };
        let offset = bodies.offsets[body.0];
        let mut entries: Vec<(u32, Vector3<f64>)> = Vec::new();
        rows.for_each(|row, dof, value| {
            entries.push(((offset + dof) as u32, direction(row) * value));
        });
        entries.sort_by_key(|(dof, _)| *dof);
        let mut motion = Self::default();
        for (dof, column) in entries {
            match motion.columns.last_mut() {
                Some((last, sum)) if *last == dof => *sum += column,
                _ => motion.columns.push((dof, column)),
            }
        }
        let held = rows.bias_mut().iter().enumerate();
        motion.bias = held.map(|(row, bias)| direction(row) * *bias).sum();
        Ok(motion)
    }

    /// ṗ.
    pub(super) fn velocity(&self, v: &[f64]) -> Vector3<f64> {
        let columns = self.columns.iter();
        let moved: Vector3<f64> = columns.map(|(j, c)| c * v[*j as usize]).sum();
        moved + self.bias
    }
}

const NO_VERTEX_VELOCITIES: BodyError = BodyError::Unsupported {
    what: "velocities of its vertices, which penalty forces need; the strong-implicit stepper would do",
};
