//! Parameters of random problems.

/// Which laws a problem uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Models {
    Any,
    Lagged,
    Similar,
    Sap,
}

/// Distribution of a random problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) participants: (usize, usize),
    pub(crate) bases_per_participant: f64,
    pub(crate) contacts_per_basis: usize,
    /// log10 of mass, uniform.
    pub(crate) mass_exponent: (f64, f64),
    pub(crate) stiffness: Stiffness,
    pub(crate) models: Models,
    /// Whether there are dissipation, limits, constraints and actuators.
    pub(crate) extras: Extras,
}

/// Range of log10 of the contact stiffness, uniform.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stiffness {
    /// Of k, N/m.
    Absolute(f64, f64),
    /// Of δt²·k·w, the stiffness relative to the effective mass. Nothing else is stiffer: dissipation and springs within bodies
    /// are mild, μ ≤ 1, friction is softened until μ n0 w/ε ≤ 1, and contacts of the SAP model, whose stiction is always stiff,
    /// are replaced by lagged ones.
    Relative(f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extras {
    /// Everything.
    All,
    /// Contacts of every kind and nothing else.
    Contacts,
    /// Contacts without dissipation and nothing else.
    None,
}

impl Recipe {
    pub(crate) const SMALL: Recipe = Recipe {
        participants: (1, 5),
        bases_per_participant: 1.3,
        contacts_per_basis: 4,
        mass_exponent: (-6.0, 6.0),
        stiffness: Stiffness::Absolute(2.0, 14.0),
        models: Models::Any,
        extras: Extras::All,
    };
    pub(crate) const LARGE: Recipe = Recipe {
        participants: (30, 60),
        bases_per_participant: 2.0,
        ..Recipe::SMALL
    };
}
