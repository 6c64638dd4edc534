//! Rods beside the continuum: deflections, frequencies and loads of instability with known answers, each at a stated
//! resolution and tolerance.
//!
//! All rods have length 1, a bending stiffness about 1 and mass 1. Answers are closed forms or boundary value problems of
//! inextensible elastic curves; where the error of a resolution is known, too, the answer is the continuum's times one plus
//! that error. The feature `known-answers` is for tests and for the program that shows them.

mod columns;
mod derivatives;
mod flight;
mod frequencies;
mod hyper_dual;
mod iterations;
mod own_weight;
mod plain_energy;
mod pressed_column;
mod shapes;
mod sideways;
mod tip_force;
mod torqued_column;
mod turns;

use std::fmt;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, Load, MaterialPoint};

use crate::{
    Centreline, End, EndCondition, EquilibriumSettings, Rod, RodBuilder, RodError, RodProperties,
};

pub use columns::{euler_loads, twist_under_tension, twisted_columns};
pub use derivatives::{derivatives, l_shaped_rod};
pub use flight::{fly, momenta, swinging};
pub use frequencies::{
    axial_frequency, bending_frequencies, frequencies_under_tension, torsion_frequency,
};
pub use iterations::{Iterations, newton_iterations};
pub use own_weight::{own_weight, own_weight_convergence};
pub use pressed_column::pressed_column;
pub use shapes::{catenary, helical_spring, natural_helix};
pub use sideways::{natural_circle, strip_under_tip_force, strip_under_weight, twisted_ring};
pub use tip_force::{tip_force, tip_force_convergence};
pub use torqued_column::greenhill;
pub use turns::{link_of_a_ring, ten_turns};

/// What a rod gives beside what is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Which quantity of which rod.
    pub what: String,
    /// What the rod gives.
    pub found: f64,
    /// The known answer.
    pub expected: f64,
    /// How far apart they may be.
    pub tolerance: f64,
    /// Where the answer and the tolerance come from.
    pub source: &'static str,
}

impl Comparison {
    /// Whether they are near enough; never if nothing was found.
    #[must_use]
    pub fn holds(&self) -> bool {
        (self.found - self.expected).abs() <= self.tolerance
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            found,
            expected,
            tolerance,
            ..
        } = self;
        let error = (found - expected).abs();
        write!(
            f,
            "{what}: {found} instead of {expected}, off by {error:e}, allowed {tolerance:e}"
        )
    }
}

/// Comparisons of one topic.
pub type Comparisons = Result<Vec<Comparison>, RodError>;

/// EI₁ = EI₂ = 1, GJ = `twist`, hardly extensible, ρA = 1.
#[must_use]
pub fn isotropic(twist: f64) -> RodProperties {
    RodProperties {
        stretch: 1e6,
        bend_1: 1.0,
        bend_2: 1.0,
        twist,
        mass: 1.0,
        spin_inertia: 1e-4,
    }
}

/// A rod from the origin one unit along +x, bending 1 in the x-z plane, bending 2 in the x-y plane.
#[must_use]
pub fn level_rod(edges: usize, properties: RodProperties) -> RodBuilder {
    let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), edges);
    RodBuilder::new(line)
        .properties(properties)
        .director(Vector3::z())
}

const CLAMPED: EndCondition = EndCondition::Clamped { tangent: None };

/// A [`level_rod`] clamped at its start.
fn cantilever(edges: usize, properties: RodProperties) -> Result<Rod, RodError> {
    level_rod(edges, properties)
        .end(End::Start, CLAMPED)
        .build()
}

/// A dead force on a node.
fn pull(node: usize, force_W: Vector3<f64>) -> Load {
    Load {
        point: MaterialPoint::on_vertex(node as u32),
        force_W,
        torque_W: Vector3::zeros(),
    }
}

/// Holds single unknowns where they are.
fn hold(rod: &Rod, control: &mut Control, dofs: impl IntoIterator<Item = usize>) {
    control.held.resize(rod.n_dofs(), None);
    for dof in dofs {
        control.held[dof] = Some(0.0);
    }
}

/// Where a rod comes to rest under gravity along −z.
fn at_rest(
    rod: &Rod,
    start: &BodyState,
    gravity: f64,
    control: &Control,
) -> Result<BodyState, RodError> {
    let gravity = Vector3::new(0.0, 0.0, -gravity);
    let settings = EquilibriumSettings::default();
    Ok(rod.equilibrium(start, &gravity, control, &settings)?.state)
}

fn is_stable(rod: &Rod, state: &BodyState, control: &Control) -> Result<bool, RodError> {
    Ok(rod.modes_below(state, control, 0.0)? == 0)
}

/// A straight rod along x with tension `tension` and torque `torque`, both even along it: what [`level_rod`] builds,
/// stretched and twisted. Clamps' stubs take part.
fn strained(rod: &Rod, tension: f64, torque: f64, properties: &RodProperties) -> BodyState {
    let mut state = rod.default_state();
    let n_edges = rod.n_edges() as f64;
    let has_stub = state.q[0] < -1e-9;
    let first = if has_stub { 1.0 } else { 0.0 };
    for (i, unknown) in state.q.iter_mut().enumerate() {
        match i % 4 {
            0 => *unknown *= 1.0 + tension / properties.stretch,
            3 => {
                // At the middle of each edge; clamps at 0 and 1.
                let place = ((i / 4) as f64 - first + 0.5) / n_edges;
                let place = if has_stub {
                    place.clamp(0.0, 1.0)
                } else {
                    place
                };
                *unknown = place * torque / properties.twist;
            }
            _ => {}
        }
    }
    state
}

/// The value at which `is_stable` turns false, between 0 and `high`, by bisection to 1e-9; NaN if it never does.
fn critical(
    high: f64,
    mut is_stable: impl FnMut(f64) -> Result<bool, RodError>,
) -> Result<f64, RodError> {
    if is_stable(high)? {
        return Ok(f64::NAN);
    }
    let (mut low, mut high) = (0.0, high);
    while high - low > 1e-9 * high {
        let middle = 0.5 * (low + high);
        if is_stable(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(0.5 * (low + high))
}
