//! `[camera]` and `[[cameras]]`: the views that the replay offers.

use std::collections::BTreeSet;

use super::error::SceneError;
use super::item::{Item, NamedReference};
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::table::TableReader;
use crate::recording::{CameraPlace, DEFAULT_FIELD_OF_VIEW};

pub(super) static TABLES: [&TableSchema; 2] = [&CAMERA, &CAMERAS];

/// The name of `[camera]` among `[[cameras]]`.
const FIRST: &str = "main";

const EYE: Key = Key {
    name: "eye",
    value: ValueKind::Vector3,
    unit: "m",
    default: "none",
    about: "where the camera stands at first, if not by `direction`",
};
const TARGET: Key = Key {
    name: "target",
    value: ValueKind::Vector3,
    unit: "m",
    default: "[0, 0, 0]",
    about: "what a camera with an `eye` looks at and orbits around",
};
const DIRECTION: Key = Key {
    name: "direction",
    value: ValueKind::Vector3,
    unit: "",
    default: "from the front, a little from above",
    about: "from what moves towards the camera, which stands so far away that what moves during the run fills the picture",
};
const FOV: Key = Key {
    name: "fov",
    value: ValueKind::Between(0.01, 2.5),
    unit: "rad",
    default: "0.6",
    about: "vertical field of view",
};
const FOLLOW: Key = Key {
    name: "follow",
    value: ValueKind::Described("name of a body, a link or a soft body"),
    unit: "",
    default: "none",
    about: "the camera moves along with it; by `direction`, it is what fills the picture, with its surroundings",
};

static CAMERA: TableSchema = TableSchema {
    name: "[camera]",
    keys: &[EYE, TARGET, DIRECTION, FOV, FOLLOW],
};

static CAMERAS: TableSchema = TableSchema {
    name: "[[cameras]]",
    keys: &[
        Key {
            name: "name",
            value: ValueKind::Text,
            unit: "",
            default: REQUIRED,
            about: "name in the menu of the replay and for `pliant render --camera`; `main` is that of `[camera]`",
        },
        EYE,
        TARGET,
        DIRECTION,
        FOV,
        FOLLOW,
    ],
};

/// A view of the replay.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CameraEntry {
    /// Its name.
    pub(crate) name: String,
    /// Where it stands at first.
    pub(crate) place: CameraPlace,
    /// Vertical field of view, rad.
    pub(crate) field_of_view: f64,
    /// What it moves along with.
    pub(crate) follow: Option<NamedReference>,
}

/// `[camera]`, then `[[cameras]]`.
pub(super) fn cameras(
    first: Option<&Item<'_>>,
    more: Option<&Item<'_>>,
) -> Result<Vec<CameraEntry>, SceneError> {
    let mut cameras = Vec::new();
    if let Some(item) = first {
        cameras.push(camera(item.table(&CAMERA)?, FIRST)?);
    }
    let mut taken = BTreeSet::from([FIRST]);
    for item in more.map_or(Ok(Vec::new()), Item::tables)? {
        let mut table = item.table(&CAMERAS)?;
        let name = table.required("name")?;
        let reference = name.new_name()?;
        if !taken.insert(name.text()?) {
            let reason = format!("another camera has the name {:?}", reference.name);
            return Err(table.refused("name", reason));
        }
        table.called(&reference.name);
        cameras.push(camera(table, &reference.name)?);
    }
    Ok(cameras)
}

fn camera(table: TableReader<'_>, name: &str) -> Result<CameraEntry, SceneError> {
    let target = table.vector3("target")?;
    let (eye, direction) = (table.optional("eye"), table.optional("direction"));
    let place = match (eye, direction) {
        (Some(_), Some(_)) => {
            return Err(table.conflict(
                "`eye` and `direction` are both given; `direction` leaves the distance to the replay",
            ));
        }
        (Some(eye), None) => CameraPlace::At {
            eye: eye.vector3()?.into(),
            target: target.into(),
        },
        (None, _) if table.is_given("target") => {
            return Err(table.conflict("`target` belongs to a camera with an `eye`; give both"));
        }
        (None, Some(direction)) => CameraPlace::From(direction.direction()?),
        (None, None) => CameraPlace::Free,
    };
    if let CameraPlace::At { eye, target } = &place
        && eye == target
    {
        return Err(table.conflict("`eye` and `target` are the same point; move one of them"));
    }
    let fov = table.optional("fov");
    let entry = CameraEntry {
        name: name.into(),
        place,
        field_of_view: fov.map_or(Ok(DEFAULT_FIELD_OF_VIEW), |fov| fov.number_of(FOV.value))?,
        follow: (table.optional("follow"))
            .map(|item| item.reference())
            .transpose()?,
    };
    table.finish();
    Ok(entry)
}
