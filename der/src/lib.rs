#![doc = include_str!("../README.md")]
#![allow(
    non_snake_case,
    reason = "monogram frame names such as X_WB are the field's notation"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "an index k names one component across several arrays"
)]

mod section;

mod centreline;

mod natural_shape;

mod frames;

mod impossible;

mod strain;

mod elasticity;

mod rod_matrix;

mod damping;

mod rod_parts;

mod rod;

mod builder;

mod free_motion_settings;

mod free_motion;

mod dynamics;

mod step;

mod body;

mod equilibrium;

mod modes;

mod topology;

#[cfg(feature = "known-answers")]
pub mod known_answers;

mod error;

pub use builder::{EndCondition, RodBuilder};
pub use centreline::{Centreline, Closure};
pub use damping::Rayleigh;
pub use elasticity::ElasticEnergy;
pub use equilibrium::{Equilibrium, EquilibriumSettings};
pub use error::RodError;
pub use free_motion::{FreeMotionReport, FreeMotionStop};
pub use free_motion_settings::{FreeMotionSettings, Linearised};
pub use natural_shape::{NaturalShape, NaturalShapeSchedule, NaturalStrain, Schedule};
pub use rod::{End, Rod, Strains};
pub use section::{Material, RodProperties, Section};
pub use step::RodStep;
pub use topology::writhe;
