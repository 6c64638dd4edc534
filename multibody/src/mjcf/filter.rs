//! Pairs of links without contact: masks, excluded pairs, parents and children.

use std::collections::{BTreeMap, BTreeSet};

use super::File;
use super::geom::ContactMask;
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
            let touches = |x: &ContactMask, y: &ContactMask| x.touches(*y);
            let all = || {
                first
                    .masks
                    .iter()
                    .flat_map(|x| second.masks.iter().map(move |y| (x, y)))
            };
            let n_touching = all().filter(|(x, y)| touches(x, y)).count();
            let n = all().count();
            if n > 0 && n_touching == 0 {
                pairs.insert((a, b));
            } else if n_touching < n && first.rigid != second.rigid {
                let place = &file.root.place;
                remarks.suspicious(place, format!(
                    "bodies \"{}\" and \"{}\": contype and conaffinity let some of their geoms touch; here all of them do",
                    first.spec.name, second.spec.name
                ));
            }
        }
    }
    report_masks(tree, file, remarks);
    Ok(pairs)
}

/// Whether `parent` is on the rigid body that carries `child`'s; not for bodies fixed in the world.
fn is_parent(tree: &Tree, parent: &TreeLink, child: &TreeLink) -> bool {
    let carrier = tree.links[tree.links[child.rigid].carrier].rigid;
    let both_have_shapes = !parent.masks.is_empty() && !child.masks.is_empty();
    both_have_shapes && carrier != 0 && child.rigid != 0 && parent.rigid == carrier
}

/// The pairs of `<exclude>`, in ascending order.
fn excluded(
    file: &File<'_>,
    tree: &Tree,
    remarks: &mut Remarks,
) -> Result<BTreeSet<(usize, usize)>, MultibodyError> {
    let mut pairs = BTreeSet::new();
    for element in file.in_sections("contact") {
        if element.tag != "exclude" {
            let text = format!(
                "<{}> has no effect: pairs touch by the rules of the scene",
                element.tag
            );
            remarks.suspicious(&element.place, text);
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
    let deaf = |mask: &ContactMask| !mask.touches(ContactMask::USUAL);
    let links = tree.links.iter().filter(|link| link.masks.iter().any(deaf));
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
