//! Verification: deflections, frequencies and buckling loads of rods against analytical solutions, each at a stated
//! resolution and tolerance.
//!
//! Most rods have length 1, bending stiffness 1 and mass 1. Reference values are closed forms or solutions of boundary value
//! problems of inextensible elastic curves. Where the discretisation error at a resolution is known, the expected value
//! includes it. The feature `known-answers` is for tests and for `pliant validate`.

mod columns;
mod compressed_column;
mod derivatives;
mod free_motion;
mod frequencies;
mod hyper_dual;
mod iterations;
mod linking;
mod out_of_plane;
mod own_weight;
mod plain_energy;
mod shapes;
mod tip_force;
mod torqued_column;

use std::fmt;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, Load, MaterialPoint};

use crate::{
    Centreline, End, EndCondition, EquilibriumSettings, Rod, RodBuilder, RodError, RodProperties,
};

pub use columns::{euler_loads, twist_under_tension, twisted_columns};
pub use compressed_column::compressed_column;
pub use derivatives::{derivatives, l_shaped_rod};
pub use free_motion::{advance_freely, momenta, swinging};
pub use frequencies::{
    axial_frequency, bending_frequencies, frequencies_under_tension, torsion_frequency,
};
pub use iterations::{Iterations, newton_iterations};
pub use linking::{link_of_a_closed_rod, ten_turns};
pub use out_of_plane::{natural_circle, strip_under_tip_force, strip_under_weight, twisted_ring};
pub use own_weight::{own_weight, own_weight_convergence};
pub use shapes::{catenary, helical_spring, natural_helix};
pub use tip_force::{tip_force, tip_force_convergence};
pub use torqued_column::greenhill;

/// A computed value and its reference value.
///
/// ```
/// use pliant_der::known_answers::Comparison;
///
/// let tip = Comparison { what: "tip (m)".into(), found: 0.301, expected: 0.3, tolerance: 0.002, source: "elastica" };
/// assert!(tip.holds() && !Comparison { found: f64::NAN, ..tip }.holds());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Which quantity of which rod.
    pub what: String,
    /// The computed value.
    pub found: f64,
    /// The reference value.
    pub expected: f64,
    /// Allowed absolute difference.
    pub tolerance: f64,
    /// Source of the reference value and of the tolerance.
    pub source: &'static str,
}

impl Comparison {
    /// Whether the difference is within the tolerance; false for NaN.
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
            "{what}: computed {found}, expected {expected}, error {error:e}, tolerance {tolerance:e}"
        )
    }
}

/// Comparisons of one topic.
pub type Comparisons = Result<Vec<Comparison>, RodError>;

/// EI₁ = EI₂ = 1, GJ = `twist`, EA = 1e6, ρA = 1.
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

/// A straight rod of length 1 from the origin along +x, with bending 1 in the x-z plane and bending 2 in the x-y plane.
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

/// A dead load on a node.
fn dead_load(node: usize, force_W: Vector3<f64>) -> Load {
    Load {
        point: MaterialPoint::on_vertex(node as u32),
        force_W,
        torque_W: Vector3::zeros(),
    }
}

/// Holds single unknowns fixed.
fn hold(rod: &Rod, control: &mut Control, dofs: impl IntoIterator<Item = usize>) {
    control.held.resize(rod.n_dofs(), None);
    for dof in dofs {
        control.held[dof] = Some(0.0);
    }
}

/// Equilibrium under gravity along −z.
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

/// A rod from [`level_rod`], clamp edges included, under uniform tension and torque.
fn strained(rod: &Rod, tension: f64, torque: f64, properties: &RodProperties) -> BodyState {
    let mut state = rod.default_state();
    let n_edges = rod.n_edges() as f64;
    let has_clamp_edge = state.q[0] < -1e-9;
    let first = if has_clamp_edge { 1.0 } else { 0.0 };
    for (i, unknown) in state.q.iter_mut().enumerate() {
        match i % 4 {
            0 => *unknown *= 1.0 + tension / properties.stretch,
            3 => {
                // Position of the edge's midpoint along the rod; clamp edges at 0 and 1.
                let position = ((i / 4) as f64 - first + 0.5) / n_edges;
                let position = if has_clamp_edge {
                    position.clamp(0.0, 1.0)
                } else {
                    position
                };
                *unknown = position * torque / properties.twist;
            }
            _ => {}
        }
    }
    state
}

/// The value at which `is_stable` becomes false, between 0 and `high`, by bisection to 1e-9; NaN if it never does.
fn critical(
    high: f64,
    mut is_stable: impl FnMut(f64) -> Result<bool, RodError>,
) -> Result<f64, RodError> {
    if is_stable(high)? {
        return Ok(f64::NAN);
    }
    let (mut low, mut high) = (0.0, high);
    while high - low > 1e-9 * high {
        let midpoint = 0.5 * (low + high);
        if is_stable(midpoint)? {
            low = midpoint;
        } else {
            high = midpoint;
        }
    }
    Ok(0.5 * (low + high))
}
