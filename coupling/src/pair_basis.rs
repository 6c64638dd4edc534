//! The basis that all contacts of one pair share, for any two kinds of bodies.

mod side;
#[cfg(test)]
mod tests;

use nalgebra::{Matrix3, Matrix6, Point3, Vector3};
use pliant_contact_sap::{
    BasisBuilder, BlockFactors, ConstraintSet, ContactIdx, ContactLaw, Interpolation,
};

use side::SideRows;
pub(crate) use side::{Bodies, Side, point_velocity};

/// Largest number of contacts of a basis for which row sums are computed one by one: as many as two faces have points.
const FEW: usize = 8;

/// Points of action on either side, world frame: one point, except for speculative contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ContactPositions {
    pub(crate) a: Point3<f64>,
    pub(crate) b: Point3<f64>,
}

/// Whether a contact is closed at the start of the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ContactStatus {
    /// In contact at the start of the step, up to the resting margin.
    #[default]
    Closed,
    /// Predicted paths intersect within the step.
    Speculative,
}

/// Arrangement of the rows of the two sides in the basis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Layout {
    /// Six rows: the twist of A relative to B at O.
    #[default]
    RelativeTwist,
    /// Point velocities first (of A, of B), then the twist of the side that has one.
    Stencil,
    /// Rows of A, then rows of B negated; interpolations in full.
    Stacked,
}

/// Workspace, reused from pair to pair.
#[derive(Debug, Default)]
pub(crate) struct PairBasis {
    layout: Layout,
    p_WO: Point3<f64>,
    a: SideRows,
    b: SideRows,
    /// M = B D⁻¹Bᵀ, r×r.
    delassus: Vec<f64>,
    /// Range of the nonzero entries of each column of M. Material points of a grid cell have three in each of 81.
    extents: Vec<std::ops::Range<usize>>,
    n_rows: usize,
    phi: Vec<f64>,
    product: Vec<f64>,
    /// Σ yyᵀ of many directions, r×r; empty for few.
    gram: Vec<f64>,
}

/// Relative velocity of A against B at a contact point, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointVelocity {
    pub(crate) start: Vector3<f64>,
    pub(crate) free: Vector3<f64>,
    /// Its change by contacts and constraints in the last step, if known.
    pub(crate) change: Option<Vector3<f64>>,
}

/// Inverse inertias at a point of action, means over all directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mobility {
    /// 1/kg.
    pub(crate) linear: f64,
    /// 1/(kg·m²).
    pub(crate) angular: f64,
}

/// What turns about a point within this distance (m) does not move it: the distance may be round-off.
const LEVER_MIN: f64 = 1e-6;

impl PairBasis {
    /// Opens a basis in `set` for contacts between sides like `a` and `b` near `p_WO`, and computes its Delassus matrix.
    pub(crate) fn open(
        &mut self,
        set: &mut ConstraintSet,
        factors: &mut BlockFactors,
        bodies: &Bodies<'_>,
        (a, b): (&Side, &Side),
        status: ContactStatus,
        p_WO: Point3<f64>,
    ) {
        self.p_WO = p_WO;
        self.a.fill(a, &p_WO, bodies);
        self.b.fill(b, &p_WO, bodies);
        let (r_a, r_b) = (self.a.rows.n_rows(), self.b.rows.n_rows());
        // Row of A, row of B, rows in all, scale of B's rows.
        let both_move = a.body.is_some() && b.body.is_some();
        let (layout, row_a, row_b, n_rows, scale_b) = match (&a.interpolation, &b.interpolation) {
            (Interpolation::Twist, Interpolation::Twist)
                if status == ContactStatus::Speculative && both_move =>
            {
                (Layout::Stacked, 0, 6, 12, -1.0)
            }
            (Interpolation::Twist, Interpolation::Twist) => (Layout::RelativeTwist, 0, 0, 6, -1.0),
            (Interpolation::Dense(_), _) | (_, Interpolation::Dense(_)) => {
                (Layout::Stacked, 0, r_a, r_a + r_b, -1.0)
            }
            (Interpolation::Twist, Interpolation::Weights(_)) => {
                (Layout::Stencil, r_b, 0, r_a + r_b, 1.0)
            }
            (Interpolation::Weights(_), Interpolation::Twist) => {
                (Layout::Stencil, 0, r_a, r_a + r_b, -1.0)
            }
            (Interpolation::Weights(_), Interpolation::Weights(_)) => {
                (Layout::Stencil, 0, r_a, r_a + r_b, 1.0)
            }
        };
        self.layout = layout;
        self.n_rows = n_rows;
        let mut basis = set.basis(n_rows);
        if let Some((participant, _)) = a.body {
            basis.rows(participant, &self.a.rows, row_a, 1.0);
        }
        if let Some((participant, _)) = b.body {
            basis.rows(participant, &self.b.rows, row_b, scale_b);
        }
        basis.delassus(factors, &mut self.delassus);
        self.find_extents();
    }

    /// Finds the nonzero entries of M.
    fn find_extents(&mut self) {
        self.extents.clear();
        let columns = self.delassus.chunks_exact(self.n_rows.max(1));
        self.extents.extend(columns.map(|column| {
            let first = column.iter().position(|m| *m != 0.0).unwrap_or(0);
            let last = column.iter().rposition(|m| *m != 0.0);
            first..last.map_or(first, |last| last + 1)
        }));
    }

    /// The columns of M: for each the range of its nonzero entries, and these entries.
    fn columns(&self) -> impl Iterator<Item = (&std::ops::Range<usize>, &[f64])> {
        let columns = self.delassus.chunks_exact(self.n_rows.max(1));
        let extents = self.extents.iter();
        extents
            .zip(columns)
            .map(|(extent, column)| (extent, &column[extent.clone()]))
    }

    /// Relative velocity of the contact points at `positions`.
    pub(crate) fn velocity(
        &self,
        (a, b): (&Side, &Side),
        positions: &ContactPositions,
    ) -> PointVelocity {
        let (p_a, p_b) = (positions.a - self.p_WO, positions.b - self.p_WO);
        PointVelocity {
            start: point_velocity(&a.interpolation, &p_a, &self.a.start)
                - point_velocity(&b.interpolation, &p_b, &self.b.start),
            free: point_velocity(&a.interpolation, &p_a, &self.a.free)
                - point_velocity(&b.interpolation, &p_b, &self.b.free),
            change: self.a.change().zip(self.b.change()).map(|(u_a, u_b)| {
                point_velocity(&a.interpolation, &p_a, u_a)
                    - point_velocity(&b.interpolation, &p_b, u_b)
            }),
        }
    }

    /// W = Φ M Φᵀ of one contact point, 1/kg.
    pub(crate) fn delassus(
        &mut self,
        sides: (&Side, &Side),
        positions: &ContactPositions,
    ) -> Matrix3<f64> {
        if self.layout == Layout::RelativeTwist {
            return self.twist_delassus(&(positions.a - self.p_WO));
        }
        self.write_phi(sides, positions);
        // ΦM, 3×r.
        let mut product = std::mem::take(&mut self.product);
        product.clear();
        product.resize(3 * self.n_rows, 0.0);
        for (out, (extent, column)) in product.chunks_exact_mut(3).zip(self.columns()) {
            let phi = &self.phi[3 * extent.start..3 * extent.end];
            for (phi, m) in phi.chunks_exact(3).zip(column) {
                for (out, phi) in out.iter_mut().zip(phi) {
                    *out += phi * m;
                }
            }
        }
        self.product = product;
        let mut w = Matrix3::zeros();
        for (x, phi) in self.product.chunks_exact(3).zip(self.phi.chunks_exact(3)) {
            w += Vector3::from_column_slice(x) * Vector3::from_column_slice(phi).transpose();
        }
        w
    }

    /// W for Φ = [−P, I], P = [p]×, the layout of rigid pairs: with M in 3×3 blocks of ω and v,
    ///
    /// ```text
    /// W = (M_vω − P M_ωω) P + M_vv − P M_ωv
    /// ```
    fn twist_delassus(&self, p: &Vector3<f64>) -> Matrix3<f64> {
        let m = Matrix6::from_column_slice(&self.delassus);
        let P = p.cross_matrix();
        let (angular, linear) = (m.fixed_columns::<3>(0), m.fixed_columns::<3>(3));
        (angular.fixed_rows::<3>(3) - P * angular.fixed_rows::<3>(0)) * P
            + linear.fixed_rows::<3>(3)
            - P * linear.fixed_rows::<3>(0)
    }

    /// Φᵀn of one contact point: the direction of its normal in the coordinates of the basis; `out` has r values.
    pub(crate) fn normal_direction(
        &mut self,
        sides: (&Side, &Side),
        positions: &ContactPositions,
        normal_W: &Vector3<f64>,
        out: &mut Vec<f64>,
    ) {
        if self.layout == Layout::RelativeTwist {
            let moment = (positions.a - self.p_WO).cross(normal_W);
            out.extend(moment.iter().chain(normal_W.iter()));
            return;
        }
        self.write_phi(sides, positions);
        out.extend(
            self.phi
                .chunks_exact(3)
                .map(|c| c[0] * normal_W.x + c[1] * normal_W.y + c[2] * normal_W.z),
        );
    }

    /// Rate of a row Φ, of r values, at the start of the step.
    ///
    /// Only for a pair of twists with one point of action, as constraints have.
    pub(crate) fn start_rate(&self, phi: &[f64]) -> f64 {
        debug_assert_eq!(self.layout, Layout::RelativeTwist);
        dot(phi, &self.a.start) - dot(phi, &self.b.start)
    }

    /// xᵀMx for a direction in the basis.
    pub(crate) fn response(&self, x: &[f64]) -> f64 {
        let columns = self.delassus.chunks_exact(self.n_rows);
        columns.zip(x).map(|(m, x_j)| x_j * dot(m, x)).sum()
    }

    /// Mean inverse inertia of the point of action over all directions, and of turns about it.
    pub(crate) fn mobility(
        &mut self,
        sides: (&Side, &Side),
        positions: &ContactPositions,
    ) -> Mobility {
        let linear = self.delassus(sides, positions).trace() / 3.0;
        let angular = match self.layout {
            Layout::RelativeTwist => (0..3).map(|k| self.delassus[7 * k]).sum::<f64>() / 3.0,
            Layout::Stencil | Layout::Stacked => 0.0,
        };
        Mobility {
            linear: linear + LEVER_MIN * LEVER_MIN * angular,
            angular,
        }
    }

    /// Prepares [`row_sum`](Self::row_sum) for directions y, of r values each and one after the other.
    pub(crate) fn sum_rows_of(&mut self, directions: &[f64]) {
        let r = self.n_rows;
        self.gram.clear();
        if directions.len() <= FEW * r {
            return;
        }
        self.gram.resize(r * r, 0.0);
        for y in directions.chunks_exact(r) {
            for (column, y_j) in self.gram.chunks_exact_mut(r).zip(y) {
                for (sum, y_i) in column.iter_mut().zip(y) {
                    *sum += y_i * y_j;
                }
            }
        }
    }

    /// Σ |xᵀMy| over the n directions y: an upper bound of the effect of all contacts of the basis on one of them.
    ///
    /// For the many contacts of a patch √(n Σ (xᵀMy)²), an upper bound by Cauchy-Schwarz that is equal where all terms are equal and
    /// costs no loop over the other points. [`sum_rows_of`](Self::sum_rows_of) must be called first.
    pub(crate) fn row_sum(&mut self, x: &[f64], directions: &[f64]) -> f64 {
        let mut product = std::mem::take(&mut self.product);
        product.clear();
        product.extend(self.columns().map(|(extent, m)| dot(m, &x[extent.clone()])));
        let r = self.n_rows;
        let sum = if self.gram.is_empty() {
            let others = directions.chunks_exact(r);
            others.map(|y| dot(&product, y).abs()).sum()
        } else {
            let n = (directions.len() / r) as f64;
            let columns = self.gram.chunks_exact(r).zip(&product);
            let squares: f64 = columns.map(|(g, m)| m * dot(g, &product)).sum();
            (n * squares.max(0.0)).sqrt()
        };
        self.product = product;
        sum
    }

    /// Number of rows of the basis.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Adds a contact to the basis opened last.
    pub(crate) fn add(
        &mut self,
        basis: &mut BasisBuilder<'_>,
        sides: (&Side, &Side),
        positions: &ContactPositions,
        bias: Vector3<f64>,
        law: ContactLaw,
    ) -> ContactIdx {
        match self.layout {
            Layout::RelativeTwist => basis.twist_contact(positions.a - self.p_WO, bias, law),
            Layout::Stencil => {
                let p = twist_position(sides, positions).map(|p_WC| p_WC - self.p_WO);
                let weights = point_weights(sides.0, 1.0).chain(point_weights(sides.1, -1.0));
                basis.stencil_contact(weights, p, bias, law)
            }
            Layout::Stacked => {
                self.write_phi(sides, positions);
                basis.dense_contact(&self.phi, bias, law)
            }
        }
    }

    /// ∂ω/∂u of the relative angular velocity of two twists, 3×r column-major, times `projection`.
    fn write_angular(&mut self, projection: &Matrix3<f64>) {
        debug_assert_ne!(
            self.layout,
            Layout::Stencil,
            "points have no angular velocity"
        );
        self.phi.clear();
        for _ in 0..self.n_rows / 6 {
            self.phi.extend(projection.iter());
            self.phi.extend([0.0; 9]);
        }
    }

    /// Inverse inertia of the relative angular velocity of two rigid sides, 1/(kg·m²).
    pub(crate) fn angular_delassus(&self) -> Matrix3<f64> {
        let r = self.n_rows;
        let mut w = Matrix3::zeros();
        for j in (0..r).step_by(6) {
            for i in (0..r).step_by(6) {
                w += Matrix3::from_fn(|row, column| self.delassus[(j + column) * r + i + row]);
            }
        }
        w
    }

    /// Adds a law of the relative angular velocity of two rigid sides, times `projection`, to the basis opened last.
    pub(crate) fn add_angular(
        &mut self,
        basis: &mut BasisBuilder<'_>,
        projection: &Matrix3<f64>,
        law: ContactLaw,
    ) -> ContactIdx {
        self.write_angular(projection);
        basis.dense_contact(&self.phi, Vector3::zeros(), law)
    }

    /// Φ of a contact point in full, 3×r column-major.
    fn write_phi(&mut self, (a, b): (&Side, &Side), positions: &ContactPositions) {
        let (p_a, p_b) = (positions.a - self.p_WO, positions.b - self.p_WO);
        self.phi.clear();
        match self.layout {
            Layout::RelativeTwist => push_twist(&mut self.phi, &p_a),
            Layout::Stencil => {
                for w in point_weights(a, 1.0).chain(point_weights(b, -1.0)) {
                    for k in 0..3 {
                        let mut column = [0.0; 3];
                        column[k] = w;
                        self.phi.extend(column);
                    }
                }
                if let Some(p_WC) = twist_position((a, b), positions) {
                    push_twist(&mut self.phi, &(p_WC - self.p_WO));
                }
            }
            Layout::Stacked => {
                for (side, p) in [(a, p_a), (b, p_b)] {
                    match &side.interpolation {
                        Interpolation::Twist => push_twist(&mut self.phi, &p),
                        Interpolation::Dense(phi) => self.phi.extend_from_slice(phi),
                        Interpolation::Weights(weights) => {
                            for w in weights {
                                for k in 0..3 {
                                    let mut column = [0.0; 3];
                                    column[k] = *w;
                                    self.phi.extend(column);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The point of action on the side that is a twist, in a basis where at most one is.
fn twist_position((a, b): (&Side, &Side), positions: &ContactPositions) -> Option<Point3<f64>> {
    match (&a.interpolation, &b.interpolation) {
        (Interpolation::Twist, _) => Some(positions.a),
        (_, Interpolation::Twist) => Some(positions.b),
        _ => None,
    }
}

fn point_weights(side: &Side, sign: f64) -> impl Iterator<Item = f64> + '_ {
    let weights: &[f64] = match &side.interpolation {
        Interpolation::Weights(weights) => weights,
        _ => &[],
    };
    weights.iter().map(move |w| sign * w)
}

/// Columns of [−[p]×, I].
fn push_twist(phi: &mut Vec<f64>, p: &Vector3<f64>) {
    phi.extend([0.0, -p.z, p.y]);
    phi.extend([p.z, 0.0, -p.x]);
    phi.extend([-p.y, p.x, 0.0]);
    phi.extend([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
}
