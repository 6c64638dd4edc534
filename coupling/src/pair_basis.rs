//! The basis that all contacts of one pair share, whatever the two sides are made of.

use nalgebra::{Matrix3, Matrix6, Point3, Vector3};
use pliant_contact_sap::{
    BasisBuilder, BasisIdx, BlockFactors, BodyStep, ConstraintSet, ContactIdx, ContactLaw, Lever,
    ParticipantIdx, Rows,
};

/// One side of a contact: a body's basis and the lever to the contact point, or the world.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) body: Option<(ParticipantIdx, BasisIdx)>,
    pub(crate) lever: Lever,
}

impl Side {
    /// The world, as the partner of `other`: it adds no rows that `other` has no use for.
    pub(crate) fn world_against(other: &Self) -> Self {
        let lever = match other.lever {
            Lever::Twist => Lever::Twist,
            _ => Lever::Weights(Vec::new()),
        };
        Self { body: None, lever }
    }
}

/// Where a contact acts on either side, world frame: one place, unless the sides will only meet within the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) a: Point3<f64>,
    pub(crate) b: Point3<f64>,
}

/// When the two sides of a contact meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Meeting {
    /// They touch at the start of the step, up to the resting margin.
    Now,
    /// Their predicted paths cross within the step.
    Foreseen,
}

/// How the rows of the two sides stand in the basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Six rows: the twist of A relative to B at O.
    RelativeTwist,
    /// Point velocities first (of A, of B), then the twist of the side that has one.
    Stencil,
    /// Rows of A, then rows of B negated; levers in full.
    Stacked,
}

/// Memory for one pair after another.
#[derive(Debug, Default)]
pub(crate) struct PairBasis {
    layout: Option<Layout>,
    p_WO: Point3<f64>,
    a: SideRows,
    b: SideRows,
    /// M = B D⁻¹Bᵀ, r×r.
    delassus: Vec<f64>,
    n_rows: usize,
    phi: Vec<f64>,
    product: Vec<f64>,
}

#[derive(Debug, Default)]
struct SideRows {
    rows: Rows,
    /// u at the start of the step, and predicted without contact.
    start: Vec<f64>,
    free: Vec<f64>,
    /// Change of u by the constraints of the last step, if known.
    constrained: Option<Vec<f64>>,
}

impl SideRows {
    fn fill(&mut self, side: &Side, p_WO: &Point3<f64>, bodies: &Bodies<'_>) {
        match side.body {
            None => self.rows.reset(match side.lever {
                Lever::Twist => 6,
                _ => 0,
            }),
            Some((participant, basis)) => {
                bodies.steps[participant.0].basis(basis, p_WO, &mut self.rows);
            }
        }
        let n = self.rows.n_rows();
        self.start.resize(n, 0.0);
        self.free.resize(n, 0.0);
        let (start, free) = match side.body {
            Some((participant, _)) => bodies.of(participant),
            None => (&[][..], &[][..]),
        };
        self.rows.apply(start, &mut self.start);
        self.rows.apply(free, &mut self.free);
        let known = match side.body {
            None => Some(&[][..]),
            Some((participant, _)) => bodies.constrained_of(participant),
        };
        let mut change = self.constrained.take().unwrap_or_default();
        self.constrained = known.map(|dv| {
            change.resize(n, 0.0);
            self.rows.apply_without_bias(dv, &mut change);
            change
        });
    }
}

/// All participants with their velocities at the start of the step and in free motion.
#[derive(Clone, Copy)]
pub(crate) struct Bodies<'a> {
    pub(crate) steps: &'a [Box<dyn BodyStep>],
    pub(crate) start: &'a [f64],
    pub(crate) free: &'a [f64],
    /// What moves positions if all end with their free velocities: θ_vq free + (1 − θ_vq) start.
    pub(crate) path: &'a [f64],
    /// First velocity of each participant, and the end of the last.
    pub(crate) offsets: &'a [usize],
    /// v − v* of each participant's last step; empty where unknown.
    pub(crate) constrained: &'a [Vec<f64>],
}

impl<'a> Bodies<'a> {
    fn of(&self, participant: ParticipantIdx) -> (&'a [f64], &'a [f64]) {
        let range = self.offsets[participant.0]..self.offsets[participant.0 + 1];
        (&self.start[range.clone()], &self.free[range])
    }

    /// v − v* of one participant's last step, if it is known and the velocities are still the same ones.
    fn constrained_of(&self, participant: ParticipantIdx) -> Option<&'a [f64]> {
        let change = &self.constrained[participant.0];
        let n = self.offsets[participant.0 + 1] - self.offsets[participant.0];
        (change.len() == n).then_some(change.as_slice())
    }

    /// Velocities that move one participant's positions in free motion.
    pub(crate) fn path_of(&self, participant: ParticipantIdx) -> &'a [f64] {
        &self.path[self.offsets[participant.0]..self.offsets[participant.0 + 1]]
    }
}

/// Relative velocity of A against B at a contact point, world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointVelocity {
    pub(crate) start: Vector3<f64>,
    pub(crate) free: Vector3<f64>,
    /// What the constraints of the last step did to it, if known.
    pub(crate) constrained: Option<Vector3<f64>>,
}

impl PairBasis {
    /// Opens a basis in `set` for contacts between sides like `a` and `b` near `p_WO`, and computes its Delassus matrix.
    pub(crate) fn open(
        &mut self,
        set: &mut ConstraintSet,
        factors: &mut BlockFactors,
        bodies: &Bodies<'_>,
        (a, b): (&Side, &Side),
        meeting: Meeting,
        p_WO: Point3<f64>,
    ) {
        self.p_WO = p_WO;
        self.a.fill(a, &p_WO, bodies);
        self.b.fill(b, &p_WO, bodies);
        let (r_a, r_b) = (self.a.rows.n_rows(), self.b.rows.n_rows());
        // Row of A, row of B, rows in all, scale of B's rows.
        let both_move = a.body.is_some() && b.body.is_some();
        let (layout, row_a, row_b, n_rows, scale_b) = match (&a.lever, &b.lever) {
            (Lever::Twist, Lever::Twist) if meeting == Meeting::Foreseen && both_move => {
                (Layout::Stacked, 0, 6, 12, -1.0)
            }
            (Lever::Twist, Lever::Twist) => (Layout::RelativeTwist, 0, 0, 6, -1.0),
            (Lever::Dense(_), _) | (_, Lever::Dense(_)) => {
                (Layout::Stacked, 0, r_a, r_a + r_b, -1.0)
            }
            (Lever::Twist, Lever::Weights(_)) => (Layout::Stencil, r_b, 0, r_a + r_b, 1.0),
            (Lever::Weights(_), Lever::Twist) => (Layout::Stencil, 0, r_a, r_a + r_b, -1.0),
            (Lever::Weights(_), Lever::Weights(_)) => (Layout::Stencil, 0, r_a, r_a + r_b, 1.0),
        };
        self.layout = Some(layout);
        self.n_rows = n_rows;
        let mut basis = set.basis(n_rows);
        if let Some((participant, _)) = a.body {
            basis.rows(participant, &self.a.rows, row_a, 1.0);
        }
        if let Some((participant, _)) = b.body {
            basis.rows(participant, &self.b.rows, row_b, scale_b);
        }
        basis.delassus(factors, &mut self.delassus);
    }

    /// Relative velocity of the contact points at `place`.
    pub(crate) fn velocity(&self, (a, b): (&Side, &Side), place: &Place) -> PointVelocity {
        let at = |lever: &Lever, p: &Vector3<f64>, u: &[f64]| match lever {
            Lever::Twist => {
                Vector3::new(u[3], u[4], u[5]) + Vector3::new(u[0], u[1], u[2]).cross(p)
            }
            Lever::Weights(weights) => weights
                .iter()
                .zip(u.chunks_exact(3))
                .map(|(w, u)| Vector3::new(u[0], u[1], u[2]) * *w)
                .sum(),
            Lever::Dense(phi) => phi
                .chunks_exact(3)
                .zip(u)
                .map(|(column, u)| Vector3::new(column[0], column[1], column[2]) * *u)
                .sum(),
        };
        let (p_a, p_b) = (place.a - self.p_WO, place.b - self.p_WO);
        PointVelocity {
            start: at(&a.lever, &p_a, &self.a.start) - at(&b.lever, &p_b, &self.b.start),
            free: at(&a.lever, &p_a, &self.a.free) - at(&b.lever, &p_b, &self.b.free),
            constrained: match (&self.a.constrained, &self.b.constrained) {
                (Some(u_a), Some(u_b)) => Some(at(&a.lever, &p_a, u_a) - at(&b.lever, &p_b, u_b)),
                _ => None,
            },
        }
    }

    /// W = Φ M Φᵀ of one contact point, 1/kg.
    pub(crate) fn delassus(&mut self, sides: (&Side, &Side), place: &Place) -> Matrix3<f64> {
        if self.layout == Some(Layout::RelativeTwist) {
            return self.twist_delassus(&(place.a - self.p_WO));
        }
        self.write_phi(sides, place);
        let r = self.n_rows;
        // ΦM, 3×r.
        self.product.clear();
        self.product.resize(3 * r, 0.0);
        for (out, m) in self
            .product
            .chunks_exact_mut(3)
            .zip(self.delassus.chunks_exact(r))
        {
            for (phi, m) in self.phi.chunks_exact(3).zip(m) {
                for (out, phi) in out.iter_mut().zip(phi) {
                    *out += phi * m;
                }
            }
        }
        let mut w = Matrix3::zeros();
        for (x, phi) in self.product.chunks_exact(3).zip(self.phi.chunks_exact(3)) {
            w += Vector3::from_column_slice(x) * Vector3::from_column_slice(phi).transpose();
        }
        w
    }

    /// W for Φ = [−P, I], P = [p]×, the one layout that rigid pairs have: with M in 3×3 blocks of ω and v,
    ///
    /// ```text
    /// W = (M_vω − P M_ωω) P + M_vv − P M_ωv
    /// ```
    fn twist_delassus(&self, p: &Vector3<f64>) -> Matrix3<f64> {
        let m = Matrix6::from_column_slice(&self.delassus);
        let lever = p.cross_matrix();
        let (angular, linear) = (m.fixed_columns::<3>(0), m.fixed_columns::<3>(3));
        let turned = angular.fixed_rows::<3>(3) - lever * angular.fixed_rows::<3>(0);
        turned * lever + linear.fixed_rows::<3>(3) - lever * linear.fixed_rows::<3>(0)
    }

    /// Φᵀn of one contact point: the direction of its normal in the coordinates of the basis; `out` has r values.
    pub(crate) fn normal_direction(
        &mut self,
        sides: (&Side, &Side),
        place: &Place,
        normal_W: &Vector3<f64>,
        out: &mut Vec<f64>,
    ) {
        self.write_phi(sides, place);
        out.extend(
            self.phi
                .chunks_exact(3)
                .map(|c| c[0] * normal_W.x + c[1] * normal_W.y + c[2] * normal_W.z),
        );
    }

    /// Rate of a row Φ, of r values, at the start of the step.
    ///
    /// Only for a pair of twists that touch at one place, as ties do.
    pub(crate) fn start_rate(&self, phi: &[f64; 6]) -> f64 {
        debug_assert_eq!(self.layout, Some(Layout::RelativeTwist));
        dot(phi, &self.a.start) - dot(phi, &self.b.start)
    }

    /// xᵀMx for a direction in the basis.
    pub(crate) fn response(&self, x: &[f64]) -> f64 {
        let columns = self.delassus.chunks_exact(self.n_rows);
        columns.zip(x).map(|(m, x_j)| x_j * dot(m, x)).sum()
    }

    /// Σ |xᵀMy| over directions y, of r values each and one after the other: what the impulses of all contacts of the
    /// basis can at most do to one of them.
    pub(crate) fn row_sum(&mut self, x: &[f64], directions: &[f64]) -> f64 {
        let r = self.n_rows;
        self.product.clear();
        let columns = self.delassus.chunks_exact(r);
        self.product.extend(columns.map(|m| dot(m, x)));
        let others = directions.chunks_exact(r);
        others.map(|y| dot(&self.product, y).abs()).sum()
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
        place: &Place,
        bias: Vector3<f64>,
        law: ContactLaw,
    ) -> ContactIdx {
        match self.layout {
            Some(Layout::RelativeTwist) | None => {
                basis.twist_contact(place.a - self.p_WO, bias, law)
            }
            Some(Layout::Stencil) => {
                let p = twist_place(sides, place).map(|p_WC| p_WC - self.p_WO);
                let weights = point_weights(sides.0, 1.0).chain(point_weights(sides.1, -1.0));
                basis.stencil_contact(weights, p, bias, law)
            }
            Some(Layout::Stacked) => {
                self.write_phi(sides, place);
                basis.dense_contact(&self.phi, bias, law)
            }
        }
    }

    /// Φ of a contact point in full, 3×r column-major.
    fn write_phi(&mut self, (a, b): (&Side, &Side), place: &Place) {
        let (p_a, p_b) = (place.a - self.p_WO, place.b - self.p_WO);
        self.phi.clear();
        match self.layout {
            Some(Layout::RelativeTwist) | None => push_twist(&mut self.phi, &p_a),
            Some(Layout::Stencil) => {
                for w in point_weights(a, 1.0).chain(point_weights(b, -1.0)) {
                    for k in 0..3 {
                        let mut column = [0.0; 3];
                        column[k] = w;
                        self.phi.extend(column);
                    }
                }
                if let Some(p_WC) = twist_place((a, b), place) {
                    push_twist(&mut self.phi, &(p_WC - self.p_WO));
                }
            }
            Some(Layout::Stacked) => {
                for (side, p) in [(a, p_a), (b, p_b)] {
                    match &side.lever {
                        Lever::Twist => push_twist(&mut self.phi, &p),
                        Lever::Dense(phi) => self.phi.extend_from_slice(phi),
                        Lever::Weights(weights) => {
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

/// The place of the side that is a twist, in a basis where at most one is.
fn twist_place((a, b): (&Side, &Side), place: &Place) -> Option<Point3<f64>> {
    match (&a.lever, &b.lever) {
        (Lever::Twist, _) => Some(place.a),
        (_, Lever::Twist) => Some(place.b),
        _ => None,
    }
}

fn point_weights(side: &Side, sign: f64) -> impl Iterator<Item = f64> + '_ {
    let weights: &[f64] = match &side.lever {
        Lever::Weights(weights) => weights,
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

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, Matrix3xX};

    /// A basis of a rigid pair with some symmetric positive definite M.
    fn twist_basis() -> (PairBasis, DMatrix<f64>) {
        let root = DMatrix::from_fn(6, 6, |i, j| ((3 * i + 5 * j) % 7) as f64 - 2.5);
        let m = &root * root.transpose() + DMatrix::identity(6, 6);
        let basis = PairBasis {
            layout: Some(Layout::RelativeTwist),
            p_WO: Point3::new(0.1, -0.2, 0.3),
            delassus: m.as_slice().to_vec(),
            n_rows: 6,
            ..PairBasis::default()
        };
        (basis, m)
    }

    #[test]
    fn a_rigid_pair_s_delassus_is_phi_m_phi_transposed() {
        let (mut basis, m) = twist_basis();
        let p_WC = Point3::new(0.4, 0.3, -0.6);
        let side = || Side {
            body: None,
            lever: Lever::Twist,
        };
        let (a, b) = (side(), side());
        let place = Place { a: p_WC, b: p_WC };
        let fast = basis.delassus((&a, &b), &place);
        basis.write_phi((&a, &b), &place);
        let phi = Matrix3xX::from_column_slice(&basis.phi);
        let plain = &phi * &m * phi.transpose();
        // A few roundings of sums of 36 terms.
        assert!((fast - plain).norm() < 100.0 * f64::EPSILON * m.norm());
    }

    #[test]
    fn a_row_sum_adds_what_every_direction_does_to_one() {
        let (mut basis, m) = twist_basis();
        let directions: Vec<f64> = (0..18).map(|k| f64::from(k * k % 11) - 4.0).collect();
        let x = &directions[6..12];
        let found = basis.row_sum(x, &directions);
        let column = nalgebra::DVector::from_column_slice(x);
        let expected: f64 = directions
            .chunks_exact(6)
            .map(|y| (nalgebra::DVector::from_column_slice(y).transpose() * &m * &column)[0].abs())
            .sum();
        assert!((found - expected).abs() < 100.0 * f64::EPSILON * expected);
        let own = (column.transpose() * &m * &column)[0];
        assert!((basis.response(x) - own).abs() < 100.0 * f64::EPSILON * own);
    }
}
