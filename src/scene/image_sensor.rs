//! `[[image_sensors]]`: cameras on bodies that take colour and depth images.

use std::f64::consts::FRAC_PI_3;

use nalgebra::Isometry3;

use super::error::{SceneError, SceneFault};
use super::item::{Item, NamedReference};
use super::pose::pose;
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};

pub(super) static TABLES: [&TableSchema; 1] = [&IMAGE_SENSOR];

/// Pixels of a side, at most.
const SIDE_MAX: f64 = 4096.0;

/// A wider one has hardly any pixels left at its centre.
const FOV: ValueKind = ValueKind::Between(0.01, 2.5);

static IMAGE_SENSOR: TableSchema = TableSchema {
    name: "[[image_sensors]]",
    keys: &[
        Key {
            name: "name",
            value: ValueKind::Text,
            unit: "",
            default: REQUIRED,
            about: "name of its files: `NAME.npz` with depths, and a folder `NAME` with a PNG file for each frame of the recording",
        },
        Key {
            name: "on",
            value: ValueKind::Described("name"),
            unit: "",
            default: "`world`",
            about: "what carries it: a body, `MODEL/LINK`, `MODEL/FRAME`, or the world",
        },
        Key {
            name: "pose",
            value: ValueKind::Described("pose"),
            unit: "",
            default: "identity",
            about: "its pose in that frame; it looks along its z axis, with x to the right and y down",
        },
        Key {
            name: "size",
            value: ValueKind::Described("2 whole numbers from 1 to 4096"),
            unit: "pixels",
            default: "[320, 240]",
            about: "width and height of its images",
        },
        Key {
            name: "fov",
            value: FOV,
            unit: "rad",
            default: "\"pi/3\"",
            about: "vertical field of view",
        },
    ],
};

/// A camera that takes an image of every frame of the recording.
#[derive(Clone, Debug)]
pub(crate) struct ImageSensorEntry {
    /// Name.
    pub(crate) name: NamedReference,
    /// What carries it.
    pub(crate) on: NamedReference,
    /// Its pose there.
    pub(crate) pose: Isometry3<f64>,
    /// Width and height, pixels.
    pub(crate) size: [usize; 2],
    /// Vertical field of view, rad.
    pub(crate) field_of_view: f64,
}

/// `[[image_sensors]]`.
pub(super) fn image_sensors(list: Option<&Item<'_>>) -> Result<Vec<ImageSensorEntry>, SceneError> {
    let mut sensors: Vec<ImageSensorEntry> = Vec::new();
    for item in list.map_or(Ok(Vec::new()), Item::tables)? {
        let sensor = image_sensor(&item)?;
        let name = &sensor.name;
        if let Some(first) = sensors.iter().find(|other| is_same_file(other, name)) {
            let text = &item.context.text;
            let fault = SceneFault::DuplicateName {
                name: name.name.clone(),
                what: "image sensor",
                first_line: text.line_and_column(first.name.at.start).0,
            };
            return Err(text.error(name.at, fault));
        }
        sensors.push(sensor);
    }
    Ok(sensors)
}

/// Whether images of this name would be in the place of other files of the run, on file systems that tell capital letters from small ones or
/// do not.
fn belongs_to_the_run(name: &str) -> bool {
    let name = name.to_lowercase();
    let archives = ["observables", "deformed", "patches", "vtu"];
    let is_file = [".npz", ".html", ".csv", ".json", ".pvd", ".partial"]
        .iter()
        .any(|ending| name.ends_with(ending));
    is_file || archives.contains(&&*name)
}

/// Files whose names differ in case only are the same on some systems.
fn is_same_file(other: &ImageSensorEntry, name: &NamedReference) -> bool {
    other.name.name.to_lowercase() == name.name.to_lowercase()
}

fn image_sensor(item: &Item<'_>) -> Result<ImageSensorEntry, SceneError> {
    let mut table = item.table(&IMAGE_SENSOR)?;
    let written = table.required("name")?;
    let name = written.new_name()?;
    table.called(&name.name);
    if name.name.starts_with('.') {
        return Err(written.out_of_range(format!("{:?}", name.name), "must not begin with a dot"));
    }
    if belongs_to_the_run(&name.name) {
        return Err(written.out_of_range(
            format!("{:?}", name.name),
            "must not be that of a file that every run writes: the sensor's images are in NAME.npz and the folder NAME",
        ));
    }
    let on = match table.optional("on") {
        Some(item) => item.reference()?,
        None => NamedReference {
            name: "world".into(),
            at: name.at,
        },
    };
    let size = match table.optional("size") {
        Some(item) => {
            let sides = item.numbers::<2>()?;
            let is_side = |x: &f64| x.fract() == 0.0 && (1.0..=SIDE_MAX).contains(x);
            if !sides.iter().all(is_side) {
                let allowed = format!("must be two whole numbers from 1 to {SIDE_MAX}");
                return Err(item.out_of_range(format!("{sides:?}"), &allowed));
            }
            sides.map(|x| x as usize)
        }
        None => [320, 240],
    };
    let sensor = ImageSensorEntry {
        name,
        on,
        pose: pose(table.optional("pose").as_ref())?,
        size,
        field_of_view: (table.optional("fov")).map_or(Ok(FRAC_PI_3), |fov| fov.number_of(FOV))?,
    };
    table.finish();
    Ok(sensor)
}

#[cfg(test)]
mod tests {
    use crate::scene::{Scene, SceneOptions};

    #[test]
    fn names_that_differ_in_case_only_are_refused() {
        let text = |names: [&str; 2]| {
            let sensors = names.map(|name| format!("[[image_sensors]]\nname = \"{name}\"\n"));
            format!(
                "schema = 1\ntitle = \"t\"\n[simulation]\nsmoke_s = 1\n{}{}",
                sensors[0], sensors[1]
            )
        };
        let read = |names| Scene::parse("s.toml", &text(names), &SceneOptions::default());
        assert!(read(["eye", "ear"]).is_ok());
        for names in [["eye", "eye"], ["eye", "Eye"], ["Äuge", "äuge"]] {
            let message = read(names).expect_err("the same files").to_string();
            assert!(message.contains("image sensor"), "{message}");
        }
    }
}
