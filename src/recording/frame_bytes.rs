//! Frames as bytes in a spool, to the last bit. Each part has its length before it, so that readers skip the others.
//!
//! A frame is its time, the number of its parts, their lengths, and the parts: poses, contacts, patches, patch forces, and the points of
//! each deforming visual. Numbers are little-endian.

use nalgebra::{Isometry3, Matrix3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};

use super::spool::SpoolReader;
use super::{
    Between, ContactArrow, Deformed, Frame, ParticleStates, PatchForce, PressurePolygons,
    RecordingError,
};

/// What is read of each frame, besides its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FramePart {
    /// Everything.
    All,
    /// Poses.
    Poses,
    /// Contact forces.
    Contacts,
    /// Polygons of patches.
    Patches,
    /// Forces of patches.
    PatchForces,
    /// One of the deforming visuals.
    Deformed(usize),
}

const FIXED_PARTS: usize = 4;

impl FramePart {
    fn includes(self, index: usize) -> bool {
        match self {
            Self::All => true,
            Self::Poses => index == 0,
            Self::Contacts => index == 1,
            Self::Patches => index == 2,
            Self::PatchForces => index == 3,
            Self::Deformed(number) => index == FIXED_PARTS + number,
        }
    }
}

/// Appends the bytes of a frame.
pub(super) fn append(frame: &Frame, bytes: &mut Vec<u8>) {
    let mut parts = vec![Vec::new(); FIXED_PARTS + frame.deformed.len()];
    for pose in &frame.X_WB {
        vector(&pose.translation.vector, &mut parts[0]);
        numbers(pose.rotation.coords.iter(), &mut parts[0]);
    }
    for contact in &frame.contacts {
        vector(&contact.p_WC.coords, &mut parts[1]);
        vector(&contact.f_W, &mut parts[1]);
    }
    let patches = &frame.patches;
    count(patches.counts().len(), &mut parts[2]);
    for (corners, sides) in patches.counts().iter().zip(patches.between()) {
        integers(&[*corners, sides.a, sides.b], &mut parts[2]);
    }
    for (point, pressure) in patches.points().iter().zip(patches.pressures()) {
        vector(&point.coords, &mut parts[2]);
        numbers([pressure], &mut parts[2]);
    }
    for patch in &frame.patch_forces {
        integers(&[patch.between.a, patch.between.b], &mut parts[3]);
        numbers([&patch.area, &patch.pressure_max], &mut parts[3]);
        for v in [&patch.p_WC.coords, &patch.f_W, &patch.m_W] {
            vector(v, &mut parts[3]);
        }
    }
    for (deformed, part) in frame.deformed.iter().zip(&mut parts[FIXED_PARTS..]) {
        append_deformed(deformed, part);
    }
    numbers([&frame.time_s], bytes);
    count(parts.len(), bytes);
    for part in &parts {
        count(part.len(), bytes);
    }
    for part in &parts {
        bytes.extend_from_slice(part);
    }
}

fn append_deformed(deformed: &Deformed, bytes: &mut Vec<u8>) {
    count(deformed.points.len(), bytes);
    count(deformed.values.len(), bytes);
    count(usize::from(deformed.states.is_some()), bytes);
    for point in &deformed.points {
        vector(&point.coords, bytes);
    }
    numbers(&deformed.values, bytes);
    let Some(states) = &deformed.states else {
        return;
    };
    integers(&states.ids, bytes);
    integers(&states.bodies, bytes);
    for velocity in &states.velocities {
        vector(velocity, bytes);
    }
    numbers(&states.masses, bytes);
    numbers(&states.volumes, bytes);
    for gradient in &states.deformation_gradients {
        numbers(gradient.iter(), bytes);
    }
    numbers(&states.plastic_strains, bytes);
}

/// Reads the next frame: its time, and the part asked for; the others are empty.
pub(super) fn read(
    reader: &mut SpoolReader<'_>,
    part: FramePart,
    frame: &mut Frame,
) -> Result<(), RecordingError> {
    let mut head = [0; 16];
    reader.read(&mut head)?;
    let mut head = Bytes(&head);
    let (time_s, n_parts) = (head.number(), head.count());
    let mut lengths = vec![0; 8 * n_parts];
    reader.read(&mut lengths)?;
    let mut lengths = Bytes(&lengths);
    *frame = Frame {
        time_s,
        deformed: vec![Deformed::default(); n_parts - FIXED_PARTS],
        ..Frame::default()
    };
    let mut bytes = Vec::new();
    for index in 0..n_parts {
        let length = lengths.count();
        if !part.includes(index) {
            reader.skip(length as u64);
            continue;
        }
        bytes.resize(length, 0);
        reader.read(&mut bytes)?;
        let mut from = Bytes(&bytes);
        match index {
            0 => frame.X_WB = from.all(Bytes::pose),
            1 => frame.contacts = from.all(Bytes::contact),
            2 => frame.patches = from.polygons(),
            3 => frame.patch_forces = from.all(Bytes::patch_force),
            _ => frame.deformed[index - FIXED_PARTS] = from.deformed(),
        }
    }
    Ok(())
}

fn count(n: usize, bytes: &mut Vec<u8>) {
    bytes.extend((n as u64).to_le_bytes());
}

fn integers(values: &[u32], bytes: &mut Vec<u8>) {
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn numbers<'a>(values: impl IntoIterator<Item = &'a f64>, bytes: &mut Vec<u8>) {
    bytes.extend(values.into_iter().flat_map(|value| value.to_le_bytes()));
}

fn vector(v: &Vector3<f64>, bytes: &mut Vec<u8>) {
    numbers(v.iter(), bytes);
}

/// Bytes that are left; they are our own, so that there are always enough.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (now, rest) = self
            .0
            .split_first_chunk()
            .expect("a part has all of its numbers");
        self.0 = rest;
        *now
    }

    fn number(&mut self) -> f64 {
        f64::from_le_bytes(self.take())
    }

    fn integer(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn count(&mut self) -> usize {
        u64::from_le_bytes(self.take()) as usize
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.number())
    }

    /// Column by column.
    fn matrix(&mut self) -> Matrix3<f64> {
        Matrix3::from_columns(&[self.vector(), self.vector(), self.vector()])
    }

    fn point(&mut self) -> Point3<f64> {
        self.vector().into()
    }

    fn many<T>(&mut self, n: usize, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..n).map(|_| one(self)).collect()
    }

    /// To the end of the part.
    fn all<T>(&mut self, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        let mut all = Vec::new();
        while !self.0.is_empty() {
            all.push(one(self));
        }
        all
    }

    fn pose(&mut self) -> Isometry3<f64> {
        let translation = Translation3::from(self.vector());
        let [i, j, k, w] = [(); 4].map(|()| self.number());
        let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k));
        Isometry3::from_parts(translation, rotation)
    }

    fn contact(&mut self) -> ContactArrow {
        ContactArrow {
            p_WC: self.point(),
            f_W: self.vector(),
        }
    }

    fn between(&mut self) -> Between {
        Between {
            a: self.integer(),
            b: self.integer(),
        }
    }

    fn polygons(&mut self) -> PressurePolygons {
        let mut polygons = PressurePolygons::default();
        let n = self.count();
        let heads = self.many(n, |bytes| (bytes.integer() as usize, bytes.between()));
        for (n_corners, between) in heads {
            let corners = self.many(n_corners, |bytes| (bytes.point(), bytes.number()));
            let (points, pressures): (Vec<_>, Vec<_>) = corners.into_iter().unzip();
            polygons.push(between, &points, &pressures);
        }
        polygons
    }

    fn patch_force(&mut self) -> PatchForce {
        PatchForce {
            between: self.between(),
            area: self.number(),
            pressure_max: self.number(),
            p_WC: self.point(),
            f_W: self.vector(),
            m_W: self.vector(),
        }
    }

    fn deformed(&mut self) -> Deformed {
        let (n, n_values, n_states) = (self.count(), self.count(), self.count());
        Deformed {
            points: self.many(n, Self::point),
            values: self.many(n_values, Self::number),
            states: (n_states > 0).then(|| ParticleStates {
                ids: self.many(n, Self::integer),
                bodies: self.many(n, Self::integer),
                velocities: self.many(n, Self::vector),
                masses: self.many(n, Self::number),
                volumes: self.many(n, Self::number),
                deformation_gradients: self.many(n, Self::matrix),
                plastic_strains: self.many(n, Self::number),
            }),
        }
    }
}
