//! Observables, positions of deformable bodies, and patches as files for other programs: comma-separated text and NumPy archives.

use std::fmt::Write as _;
use std::io::{self, Cursor, Write as _};

use npyz::WriterBuilder as _;
use npyz::npz::NpzWriter;
use npyz::zip::write::FileOptions;
use npyz::zip::{CompressionMethod, DateTime};

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
    let mut file = Cursor::new(Vec::new());
    {
        let mut archive = NpzWriter::new(&mut file);
        column(
            &mut archive,
            "time",
            recording.row_times_s().iter().copied(),
        )?;
        for (index, observable) in recording.observables().iter().enumerate() {
            column(&mut archive, &observable.name, recording.column(index))?;
        }
        text(
            &mut archive,
            "names",
            recording.observables().iter().map(|o| o.name.as_str()),
        )?;
        text(
            &mut archive,
            "units",
            recording.observables().iter().map(|o| o.unit.as_str()),
        )?;
        archive.zip_writer().finish()?;
    }
    Ok(file.into_inner())
}

/// What deforms, over all frames: none without any.
pub(super) fn deformed_npz(recording: &Recording) -> Option<io::Result<Vec<u8>>> {
    let soft: Vec<_> = recording
        .visuals()
        .iter()
        .filter(|v| v.shape.deforms())
        .collect();
    (!soft.is_empty()).then(|| {
        let mut file = Cursor::new(Vec::new());
        {
            let mut archive = NpzWriter::new(&mut file);
            let frames = recording.frames();
            column(
                &mut archive,
                "time",
                frames.iter().map(|frame| frame.time_s),
            )?;
            for (index, visual) in soft.iter().enumerate() {
                let name = |what: &str| format!("{}.{what}", visual.name);
                if let VisualShape::DeformingMesh {
                    triangles,
                    tetrahedra,
                    ..
                } = &visual.shape
                {
                    rows(&mut archive, &name("triangles"), triangles)?;
                    rows(&mut archive, &name("tetrahedra"), tetrahedra)?;
                }
                let deformed = || frames.iter().map(|frame| &frame.deformed[index]);
                // Of a varying number of points each frame begins at its `starts`.
                let starts = deformed().scan(0.0, |next, d| {
                    let start = *next;
                    *next += d.points.len() as f64;
                    Some(start)
                });
                let starts: Vec<f64> = starts.collect();
                column(&mut archive, &name("starts"), starts.into_iter())?;
                let points = deformed().flat_map(|d| &d.points);
                let points: Vec<[f64; 3]> = points.map(|p| [p.x, p.y, p.z]).collect();
                rows(&mut archive, &name("points"), &points)?;
                let values: Vec<f64> = deformed().flat_map(|d| &d.values).copied().collect();
                column(&mut archive, &name("values"), values.into_iter())?;
                let states: Option<Vec<&ParticleStates>> =
                    deformed().map(|d| d.states.as_ref()).collect();
                if let Some(states) = states {
                    particle_states(&mut archive, name, &states)?;
                }
            }
            archive.zip_writer().finish()?;
        }
        Ok(file.into_inner())
    })
}

fn particle_states(
    archive: &mut Archive<'_>,
    name: impl Fn(&str) -> String,
    frames: &[&ParticleStates],
) -> io::Result<()> {
    let mut states = ParticleStates::default();
    frames.iter().for_each(|more| states.extend(more));
    column(archive, &name("id"), states.ids.into_iter())?;
    column(archive, &name("body"), states.bodies.into_iter())?;
    let velocities: Vec<[f64; 3]> = states.velocities.iter().map(|v| (*v).into()).collect();
    rows(archive, &name("velocity"), &velocities)?;
    column(archive, &name("mass"), states.masses.into_iter())?;
    column(archive, &name("volume"), states.volumes.into_iter())?;
    let gradients = &states.deformation_gradients;
    let mut array = archive
        .array(&name("deformation_gradient"), options())?
        .default_dtype()
        .shape(&[gradients.len() as u64, 3, 3])
        .begin_nd()?;
    // NumPy's last index counts columns.
    array.extend(
        gradients
            .iter()
            .flat_map(|f| (0..9).map(|k| f[(k / 3, k % 3)])),
    )?;
    array.finish()?;
    let plastic = states.plastic_strains.into_iter();
    column(archive, &name("plastic_strain"), plastic)
}

/// The patches of all frames: none without any.
pub(super) fn patches_npz(recording: &Recording) -> Option<io::Result<Vec<u8>>> {
    let frames = recording.frames();
    let some = |frame: &Frame| !frame.patch_forces.is_empty() || !frame.patches.counts().is_empty();
    frames.iter().any(some).then(|| {
        let mut file = Cursor::new(Vec::new());
        {
            let mut archive = NpzWriter::new(&mut file);
            let times = frames.iter().map(|frame| frame.time_s);
            column(&mut archive, "time", times)?;
            let parts = recording.parts().iter().map(String::as_str);
            text(&mut archive, "parts", parts)?;
            let numbered = || (0_u32..).zip(frames);
            let patches: Vec<(u32, &PatchForce)> = numbered()
                .flat_map(|(k, frame)| frame.patch_forces.iter().map(move |patch| (k, patch)))
                .collect();
            let between = |x: &Between| [x.a, x.b];
            column(&mut archive, "patch.frame", patches.iter().map(|p| p.0))?;
            let of_patches: Vec<_> = patches.iter().map(|p| between(&p.1.between)).collect();
            rows(&mut archive, "patch.between", &of_patches)?;
            column(&mut archive, "patch.area", patches.iter().map(|p| p.1.area))?;
            let highest = patches.iter().map(|p| p.1.pressure_max);
            column(&mut archive, "patch.pressure_max", highest)?;
            for (name, vector) in [
                ("patch.center", (|p| p.p_WC.coords) as fn(&PatchForce) -> _),
                ("patch.force", |p| p.f_W),
                ("patch.moment", |p| p.m_W),
            ] {
                let vectors: Vec<[f64; 3]> = patches.iter().map(|p| vector(p.1).into()).collect();
                rows(&mut archive, name, &vectors)?;
            }
            let of_frame = |(k, frame): (u32, &Frame)| vec![k; frame.patches.counts().len()];
            let of_frame: Vec<u32> = numbered().flat_map(of_frame).collect();
            column(&mut archive, "polygon.frame", of_frame.into_iter())?;
            let polygons = || frames.iter().map(|frame| &frame.patches);
            let sides: Vec<_> = polygons().flat_map(|p| p.between()).map(between).collect();
            rows(&mut archive, "polygon.between", &sides)?;
            let counts = polygons().flat_map(|p| p.counts());
            let starts = counts.scan(0, |next: &mut u32, count| {
                let start = *next;
                *next += count;
                Some(start)
            });
            let starts: Vec<u32> = starts.collect();
            column(&mut archive, "polygon.starts", starts.into_iter())?;
            let points = polygons().flat_map(|p| p.points());
            let points: Vec<[f64; 3]> = points.map(|p| p.coords.into()).collect();
            rows(&mut archive, "corner.points", &points)?;
            let pressures: Vec<f64> = polygons().flat_map(|p| p.pressures()).copied().collect();
            column(&mut archive, "corner.pressure", pressures.into_iter())?;
            archive.zip_writer().finish()?;
        }
        Ok(file.into_inner())
    })
}

/// `rows.len()` × N numbers.
fn rows<T: npyz::AutoSerialize + Copy, const N: usize>(
    archive: &mut Archive<'_>,
    name: &str,
    rows: &[[T; N]],
) -> io::Result<()> {
    let shape = [rows.len() as u64, N as u64];
    let mut array = archive
        .array(name, options())?
        .default_dtype()
        .shape(&shape)
        .begin_nd()?;
    array.extend(rows.iter().flatten().copied())?;
    array.finish()
}

type Archive<'a> = NpzWriter<&'a mut Cursor<Vec<u8>>>;

/// Stored with no date, so that the same run leaves the same bytes.
fn options() -> FileOptions {
    FileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
}

fn column<T: npyz::AutoSerialize>(
    archive: &mut Archive<'_>,
    name: &str,
    values: impl ExactSizeIterator<Item = T>,
) -> io::Result<()> {
    let shape = [values.len() as u64];
    let mut array = archive
        .array(name, options())?
        .default_dtype()
        .shape(&shape)
        .begin_nd()?;
    array.extend(values)?;
    array.finish()
}

/// Text as NumPy's fixed-width byte strings (`S`), UTF-8, padded with zeros.
fn text<'t>(
    archive: &mut Archive<'_>,
    name: &str,
    values: impl ExactSizeIterator<Item = &'t str> + Clone,
) -> io::Result<()> {
    let width = values.clone().map(str::len).max().unwrap_or(0).max(1);
    archive
        .zip_writer()
        .start_file(npyz::npz::file_name_from_array_name(name), options())?;
    let header = format!(
        "{{'descr': '|S{width}', 'fortran_order': False, 'shape': ({},), }}",
        values.len()
    );
    let file = archive.zip_writer();
    // The NPY format, version 1.0: magic, version, header length, a header that ends a block of 64 bytes in a newline.
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(
        &u16::try_from(padded)
            .expect("a header of a few dozen characters")
            .to_le_bytes(),
    )?;
    file.write_all(format!("{header:<width$}\n", width = padded - 1).as_bytes())?;
    for value in values {
        file.write_all(value.as_bytes())?;
        file.write_all(&vec![0; width - value.len()])?;
    }
    Ok(())
}
