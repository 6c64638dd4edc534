//! What a robot file holds: joints with their limits, links with their bounds, frames.

use std::path::{Path, PathBuf};

use nalgebra::Point3;
use pliant_hydroelastic::{Aabb, Shape};
use pliant_multibody::{
    Collision, Coupler, CouplerLaw, GeometryDescription, Joint, JointKind, Link, LinkFrame,
    LoopConstraint, LoopKind, Model, PackageMap, RobotOptions, parse_robot,
};
use serde::Serialize;

use crate::cli::Failure;
use crate::cli::notes::Notes;
use crate::cli::output::{number, table};

use super::dynamics::Dynamics;
use super::{Numbers, Report, counted};

/// The content of a robot file.
#[derive(Serialize)]
struct Content {
    name: String,
    degrees_of_freedom: usize,
    moving_mass_kg: f64,
    links: Vec<LinkContent>,
    joints: Vec<JointContent>,
    frames: Vec<FrameContent>,
    loops: Vec<LoopContent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dynamics: Option<Dynamics>,
}

#[derive(Serialize)]
struct LinkContent {
    name: String,
    mass_kg: f64,
    collision_shapes: usize,
    visual_shapes: usize,
    /// Of the collision shapes, in the frame of the link.
    min_m: Option<[f64; 3]>,
    max_m: Option<[f64; 3]>,
}

/// Limits are rad or m, N·m or N, rad/s or m/s; none is null.
#[derive(Serialize)]
struct JointContent {
    name: String,
    kind: &'static str,
    parent: Option<String>,
    child: String,
    lower: Option<f64>,
    upper: Option<f64>,
    effort: Option<f64>,
    speed: Option<f64>,
    follows: Option<Follows>,
}

/// A mimic: the position is multiplier · that of the joint + offset, or constant without a joint. A polynomial of higher degree is
/// Σ coefficient_k (x − about)ᵏ, and has neither.
#[derive(Serialize)]
struct Follows {
    joint: Option<String>,
    multiplier: Option<f64>,
    offset: Option<f64>,
    coefficients: [f64; 5],
    about: f64,
}

/// A constraint between two links.
#[derive(Serialize)]
struct LoopContent {
    name: String,
    kind: &'static str,
    links: [String; 2],
}

#[derive(Serialize)]
struct FrameContent {
    name: String,
    link: String,
    position_m: [f64; 3],
    quat_wxyz: [f64; 4],
}

pub(super) fn report(
    path: &Path,
    bytes: &[u8],
    mapped: &[(String, PathBuf)],
    numbers: Numbers,
) -> Result<Report, Failure> {
    let mut packages = PackageMap::default();
    for (name, folder) in mapped {
        packages.add_package(name.as_str(), folder);
    }
    let options = RobotOptions {
        packages,
        ..RobotOptions::default()
    };
    let loaded = parse_robot(bytes, path, &options).map_err(|error| {
        let wants_packages = bytes.windows(10).any(|part| part == b"package://");
        if wants_packages && mapped.is_empty() {
            Failure::from(format!(
                "{error}\nits packages are found with --package NAME=DIR"
            ))
        } else {
            error.into()
        }
    })?;
    let notes: Vec<String> = (loaded.report.entries.iter())
        .map(ToString::to_string)
        .collect();
    let mut content = Content::of(&loaded.model);
    if numbers == Numbers::WithDynamics {
        content.dynamics = Some(Dynamics::of(&loaded.model));
    }
    let name = path.to_string_lossy();
    let text = content.text(&name);
    Report::new("robot", &name, &content, Notes::of(&notes), text)
}

impl Content {
    fn of(model: &Model) -> Self {
        let frame = |frame: &pliant_multibody::NamedFrame| {
            let (p, q) = (frame.X_LF.translation.vector, frame.X_LF.rotation);
            FrameContent {
                name: frame.name.clone(),
                link: model.link(frame.link).name.clone(),
                position_m: p.into(),
                quat_wxyz: [q.w, q.i, q.j, q.k],
            }
        };
        Self {
            name: model.name().into(),
            degrees_of_freedom: model.n_v(),
            moving_mass_kg: model.moving_mass(),
            links: model.links().iter().map(LinkContent::of).collect(),
            joints: (model.joints().iter())
                .map(|joint| JointContent::of(model, joint))
                .collect(),
            frames: model.frames().iter().map(frame).collect(),
            loops: (model.loops().iter())
                .map(|constraint| LoopContent::of(model, constraint))
                .collect(),
            dynamics: None,
        }
    }

    fn text(&self, path: &str) -> String {
        let mut text = format!(
            "{path}: robot {:?}\n  {}, {}, {} degrees of freedom, {} kg move\n",
            self.name,
            counted(self.links.len(), "link", "links"),
            counted(self.joints.len(), "joint", "joints"),
            self.degrees_of_freedom,
            number(self.moving_mass_kg)
        );
        let moving = self.joints.iter().filter(|joint| joint.kind != "fixed");
        let rows: Vec<Vec<String>> = moving.map(JointContent::row).collect();
        let fixed = self.joints.len() - rows.len();
        if !rows.is_empty() {
            let header = ["joint", "kind", "lower", "upper", "effort", "speed", ""];
            text += &format!("\n{}", table(&header, &rows, &[1, 6]));
            text += "(rad, N m, rad/s; of prismatic joints m, N, m/s)\n";
        }
        if fixed > 0 {
            text += &format!("{}\n", counted(fixed, "fixed joint", "fixed joints"));
        }
        let rows: Vec<Vec<String>> = self.links.iter().map(LinkContent::row).collect();
        let header = ["link", "kg", "shapes", "from x y z", "to x y z [m]"];
        text += &format!("\n{}", table(&header, &rows, &[]));
        if !self.frames.is_empty() {
            let rows: Vec<Vec<String>> = self.frames.iter().map(FrameContent::row).collect();
            text += &format!(
                "\n{}",
                table(&["frame", "on link", "at x y z [m]"], &rows, &[1])
            );
        }
        if !self.loops.is_empty() {
            let row = |l: &LoopContent| {
                [&l.name, l.kind, &l.links[0], &l.links[1]]
                    .map(str::to_owned)
                    .to_vec()
            };
            let rows: Vec<Vec<String>> = self.loops.iter().map(row).collect();
            text += &format!(
                "\n{}",
                table(&["loop", "kind", "link", "link"], &rows, &[1, 2, 3])
            );
        }
        text
    }
}

impl LinkContent {
    fn of(link: &Link) -> Self {
        let bounds = link.collisions.iter().filter_map(bounds);
        let bounds = bounds.reduce(|a, b| a.merged(&b));
        Self {
            name: link.name.clone(),
            mass_kg: link.inertia.mass,
            collision_shapes: link.collisions.len(),
            visual_shapes: link.visuals.len(),
            min_m: bounds.map(|b| b.min.into()),
            max_m: bounds.map(|b| b.max.into()),
        }
    }

    fn row(&self) -> Vec<String> {
        let corner = |corner: Option<[f64; 3]>| corner.map_or("-".into(), |p| position(&p));
        vec![
            self.name.clone(),
            short(self.mass_kg),
            self.collision_shapes.to_string(),
            corner(self.min_m),
            corner(self.max_m),
        ]
    }
}

/// The box around a collision shape in the frame of its link; `None` for shapes without size.
fn bounds(collision: &Collision) -> Option<Aabb> {
    if let Some(mesh) = &collision.mesh {
        let vertices = mesh.vertices().into_iter();
        let vertices: Vec<Point3<f64>> = vertices.map(|v| collision.X_LG * v).collect();
        return Some(Aabb::from_points(&vertices));
    }
    match &collision.geometry {
        GeometryDescription::Analytic(shape) => {
            let shape = Shape::try_from(shape).ok()?;
            Some(shape.aabb(&collision.X_LG)).filter(Aabb::is_bounded)
        }
        GeometryDescription::Mesh { .. } | GeometryDescription::HeightField { .. } => None,
    }
}

impl JointContent {
    fn of(model: &Model, joint: &Joint) -> Self {
        let finite = |x: f64| x.is_finite().then_some(x);
        let follows = |coupler: &Coupler| Follows {
            joint: coupler
                .source
                .map(|source| model.joint(source).name.clone()),
            multiplier: is_linear(&coupler.law).then(|| coupler.law.coefficients[1]),
            offset: is_linear(&coupler.law).then(|| coupler.law.value(0.0)),
            coefficients: coupler.law.coefficients,
            about: coupler.law.about,
        };
        let coupler =
            (model.couplers().iter()).find(|coupler| model.joint(coupler.joint).name == joint.name);
        Self {
            name: joint.name.clone(),
            kind: match joint.kind {
                JointKind::Fixed => "fixed",
                JointKind::Revolute => "revolute",
                JointKind::Continuous => "continuous",
                JointKind::Prismatic => "prismatic",
                JointKind::Screw { .. } => "screw",
                JointKind::Planar => "planar",
                JointKind::Ball => "ball",
                JointKind::Floating => "floating",
            },
            parent: joint.parent.map(|link| model.link(link).name.clone()),
            child: model.link(joint.child).name.clone(),
            lower: finite(joint.limits.lower),
            upper: finite(joint.limits.upper),
            effort: finite(joint.limits.effort),
            speed: finite(joint.limits.velocity),
            follows: coupler.map(follows),
        }
    }

    fn row(&self) -> Vec<String> {
        let limit = |x: Option<f64>| x.map_or("-".into(), short);
        let follows = self.follows.as_ref().map_or(String::new(), Follows::text);
        vec![
            self.name.clone(),
            self.kind.into(),
            limit(self.lower),
            limit(self.upper),
            limit(self.effort),
            limit(self.speed),
            follows,
        ]
    }
}

impl Follows {
    fn text(&self) -> String {
        let Some(joint) = &self.joint else {
            return format!("= {}", short(self.coefficients[0]));
        };
        let (Some(multiplier), Some(offset)) = (self.multiplier, self.offset) else {
            return format!("= a polynomial of {joint}");
        };
        let offset = match offset {
            0.0 => String::new(),
            offset => format!(
                " {} {}",
                if offset < 0.0 { "-" } else { "+" },
                short(offset.abs())
            ),
        };
        format!("= {} {joint}{offset}", short(multiplier))
    }
}

fn is_linear(law: &CouplerLaw) -> bool {
    law.coefficients[2..] == [0.0; 3]
}

impl LoopContent {
    fn of(model: &Model, constraint: &LoopConstraint) -> Self {
        let link = |end: &LinkFrame| model.link(end.link).name.clone();
        Self {
            name: constraint.name.clone(),
            kind: match constraint.kind {
                LoopKind::Ball => "ball",
                LoopKind::Weld => "weld",
                LoopKind::Revolute => "revolute",
                LoopKind::Prismatic => "prismatic",
            },
            links: [link(&constraint.a), link(&constraint.b)],
        }
    }
}

impl FrameContent {
    fn row(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.link.clone(),
            position(&self.position_m),
        ]
    }
}

/// Four significant digits, at most three decimals.
fn short(x: f64) -> String {
    let digits = match x.abs() {
        x if x >= 100.0 => 1,
        x if x >= 10.0 => 2,
        _ => 3,
    };
    trimmed(format!("{x:.digits$}"))
}

/// Millimetres.
fn position(p: &[f64; 3]) -> String {
    p.map(|x| trimmed(format!("{:.3}", x + 0.0))).join(" ")
}

fn trimmed(number: String) -> String {
    if !number.contains('.') {
        return number;
    }
    match number.trim_end_matches('0').trim_end_matches('.') {
        "-0" | "" => "0".into(),
        digits => digits.to_owned(),
    }
}
