//! A material of one's own for `[[material_points]]`: a fluid with the pressure p = κ(1 − J).

use std::error::Error;

use nalgebra::Matrix3;
use pliant::Registry;
use pliant::runner::{RunOptions, run};
use pliant::scene::{Key, REQUIRED, Scene, SceneOptions, ValueKind};
use pliant_constitutive::{Hooke, Real};
use pliant_mpm::{Definiteness, EnergyForm, Lagged, Law, Material, Strain, Tangent};

/// Its volume ratio J is the first internal variable.
#[derive(Debug)]
struct LinearFluid {
    bulk_modulus: f64,
}

impl<T: Real> Law<T> for LinearFluid {
    fn energy(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> T {
        let excess = ratio(strain, g) - T::one();
        T::of(0.5 * self.bulk_modulus) * excess * excess
    }

    fn stress(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Matrix3<T> {
        let tension = T::of(self.bulk_modulus) * (ratio(strain, g) - T::one());
        Matrix3::from_diagonal_element(strain.internal[0] * tension)
    }

    fn tangent(
        &self,
        strain: &Strain<T>,
        _: &Lagged<T>,
        _: &Matrix3<T>,
        _: Definiteness,
    ) -> Tangent<T> {
        let j = strain.internal[0];
        Tangent::Isotropic {
            map: Matrix3::identity(),
            hooke: Hooke {
                mu: T::zero(),
                lambda: T::of(self.bulk_modulus) * j * j,
            },
        }
    }

    fn advance(&self, strain: &Strain<T>, _: &Lagged<T>, g: &Matrix3<T>) -> Strain<T> {
        Strain {
            f: Matrix3::identity(),
            internal: [ratio(strain, g), T::zero()],
        }
    }
}

/// J(1 + tr G).
fn ratio<T: Real>(strain: &Strain<T>, g: &Matrix3<T>) -> T {
    strain.internal[0] * (T::one() + g.trace())
}

impl Material for LinearFluid {
    fn name(&self) -> &'static str {
        "linear-fluid"
    }

    fn energy_form(&self) -> EnergyForm {
        EnergyForm::Quadratic
    }

    fn wave_modulus(&self) -> f64 {
        self.bulk_modulus
    }

    fn bears_shear(&self) -> bool {
        false
    }

    fn fresh(&self) -> [f64; 2] {
        [1.0, 0.0]
    }

    fn volume_ratio(&self, strain: &Strain<f64>) -> f64 {
        strain.internal[0]
    }

    fn pressure(&self, strain: &Strain<f64>) -> f64 {
        self.bulk_modulus * (1.0 - strain.internal[0])
    }
}

const KEYS: &[Key] = &[Key {
    name: "bulk_modulus",
    value: ValueKind::Positive,
    unit: "Pa",
    default: REQUIRED,
    about: "κ",
}];

const SCENE: &str = r#"
schema = 1
title = "a fluid in a tank sinks under its own weight"
[simulation]
time_step_s = 0.005
smoke_s = 1.0
[grid]
spacing = 0.025
walls = [
    { point = [0, 0, 0], normal = [0, 0, 1] },
    { point = [0, 0, 0], normal = [1, 0, 0] },
    { point = [0.1, 0, 0], normal = [-1, 0, 0] },
    { point = [0, 0, 0], normal = [0, 1, 0] },
    { point = [0, 0.1, 0], normal = [0, -1, 0] },
]
[[material_points]]
name = "fluid"
shape = { box = { size = [0.1, 0.1, 0.1] } }
pose = { position = [0.05, 0.05, 0.05] }
constitutive_material = { law = "linear-fluid", bulk_modulus = 1e4 }
density = 1000
[[observables]]
name = "volume"
quantity = "volume"
of = "fluid"
[[expect]]
observable = "volume"
source = "V (1 - rho g h/(2 kappa)) = 0.95e-3 m3 at rest"
at_least = 0.93e-3
at_most = 0.97e-3
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::default();
    registry.particle_material("linear-fluid", KEYS, |table| {
        let bulk_modulus = table.number("bulk_modulus")?;
        Ok(LinearFluid { bulk_modulus })
    });
    let options = SceneOptions {
        registry,
        ..SceneOptions::default()
    };
    let scene = Scene::parse("tank", SCENE, &options)?;
    let outcome = run(&scene, &RunOptions::default(), &mut |_| {})?;
    assert!(
        outcome.summary.is_as_expected(),
        "{:?}",
        outcome.summary.expectations
    );
    Ok(())
}
