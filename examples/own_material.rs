//! A hyperelastic material of one's own for `[[fem]]`: Blatz and Ko's foam rubber (1962),
//! Ψ = μ/2 (Σ 1/σ_i² + 2J − 5), with Poisson's ratio 1/4.

use std::error::Error;

use nalgebra::{Matrix3, Vector3};
use pliant::Registry;
use pliant::runner::{RunOptions, run};
use pliant::scene::{Key, REQUIRED, Scene, SceneOptions, ValueKind};
use pliant_constitutive::{Domain, Lame, PrincipalLaw, Spectrum, principal_pair};

#[derive(Debug)]
struct BlatzKo {
    lame: Lame,
}

impl PrincipalLaw for BlatzKo {
    fn energy(&self, s: &Vector3<f64>) -> f64 {
        0.5 * self.lame.mu() * (s.map(|s| 1.0 / (s * s)).sum() + 2.0 * s.product() - 5.0)
    }

    fn stresses(&self, s: &Vector3<f64>) -> Vector3<f64> {
        s.map(|x| self.lame.mu() * (s.product() / x - 1.0 / (x * x * x)))
    }

    fn spectrum(&self, s: &Vector3<f64>) -> Spectrum {
        let mu = self.lame.mu();
        // σ_i⁻³ ∓ σ_j⁻³ over σ_i ∓ σ_j, without 0/0.
        let pair = |k: usize, sign: f64| {
            let (i, j) = principal_pair(k);
            let product = s[i] * s[j];
            sign * mu * ((s[i] * s[i] + sign * product + s[j] * s[j]) / product.powi(3) - s[k])
        };
        Spectrum {
            stretching: Matrix3::from_fn(|i, j| match i == j {
                true => 3.0 * mu / s[i].powi(4),
                false => mu * s[3 - i - j],
            }),
            symmetric: Vector3::from_fn(|k, _| pair(k, 1.0)),
            antisymmetric: Vector3::from_fn(|k, _| pair(k, -1.0)),
        }
    }

    fn lame(&self) -> Lame {
        self.lame
    }

    fn domain(&self) -> Domain {
        Domain::PositiveVolume
    }
}

const KEYS: &[Key] = &[Key {
    name: "shear_modulus",
    value: ValueKind::Positive,
    unit: "Pa",
    default: REQUIRED,
    about: "μ",
}];

/// A cube of foam under its own weight: its top sinks by ρ g h²/2E, where E = 5μ/2, to first order.
const SCENE: &str = r#"
schema = 1
title = "a cube of Blatz and Ko's foam"
[simulation]
time_step_s = 0.01
smoke_s = 2.0
[[fem]]
name = "cube"
mesh = { box = { size = [0.1, 0.1, 0.1], cells = [4, 4, 4] } }
constitutive_material = { law = "blatz-ko", shear_modulus = 4e4 }
density = 300
stiffness_damping = 0.05
regions.base = { half_space = { point = [0, 0, -0.05], normal = [0, 0, 1] } }
regions.top = { half_space = { point = [0, 0, 0.05], normal = [0, 0, -1] } }
regions.middle = { nearest = { to = [0, 0, -0.05] } }
fixed = [{ region = "base", axes = "z" }, { region = "middle", axes = "xy" }]
[[observables]]
name = "top"
quantity = "displacement"
of = "cube/top"
component = "z"
[[expect]]
observable = "top"
source = "Hooke: -300 9.81 0.1^2/(2 1e5) = -1.47e-4 m"
at_least = -1.6e-4
at_most = -1.35e-4
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::default();
    registry.fem_material("blatz-ko", KEYS, |table| {
        let mu = table.number("shear_modulus")?;
        let lame = Lame::new(mu, mu).map_err(|error| table.conflict(error.to_string()))?;
        Ok(BlatzKo { lame })
    });
    let options = SceneOptions {
        registry,
        ..SceneOptions::default()
    };
    let scene = Scene::parse("foam", SCENE, &options)?;
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {})?;
    assert!(
        outcome.summary.is_as_expected(),
        "{:?}",
        outcome.summary.expectations
    );
    Ok(())
}
