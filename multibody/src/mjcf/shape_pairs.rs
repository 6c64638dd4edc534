//! Friction of pairs of geoms: by the rules of MuJoCo, or by `<pair>`.
//!
//! Of two geoms, the one with the larger `priority` gives `condim` and friction; at equal priority, each number is the larger one of the
//! two. A `<pair>` gives its own numbers, and touches whatever the filters say.

use std::collections::{BTreeMap, BTreeSet};

use super::File;
use super::geom::{ContactRule, UNWRITTEN_FRICTION};
use super::world::Tree;
use crate::builder::ModelBuilder;
use crate::error::MultibodyError;
use crate::markup::{Element, Remarks};
use crate::model::{PairContact, PairFriction};

/// A geom in contact: its link, and its number among the collision shapes of the link.
type Geom = (usize, usize);

const KNOWN: [&str; 6] = ["name", "class", "geom1", "geom2", "condim", "friction"];

/// The geoms that `<pair>` names.
pub(super) fn named(root: &Element) -> BTreeSet<String> {
    let sections = root.children.iter().filter(|e| e.tag == "contact");
    let pairs = sections.flat_map(|section| section.children.iter().filter(|e| e.tag == "pair"));
    let ends = |pair: &Element| {
        let ends = ["geom1", "geom2"].map(|end| pair.attribute(end).map(|n| n.trim().to_owned()));
        ends.into_iter().flatten()
    };
    pairs.flat_map(ends).collect()
}

/// Adds the pairs of the file to the model. `apart` holds the pairs of links without contact, in ascending order.
pub(super) fn add(
    file: &File<'_>,
    tree: &Tree,
    apart: &BTreeSet<(usize, usize)>,
    builder: &mut ModelBuilder,
    remarks: &mut Remarks,
) -> Result<(), MultibodyError> {
    let written = written_pairs(file, tree, remarks)?;
    let all: Vec<Geom> = (tree.links.iter().enumerate())
        .flat_map(|(l, link)| (0..link.rules.len()).map(move |k| (l, k)))
        .collect();
    let rule = |(l, k): Geom| &tree.links[l].rules[k];
    let name = |(l, k): Geom| (tree.links[l].spec.name.clone(), k);
    let mut slides_on = BTreeSet::new();
    for (n, &first) in all.iter().enumerate() {
        if !rule(first).mask.touches_anything() {
            builder.shape_of_pairs_only(name(first).0, first.1);
        }
        for &second in &all[..n] {
            let pair = (second, first);
            let links = (second.0.min(first.0), second.0.max(first.0));
            let contact = match written.get(&pair) {
                Some(friction) => Some(PairContact::Friction(*friction)),
                None if apart.contains(&links)
                    || tree.links[first.0].rigid == tree.links[second.0].rigid =>
                {
                    None
                }
                None => of_rules(rule(first), rule(second)),
            };
            if let Some(PairContact::Friction(friction)) = contact
                && friction.sliding == Some(0.0)
            {
                slides_on.extend([first, second]);
            }
            if let Some(contact) = contact {
                builder.shape_pair([name(second), name(first)], contact);
            }
        }
    }
    let alone = |geom: &&Geom| rule(**geom).condim == 1 && !slides_on.contains(*geom);
    let alone: Vec<&str> = all
        .iter()
        .filter(alone)
        .map(|&(l, k)| &*tree.links[l].spec.collisions[k].name)
        .collect();
    if !alone.is_empty() {
        let text = format!(
            "condim = 1 takes no friction away without a second geom with condim = 1 that touches; bodies of the scene count as condim = 3: {}",
            alone.join(", ")
        );
        remarks.suspicious(&file.root.place, text);
    }
    Ok(())
}

/// The contact of two geoms of different bodies, where it does not follow from their own friction.
fn of_rules(a: &ContactRule, b: &ContactRule) -> Option<PairContact> {
    if !a.mask.touches(b.mask) {
        return Some(PairContact::Excluded);
    }
    let larger = |of: fn(&ContactRule) -> f64| match a.priority.cmp(&b.priority) {
        core::cmp::Ordering::Less => of(b),
        core::cmp::Ordering::Equal => of(a).max(of(b)),
        core::cmp::Ordering::Greater => of(a),
    };
    let condim = larger(|rule| f64::from(rule.condim)) as u8;
    let is_written = a.friction.is_some() || b.friction.is_some();
    let sliding = larger(|rule| rule.friction.unwrap_or(UNWRITTEN_FRICTION)[0]);
    let of_condim = |least: u8, k: usize| match condim >= least {
        true => Some(match k {
            1 => larger(|rule| rule.friction.unwrap_or(UNWRITTEN_FRICTION)[1]),
            _ => larger(|rule| rule.friction.unwrap_or(UNWRITTEN_FRICTION)[2]),
        }),
        // What the shapes have of their own does not act.
        false => (a.condim >= least || b.condim >= least).then_some(0.0),
    };
    let is_equal = a.friction.map(|f| f[0]) == b.friction.map(|f| f[0]);
    let friction = PairFriction {
        sliding: match condim {
            1 => Some(0.0),
            _ => (is_written && !is_equal).then_some(sliding),
        },
        torsional: of_condim(4, 1),
        rolling: of_condim(6, 2),
    };
    (friction != PairFriction::default()).then_some(PairContact::Friction(friction))
}

/// The pairs of `<pair>`, in ascending order.
fn written_pairs(
    file: &File<'_>,
    tree: &Tree,
    remarks: &mut Remarks,
) -> Result<BTreeMap<(Geom, Geom), PairFriction>, MultibodyError> {
    let mut pairs = BTreeMap::new();
    for element in file.in_sections("contact").filter(|e| e.tag == "pair") {
        remarks.only_attributes(element, &KNOWN);
        let settings = file.defaults.settings(element, None)?;
        let subject = "<pair>";
        let find = |end: &str| -> Result<Geom, MultibodyError> {
            let name = element.required(end, subject)?;
            let in_link = |(l, link): (usize, &super::world::TreeLink)| {
                let mut collisions = link.spec.collisions.iter();
                Some((l, collisions.position(|c| c.name == name)?))
            };
            let found = tree.links.iter().enumerate().find_map(in_link);
            found.ok_or_else(|| {
                element.error(
                    subject,
                    format!("{end}=\"{name}\" is not a geom of the model"),
                )
            })
        };
        let (a, b) = (find("geom1")?, find("geom2")?);
        if tree.links[a.0].rigid == tree.links[b.0].rigid {
            let text = "its geoms are on one rigid body, and never touch; remove it";
            return Err(element.error(subject, text));
        }
        let condim = super::geom::condim(&settings, subject)?;
        let unwritten = [1.0, 1.0, 0.005, 0.0001, 0.0001];
        let friction = settings.leading::<5>("friction", subject, unwritten)?;
        if let Some(mu) = friction.iter().find(|mu| **mu < 0.0) {
            return Err(element.error(subject, format!("friction = {mu} must not be negative")));
        }
        let [along, across, torsional, rolling, other] = friction;
        if condim > 1 && (along != across || (condim == 6 && rolling != other)) {
            let text = format!(
                "<pair> of \"{}\" and \"{}\": friction is the same in all directions, {along} and {rolling} m",
                tree.links[a.0].spec.collisions[a.1].name,
                tree.links[b.0].spec.collisions[b.1].name
            );
            remarks.suspicious(&element.place, text);
        }
        let from = |least: u8, value: f64| Some(if condim >= least { value } else { 0.0 });
        let friction = PairFriction {
            sliding: from(3, along),
            torsional: from(4, torsional),
            rolling: from(6, rolling),
        };
        pairs.insert((a.min(b), a.max(b)), friction);
    }
    Ok(pairs)
}
