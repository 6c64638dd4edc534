//! Observables, positions of deformable bodies, and patches as files for other programs: comma-separated text and NumPy archives.

use std::fmt::Write as _;
use std::io;

use super::npz::NpzWriter;
use super::{Between, Frame, ParticleStates, PatchForce, Recording, VisualShape};

pub(super) fn csv(recording: &Recording) -> String {
    let mut text = String::from("time [s]");
    for observable in recording.observables() {
        let heading = match observable.unit.as_str() {
            "" => observable.name.clone(),
            unit => format!("{} [{unit}]", observable.name),
        };
        text.push(',');
        text.push_str(&quoted(&heading));
    }
    text.push('\n');
    let n_columns = recording.observables().len();
    for (row, time_s) in recording.row_times_s().iter().enumerate() {
        // `{:?}` writes the fewest digits that read back as the same number, with an exponent where that is shorter.
        write!(text, "{time_s:?}").expect("writing to a string");
        for value in &recording.rows[row * n_columns..(row + 1) * n_columns] {
            write!(text, ",{value:?}").expect("writing to a string");
        }
        text.push('\n');
    }
    text
}

/// As RFC 4180 requires: quotes around a field that holds a comma, a quote or a line break, quotes inside doubled.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

pub(super) fn npz(recording: &Recording) -> io::Result<Vec<u8>> {
    let mut archive = NpzWriter::default();
    archive.column("time", recording.row_times_s().iter().copied())?;
    for (index, observable) in recording.observables().iter().enumerate() {
        archive.column(&observable.name, recording.column(index))?;
    }
    archive.text(
        "names",
        recording.observables().iter().map(|o| o.name.as_str()),
    )?;
    archive.text(
        "units",
        recording.observables().iter().map(|o| o.unit.as_str()),
    )?;
    archive.finish()
}

/// What deforms, over all frames: none without any.
pub(super) fn deformed_npz(recording: &Recording) -> Option<io::Result<Vec<u8>>> {
    let soft: Vec<_> = recording
        .visuals()
        .iter()
        .filter(|v| v.shape.deforms())
        .collect();
    (!soft.is_empty()).then(|| {
        let mut archive = NpzWriter::default();
        let frames = recording.frames();
        archive.column("time", frames.iter().map(|frame| frame.time_s))?;
        for (index, visual) in soft.iter().enumerate() {
            let name = |what: &str| format!("{}.{what}", visual.name);
            if let VisualShape::DeformingMesh {
                triangles,
                tetrahedra,
                ..
            } = &visual.shape
            {
                archive.rows(&name("triangles"), triangles)?;
                archive.rows(&name("tetrahedra"), tetrahedra)?;
            }
            let deformed = || frames.iter().map(|frame| &frame.deformed[index]);
            // Of a varying number of points each frame begins at its `starts`.
            let starts = deformed().scan(0.0, |next, d| {
                let start = *next;
                *next += d.points.len() as f64;
                Some(start)
            });
            let starts: Vec<f64> = starts.collect();
            archive.column(&name("starts"), starts.into_iter())?;
            let points = deformed().flat_map(|d| &d.points);
            let points: Vec<[f64; 3]> = points.map(|p| [p.x, p.y, p.z]).collect();
            archive.rows(&name("points"), &points)?;
            let values: Vec<f64> = deformed().flat_map(|d| &d.values).copied().collect();
            archive.column(&name("values"), values.into_iter())?;
            let states: Option<Vec<&ParticleStates>> =
                deformed().map(|d| d.states.as_ref()).collect();
            if let Some(states) = states {
                particle_states(&mut archive, name, &states)?;
            }
        }
        archive.finish()
    })
}

fn particle_states(
    archive: &mut NpzWriter,
    name: impl Fn(&str) -> String,
    frames: &[&ParticleStates],
) -> io::Result<()> {
    let mut states = ParticleStates::default();
    frames.iter().for_each(|more| states.extend(more));
    archive.column(&name("id"), states.ids.into_iter())?;
    archive.column(&name("body"), states.bodies.into_iter())?;
    let velocities: Vec<[f64; 3]> = states.velocities.iter().map(|v| (*v).into()).collect();
    archive.rows(&name("velocity"), &velocities)?;
    archive.column(&name("mass"), states.masses.into_iter())?;
    archive.column(&name("volume"), states.volumes.into_iter())?;
    // NumPy's last index counts columns.
    let rows_of = |f: &nalgebra::Matrix3<f64>| [0, 1, 2].map(|i| [0, 1, 2].map(|j| f[(i, j)]));
    let gradients = states.deformation_gradients.iter().map(rows_of);
    let shape = [gradients.len(), 3, 3];
    let values = gradients.flatten().flatten();
    archive.array(&name("deformation_gradient"), &shape, values)?;
    let plastic = states.plastic_strains.into_iter();
    archive.column(&name("plastic_strain"), plastic)
}

/// The patches of all frames: none without any.
pub(super) fn patches_npz(recording: &Recording) -> Option<io::Result<Vec<u8>>> {
    let frames = recording.frames();
    let some = |frame: &Frame| !frame.patch_forces.is_empty() || !frame.patches.counts().is_empty();
    frames.iter().any(some).then(|| {
        let mut archive = NpzWriter::default();
        let times = frames.iter().map(|frame| frame.time_s);
        archive.column("time", times)?;
        let parts = recording.parts().iter().map(String::as_str);
        archive.text("parts", parts)?;
        let numbered = || (0_u32..).zip(frames);
        let patches: Vec<(u32, &PatchForce)> = numbered()
            .flat_map(|(k, frame)| frame.patch_forces.iter().map(move |patch| (k, patch)))
            .collect();
        let between = |x: &Between| [x.a, x.b];
        archive.column("patch.frame", patches.iter().map(|p| p.0))?;
        let of_patches: Vec<_> = patches.iter().map(|p| between(&p.1.between)).collect();
        archive.rows("patch.between", &of_patches)?;
        archive.column("patch.area", patches.iter().map(|p| p.1.area))?;
        let highest = patches.iter().map(|p| p.1.pressure_max);
        archive.column("patch.pressure_max", highest)?;
        for (name, vector) in [
            ("patch.center", (|p| p.p_WC.coords) as fn(&PatchForce) -> _),
            ("patch.force", |p| p.f_W),
            ("patch.moment", |p| p.m_W),
        ] {
            let vectors: Vec<[f64; 3]> = patches.iter().map(|p| vector(p.1).into()).collect();
            archive.rows(name, &vectors)?;
        }
        let of_frame = |(k, frame): (u32, &Frame)| vec![k; frame.patches.counts().len()];
        let of_frame: Vec<u32> = numbered().flat_map(of_frame).collect();
        archive.column("polygon.frame", of_frame.into_iter())?;
        let polygons = || frames.iter().map(|frame| &frame.patches);
        let sides: Vec<_> = polygons().flat_map(|p| p.between()).map(between).collect();
        archive.rows("polygon.between", &sides)?;
        let counts = polygons().flat_map(|p| p.counts());
        let starts = counts.scan(0, |next: &mut u32, count| {
            let start = *next;
            *next += count;
            Some(start)
        });
        let starts: Vec<u32> = starts.collect();
        archive.column("polygon.starts", starts.into_iter())?;
        let points = polygons().flat_map(|p| p.points());
        let points: Vec<[f64; 3]> = points.map(|p| p.coords.into()).collect();
        archive.rows("corner.points", &points)?;
        let pressures: Vec<f64> = polygons().flat_map(|p| p.pressures()).copied().collect();
        archive.column("corner.pressure", pressures.into_iter())?;
        archive.finish()
    })
}
