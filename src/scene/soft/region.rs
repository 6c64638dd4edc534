//! Regions of deformable bodies by position: `regions = { tip = { box = { low = [...], high = [...] } } }`.

use nalgebra::Vector3;

use crate::scene::error::SceneError;
use crate::scene::item::{Item, NamedReference};
use crate::scene::schema::{Key, REQUIRED, TableSchema, ValueKind};

pub(super) static TABLES: [&TableSchema; 6] =
    [&BOX, &BALL, &HALF_SPACE, &NEAREST, &VERTICES, &SURFACE];

const fn position(name: &'static str, about: &'static str) -> Key {
    Key {
        name,
        value: ValueKind::Vector3,
        unit: "m",
        default: REQUIRED,
        about,
    }
}

static BOX: TableSchema = TableSchema {
    name: "region.box",
    keys: &[
        Key {
            name: "low",
            value: ValueKind::Vector3,
            unit: "m",
            default: REQUIRED,
            about: "lower corner; the faces belong to the box; `-inf` is allowed",
        },
        Key {
            name: "high",
            value: ValueKind::Vector3,
            unit: "m",
            default: REQUIRED,
            about: "upper corner; `inf` is allowed",
        },
    ],
};
static BALL: TableSchema = TableSchema {
    name: "region.ball",
    keys: &[
        position("center", "centre"),
        Key {
            name: "radius",
            value: ValueKind::Positive,
            unit: "m",
            default: REQUIRED,
            about: "radius; the surface belongs to the ball",
        },
    ],
};
static HALF_SPACE: TableSchema = TableSchema {
    name: "region.half_space",
    keys: &[
        position(
            "point",
            "a point of the bounding plane, which belongs to the half space",
        ),
        Key {
            name: "normal",
            value: ValueKind::Vector3,
            unit: "",
            default: REQUIRED,
            about: "outward normal",
        },
    ],
};
static NEAREST: TableSchema = TableSchema {
    name: "region.nearest",
    keys: &[position("to", "selects the point nearest to this position")],
};
static VERTICES: TableSchema = TableSchema {
    name: "region.vertices",
    keys: &[Key {
        name: "numbers",
        value: ValueKind::Described("list of whole numbers"),
        unit: "",
        default: REQUIRED,
        about: "indices of the vertices, counted from 0",
    }],
};
static SURFACE: TableSchema = TableSchema {
    name: "region.shell",
    keys: &[
        position("center", "the centre of both spheres"),
        Key {
            name: "inner",
            value: ValueKind::NonNegative,
            unit: "m",
            default: "0",
            about: "radius of the inner sphere, which belongs to the shell",
        },
        Key {
            name: "outer",
            value: ValueKind::Described("number > 0 or `inf`"),
            unit: "m",
            default: "inf",
            about: "radius of the outer sphere, which belongs to the shell",
        },
    ],
};

/// A named region of a deformable body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegionEntry {
    /// Its name within the body.
    pub(crate) name: NamedReference,
    /// Its extent.
    pub(crate) shape: RegionShape,
}

/// Points of a body by their positions at rest, in the body frame, m.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RegionShape {
    /// Within a box.
    Box {
        /// Lower corner.
        low: Vector3<f64>,
        /// Upper corner.
        high: Vector3<f64>,
    },
    /// Between two spheres; a ball if the inner radius is 0.
    Shell {
        /// The centre.
        center: Vector3<f64>,
        /// Radius of the inner sphere.
        inner: f64,
        /// Radius of the outer sphere.
        outer: f64,
    },
    /// On and behind a plane.
    HalfSpace {
        /// A point of the plane.
        point: Vector3<f64>,
        /// Unit normal, out of the region.
        normal: Vector3<f64>,
    },
    /// The point nearest to a position.
    Nearest(Vector3<f64>),
    /// Indices of vertices.
    Vertices(Vec<u32>),
}

impl RegionShape {
    /// Indices of the points in the region, ascending. The tolerance at its boundary is 1e-9 of the body's size.
    pub(crate) fn select(&self, points: &[Vector3<f64>]) -> Vec<u32> {
        let size = points.iter().map(|p| p.amax()).fold(0.0, f64::max);
        let slack = 1e-9 * size;
        let all = || points.iter().zip(0u32..);
        let holding = |holds: &dyn Fn(&Vector3<f64>) -> bool| {
            all().filter(|(p, _)| holds(p)).map(|(_, k)| k).collect()
        };
        match self {
            Self::Box { low, high } => {
                holding(&|p| (0..3).all(|k| p[k] >= low[k] - slack && p[k] <= high[k] + slack))
            }
            Self::Shell {
                center,
                inner,
                outer,
            } => holding(&|p| {
                let distance = (p - center).norm();
                distance >= inner - slack && distance <= outer + slack
            }),
            Self::HalfSpace { point, normal } => holding(&|p| (p - point).dot(normal) <= slack),
            Self::Nearest(to) => {
                let nearest = all().min_by(|(p, _), (q, _)| {
                    (*p - to)
                        .norm_squared()
                        .total_cmp(&(*q - to).norm_squared())
                });
                nearest.map(|(_, k)| k).into_iter().collect()
            }
            Self::Vertices(numbers) => {
                let mut numbers: Vec<u32> = numbers
                    .iter()
                    .copied()
                    .filter(|k| (*k as usize) < points.len())
                    .collect();
                numbers.sort_unstable();
                numbers.dedup();
                numbers
            }
        }
    }
}

/// The regions of a body.
pub(super) fn regions(item: Option<&Item<'_>>) -> Result<Vec<RegionEntry>, SceneError> {
    let entries = item.map_or(Ok(Vec::new()), Item::entries)?;
    let entry = |(name, item): (NamedReference, Item<'_>)| {
        Ok(RegionEntry {
            shape: region(&item)?,
            name,
        })
    };
    entries.into_iter().map(entry).collect()
}

fn region(item: &Item<'_>) -> Result<RegionShape, SceneError> {
    let tag = |schema: &'static TableSchema| schema.name.trim_start_matches("region.");
    let (schema, table) = item.variant(&TABLES, tag)?;
    let vector = |key| table.required(key).and_then(|item| item.vector3());
    let shape = match tag(schema) {
        "box" => {
            let corner = |key| -> Result<Vector3<f64>, SceneError> {
                let item = table.required(key)?;
                let elements = item.elements()?;
                if elements.len() != 3 {
                    return Err(
                        item.out_of_range(format!("{} numbers", elements.len()), "must be 3")
                    );
                }
                let mut corner = Vector3::zeros();
                for (x, element) in corner.iter_mut().zip(&elements) {
                    *x = element.number_or_infinity()?;
                }
                Ok(corner)
            };
            let (low, high) = (corner("low")?, corner("high")?);
            if (0..3).any(|k| low[k] > high[k]) {
                return Err(table.conflict("`high` must not be below `low` along any axis"));
            }
            RegionShape::Box { low, high }
        }
        "ball" => RegionShape::Shell {
            center: vector("center")?,
            inner: 0.0,
            outer: table.required("radius")?.positive()?,
        },
        "half_space" => RegionShape::HalfSpace {
            point: vector("point")?,
            normal: table.required("normal")?.direction()?,
        },
        "nearest" => RegionShape::Nearest(vector("to")?),
        "shell" => RegionShape::Shell {
            center: vector("center")?,
            inner: table.non_negative_or("inner", 0.0)?,
            outer: table
                .optional("outer")
                .map_or(Ok(f64::INFINITY), |item| item.positive_or_infinite())?,
        },
        _ => {
            let numbers = table.required("numbers")?;
            let elements = numbers.elements()?;
            let number = |element: &Item<'_>| element.integer(0, u64::from(u32::MAX));
            let numbers: Result<Vec<u64>, SceneError> = elements.iter().map(number).collect();
            RegionShape::Vertices(numbers?.into_iter().map(|k| k as u32).collect())
        }
    };
    table.finish();
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_hold_the_points_of_their_border() {
        let points: Vec<Vector3<f64>> = (0..5)
            .map(|k| Vector3::new(0.1 * f64::from(k), 0.0, 0.0))
            .collect();
        let check = |shape: RegionShape, expected: &[u32]| {
            assert_eq!(shape.select(&points), expected, "{shape:?}");
        };
        let everywhere = Vector3::repeat(f64::INFINITY);
        check(
            RegionShape::Box {
                low: Vector3::new(0.1 + 0.2, f64::NEG_INFINITY, f64::NEG_INFINITY),
                high: everywhere,
            },
            &[3, 4],
        );
        check(
            RegionShape::Shell {
                center: Vector3::zeros(),
                inner: 0.1,
                outer: 0.2,
            },
            &[1, 2],
        );
        check(
            RegionShape::HalfSpace {
                point: Vector3::zeros(),
                normal: Vector3::x(),
            },
            &[0],
        );
        check(RegionShape::Nearest(Vector3::new(0.24, 1.0, 0.0)), &[2]);
        check(RegionShape::Vertices(vec![4, 0, 4, 9]), &[0, 4]);
    }
}
