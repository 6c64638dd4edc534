//! `[[repeat]]`: many bodies from a few templates, on a grid or at random positions, reproducible by their seed.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::body::{BodyEntry, BodyTemplate, template, with_body_keys};
use super::error::{SceneError, SceneFault};
use super::item::{Item, NamedReference};
use super::material::Materials;
use super::random::Random;
use super::schema::{Key, REQUIRED, TableSchema, ValueKind};
use super::table::Context;

pub(super) static TABLES: [&TableSchema; 4] = [&REPEAT, &TEMPLATE, &GRID, &REGION];

/// Attempts to place a body in a region before the region counts as full.
const TRIES_MAX: usize = 10_000;

static REPEAT: TableSchema = TableSchema {
    name: "[[repeat]]",
    keys: &[
        Key {
            name: "name",
            value: ValueKind::Text,
            unit: "",
            default: REQUIRED,
            about: "the bodies are `NAME_0`, `NAME_1`, ...; `NAME` stands for all of them",
        },
        Key {
            name: "count",
            value: ValueKind::Described("whole number"),
            unit: "",
            default: REQUIRED,
            about: "number of bodies",
        },
        Key {
            name: "seed",
            value: ValueKind::Described("whole number"),
            unit: "",
            default: "0",
            about: "seed of all random numbers of this table",
        },
        Key {
            name: "orientation",
            value: ValueKind::Choice(&["as-written", "random"]),
            unit: "",
            default: "`as-written`",
            about: "`random`: uniformly distributed rotations",
        },
        Key {
            name: "templates",
            value: ValueKind::Described("list of tables"),
            unit: "",
            default: REQUIRED,
            about: "`[[repeat.templates]]`: descriptions of the bodies",
        },
        Key {
            name: "grid",
            value: ValueKind::Described("table"),
            unit: "",
            default: "none",
            about: "`[repeat.grid]`: positions on a grid, x first, then y, then z",
        },
        Key {
            name: "region",
            value: ValueKind::Described("table"),
            unit: "",
            default: "none",
            about: "`[repeat.region]`: random positions in a box; either this or `grid`",
        },
    ],
};

static TEMPLATE: TableSchema = TableSchema {
    name: "[[repeat.templates]]",
    keys: with_body_keys![
        Key {
            name: "weight",
            value: ValueKind::Positive,
            unit: "",
            default: "1",
            about: "relative frequency of this template",
        },
        Key {
            name: "scale",
            value: ValueKind::Described("2 numbers > 0"),
            unit: "",
            default: "[1, 1]",
            about: "range of a random factor on all lengths; densities are unchanged",
        },
    ],
};

static GRID: TableSchema = TableSchema {
    name: "[repeat.grid]",
    keys: &[
        Key {
            name: "origin",
            value: ValueKind::Vector3,
            unit: "m",
            default: "[0, 0, 0]",
            about: "first position",
        },
        Key {
            name: "spacing",
            value: ValueKind::Vector3,
            unit: "m",
            default: REQUIRED,
            about: "distance between positions",
        },
        Key {
            name: "counts",
            value: ValueKind::Described("3 whole numbers"),
            unit: "",
            default: REQUIRED,
            about: "number of positions along x, y, z; their product is at least `count`",
        },
        Key {
            name: "jitter",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "0",
            about: "largest random offset along each axis",
        },
    ],
};

static REGION: TableSchema = TableSchema {
    name: "[repeat.region]",
    keys: &[
        Key {
            name: "low",
            value: ValueKind::Vector3,
            unit: "m",
            default: REQUIRED,
            about: "lower corner of the box that contains the origins of the bodies",
        },
        Key {
            name: "high",
            value: ValueKind::Vector3,
            unit: "m",
            default: REQUIRED,
            about: "upper corner; bounding spheres of the bodies must not overlap, so leave enough room",
        },
    ],
};

struct Weighted {
    weight: f64,
    scale: [f64; 2],
    body: BodyTemplate,
}

enum Layout {
    Grid {
        origin: Vector3<f64>,
        spacing: Vector3<f64>,
        counts: [usize; 3],
        jitter: f64,
    },
    Region {
        low: Vector3<f64>,
        high: Vector3<f64>,
    },
}

/// Orientation of the bodies.
#[derive(Clone, Copy)]
enum Orientation {
    AsWritten,
    Random,
}

/// The bodies of an element of `[[repeat]]`, with the name of them all.
pub(super) fn repeat(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
) -> Result<(NamedReference, Vec<BodyEntry>), SceneError> {
    let mut table = item.table(&REPEAT)?;
    let name = table.required("name")?.new_name()?;
    table.called(&name.name);
    let count = table.required("count")?.integer(1, 1_000_000)? as usize;
    let seed = table
        .optional("seed")
        .map_or(Ok(0), |item| item.integer(0, 1 << 52))?;
    let orientation = table.choice_or_first(
        "orientation",
        &[
            ("as-written", Orientation::AsWritten),
            ("random", Orientation::Random),
        ],
    )?;
    let list = table.required("templates")?;
    let templates = list
        .tables()?
        .iter()
        .map(|element| weighted(context, element, materials))
        .collect::<Result<Vec<_>, _>>()?;
    if templates.is_empty() {
        return Err(list.out_of_range("[]", "must hold at least one template"));
    }
    let layout = match (table.optional("grid"), table.optional("region")) {
        (Some(item), None) => grid(&item, count)?,
        (None, Some(item)) => region(&item)?,
        _ => return Err(table.conflict("give either `grid` or `region`")),
    };
    let at = table.at;
    table.finish();
    let bodies = place(&name, count, seed, orientation, &templates, &layout)
        .map_err(|fault| context.text.error(at, fault))?;
    Ok((name, bodies))
}

/// One of `[[repeat.templates]]`: a body, how often it is drawn, and the range of its scale.
fn weighted(
    context: &Context,
    item: &Item<'_>,
    materials: &Materials,
) -> Result<Weighted, SceneError> {
    let table = item.table(&TEMPLATE)?;
    let scale = match table.optional("scale") {
        None => [1.0, 1.0],
        Some(item) => {
            let [low, high] = item.numbers::<2>()?;
            if !(0.0 < low && low <= high) {
                return Err(
                    item.out_of_range(format!("[{low}, {high}]"), "must be positive and ascending")
                );
            }
            [low, high]
        }
    };
    let weighted = Weighted {
        weight: table.positive_or("weight", 1.0)?,
        scale,
        body: template(context, &table, materials)?,
    };
    if weighted.body.mass.is_some() && scale != [1.0, 1.0] {
        return Err(table.conflict("`mass` does not go with `scale`; give `density`"));
    }
    table.finish();
    Ok(weighted)
}

/// Places of a grid, at least as many as bodies; x varies fastest.
fn grid(item: &Item<'_>, count: usize) -> Result<Layout, SceneError> {
    let table = item.table(&GRID)?;
    let list = table.required("counts")?;
    let mut counts = [0usize; 3];
    let elements = list.elements()?;
    if elements.len() != 3 {
        return Err(list.out_of_range(
            format!("{} numbers", elements.len()),
            "must be 3 whole numbers",
        ));
    }
    for (count, element) in counts.iter_mut().zip(&elements) {
        *count = element.integer(1, 10_000)? as usize;
    }
    let places: usize = counts.iter().product();
    if places < count {
        return Err(list.out_of_range(
            format!("{counts:?}"),
            &format!("gives {places} places for {count} bodies; enlarge it or lower `count`"),
        ));
    }
    let layout = Layout::Grid {
        origin: table.vector3_or_zero("origin")?,
        spacing: table.required("spacing")?.vector3()?,
        counts,
        jitter: table.non_negative_or("jitter", 0.0)?,
    };
    table.finish();
    Ok(layout)
}

/// A box in which bodies are placed at random without overlap of their bounding spheres.
fn region(item: &Item<'_>) -> Result<Layout, SceneError> {
    let table = item.table(&REGION)?;
    let low = table.required("low")?.vector3()?;
    let high = table.required("high")?.vector3()?;
    if (high - low).min() < 0.0 {
        return Err(table.conflict("`high` must not be below `low` along any axis"));
    }
    table.finish();
    Ok(Layout::Region { low, high })
}

/// Draws template, scale, position and orientation of each body, in this order, from one sequence of random numbers.
///
/// In a region the first of at most `TRIES_MAX` positions is taken at which the bounding sphere meets no other.
fn place(
    name: &NamedReference,
    count: usize,
    seed: u64,
    orientation: Orientation,
    templates: &[Weighted],
    layout: &Layout,
) -> Result<Vec<BodyEntry>, SceneFault> {
    let mut random = Random::new(seed);
    let weights: Vec<f64> = templates.iter().map(|t| t.weight).collect();
    let mut balls: Vec<(Vector3<f64>, f64)> = Vec::new();
    let mut bodies = Vec::with_capacity(count);
    for index in 0..count {
        let template = &templates[random.weighted(&weights)];
        let body = scaled(
            &template.body,
            random.between(template.scale[0], template.scale[1]),
        );
        let position = match layout {
            Layout::Grid {
                origin,
                spacing,
                counts,
                jitter,
            } => {
                let at = [
                    index % counts[0],
                    index / counts[0] % counts[1],
                    index / (counts[0] * counts[1]),
                ];
                let offset = random.in_box(&Vector3::repeat(-jitter), &Vector3::repeat(*jitter));
                origin + spacing.component_mul(&Vector3::from(at.map(|i| i as f64))) + offset
            }
            Layout::Region { low, high } => {
                let radius = ball(&body);
                let free = (0..TRIES_MAX)
                    .map(|_| random.in_box(low, high))
                    .find(|p| balls.iter().all(|(q, r)| (p - q).norm() > radius + r));
                let Some(position) = free else {
                    return Err(SceneFault::NoRoom {
                        name: name.name.clone(),
                        placed: index,
                        count,
                        tries: TRIES_MAX,
                    });
                };
                balls.push((position, radius));
                position
            }
        };
        let rotation = match orientation {
            Orientation::AsWritten => UnitQuaternion::identity(),
            Orientation::Random => random.rotation(),
        };
        bodies.push(BodyEntry {
            name: NamedReference {
                name: format!("{}_{index}", name.name),
                at: name.at,
            },
            pose: Isometry3::from_parts(Translation3::from(position), rotation),
            body,
        });
    }
    Ok(bodies)
}

/// The body with all its lengths multiplied by `factor`. Its mass follows from densities, so it need not change.
fn scaled(body: &BodyTemplate, factor: f64) -> BodyTemplate {
    let mut scaled = body.clone();
    for shape in &mut scaled.shapes {
        shape.shape = shape.shape.scaled(factor);
        shape.pose.translation.vector *= factor;
    }
    scaled
}

/// Radius of a sphere about the body's origin that contains its shapes; meshes count as points, since their files are not read.
fn ball(body: &BodyTemplate) -> f64 {
    body.shapes
        .iter()
        .map(|s| s.pose.translation.vector.norm() + s.shape.radius_about_origin().unwrap_or(0.0))
        .fold(0.0, f64::max)
}
