//! `<torsional>` friction of a `<surface>`: the torque about the normal of a round patch.

use core::f64::consts::PI;

use crate::error::MultibodyError;
use crate::markup::{Element, Remarks};

/// Largest torque about the normal per normal force, m: 3 π/16 μ a for a round patch of radius a with the pressure of Hertz,
///
/// ```text
/// T = ∫ μ p r dA,   p(r) = 3 N/(2 π a²) √(1 − r²/a²)
/// ```
///
/// as in Gazebo. A patch whose radius is √(R d), which grows with the depth d, is reported.
pub(super) fn length(
    torsional: &Element,
    subject: &str,
    remarks: &mut Remarks,
) -> Result<Option<f64>, MultibodyError> {
    let known = [
        "coefficient",
        "use_patch_radius",
        "patch_radius",
        "surface_radius",
        "ode",
    ];
    remarks.only_children(torsional, &known);
    let number = |tag: &str, missing: f64| -> Result<f64, MultibodyError> {
        let value = torsional.number_in(tag, subject)?.unwrap_or(missing);
        if value < 0.0 {
            let text = format!("<torsional> {tag} = {value} must not be negative");
            return Err(torsional.error(subject, text));
        }
        Ok(value)
    };
    let (coefficient, radius) = (number("coefficient", 1.0)?, number("patch_radius", 0.0)?);
    let depends_on_depth = torsional
        .child("use_patch_radius")
        .is_some_and(|flag| ["0", "false"].contains(&&*flag.text));
    if depends_on_depth && coefficient > 0.0 && number("surface_radius", 0.0)? > 0.0 {
        let text = format!(
            "{subject}: torsional friction with <surface_radius>, which depends on the depth of the contact, has no effect; give <patch_radius>"
        );
        remarks.suspicious(&torsional.place, text);
    }
    if depends_on_depth {
        return Ok(None);
    }
    let length = 3.0 * PI / 16.0 * coefficient * radius;
    Ok((length > 0.0).then_some(length))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::markup::parse;

    fn read(inside: &str) -> (Result<Option<f64>, MultibodyError>, Remarks) {
        let text = format!("<torsional>{inside}</torsional>");
        let (element, _) = parse(text.as_bytes(), Path::new("x.sdf"), 100).expect("XML");
        let mut remarks = Remarks::default();
        (length(&element, "link \"l\"", &mut remarks), remarks)
    }

    #[test]
    fn the_length_is_the_torque_of_hertz_pressure_on_a_patch() {
        let (mu, a) = (0.7, 0.02);
        let (found, _) = read(&format!(
            "<coefficient>{mu}</coefficient><patch_radius>{a}</patch_radius>"
        ));
        // The integral in rings of equal width, at a normal force of 1 N.
        let n = 200_000_usize;
        let ring = |k: usize| {
            let r = a * (k as f64 + 0.5) / n as f64;
            let pressure = 1.5 / (PI * a * a) * (1.0 - r * r / (a * a)).sqrt();
            mu * pressure * r * 2.0 * PI * r * a / n as f64
        };
        let torque: f64 = (0..n).map(ring).sum();
        let found = found.expect("numbers").expect("friction");
        assert!((found - torque).abs() < 1e-7 * torque, "{found} {torque}");
        assert_eq!(read("").0.expect("numbers"), None, "the radius is zero");
    }

    #[test]
    fn a_radius_that_depends_on_the_depth_is_reported() {
        let (found, remarks) =
            read("<use_patch_radius>false</use_patch_radius><surface_radius>0.1</surface_radius>");
        assert_eq!(found.expect("numbers"), None);
        let report = remarks.into_report().to_string();
        assert!(report.contains("give <patch_radius>"), "{report}");
        let (refused, _) = read("<patch_radius>-1</patch_radius>");
        let text = refused.expect_err("negative").to_string();
        assert!(
            text.contains("patch_radius = -1 must not be negative"),
            "{text}"
        );
    }
}
