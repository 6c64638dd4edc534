//! Laws that hold for any cloud of material points on a device, in single precision: symmetries of the grid, momentum, refusal of bad numbers.

use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use nalgebra::{DMatrix, Matrix3, Point3, Rotation3, Vector3};
use pliant_contact_sap::{BodyError, BodyState, Control, DeformableModel, Load, MaterialPoint};
use pliant_gpu::{Gpu, GpuError, GpuSubsteps};
use pliant_mpm::{
    LaggedLaws, Liquid, Material, MaterialPoints, MpmBuilder, MpmSettings, ObjectSpec, ParticleSet,
    Preset, RigidLinks, SubstepBackend, SubstepContact, SubstepInput, SubstepReport, SubstepSolver,
    TransferScheme, VolumeForm,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const H: f64 = 0.02;
const STEP_S: f64 = 1e-3;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// The same cases in every run; few, for machines whose processor emulates a device.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 12,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

/// The device of this machine, if it has one; the first call says if not.
fn device() -> Option<Arc<Gpu>> {
    static DEVICE: OnceLock<Option<Arc<Gpu>>> = OnceLock::new();
    let open = || match Gpu::open() {
        Ok(gpu) => Some(Arc::new(gpu)),
        Err(GpuError::NoAdapter) => {
            writeln!(std::io::stderr(), "SKIPPED properties: no Vulkan adapter").expect("stderr");
            None
        }
        Err(e) => panic!("{e}"),
    };
    DEVICE.get_or_init(open).clone()
}

/// Places in cells and velocities, m/s.
#[derive(Clone, Debug)]
struct Draw {
    preset: Preset,
    drops: Vec<[Vector3<f64>; 2]>,
}

fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

/// The material of a preset, water with the volume that devices have.
fn on_device(preset: Preset) -> Arc<dyn Material> {
    match preset {
        Preset::ShallowWater => {
            let water = Liquid::for_depth(0.2, 1000.0, 9.81).expect("a liquid");
            let water = water.with_viscosity(1e-3).expect("a viscosity");
            let advected = water.with_volume(VolumeForm::Advected);
            Arc::new(advected.expect("a form without numbers"))
        }
        solid => solid.material(),
    }
}

fn draw() -> impl Strategy<Value = Draw> {
    let preset = prop::sample::select(vec![Preset::FoamCube, Preset::ShallowWater]);
    let drop = (vector(1.5), vector(0.5)).prop_map(|(place, velocity)| [place, velocity]);
    let drops = prop::collection::vec(drop, 1..=40);
    (preset, drops).prop_map(|(preset, drops)| Draw { preset, drops })
}

impl Draw {
    /// The cloud in motion, turned.
    fn turned(&self, turn: &Matrix3<f64>) -> (MaterialPoints, BodyState) {
        let places = self.drops.iter().map(|[p, _]| Point3::from(turn * p * H));
        let set = ParticleSet {
            points: places.collect(),
            particle_volume: (0.5 * H).powi(3),
        };
        let mut builder = MpmBuilder::new(MpmSettings {
            transfer: TransferScheme::Apic,
            ..MpmSettings::new(H)
        });
        builder.object(ObjectSpec::new("cloud", on_device(self.preset), 500.0, set));
        builder.grip("hand", vec![0]);
        let model = builder.build().expect("a model");
        let mut state = model.default_state();
        let velocities = self.drops.iter().flat_map(|[_, v]| (turn * v).data.0[0]);
        state.v = velocities.collect();
        (model, state)
    }
}

/// The state after a step of four substeps.
fn moved(
    gpu: &Arc<Gpu>,
    (model, state): &(MaterialPoints, BodyState),
    gravity: Vector3<f64>,
    control: &Control,
) -> Result<BodyState, BodyError> {
    let mut device = GpuSubsteps::new(gpu, model).expect("all of it has shaders");
    let mut links = RigidLinks::new(Vec::new(), DMatrix::zeros(0, 0));
    let (mut memory, mut report) = (Vec::new(), SubstepReport::default());
    let input = SubstepInput {
        time_step_s: STEP_S,
        substeps: 4,
        gravity,
        control,
        obstacles: &[],
        contact: SubstepContact {
            stiction_speed: 1e-4,
            near_rigid: 0.1,
            solver: SubstepSolver::default(),
            tolerance: 1e-5,
            iterations_max: 1000,
        },
        laws: &LaggedLaws,
    };
    device.begin(state)?;
    device.run(&input, &mut links, &mut memory, &mut report)?;
    let mut next = BodyState::default();
    let _ = device.end(&mut next)?;
    Ok(next)
}

fn vectors(values: &[f64]) -> Vec<Vector3<f64>> {
    values
        .chunks_exact(3)
        .map(Vector3::from_column_slice)
        .collect()
}

/// A velocity of 1 m/s has a round-off of 6e-8 m/s in single precision. Four substeps scatter and gather it over 27 nodes each.
const ROUND_OFF_VELOCITY: f64 = 2e-5;

proptest! {
    #![proptest_config(config())]

    /// The grid has the symmetry of a cube.
    #[test]
    fn quarter_turns_of_the_world_turn_the_motion(draw in draw(), quarters in prop::array::uniform3(0..4)) {
        let Some(gpu) = device() else { return Ok(()) };
        let [a, b, c] = quarters.map(|n| f64::from(n) * std::f64::consts::FRAC_PI_2);
        let turn = Rotation3::from_euler_angles(a, b, c).matrix().map(f64::round);
        let control = Control::default();
        let end = moved(&gpu, &draw.turned(&Matrix3::identity()), GRAVITY, &control).expect("a step");
        let turned = moved(&gpu, &draw.turned(&turn), turn * GRAVITY, &control).expect("a step");
        for (a, b) in vectors(&end.v).iter().zip(vectors(&turned.v)) {
            let off = (turn * a - b).norm();
            prop_assert!(off <= ROUND_OFF_VELOCITY, "{off:e} m/s");
        }
    }

    #[test]
    fn particles_in_another_order_move_the_same(draw in draw()) {
        let Some(gpu) = device() else { return Ok(()) };
        let mut reversed = draw.clone();
        reversed.drops.reverse();
        let control = Control::default();
        let [end, other] = [&draw, &reversed].map(|draw| {
            let end = moved(&gpu, &draw.turned(&Matrix3::identity()), GRAVITY, &control);
            vectors(&end.expect("a step").v)
        });
        for (a, b) in end.iter().zip(other.iter().rev()) {
            prop_assert!((a - b).norm() <= ROUND_OFF_VELOCITY, "{:e} m/s", (a - b).norm());
        }
    }

    #[test]
    fn momentum_changes_by_the_impulses_of_gravity_and_loads(
        draw in draw(),
        particle in any::<prop::sample::Index>(),
        force_W in vector(1e-2),
    ) {
        let Some(gpu) = device() else { return Ok(()) };
        let cloud = draw.turned(&Matrix3::identity());
        let load = Load {
            point: MaterialPoint::on_vertex(particle.index(draw.drops.len()) as u32),
            force_W,
            torque_W: Vector3::zeros(),
        };
        let control = Control { loads: vec![load], ..Control::default() };
        let end = moved(&gpu, &cloud, GRAVITY, &control).expect("a step");
        let [before, after] = [&cloud.1, &end].map(|state| cloud.0.energy(state, &GRAVITY).linear_momentum_W);
        let mass = 500.0 * (0.5 * H).powi(3) * draw.drops.len() as f64;
        let off = after - before - (GRAVITY * mass + force_W) * STEP_S;
        prop_assert!(off.norm() <= mass * ROUND_OFF_VELOCITY, "off by {:e} m/s", off.norm() / mass);
    }

    #[test]
    fn a_number_that_is_not_finite_is_an_error_wherever_it_is(
        draw in draw(),
        which in 0..5,
        place in any::<prop::sample::Index>(),
        bad in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ) {
        let Some(gpu) = device() else { return Ok(()) };
        let (model, mut state) = draw.turned(&Matrix3::identity());
        let mut control = model.default_control();
        let values = match which {
            0 => &mut state.q,
            1 => &mut state.v,
            _ => &mut state.history,
        };
        let i = place.index(values.len());
        match which {
            3 => control.held[place.index(3)] = Some(bad),
            4 => control.loads.push(Load {
                point: MaterialPoint::on_vertex(0),
                force_W: Vector3::new(bad, 0.0, 0.0),
                torque_W: Vector3::zeros(),
            }),
            _ => values[i] = bad,
        }
        prop_assert!(moved(&gpu, &(model, state), GRAVITY, &control).is_err());
    }
}

#[test]
fn liquids_of_the_default_form_are_refused_by_name() {
    let Some(gpu) = device() else { return };
    let set = || ParticleSet {
        points: vec![Point3::origin()],
        particle_volume: 1e-6,
    };
    let refusal = |settings: MpmSettings, material: Arc<dyn Material>| {
        let mut builder = MpmBuilder::new(settings);
        builder.object(ObjectSpec::new("pond", material, 1000.0, set()));
        let model = builder.build().expect("a model");
        GpuSubsteps::new(&gpu, &model)
            .err()
            .map(|error| error.to_string())
    };
    let (plain, advected) = (MpmSettings::new(H), on_device(Preset::ShallowWater));
    let error = refusal(plain.clone(), Preset::ShallowWater.material()).expect("a refusal");
    assert!(
        error.contains("\"pond\"") && error.contains("advected"),
        "{error}"
    );
    let error = refusal(plain.clone(), Arc::clone(&advected)).expect("a refusal");
    assert!(error.contains("affine FLIP"), "{error}");
    let apic = MpmSettings {
        transfer: TransferScheme::Apic,
        ..plain
    };
    assert_eq!(refusal(apic, advected), None);
}
