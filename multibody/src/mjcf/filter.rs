//! Pairs of links without contact: masks, excluded pairs, parents and children.

use std::collections::{BTreeMap, BTreeSet};

use super::File;
use super::geom::{ContactMask, ContactRule};
use super::world::{Tree, TreeLink, WORLD, WORLD_SHAPES};
use crate::error::MultibodyError;
use crate::geometry::CollisionFilterGroup;
use crate::markup::Remarks;

/// The pairs of links without contact, in ascending order.
pub(super) fn pairs(
    file: &File<'_>,
    tree: &Tree,
    remarks: &mut Remarks,
) -> Result<BTreeSet<(usize, usize)>, MultibodyError> {
    let mut pairs = excluded(file, tree, remarks)?;
    for (b, second) in tree.links.iter().enumerate() {
        for (a, first) in tree.links[..b].iter().enumerate() {
            if is_parent(tree, first, second) || is_parent(tree, second, first) {
                pairs.insert((a, b));
                continue;
            }
            let touches = |x: &ContactRule| second.rules.iter().any(|y| x.mask.touches(y.mask));
            let have_shapes = !first.rules.is_empty() && !second.rules.is_empty();
            if have_shapes && !first.rules.iter().any(touches) {
                pairs.insert((a, b));
            }
        }
    }
    report_masks(tree, file, remarks);
    Ok(pairs)
}

/// Whether `parent` is on the rigid body that carries `child`'s; not for bodies fixed in the world.
fn is_parent(tree: &Tree, parent: &TreeLink, child: &TreeLink) -> bool {
    let carrier = tree.links[tree.links[child.rigid].carrier].rigid;
    let both_have_shapes = !parent.rules.is_empty() && !child.rules.is_empty();
    both_have_shapes && carrier != 0 && child.rigid != 0 && parent.rigid == carrier
}

/// The pairs of `<exclude>`, in ascending order.
fn excluded(
    file: &File<'_>,
    tree: &Tree,
    remarks: &mut Remarks,
) -> Result<BTreeSet<(usize, usize)>, MultibodyError> {
    let mut pairs = BTreeSet::new();
    for element in file.in_sections("contact").filter(|e| e.tag != "pair") {
        if element.tag != "exclude" {
            remarks.left_out(element);
            continue;
        }
        remarks.only_attributes(element, &["name", "body1", "body2"]);
        let find = |attribute: &str| -> Result<Option<usize>, MultibodyError> {
            let written = element.required(attribute, "<exclude>")?;
            let name = match written {
                WORLD => WORLD_SHAPES,
                name => name,
            };
            let found = tree.links.iter().position(|link| link.spec.name == name);
            match found {
                None if written != WORLD => {
                    let text = format!("{attribute}=\"{written}\" is not a body of the model");
                    Err(element.error("<exclude>", text))
                }
                found => Ok(found),
            }
        };
        if let (Some(a), Some(b)) = (find("body1")?, find("body2")?) {
            pairs.insert((a.min(b), a.max(b)));
        }
    }
    Ok(pairs)
}

/// Shapes outside of the file have no masks.
fn report_masks(tree: &Tree, file: &File<'_>, remarks: &mut Remarks) {
    let deaf =
        |rule: &ContactRule| rule.mask.touches_anything() && !rule.mask.touches(ContactMask::USUAL);
    let links = tree.links.iter().filter(|link| link.rules.iter().any(deaf));
    let names: Vec<&str> = links.map(|link| &*link.spec.name).collect();
    if !names.is_empty() {
        let text = format!(
            "contype and conaffinity act within the file only: bodies outside of it touch {}",
            names.join(", ")
        );
        remarks.suspicious(&file.root.place, text);
    }
}

/// One group per link that is in a pair.
pub(super) fn groups(tree: &Tree, pairs: &BTreeSet<(usize, usize)>) -> Vec<CollisionFilterGroup> {
    let mut others: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for &(a, b) in pairs {
        let name = tree.links[b].spec.name.clone();
        others.entry(a).or_default().push(name);
        others.entry(b).or_default();
    }
    let group = |(link, ignored_groups): (usize, Vec<String>)| {
        let name = tree.links[link].spec.name.clone();
        CollisionFilterGroup {
            members: vec![name.clone()],
            name,
            ignored_groups,
        }
    };
    others.into_iter().map(group).collect()
}
