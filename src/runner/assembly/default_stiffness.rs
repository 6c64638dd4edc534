//! The stiffness of surfaces that name none: what carries the bodies of the scene.

use pliant_hydroelastic::ContactMaterial;

use super::{Draft, MassRef};

/// δ, m: no deeper does a body sink into the ground on a single contact point.
const ALLOWANCE: f64 = 2e-4;

/// Of the mass of all bodies, this share is taken to press on one contact point: of a pile with several points in each layer.
const SHARE_OF_ALL: f64 = 0.1;

/// k of each of two equal surfaces, N/m, for bodies of `masses` (kg) under `gravity` (m/s²):
///
/// ```text
/// k = max(10⁶ N/m, 2 M g/δ),    M = max(the heaviest body, a tenth of all)
/// ```
///
/// The pair has k/2, so that M g presses it by δ on one point.
fn stiffness(masses: &[f64], gravity: f64) -> f64 {
    let heaviest = masses.iter().copied().fold(0.0, f64::max);
    let all: f64 = masses.iter().sum();
    let load = heaviest.max(SHARE_OF_ALL * all) * gravity;
    ContactMaterial::default()
        .stiffness
        .max(2.0 * load / ALLOWANCE)
}

impl Draft<'_> {
    /// Gives the surfaces without a stiffness of their own one that carries the bodies added so far.
    pub(super) fn stiffen_for_the_load(&mut self) {
        let mass = |body: &MassRef| match *body {
            MassRef::Body(body) => self.directory.tree(body).moving_mass(),
            MassRef::Soft(soft) => {
                let soft = &self.directory.soft[soft];
                let given = self.soft_starts.iter().find(|(body, _)| *body == soft.body);
                match given {
                    Some((_, start)) => soft.model.masses(start).iter().sum(),
                    None => {
                        let start = self.builder.model(soft.body).default_state();
                        soft.model.masses(&start).iter().sum()
                    }
                }
            }
        };
        let masses: Vec<f64> = self.directory.all_with_mass().iter().map(mass).collect();
        let stiffness = stiffness(&masses, self.scene.simulation.gravity.norm());
        for &geometry in &self.of_default_stiffness {
            self.builder.geometry_mut(geometry).material.stiffness = stiffness;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const G: f64 = 9.81;

    /// Depth of a body of `mass` on `points` contact points, m.
    fn depth(mass: f64, points: f64) -> f64 {
        mass * G / (points * 0.5 * stiffness(&[mass], G))
    }

    #[test]
    fn light_bodies_have_a_meganewton_per_metre() {
        for masses in [&[][..], &[1e-3], &[0.1, 1.0], &[10.0], &[0.1; 300]] {
            assert_eq!(stiffness(masses, G), 1e6);
        }
        assert_eq!(stiffness(&[1e6], 0.0), 1e6);
    }

    #[test]
    fn no_body_sinks_deeper_than_the_allowance() {
        for mass in [1e-3, 1.0, 10.0, 100.0, 1500.0, 43_200.0, 1e5] {
            assert!(depth(mass, 1.0) <= ALLOWANCE * (1.0 + 1e-12), "{mass}");
        }
        assert!((depth(1e5, 1.0) / depth(100.0, 1.0) - 1.0).abs() < 1e-12);
        // Twenty blocks of a tonne on four points each.
        let k = stiffness(&[1e3; 20], G);
        assert!(20e3 * G / (4.0 * 0.5 * k) <= 5.0 * ALLOWANCE);
    }
}
