//! `<tendon>`: fixed tendons. Spatial ones are left out: their paths around sites and geoms have no counterpart.

use super::File;
use super::world::Tree;
use crate::builder::TendonSpec;
use crate::error::MultibodyError;
use crate::markup::{Element, Place, Remarks};
use crate::model::{PositionRange, TendonDrive, TendonSpring};

/// A tendon, its name in the file, and where it comes from.
pub(super) struct ReadTendon {
    pub(super) spec: TendonSpec,
    pub(super) written_name: String,
    pub(super) place: Place,
}

const KNOWN: [&str; 7] = [
    "name",
    "class",
    "limited",
    "range",
    "stiffness",
    "damping",
    "springlength",
];
/// Forces of tendons that the solver has no row for.
const WITHOUT_EFFECT: [&str; 2] = ["frictionloss", "armature"];

pub(super) fn read(
    file: &File<'_>,
    tree: &mut Tree,
    remarks: &mut Remarks,
) -> Result<Vec<ReadTendon>, MultibodyError> {
    let mut tendons = Vec::new();
    for element in file.in_sections("tendon") {
        let written_name = element.attribute("name").unwrap_or_default().trim();
        let subject = format!("tendon \"{written_name}\"");
        if element.tag != "fixed" {
            let text = format!(
                "{subject}: <{}> tendons are not supported; it exerts no force and limits nothing",
                element.tag
            );
            remarks.suspicious(&element.place, text);
            continue;
        }
        tendons.push(ReadTendon {
            spec: fixed(file, element, tree, (&subject, written_name), remarks)?,
            written_name: written_name.to_owned(),
            place: element.place.clone(),
        });
    }
    Ok(tendons)
}

fn fixed(
    file: &File<'_>,
    element: &Element,
    tree: &mut Tree,
    (subject, name): (&str, &str),
    remarks: &mut Remarks,
) -> Result<TendonSpec, MultibodyError> {
    let settings = file.defaults.settings_of("tendon", element, None)?;
    for attribute in WITHOUT_EFFECT {
        if settings.number(attribute, subject)?.unwrap_or(0.0) != 0.0 {
            let text = format!("{subject}: {attribute} of a tendon has no effect");
            remarks.suspicious(&element.place, text);
        }
    }
    let known: Vec<&str> = KNOWN.into_iter().chain(WITHOUT_EFFECT).collect();
    remarks.only_attributes(element, &known);
    remarks.only_children(element, &["joint"]);
    let mut terms = Vec::new();
    let mut spring_length = 0.0;
    for term in element.children.iter().filter(|child| child.tag == "joint") {
        remarks.only_attributes(term, &["joint", "coef"]);
        let joint = term.required("joint", subject)?;
        let found = tree.joints.iter().find(|j| j.spec.name == joint);
        let found = found
            .ok_or_else(|| term.error(subject, format!("joint \"{joint}\" is not in the model")))?;
        let coefficient = term.numbers("coef", 1, subject)?;
        let coefficient = coefficient.and_then(|numbers| numbers.first().copied());
        let coefficient = coefficient
            .ok_or_else(|| term.error(subject, "<joint> needs the attribute coef=\"...\""))?;
        spring_length += coefficient * found.spec.passive.spring_rest;
        terms.push((joint.to_owned(), coefficient));
    }
    let mut limits = PositionRange {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
    };
    if settings.is_limited("limited", "range", file.compiler.limits, subject)?
        && let Some([lower, upper]) = settings.numbers::<2>("range", subject)?
    {
        if lower >= upper {
            let text = format!("range=\"{lower} {upper}\" must ascend");
            return Err(element.error(subject, text));
        }
        limits = PositionRange { lower, upper };
    }
    let [lower, upper] = settings.leading::<2>("springlength", subject, [-1.0; 2])?;
    let rest = match (lower, upper) {
        // The length of the reference positions of the springs.
        (-1.0, _) => [spring_length; 2],
        (length, -1.0) => [length; 2],
        (lower, upper) if lower > upper => {
            let text = format!("springlength=\"{lower} {upper}\" must ascend");
            return Err(element.error(subject, text));
        }
        (lower, upper) => [lower, upper],
    };
    let wanted = if name.is_empty() { "tendon" } else { name };
    Ok(TendonSpec {
        name: tree.free_joint_name(wanted),
        terms,
        limits,
        spring: TendonSpring {
            stiffness: settings.non_negative("stiffness", subject)?,
            damping: settings.non_negative("damping", subject)?,
            rest: PositionRange {
                lower: rest[0],
                upper: rest[1],
            },
        },
        drive: TendonDrive::default(),
    })
}

/// The place of the tendon that an error of the builder is about.
pub(super) fn place_of<'a>(error: &MultibodyError, tendons: &'a [ReadTendon]) -> Option<&'a Place> {
    let MultibodyError::Element { subject, .. } = error else {
        return None;
    };
    let is_subject = |tendon: &&ReadTendon| *subject == format!("tendon \"{}\"", tendon.spec.name);
    tendons.iter().find(is_subject).map(|tendon| &tendon.place)
}
