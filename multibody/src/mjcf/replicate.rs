//! `<replicate>`: copies of what is in it, each in a `<frame>` that is displaced from the one before.

use nalgebra::Isometry3;

use super::compiler::Compiler;
use super::defaults::Settings;
use super::orientation::pose;
use crate::error::MultibodyError;
use crate::markup::Element;

/// No file needs more elements; copies of copies grow fast.
const ELEMENTS_MAX: usize = 100_000;

/// Writes out the copies in `element`.
pub(super) fn expanded(
    mut element: Element,
    compiler: &Compiler,
) -> Result<Element, MultibodyError> {
    let mut n_copied = 0;
    expand(&mut element, compiler, &mut n_copied)?;
    Ok(element)
}

fn expand(
    element: &mut Element,
    compiler: &Compiler,
    n_copied: &mut usize,
) -> Result<(), MultibodyError> {
    let children = Vec::with_capacity(element.children.len());
    for mut child in std::mem::replace(&mut element.children, children) {
        expand(&mut child, compiler, n_copied)?;
        match &*child.tag {
            "replicate" => element.children.extend(copies(&child, compiler, n_copied)?),
            _ => element.children.push(child),
        }
    }
    Ok(())
}

fn copies(
    element: &Element,
    compiler: &Compiler,
    n_copied: &mut usize,
) -> Result<Vec<Element>, MultibodyError> {
    let subject = "<replicate>";
    let written = element.required("count", subject)?;
    let count = match written.parse::<usize>() {
        Ok(count) if count > 0 => count,
        _ => {
            let text = format!("count=\"{written}\" must be a positive whole number");
            return Err(element.error(subject, text));
        }
    };
    *n_copied = n_copied.saturating_add(count.saturating_mul(size(element)));
    if *n_copied > ELEMENTS_MAX {
        let text = format!("makes more than {ELEMENTS_MAX} elements");
        return Err(element.error(subject, text));
    }
    let step = step(element, compiler)?;
    let separator = element.attribute("sep").unwrap_or_default();
    let digits = written.len();
    let mut X = Isometry3::identity();
    let mut frames = Vec::with_capacity(count);
    for copy in 0..count {
        let mut frame = Element {
            tag: "frame".into(),
            attributes: placed(&X),
            ..element.clone()
        };
        let class = element.attribute("childclass");
        let class = class.map(|class| ("childclass".to_owned(), class.to_owned()));
        frame.attributes.extend(class);
        let suffix = format!("{separator}{copy:0digits$}");
        frame
            .children
            .iter_mut()
            .for_each(|child| add_suffix(child, &suffix));
        frames.push(frame);
        X *= step;
    }
    Ok(frames)
}

/// Displacement of a copy in the frame of the one before.
fn step(element: &Element, compiler: &Compiler) -> Result<Isometry3<f64>, MultibodyError> {
    for (name, _) in &element.attributes {
        if !["count", "offset", "euler", "sep", "childclass"].contains(&&**name) {
            let text = format!("the attribute {name} is not supported");
            return Err(element.error("<replicate>", text));
        }
    }
    let attribute =
        |from: &str, to: &str| Some((to.to_owned(), element.attribute(from)?.to_owned()));
    let moved = Element {
        attributes: [attribute("offset", "pos"), attribute("euler", "euler")]
            .into_iter()
            .flatten()
            .collect(),
        ..element.clone()
    };
    pose(&Settings::alone(&moved), compiler, "<replicate>")
}

/// Attributes of a pose; none for the identity, so that values stay as written.
fn placed(X: &Isometry3<f64>) -> Vec<(String, String)> {
    if *X == Isometry3::identity() {
        return Vec::new();
    }
    let p = X.translation;
    let q = X.rotation.quaternion();
    vec![
        ("pos".into(), format!("{} {} {}", p.x, p.y, p.z)),
        ("quat".into(), format!("{} {} {} {}", q.w, q.i, q.j, q.k)),
    ]
}

fn add_suffix(element: &mut Element, suffix: &str) {
    for (name, value) in &mut element.attributes {
        if name == "name" {
            *value = format!("{}{suffix}", value.trim());
        }
    }
    for child in &mut element.children {
        add_suffix(child, suffix);
    }
}

/// Number of elements in an element, itself included.
fn size(element: &Element) -> usize {
    1 + element.children.iter().map(size).sum::<usize>()
}
