//! The replay page: a document of everything recorded, set into the player of `src/replay/`.

use pliant_hydroelastic::AnalyticShape;
use serde::Serialize;

use super::packing::{self, PackedContacts, PackedPatches, PackedPoints, PackedPoses};
use super::{
    Anchor, Color, ContactArrow, Deformed, Frame, Observable, PatchForce, Recording,
    RecordingError, ThreadEnds, ValueScale, Visual, VisualShape,
};

const PAGE: &str = include_str!("../replay/page.html");
const STYLE: &str = include_str!("../replay/style.css");

/// The player's modules, in the order in which they build on each other; together one script with one scope.
const SCRIPTS: &[&str] = &[
    include_str!("../replay/vectors.js"),
    include_str!("../replay/unpack.js"),
    include_str!("../replay/shapes.js"),
    include_str!("../replay/camera.js"),
    include_str!("../replay/graphics.js"),
    include_str!("../replay/picture.js"),
    include_str!("../replay/plots.js"),
    include_str!("../replay/player.js"),
    include_str!("../replay/selftest.js"),
];

/// The shaders, by the names that the player uses.
const SHADERS: &[(&str, &str)] = &[
    ("light", include_str!("../replay/shaders/light.glsl")),
    (
        "surface.vert",
        include_str!("../replay/shaders/surface.vert.glsl"),
    ),
    (
        "surface.frag",
        include_str!("../replay/shaders/surface.frag.glsl"),
    ),
    (
        "ground.vert",
        include_str!("../replay/shaders/ground.vert.glsl"),
    ),
    (
        "ground.frag",
        include_str!("../replay/shaders/ground.frag.glsl"),
    ),
    (
        "arrow.vert",
        include_str!("../replay/shaders/arrow.vert.glsl"),
    ),
    (
        "patch.frag",
        include_str!("../replay/shaders/patch.frag.glsl"),
    ),
    (
        "ball.vert",
        include_str!("../replay/shaders/ball.vert.glsl"),
    ),
    (
        "ball.frag",
        include_str!("../replay/shaders/ball.frag.glsl"),
    ),
    (
        "depth.frag",
        include_str!("../replay/shaders/depth.frag.glsl"),
    ),
    ("sky.vert", include_str!("../replay/shaders/sky.vert.glsl")),
    ("sky.frag", include_str!("../replay/shaders/sky.frag.glsl")),
];

/// A plotted column has at most this many points: a few for each pixel of a wide screen.
const PLOT_POINTS_MAX: usize = 6000;

pub(super) fn replay_html(recording: &Recording) -> Result<String, RecordingError> {
    html(recording, &[])
}

/// The player with `more` scripts after its own.
pub(super) fn html(recording: &Recording, more: &[&str]) -> Result<String, RecordingError> {
    if recording.frames().is_empty() {
        return Err(RecordingError::NoFrames {
            title: recording.title().to_owned(),
        });
    }
    let document = in_script(&to_json(&Document::of(recording)));
    let shaders: serde_json::Map<String, serde_json::Value> = SHADERS
        .iter()
        .map(|(name, source)| ((*name).to_owned(), (*source).into()))
        .collect();
    let shaders = in_script(&to_json(&shaders));
    let scripts = [SCRIPTS, more].concat().concat();
    let title = in_text(recording.title());
    Ok(filled(PAGE, |slot| match slot {
        "title" => &title,
        "style" => STYLE,
        "recording" => &document,
        "shaders" => &shaders,
        "player" => &scripts,
        _ => unreachable!("page.html has no slot {slot:?}"),
    }))
}

/// `page` with every `{{slot}}` replaced once; inserted text is not searched again.
fn filled<'a>(page: &str, content: impl Fn(&str) -> &'a str) -> String {
    let mut pieces = page.split("{{");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (slot, after) = piece.split_once("}}").expect("page.html closes every slot");
        out.push_str(content(slot));
        out.push_str(after);
    }
    out
}

pub(super) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and strings under string keys are JSON")
}

/// JSON that can stand in a script element: with no `<` it can't end the element or open a comment in it.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

fn in_text(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// What the player reads; `src/replay/unpack.js` is its other half.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    title: &'a str,
    /// f64, s.
    times: String,
    bodies: Vec<Body<'a>>,
    visuals: Vec<Drawn<'a>>,
    contacts: PackedContacts,
    patches: Option<PackedPatches>,
    /// Net moments of patches, where their centres of pressure are.
    moments: Option<PackedContacts>,
    viewpoint: Option<[[f64; 3]; 2]>,
    /// f64, s.
    row_times: String,
    observables: Vec<Column<'a>>,
}

#[derive(Serialize)]
struct Body<'a> {
    name: &'a str,
    poses: PackedPoses,
}

#[derive(Serialize)]
struct Drawn<'a> {
    name: &'a str,
    body: Option<usize>,
    position: [f64; 3],
    quat_wxyz: [f64; 4],
    color: [f64; 4],
    shape: Shape<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Shape<'a> {
    Mesh {
        vertices: String,
        triangles: String,
    },
    DeformingMesh {
        triangles: String,
        scale: Option<Scale<'a>>,
        frames: PackedPoints,
    },
    Points {
        radius: f64,
        scale: Option<Scale<'a>>,
        frames: PackedPoints,
    },
    Thread {
        radius: f64,
        joined: bool,
        scale: Option<Scale<'a>>,
        frames: PackedPoints,
    },
    #[serde(untagged)]
    Analytic(&'a AnalyticShape),
}

#[derive(Serialize)]
struct Scale<'a> {
    name: &'a str,
    unit: &'a str,
    min: f64,
    max: f64,
}

#[derive(Serialize)]
struct Column<'a> {
    name: &'a str,
    unit: &'a str,
    /// f64, s; none when they are the document's row times.
    times: Option<String>,
    /// f32.
    values: String,
}

impl<'a> Document<'a> {
    fn of(recording: &'a Recording) -> Self {
        let frames = recording.frames();
        let bodies = recording
            .bodies()
            .iter()
            .enumerate()
            .map(|(body, name)| Body {
                name,
                poses: PackedPoses::pack(frames.iter().map(move |frame| &frame.X_WB[body])),
            });
        let mut soft_idx = 0;
        let visuals = recording.visuals().iter().map(|visual| {
            let drawn = Drawn::of(visual, recording, soft_idx);
            soft_idx += usize::from(visual.shape.deforms());
            drawn
        });
        Self {
            title: recording.title(),
            times: packing::base64_f64(frames.iter().map(|frame| frame.time_s)),
            bodies: bodies.collect(),
            visuals: visuals.collect(),
            contacts: PackedContacts::pack(frames.iter().map(|frame| frame.contacts.as_slice())),
            patches: PackedPatches::pack(frames.iter().map(|frame| &frame.patches)),
            moments: frames
                .iter()
                .any(|frame| !frame.patch_forces.is_empty())
                .then(|| {
                    let arrows = |frame: &Frame| frame.patch_forces.iter().map(moment).collect();
                    let frames: Vec<Vec<ContactArrow>> = frames.iter().map(arrows).collect();
                    PackedContacts::pack(frames.iter().map(Vec::as_slice))
                }),
            viewpoint: recording
                .viewpoint
                .map(|view| [view.eye.into(), view.target.into()]),
            row_times: match recording.row_times_s().len() > PLOT_POINTS_MAX {
                true => String::new(),
                false => packing::base64_f64(recording.row_times_s().iter().copied()),
            },
            observables: (0..recording.observables().len())
                .map(|column| Column::of(recording, column))
                .collect(),
        }
    }
}

impl<'a> Drawn<'a> {
    fn of(visual: &'a Visual, recording: &'a Recording, soft_idx: usize) -> Self {
        let Color {
            red,
            green,
            blue,
            opacity,
        } = visual.color;
        let q = visual.X_BG.rotation.quaternion();
        let pack = |scale: &Option<ValueScale>| {
            PackedPoints::pack(
                recording
                    .frames()
                    .iter()
                    .map(|frame| &frame.deformed[soft_idx]),
                scale.as_ref(),
            )
        };
        let shape = match &visual.shape {
            VisualShape::Analytic(shape) => Shape::Analytic(shape),
            VisualShape::Mesh {
                vertices,
                triangles,
            } => Shape::Mesh {
                vertices: packing::base64_points(vertices),
                triangles: packing::base64_triangles(triangles),
            },
            VisualShape::DeformingMesh {
                triangles, scale, ..
            } => {
                let (used, triangles) = drawn_vertices(triangles);
                let frames = recording.frames().iter();
                let skins: Vec<Deformed> = frames
                    .map(|frame| frame.deformed[soft_idx].of_points(&used))
                    .collect();
                Shape::DeformingMesh {
                    triangles: packing::base64_triangles(&triangles),
                    scale: scale.as_ref().map(Scale::of),
                    frames: PackedPoints::pack(skins.iter(), scale.as_ref()),
                }
            }
            VisualShape::Points { radius, scale } => Shape::Points {
                radius: *radius,
                scale: scale.as_ref().map(Scale::of),
                frames: pack(scale),
            },
            VisualShape::Thread {
                radius,
                ends,
                scale,
            } => Shape::Thread {
                radius: *radius,
                joined: *ends == ThreadEnds::Joined,
                scale: scale.as_ref().map(Scale::of),
                frames: pack(scale),
            },
        };
        Self {
            name: &visual.name,
            body: match visual.anchor {
                Anchor::World => None,
                Anchor::Body(body) => Some(body.0),
            },
            position: visual.X_BG.translation.vector.into(),
            quat_wxyz: [q.w, q.i, q.j, q.k],
            color: [red, green, blue, opacity],
            shape,
        }
    }
}

/// The moment of a patch as if it were a force.
pub(super) fn moment(patch: &PatchForce) -> ContactArrow {
    ContactArrow {
        p_WC: patch.p_WC,
        f_W: patch.m_W,
    }
}

/// The vertices that triangles use, ascending, and the triangles in their numbers: what is inside is not drawn.
pub(super) fn drawn_vertices(triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<[u32; 3]>) {
    let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let number = |v: u32| used.partition_point(|u| *u < v) as u32;
    let renamed = triangles.iter().map(|t| t.map(number)).collect();
    (used, renamed)
}

impl<'a> Scale<'a> {
    fn of(scale: &'a ValueScale) -> Self {
        Self {
            name: &scale.name,
            unit: &scale.unit,
            min: scale.min,
            max: scale.max,
        }
    }
}

impl<'a> Column<'a> {
    fn of(recording: &'a Recording, column: usize) -> Self {
        let Observable { name, unit } = &recording.observables()[column];
        let values: Vec<f64> = recording.column(column).collect();
        if values.len() <= PLOT_POINTS_MAX {
            return Self {
                name,
                unit,
                times: None,
                values: packing::base64_f32(values.into_iter()),
            };
        }
        let kept = thinned(&values, PLOT_POINTS_MAX);
        let times = kept.iter().map(|&row| recording.row_times_s()[row]);
        Self {
            name,
            unit,
            times: Some(packing::base64_f64(times)),
            values: packing::base64_f32(kept.iter().map(|&row| values[row])),
        }
    }
}

/// Rows to keep of a long column: of each run of neighbours the lowest and the highest (so that no peak is lost), and
/// the last row. At most `n_max`, in order. A run with no value at all keeps its first row, which makes the gap.
fn thinned(values: &[f64], n_max: usize) -> Vec<usize> {
    let run = (2 * values.len()).div_ceil(n_max - 1);
    let mut kept = Vec::with_capacity(n_max);
    for start in (0..values.len()).step_by(run) {
        let rows = start..values.len().min(start + run);
        let with_value = || rows.clone().filter(|&row| !values[row].is_nan());
        let lowest = with_value()
            .min_by(|&a, &b| values[a].total_cmp(&values[b]))
            .unwrap_or(start);
        let highest = with_value()
            .max_by(|&a, &b| values[a].total_cmp(&values[b]))
            .unwrap_or(start);
        kept.extend([lowest.min(highest), lowest.max(highest)]);
        kept.dedup();
    }
    let last = values.len() - 1;
    if kept.last() != Some(&last) {
        kept.push(last);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_highest_and_lowest_value_of_every_stretch() {
        let mut values: Vec<f64> = (0..100_000).map(|k| (k as f64 * 1e-3).sin()).collect();
        values[54_321] = 40.0;
        values[54_322] = -40.0;
        values[70_000..80_000].fill(f64::NAN);
        let kept = thinned(&values, PLOT_POINTS_MAX);
        assert!(kept.len() <= PLOT_POINTS_MAX, "{} rows", kept.len());
        assert!(kept.is_sorted_by(|a, b| a < b));
        assert!(kept.contains(&54_321) && kept.contains(&54_322) && kept.contains(&99_999));
        assert!(kept.iter().any(|&row| values[row].is_nan()));
    }

    #[test]
    fn text_filled_in_is_not_searched_for_places() {
        let page = filled("a {{one}} b {{two}}", |slot| {
            if slot == "one" { "{{two}}" } else { "2" }
        });
        assert_eq!(page, "a {{two}} b 2");
    }
}
