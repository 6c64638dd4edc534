//! Invalid bodies and laws: errors name the parameter, its location and its value. Suspicious ones have warnings.

use crate::support::{Alone, built, corotated};
use nalgebra::Vector3;
use pliant_constitutive::Lame;
use pliant_contact_sap::Control;
use pliant_fem::{
    AnchorCompliance, Axis, Element, FemBuilder, FemError, LawKind, Rayleigh, Region,
};
use pliant_hydroelastic::mesh::generate::tet_cuboid;
use pliant_hydroelastic::mesh::{TetMesh, TetOptions, tets_from_bytes};

fn block() -> TetMesh {
    tet_cuboid(Vector3::new(0.06, 0.04, 0.03), [3, 2, 1]).unwrap()
}

fn builder() -> FemBuilder {
    FemBuilder::new(block(), corotated(1e5, 0.4), 1000.0)
}

#[track_caller]
fn refused(builder: FemBuilder) -> FemError {
    builder.build().unwrap_err()
}

#[track_caller]
fn check_text(text: &impl ToString, words: &[&str]) {
    let text = text.to_string();
    for word in words {
        assert!(text.contains(word), "{word:?} is not in:\n{text}");
    }
}

#[test]
fn invalid_constants_are_rejected_with_their_values() {
    for ratio in [0.5, 0.7, -1.0, f64::NAN] {
        let refused = Lame::from_young_poisson(1e5, ratio).unwrap_err();
        assert!(refused.parameter == "poissons_ratio");
        check_text(
            &refused,
            &["poissons_ratio", &ratio.to_string(), "(-1, 0.5)"],
        );
    }
    for modulus in [0.0, -1e5, f64::INFINITY] {
        let refused = Lame::from_young_poisson(modulus, 0.3).unwrap_err();
        assert!(refused.parameter == "youngs_modulus");
        check_text(
            &refused,
            &["youngs_modulus", &modulus.to_string(), "positive"],
        );
    }
    for density in [0.0, -1.0, f64::NAN] {
        let refused = refused(FemBuilder::new(block(), corotated(1e5, 0.4), density));
        assert!(matches!(refused, FemError::Density(_)));
        check_text(&refused, &["density", &density.to_string()]);
    }
}

const ONE: &str = "# vtk DataFile Version 3.0\nbear\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n";

#[test]
fn invalid_meshes_are_rejected_with_file_and_element() {
    let read = |from: &str, to: &str| {
        assert!(ONE.contains(from));
        let text = ONE.replace(from, to);
        tets_from_bytes(text.as_bytes(), "bear.vtk", &TetOptions::default())
    };
    assert!(read("bear", "bear").is_ok());
    let empty = "CELLS 0 0\nCELL_TYPES 0\n";
    let cells = &ONE[ONE.find("CELLS").unwrap()..];
    check_text(
        &read(cells, empty).unwrap_err(),
        &["bear.vtk", "4 vertices but no cells"],
    );
    check_text(
        &read("0 1 0\n", "0 nan 0\n").unwrap_err(),
        &["bear.vtk:8:", "point 2", "nan"],
    );
    let flat = read("0 0 1\n", "0.3 0.3 0\n").unwrap_err();
    check_text(&flat, &["bear.vtk:11:", "cell 0"]);
    let none = TetMesh::build(Vec::new(), Vec::new(), &TetOptions::default());
    check_text(&none.unwrap_err(), &["no "]);
}

#[test]
fn invalid_supports_are_rejected_by_name() {
    let all_fixed = builder().fix(Region::All, &Axis::ALL);
    assert!(matches!(refused(all_fixed), FemError::NothingMoves(24)));
    let end = || Region::Vertices(vec![0, 4]);
    let both = builder()
        .fix(end(), &Axis::ALL)
        .anchor(Region::Vertices(vec![4]), AnchorCompliance::NearRigid);
    check_text(&refused(both), &["vertex 4", "fixed and anchored"]);
    let far = Region::Ball {
        center: Vector3::repeat(9.0),
        radius: 1.0,
    };
    let nobody = refused(builder().fix(far, &Axis::ALL));
    assert!(matches!(nobody, FemError::EmptyRegion { .. }));
    let slack = AnchorCompliance::Spring {
        stiffness: 0.0,
        relaxation_time_s: 0.0,
    };
    check_text(
        &refused(builder().anchor(end(), slack)),
        &["anchor stiffness"],
    );
}

#[test]
fn invalid_damping_and_radii_are_rejected_by_name() {
    let negative = Rayleigh {
        mass: 0.0,
        stiffness: -1e-3,
    };
    check_text(&refused(builder().damping(negative)), &["beta", "-0.001"]);
    let words = ["contact_radius = 0.05", "choose less"];
    check_text(&refused(builder().contact_radius(0.05)), &words);
}

#[test]
fn suspicious_bodies_are_built_and_reported() {
    let millimetres = tet_cuboid(Vector3::new(60.0, 40.0, 30.0), [3, 2, 1]).unwrap();
    let (_, report) = FemBuilder::new(millimetres, corotated(1e5, 0.4), 1000.0)
        .build()
        .unwrap();
    check_text(&report, &["120.000 m large", "1.0e5 Pa", "scale 0.001"]);
    let smoothed = |builder: FemBuilder| builder.element(Element::Smoothed);
    let (_, report) = smoothed(builder()).build().unwrap();
    assert!(report.entries.is_empty(), "{report}");
}

#[test]
fn elements_that_lock_are_reported_with_what_it_costs() {
    let report = |cells, nu, element| {
        let mesh = tet_cuboid(Vector3::new(0.5, 0.05, 0.05), cells).unwrap();
        let builder = FemBuilder::new(mesh, corotated(1e6, nu), 1000.0);
        builder.element(element).build().unwrap().1
    };
    // 0.5035 and 0.2235 of the deflection of beam theory.
    let words = ["2.0 cells", "about 1.8 times too stiffly", "smoothed"];
    check_text(&report([20, 2, 2], 0.3, Element::Linear), &words);
    let words = ["2.0 cells", "0.4700", "about 4.8 times"];
    check_text(&report([20, 2, 2], 0.47, Element::Linear), &words);
    check_text(&report([40, 4, 4], 0.499, Element::Linear), &["4.0 cells"]);
    for (cells, nu, element) in [
        ([40, 4, 4], 0.3, Element::Linear),
        ([20, 2, 2], 0.499, Element::Smoothed),
    ] {
        let found = report(cells, nu, element);
        assert!(found.entries.is_empty(), "{found}");
    }
}

#[test]
fn disconnected_and_non_manifold_bodies_are_reported() {
    let corners = [
        Vector3::zeros(),
        Vector3::x(),
        Vector3::y(),
        Vector3::z(),
        -Vector3::y(),
        -Vector3::z(),
    ];
    let report = |vertices: &[Vector3<f64>], tets: Vec<[u32; 4]>| {
        let small = vertices.iter().map(|v| v * 0.05).collect();
        let (mesh, _) = TetMesh::build(small, tets, &TetOptions::default()).unwrap();
        let (_, report) = FemBuilder::new(mesh, corotated(1e5, 0.4), 1000.0)
            .build()
            .unwrap();
        report
    };
    // Two tetrahedra that share an edge and no face.
    let hinged = report(&corners, vec![[0, 1, 2, 3], [0, 1, 4, 5]]);
    check_text(&hinged, &["the boundary is no manifold", "edge"]);
    let far = corners[..4].iter().map(|v| v + Vector3::repeat(3.0));
    let two: Vec<_> = corners[..4].iter().copied().chain(far).collect();
    let apart = report(&two, vec![[0, 1, 2, 3], [4, 5, 6, 7]]);
    check_text(&apart, &["2 separate pieces, of 1, 1 tetrahedra"]);
}

#[test]
fn an_inverted_element_is_an_error_of_a_barrier_law_and_a_warning_of_the_corotated_one() {
    let one = || {
        tets_from_bytes(ONE.as_bytes(), "bear.vtk", &TetOptions::default())
            .unwrap()
            .0
    };
    let through_its_base = |law: LawKind| {
        let material = law.of(Lame::from_young_poisson(1e5, 0.4).unwrap()).unwrap();
        let body = built(FemBuilder::new(one(), material, 1000.0));
        let mut alone = Alone::new(&body, 1e-3);
        alone.control = Control {
            held: body
                .holding(&[3], &Axis::ALL, &(Vector3::z() * -2000.0))
                .held,
            ..Control::default()
        };
        let mut state = pliant_contact_sap::DeformableModel::default_state(&body);
        alone
            .try_step(&mut state)
            .map(|()| alone.warnings.join("\n"))
    };
    let refused = through_its_base(LawKind::NeoHookean).unwrap_err();
    let words = [
        "tetrahedron 0 (vertices [0, 1, 2, 3])",
        "by the step",
        "det F = -",
        "stable-neo-hookean",
    ];
    check_text(&refused, &words);
    let warned = through_its_base(LawKind::LinearCorotated).unwrap();
    check_text(
        &warned,
        &["1 of 1 tetrahedra", "the first is 0", "det F = -"],
    );
}
