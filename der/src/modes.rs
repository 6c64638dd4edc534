//! Natural frequencies and stability at a state, by counting negative pivots.

use pliant_contact_sap::{BodyState, Control};

use crate::elasticity::DerivativeOrder;
use crate::error::RodError;
use crate::rod::Rod;
use crate::rod_matrix::{Pivots, RodFactor};

impl Rod {
    /// Number of natural frequencies below `omega` (rad/s) of small vibrations about `state`, with the unknowns that
    /// `control` holds fixed. These are the negative pivots of K − ω²M (Sylvester's law of inertia), counted in O(n).
    ///
    /// At `omega` = 0 it is the number of unstable directions: 0 below the first buckling load, 1 just above it. K is the Hessian of the
    /// elastic energy at `state`; weight and dead loads have none.
    ///
    /// ```
    /// use std::f64::consts::PI;
    /// use nalgebra::Point3;
    /// use pliant_contact_sap::DeformableModel;
    /// # use pliant_der::{Centreline, End, EndCondition, Material, RodBuilder, Section};
    ///
    /// // A pinned column buckles at π² EI/L². Shortened so that EA ε is 0.9 or 1.1 of it:
    /// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 40);
    /// # let (circle, steel) = (Section::Circle { radius: 5e-3 }, Material::isotropic(2e11, 0.3, 7800.0)?);
    /// # let rod = RodBuilder::new(line).section(circle, steel);
    /// let rod = rod.end(End::Start, EndCondition::Pinned).end(End::Finish, EndCondition::Pinned).build()?;
    /// let properties = circle.properties(&steel)?;
    /// let unstable = |share: f64| {
    ///     let (mut state, mut control) = (rod.default_state(), rod.default_control());
    ///     let strain = share * PI * PI * properties.bend_1 / properties.stretch;
    ///     (0..=40).for_each(|node| state.q[4 * node] *= 1.0 - strain);
    ///     control.held[3] = Some(0.0); // the first edge does not turn about its axis
    ///     rod.modes_below(&state, &control, 0.0)
    /// };
    /// assert_eq!((unstable(0.9)?, unstable(1.1)?), (0, 2)); // two: to either side of a round column
    /// # Ok::<(), pliant_der::RodError>(())
    /// ```
    ///
    /// # Errors
    /// [`RodError::Body`] for an inadmissible state; [`RodError::Count`] for a control of the wrong length.
    pub fn modes_below(
        &self,
        state: &BodyState,
        control: &Control,
        omega: f64,
    ) -> Result<usize, RodError> {
        Modes::new(self, state, control)?.below(omega)
    }

    /// Natural frequency number `index` in ascending order, from 0, in rad/s; zero for unstable directions. By bisection to
    /// a relative accuracy of 1e-10.
    ///
    /// ```
    /// use nalgebra::Point3;
    /// use pliant_contact_sap::DeformableModel;
    /// # use pliant_der::{Centreline, End, EndCondition, Material, RodBuilder, Section};
    ///
    /// // A cantilever of steel: ω = 1.8751² √(EI/ρA)/L².
    /// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 40);
    /// # let (circle, steel) = (Section::Circle { radius: 5e-3 }, Material::isotropic(2e11, 0.3, 7800.0)?);
    /// # let clamped = EndCondition::Clamped { tangent: None };
    /// # let rod = RodBuilder::new(line).section(circle, steel).end(End::Start, clamped).build()?;
    /// let omega = rod.natural_frequency(&rod.default_state(), &rod.default_control(), 0)?;
    /// let properties = circle.properties(&steel)?;
    /// let expected = 1.87510_f64.powi(2) * (properties.bend_1 / properties.mass).sqrt();
    /// assert!((omega / expected - 1.0).abs() < 1e-3);
    /// # Ok::<(), pliant_der::RodError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Rod::modes_below`]; [`RodError::IndexOutOfRange`] if `index` is not below the number of free unknowns.
    pub fn natural_frequency(
        &self,
        state: &BodyState,
        control: &Control,
        index: usize,
    ) -> Result<f64, RodError> {
        let mut modes = Modes::new(self, state, control)?;
        let count = modes.n_free;
        if index >= count {
            return Err(RodError::IndexOutOfRange {
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
            let midpoint = 0.5 * (low + high);
            // Zero frequencies, as of rigid motions, converge to the lower end.
            if midpoint < 1e-12 {
                return Ok(0.0);
            }
            if modes.below(midpoint)? > index {
                high = midpoint;
            } else {
                low = midpoint;
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
        let (elasticity, _) = rod.evaluate(state, DerivativeOrder::Hessian)?;
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
