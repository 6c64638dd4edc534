//! Bodies of registered kinds: `[[NAME]]`.

use nalgebra::{Isometry3, Vector3};

use super::{Matter, Shown, SoftEntry};
use crate::registry::{MakeBody, Part, ReadBody};
use crate::scene::body;
use crate::scene::error::SceneError;
use crate::scene::item::Item;
use crate::scene::material::Materials;
use crate::scene::schema::{Key, TableSchema, ValueKind};
use crate::scene::table::Context;

pub(super) static OWN: TableSchema = TableSchema {
    name: "bodies of one's own",
    keys: &[
        body::NAME,
        Key {
            name: "material",
            value: ValueKind::Described("name or table"),
            unit: "",
            default: "`default`",
            about: "surface material: the name of a `[materials.NAME]`, or an inline table with its keys",
        },
        body::COLOR,
    ],
};

/// A body of a registered kind.
#[derive(Clone)]
pub struct OwnBodyEntry {
    make: MakeBody,
}

impl OwnBodyEntry {
    /// A new instance of the body.
    pub(crate) fn make(&self) -> std::sync::Arc<dyn crate::registry::SceneBody> {
        (self.make)()
    }
}

impl std::fmt::Debug for OwnBodyEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnBodyEntry").finish_non_exhaustive()
    }
}

/// An element of the list of tables that `kind` is named after.
pub(super) fn own(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
    kind: &Part<ReadBody>,
) -> Result<SoftEntry, SceneError> {
    let table = item.table_of_kind(&OWN, kind)?;
    Ok(SoftEntry {
        name: table.required("name")?.new_name()?,
        pose: Isometry3::identity(),
        velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
        surface: materials.surface(context, table.optional("material").as_ref())?,
        regions: Vec::new(),
        color: body::color(&table)?,
        shown: Shown::Color,
        shown_max: None,
        matter: Matter::Own(OwnBodyEntry {
            make: kind.read()(&table)?,
        }),
    })
}
