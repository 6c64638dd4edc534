//! Bodies of several materials.

use crate::support;
use std::sync::Arc;

use crate::support::{Alone, UNDAMPED, built, place};
use nalgebra::Vector3;
use pliant_constitutive::Lame;
use pliant_contact_sap::DeformableModel;
use pliant_contact_sap::conformance::check_body;
use pliant_contact_sap::{Control, StepInput};
use pliant_fem::{
    AnchorCompliance, Axis, Elements, FemBody, FemBuilder, FemError, LawKind, MassKind, Material,
    Region, UniformForce,
};
use pliant_hydroelastic::mesh::TetIdx;
use pliant_hydroelastic::mesh::generate::tet_cuboid;

fn law(kind: LawKind, youngs_modulus: f64) -> Arc<dyn Material> {
    // No lateral strain, so that both halves stretch as the textbook's springs in series.
    kind.of(Lame::from_young_poisson(youngs_modulus, 0.0).unwrap())
        .unwrap()
}

fn right_half() -> Elements {
    Elements::Within(Region::HalfSpace {
        point: Vector3::zeros(),
        normal: -Vector3::x(),
    })
}

fn bar(kind: LawKind) -> FemBuilder {
    let mesh = tet_cuboid(Vector3::new(0.1, 0.01, 0.01), [10, 1, 1]).unwrap();
    let builder = FemBuilder::new(mesh, law(kind, 1e5), 1000.0).damping(UNDAMPED);
    builder.part(right_half(), law(kind, 4e5), 3000.0)
}

fn end(sign: f64) -> Region {
    Region::HalfSpace {
        point: Vector3::x() * (0.1 * sign),
        normal: Vector3::x() * -sign,
    }
}

#[test]
fn a_bar_of_two_materials_stretches_as_springs_in_series() {
    for kind in [
        LawKind::LinearCorotated,
        LawKind::Linear,
        LawKind::StVenantKirchhoff,
    ] {
        let body = built(bar(kind).anchor(end(-1.0), AnchorCompliance::NearRigid));
        assert!((body.mass() - 4e-5 * (1000.0 + 3000.0)).abs() < 1e-12);
        assert_eq!(body.material_of(TetIdx(0)).lame().mu(), 0.5e5);
        // 1 mm of 0.2 m: F = A Δ/(l/E₁ + l/E₂), A = 4e-4 m², l = 0.1 m; the weaker half takes four fifths.
        let right = end(1.0).vertices(body.mesh(), "the jaw").unwrap();
        let pull = |speed: f64| body.holding(&right, &Axis::ALL, &(Vector3::x() * speed));
        let mut state = body.default_state();
        let mut alone = Alone::new(&body, 1e3).driven(pull(1e-6));
        alone.step(&mut state);
        alone.control = pull(0.0);
        alone.steps(&mut state, 4);
        let force: f64 = -alone.row_forces().iter().step_by(3).sum::<f64>();
        let exact = 4e-4 * 1e-3 / (0.1 / 1e5 + 0.1 / 4e5);
        let tolerance = if kind == LawKind::StVenantKirchhoff {
            0.02
        } else {
            1e-3
        };
        assert!(
            (force / exact - 1.0).abs() < tolerance,
            "{kind}: {force} N, {exact} N"
        );
        let middle = (0..body.mesh().vertices().len())
            .filter(|v| body.mesh().vertices()[*v].x.abs() < 1e-9)
            .map(|v| place(&state, v).x);
        for x in middle {
            assert!((x - 8e-4).abs() < tolerance * 8e-4, "{kind}: {x}");
        }
    }
}

#[test]
fn a_body_of_several_materials_passes_the_conformance_checks() {
    for (kind, mass) in [
        (LawKind::LinearCorotated, MassKind::Consistent),
        (LawKind::StableNeoHookean, MassKind::Lumped),
    ] {
        let field = Arc::new(UniformForce(Vector3::new(300.0, 0.0, -100.0)));
        let body = built(bar(kind).mass(mass).force_field(field));
        let mut state = body.rigid_state(
            &nalgebra::Isometry3::rotation(Vector3::new(0.4, -0.7, 1.1)),
            &Vector3::new(2.0, -1.0, 3.0),
            &Vector3::x(),
        );
        for (i, q) in state.q.iter_mut().enumerate() {
            *q += 1e-3 * (1.7 * i as f64).sin();
        }
        let control = Control::default();
        let input = StepInput {
            time_step: 2e-3.into(),
            gravity: support::GRAVITY,
            control: &control,
        };
        check_body(&body, &state, &input).unwrap();
    }
}

#[test]
fn a_force_field_acts_on_volume_independent_of_density() {
    let field = Arc::new(UniformForce(Vector3::z() * 500.0));
    let body = built(bar(LawKind::LinearCorotated).force_field(field));
    let (mut state, dt) = (body.default_state(), 1e-3);
    Alone::new(&body, dt).step(&mut state);
    let momentum = body.energy(&state, &Vector3::zeros()).linear_momentum_W.z;
    let exact = 500.0 * body.volume(&body.default_state()) * dt;
    assert!((momentum / exact - 1.0).abs() < 1e-9, "{momentum} {exact}");
}

#[track_caller]
fn refused(builder: FemBuilder) -> FemError {
    builder
        .build()
        .map(|(body, _): (FemBody, _)| body.mass())
        .unwrap_err()
}

#[test]
fn invalid_parts_are_rejected_by_name() {
    let mixed = bar(LawKind::LinearCorotated).part(
        right_half(),
        law(LawKind::StableNeoHookean, 1e5),
        1000.0,
    );
    let text = refused(mixed).to_string();
    assert!(
        text.contains("LinearCorotated") && text.contains("StableNeoHookean"),
        "{text}"
    );
    let soft = || law(LawKind::LinearCorotated, 1e5);
    let beyond = bar(LawKind::LinearCorotated).part(Elements::Numbered(vec![60]), soft(), 1000.0);
    assert!(matches!(
        refused(beyond),
        FemError::NoSuchElement {
            element: 60,
            count: 60,
            ..
        }
    ));
    let corner = Elements::Within(Region::Vertices(vec![0, 1]));
    let none = bar(LawKind::LinearCorotated).part(corner, soft(), 1000.0);
    assert!(refused(none).to_string().contains("holds no tetrahedron"));
    let weightless = bar(LawKind::LinearCorotated).part(right_half(), soft(), 0.0);
    assert!(matches!(refused(weightless), FemError::Density(0.0)));
}
