//! Derivatives of barycentric weights with respect to the particle and the vertices that a walk has visited.

use nalgebra::{Matrix3, RowVector3, Vector3};

/// What the weights of an attachment depend on.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_hydroelastic::{Facing, MeshPlace, MeshRelaxed, SlidingFriction, Variable, WalkSurface};
///
/// // On the unit triangle without friction the attachment is the projection of the particle, with weights (1 − x − y, x, y).
/// let vertices = [Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)];
/// let surface = WalkSurface::new(&vertices, &[[0, 1, 2]])?;
/// let start = MeshPlace { triangle: 0, weights: [0.6, 0.2, 0.2] };
/// let particle = Point3::new(0.3, 0.2, -0.01);
/// let mut relaxed = MeshRelaxed::default();
/// surface.relax(&vertices, SlidingFriction::coulomb(0.0), Facing::Front, &start, &particle, &mut relaxed);
/// // Its place stays when vertex 1 moves along x, so the weight of that vertex, w_1 = x/x_1, falls.
/// let by_vertex = relaxed.derivative.by(Variable::Vertex(1));
/// assert!((by_vertex[(1, 0)] + 0.3).abs() < 1e-12);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// The particle's position.
    Particle,
    /// The position of a vertex.
    Vertex(u32),
}

/// ∂w/∂y (1/m) of three barycentric weights, for each variable y that they depend on: row i is ∂w_i/∂y. Rows sum to zero.
///
/// Formulas: the documentation of the module, and `docs/theory/ding-2020.md`.
///
/// ```
/// use nalgebra::{Matrix3, Point3};
/// use pliant_hydroelastic::{Facing, MeshPlace, MeshRelaxed, SlidingFriction, Variable, WalkSurface};
///
/// // On the unit triangle without friction the attachment is the projection of the particle, with weights (1 − x − y, x, y).
/// # let vertices = [Point3::origin(), Point3::new(1.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)];
/// # let surface = WalkSurface::new(&vertices, &[[0, 1, 2]])?;
/// let start = MeshPlace { triangle: 0, weights: [0.6, 0.2, 0.2] };
/// let particle = Point3::new(0.3, 0.2, -0.01);
/// let mut relaxed = MeshRelaxed::default();
/// surface.relax(&vertices, SlidingFriction::coulomb(0.0), Facing::Front, &start, &particle, &mut relaxed);
/// let expected = Matrix3::new(-1.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0);
/// assert!((relaxed.derivative.by(Variable::Particle) - expected).norm() < 1e-12);
/// assert_eq!(relaxed.derivative.terms().len(), 4, "the particle and three vertices");
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightDerivative {
    terms: Vec<(Variable, Matrix3<f64>)>,
}

impl WeightDerivative {
    /// The variables and their derivatives, in the order of the walk.
    #[must_use]
    pub fn terms(&self) -> &[(Variable, Matrix3<f64>)] {
        &self.terms
    }

    /// ∂w/∂y, 1/m; zero for a variable that the weights do not depend on.
    #[must_use]
    pub fn by(&self, variable: Variable) -> Matrix3<f64> {
        let found = self.terms.iter().find(|(known, _)| *known == variable);
        found.map_or_else(Matrix3::zeros, |(_, matrix)| *matrix)
    }

    pub(super) fn clear(&mut self) {
        self.terms.clear();
    }

    /// The derivative by a variable, zero if it is new.
    pub(super) fn entry(&mut self, variable: Variable) -> &mut Matrix3<f64> {
        let known = self.terms.iter().position(|(known, _)| *known == variable);
        let place = known.unwrap_or_else(|| {
            self.terms.push((variable, Matrix3::zeros()));
            self.terms.len() - 1
        });
        &mut self.terms[place].1
    }

    pub(super) fn terms_mut(&mut self) -> &mut [(Variable, Matrix3<f64>)] {
        &mut self.terms
    }

    /// Rows in the order of another triangle: row k is the old row `old[k]`, or zero.
    pub(super) fn permute(&mut self, old: &[Option<usize>; 3]) {
        for (_, matrix) in &mut self.terms {
            let before = *matrix;
            for (k, old) in old.iter().enumerate() {
                let row: RowVector3<f64> =
                    old.map_or_else(RowVector3::zeros, |old| before.row(old).into_owned());
                matrix.set_row(k, &row);
            }
        }
    }
}

/// Σ over corners of x_i times row i: the displacement of Σ w_i x_i by a change of the weights.
pub(super) fn displacement(corners: &[Vector3<f64>; 3], by: &Matrix3<f64>) -> Matrix3<f64> {
    Matrix3::from_columns(corners) * by
}
