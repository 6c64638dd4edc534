//! Natural shape: the curvature and twist at which a rod is unstressed, constant or driven in time.

use crate::error::RodError;
use crate::section::parameter;

/// Curvatures and twist rate of an unstressed rod at one place, in material axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NaturalStrain {
    /// Along m2, 1/m: the tangent turns about the curvature vector curvature_1 · m2 − curvature_2 · m1.
    pub curvature_1: f64,
    /// Along −m1, 1/m.
    pub curvature_2: f64,
    /// Rate at which the material frame turns about the tangent, rad/m.
    pub twist_rate: f64,
}

/// The shape in which a rod is unstressed.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum NaturalShape {
    /// Straight and untwisted, whatever the centreline it is built on.
    #[default]
    Straight,
    /// The centreline and the directors it is built on, without the initial twist.
    AsBuilt,
    /// The same everywhere: curvature κ and twist rate ω make a helix of radius κ/(κ² + ω²), pitch 2πω/(κ² + ω²).
    Uniform(NaturalStrain),
    /// One for each node; those of free ends have no meaning.
    PerNode(Vec<NaturalStrain>),
}

/// Factors over time on the natural curvature and on the natural twist: a pneumatic filament, a drying fibre.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drive {
    /// On both curvatures, so that their direction in the section stays.
    pub curvature: Schedule,
    /// On the twist rate.
    pub twist: Schedule,
}

/// A factor over time: linear between points, constant before the first and after the last. No points: 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// (time in s, factor), times ascending.
    pub points: Vec<(f64, f64)>,
}

impl Schedule {
    /// From factor `from` at `start_s` to factor `to` at `end_s`.
    #[must_use]
    pub fn ramp(start_s: f64, end_s: f64, from: f64, to: f64) -> Self {
        Self {
            points: vec![(start_s, from), (end_s, to)],
        }
    }

    /// The factor at a time.
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
                "must lie after the point before it",
            )),
        }
    }
}

/// Natural strains of one joint as the energies take them: k̄₁, k̄₂, τ̄.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JointStrain {
    pub(crate) k_1: f64,
    pub(crate) k_2: f64,
    pub(crate) tau: f64,
}

impl NaturalStrain {
    /// The strains of a joint of Voronoi length `voronoi`, curvature and twist scaled.
    ///
    /// ```text
    /// k̄ = 2 tan(κ v̄ / 2) in the direction of κ        τ̄ = ω v̄
    /// ```
    /// With κ v̄ instead of the tangent, a ring of n nodes would not rest at its radius: O(1/n²).
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

    /// Finite, and less than half a turn in one joint.
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
        let turn = self.curvature_1.hypot(self.curvature_2) * voronoi;
        if turn >= LARGEST_TURN {
            return Err(parameter(
                format!("natural turn at node {node} (curvature times edge length, rad)"),
                turn,
                "must stay below 2.6: use more edges",
            ));
        }
        Ok(())
    }
}

/// Natural turn of one joint, rad: 2 tan of half of it is 8, beyond which a joint is a fold.
const LARGEST_TURN: f64 = 2.6;

/// Natural strains of all joints, at any time.
#[derive(Clone, Debug)]
pub(crate) struct NaturalTable {
    /// With both factors 1.
    rest: Vec<JointStrain>,
    driven: Option<Driven>,
}

#[derive(Clone, Debug)]
struct Driven {
    drive: Drive,
    strains: Vec<NaturalStrain>,
    voronoi: Vec<f64>,
}

impl NaturalTable {
    /// `node_of` gives the node of a joint as the user counts it.
    pub(crate) fn new(
        rest: Vec<JointStrain>,
        voronoi: &[f64],
        drive: Option<Drive>,
        node_of: impl Fn(usize) -> usize,
    ) -> Result<Self, RodError> {
        let driven = match drive {
            None => None,
            Some(drive) => {
                drive.curvature.validate()?;
                drive.twist.validate()?;
                let strains: Vec<_> = rest
                    .iter()
                    .zip(voronoi)
                    .map(|(strain, v)| NaturalStrain::of_joint(strain, *v))
                    .collect();
                let most = drive.curvature.points.iter().map(|(_, f)| f.abs());
                let most = most.fold(0.0, f64::max);
                for (joint, (strain, v)) in strains.iter().zip(voronoi).enumerate() {
                    let driven = NaturalStrain {
                        curvature_1: strain.curvature_1 * most,
                        curvature_2: strain.curvature_2 * most,
                        ..*strain
                    };
                    driven.validate(node_of(joint), *v)?;
                }
                Some(Driven {
                    drive,
                    strains,
                    voronoi: voronoi.to_vec(),
                })
            }
        };
        Ok(Self { rest, driven })
    }

    /// Natural strains of all joints at `time_s` into `out`.
    pub(crate) fn at(&self, time_s: f64, out: &mut Vec<JointStrain>) {
        out.clear();
        match &self.driven {
            None => out.extend_from_slice(&self.rest),
            Some(driven) => {
                let curvature = driven.drive.curvature.at(time_s);
                let twist = driven.drive.twist.at(time_s);
                let joints = driven.strains.iter().zip(&driven.voronoi);
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
    fn driven_strains_with_factor_one_are_the_strains_at_rest() {
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
