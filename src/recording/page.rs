//! The replay page: a document of everything recorded, set into the player of `src/replay/`.

mod player;
mod streams;

use std::io::{self, Write};
use std::path::Path;

use pliant_hydroelastic::AnalyticShape;
use serde::Serialize;

use self::player::{PAGE, SCRIPTS, SHADERS, STYLE};
use self::streams::{Bodies, Source, Streamed};
use super::packing::{self, ContactScale, Grid, PatchScale};
use super::{
    Anchor, Camera, CameraPlace, Color, ContactArrow, InputMark, Observable, PatchForce,
    PointsLook, Recording, RecordingError, ThreadEnds, ValueScale, Visual, VisualShape,
};

/// A plotted column has at most this many points: a few for each pixel of a wide screen.
const PLOT_POINTS_MAX: usize = 6000;

/// The player with `more` scripts after its own, as text.
pub(super) fn html(recording: &Recording, more: &[&str]) -> Result<String, RecordingError> {
    let mut page = Vec::new();
    write_html(recording, more, Path::new("the page"), &mut page)?;
    Ok(String::from_utf8(page).expect("the page is made of texts"))
}

/// Writes the page to `out`, for which errors name `path`. What is packed is written as it is made.
pub(super) fn write_html(
    recording: &Recording,
    more: &[&str],
    path: &Path,
    out: &mut impl Write,
) -> Result<(), RecordingError> {
    if recording.frames().is_empty() {
        return Err(RecordingError::NoFrames {
            title: recording.title().to_owned(),
        });
    }
    let source = Source::of(recording);
    let document = Document::of(&source)?;
    let shaders: serde_json::Map<String, serde_json::Value> = SHADERS
        .iter()
        .map(|(name, source)| ((*name).to_owned(), (*source).into()))
        .collect();
    let title = in_text(recording.title());
    let written = write_filled(PAGE, out, |slot, out| match slot {
        "title" => out.write_all(title.as_bytes()),
        "style" => out.write_all(STYLE.as_bytes()),
        "recording" => Ok(serde_json::to_writer(InScript(out), &document)?),
        "shaders" => Ok(serde_json::to_writer(InScript(out), &shaders)?),
        "player" => {
            let mut scripts = SCRIPTS.iter().chain(more);
            scripts.try_for_each(|script| out.write_all(script.as_bytes()))
        }
        _ => unreachable!("page.html has no slot {slot:?}"),
    });
    match source.fault.take() {
        Some(fault) => Err(fault),
        None => written.map_err(|error| RecordingError::write(path, error)),
    }
}

/// Writes `page` with every `{{slot}}` replaced by `content`; inserted text is not searched again.
fn write_filled<W: Write>(
    page: &str,
    out: &mut W,
    content: impl Fn(&str, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    let mut pieces = page.split("{{");
    out.write_all(pieces.next().unwrap_or_default().as_bytes())?;
    for piece in pieces {
        let (slot, after) = piece.split_once("}}").expect("page.html closes every slot");
        content(slot, out)?;
        out.write_all(after.as_bytes())?;
    }
    Ok(())
}

/// Takes JSON that will stand in a script element: with no `<` it can't end the element or open a comment in it.
struct InScript<'a, W>(&'a mut W);

impl<W: Write> Write for InScript<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (index, piece) in bytes.split(|byte| *byte == b'<').enumerate() {
            if index > 0 {
                self.0.write_all(br"\u003c")?;
            }
            self.0.write_all(piece)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(feature = "cli")]
pub(super) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and strings under string keys are JSON")
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
    bodies: Bodies<'a>,
    visuals: Vec<Drawn<'a>>,
    contacts: Streamed<'a, ContactScale>,
    /// u32, of each frame.
    contact_counts: String,
    patches: Option<Streamed<'a, PatchScale>>,
    /// Net moments of patches, where their centres of pressure are.
    moments: Option<Streamed<'a, ContactScale>>,
    cameras: Vec<View<'a>>,
    inputs: &'a [InputMark],
    /// f64, s.
    row_times: String,
    observables: Vec<Column<'a>>,
}

/// A camera; it has an eye and a target, or a direction, or nothing of these.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View<'a> {
    name: &'a str,
    eye: Option<[f64; 3]>,
    target: Option<[f64; 3]>,
    direction: Option<[f64; 3]>,
    field_of_view: f64,
    /// The followed visuals.
    follow: Vec<usize>,
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
        frames: Streamed<'a, Grid>,
    },
    Points {
        radius: f64,
        look: PointsLook,
        scale: Option<Scale<'a>>,
        frames: Streamed<'a, Grid>,
    },
    Thread {
        radius: f64,
        joined: bool,
        scale: Option<Scale<'a>>,
        frames: Streamed<'a, Grid>,
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
    fn of(source: &'a Source<'a>) -> Result<Self, RecordingError> {
        let recording = source.recording;
        let extent = &recording.extent;
        let mut soft_idx = 0;
        let visuals = recording.visuals().iter().map(|visual| {
            let drawn = Drawn::of(visual, source, soft_idx);
            soft_idx += usize::from(visual.shape.deforms());
            drawn
        });
        let columns = (0..recording.observables().len()).map(|c| Column::of(recording, c));
        let times = recording.frames().times_s();
        Ok(Self {
            title: recording.title(),
            times: packing::base64_f64(times.iter().copied()),
            bodies: Bodies(source),
            visuals: visuals.collect(),
            contacts: source.contacts(),
            contact_counts: packing::base64_u32(&recording.contact_counts),
            patches: source.patches(),
            moments: extent.moments.any.then(|| source.moments()),
            cameras: (recording.cameras.iter())
                .map(|camera| View::of(camera, recording))
                .collect(),
            inputs: &recording.inputs,
            row_times: match recording.n_rows() > PLOT_POINTS_MAX {
                true => String::new(),
                false => packing::base64_f64(recording.row_times_s()?.into_iter()),
            },
            observables: columns.collect::<Result<_, _>>()?,
        })
    }
}

impl<'a> View<'a> {
    fn of(camera: &'a Camera, recording: &Recording) -> Self {
        let (eye, target, direction) = match camera.place {
            CameraPlace::At { eye, target } => (Some(eye.into()), Some(target.into()), None),
            CameraPlace::From(direction) => (None, None, Some(direction.into())),
            CameraPlace::Free => (None, None, None),
        };
        let is_followed = |visual: &Visual| {
            let body = match visual.anchor {
                Anchor::World => None,
                Anchor::Body(body) => Some(&recording.bodies[body.0]),
            };
            let name = camera.follow.as_ref();
            name.is_some() && (name == body || name == Some(&visual.name))
        };
        let visuals = recording.visuals.iter().enumerate();
        Self {
            name: &camera.name,
            eye,
            target,
            direction,
            field_of_view: camera.field_of_view,
            follow: visuals
                .filter(|(_, visual)| is_followed(visual))
                .map(|(index, _)| index)
                .collect(),
        }
    }
}

impl<'a> Drawn<'a> {
    fn of(visual: &'a Visual, source: &'a Source<'a>, soft_idx: usize) -> Self {
        let Color {
            red,
            green,
            blue,
            opacity,
        } = visual.color;
        let q = visual.X_BG.rotation.quaternion();
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
            } => Shape::DeformingMesh {
                triangles: packing::base64_triangles(&drawn_vertices(triangles).1),
                scale: scale.as_ref().map(Scale::of),
                frames: source.points(soft_idx, scale.as_ref()),
            },
            VisualShape::Points {
                radius,
                look,
                scale,
            } => Shape::Points {
                radius: *radius,
                look: *look,
                scale: scale.as_ref().map(Scale::of),
                frames: source.points(soft_idx, scale.as_ref()),
            },
            VisualShape::Thread {
                radius,
                ends,
                scale,
            } => Shape::Thread {
                radius: *radius,
                joined: *ends == ThreadEnds::Joined,
                scale: scale.as_ref().map(Scale::of),
                frames: source.points(soft_idx, scale.as_ref()),
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
    fn of(recording: &'a Recording, column: usize) -> Result<Self, RecordingError> {
        let Observable { name, unit } = &recording.observables()[column];
        let values = recording.column(column)?;
        if values.len() <= PLOT_POINTS_MAX {
            return Ok(Self {
                name,
                unit,
                times: None,
                values: packing::base64_f32(values.into_iter()),
            });
        }
        let kept = thinned(&values, PLOT_POINTS_MAX);
        let row_times_s = recording.row_times_s()?;
        let times = kept.iter().map(|&row| row_times_s[row]);
        Ok(Self {
            name,
            unit,
            times: Some(packing::base64_f64(times)),
            values: packing::base64_f32(kept.iter().map(|&row| values[row])),
        })
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
        let mut page = Vec::new();
        let fill = |slot: &str, out: &mut Vec<u8>| {
            let text: &[u8] = if slot == "one" { b"{{two}}" } else { b"2" };
            out.write_all(text)
        };
        write_filled("a {{one}} b {{two}}", &mut page, fill).expect("memory takes all");
        assert_eq!(page, b"a {{two}} b 2");
    }
}
