//! Costs, impulses, gradients and aggregated Hessians of one island at given velocities.

use nalgebra::{Matrix3, Vector1, Vector3};

use crate::constraint_set::ContactRecord;
use crate::interpolations::dot;
use crate::island::{IslandBasis, IslandProblem};
use crate::law::{ContactLaw, ContactLine};
use crate::long_vectors::add_scaled;
use crate::potential::Potential;

/// The evaluation of an island at velocities v and along a direction Δv. Memory is reused.
#[derive(Debug, Default)]
pub(crate) struct Evaluation {
    /// v.
    pub(crate) v: Vec<f64>,
    /// A v, and how it was computed.
    pub(crate) a_v: Vec<f64>,
    product: Product,
    /// b.
    pub(crate) b: Vec<f64>,
    /// D = diag(A)^(−1/2).
    pub(crate) scale: Vec<f64>,
    /// Jᵀγ.
    pub(crate) j_gamma: Vec<f64>,
    /// ∇ℓ = A v − b − Jᵀγ.
    pub(crate) gradient: Vec<f64>,
    /// Generalised impulses of speculative contacts that are predicted to close; added to −∇ℓ in Newton's system.
    pub(crate) predicted: Vec<f64>,
    /// Velocity and impulse of each contact.
    pub(crate) v_c: Vec<Vector3<f64>>,
    pub(crate) gamma: Vec<Vector3<f64>>,
    /// Velocity and impulse of each scalar row.
    pub(crate) v_s: Vec<f64>,
    pub(crate) sigma: Vec<f64>,
    /// G of each contact.
    pub(crate) tangents: Vec<Matrix3<f64>>,
    /// K = ΣΦᵀGΦ of each basis that keeps it, consecutively, and whether it is nonzero.
    aggregates: Vec<f64>,
    pub(crate) active: Vec<bool>,
    /// Δv, A Δv, and the change of the constraint velocities along Δv.
    pub(crate) dv: Vec<f64>,
    pub(crate) a_dv: Vec<f64>,
    /// Whether the linear solver has computed A Δv, too.
    direction_has_product: bool,
    pub(crate) dv_c: Vec<Vector3<f64>>,
    pub(crate) dv_s: Vec<f64>,
    lines: Vec<ContactLine>,
    /// Stacked u or Σ Φᵀγ of all bases.
    coordinates: Vec<f64>,
}

/// How A v was computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Product {
    /// Not computed for this v.
    #[default]
    Unknown,
    /// By updating that of an earlier v along the directions since.
    Accumulated,
    /// As a matrix-vector product.
    Exact,
}

/// ‖D∇ℓ‖ and its reference.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Residual {
    /// ‖D∇ℓ‖, √J.
    pub(crate) norm: f64,
    /// max(‖D A v‖, ‖D Jᵀγ‖), √J.
    pub(crate) reference: f64,
}

/// Coefficients of the quadratic part along Δv: φ_A(α) = φ_A(0) + α slope + ½α² curvature.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuadraticPart {
    pub(crate) slope: f64,
    pub(crate) curvature: f64,
}

impl Evaluation {
    /// Allocates memory and reads b and the diagonal of A. The caller sets `v`.
    pub(crate) fn begin(&mut self, p: &IslandProblem<'_>) {
        let n = p.island.n_dofs;
        for x in [
            &mut self.v,
            &mut self.a_v,
            &mut self.b,
            &mut self.scale,
            &mut self.j_gamma,
            &mut self.gradient,
            &mut self.predicted,
            &mut self.dv,
            &mut self.a_dv,
        ] {
            x.resize(n, 0.0);
        }
        for x in [&mut self.v_c, &mut self.gamma, &mut self.dv_c] {
            x.resize(p.island.n_contacts, Vector3::zeros());
        }
        for x in [&mut self.v_s, &mut self.sigma, &mut self.dv_s] {
            x.resize(p.island.n_scalars, 0.0);
        }
        self.coordinates.resize(p.island.n_coordinates, 0.0);
        self.aggregates.resize(p.island.n_aggregate_values, 0.0);
        self.tangents.resize(p.island.n_contacts, Matrix3::zeros());
        self.active.resize(p.island.bases.len(), false);
        p.right_hand_side(&mut self.b);
        p.diagonal(&mut self.scale);
        for d in &mut self.scale {
            *d = 1.0 / d.sqrt();
        }
        self.product = Product::Unknown;
        self.direction_has_product = false;
    }

    /// The velocities, mutable; A v is recomputed afterwards.
    pub(crate) fn velocities_mut(&mut self) -> &mut [f64] {
        self.product = Product::Unknown;
        &mut self.v
    }

    /// Constraint velocities and impulses at v.
    pub(crate) fn update_impulses(&mut self, p: &IslandProblem<'_>) {
        constraint_velocities(
            p,
            &self.v,
            Bias::Included,
            &mut self.coordinates,
            &mut self.v_c,
            &mut self.v_s,
        );
        let set = p.set();
        for basis in &p.island.bases {
            let laws = set.contacts[basis.contacts.clone()].iter();
            let first = basis.first_contact;
            for (k, contact) in laws.enumerate() {
                self.gamma[first + k] = contact.law.impulse(&self.v_c[first + k]);
            }
            let laws = set.rows[basis.scalars.clone()].iter();
            let first = basis.first_scalar;
            for (k, row) in laws.enumerate() {
                self.sigma[first + k] = row.law.impulse(&Vector1::new(self.v_s[first + k])).x;
            }
        }
    }

    /// Impulses, A v and the gradient at v. A v is updated along the last step where possible.
    pub(crate) fn update(&mut self, p: &IslandProblem<'_>) -> Residual {
        self.update_impulses(p);
        let set = p.set();
        self.j_gamma.fill(0.0);
        self.coordinates.fill(0.0);
        for basis in &p.island.bases {
            let f = &mut self.coordinates[basis.row0..basis.row0 + basis.n_rows];
            let contacts = set.contacts[basis.contacts.clone()].iter();
            for (contact, gamma) in contacts.zip(&self.gamma[basis.first_contact..]) {
                if *gamma != Vector3::zeros() {
                    contact
                        .interpolation
                        .add_transposed(&set.interpolation_values, gamma, f);
                }
            }
            let rows = set.rows[basis.scalars.clone()].iter();
            for (row, sigma) in rows.zip(&self.sigma[basis.first_scalar..]) {
                row.interpolation
                    .add_transposed(&set.interpolation_values, *sigma, f);
            }
            for piece in &p.island.pieces[basis.pieces.clone()] {
                piece.add_transposed_product(set, f, &mut self.j_gamma);
            }
        }
        match self.product {
            Product::Unknown => self.update_product(p),
            Product::Accumulated | Product::Exact => self.update_gradient(),
        }
    }

    /// Whether A v, and with it the gradient, contains the round-off of all updates since the last product.
    pub(crate) fn is_accumulated(&self) -> bool {
        self.product == Product::Accumulated
    }

    /// A v as a product, and the gradient with it, after [`Evaluation::update`].
    pub(crate) fn update_product(&mut self, p: &IslandProblem<'_>) -> Residual {
        p.apply(&self.v, &mut self.a_v);
        self.product = Product::Exact;
        self.update_gradient()
    }

    fn update_gradient(&mut self) -> Residual {
        let (mut norm, mut momentum, mut impulse) = (0.0, 0.0, 0.0);
        for i in 0..self.v.len() {
            let g = self.a_v[i] - self.b[i] - self.j_gamma[i];
            self.gradient[i] = g;
            let d2 = self.scale[i] * self.scale[i];
            norm += d2 * g * g;
            momentum += d2 * self.a_v[i] * self.a_v[i];
            impulse += d2 * self.j_gamma[i] * self.j_gamma[i];
        }
        Residual {
            norm: norm.sqrt(),
            reference: f64::max(momentum, impulse).sqrt(),
        }
    }

    /// The bases with nonzero K.
    pub(crate) fn active_bases<'a>(
        &'a self,
        p: &'a IslandProblem<'_>,
    ) -> impl Iterator<Item = &'a IslandBasis> {
        let bases = p.island.bases.iter().zip(&self.active);
        bases.filter(|(_, active)| **active).map(|(basis, _)| basis)
    }

    /// G of every contact and K of every basis that keeps it; `tangent` gives G of a contact by its index in the island.
    pub(crate) fn update_aggregates(
        &mut self,
        p: &IslandProblem<'_>,
        tangent: impl Fn(usize, &ContactLaw, &Vector3<f64>) -> Matrix3<f64>,
    ) {
        let set = p.set();
        for (basis, active) in p.island.bases.iter().zip(&mut self.active) {
            let r = basis.n_rows;
            let kept = basis.keeps_aggregate();
            let k = &mut self.aggregates[basis.aggregate0..basis.aggregate0 + basis.n_kept()];
            k.fill(0.0);
            *active = false;
            for (i, contact) in set.contacts[basis.contacts.clone()].iter().enumerate() {
                let i = basis.first_contact + i;
                let g = tangent(i, &contact.law, &self.v_c[i]);
                self.tangents[i] = g;
                if g == Matrix3::zeros() {
                    continue;
                }
                *active = true;
                if kept {
                    contact
                        .interpolation
                        .add_aggregate(&set.interpolation_values, &g, r, k);
                }
            }
            for (i, row) in set.rows[basis.scalars.clone()].iter().enumerate() {
                let v_s = Vector1::new(self.v_s[basis.first_scalar + i]);
                let g = row.law.hessian(&v_s).x;
                if g != 0.0 {
                    *active = true;
                    row.interpolation
                        .add_aggregate(&set.interpolation_values, g, r, k);
                }
            }
        }
    }

    /// K of a basis, r×r column-major; summed into `scratch` if it is not kept.
    pub(crate) fn aggregate<'a>(
        &'a self,
        p: &IslandProblem<'_>,
        basis: &IslandBasis,
        scratch: &'a mut Vec<f64>,
    ) -> &'a [f64] {
        let r = basis.n_rows;
        if basis.keeps_aggregate() {
            return &self.aggregates[basis.aggregate0..basis.aggregate0 + r * r];
        }
        scratch.clear();
        scratch.resize(r * r, 0.0);
        let set = p.set();
        for (contact, g) in self.contacts_of(p, basis) {
            contact
                .interpolation
                .add_aggregate(&set.interpolation_values, g, r, scratch);
        }
        scratch
    }

    /// f = K u of a basis.
    pub(crate) fn aggregate_product(
        &self,
        p: &IslandProblem<'_>,
        basis: &IslandBasis,
        u: &[f64],
        f: &mut [f64],
    ) {
        f.fill(0.0);
        let r = basis.n_rows;
        if basis.keeps_aggregate() {
            let k = &self.aggregates[basis.aggregate0..basis.aggregate0 + r * r];
            for (column, u) in k.chunks_exact(r).zip(u) {
                f.iter_mut().zip(column).for_each(|(f, k)| *f += k * u);
            }
            return;
        }
        let values = &p.set().interpolation_values;
        for (contact, g) in self.contacts_of(p, basis) {
            let gamma = g * contact.interpolation.velocity(values, u);
            contact.interpolation.add_transposed(values, &gamma, f);
        }
    }

    /// Contacts of a basis with a nonzero G, and that G.
    pub(crate) fn contacts_of<'a>(
        &'a self,
        p: &IslandProblem<'a>,
        basis: &IslandBasis,
    ) -> impl Iterator<Item = (&'a ContactRecord, &'a Matrix3<f64>)> {
        let contacts = p.set().contacts[basis.contacts.clone()].iter();
        let tangents = self.tangents[basis.first_contact..].iter();
        contacts
            .zip(tangents)
            .filter(|(_, g)| **g != Matrix3::zeros())
    }

    /// Δv ← predicted impulses − ∇ℓ, the right-hand side of Newton's system.
    pub(crate) fn write_right_hand_side(&mut self) {
        let each = self.gradient.iter().zip(&self.predicted);
        for (dv, (gradient, predicted)) in self.dv.iter_mut().zip(each) {
            *dv = predicted - gradient;
        }
    }

    /// Passes `a_dv` = A Δv to [`Evaluation::begin_direction`].
    pub(crate) fn set_direction_product(&mut self, a_dv: &[f64]) {
        self.a_dv.copy_from_slice(a_dv);
        self.direction_has_product = true;
    }

    /// Evaluates `dv` as a direction: A Δv, unless it was passed, and the constraint velocities along Δv.
    pub(crate) fn begin_direction(&mut self, p: &IslandProblem<'_>) -> QuadraticPart {
        if !std::mem::take(&mut self.direction_has_product) {
            p.apply(&self.dv, &mut self.a_dv);
        }
        constraint_velocities(
            p,
            &self.dv,
            Bias::Excluded,
            &mut self.coordinates,
            &mut self.dv_c,
            &mut self.dv_s,
        );
        let set = p.set();
        self.lines.clear();
        for basis in &p.island.bases {
            let first = basis.first_contact;
            for (k, contact) in set.contacts[basis.contacts.clone()].iter().enumerate() {
                let (v_c, dv_c) = (&self.v_c[first + k], &self.dv_c[first + k]);
                self.lines.push(ContactLine::new(&contact.law, v_c, dv_c));
            }
        }
        let mut slope = 0.0;
        for i in 0..self.dv.len() {
            slope += self.dv[i] * (self.a_v[i] - self.b[i]);
        }
        QuadraticPart {
            slope,
            curvature: dot(&self.dv, &self.a_dv),
        }
    }

    /// φ'(0) = ∇ℓ·Δv.
    pub(crate) fn slope_at_start(&self) -> f64 {
        dot(&self.gradient, &self.dv)
    }

    /// φ'(α) and φ''(α), φ(α) = ℓ(v + αΔv).
    pub(crate) fn slope(
        &self,
        p: &IslandProblem<'_>,
        quadratic: QuadraticPart,
        alpha: f64,
    ) -> (f64, f64) {
        let set = p.set();
        let mut slope = quadratic.slope + alpha * quadratic.curvature;
        let mut curvature = quadratic.curvature;
        for basis in &p.island.bases {
            let contacts = set.contacts[basis.contacts.clone()].iter();
            for (contact, line) in contacts.zip(&self.lines[basis.first_contact..]) {
                let (s, c) = line.slope(&contact.law, alpha);
                slope += s;
                curvature += c;
            }
            let first = basis.first_scalar;
            for (k, row) in set.rows[basis.scalars.clone()].iter().enumerate() {
                let dv = self.dv_s[first + k];
                let v = Vector1::new(self.v_s[first + k] + dv * alpha);
                slope -= row.law.impulse(&v).x * dv;
                curvature += row.law.hessian(&v).x * dv * dv;
            }
        }
        (slope, curvature)
    }

    /// Σ ℓ_i at v + αΔv, J.
    pub(crate) fn constraint_cost(&self, p: &IslandProblem<'_>, alpha: f64) -> f64 {
        let set = p.set();
        let mut cost = 0.0;
        for basis in &p.island.bases {
            let first = basis.first_contact;
            for (k, contact) in set.contacts[basis.contacts.clone()].iter().enumerate() {
                let v = if alpha == 0.0 {
                    self.v_c[first + k]
                } else {
                    self.v_c[first + k] + self.dv_c[first + k] * alpha
                };
                cost += contact.law.cost(&v);
            }
            let first = basis.first_scalar;
            for (k, row) in set.rows[basis.scalars.clone()].iter().enumerate() {
                let v = if alpha == 0.0 {
                    self.v_s[first + k]
                } else {
                    self.v_s[first + k] + self.dv_s[first + k] * alpha
                };
                cost += row.law.cost(&Vector1::new(v));
            }
        }
        cost
    }

    /// ℓ(v) = ½vᵀAv − bᵀv + Σ ℓ_i, J, after [`Evaluation::update`].
    pub(crate) fn cost(&self, p: &IslandProblem<'_>) -> f64 {
        0.5 * dot(&self.v, &self.a_v) - dot(&self.b, &self.v) + self.constraint_cost(p, 0.0)
    }

    /// The sum of the magnitudes of the cost's terms, J: round-off of the cost is ε times this.
    pub(crate) fn cost_scale(&self) -> f64 {
        let mut scale = 0.0;
        for i in 0..self.v.len() {
            scale += self.v[i].abs() * (0.5 * self.a_v[i].abs() + self.b[i].abs());
        }
        for (gamma, v_c) in self.gamma.iter().zip(&self.v_c) {
            scale += gamma.dot(v_c).abs();
        }
        scale
            + self
                .sigma
                .iter()
                .zip(&self.v_s)
                .map(|(g, v)| (g * v).abs())
                .sum::<f64>()
    }

    /// v += αΔv, and A v likewise.
    pub(crate) fn advance(&mut self, alpha: f64) {
        add_scaled(&mut self.v, alpha, &self.dv);
        if self.product != Product::Unknown {
            add_scaled(&mut self.a_v, alpha, &self.a_dv);
            self.product = Product::Accumulated;
        }
    }
}

/// Whether the prescribed velocities b are added.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bias {
    Included,
    Excluded,
}

/// v_c = Φ(B v + b) + bias of every constraint.
fn constraint_velocities(
    p: &IslandProblem<'_>,
    v: &[f64],
    bias: Bias,
    coordinates: &mut [f64],
    v_c: &mut [Vector3<f64>],
    v_s: &mut [f64],
) {
    let set = p.set();
    for basis in &p.island.bases {
        let u = &mut coordinates[basis.row0..basis.row0 + basis.n_rows];
        match bias {
            Bias::Included => {
                u.copy_from_slice(&set.bias[basis.global_row0..][..basis.n_rows]);
                let held = p.island.held.get(basis.row0..).unwrap_or_default();
                u.iter_mut().zip(held).for_each(|(u, held)| *u += held);
            }
            Bias::Excluded => u.fill(0.0),
        }
        for piece in &p.island.pieces[basis.pieces.clone()] {
            piece.add_product(set, v, u);
        }
        let contacts = set.contacts[basis.contacts.clone()].iter();
        for (contact, v_c) in contacts.zip(&mut v_c[basis.first_contact..]) {
            *v_c = contact.interpolation.velocity(&set.interpolation_values, u);
            if bias == Bias::Included {
                *v_c += contact.bias;
            }
        }
        let rows = set.rows[basis.scalars.clone()].iter();
        for (row, v_s) in rows.zip(&mut v_s[basis.first_scalar..]) {
            *v_s = row.interpolation.velocity(&set.interpolation_values, u);
        }
    }
}
