//! W = J D⁻¹Jᵀ of the normals of many contacts.

use pliant_contact_sap::{BlockFactors, ParticipantIdx};

/// W as the contacts of each contact's bodies, row by row.
#[derive(Debug, Default)]
pub(crate) struct Mobility {
    rows: Vec<Vec<(usize, f64)>>,
    own: Vec<f64>,
}

/// ∂c/∂v of one contact with respect to the velocities of one participant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NormalGradient {
    pub(crate) contact: usize,
    pub(crate) participant: ParticipantIdx,
    pub(crate) gradient: Vec<f64>,
}

impl Mobility {
    /// W of `n` contacts with these gradients, of at most one for a contact and a participant.
    pub(crate) fn new(n: usize, gradients: &[NormalGradient], factors: &BlockFactors) -> Self {
        let mut w = Self {
            rows: vec![Vec::new(); n],
            own: vec![0.0; n],
        };
        let mut of_participant: Vec<&NormalGradient> = gradients.iter().collect();
        of_participant.sort_by_key(|g| g.participant);
        let mut response = Vec::new();
        for group in of_participant.chunk_by(|x, y| x.participant == y.participant) {
            for from in group {
                response.clone_from(&from.gradient);
                factors.solve(from.participant, &mut response);
                for to in group {
                    let product = to.gradient.iter().zip(&response).map(|(g, x)| g * x);
                    w.add(from.contact, to.contact, product.sum());
                }
            }
        }
        w
    }

    fn add(&mut self, i: usize, j: usize, value: f64) {
        let row = &mut self.rows[i];
        match row.iter_mut().find(|(k, _)| *k == j) {
            Some((_, w)) => *w += value,
            None => row.push((j, value)),
        }
        if i == j {
            self.own[i] += value;
        }
    }

    /// The nonzero W_ij of contact `i`.
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.rows[i].iter().copied()
    }

    /// W_ii, 1/kg.
    pub(crate) fn own(&self, i: usize) -> f64 {
        self.own[i]
    }
}
