//! H x and P⁻¹x at one iterate; what all products of the bodies need is computed once.

use std::time::Instant;

use pliant_contact_sap::BalanceTangent;

use super::blocks::Blocks;
use super::linearised::{Contacts, Linearised};
use super::report::PenaltyForceTimes;
use super::rows::ScalarRows;
use crate::world::BodyIdx;

/// The derivative of the equations of a step, and its preconditioner.
pub(super) struct Derivative<'a> {
    /// ∂m/∂v of each body.
    pub(super) tangents: Vec<BalanceTangent<'a>>,
    pub(super) contacts: Contacts<'a>,
    pub(super) rows: &'a ScalarRows,
    pub(super) metric: &'a Blocks,
    pub(super) linearised: &'a mut Linearised,
    pub(super) times: &'a mut PenaltyForceTimes,
}

impl Derivative<'_> {
    /// y = L⁻¹H x.
    pub(super) fn scaled_product(&mut self, x: &[f64], y: &mut [f64]) {
        self.product(x, y);
        self.metric.solve_lower(y);
    }

    /// y = H x.
    pub(super) fn product(&mut self, x: &[f64], y: &mut [f64]) {
        let clock = Instant::now();
        for (b, tangent) in self.tangents.iter_mut().enumerate() {
            let range = self.contacts.bodies.range(BodyIdx(b));
            tangent(&x[range.clone()], &mut y[range]);
        }
        self.times.material += clock.elapsed();
        self.rows.add_product(x, y);
        let clock = Instant::now();
        self.linearised.add_contact_product(&self.contacts, x, y);
        self.times.forces += clock.elapsed();
    }

    /// z = P⁻¹L v.
    pub(super) fn precondition(&mut self, v: &[f64], z: &mut [f64]) {
        z.copy_from_slice(v);
        self.metric.multiply_lower(z);
        self.linearised.precondition(self.contacts.bodies, z);
    }
}
