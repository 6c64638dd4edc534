//! Natural shape: the curvature and twist at which a rod is stress-free, constant or scaled over time.

use crate::error::RodError;
use crate::section::parameter;

/// Natural curvatures and twist rate at one point of a rod, in material axes.
///
/// A joint of Voronoi length v̄ has the natural strains k̄ = 2 tan(|κ| v̄/2) κ/|κ| and τ̄ = ω v̄, so that a closed circle of any number
/// of edges has its natural radius. |κ| v̄ must be less than 2.6 rad.
///
/// ```
/// use std::f64::consts::TAU;
/// use nalgebra::Point3;
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
/// use pliant_der::{NaturalShape, NaturalStrain};
///
/// // A straight wire whose natural shape is a full circle: ½ EI κ² L.
/// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 100);
/// # let (section, steel) = (Section::Circle { radius: 5e-4 }, Material::isotropic(2e11, 0.3, 7800.0)?);
/// let natural = NaturalStrain { curvature_1: TAU, ..NaturalStrain::default() };
/// let rod = RodBuilder::new(line).section(section, steel).natural_shape(NaturalShape::Uniform(natural)).build()?;
/// let energy = rod.elastic_energy(&rod.default_state())?.bend;
/// let expected = 0.5 * section.properties(&steel)?.bend_1 * TAU * TAU;
/// assert!((energy / expected - 1.0).abs() < 0.02); // half an edge at each end has no joint
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NaturalStrain {
    /// Curvature κ₁ along m2, 1/m. The curvature vector is κ₁ m2 − κ₂ m1: the tangent rotates about it.
    pub curvature_1: f64,
    /// Curvature κ₂ along −m1, 1/m.
    pub curvature_2: f64,
    /// Rotation of the material frame about the tangent per unit length, rad/m.
    pub twist_rate: f64,
}

/// The stress-free shape of a rod.
///
/// ```
/// use nalgebra::Point3;
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
/// use pliant_der::{NaturalShape, RodError};
///
/// // A ring of radius R bent from a straight wire stores ½ EI/R² · 2πR; a ring that was made as one stores nothing.
/// # let (section, steel) = (Section::Circle { radius: 5e-4 }, Material::isotropic(2e11, 0.3, 7800.0)?);
/// let bending = |natural| {
///     let ring = RodBuilder::new(Centreline::circle(0.1, 100)).section(section, steel).natural_shape(natural).build()?;
///     Ok::<_, RodError>(ring.elastic_energy(&ring.default_state())?.bend)
/// };
/// let expected = std::f64::consts::PI * section.properties(&steel)?.bend_1 / 0.1;
/// assert!((bending(NaturalShape::Straight)? / expected - 1.0).abs() < 2e-3); // a polygon of 100 edges
/// assert!(bending(NaturalShape::AsBuilt)? < 1e-20 * expected);
/// # Ok::<(), RodError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum NaturalShape {
    /// Straight and untwisted, whatever the initial centreline.
    #[default]
    Straight,
    /// The initial centreline and directors, without the initial twist.
    AsBuilt,
    /// Uniform along the rod: curvature κ and twist rate ω make a helix of radius κ/(κ² + ω²) and pitch 2πω/(κ² + ω²).
    Uniform(NaturalStrain),
    /// One for each node; those at the ends of an open rod without clamp edges have no effect.
    PerNode(Vec<NaturalStrain>),
}

/// Time-dependent factors on the natural curvature and twist, as for pneumatic actuators or drying fibres. Time is that in the
/// state's history, s, from 0 in the default state; steps advance it.
///
/// ```
/// use std::f64::consts::TAU;
/// use nalgebra::Point3;
/// use pliant_contact_sap::DeformableModel;
/// # use pliant_der::{Centreline, Material, RodBuilder, Section};
/// use pliant_der::{NaturalShape, NaturalShapeSchedule, NaturalStrain, Schedule};
///
/// // An actuator that curls within a second: at the start it is straight and free of energy.
/// let curled = NaturalShape::Uniform(NaturalStrain { curvature_1: TAU, ..NaturalStrain::default() });
/// let schedule = NaturalShapeSchedule { curvature: Schedule::ramp(0.0, 1.0, 0.0, 1.0), ..NaturalShapeSchedule::default() };
/// # let line = Centreline::straight(Point3::origin(), Point3::new(1.0, 0.0, 0.0), 10);
/// # let (section, rubber) = (Section::Circle { radius: 5e-3 }, Material::isotropic(1e6, 0.5, 1000.0)?);
/// let rod = RodBuilder::new(line).section(section, rubber).natural_shape(curled).natural_shape_schedule(schedule).build()?;
/// assert!(rod.elastic_energy(&rod.default_state())?.bend.abs() < 1e-15);
/// # Ok::<(), pliant_der::RodError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NaturalShapeSchedule {
    /// Factor on both curvatures κ₁ and κ₂.
    pub curvature: Schedule,
    /// Factor on the twist rate.
    pub twist: Schedule,
}

/// A piecewise linear factor over time, constant before the first point and after the last; 1 without points.
///
/// ```
/// use pliant_der::Schedule;
///
/// // From straight to the full natural curvature between 1 s and 3 s.
/// let inflate = Schedule::ramp(1.0, 3.0, 0.0, 1.0);
/// assert_eq!([0.0, 2.0, 9.0].map(|t| inflate.at(t)), [0.0, 0.5, 1.0]);
/// assert_eq!(Schedule::default().at(5.0), 1.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// (time in s, factor), strictly ascending in time.
    pub points: Vec<(f64, f64)>,
}

impl Schedule {
    /// A linear ramp from factor `from` at `start_s` to factor `to` at `end_s`.
    #[must_use]
    pub fn ramp(start_s: f64, end_s: f64, from: f64, to: f64) -> Self {
        Self {
            points: vec![(start_s, from), (end_s, to)],
        }
    }

    /// The factor at a time, s.
    #[must_use]
    pub fn at(&self, time_s: f64) -> f64 {
        let after = self.points.partition_point(|(t, _)| *t <= time_s);
        let before = after.checked_sub(1).map(|i| self.points[i]);
        match (before, self.points.get(after).copied()) {
            (None, None) => 1.0,
            (None, Some((_, factor))) | (Some((_, factor)), None) => factor,
            (Some((t_0, f_0)), Some((t_1, f_1))) => {
                f_0 + (f_1 - f_0) * ((time_s - t_0) / (t_1 - t_0))
            }
        }
    }

    fn validate(&self) -> Result<(), RodError> {
        for (i, (time_s, factor)) in self.points.iter().enumerate() {
            for (what, value) in [("time", time_s), ("factor", factor)] {
                if !value.is_finite() {
                    let name = format!("{what} of schedule point {i}");
                    return Err(parameter(name, *value, "must be finite"));
                }
            }
        }
        match self.points.windows(2).position(|w| w[1].0 <= w[0].0) {
            None => Ok(()),
            Some(i) => Err(parameter(
                format!("time of schedule point {}", i + 1),
                self.points[i + 1].0,
                "must be later than the point before",
            )),
        }
    }
}

/// Natural strains of one joint: k̄₁, k̄₂, τ̄.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JointStrain {
    pub(crate) k_1: f64,
    pub(crate) k_2: f64,
    pub(crate) tau: f64,
}

impl NaturalStrain {
    /// Strains of a joint of Voronoi length v̄ = `voronoi`, with factors `curvature` and `twist`.
    ///
    /// ```text
    /// k̄ = 2 tan(κ v̄ / 2) in the direction of κ        τ̄ = ω v̄
    /// ```
    /// With κ v̄ instead of the tangent, a closed circle of n nodes would have an equilibrium radius off by O(1/n²).
    pub(crate) fn joint(&self, voronoi: f64, curvature: f64, twist: f64) -> JointStrain {
        let (k_1, k_2) = (self.curvature_1 * curvature, self.curvature_2 * curvature);
        let size = k_1.hypot(k_2);
        let scale = if size > 0.0 {
            2.0 * (0.5 * size * voronoi).tan() / size
        } else {
            voronoi
        };
        JointStrain {
            k_1: k_1 * scale,
            k_2: k_2 * scale,
            tau: self.twist_rate * twist * voronoi,
        }
    }

    /// The inverse of [`NaturalStrain::joint`] with factors 1.
    fn of_joint(strain: &JointStrain, voronoi: f64) -> Self {
        let size = strain.k_1.hypot(strain.k_2);
        let scale = if size > 0.0 {
            2.0 * (0.5 * size).atan() / (size * voronoi)
        } else {
            1.0 / voronoi
        };
        Self {
            curvature_1: strain.k_1 * scale,
            curvature_2: strain.k_2 * scale,
            twist_rate: strain.tau / voronoi,
        }
    }

    /// Checks that the strains are finite and that the turning angle of the joint is small enough.
    pub(crate) fn validate(&self, node: usize, voronoi: f64) -> Result<(), RodError> {
        for (name, value) in [
            ("curvature_1", self.curvature_1),
            ("curvature_2", self.curvature_2),
            ("twist_rate", self.twist_rate),
        ] {
            if !value.is_finite() {
                return Err(parameter(
                    format!("natural {name} at node {node}"),
                    value,
                    "must be finite",
                ));
            }
        }
        let turning_angle = self.curvature_1.hypot(self.curvature_2) * voronoi;
        if turning_angle >= LARGEST_TURNING_ANGLE {
            return Err(parameter(
                format!("natural turning angle at node {node} (curvature times edge length, rad)"),
                turning_angle,
                "must be less than 2.6: use more edges",
            ));
        }
        Ok(())
    }
}

/// Largest natural turning angle φ of one joint, rad, where k = 2 tan(φ/2) is about 7.
const LARGEST_TURNING_ANGLE: f64 = 2.6;

/// Natural strains of all joints as a function of time.
#[derive(Clone, Debug)]
pub(crate) struct NaturalTable {
    /// With both factors 1.
    unscaled: Vec<JointStrain>,
    scheduled: Option<Scheduled>,
}

#[derive(Clone, Debug)]
struct Scheduled {
    schedule: NaturalShapeSchedule,
    strains: Vec<NaturalStrain>,
    voronoi: Vec<f64>,
}

impl NaturalTable {
    /// `node_of` maps a joint to its node of the centreline, for error messages.
    pub(crate) fn new(
        unscaled: Vec<JointStrain>,
        voronoi: &[f64],
        schedule: Option<NaturalShapeSchedule>,
        node_of: impl Fn(usize) -> usize,
    ) -> Result<Self, RodError> {
        let scheduled = match schedule {
            None => None,
            Some(schedule) => {
                schedule.curvature.validate()?;
                schedule.twist.validate()?;
                let strains: Vec<_> = unscaled
                    .iter()
                    .zip(voronoi)
                    .map(|(strain, v)| NaturalStrain::of_joint(strain, *v))
                    .collect();
                let factors = schedule.curvature.points.iter().map(|(_, f)| f.abs());
                let largest = factors.fold(0.0, f64::max);
                for (joint, (strain, v)) in strains.iter().zip(voronoi).enumerate() {
                    let most_curved = NaturalStrain {
                        curvature_1: strain.curvature_1 * largest,
                        curvature_2: strain.curvature_2 * largest,
                        ..*strain
                    };
                    most_curved.validate(node_of(joint), *v)?;
                }
                Some(Scheduled {
                    schedule,
                    strains,
                    voronoi: voronoi.to_vec(),
                })
            }
        };
        Ok(Self {
            unscaled,
            scheduled,
        })
    }

    /// Writes the natural strains of all joints at `time_s`.
    pub(crate) fn at(&self, time_s: f64, out: &mut Vec<JointStrain>) {
        out.clear();
        match &self.scheduled {
            None => out.extend_from_slice(&self.unscaled),
            Some(scheduled) => {
                let curvature = scheduled.schedule.curvature.at(time_s);
                let twist = scheduled.schedule.twist.at(time_s);
                let joints = scheduled.strains.iter().zip(&scheduled.voronoi);
                out.extend(joints.map(|(strain, v)| strain.joint(*v, curvature, twist)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_linear_between_its_points_and_constant_outside() {
        let ramp = Schedule::ramp(5.0, 7.0, 0.0, 3.0);
        for (time_s, factor) in [(0.0, 0.0), (5.0, 0.0), (6.0, 1.5), (7.0, 3.0), (90.0, 3.0)] {
            assert_eq!(ramp.at(time_s), factor);
        }
        assert_eq!(Schedule::default().at(3.0), 1.0);
        let backwards = Schedule::ramp(5.0, 4.0, 0.0, 1.0).validate().unwrap_err();
        assert!(
            backwards
                .to_string()
                .starts_with("time of schedule point 1 = 4")
        );
    }

    #[test]
    fn strains_scaled_by_one_are_the_natural_strains() {
        let strain = NaturalStrain {
            curvature_1: 6.0,
            curvature_2: -3.0,
            twist_rate: 2.0,
        };
        let joint = strain.joint(0.04, 1.0, 1.0);
        let again = NaturalStrain::of_joint(&joint, 0.04).joint(0.04, 1.0, 1.0);
        for (a, b) in [
            (joint.k_1, again.k_1),
            (joint.k_2, again.k_2),
            (joint.tau, again.tau),
        ] {
            assert!((a - b).abs() < 1e-16);
        }
    }
}
