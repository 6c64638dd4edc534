//! `<actuator>`: effort limits and gains of joints.

use super::File;
use super::defaults::Settings;
use super::names::used_attributes;
use super::world::Tree;
use crate::error::MultibodyError;
use crate::joint::DriveGains;
use crate::markup::Remarks;

/// The force law of an actuator on its length l and speed: f = gain·u − kp·l − kv·l̇.
struct Law {
    /// Force per control; `None` if the control is a target that only the gains use.
    gain: Option<f64>,
    gains: Option<DriveGains>,
}

/// Sets the effort limits and gains of all joints with actuators.
pub(super) fn read(
    file: &File<'_>,
    tree: &mut Tree,
    remarks: &mut Remarks,
) -> Result<(), MultibodyError> {
    // The sum of the largest efforts of each joint's actuators.
    let mut efforts = vec![None::<f64>; tree.joints.len()];
    for element in file.in_sections("actuator") {
        let name = element.attribute("name").unwrap_or_default();
        let subject = format!("actuator \"{name}\"");
        let Some(known) = used_attributes(&element.tag).filter(|known| known.contains(&"joint"))
        else {
            let text = format!("{subject}: <{}> exerts no force", element.tag);
            remarks.suspicious(&element.place, text);
            continue;
        };
        let settings = file.defaults.settings(element, None)?;
        let Some(joint) = settings.text("joint") else {
            let text = format!("{subject}: does not act on a joint, and exerts no force");
            remarks.suspicious(&element.place, text);
            continue;
        };
        remarks.only_attributes(element, known);
        let Some(index) = tree.joints.iter().position(|j| j.spec.name == joint) else {
            let text = format!("joint \"{joint}\" is not in the model");
            return Err(element.error(&subject, text));
        };
        let spec = &mut tree.joints[index].spec;
        if spec.kind.n_v() != 1 {
            let text = format!(
                "{subject}: joint \"{joint}\" has several degrees of freedom; no force is exerted"
            );
            remarks.suspicious(&element.place, text);
            continue;
        }
        let gear = settings.leading::<6>("gear", &subject, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?[0];
        let Some(law) = law(&settings, &element.tag, &subject)? else {
            let text = format!("{subject}: its force law is not supported; no force is exerted");
            remarks.suspicious(&element.place, text);
            continue;
        };
        if let Some(gains) = law.gains {
            if spec.drive.gains.is_some() {
                let text = format!("{subject}: joint \"{joint}\" has gains already; not used");
                remarks.suspicious(&element.place, text);
            } else {
                // The length is gear·q, and the force on q gear times that on the length.
                spec.drive.gains = Some(DriveGains {
                    proportional: gains.proportional * gear * gear,
                    derivative: gains.derivative * gear * gear,
                });
            }
        }
        let most = largest_force(file, &settings, &law, &subject)? * gear.abs();
        *efforts[index].get_or_insert(0.0) += most;
    }
    for (joint, effort) in tree.joints.iter_mut().zip(efforts) {
        let limits = &mut joint.spec.limits;
        limits.effort = effort.map_or(limits.effort, |effort| limits.effort.min(effort));
    }
    Ok(())
}

/// The force law; `None` if it is not one of those that are supported.
fn law(settings: &Settings<'_>, tag: &str, subject: &str) -> Result<Option<Law>, MultibodyError> {
    let servo = |proportional: f64, derivative: f64| Law {
        gain: None,
        gains: Some(DriveGains {
            proportional,
            derivative,
        }),
    };
    let gain = settings.leading::<10>("gainprm", subject, first(1.0))?[0];
    let bias = settings.leading::<10>("biasprm", subject, first(0.0))?;
    let kv = settings.non_negative("kv", subject)?;
    Ok(match tag {
        "motor" => Some(Law {
            gain: Some(1.0),
            gains: None,
        }),
        "position" => {
            let kp = settings.number("kp", subject)?.unwrap_or(gain);
            if settings.holder("dampratio").is_some() {
                let text = "dampratio is not supported; write kv";
                return Err(settings.own().error(subject, text));
            }
            Some(servo(kp, kv))
        }
        "velocity" => {
            let kv = settings.number("kv", subject)?.unwrap_or(gain);
            Some(servo(0.0, kv))
        }
        _ => {
            let is_fixed = settings.text("gaintype").is_none_or(|kind| kind == "fixed");
            let is_static = settings.text("dyntype").is_none_or(|kind| kind == "none");
            let is_affine = settings.text("biastype") == Some("affine");
            match bias {
                _ if !is_fixed || !is_static => None,
                _ if !is_affine => Some(Law {
                    gain: Some(gain),
                    gains: None,
                }),
                [0.0, position, speed, ..] if position == -gain && speed <= 0.0 => {
                    Some(servo(gain, -speed))
                }
                [0.0, 0.0, speed, ..] if speed == -gain => Some(servo(0.0, gain)),
                _ => None,
            }
        }
    })
}

fn first(value: f64) -> [f64; 10] {
    let mut all = [0.0; 10];
    all[0] = value;
    all
}

/// The largest force that the limits of force and control allow, infinite without limits.
fn largest_force(
    file: &File<'_>,
    settings: &Settings<'_>,
    law: &Law,
    subject: &str,
) -> Result<f64, MultibodyError> {
    let magnitude = |flag: &str, range: &str| -> Result<f64, MultibodyError> {
        let is_limited = settings.is_limited(flag, range, file.compiler.limits, subject)?;
        match settings.numbers::<2>(range, subject)? {
            Some([least, most]) if is_limited => Ok(most.abs().max(least.abs())),
            _ => Ok(f64::INFINITY),
        }
    };
    let by_force = magnitude("forcelimited", "forcerange")?;
    Ok(match law.gain {
        Some(gain) => by_force.min(gain.abs() * magnitude("ctrllimited", "ctrlrange")?),
        None => by_force,
    })
}
