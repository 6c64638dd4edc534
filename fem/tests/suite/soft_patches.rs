//! Patches of soft surfaces: their area, pressure and force in reports, and as polygons to be drawn.

use crate::support::touching::{Touch, add_floor, add_soft, center, cube, run, surface};
use crate::support::{GRAVITY, built, corotated};
use nalgebra::{Isometry3, Vector3};
use pliant_coupling::{
    BodyIdx, Exclusion, Geometry, GeometryIdx, Mount, PatchFinder, State, StepReport, Stiction,
    WorldBuilder,
};
use pliant_coupling::{ContactSettings, World};
use pliant_fem::FemBuilder;
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::{Compliance, PatchGeometry, Shape};

const WEIGHT: f64 = 9.81;

/// Compares the report of the last step with the polygons at its initial state.
#[track_caller]
fn check_patch(
    world: &World,
    state: &mut State,
    (a, b): (GeometryIdx, GeometryIdx),
    area: f64,
    load: f64,
) {
    let before = state.clone();
    let mut last = StepReport::default();
    run(world, state, 0.01, 0.01, |report, _| last = report.clone());
    let pair = last.pair(a, b).expect("they touch");
    let mut finder = PatchFinder::default();
    let patches = finder.find(world, &before).unwrap();
    let drawn: Vec<_> = patches.iter().filter(|p| (p.a, p.b) == (a, b)).collect();
    assert_eq!(drawn.len(), 1);
    let patch = &drawn[0].patch;
    let sum = patch.summary();
    eprintln!(
        "area {:.6e} m², drawn {:.6e}; highest pressure {:.1} Pa, drawn {:.1}; force {:.5} N, drawn {:.5}",
        pair.patch_area(),
        sum.area,
        pair.pressure_max(),
        sum.pressure_max,
        pair.force_on_a().norm(),
        sum.force_W.norm()
    );
    // It bulges a little, and its sides are in the field of a compliant box.
    assert!(
        (pair.patch_area() / area - 1.0).abs() < 0.05,
        "{}",
        pair.patch_area()
    );
    // Points have parts of triangles that a polygon cuts.
    assert!((sum.area / pair.patch_area() - 1.0).abs() < 0.05);
    // Polygons do not include friction.
    assert!((sum.force_W.norm() / load - 1.0).abs() < 0.02);
    assert!((pair.force_on_a().norm() / load - 1.0).abs() < 0.01);
    assert!(sum.pressure_max >= load / area && pair.pressure_max() >= 0.99 * load / area);
    // Corners are at least as deep as interior points.
    assert!(pair.pressure_max() <= sum.pressure_max * (1.0 + 1e-9));
    for polygon in patch.polygons() {
        let corners = patch.vertices_W(polygon);
        let turn: f64 = (1..corners.len() - 1)
            .map(|k| (corners[k] - corners[0]).cross(&(corners[k + 1] - corners[0])))
            .sum::<Vector3<f64>>()
            .dot(&polygon.normal_W);
        assert!(turn > -1e-15, "counter-clockwise about the normal: {turn}");
        assert!(patch.pressures(polygon).iter().all(|p| *p >= 0.0));
    }
}

#[test]
fn the_patch_of_a_cube_on_a_floor_is_its_lower_face() {
    let mut builder = WorldBuilder::default();
    // On either side of the pair.
    let body = cube(1e5, Isometry3::translation(0.0, 0.0, 0.05));
    let (_, first) = add_soft(&mut builder, "first", body, surface(0.5), Touch::Surface);
    let floor = add_floor(&mut builder, surface(0.5));
    let body = cube(1e5, Isometry3::translation(0.5, 0.0, 0.05));
    let (_, second) = add_soft(&mut builder, "second", body, surface(0.5), Touch::Surface);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 0.01, 1.5, |_, _| {});
    check_patch(&world, &mut state, (first, floor), 0.01, WEIGHT);
    check_patch(&world, &mut state, (floor, second), 0.01, WEIGHT);
}

#[test]
fn a_cube_on_a_compliant_box_and_one_on_another_have_patches() {
    let mut builder = WorldBuilder::default();
    let shape = Shape::cuboid(Vector3::new(0.3, 0.3, 0.1)).unwrap();
    let rubber = Compliance {
        hydroelastic_modulus: 1e5,
        ..Compliance::default()
    };
    let patch = PatchGeometry::compliant(&shape, &rubber).unwrap();
    let mount = Mount::World(Isometry3::translation(0.0, 0.0, -0.05));
    let table = Geometry::new("table", mount, shape, surface(0.5)).with_patch(patch);
    let table = builder.add_geometry(table);
    let body = cube(1e5, Isometry3::translation(0.0, 0.0, 0.05));
    let (_, lower) = add_soft(&mut builder, "lower", body, surface(0.5), Touch::Surface);
    // Aside, so that neither mesh lies on the other's.
    let body = cube(1e5, Isometry3::translation(0.013, 0.007, 0.15));
    let (_, upper) = add_soft(&mut builder, "upper", body, surface(0.5), Touch::Surface);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 0.01, 2.0, |_, _| {});
    check_patch(&world, &mut state, (table, lower), 0.01, 2.0 * WEIGHT);
    let overlap = (0.1 - 0.013) * (0.1 - 0.007);
    check_patch(&world, &mut state, (lower, upper), overlap, WEIGHT);
}

#[test]
fn a_strip_in_self_contact_has_a_patch_by_surfaces_and_none_by_vertices() {
    let at = |touch: Touch, exclude: bool| {
        let mesh = tet_cuboid(Vector3::new(0.2, 0.02, 0.005), [40, 4, 1]).unwrap();
        let strip = FemBuilder::new(mesh, corotated(2e4, 0.3), 1000.0);
        let mut builder = WorldBuilder::default();
        builder.gravity(GRAVITY);
        let (body, _) = add_soft(&mut builder, "strip", built(strip), surface(0.5), touch);
        if exclude {
            builder.exclude(Exclusion::Bodies(body, body));
        }
        let world = builder.build().unwrap();
        let mut state = world.default_state();
        // Folded over, the upper half half a millimetre deep in the lower one.
        for p in state.bodies[0].q.chunks_exact_mut(3) {
            if p[0] > 1e-9 {
                (p[0], p[2]) = (-p[0] + 0.003, 0.0095 - p[2]);
            }
        }
        let found = PatchFinder::default()
            .find(&world, &state)
            .unwrap()
            .to_vec();
        found.iter().map(|p| p.patch.summary().area).sum::<f64>()
    };
    assert!(
        at(Touch::Surface, false) > 0.004,
        "{}",
        at(Touch::Surface, false)
    );
    assert_eq!(at(Touch::Surface, true), 0.0);
    assert_eq!(at(Touch::Vertices, false), 0.0);
}

/// How far a cube that leans on a slope of 0.9 times the critical one goes in half a second, m.
fn creep(stiction: Stiction) -> f64 {
    let slope = (0.9_f64 * 0.5).atan();
    let mut builder = WorldBuilder::default();
    builder.gravity(Vector3::new(slope.sin(), 0.0, -slope.cos()) * 9.81);
    builder.contact(ContactSettings {
        stiction,
        ..ContactSettings::default()
    });
    add_floor(&mut builder, surface(0.5));
    let body = cube(1e6, Isometry3::translation(0.0, 0.0, 0.05));
    add_soft(&mut builder, "cube", body, surface(0.5), Touch::Surface);
    let world = builder.build().unwrap();
    let mut state = world.default_state();
    run(&world, &mut state, 0.005, 1.0, |_, _| {});
    let before = center(&state, BodyIdx(0)).x;
    run(&world, &mut state, 0.005, 0.5, |_, _| {});
    center(&state, BodyIdx(0)).x - before
}

#[test]
fn stiction_prevents_the_creep_of_softened_friction() {
    let (held, creeping) = (creep(Stiction::HeldInPatches), creep(Stiction::Creeping));
    eprintln!("in half a second held {held:.2e} m, creeping {creeping:.2e} m");
    assert!(creeping > 5e-5, "{creeping}");
    assert!(held.abs() < 1e-9, "{held}");
}
