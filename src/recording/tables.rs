//! Observables, positions of deformable bodies, and patches as files for other programs: comma-separated text and NumPy archives.

use std::fmt::Write as _;
use std::io::{Seek, Write};
use std::path::Path;

use super::frame_bytes::FramePart;
use super::npz::{NpzWriter, Scalar};
use super::{
    Between, Deformed, Frame, ParticleStates, PatchForce, Recording, RecordingError, VisualShape,
};

type Written = Result<(), RecordingError>;

pub(super) fn write_csv(
    recording: &Recording,
    path: &Path,
    out: &mut impl Write,
) -> Result<(), RecordingError> {
    let fault = |error| RecordingError::write(path, error);
    let mut text = String::from("time [s]");
    for observable in recording.observables() {
        let heading = match observable.unit.as_str() {
            "" => observable.name.clone(),
            unit => format!("{} [{unit}]", observable.name),
        };
        text.push(',');
        text.push_str(&quoted(&heading));
    }
    writeln!(out, "{text}").map_err(fault)?;
    recording.rows.each(|row| {
        // `{:?}` writes the fewest digits that read back as the same number, with an exponent where that is shorter.
        let mut line = format!("{:?}", row[0]);
        for value in &row[1..] {
            write!(line, ",{value:?}").expect("writing to a string");
        }
        writeln!(out, "{line}").map_err(fault)
    })
}

/// As RFC 4180 requires: quotes around a field that holds a comma, a quote or a line break, quotes inside doubled.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

pub(super) fn write_npz<W: Write + Seek>(
    recording: &Recording,
    mut archive: NpzWriter<'_, W>,
) -> Written {
    archive.column("time", recording.row_times_s()?.into_iter())?;
    for (index, observable) in recording.observables().iter().enumerate() {
        archive.column(&observable.name, recording.column(index)?.into_iter())?;
    }
    let observables = recording.observables().iter();
    archive.text("names", observables.clone().map(|o| o.name.as_str()))?;
    archive.text("units", observables.map(|o| o.unit.as_str()))?;
    archive.finish()
}

/// Whether anything deforms.
pub(super) fn has_deformed(recording: &Recording) -> bool {
    recording.visuals().iter().any(|v| v.shape.deforms())
}

/// What deforms, over all frames.
pub(super) fn write_deformed_npz<W: Write + Seek>(
    recording: &Recording,
    mut archive: NpzWriter<'_, W>,
) -> Written {
    let times = recording.frames().times_s();
    archive.column("time", times.iter().copied())?;
    let soft = recording.visuals().iter().filter(|v| v.shape.deforms());
    for (index, visual) in soft.enumerate() {
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
        // Of a varying number of points each frame begins at its `starts`.
        let (mut starts, mut n_points, mut n_values) = (Vec::new(), 0, 0);
        let mut have_states = true;
        each(recording, index, |deformed| {
            starts.push(n_points as f64);
            n_points += deformed.points.len();
            n_values += deformed.values.len();
            have_states &= deformed.states.is_some();
            Ok(())
        })?;
        let mut put = Columns {
            recording,
            index,
            archive: &mut archive,
        };
        put.archive.column(&name("starts"), starts.into_iter())?;
        put.all(&name("points"), &[n_points, 3], |d| {
            flat(d.points.iter().map(|p| [p.x, p.y, p.z])).into_iter()
        })?;
        put.all(&name("values"), &[n_values], |d| {
            d.values.clone().into_iter()
        })?;
        if have_states {
            put.states(name, n_points)?;
        }
    }
    archive.finish()
}

fn each(
    recording: &Recording,
    index: usize,
    mut visit: impl FnMut(&Deformed) -> Written,
) -> Written {
    let part = FramePart::Deformed(index);
    (recording.frames).each(part, |frame| visit(&frame.deformed[index]))
}

/// Arrays of one deforming visual over all frames.
struct Columns<'a, 'p, W> {
    recording: &'a Recording,
    index: usize,
    archive: &'a mut NpzWriter<'p, W>,
}

impl<W: Write + Seek> Columns<'_, '_, W> {
    fn all<T: Scalar, I: Iterator<Item = T>>(
        &mut self,
        name: &str,
        shape: &[usize],
        of: impl Fn(&Deformed) -> I,
    ) -> Written {
        let (recording, index) = (self.recording, self.index);
        self.archive.array::<T>(name, shape, |array| {
            each(recording, index, |deformed| {
                of(deformed).try_for_each(|x| array.put(x))
            })
        })
    }

    fn states(&mut self, name: impl Fn(&str) -> String, n: usize) -> Written {
        let states = |d: &Deformed| d.states.clone().unwrap_or_default();
        let of = |f: fn(ParticleStates) -> Vec<f64>| move |d: &Deformed| f(states(d)).into_iter();
        self.all(&name("id"), &[n], |d| states(d).ids.into_iter())?;
        self.all(&name("body"), &[n], |d| states(d).bodies.into_iter())?;
        let velocities = |s: ParticleStates| flat(s.velocities.iter().map(|v| (*v).into()));
        self.all(&name("velocity"), &[n, 3], of(velocities))?;
        self.all(&name("mass"), &[n], of(|s| s.masses))?;
        self.all(&name("volume"), &[n], of(|s| s.volumes))?;
        // NumPy's last index counts columns.
        let gradients = |s: ParticleStates| {
            let rows = |f: &nalgebra::Matrix3<f64>| f.transpose().data.0.as_flattened().to_vec();
            s.deformation_gradients.iter().flat_map(rows).collect()
        };
        let shape = [n, 3, 3];
        self.all(&name("deformation_gradient"), &shape, of(gradients))?;
        self.all(&name("plastic_strain"), &[n], of(|s| s.plastic_strains))
    }
}

fn flat(vectors: impl Iterator<Item = [f64; 3]>) -> Vec<f64> {
    vectors.flatten().collect()
}

/// Whether there are patches.
pub(super) fn has_patches(recording: &Recording) -> bool {
    recording.extent.moments.any || recording.extent.patches.any
}

/// The patches of all frames.
pub(super) fn write_patches_npz<W: Write + Seek>(
    recording: &Recording,
    mut archive: NpzWriter<'_, W>,
) -> Written {
    let times = recording.frames().times_s();
    archive.column("time", times.iter().copied())?;
    let parts = recording.parts().iter().map(String::as_str);
    archive.text("parts", parts)?;
    let (mut of_frame, mut patches) = (Vec::new(), Vec::<PatchForce>::new());
    let mut k = 0_u32;
    (recording.frames).each(FramePart::PatchForces, |frame: &Frame| {
        of_frame.extend(frame.patch_forces.iter().map(|_| k));
        patches.extend(&frame.patch_forces);
        k += 1;
        Written::Ok(())
    })?;
    let between = |x: &Between| [x.a, x.b];
    archive.column("patch.frame", of_frame.into_iter())?;
    let of_patches: Vec<_> = patches.iter().map(|p| between(&p.between)).collect();
    archive.rows("patch.between", &of_patches)?;
    archive.column("patch.area", patches.iter().map(|p| p.area))?;
    archive.column("patch.pressure_max", patches.iter().map(|p| p.pressure_max))?;
    for (name, vector) in [
        ("patch.center", (|p| p.p_WC.coords) as fn(&PatchForce) -> _),
        ("patch.force", |p| p.f_W),
        ("patch.moment", |p| p.m_W),
    ] {
        let vectors: Vec<[f64; 3]> = patches.iter().map(|p| vector(p).into()).collect();
        archive.rows(name, &vectors)?;
    }
    let (mut of_frame, mut sides, mut starts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut k, mut n_corners) = (0_u32, 0_u32);
    (recording.frames).each(FramePart::Patches, |frame: &Frame| {
        for (count, sides_of) in frame.patches.counts().iter().zip(frame.patches.between()) {
            of_frame.push(k);
            sides.push(between(sides_of));
            starts.push(n_corners);
            n_corners += count;
        }
        k += 1;
        Written::Ok(())
    })?;
    archive.column("polygon.frame", of_frame.into_iter())?;
    archive.rows("polygon.between", &sides)?;
    archive.column("polygon.starts", starts.into_iter())?;
    let n = n_corners as usize;
    archive.array::<f64>("corner.points", &[n, 3], |array| {
        (recording.frames).each(FramePart::Patches, |frame| {
            let points = frame.patches.points().iter();
            let mut numbers = points.flat_map(|p| [p.x, p.y, p.z]);
            numbers.try_for_each(|x| array.put(x))
        })
    })?;
    archive.array::<f64>("corner.pressure", &[n], |array| {
        (recording.frames).each(FramePart::Patches, |frame| {
            let mut pressures = frame.patches.pressures().iter();
            pressures.try_for_each(|x| array.put(*x))
        })
    })?;
    archive.finish()
}
