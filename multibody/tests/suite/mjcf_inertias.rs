//! Masses and inertias of the bodies of MJCF files.

use std::f64::consts::PI;

use nalgebra::Vector3;

use crate::mjcf_models::load;

#[test]
fn geoms_have_the_mass_of_their_volume() {
    let model = load(
        r#"<worldbody><body name="b"><freejoint/>
             <geom type="sphere" size="0.1" density="500"/>
             <geom type="box" size="0.1 0.2 0.3" pos="1 0 0"/>
             <geom type="cylinder" size="0.1 0.2" pos="2 0 0"/>
             <geom type="capsule" fromto="3 0 -0.2 3 0 0.2" size="0.1"/>
             <geom type="ellipsoid" size="0.1 0.2 0.3" pos="4 0 0"/>
             <geom type="box" size="1 1 1" mass="0"/>
           </body></worldbody>"#,
    )
    .model;
    let ball = 4.0 / 3.0 * PI * 1e-3;
    let parts = [
        (500.0 * ball, 0.0),
        (1000.0 * 0.2 * 0.4 * 0.6, 1.0),
        (1000.0 * PI * 0.01 * 0.4, 2.0),
        (1000.0 * (PI * 0.01 * 0.4 + ball), 3.0),
        (1000.0 * 6.0 * ball, 4.0),
    ];
    let mass: f64 = parts.iter().map(|(m, _)| m).sum();
    let inertia = model.link(model.link_named("b").expect("a link")).inertia;
    assert!((inertia.mass - mass).abs() < 1e-12 * mass);
    let x: f64 = parts.iter().map(|(m, x)| m * x).sum::<f64>() / mass;
    assert!((inertia.com.x - x).abs() < 1e-13);
}

#[test]
fn inertias_are_bounded_balanced_and_scaled_on_request() {
    let body = r#"<worldbody><body name="b"><freejoint/>
        <inertial mass="2" pos="0 0 0" diaginertia="1 1 4"/></body>
        <body name="c"><freejoint/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/></body></worldbody>"#;
    let inertia = |compiler: &str| {
        let model = load(&format!("{compiler}{body}")).model;
        model.link(model.link_named("b").expect("b")).inertia
    };
    let plain = inertia("");
    assert_eq!(plain.rotational.diagonal().as_slice(), [1.0, 1.0, 4.0]);
    let balanced = inertia(r#"<compiler balanceinertia="true"/>"#).rotational;
    assert!((balanced - nalgebra::Matrix3::identity() * 2.0).norm() < 1e-14);
    let bounded = inertia(r#"<compiler boundmass="5" boundinertia="3"/>"#);
    assert_eq!(bounded.mass, 5.0);
    let least = bounded.principal_moments()[0];
    assert!((least - 3.0).abs() < 1e-14);
    let scaled = inertia(r#"<compiler settotalmass="6"/>"#);
    assert!((scaled.mass - 4.0).abs() < 1e-15);
    assert!((scaled.rotational.m33 - 8.0).abs() < 1e-14);
    // The triangle inequality is violated as written, and reported with its line.
    let loaded = load(body);
    let text = loaded.report.to_string();
    assert!(
        text.contains("m.xml:2") && text.contains("triangle inequality"),
        "{text}"
    );
}

#[test]
fn full_inertias_are_about_the_centre_of_mass_in_its_own_axes() {
    let model = load(
        r#"<worldbody><body name="b"><freejoint/>
             <inertial mass="2" pos="1 0 0" euler="0 0 90" fullinertia="1 2 2.5 0.1 0.2 0.3"/></body></worldbody>"#,
    )
    .model;
    let found = model.link(model.link_named("b").expect("b")).inertia;
    // x of the principal frame is y of the body, and its y is −x.
    let expected = nalgebra::Matrix3::new(2.0, -0.1, -0.3, -0.1, 1.0, 0.2, -0.3, 0.2, 2.5);
    assert!(
        (found.rotational - expected).norm() < 1e-14,
        "{}",
        found.rotational
    );
    assert_eq!(found.com, Vector3::x());
}
