//! `<equality>`: joints coupled by a linear polynomial. All other equalities close loops, which a tree cannot have.

use super::File;
use super::world::Tree;
use crate::error::MultibodyError;
use crate::markup::Remarks;

/// q_joint = multiplier · q_source + offset.
pub(super) struct Coupling {
    pub(super) joint: String,
    pub(super) source: String,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
}

pub(super) fn read(
    file: &File<'_>,
    tree: &Tree,
    remarks: &mut Remarks,
) -> Result<Vec<Coupling>, MultibodyError> {
    let mut couplings = Vec::new();
    for element in file.in_sections("equality") {
        let subject = format!(
            "equality \"{}\"",
            element.attribute("name").unwrap_or_default()
        );
        if element.attribute("active") == Some("false") {
            remarks.left_out(element);
            continue;
        }
        if element.tag != "joint" {
            let text = format!(
                "{subject}: <{}> has no effect; close loops by a constraint of the scene",
                element.tag
            );
            remarks.suspicious(&element.place, text);
            continue;
        }
        let known = ["name", "class", "joint1", "joint2", "polycoef", "active"];
        remarks.only_attributes(element, &known);
        let reference = |name: &str| -> Result<f64, MultibodyError> {
            let joint = tree.joints.iter().find(|j| j.spec.name == name);
            let joint = joint.ok_or_else(|| {
                element.error(&subject, format!("joint \"{name}\" is not in the model"))
            })?;
            Ok(joint.spec.initial.as_ref().map_or(0.0, |q| q[0]))
        };
        let joint = element.required("joint1", &subject)?;
        let Some(source) = element.attribute("joint2").map(str::trim) else {
            let text = format!(
                "{subject}: a joint at a constant position has no effect; hold it in the scene"
            );
            remarks.suspicious(&element.place, text);
            continue;
        };
        let mut coefficients = [0.0, 1.0, 0.0, 0.0, 0.0];
        if let Some(numbers) = element.numbers("polycoef", 5, &subject)? {
            coefficients[..numbers.len()].copy_from_slice(&numbers);
        }
        let [constant, multiplier, higher @ ..] = coefficients;
        if higher != [0.0; 3] {
            let text = "a polynomial of higher than first degree is not supported; set the last three numbers of polycoef to 0";
            return Err(element.error(&subject, text));
        }
        // Positions are measured from those that the file shows.
        let offset = reference(joint)? + constant - multiplier * reference(source)?;
        couplings.push(Coupling {
            joint: joint.to_owned(),
            source: source.to_owned(),
            multiplier,
            offset,
        });
    }
    Ok(couplings)
}
