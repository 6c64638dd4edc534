//! `<actuator>`: effort limits and gains of joints and fixed tendons.

use super::File;
use super::defaults::Settings;
use super::names::used_attributes;
use super::tendons::ReadTendon;
use super::world::Tree;
use crate::error::MultibodyError;
use crate::joint::DriveGains;
use crate::markup::{Element, Remarks};

/// What an actuator acts on, by its index.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Target {
    Joint(usize),
    Tendon(usize),
}

/// Damping of an actuator relative to critical damping.
pub(super) struct DampingRatio {
    pub(super) target: Target,
    pub(super) ratio: f64,
}

/// The force law of an actuator on its length l and speed: f = gain·u − kp·l − kv·l̇.
struct Law {
    /// Force per control; `None` if the control is a target that only the gains use.
    gain: Option<f64>,
    gains: Option<DriveGains>,
    /// In place of the derivative gain.
    damping_ratio: Option<f64>,
}

/// Sets the effort limits and gains of all joints and tendons with actuators. Returns the damping ratios, whose gains depend on inertia.
pub(super) fn read(
    file: &File<'_>,
    tree: &mut Tree,
    tendons: &mut [ReadTendon],
    remarks: &mut Remarks,
) -> Result<Vec<DampingRatio>, MultibodyError> {
    // The sums of the largest efforts of the actuators of each joint and tendon.
    let mut efforts = vec![None::<f64>; tree.joints.len()];
    let mut tendon_efforts = vec![None::<f64>; tendons.len()];
    let mut ratios = Vec::new();
    for element in file.in_sections("actuator") {
        let name = element.attribute("name").unwrap_or_default();
        let subject = format!("actuator \"{name}\"");
        let Some(known) = used_attributes(&element.tag).filter(|known| known.contains(&"joint"))
        else {
            let text = format!(
                "{subject}: <{}> actuators are not supported; it exerts no force",
                element.tag
            );
            remarks.suspicious(&element.place, text);
            continue;
        };
        let settings = file.defaults.settings(element, None)?;
        let target = match target(file, &settings, tree, tendons, &subject)? {
            Ok(target) => target,
            Err(reason) => {
                remarks.suspicious(&element.place, format!("{subject}: {reason}"));
                continue;
            }
        };
        remarks.only_attributes(element, known);
        let gear = settings.leading::<6>("gear", &subject, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])?[0];
        let Some(law) = law(&settings, &element.tag, &subject)? else {
            let text = format!("{subject}: its force law is not supported; no force is exerted");
            remarks.suspicious(&element.place, text);
            continue;
        };
        let (slot, effort) = match target {
            Target::Joint(joint) => {
                let spec = &mut tree.joints[joint].spec;
                (&mut spec.drive.gains, &mut efforts[joint])
            }
            Target::Tendon(tendon) => {
                let spec = &mut tendons[tendon].spec;
                (&mut spec.drive.gains, &mut tendon_efforts[tendon])
            }
        };
        if let Some(gains) = law.gains {
            if slot.is_some() {
                let text = format!("{subject}: what it acts on has gains already; not used");
                remarks.suspicious(&element.place, text);
            } else {
                // The length is gear·q, and the force on q gear times the one on the length.
                *slot = Some(DriveGains {
                    proportional: gains.proportional * gear * gear,
                    derivative: gains.derivative * gear * gear,
                });
                let ratio = law.damping_ratio;
                ratios.extend(ratio.map(|ratio| DampingRatio { target, ratio }));
            }
        }
        let most = largest_force(file, &settings, &law, &subject)? * gear.abs();
        *effort.get_or_insert(0.0) += most;
    }
    for (joint, effort) in tree.joints.iter_mut().zip(efforts) {
        let limits = &mut joint.spec.limits;
        limits.effort = effort.map_or(limits.effort, |effort| limits.effort.min(effort));
    }
    for (tendon, effort) in tendons.iter_mut().zip(tendon_efforts) {
        tendon.spec.drive.effort_limit = effort.unwrap_or(f64::INFINITY);
    }
    Ok(ratios)
}

/// What an actuator acts on, or why it exerts no force.
fn target(
    file: &File<'_>,
    settings: &Settings<'_>,
    tree: &Tree,
    tendons: &[ReadTendon],
    subject: &str,
) -> Result<Result<Target, String>, MultibodyError> {
    let element = settings.own();
    if let Some(name) = settings.text("joint") {
        let found = tree.joints.iter().position(|j| j.spec.name == name);
        let Some(joint) = found else {
            let text = format!("joint \"{name}\" is not in the model");
            return Err(element.error(subject, text));
        };
        if tree.joints[joint].spec.kind.n_v() != 1 {
            let text =
                format!("joint \"{name}\" has several degrees of freedom; no force is exerted");
            return Ok(Err(text));
        }
        return Ok(Ok(Target::Joint(joint)));
    }
    let Some(name) = settings.text("tendon") else {
        let text = "acts on neither a joint nor a tendon, and exerts no force";
        return Ok(Err(text.to_owned()));
    };
    let found = tendons.iter().position(|t| t.written_name == name);
    let is_written = |element: &Element| element.attribute("name").map(str::trim) == Some(name);
    match found {
        Some(tendon) => Ok(Ok(Target::Tendon(tendon))),
        None if file.in_sections("tendon").any(is_written) => {
            let text = format!("tendon \"{name}\" is not a fixed one; no force is exerted");
            Ok(Err(text))
        }
        None => {
            let text = format!("tendon \"{name}\" is not in the model");
            Err(element.error(subject, text))
        }
    }
}

/// The force law; `None` if it is not one of those that are supported.
fn law(settings: &Settings<'_>, tag: &str, subject: &str) -> Result<Option<Law>, MultibodyError> {
    let servo = |proportional: f64, derivative: f64| Law {
        gain: None,
        gains: Some(DriveGains {
            proportional,
            derivative,
        }),
        damping_ratio: None,
    };
    let force = |gain: f64| Law {
        gain: Some(gain),
        gains: None,
        damping_ratio: None,
    };
    let gain = settings.leading::<10>("gainprm", subject, first(1.0))?[0];
    let bias = settings.leading::<10>("biasprm", subject, first(0.0))?;
    let kv = settings.non_negative("kv", subject)?;
    Ok(match tag {
        "motor" => Some(force(1.0)),
        "position" => {
            let kp = settings.number("kp", subject)?.unwrap_or(gain);
            let ratio = settings.non_negative("dampratio", subject)?;
            if ratio > 0.0 && kv > 0.0 {
                let text = "gives both kv and dampratio; keep one of the two";
                return Err(settings.own().error(subject, text));
            }
            Some(Law {
                damping_ratio: (ratio > 0.0).then_some(ratio),
                ..servo(kp, kv)
            })
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
                _ if !is_affine => Some(force(gain)),
                // The control is a target in units of its own; here targets are lengths.
                [_, position, speed, ..] if position < 0.0 && speed <= 0.0 => {
                    Some(servo(-position, -speed))
                }
                [0.0, position, ratio, ..] if position == -gain => Some(Law {
                    damping_ratio: Some(ratio),
                    ..servo(gain, 0.0)
                }),
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
