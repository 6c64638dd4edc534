//! Laws of mechanics that hold for any rod in any motion, on random rods: naturally curved and twisted, stretched, thrown, loaded.

use nalgebra::{Isometry3, Point3, Vector3};
use pliant_contact_sap::conformance::check_body;
use pliant_contact_sap::{
    BodyState, Control, DeformableModel, Load, MaterialPoint, StepInput, TimeStep,
};
use pliant_der::{
    Centreline, Closure, FreeMotionSettings, Material, NaturalShape, NaturalStrain, Rayleigh, Rod,
    RodBuilder, Section, known_answers,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Length of an edge, m, of a step, s, and gravity, m/s².
const EDGE: f64 = 0.05;
const DT: f64 = 2e-3;
const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 32,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

/// What a random rod of up to ten edges is made of.
#[derive(Clone, Debug)]
struct Draw {
    /// By how much the direction of each edge differs from that of the edge before.
    bends: Vec<Vector3<f64>>,
    /// Curvatures and twist rate at each node, 1/m.
    natural: Vec<[f64; 3]>,
    section: Section,
    youngs_modulus: f64,
    rest_length_scale: f64,
    /// Of each node (m/s) and of the angle of each edge (rad/s).
    velocities: Vec<Vector3<f64>>,
    spins: Vec<f64>,
    /// Angles by which edges are twisted, rad.
    angles: Vec<f64>,
}

fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

fn section() -> impl Strategy<Value = Section> {
    let size = 2e-3..6e-3;
    (0..3, size.clone(), size).prop_map(|(kind, a, b)| match kind {
        0 => Section::Circle { radius: a },
        1 => Section::Ellipse {
            semi_axis_1: a,
            semi_axis_2: b,
        },
        _ => Section::Rectangle {
            extent_1: 2.0 * a,
            extent_2: 2.0 * b,
        },
    })
}

fn draw() -> impl Strategy<Value = Draw> {
    (3..=10_usize).prop_flat_map(|n| {
        let form = (
            prop::collection::vec(vector(0.4), n),
            prop::collection::vec(prop::array::uniform3(-6.0..6.0), n + 1),
            section(),
            (5.0..7.0_f64).prop_map(|exponent| 10_f64.powf(exponent)),
            0.97..1.03,
        );
        let motion = (
            prop::collection::vec(vector(0.5), n + 1),
            prop::collection::vec(-3.0..3.0, n),
            prop::collection::vec(-0.1..0.1, n),
        );
        (form, motion).prop_map(|(form, motion)| Draw {
            bends: form.0,
            natural: form.1,
            section: form.2,
            youngs_modulus: form.3,
            rest_length_scale: form.4,
            velocities: motion.0,
            spins: motion.1,
            angles: motion.2,
        })
    })
}

/// A pose of the whole world.
fn pose() -> impl Strategy<Value = Isometry3<f64>> {
    (vector(2.0), vector(2.0)).prop_map(|(p, turn)| Isometry3::new(p, turn))
}

impl Draw {
    fn line(&self) -> Centreline {
        let mut direction = Vector3::x();
        let mut nodes = vec![Point3::new(0.1, -0.2, 0.3)];
        for bend in &self.bends {
            direction = (direction + bend).normalize();
            nodes.push(nodes[nodes.len() - 1] + direction * (EDGE * (1.0 + bend.x)));
        }
        Centreline {
            nodes,
            closure: Closure::Open,
        }
    }

    fn natural(&self) -> Vec<NaturalStrain> {
        let strains = self.natural.iter().map(|k| NaturalStrain {
            curvature_1: k[0],
            curvature_2: k[1],
            twist_rate: k[2],
        });
        strains.collect()
    }

    fn builder(&self, line: Centreline) -> RodBuilder {
        let material = Material::isotropic(self.youngs_modulus, 0.4, 1000.0).unwrap();
        RodBuilder::new(line)
            .section(self.section, material)
            .natural_shape(NaturalShape::PerNode(self.natural()))
            .rest_length_scale(self.rest_length_scale)
            .damping(Rayleigh {
                mass: 0.0,
                stiffness: 1e-3,
            })
            // To round-off, so that two ways to the same solution agree to it.
            .free_motion(FreeMotionSettings {
                relative_tolerance: 1e-10,
                ..FreeMotionSettings::default()
            })
    }

    /// A director across the first edge.
    fn director(&self) -> Vector3<f64> {
        (Vector3::x() + self.bends[0])
            .cross(&Vector3::z())
            .normalize()
    }

    fn rod(&self) -> Rod {
        let builder = self.builder(self.line()).director(self.director());
        builder.build().unwrap()
    }

    /// Thrown and twisted, everything turned as in `X_WR`.
    fn state(&self, rod: &Rod, X_WR: &Isometry3<f64>) -> BodyState {
        let mut state = rod.default_state();
        for (node, v) in self.velocities.iter().enumerate() {
            let dofs = rod.node_dofs(node).unwrap();
            state.v[dofs].copy_from_slice((X_WR * v).as_slice());
        }
        for edge in 0..rod.n_edges() {
            let dof = rod.angle_dof(edge).unwrap();
            state.q[dof] += self.angles[edge];
            state.v[dof] = self.spins[edge];
        }
        state
    }
}

fn fly(rod: &Rod, start: &BodyState, gravity: Vector3<f64>, steps: usize) -> BodyState {
    let none = |_: &BodyState, _| Control::default();
    known_answers::advance_freely(rod, start, TimeStep::from(DT), gravity, steps, none).unwrap()
}

fn positions(rod: &Rod, state: &BodyState) -> Vec<Point3<f64>> {
    (0..rod.n_nodes())
        .map(|node| rod.position(state, node))
        .collect()
}

#[track_caller]
fn same_places(found: &[Point3<f64>], expected: &[Point3<f64>], tolerance: f64) {
    for (node, (a, b)) in found.iter().zip(expected).enumerate() {
        let off = (a - b).norm();
        assert!(
            off <= tolerance,
            "node {node} is {off:e} m off: {a} for {b}"
        );
    }
}

/// Coordinates of metres have a round-off of 4e-16 m, which a step of a stiff rod makes a velocity of 2e-13 m/s. Five steps add less than a
/// thousand times as much.
const ROUND_OFF: f64 = 1e-12;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_rotated_world_has_the_rotated_motion(draw in draw(), X_WR in pose()) {
        let here = draw.rod();
        let line = draw.line().transformed(&X_WR);
        let there = draw.builder(line).director(X_WR * draw.director()).build().unwrap();
        let end = fly(&here, &draw.state(&here, &Isometry3::identity()), GRAVITY, 5);
        let turned = fly(&there, &draw.state(&there, &X_WR), X_WR * GRAVITY, 5);
        let expected: Vec<_> = positions(&here, &end).iter().map(|p| X_WR * p).collect();
        same_places(&positions(&there, &turned), &expected, ROUND_OFF);
        for edge in 0..here.n_edges() {
            let found = there.material_frame(&turned, edge).unwrap();
            let expected = X_WR.rotation.to_rotation_matrix() * here.material_frame(&end, edge).unwrap();
            // Angles are positions over the length of an edge.
            let off = (found.matrix() - expected.matrix()).norm();
            prop_assert!(off <= ROUND_OFF / EDGE, "the frame of edge {edge} is {off:e} off");
        }
    }

    #[test]
    fn elastic_forces_have_neither_a_resultant_nor_a_moment(draw in draw()) {
        let rod = draw.rod();
        let state = fly(&rod, &draw.state(&rod, &Isometry3::identity()), GRAVITY, 3);
        let gradient = rod.energy_gradient(&state).unwrap();
        let places = positions(&rod, &state);
        let (mut force, mut moment, mut size) = (Vector3::zeros(), Vector3::zeros(), 0.0);
        for (node, p) in places.iter().enumerate() {
            let own = Vector3::from_column_slice(&gradient[rod.node_dofs(node).unwrap()]);
            force += own;
            moment += p.coords.cross(&own);
            size += own.norm();
        }
        for (edge, ends) in places.windows(2).enumerate() {
            moment += (ends[1] - ends[0]).normalize() * gradient[rod.angle_dof(edge).unwrap()];
        }
        // Strains have the round-off of a coordinate over an edge, and the stiffest answer is EA of it.
        let stretch = draw.youngs_modulus * draw.section.area();
        let tolerance = 10.0 * f64::EPSILON * (size + stretch / EDGE);
        prop_assert!(force.norm() <= tolerance, "{force}, of {size}");
        prop_assert!(moment.norm() <= tolerance, "{moment}, of {size}");
    }

    #[test]
    fn momentum_changes_by_the_impulses_of_gravity_and_loads(
        draw in draw(),
        forces in prop::collection::vec((0..11_usize, vector(0.1)), 0..4),
    ) {
        let rod = draw.rod();
        let start = draw.state(&rod, &Isometry3::identity());
        let load = |(node, force_W): &(usize, Vector3<f64>)| Load {
            point: MaterialPoint::on_vertex((node % rod.n_nodes()) as u32),
            force_W: *force_W,
            torque_W: Vector3::zeros(),
        };
        let control = Control { loads: forces.iter().map(load).collect(), ..Control::default() };
        let end = known_answers::advance_freely(&rod, &start, DT.into(), GRAVITY, 3, |_, _| control.clone());
        let [before, after] = [&start, &end.unwrap()].map(|state| rod.energy(state, &GRAVITY).linear_momentum_W);
        let force = GRAVITY * rod.total_mass() + forces.iter().map(|(_, f)| f).sum::<Vector3<f64>>();
        let off = (after - before - force * (3.0 * DT)).norm();
        // The sum of residuals: the free motion is solved to 1e-10 of its forces, which the stiffest strain rates bound.
        let stretch = draw.youngs_modulus * draw.section.area();
        prop_assert!(off <= 1e-10 * DT * (force.norm() + stretch), "off by {off:e} N s");
    }

    /// Backward Euler loses energy where the elastic energy is convex along a step, as it is from the shape without stress.
    #[test]
    fn a_rod_thrown_from_its_natural_shape_gains_no_energy(draw in draw()) {
        let natural = draw.builder(draw.line()).director(draw.director()).natural_shape(NaturalShape::AsBuilt);
        let rod = natural.rest_length_scale(1.0).build().unwrap();
        let mut state = draw.state(&rod, &Isometry3::identity());
        state.q = rod.default_state().q;
        let total = |state: &BodyState| {
            let energy = rod.energy(state, &GRAVITY);
            energy.kinetic + energy.potential
        };
        let start = total(&state);
        let kinetic = rod.energy(&state, &GRAVITY).kinetic;
        let end = total(&fly(&rod, &state, GRAVITY, 1));
        prop_assert!(end <= start + 1e-9 * kinetic, "{start} J became {end} J");
    }

    #[test]
    fn a_rod_numbered_from_its_other_end_moves_the_same(draw in draw()) {
        let (forth, mut mirrored) = (draw.rod(), draw.clone());
        let start = draw.state(&forth, &Isometry3::identity());
        // Tangents and m2 = t × m1 are reversed: curvature about m1 and angles change their signs, curvature about m2 and twist do not.
        mirrored.natural.iter_mut().for_each(|k| k[1] = -k[1]);
        mirrored.spins.iter_mut().chain(&mut mirrored.angles).for_each(|angle| *angle = -*angle);
        mirrored.natural.reverse();
        mirrored.velocities.reverse();
        mirrored.spins.reverse();
        mirrored.angles.reverse();
        let frames = forth.material_frames(&forth.default_state()).unwrap();
        let directors = frames.iter().rev().map(|frame| frame * Vector3::x()).collect();
        let mut line = draw.line();
        line.nodes.reverse();
        let back = mirrored.builder(line).directors(directors).build().unwrap();
        let mut found = positions(&back, &fly(&back, &mirrored.state(&back, &Isometry3::identity()), GRAVITY, 5));
        found.reverse();
        same_places(&found, &positions(&forth, &fly(&forth, &start, GRAVITY, 5)), ROUND_OFF);
    }

    /// In units in which lengths have λ times their value, masses λ³ times and times the same, E ~ M/(L T²) has λ² times its value. Powers
    /// of two make all of this exact, so that only a hidden length could change a bit.
    #[test]
    fn the_unit_of_length_changes_no_bit(draw in draw(), power in prop::sample::select(vec![-3, 4])) {
        let scale = 2_f64.powi(power);
        let small = draw.rod();
        let mut scaled = draw.clone();
        scaled.youngs_modulus *= scale * scale;
        scaled.section = match draw.section {
            Section::Circle { radius } => Section::Circle { radius: scale * radius },
            Section::Ellipse { semi_axis_1: a, semi_axis_2: b } =>
                Section::Ellipse { semi_axis_1: scale * a, semi_axis_2: scale * b },
            Section::Rectangle { extent_1: a, extent_2: b } =>
                Section::Rectangle { extent_1: scale * a, extent_2: scale * b },
        };
        scaled.natural.iter_mut().flatten().for_each(|k| *k /= scale);
        scaled.velocities.iter_mut().for_each(|v| *v *= scale);
        let mut line = draw.line();
        line.nodes.iter_mut().for_each(|p| *p *= scale);
        let large = scaled.builder(line).director(draw.director()).build().unwrap();
        let end = fly(&small, &draw.state(&small, &Isometry3::identity()), GRAVITY, 3);
        let other = fly(&large, &scaled.state(&large, &Isometry3::identity()), GRAVITY * scale, 3);
        for (found, expected) in positions(&large, &other).iter().zip(positions(&small, &end)) {
            prop_assert_eq!(*found, expected * scale);
        }
    }

    #[test]
    fn every_rod_conforms_in_any_motion(draw in draw(), softening in 0.0..1.0) {
        // A step resolves the motion of a soft rod.
        let soft = Draw { youngs_modulus: 1e4 * 10_f64.powf(softening), ..draw };
        let rod = soft.rod();
        let control = Control::default();
        let input = StepInput::new(1e-3, GRAVITY, &control);
        let checked = check_body(&rod, &soft.state(&rod, &Isometry3::identity()), &input);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }

    #[test]
    fn a_number_that_is_not_finite_or_missing_is_an_error_wherever_it_is(
        draw in draw(),
        which in 0..4,
        place in any::<prop::sample::Index>(),
        bad in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
        missing in any::<bool>(),
    ) {
        let rod = draw.rod();
        let mut state = draw.state(&rod, &Isometry3::identity());
        let mut control = Control { effort: vec![0.0; rod.n_dofs()], ..Control::default() };
        let values = match which {
            0 => &mut state.q,
            1 => &mut state.v,
            2 => &mut state.history,
            _ => &mut control.effort,
        };
        let i = place.index(values.len());
        if missing {
            values.remove(i);
        } else {
            values[i] = bad;
        }
        prop_assert!(rod.check_state(&state, &control).is_err());
    }
}
