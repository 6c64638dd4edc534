//! Forward dynamics by the articulated body algorithm, O(n).
//!
//! It is split into a factorisation of A = M(q) + diag(d) and a solve, because contact solvers require A⁻¹ for many
//! right-hand sides at one position. The degrees of freedom of a joint are eliminated one at a time, as if there were
//! massless bodies between them, so there is one code path for all joints.
//!
//! # Source
//! Featherstone (2008), chapter 7. Velocity-product terms are not part of the recursion: they enter as a bias wrench of each
//! body, from one Newton-Euler pass at the bias acceleration, and the recursion computes the increment over that
//! acceleration.

use nalgebra::{Matrix3, Vector3};

use crate::body_inertias::BodyInertias;
use crate::held::HeldDofs;
use crate::inverse_dynamics::along;
use crate::joint::DofKind;
use crate::kinematics::{AccelerationKinematics, PositionKinematics};
use crate::model::Model;
use crate::spatial::{OriginInertia, Symmetric3, Twist, Wrench, rotate};

/// A 6×6 articulated inertia by blocks: n = J α + H a, f = Hᵀ α + M a.
#[derive(Clone, Copy, Debug)]
struct ArticulatedInertia {
    second: Symmetric3,
    coupling: Matrix3<f64>,
    mass: Symmetric3,
}

impl ArticulatedInertia {
    #[inline]
    fn rigid(body: &OriginInertia) -> Self {
        let h = &body.moment;
        Self {
            second: body.second,
            coupling: Matrix3::new(0.0, -h.z, h.y, h.z, 0.0, -h.x, -h.y, h.x, 0.0),
            mass: Symmetric3::scaled_identity(body.mass),
        }
    }

    /// The wrench for a unit acceleration of one degree of freedom.
    #[inline]
    fn column(&self, kind: DofKind, d: &Vector3<f64>) -> Wrench {
        match kind {
            DofKind::Angular => Wrench {
                torque: self.second.times(d),
                force: transposed_times(&self.coupling, d),
            },
            DofKind::Linear => Wrench {
                torque: rotate(&self.coupling, d),
                force: self.mass.times(d),
            },
            DofKind::Screw { advance } => Wrench {
                torque: self.second.times(d) + rotate(&self.coupling, d) * advance,
                force: transposed_times(&self.coupling, d) + self.mass.times(d) * advance,
            },
        }
    }

    /// Eliminates one degree of freedom: IA − U Uᵀ / D.
    #[inline]
    fn eliminate(&mut self, u: &Wrench, inverse_d: f64) {
        self.second.subtract_outer(inverse_d, &u.torque);
        self.mass.subtract_outer(inverse_d, &u.force);
        let f = u.force * inverse_d;
        let (n, h) = (&u.torque, &mut self.coupling);
        h.m11 -= n.x * f.x;
        h.m21 -= n.y * f.x;
        h.m31 -= n.z * f.x;
        h.m12 -= n.x * f.y;
        h.m22 -= n.y * f.y;
        h.m32 -= n.z * f.y;
        h.m13 -= n.x * f.z;
        h.m23 -= n.y * f.z;
        h.m33 -= n.z * f.z;
    }

    /// Adds `child`, whose origin is at `r`: H' = H + [r]M, J' = J − H[r] + [r]H'ᵀ.
    #[inline]
    fn add_shifted(&mut self, child: &Self, r: &Vector3<f64>) {
        let (h, m) = (&child.coupling, &child.mass);
        // [r]M by columns of the symmetric M.
        let columns = [
            r.cross(&Vector3::new(m.xx, m.xy, m.xz)),
            r.cross(&Vector3::new(m.xy, m.yy, m.yz)),
            r.cross(&Vector3::new(m.xz, m.yz, m.zz)),
        ];
        let g = Matrix3::new(
            h.m11 + columns[0].x,
            h.m12 + columns[1].x,
            h.m13 + columns[2].x,
            h.m21 + columns[0].y,
            h.m22 + columns[1].y,
            h.m23 + columns[2].y,
            h.m31 + columns[0].z,
            h.m32 + columns[1].z,
            h.m33 + columns[2].z,
        );
        // Row i of −H[r] is r × (row i of H); row i of [r]Gᵀ is row i of [r] against the rows of G.
        self.second.add(&child.second);
        self.second.xx += r.y * h.m13 - r.z * h.m12 + r.y * g.m13 - r.z * g.m12;
        self.second.xy += r.z * h.m11 - r.x * h.m13 + r.y * g.m23 - r.z * g.m22;
        self.second.xz += r.x * h.m12 - r.y * h.m11 + r.y * g.m33 - r.z * g.m32;
        self.second.yy += r.z * h.m21 - r.x * h.m23 + r.z * g.m21 - r.x * g.m23;
        self.second.yz += r.x * h.m22 - r.y * h.m21 + r.z * g.m31 - r.x * g.m33;
        self.second.zz += r.x * h.m32 - r.y * h.m31 + r.x * g.m32 - r.y * g.m31;
        self.coupling += g;
        self.mass.add(m);
    }
}

#[inline(always)]
fn transposed_times(m: &Matrix3<f64>, v: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(
        m.m11 * v.x + m.m21 * v.y + m.m31 * v.z,
        m.m12 * v.x + m.m22 * v.y + m.m32 * v.z,
        m.m13 * v.x + m.m23 * v.y + m.m33 * v.z,
    )
}

/// The factorisation of A = M(q) + diag(d) on the free degrees of freedom.
///
/// ```
/// # use nalgebra::Vector3;
/// # use pliant_multibody::{JointKind, JointSpec, LinkSpec, ModelBuilder, SpatialInertia};
/// # let mut builder = ModelBuilder::new("pendulum");
/// # let mut bob = SpatialInertia::solid_sphere(2.0, 0.1);
/// # bob.com = Vector3::new(1.0, 0.0, 0.0);
/// # builder.link(LinkSpec::new("base", SpatialInertia::zero()));
/// # builder.link(LinkSpec::new("rod", bob));
/// # builder.joint(JointSpec::new("hinge", JointKind::Continuous, "base", "rod").about(Vector3::y()));
/// # let model = builder.build()?;
/// use pliant_multibody::{ArticulatedBodies, BodyInertias, HeldDofs, PositionKinematics};
///
/// // A ball of 2 kg and 0.1 m on an arm of 1 m: A = m (l² + 2/5 r²) = 2.008 kg·m² about the hinge.
/// let (mut positions, mut inertias) = (PositionKinematics::new(&model), BodyInertias::new(&model));
/// positions.update(&model, &[0.3]);
/// inertias.update(&model, &positions);
/// let mut bodies = ArticulatedBodies::new(&model);
/// bodies.factor(&model, &positions, &inertias, &[], &HeldDofs::none(&model));
/// let mut x = [2.008];
/// bodies.solve(&model, &positions, &mut x);
/// assert!((x[0] - 1.0).abs() < 1e-12);
/// # Ok::<(), pliant_multibody::MultibodyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArticulatedBodies {
    articulated: Vec<ArticulatedInertia>,
    /// U = IA S of each degree of freedom, and 1/D; zero where held.
    column: Vec<Wrench>,
    pub(crate) inverse_d: Vec<f64>,
    /// (τ − Sᵀp)/D during a solve.
    residual: Vec<f64>,
    bias: Vec<Wrench>,
    /// Acceleration increments of the last solve.
    increments: Vec<Twist>,
}

impl ArticulatedBodies {
    /// A workspace for `model`; call [`factor`](Self::factor) before solving.
    pub fn new(model: &Model) -> Self {
        Self {
            articulated: vec![
                ArticulatedInertia::rigid(&OriginInertia::default());
                model.n_bodies()
            ],
            column: vec![Wrench::zero(); model.n_v()],
            inverse_d: vec![0.0; model.n_v()],
            residual: vec![0.0; model.n_v()],
            bias: vec![Wrench::zero(); model.n_bodies()],
            increments: vec![Twist::zero(); model.n_bodies()],
        }
    }

    /// Factors A = M(q) + diag(`diagonal`), restricted to the free degrees of freedom. `diagonal` has n_v entries, such as
    /// those of [`Model::implicit_diagonal`], or is empty.
    pub fn factor(
        &mut self,
        model: &Model,
        positions: &PositionKinematics,
        inertias: &BodyInertias,
        diagonal: &[f64],
        held: &HeldDofs,
    ) {
        for (articulated, rigid) in self.articulated.iter_mut().zip(&inertias.bodies) {
            *articulated = ArticulatedInertia::rigid(rigid);
        }
        for i in (1..model.bodies.len()).rev() {
            let body = &model.bodies[i];
            let (lower, upper) = self.articulated.split_at_mut(i);
            let own = &mut upper[0];
            for k in (body.v_start..body.v_end).rev() {
                if held.is_held[k] {
                    self.inverse_d[k] = 0.0;
                    self.column[k] = Wrench::zero();
                    continue;
                }
                let (kind, d) = (model.dof_kind[k], &positions.axes[k]);
                let u = own.column(kind, d);
                let added = diagonal.get(k).copied().unwrap_or(0.0);
                let inverse_d = 1.0 / (along(kind, d, &u) + added);
                own.eliminate(&u, inverse_d);
                self.column[k] = u;
                self.inverse_d[k] = inverse_d;
            }
            if body.parent != 0 {
                lower[body.parent].add_shifted(own, &positions.bodies[i].from_parent);
            }
        }
    }

    /// Solves A x = b in place for the free degrees of freedom; held entries become zero.
    ///
    /// # Panics
    /// If `x` does not have n_v entries.
    pub fn solve(&mut self, model: &Model, positions: &PositionKinematics, x: &mut [f64]) {
        self.bias.fill(Wrench::zero());
        self.backward(model, positions, x);
        self.forward(model, positions, x);
    }

    /// Solves A v̇ = τ − Sᵀ(bias) for the increment v̇ over the acceleration at which the bias wrenches were computed; held
    /// entries become zero.
    pub(crate) fn solve_with_bias(
        &mut self,
        model: &Model,
        positions: &PositionKinematics,
        bias: &[Wrench],
        tau: &[f64],
        vdot: &mut [f64],
    ) {
        self.bias.copy_from_slice(bias);
        self.backward(model, positions, tau);
        self.forward(model, positions, vdot);
    }

    /// Adds the increments of the last solve to the bias accelerations.
    pub(crate) fn add_increments_to(&self, accelerations: &mut AccelerationKinematics) {
        for (acceleration, increment) in accelerations.bodies.iter_mut().zip(&self.increments) {
            acceleration.angular += increment.angular;
            acceleration.linear += increment.linear;
        }
    }

    fn backward(&mut self, model: &Model, positions: &PositionKinematics, tau: &[f64]) {
        assert_eq!(tau.len(), model.n_v(), "a right-hand side has n_v entries");
        for i in (1..model.bodies.len()).rev() {
            let body = &model.bodies[i];
            let mut p = self.bias[i];
            for k in (body.v_start..body.v_end).rev() {
                let u = tau[k] - along(model.dof_kind[k], &positions.axes[k], &p);
                let rate = u * self.inverse_d[k];
                self.residual[k] = rate;
                p.torque += self.column[k].torque * rate;
                p.force += self.column[k].force * rate;
            }
            if body.parent != 0 {
                self.bias[body.parent] += p.shifted_back(&positions.bodies[i].from_parent);
            }
        }
    }

    fn forward(&mut self, model: &Model, positions: &PositionKinematics, vdot: &mut [f64]) {
        assert_eq!(vdot.len(), model.n_v(), "v̇ has n_v entries");
        for (i, body) in model.bodies.iter().enumerate().skip(1) {
            let mut a = self.increments[body.parent].shifted(&positions.bodies[i].from_parent);
            for k in body.v_start..body.v_end {
                let rate = self.residual[k] - self.column[k].power(&a) * self.inverse_d[k];
                vdot[k] = rate;
                match model.dof_kind[k] {
                    DofKind::Angular => a.angular += positions.axes[k] * rate,
                    DofKind::Linear => a.linear += positions.axes[k] * rate,
                    DofKind::Screw { advance } => {
                        a.angular += positions.axes[k] * rate;
                        a.linear += positions.axes[k] * (advance * rate);
                    }
                }
            }
            self.increments[i] = a;
        }
    }
}
