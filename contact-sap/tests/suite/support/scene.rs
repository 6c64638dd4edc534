//! A contact problem that owns its parts, with a plain evaluation of its cost and residual.

use nalgebra::{DMatrix, DVector, Matrix3, Vector1, Vector3};
use pliant_contact_sap::{
    ConstraintLabel, ConstraintSet, ContactLaw, ContactParameters, DenseDynamics, Dynamics,
    ParticipantIdx, Potential, RowKind, RowLaw, Rows,
};

/// A problem that owns its parts.
pub(crate) struct Scene {
    pub(crate) bodies: Vec<Body>,
    pub(crate) set: ConstraintSet,
    /// Velocities at the start of the step, all participants.
    pub(crate) v0: Vec<f64>,
    /// The same constraints with dense Jacobians.
    pub(crate) contacts: Vec<PlainContact>,
    pub(crate) rows: Vec<PlainRow>,
}

/// v_c = J v + bias, J dense over all velocities.
pub(crate) struct PlainContact {
    pub(crate) j: DMatrix<f64>,
    pub(crate) bias: Vector3<f64>,
    pub(crate) law: ContactLaw,
    pub(crate) normal: Vector3<f64>,
    pub(crate) parameters: ContactParameters,
    /// n0 of the lagged and similar models.
    pub(crate) n0: f64,
}

/// v_c = J v.
pub(crate) struct PlainRow {
    pub(crate) j: DMatrix<f64>,
    pub(crate) law: RowLaw,
}

pub(crate) struct Body {
    pub(crate) dynamics: Box<dyn Dynamics>,
    pub(crate) kind: BodyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// Velocities are a twist (ω, v) of the body at this point.
    Rigid,
    Tree,
    Vertices(usize),
}

impl Scene {
    pub(crate) fn dynamics(&self) -> Vec<&dyn Dynamics> {
        self.bodies.iter().map(|b| b.dynamics.as_ref()).collect()
    }

    pub(crate) fn n_dofs(&self) -> usize {
        self.v0.len()
    }

    /// ℓ(v), term by term.
    pub(crate) fn cost(&self, v: &[f64]) -> f64 {
        let (a, b) = self.dense();
        let v = DVector::from_column_slice(v);
        let mut cost = 0.5 * v.dot(&(&a * &v)) - DVector::from_vec(b).dot(&v);
        for c in &self.contacts {
            let v_c = &c.j * &v;
            cost += c.law.cost(&(Vector3::new(v_c[0], v_c[1], v_c[2]) + c.bias));
        }
        for row in &self.rows {
            cost += row.law.cost(&Vector1::new((&row.j * &v)[0]));
        }
        cost
    }

    /// ‖D(Av − b − Jᵀγ)‖ and max(‖D A v‖, ‖D Jᵀγ‖), D = diag(A)^(−1/2).
    pub(crate) fn residual(&self, v: &[f64]) -> (f64, f64) {
        let (a, b) = self.dense();
        let v = DVector::from_column_slice(v);
        let a_v = &a * &v;
        let mut j_gamma = DVector::zeros(v.len());
        for c in &self.contacts {
            let v_c = &c.j * &v;
            let gamma = c
                .law
                .impulse(&(Vector3::new(v_c[0], v_c[1], v_c[2]) + c.bias));
            j_gamma += c.j.transpose() * gamma;
        }
        for row in &self.rows {
            let gamma = row.law.impulse(&Vector1::new((&row.j * &v)[0]));
            j_gamma += row.j.transpose() * gamma;
        }
        let scaled = |x: &DVector<f64>| {
            let scaled = x.iter().enumerate().map(|(i, x)| x / a[(i, i)].sqrt());
            scaled.map(|x| x * x).sum::<f64>().sqrt()
        };
        let gradient = &a_v - DVector::from_vec(b) - &j_gamma;
        (scaled(&gradient), scaled(&a_v).max(scaled(&j_gamma)))
    }

    /// The same constraints, each with a basis of its own, for participants that were renumbered by `to`.
    pub(crate) fn set_with(&self, to: impl Fn(ParticipantIdx) -> ParticipantIdx) -> ConstraintSet {
        let mut set = ConstraintSet::default();
        let parts = |j: &DMatrix<f64>| {
            let mut first = 0;
            let mut parts = Vec::new();
            for (p, body) in self.bodies.iter().enumerate() {
                let n = body.dynamics.n_dofs();
                let block = j.columns(first, n);
                if block.amax() > 0.0 {
                    let mut rows = Rows::default();
                    rows.reset(j.nrows());
                    let values = rows.dense(0, j.nrows(), 0, n);
                    values.copy_from_slice(block.clone_owned().as_slice());
                    parts.push((to(ParticipantIdx(p)), rows));
                }
                first += n;
            }
            parts
        };
        let eye = Matrix3::<f64>::identity();
        for c in &self.contacts {
            let mut basis = set.basis(3);
            for (participant, rows) in parts(&c.j) {
                basis.rows(participant, &rows, 0, 1.0);
            }
            basis.dense_contact(eye.as_slice(), c.bias, c.law.clone());
        }
        let label = ConstraintLabel {
            kind: RowKind::Other,
            index: 0,
        };
        for row in &self.rows {
            let mut basis = set.basis(1);
            for (participant, rows) in parts(&row.j) {
                basis.rows(participant, &rows, 0, 1.0);
            }
            basis.coordinate(0, row.law.clone(), label);
        }
        set
    }

    /// The same scene with another b, all participants dense.
    pub(crate) fn with_right_hand_side(&self, b: &[f64]) -> Scene {
        let (a, _) = self.dense();
        let mut first = 0;
        let bodies = self.bodies.iter().map(|body| {
            let n = body.dynamics.n_dofs();
            let block = a.view((first, first), (n, n)).clone_owned();
            let b = b[first..first + n].to_vec();
            first += n;
            Body {
                dynamics: Box::new(DenseDynamics::new(block.as_slice().to_vec(), b)),
                kind: body.kind,
            }
        });
        Scene {
            bodies: bodies.collect(),
            set: self.set.clone(),
            v0: self.v0.clone(),
            contacts: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// A as one dense matrix, and b.
    pub(crate) fn dense(&self) -> (DMatrix<f64>, Vec<f64>) {
        let n = self.n_dofs();
        let mut a = DMatrix::zeros(n, n);
        let mut b = Vec::new();
        let mut first = 0;
        for body in &self.bodies {
            let m = body.dynamics.n_dofs();
            for j in 0..m {
                let mut x = vec![0.0; m];
                let mut y = vec![0.0; m];
                x[j] = 1.0;
                body.dynamics.apply(&x, &mut y);
                for (i, y) in y.iter().enumerate() {
                    a[(first + i, first + j)] = *y;
                }
            }
            b.extend_from_slice(body.dynamics.right_hand_side());
            first += m;
        }
        (a, b)
    }
}
