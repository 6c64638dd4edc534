//! Laws of mechanics that hold for any mesh, law and motion, on random soft bodies: irregular, deformed, turned, thrown, loaded.

use crate::support::{Alone, GRAVITY, UNDAMPED, built};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use pliant_constitutive::Lame;
use pliant_contact_sap::conformance::check_body;
use pliant_contact_sap::{
    BodyState, BodyStep, Control, DeformableModel, Interpolation, Load, MaterialPoint, Primitive,
    Rows, StepInput,
};
use pliant_fem::{Element, FemBody, FemBuilder, LawKind, MassKind, Rotation};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{TetIdx, TetMesh, TetOptions};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Side of a cell of the mesh, m, and length of a step, s.
const CELL: f64 = 0.02;
const DT: f64 = 2e-3;

/// Of a quadratic body of two cells each way, the largest that is drawn.
const N_NODES: usize = 125;

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 32,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

/// What a random body is made of.
#[derive(Clone, Debug)]
struct Draw {
    element: Element,
    cells: [u32; 3],
    law: LawKind,
    mass: MassKind,
    youngs_modulus: f64,
    poissons_ratio: f64,
    /// Of the body as a whole.
    pose: Isometry3<f64>,
    velocity: Vector3<f64>,
    omega: Vector3<f64>,
    /// Of each vertex: of its place at rest and of its displacement in shares of a cell, and of its velocity, m/s.
    noise: Vec<[f64; 9]>,
}

fn vector(size: f64) -> impl Strategy<Value = Vector3<f64>> {
    prop::array::uniform3(-size..size).prop_map(Vector3::from)
}

fn pose() -> impl Strategy<Value = Isometry3<f64>> {
    (vector(1.0), vector(2.0)).prop_map(|(p, turn)| Isometry3::new(p, turn))
}

fn draw(laws: &'static [LawKind]) -> impl Strategy<Value = Draw> {
    let elements = vec![Element::Linear, Element::Smoothed, Element::Quadratic];
    let form = (
        prop::sample::select(elements),
        prop::array::uniform3(1..=2_u32),
        prop::sample::select(laws),
        prop::sample::select(vec![MassKind::Lumped, MassKind::Consistent]),
        (4.0..6.0_f64).prop_map(|exponent| 10_f64.powf(exponent)),
        0.0..0.45,
    );
    let motion = (
        pose(),
        vector(1.0),
        vector(5.0),
        prop::collection::vec(prop::array::uniform9(-0.12..0.12), N_NODES),
    );
    (form, motion).prop_map(|(form, motion)| Draw {
        element: form.0,
        cells: form.1,
        law: form.2,
        mass: form.3,
        youngs_modulus: form.4,
        poissons_ratio: form.5,
        pose: motion.0,
        velocity: motion.1,
        omega: motion.2,
        noise: motion.3,
    })
}

/// Laws whose energy does not change when the body is turned.
const OBJECTIVE: &[LawKind] = &[
    LawKind::LinearCorotated,
    LawKind::Corotational,
    LawKind::StableNeoHookean,
    LawKind::NeoHookean,
    LawKind::StVenantKirchhoff,
];

/// Laws whose forces are the gradient of one energy throughout a step.
const HYPERELASTIC: &[LawKind] = OBJECTIVE.split_at(1).1;

impl Draw {
    /// Vertices and tetrahedra of a block whose vertices lie off their grid.
    fn mesh(&self) -> (Vec<Vector3<f64>>, Vec<[u32; 4]>) {
        let size = Vector3::from(self.cells).map(|n| 0.5 * CELL * f64::from(n));
        let regular = tet_cuboid(size, self.cells).unwrap();
        let vertices = regular.vertices().iter().zip(&self.noise);
        let moved = vertices.map(|(p, noise)| p + Vector3::from_column_slice(&noise[..3]) * CELL);
        let tets = regular.tets().iter().map(|tet| tet.map(|vertex| vertex.0));
        (moved.collect(), tets.collect())
    }

    fn builder(&self, vertices: Vec<Vector3<f64>>, tets: Vec<[u32; 4]>) -> FemBuilder {
        let (mesh, _) = TetMesh::build(vertices, tets, &TetOptions::default()).unwrap();
        let lame = Lame::from_young_poisson(self.youngs_modulus, self.poissons_ratio).unwrap();
        FemBuilder::new(mesh, self.law.of(lame).unwrap(), 1000.0)
            .element(self.element)
            .damping(UNDAMPED)
            .mass(self.mass)
    }

    fn body(&self) -> FemBody {
        let (vertices, tets) = self.mesh();
        built(self.builder(vertices, tets))
    }

    /// Half the distance of vertices, m.
    fn between_nodes(&self) -> f64 {
        match self.element {
            Element::Linear | Element::Smoothed => 0.5 * CELL,
            Element::Quadratic => 0.25 * CELL,
        }
    }

    /// Displaced and thrown, everything turned as in `X_WR`.
    fn state(&self, body: &FemBody, X_WR: &Isometry3<f64>) -> BodyState {
        let mut state = body.rigid_state(&self.pose, &self.omega, &self.velocity);
        for (vertex, noise) in (0..body.mesh().vertices().len()).zip(&self.noise) {
            let q = &mut state.q[3 * vertex..3 * vertex + 3];
            let p = Vector3::from_column_slice(q)
                + Vector3::from_column_slice(&noise[3..6]) * self.between_nodes();
            q.copy_from_slice((X_WR * Point3::from(p)).coords.as_slice());
            let v = &mut state.v[3 * vertex..3 * vertex + 3];
            let velocity = Vector3::from_column_slice(v) + Vector3::from_column_slice(&noise[6..]);
            v.copy_from_slice((X_WR * velocity).as_slice());
        }
        state
    }
}

fn vectors(values: &[f64]) -> Vec<Vector3<f64>> {
    values
        .chunks_exact(3)
        .map(Vector3::from_column_slice)
        .collect()
}

fn begun(
    body: &FemBody,
    state: &BodyState,
    gravity: Vector3<f64>,
    control: &Control,
) -> Box<dyn BodyStep> {
    let mut step = body.new_step();
    step.begin(state, &StepInput::new(DT, gravity, control))
        .unwrap();
    step
}

fn residual(step: &dyn BodyStep, v: &[f64]) -> Vec<Vector3<f64>> {
    let mut m = vec![0.0; v.len()];
    step.as_balance().unwrap().residual(v, &mut m).unwrap();
    vectors(&m)
}

#[track_caller]
fn same(found: &[f64], expected: &[Vector3<f64>], tolerance: f64) {
    for (vertex, (a, b)) in vectors(found).iter().zip(expected).enumerate() {
        let off = (a - b).norm();
        assert!(
            off <= tolerance,
            "vertex {vertex} is off by {off:e}: {a} for {b}"
        );
    }
}

/// Coordinates of metres have a round-off of 4e-16 m, which a step of a stiff body makes a velocity of 2e-13 m/s. Three steps of a body of
/// two cells add less than a thousand times as much.
const ROUND_OFF_VELOCITY: f64 = 2e-10;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_rotated_world_has_the_rotated_motion(draw in draw(OBJECTIVE), X_WR in pose()) {
        let body = draw.body();
        let [mut here, mut there] = [Isometry3::identity(), X_WR].map(|X| draw.state(&body, &X));
        Alone::new(&body, DT).under(GRAVITY).steps(&mut here, 3);
        Alone::new(&body, DT).under(X_WR * GRAVITY).steps(&mut there, 3);
        let expected: Vec<_> = vectors(&here.v).iter().map(|v| X_WR * v).collect();
        same(&there.v, &expected, ROUND_OFF_VELOCITY);
        let expected: Vec<_> = vectors(&here.q).iter().map(|q| (X_WR * Point3::from(*q)).coords).collect();
        same(&there.q, &expected, ROUND_OFF_VELOCITY * DT + 1e-15);
    }

    #[test]
    fn vertices_and_tetrahedra_in_another_order_move_the_same(
        draw in draw(&LawKind::ALL),
        order in Just((0..27).collect::<Vec<usize>>()).prop_shuffle(),
        turned in 0..3_usize,
    ) {
        // The patches of smoothed elements depend on the order.
        let element = if draw.element == Element::Smoothed { Element::Linear } else { draw.element };
        let draw = Draw { element, ..draw };
        let body = draw.body();
        let (vertices, tets) = draw.mesh();
        let order: Vec<usize> = order.into_iter().filter(|i| *i < vertices.len()).collect();
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, old)| place[*old] = new as u32);
        let shuffled = order.iter().map(|old| vertices[*old]).collect();
        // Even permutations of the corners keep the volume positive.
        let mut renumbered: Vec<_> = tets.iter().rev().map(|tet| tet.map(|old| place[old as usize])).collect();
        renumbered.iter_mut().for_each(|tet| tet[..3].rotate_left(turned));
        let other = built(draw.builder(shuffled, renumbered));
        let mut here = draw.state(&body, &Isometry3::identity());
        let nearest = |p: &Vector3<f64>| {
            let nodes = body.mesh().vertices().iter().enumerate();
            let nearest = nodes.min_by(|a, b| (a.1 - p).norm().total_cmp(&(b.1 - p).norm()));
            nearest.expect("a body has nodes").0
        };
        let order: Vec<usize> = other.mesh().vertices().iter().map(nearest).collect();
        let of = |values: &[f64]| -> Vec<f64> { order.iter().flat_map(|i| values[3 * i..3 * i + 3].to_vec()).collect() };
        let mut there = BodyState::new(of(&here.q), of(&here.v));
        Alone::new(&body, DT).under(GRAVITY).steps(&mut here, 3);
        Alone::new(&other, DT).under(GRAVITY).steps(&mut there, 3);
        same(&there.v, &vectors(&of(&here.v)), ROUND_OFF_VELOCITY);
    }

    #[test]
    fn momenta_change_by_the_impulses_of_gravity_and_loads(
        draw in draw(OBJECTIVE),
        forces in prop::collection::vec((0..27_u32, vector(0.1)), 0..4),
    ) {
        let body = draw.body();
        let n = body.mesh().vertices().len() as u32;
        let on = |vertex: u32| MaterialPoint::on_vertex(vertex % n);
        let load = |(at, f): &(u32, Vector3<f64>)| Load { point: on(*at), force_W: *f, torque_W: Vector3::zeros() };
        let control = Control { loads: forces.iter().map(load).collect(), ..Control::default() };
        let changes = |mut state: BodyState, control| {
            let before = body.energy(&state, &GRAVITY);
            Alone::new(&body, DT).under(GRAVITY).driven(control).step(&mut state);
            let after = body.energy(&state, &GRAVITY);
            let linear = after.linear_momentum_W - before.linear_momentum_W;
            (linear, after.angular_momentum_W - before.angular_momentum_W)
        };
        let weight = GRAVITY * body.mass();
        let force = weight + forces.iter().map(|(_, f)| f).sum::<Vector3<f64>>();
        let (linear, _) = changes(draw.state(&body, &Isometry3::identity()), control);
        // The mass times the velocities of round-off.
        let tolerance = body.mass() * ROUND_OFF_VELOCITY;
        prop_assert!((linear - force * DT).norm() <= tolerance, "{linear} N s");
        // What a step that deforms a body lacks in angular momentum is restored up to twice what a rotation loses: all of it, in a rotation.
        let spinning = body.rigid_state(&draw.pose, &draw.omega, &draw.velocity);
        let places = body.vertex_masses().iter().zip(vectors(&spinning.q));
        let moment: Vector3<f64> = places.map(|(mass, q)| q.cross(&GRAVITY) * *mass).sum();
        let (_, angular) = changes(spinning, Control::default());
        // At arms of up to 2 m.
        prop_assert!((angular - moment * DT).norm() <= 2.0 * tolerance, "{angular} N m s for {}", moment * DT);
    }

    #[test]
    fn internal_forces_have_neither_a_resultant_nor_a_moment(draw in draw(HYPERELASTIC)) {
        let body = draw.body();
        let state = draw.state(&body, &Isometry3::identity());
        let step = begun(&body, &state, Vector3::zeros(), &Control::default());
        // At the velocities of the start m is δt times the internal force, at the places after the step.
        let internal = residual(step.as_ref(), &state.v);
        let ends = vectors(&state.q).into_iter().zip(vectors(&state.v)).map(|(q, v)| q + v * DT);
        let (mut force, mut moment, mut size) = (Vector3::zeros(), Vector3::zeros(), 0.0);
        for (q, p) in ends.zip(&internal) {
            force += p;
            moment += q.cross(p);
            size += p.norm();
        }
        // The round-off of a coordinate of 1 m over a cell is the round-off of a strain.
        let stiffness = DT * draw.youngs_modulus / (1.0 - 2.0 * draw.poissons_ratio) * CELL * CELL;
        let tolerance = 100.0 * f64::EPSILON * (size + stiffness / CELL);
        prop_assert!(force.norm() <= tolerance, "{force}, of {size}");
        prop_assert!(moment.norm() <= tolerance, "{moment}, of {size}");
    }

    /// What makes a linearly implicit step stable, at any deformation: stiffness, projected where it is not, takes no energy from a change of
    /// velocity.
    #[test]
    fn a_is_symmetric_and_no_softer_than_the_mass(
        draw in draw(&LawKind::ALL),
        x in prop::collection::vec(-1.0..1.0, 3 * N_NODES),
        y in prop::collection::vec(-1.0..1.0, 3 * N_NODES),
        stretch in vector(0.5),
    ) {
        let body = draw.body();
        let mut state = draw.state(&body, &Isometry3::identity());
        // About 0.5 m, without inversion.
        state.q.iter_mut().enumerate().for_each(|(i, q)| *q *= 1.0 + stretch[i % 3]);
        let control = Control::default();
        let mut step = begun(&body, &state, GRAVITY, &control);
        let v = step.start_velocity().to_vec();
        step.linearise(&v).unwrap();
        let (x, y) = (&x[..v.len()], &y[..v.len()]);
        let product = |x: &[f64]| {
            let mut ax = vec![0.0; x.len()];
            step.dynamics().apply(x, &mut ax);
            ax
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (ax, ay) = (product(x), product(y));
        let size = ax.iter().chain(&ay).map(|a| a.abs()).sum::<f64>();
        let round_off = 100.0 * f64::EPSILON * size;
        prop_assert!((dot(y, &ax) - dot(x, &ay)).abs() <= round_off);
        let moving = BodyState { v: x.to_vec(), ..state };
        let mass = 2.0 * body.energy(&moving, &Vector3::zeros()).kinetic;
        prop_assert!(dot(x, &ax) >= mass - round_off, "{} < {mass}", dot(x, &ax));
    }

    #[test]
    fn affine_motions_have_their_gradient_volume_and_stress_in_every_element(
        draw in draw(&LawKind::ALL),
        part in prop::array::uniform9(-0.3..0.3_f64),
        shift in vector(1.0),
    ) {
        let body = draw.body();
        let F = Matrix3::identity() + Matrix3::from_column_slice(&part);
        prop_assume!(F.determinant() > 0.1);
        let rest = body.default_state();
        let moved = vectors(&rest.q).into_iter().flat_map(|p| (F * p + shift).data.0[0]);
        let state = BodyState::new(moved.collect(), rest.v.clone());
        let first = body.cauchy_stress(&state, TetIdx(0));
        // The round-off of a coordinate of 1 m over a cell.
        let tolerance = 100.0 * f64::EPSILON / CELL;
        for tet in (0..body.mesh().tets().len() as u32).map(TetIdx) {
            let found = body.deformation_gradient(&state, tet);
            prop_assert!((found - F).norm() <= tolerance, "{found} for {F}");
            let stress = body.cauchy_stress(&state, tet);
            let size = draw.youngs_modulus / (1.0 - 2.0 * draw.poissons_ratio) / F.determinant().powi(2);
            prop_assert!((stress - first).norm() <= 100.0 * tolerance * size, "{stress} for {first}");
        }
        let ratio = body.volume(&state) / body.volume(&rest);
        prop_assert!((ratio - F.determinant()).abs() <= 10.0 * tolerance, "{ratio}");
    }

    /// The forces of a load on vertices are the transpose of the interpolation of its point's velocity.
    #[test]
    fn a_load_does_the_work_of_its_force_at_the_velocity_of_its_point(
        draw in draw(&LawKind::ALL),
        shares in prop::array::uniform4(0.0..1.0_f64),
        at in any::<prop::sample::Index>(),
        force_W in vector(1.0),
    ) {
        let body = draw.body();
        let state = draw.state(&body, &Isometry3::identity());
        let primitive = Primitive::Tetrahedron(at.index(body.mesh().tets().len()) as u32);
        let weights = shares.map(|share| share / shares.iter().sum::<f64>());
        let point = MaterialPoint { primitive, weights, offset: Vector3::zeros() };
        let load = Load { point, force_W, torque_W: Vector3::zeros() };
        let (none, loaded) = (Control::default(), Control { loads: vec![load], ..Control::default() });
        let step = begun(&body, &state, Vector3::zeros(), &none);
        let without = residual(step.as_ref(), &state.v);
        let with = residual(begun(&body, &state, Vector3::zeros(), &loaded).as_ref(), &state.v);
        let each = without.iter().zip(&with).zip(vectors(&state.v));
        let work: f64 = each.map(|((a, b), v)| (a - b).dot(&v)).sum();
        let (mut phi, mut rows) = (Interpolation::Twist, Rows::default());
        let basis = step.interpolation(&point, &mut phi).unwrap();
        step.basis(basis, &Point3::origin(), &mut rows);
        let mut u = vec![0.0; rows.n_rows()];
        rows.apply(&state.v, &mut u);
        let Interpolation::Weights(weights) = phi else { panic!("a tetrahedron has weights") };
        let velocity: Vector3<f64> = vectors(&u).iter().zip(&weights).map(|(v, w)| v * *w).sum();
        // The difference of two momenta.
        let size: f64 = without.iter().chain(&with).map(|m| m.norm()).sum();
        let expected = DT * force_W.dot(&velocity);
        prop_assert!((work - expected).abs() <= 100.0 * f64::EPSILON * size, "{work} J for {expected} J");
    }

    #[test]
    fn every_body_conforms_in_any_motion(draw in draw(&LawKind::ALL), rotation in any::<bool>()) {
        let rotation = if rotation { Rotation::Followed } else { Rotation::Lagged };
        let (vertices, tets) = draw.mesh();
        // A step resolves the motion of a soft body.
        let soft = Draw { youngs_modulus: 1e4, ..draw };
        let body = built(soft.builder(vertices, tets).rotation(rotation));
        let control = Control::default();
        let input = StepInput::new(1e-3, GRAVITY, &control);
        let checked = check_body(&body, &soft.state(&body, &Isometry3::identity()), &input);
        prop_assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }

    #[test]
    fn a_number_that_is_not_finite_or_missing_is_an_error_wherever_it_is(
        draw in draw(&LawKind::ALL),
        which in 0..4,
        place in any::<prop::sample::Index>(),
        bad in prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
        missing in any::<bool>(),
    ) {
        let body = draw.body();
        let mut state = draw.state(&body, &Isometry3::identity());
        let n = state.q.len();
        let i = place.index(n);
        let mut control = Control { effort: vec![0.0; n], held: vec![None; n], ..Control::default() };
        match (which, missing) {
            (0, true) => drop(state.q.remove(i)),
            (1, true) => drop(state.v.remove(i)),
            (2, true) => drop(control.effort.remove(i)),
            (_, true) => drop(control.held.remove(i)),
            (0, false) => state.q[i] = bad,
            (1, false) => state.v[i] = bad,
            (2, false) => control.effort[i] = bad,
            (_, false) => control.held[i] = Some(bad),
        }
        prop_assert!(body.check_state(&state, &control).is_err());
    }
}
