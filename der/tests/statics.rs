//! Rods at rest against the continuum: elastica, own weight, natural helices, catenaries, springs.

#[path = "support/unit_rod.rs"]
mod unit_rod;

use std::f64::consts::TAU;

use nalgebra::{Point3, Vector3};
use pliant_contact_sap::{BodyState, Control, DeformableModel, MaterialPoint};
use pliant_der::{
    Centreline, End, EndCondition, EquilibriumSettings, NaturalShape, NaturalStrain, Rod,
    RodBuilder, RodProperties,
};
use unit_rod::{close, isotropic, level_rod, pull};

fn clamped(edges: usize) -> Rod {
    level_rod(edges, isotropic(0.7))
        .end(End::Start, EndCondition::Clamped { tangent: None })
        .build()
        .unwrap()
}

#[track_caller]
fn at_rest(rod: &Rod, start: &BodyState, gravity: f64, control: &Control) -> BodyState {
    let gravity = Vector3::new(0.0, 0.0, -gravity);
    rod.equilibrium(start, &gravity, control, &EquilibriumSettings::default())
        .unwrap()
        .state
}

/// Position and angle of the tip of a cantilever with a dead tip force b = PL²/EI.
fn elastica(edges: usize, b: f64) -> (f64, f64, f64) {
    let rod = clamped(edges);
    let mut control = rod.default_control();
    control.loads.push(pull(edges, Vector3::new(0.0, 0.0, -b)));
    let state = at_rest(&rod, &rod.default_state(), 0.0, &control);
    let tip = rod.position(&state, edges);
    let along = tip - rod.position(&state, edges - 1);
    (tip.x, -tip.z, (-along.z).atan2(along.x))
}

#[test]
fn a_cantilever_with_a_tip_force_follows_the_elastica() {
    // b, x/L, drop/L, tip angle: boundary value problem of the inextensible elastica, to 1e-6.
    let table = [
        (0.25, 0.995882, 0.082746, 0.124292),
        (0.5, 0.984081, 0.162144, 0.244534),
        (1.0, 0.943567, 0.301721, 0.461352),
        (2.0, 0.839358, 0.493457, 0.781750),
        (5.0, 0.612372, 0.713792, 1.215368),
        (10.0, 0.445004, 0.810609, 1.430286),
    ];
    for (b, x, drop, angle) in table {
        let (found_x, found_drop, found_angle) = elastica(32, b);
        close("x/L", found_x, x, 1e-3);
        close("drop/L", found_drop, drop, 1e-3);
        // Of the last edge, whose middle is 1/64 before the tip, where the curvature ends.
        close("tip angle", found_angle, angle, 2e-3);
    }
}

#[test]
fn the_elastica_is_approached_with_the_square_of_the_edge_length() {
    let errors = [8, 16, 32, 64].map(|n| (elastica(n, 1.0).1 - 0.301721).abs());
    for (error, known) in errors.iter().zip([1.7e-3, 4.0e-4, 1.0e-4, 2.6e-5]) {
        close("error of drop/L", *error, known, 0.1 * known);
    }
}

#[test]
fn a_cantilever_under_its_own_weight_follows_the_master_curve() {
    // G = ρgAL³/EI, W/L, H/L, H/W: boundary value problem, the "cantilever" test of Romero et al. (2021).
    let table = [
        (0.1, 0.012500),
        (1.0, 0.124562),
        (2.0, 0.246673),
        (5.0, 0.585721),
        (10.0, 1.066802),
        (20.0, 1.863930),
        (50.0, 3.705561),
        (100.0, 5.888105),
        (200.0, 8.906771),
        (500.0, 14.768803),
        (1000.0, 21.335440),
    ];
    let rod = clamped(64);
    let mut state = rod.default_state();
    for (g, aspect) in table {
        // Each from the last. The boundary layer L/√G at the clamp is to hold several edges: two at the end of the table.
        state = at_rest(&rod, &state, g, &rod.default_control());
        let tip = rod.position(&state, 64);
        let relative = -tip.z / tip.x / aspect - 1.0;
        let allowed = 6e-4_f64.max(2.6e-5 * g);
        close(&format!("H/W at G = {g}"), relative, 0.0, allowed);
    }
}

#[test]
fn the_master_curve_is_approached_as_the_study_found() {
    for (g, aspect, known) in [
        (1.0, 0.124562, [1.5e-2, 3.8e-3, 9.4e-4, 2.3e-4]),
        (10.0, 1.066802, [1.3e-3, 9e-4, 4e-4, 1.3e-4]),
        (100.0, 5.888105, [2e-3, 1.2e-2, 6.6e-3, 2.3e-3]),
    ] {
        for (edges, known) in [8, 16, 32, 64].into_iter().zip(known) {
            let rod = clamped(edges);
            let state = at_rest(&rod, &rod.default_state(), g, &rod.default_control());
            let tip = rod.position(&state, edges);
            let error = (-tip.z / tip.x / aspect - 1.0).abs();
            close(
                &format!("H/W at G = {g}, N = {edges}"),
                error,
                known,
                0.25 * known,
            );
        }
    }
}

#[test]
fn a_rod_of_constant_natural_curvature_and_twist_relaxes_to_its_helix() {
    let (kappa, omega) = (6.0, 3.0);
    let square = kappa * kappa + omega * omega;
    let (radius, rise) = (kappa / square, omega / f64::sqrt(square));
    for (edges, of_radius, of_rise) in [
        (24, 3.8e-3, -6.3e-3),
        (48, 9.5e-4, -1.6e-3),
        (96, 2.4e-4, -3.9e-4),
    ] {
        let rod = level_rod(edges, isotropic(0.7))
            .natural_shape(NaturalShape::Uniform(NaturalStrain {
                curvature_1: kappa,
                curvature_2: 0.0,
                twist_rate: omega,
            }))
            .build()
            .unwrap();
        let state = at_rest(&rod, &rod.default_state(), 0.0, &Control::default());
        assert!(rod.elastic_energy(&state).unwrap().total() < 1e-20);
        let (found_radius, found_rise) = helix_through(&rod, &state);
        close(
            "radius",
            found_radius / radius - 1.0,
            of_radius,
            0.1 * of_radius,
        );
        close("rise", found_rise / rise - 1.0, of_rise, -0.1 * of_rise);
    }
}

/// Radius of the helix through the nodes of a rod, and its rise for each length of the polygon: second differences of the
/// nodes point to the axis.
fn helix_through(rod: &Rod, state: &BodyState) -> (f64, f64) {
    let n = rod.n_nodes();
    let x: Vec<_> = (0..n).map(|i| rod.position(state, i).coords).collect();
    let bend = |i: usize| x[i + 1] + x[i - 1] - x[i] * 2.0;
    let axis = bend(1).cross(&bend(n / 3)).normalize();
    let rise = (x[n - 1] - x[0]).dot(&axis).abs() / rod.total_rest_length();
    // Bends of nodes on a helix have the length 2R(1 − cos ψ), ψ the turn from node to node.
    let (a, b) = (bend(1), bend(2));
    let turn = (a.dot(&b) / (a.norm() * b.norm())).acos();
    (a.norm() / (2.0 * (1.0 - turn.cos())), rise)
}

#[test]
fn a_hanging_rope_is_a_catenary() {
    // L/D, sag/D, T_min/(wL), T_end/(wL): closed form.
    for (ratio, sag, lowest, highest) in [
        (1.05, 0.139304, 0.875847, 1.008518),
        (1.2, 0.292344, 0.391285, 0.634904),
        (1.5, 0.502633, 0.205491, 0.540580),
        (2.0, 0.796388, 0.114820, 0.513014),
    ] {
        let edges = 80;
        let rope = RodProperties {
            stretch: 1e5,
            bend_1: 1e-5,
            bend_2: 1e-5,
            twist: 1e-5,
            mass: 1.0,
            spin_inertia: 1e-6,
        };
        let span = 1.0 / ratio;
        // Laid out on a shallow arc, then scaled to length 1.
        let line = Centreline::curve(pliant_der::Closure::Open, edges, |u| {
            let depth = f64::sqrt(0.375 * (1.0 - span) * span) * 4.0 * u * (1.0 - u);
            Point3::new(span * u, 0.0, -depth)
        });
        let length: f64 = line.nodes.windows(2).map(|w| (w[1] - w[0]).norm()).sum();
        let rod = RodBuilder::new(line)
            .properties(rope)
            .rest_length_scale(1.0 / length)
            .pin(0)
            .pin(edges)
            .build()
            .unwrap();
        let state = at_rest(&rod, &rod.default_state(), 1.0, &rod.default_control());
        let low = (0..=edges).map(|i| rod.position(&state, i).z);
        let found = -low.fold(0.0, f64::min) / span;
        close("sag", found, sag, 1e-3);
        let stretch = rod.strains(&state).unwrap().stretch;
        close("least tension", stretch[edges / 2] * 1e5, lowest, 1e-3);
        // The tension of the end edge's middle; it grows by w times the height.
        let half = 0.5 * (rod.position(&state, 1).z - rod.position(&state, 0).z).abs();
        close("greatest tension", stretch[0] * 1e5 + half, highest, 1e-3);
    }
}

#[test]
fn a_helical_spring_has_its_axial_flexibility() {
    // The polygon lies within its helix, by (2π/n)²/8 of the radius at the middle of an edge.
    let errors = [24, 48].map(|edges_per_turn| spring_flexibility(edges_per_turn) - 1.0);
    close("flexibility, 24 edges a turn", errors[0], 0.0, 0.02);
    close("ratio of errors", errors[0] / errors[1], 4.0, 0.05);
}

/// Axial flexibility of a helical spring relative to L R² (cos²a/GJ + sin²a/EI).
fn spring_flexibility(edges_per_turn: usize) -> f64 {
    let (radius, pitch_angle, turns) = (0.2_f64, 0.3_f64, 4.0);
    let (bend, twist) = (1.0, 0.7);
    let edges = 4 * edges_per_turn;
    let pitch = TAU * radius * pitch_angle.tan();
    let rod = RodBuilder::new(Centreline::helix(radius, pitch, turns, edges))
        .properties(isotropic(twist))
        .natural_shape(NaturalShape::AsBuilt)
        .end(End::Start, EndCondition::Clamped { tangent: None })
        .frame("end", edges - 1, 1.0)
        .build()
        .unwrap();
    let start = rod.default_state();
    // The force acts on the axis, through a rigid arm on the last edge.
    let end = rod.position(&start, edges);
    let arm = Vector3::new(-end.x, -end.y, 0.0);
    let axes = rod.material_frame(&start, edges - 1).unwrap();
    let arm_in_section = axes.inverse() * arm;
    let force = 1e-4;
    let mut control = rod.default_control();
    control.loads.push(pliant_contact_sap::Load {
        point: MaterialPoint::on_frame(0, arm_in_section),
        force_W: Vector3::new(0.0, 0.0, force),
        torque_W: Vector3::zeros(),
    });
    let state = at_rest(&rod, &start, 0.0, &control);
    let moved = rod.material_frame(&state, edges - 1).unwrap() * arm_in_section;
    let stretched = rod.position(&state, edges).z + moved.z - end.z - arm.z;
    // The half edge at the tip has no joint to yield in.
    let yielding = 1.0 - 0.5 / edges as f64;
    let length = TAU * radius * turns / pitch_angle.cos() * yielding;
    let (sin, cos) = pitch_angle.sin_cos();
    let flexibility = length * radius * radius * (cos * cos / twist + sin * sin / bend);
    stretched / force / flexibility
}
