//! Small vibrations and stability about a state, by counting negative pivots.

use pliant_contact_sap::{BodyState, Control};

use crate::elasticity::Depth;
use crate::error::RodError;
use crate::rod::Rod;
use crate::rod_matrix::{Pivots, RodFactor};

impl Rod {
    /// Number of natural frequencies below `omega`, rad/s, of small vibrations about `state`, with what `control` holds
    /// held: the negative pivots of K − ω²M (Sylvester's law of inertia), in O(n).
    ///
    /// At `omega` = 0 it counts the directions in which the state is unstable: 0 below a buckling load, 1 above the first.
    ///
    /// # Errors
    /// [`RodError::Body`] for a state that the rod cannot be in; [`RodError::Count`] for a control of another rod.
    pub fn modes_below(
        &self,
        state: &BodyState,
        control: &Control,
        omega: f64,
    ) -> Result<usize, RodError> {
        Modes::new(self, state, control)?.below(omega)
    }

    /// The natural frequency of number `index`, counted from 0 at the lowest, rad/s; unstable directions count as 0. To a
    /// relative 1e-10.
    ///
    /// # Errors
    /// As [`Rod::modes_below`]; [`RodError::NoSuchPlace`] if there are not as many.
    pub fn natural_frequency(
        &self,
        state: &BodyState,
        control: &Control,
        index: usize,
    ) -> Result<f64, RodError> {
        let mut modes = Modes::new(self, state, control)?;
        let count = modes.n_free;
        if index >= count {
            return Err(RodError::NoSuchPlace {
                what: "mode",
                index,
                count,
            });
        }
        if modes.below(0.0)? > index {
            return Ok(0.0);
        }
        let mut high = 1.0;
        while modes.below(high)? <= index {
            high *= 4.0;
        }
        let mut low = 0.0;
        while high - low > 1e-10 * high {
            let middle = 0.5 * (low + high);
            // Frequencies of zero (a free rod's) never leave the lower end.
            if middle < 1e-12 {
                return Ok(0.0);
            }
            if modes.below(middle)? > index {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(0.5 * (low + high))
    }
}

struct Modes<'a> {
    rod: &'a Rod,
    elasticity: crate::elasticity::Elasticity,
    held: Vec<bool>,
    n_free: usize,
    factor: RodFactor,
}

impl<'a> Modes<'a> {
    fn new(rod: &'a Rod, state: &BodyState, control: &Control) -> Result<Self, RodError> {
        let n = rod.n_dofs();
        if !control.held.is_empty() && control.held.len() != n {
            return Err(RodError::Count {
                what: "held velocities",
                found: control.held.len(),
                expected: n,
                of: "velocities",
            });
        }
        let (elasticity, _) = rod.look(state, Depth::Hessian)?;
        let mut held: Vec<bool> = control.held.iter().map(Option::is_some).collect();
        held.resize(n, false);
        Ok(Self {
            rod,
            elasticity,
            n_free: held.iter().filter(|h| !**h).count(),
            held,
            factor: RodFactor::default(),
        })
    }

    fn below(&mut self, omega: f64) -> Result<usize, RodError> {
        let parts = &self.rod.parts;
        let mut matrix = parts.new_matrix();
        self.elasticity.write_hessian(parts, 1.0, &mut matrix);
        matrix.add_diagonal(-omega * omega, &parts.mass);
        for (i, held) in self.held.iter().enumerate() {
            if *held {
                matrix.decouple(i, 1.0);
            }
        }
        let counted = self.factor.factor(&matrix, Pivots::Counted);
        Ok(counted.expect("counting does not stop at a pivot"))
    }
}
