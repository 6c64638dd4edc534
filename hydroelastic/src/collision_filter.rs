//! Collision filter: which geometries may touch, from bodies, joints, welds and named groups.

use crate::GeometryError;

/// Index of a geometry in its world, counted from 0 in order of insertion.
///
/// ```
/// use nalgebra::Isometry3;
/// use pliant_hydroelastic::{BroadPhase, CollisionFilterBuilder, GeometryIdx, Posed, Proxy, RigidShape, Shape};
///
/// // One ball on each of three bodies; the second and the third overlap.
/// let (ball, mut filter) = (Shape::sphere(0.1)?, CollisionFilterBuilder::default());
/// let mut proxies = Vec::new();
/// for x in [0.0, 1.0, 1.15] {
///     let owner = filter.owner();
///     assert_eq!(filter.geometry(owner)?, GeometryIdx(proxies.len() as u32));
///     let posed = RigidShape::at_rest(&ball, Isometry3::translation(x, 0.0, 0.0));
///     proxies.push(Proxy::of(&Posed::Rigid(posed), 1e-3, 0.0));
/// }
/// let mut pairs = Vec::new();
/// BroadPhase::default().candidates(&proxies, &filter.build(), &mut pairs);
/// assert_eq!(pairs, [(GeometryIdx(1), GeometryIdx(2))]);
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct GeometryIdx(pub u32);

/// Index of the body (link, deformable body, world) that carries geometries.
///
/// ```
/// use pliant_hydroelastic::{CollisionFilterBuilder, OwnerIdx};
///
/// // A hand that is welded to a forearm counts as one body with it.
/// let mut filter = CollisionFilterBuilder::default();
/// let [forearm, hand, cup] = [(); 3].map(|()| filter.owner());
/// assert_eq!(cup, OwnerIdx(2));
/// let (sleeve, palm, rim) = (filter.geometry(forearm)?, filter.geometry(hand)?, filter.geometry(cup)?);
/// filter.weld(forearm, hand)?;
/// let error = filter.weld(hand, OwnerIdx(7)).unwrap_err();
/// assert!(error.to_string().contains('7'));
/// let filter = filter.build();
/// assert!(!filter.allows(sleeve, palm) && filter.allows(palm, rim));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct OwnerIdx(pub u32);

/// A named set of geometries, made by [`CollisionFilterBuilder::group`]. A filter has at most 64.
///
/// ```
/// use pliant_hydroelastic::{CollisionFilterBuilder, GroupIdx};
///
/// // Drawn parts touch nothing that is solid, but each other.
/// let mut filter = CollisionFilterBuilder::default();
/// let drawn: GroupIdx = filter.group("drawn")?;
/// let solid = filter.group("solid")?;
/// assert_eq!(filter.group("drawn")?, drawn);
/// let mut member = |group| {
///     let owner = filter.owner();
///     let geometry = filter.geometry(owner)?;
///     filter.join(geometry, group).map(|()| geometry)
/// };
/// let (arrow, label, table) = (member(drawn)?, member(drawn)?, member(solid)?);
/// filter.exclude_groups(drawn, solid)?;
/// let filter = filter.build();
/// assert!(!filter.allows(arrow, table) && filter.allows(arrow, label));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupIdx(u32);

/// At most this many named groups: one bit each.
const GROUPS_MAX: usize = 64;

/// Collects bodies, geometries, groups and exclusions; [`build`](Self::build) gives the [`CollisionFilter`].
///
/// ```
/// use pliant_hydroelastic::CollisionFilterBuilder;
/// let mut filter = CollisionFilterBuilder::default();
/// let [upper, lower, table] = [(); 3].map(|()| filter.owner());
/// let (a, b, c) = (filter.geometry(upper)?, filter.geometry(lower)?, filter.geometry(table)?);
/// filter.exclude_owners(upper, lower)?; // a joint between them
/// let filter = filter.build();
/// assert!(!filter.allows(a, b) && filter.allows(a, c) && filter.allows(b, c));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CollisionFilterBuilder {
    /// Parent pointers of the forest of welded owners.
    welded_to: Vec<u32>,
    owner_of: Vec<u32>,
    member_of: Vec<u64>,
    group_names: Vec<String>,
    /// For each group the groups it does not touch.
    blocked: Vec<u64>,
    owner_pairs: Vec<[u32; 2]>,
    geometry_pairs: Vec<[u32; 2]>,
}

impl CollisionFilterBuilder {
    /// A new body.
    pub fn owner(&mut self) -> OwnerIdx {
        let index = self.welded_to.len() as u32;
        self.welded_to.push(index);
        OwnerIdx(index)
    }

    /// A new geometry on a body.
    ///
    /// # Errors
    /// [`GeometryError::UnknownIndex`].
    pub fn geometry(&mut self, owner: OwnerIdx) -> Result<GeometryIdx, GeometryError> {
        self.known_owner(owner)?;
        let index = self.owner_of.len() as u32;
        self.owner_of.push(owner.0);
        self.member_of.push(0);
        Ok(GeometryIdx(index))
    }

    /// Declares that two bodies never move relative to each other: they count as one, including in exclusions.
    ///
    /// # Errors
    /// [`GeometryError::UnknownIndex`].
    pub fn weld(&mut self, a: OwnerIdx, b: OwnerIdx) -> Result<(), GeometryError> {
        self.known_owner(a)?;
        self.known_owner(b)?;
        let (a, b) = (self.root(a.0), self.root(b.0));
        // The lower index represents the welded set, whatever the order of the calls.
        self.welded_to[a.max(b) as usize] = a.min(b);
        Ok(())
    }

    /// Excludes contact of two bodies, such as neighbours at a joint, and of everything welded to them.
    ///
    /// # Errors
    /// [`GeometryError::UnknownIndex`].
    pub fn exclude_owners(&mut self, a: OwnerIdx, b: OwnerIdx) -> Result<(), GeometryError> {
        self.known_owner(a)?;
        self.known_owner(b)?;
        self.owner_pairs.push([a.0, b.0]);
        Ok(())
    }

    /// Excludes contact of two geometries.
    ///
    /// # Errors
    /// [`GeometryError::UnknownIndex`].
    pub fn exclude_geometries(
        &mut self,
        a: GeometryIdx,
        b: GeometryIdx,
    ) -> Result<(), GeometryError> {
        self.known_geometry(a)?;
        self.known_geometry(b)?;
        self.geometry_pairs.push([a.0.min(b.0), a.0.max(b.0)]);
        Ok(())
    }

    /// The group of this name; it is created on first use.
    ///
    /// # Errors
    /// [`GeometryError::TooManyGroups`] beyond 64.
    pub fn group(&mut self, name: &str) -> Result<GroupIdx, GeometryError> {
        if let Some(i) = self.group_names.iter().position(|n| n == name) {
            return Ok(GroupIdx(i as u32));
        }
        if self.group_names.len() == GROUPS_MAX {
            return Err(GeometryError::TooManyGroups {
                name: name.to_owned(),
                count: GROUPS_MAX + 1,
                allowed: GROUPS_MAX,
            });
        }
        self.group_names.push(name.to_owned());
        self.blocked.push(0);
        Ok(GroupIdx(self.group_names.len() as u32 - 1))
    }

    /// Adds a geometry to a group.
    ///
    /// # Errors
    /// [`GeometryError::UnknownIndex`].
    pub fn join(&mut self, geometry: GeometryIdx, group: GroupIdx) -> Result<(), GeometryError> {
        self.known_geometry(geometry)?;
        self.known_group(group)?;
        self.member_of[geometry.0 as usize] |= 1 << group.0;
        Ok(())
    }

    /// Excludes contact of members of `a` with members of `b`; with `a == b`, of its members with each other.
    ///
    /// # Errors
    /// [`GeometryError::UnknownIndex`].
    pub fn exclude_groups(&mut self, a: GroupIdx, b: GroupIdx) -> Result<(), GeometryError> {
        self.known_group(a)?;
        self.known_group(b)?;
        self.blocked[a.0 as usize] |= 1 << b.0;
        self.blocked[b.0 as usize] |= 1 << a.0;
        Ok(())
    }

    /// Builds the filter.
    pub fn build(mut self) -> CollisionFilter {
        let mut owner_pairs: Vec<[u32; 2]> = std::mem::take(&mut self.owner_pairs)
            .into_iter()
            .map(|[a, b]| {
                let (a, b) = (self.root(a), self.root(b));
                [a.min(b), a.max(b)]
            })
            .collect();
        owner_pairs.sort_unstable();
        owner_pairs.dedup();
        self.geometry_pairs.sort_unstable();
        self.geometry_pairs.dedup();
        let geometries = (0..self.owner_of.len())
            .map(|i| {
                let member_of = self.member_of[i];
                let groups = (0..self.blocked.len()).filter(|g| member_of >> g & 1 == 1);
                Membership {
                    owner: self.root(self.owner_of[i]),
                    member_of,
                    blocked: groups.fold(0, |mask, g| mask | self.blocked[g]),
                }
            })
            .collect();
        CollisionFilter {
            geometries,
            owner_pairs,
            geometry_pairs: self.geometry_pairs,
        }
    }

    fn root(&self, mut owner: u32) -> u32 {
        while self.welded_to[owner as usize] != owner {
            owner = self.welded_to[owner as usize];
        }
        owner
    }

    fn known_owner(&self, owner: OwnerIdx) -> Result<(), GeometryError> {
        known("body", owner.0, self.welded_to.len())
    }

    fn known_geometry(&self, geometry: GeometryIdx) -> Result<(), GeometryError> {
        known("geometry", geometry.0, self.owner_of.len())
    }

    fn known_group(&self, group: GroupIdx) -> Result<(), GeometryError> {
        known("group", group.0, self.group_names.len())
    }
}

fn known(what: &'static str, index: u32, count: usize) -> Result<(), GeometryError> {
    if (index as usize) < count {
        Ok(())
    } else {
        Err(GeometryError::UnknownIndex {
            what,
            index: index as usize,
            count,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Membership {
    owner: u32,
    member_of: u64,
    blocked: u64,
}

/// Decides whether two geometries may touch. Immutable.
///
/// ```
/// use pliant_hydroelastic::CollisionFilterBuilder;
///
/// // Two geometries of one body do not touch, nor does a geometry touch itself.
/// let mut filter = CollisionFilterBuilder::default();
/// let (hand, cup) = (filter.owner(), filter.owner());
/// let (palm, thumb, rim) = (filter.geometry(hand)?, filter.geometry(hand)?, filter.geometry(cup)?);
/// let filter = filter.build();
/// assert!(filter.allows(palm, rim) && filter.allows(rim, thumb));
/// assert!(!filter.allows(palm, thumb) && !filter.allows(rim, rim));
/// # Ok::<(), pliant_hydroelastic::GeometryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollisionFilter {
    geometries: Vec<Membership>,
    owner_pairs: Vec<[u32; 2]>,
    geometry_pairs: Vec<[u32; 2]>,
}

impl CollisionFilter {
    /// Number of geometries in the filter.
    pub fn n_geometries(&self) -> usize {
        self.geometries.len()
    }

    /// Whether `a` and `b` may touch: not on the same body (or welded bodies), and not excluded as bodies, as
    /// geometries or by their groups. Symmetric. False for a geometry with itself (self-contact of a deforming surface
    /// is set by its owner) and for unknown indices.
    pub fn allows(&self, a: GeometryIdx, b: GeometryIdx) -> bool {
        let (Some(x), Some(y)) = (
            self.geometries.get(a.0 as usize),
            self.geometries.get(b.0 as usize),
        ) else {
            return false;
        };
        x.owner != y.owner
            && x.blocked & y.member_of == 0
            && !contains(&self.owner_pairs, x.owner, y.owner)
            && !contains(&self.geometry_pairs, a.0, b.0)
    }
}

fn contains(sorted: &[[u32; 2]], a: u32, b: u32) -> bool {
    !sorted.is_empty() && sorted.binary_search(&[a.min(b), a.max(b)]).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometries_of_one_body_never_touch() {
        let mut f = CollisionFilterBuilder::default();
        let (one, two) = (f.owner(), f.owner());
        let g = [one, one, two].map(|o| f.geometry(o).unwrap());
        let f = f.build();
        assert!(!f.allows(g[0], g[1]) && f.allows(g[0], g[2]) && f.allows(g[2], g[1]));
        assert!(!f.allows(g[0], g[0]) && !f.allows(g[0], GeometryIdx(99)));
        assert_eq!(f.n_geometries(), 3);
    }

    #[test]
    fn welded_bodies_count_as_one_also_in_exclusions_made_before() {
        let mut f = CollisionFilterBuilder::default();
        let o: Vec<_> = (0..5).map(|_| f.owner()).collect();
        let g: Vec<_> = o.iter().map(|&o| f.geometry(o).unwrap()).collect();
        f.exclude_owners(o[1], o[4]).unwrap();
        f.weld(o[2], o[1]).unwrap();
        f.weld(o[3], o[2]).unwrap();
        let f = f.build();
        assert!(!f.allows(g[1], g[3]) && !f.allows(g[2], g[3]));
        assert!(!f.allows(g[3], g[4]) && !f.allows(g[4], g[2]));
        assert!(f.allows(g[0], g[3]) && f.allows(g[0], g[4]));
    }

    #[test]
    fn groups_block_each_other_by_name() {
        let mut f = CollisionFilterBuilder::default();
        let g: Vec<_> = (0..4)
            .map(|_| {
                let o = f.owner();
                f.geometry(o).unwrap()
            })
            .collect();
        let (soft, hard) = (f.group("soft").unwrap(), f.group("hard").unwrap());
        assert_eq!(f.group("soft").unwrap(), soft);
        f.join(g[0], soft).unwrap();
        f.join(g[1], hard).unwrap();
        f.join(g[2], hard).unwrap();
        f.exclude_groups(soft, hard).unwrap();
        f.exclude_groups(hard, hard).unwrap();
        let f = f.build();
        assert!(!f.allows(g[0], g[1]) && !f.allows(g[2], g[0]) && !f.allows(g[1], g[2]));
        assert!(f.allows(g[0], g[3]) && f.allows(g[3], g[1]));
    }

    #[test]
    fn unknown_indices_are_refused_by_name() {
        let mut f = CollisionFilterBuilder::default();
        let o = f.owner();
        assert!(matches!(
            f.geometry(OwnerIdx(3)),
            Err(GeometryError::UnknownIndex {
                what: "body",
                index: 3,
                count: 1
            })
        ));
        let g = f.geometry(o).unwrap();
        assert!(f.exclude_geometries(g, GeometryIdx(7)).is_err());
        for i in 0..64 {
            f.group(&format!("group {i}")).unwrap();
        }
        assert!(matches!(
            f.group("one more"),
            Err(GeometryError::TooManyGroups { count: 65, .. })
        ));
    }
}
