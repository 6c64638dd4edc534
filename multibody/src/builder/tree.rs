//! The tree of links and joints given in any order, or the reason why they do not form one.

use std::collections::BTreeMap;

use super::{JointSpec, LinkSpec};
use crate::error::MultibodyError;
use crate::model::nearest_name;

/// One link of the tree; `parent` is the position of its parent in the order of visits.
pub(super) struct Visit {
    pub(super) link: usize,
    pub(super) joint: Option<usize>,
    pub(super) parent: usize,
}

/// The links in depth-first order, children in the order of their joints.
pub(super) struct Tree {
    pub(super) order: Vec<Visit>,
}

impl Tree {
    pub(super) fn of(
        model: &str,
        links: &[LinkSpec],
        joints: &[JointSpec],
    ) -> Result<Self, MultibodyError> {
        if links.is_empty() {
            return Err(MultibodyError::NoLinks {
                model: model.to_owned(),
            });
        }
        let mut index = BTreeMap::new();
        for (i, link) in links.iter().enumerate() {
            if index.insert(&*link.name, i).is_some() {
                return Err(MultibodyError::DuplicateLink {
                    link: link.name.clone(),
                });
            }
        }
        let mut names = BTreeMap::new();
        for joint in joints {
            if names.insert(&*joint.name, ()).is_some() {
                return Err(MultibodyError::DuplicateJoint {
                    joint: joint.name.clone(),
                });
            }
        }
        let find = |joint: &JointSpec, link: &str| {
            index
                .get(link)
                .copied()
                .ok_or_else(|| MultibodyError::UnknownLink {
                    joint: joint.name.clone(),
                    link: link.to_owned(),
                    nearest: nearest_name(link, links.iter().map(|l| &*l.name)),
                })
        };
        let mut parent_joint: Vec<Option<usize>> = vec![None; links.len()];
        let mut children: Vec<Vec<(usize, usize)>> = vec![Vec::new(); links.len()];
        for (j, joint) in joints.iter().enumerate() {
            let (parent, child) = (find(joint, &joint.parent)?, find(joint, &joint.child)?);
            if parent == child {
                return Err(MultibodyError::SelfJoint {
                    joint: joint.name.clone(),
                    link: joint.child.clone(),
                });
            }
            if let Some(first) = parent_joint[child] {
                return Err(MultibodyError::TwoParents {
                    link: joint.child.clone(),
                    first: joints[first].name.clone(),
                    second: joint.name.clone(),
                });
            }
            parent_joint[child] = Some(j);
            children[parent].push((j, child));
        }
        let roots: Vec<usize> = (0..links.len())
            .filter(|&l| parent_joint[l].is_none())
            .collect();
        let order = roots
            .first()
            .map_or_else(Vec::new, |&root| depth_first(root, &children));
        if order.len() < links.len() {
            let mut reached = vec![false; links.len()];
            order.iter().for_each(|v| reached[v.link] = true);
            if roots.len() > 1 {
                return Err(MultibodyError::SeveralRoots {
                    roots: roots.iter().map(|&r| links[r].name.clone()).collect(),
                });
            }
            // Links that no root reaches are on a cycle or below one: go up until a link repeats.
            let parent_of =
                |l: usize| parent_joint[l].and_then(|j| index.get(&*joints[j].parent).copied());
            let start = (0..links.len()).find(|&l| !reached[l]).unwrap_or(0);
            let mut path = vec![start];
            while let Some(up) = parent_of(path[path.len() - 1]) {
                if let Some(at) = path.iter().position(|&l| l == up) {
                    let cycle = path[at..=at]
                        .iter()
                        .chain(path[at + 1..].iter().rev())
                        .chain(&path[at..=at]);
                    return Err(MultibodyError::Cycle {
                        cycle: cycle.map(|&l| links[l].name.clone()).collect(),
                    });
                }
                path.push(up);
            }
            unreachable!(
                "a link that no root reaches has a parent, and so has each of its ancestors"
            );
        }
        Ok(Self { order })
    }
}

/// Preorder traversal from `root`, without recursion so that long chains do not overflow the stack.
fn depth_first(root: usize, children: &[Vec<(usize, usize)>]) -> Vec<Visit> {
    let mut order: Vec<Visit> = Vec::with_capacity(children.len());
    let mut stack = vec![Visit {
        link: root,
        joint: None,
        parent: 0,
    }];
    while let Some(visit) = stack.pop() {
        let parent = order.len();
        for &(joint, link) in children[visit.link].iter().rev() {
            stack.push(Visit {
                link,
                joint: Some(joint),
                parent,
            });
        }
        order.push(visit);
    }
    order
}
