//! Reads the streams back, as the player does, and holds what comes out against what went in.

use nalgebra::{Translation3, UnitQuaternion};
use proptest::prelude::*;

use super::*;

struct IntegerReader {
    bytes: std::vec::IntoIter<u8>,
    zeros: u64,
}

impl IntegerReader {
    fn new(base64: &str) -> Self {
        let bytes = BASE64_STANDARD
            .decode(base64)
            .expect("the stream is base64");
        Self {
            bytes: bytes.into_iter(),
            zeros: 0,
        }
    }

    fn digits(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.bytes.next().expect("the stream ends too early");
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }

    fn next(&mut self) -> i64 {
        if self.zeros > 0 {
            self.zeros -= 1;
            return 0;
        }
        let digits = self.digits();
        if digits == 0 {
            self.zeros = self.digits();
            return 0;
        }
        (digits >> 1) as i64 ^ -((digits & 1) as i64)
    }

    fn is_at_end(&self) -> bool {
        self.zeros == 0 && self.bytes.len() == 0
    }
}

fn unpack_poses(packed: &PackedPoses, n_frames: usize) -> Vec<Isometry3<f64>> {
    let mut reader = IntegerReader::new(&packed.stream);
    let channels: Vec<Vec<f64>> = (0..7)
        .map(|_| {
            let (mut last, mut last_but_one) = (0, 0);
            (0..n_frames)
                .map(|_| {
                    let value = reader.next() + 2 * last - last_but_one;
                    (last_but_one, last) = (last, value);
                    value as f64
                })
                .collect()
        })
        .collect();
    assert!(reader.is_at_end());
    (0..n_frames)
        .map(|k| {
            let position =
                |axis: usize| packed.grid.origin[axis] + packed.grid.step * channels[axis][k];
            let q =
                [3, 4, 5, 6].map(|channel: usize| channels[channel][k] * packed.quaternion_step);
            let quaternion = nalgebra::Quaternion::new(q[0], q[1], q[2], q[3]);
            Isometry3::from_parts(
                Translation3::new(position(0), position(1), position(2)),
                UnitQuaternion::from_quaternion(quaternion),
            )
        })
        .collect()
}

proptest! {
    #[test]
    fn integers_come_back(values in prop::collection::vec(prop_oneof![Just(0), -3_i64..4, any::<i32>().prop_map(i64::from)], 0..200)) {
        let mut writer = IntegerWriter::default();
        values.iter().for_each(|&value| writer.push(value));
        let mut reader = IntegerReader::new(&writer.base64());
        let back: Vec<i64> = values.iter().map(|_| reader.next()).collect();
        prop_assert_eq!(back, values);
        prop_assert!(reader.is_at_end());
    }

    /// Half a step of 2⁻²⁰ of the travel for positions; 4e-5 rad for rotations: four components each off by at most 2⁻¹⁷
    /// rotate a quaternion by at most 2·√4·2⁻¹⁷ = 3.1e-5, with room for the square terms.
    #[test]
    fn poses_come_back_within_the_promised_bounds(
        rows in prop::collection::vec((prop::array::uniform3(-50.0..50.0_f64), prop::array::uniform3(-4.0..4.0_f64)), 1..40),
    ) {
        let poses: Vec<Isometry3<f64>> = rows.iter().map(|(p, rotation)| Isometry3::new(Vector3::from(*p), Vector3::from(*rotation))).collect();
        let back = unpack_poses(&PackedPoses::pack(poses.iter()), poses.len());
        let travel = (0..3).map(|axis| {
            let along = || rows.iter().map(|(p, _)| p[axis]);
            along().fold(f64::MIN, f64::max) - along().fold(f64::MAX, f64::min)
        }).fold(0.0, f64::max);
        let bound = 0.5 * (travel / POSE_STEPS).max(FINEST_STEP) + 50.0 * 4.0 * f64::EPSILON;
        for (pose, back) in poses.iter().zip(&back) {
            let off = (pose.translation.vector - back.translation.vector).amax();
            prop_assert!(off <= bound, "{off} > {bound}");
            prop_assert!(pose.rotation.angle_to(&back.rotation) <= 4e-5);
        }
    }
}

#[test]
fn a_body_at_rest_costs_a_few_bytes_for_any_number_of_frames() {
    let pose = Isometry3::new(Vector3::new(0.3, -0.2, 1.1), Vector3::new(0.1, 0.2, 0.3));
    let packed = PackedPoses::pack(std::iter::repeat_n(&pose, 10_000));
    assert!(
        packed.stream.len() < 100,
        "{} characters",
        packed.stream.len()
    );
    let last = unpack_poses(&packed, 10_000).pop().expect("10,000 poses");
    assert!((last.translation.vector - pose.translation.vector).amax() <= 0.5 * FINEST_STEP);
}

#[test]
fn a_turn_that_changes_the_sign_of_its_quaternion_does_not_jump() {
    let about_z = |k: usize| Isometry3::rotation(Vector3::z() * (0.1 * k as f64));
    let poses: Vec<_> = (0..200).map(about_z).collect();
    let smooth = PackedPoses::pack(poses.iter()).stream.len();
    // Two changing channels, at most two bytes each frame in 4/3 characters a byte, and little besides.
    assert!(smooth < 200 * 2 * 2 * 4 / 3 + 60, "{smooth} characters");
}

#[test]
fn contacts_that_come_and_go_come_back() {
    let arrow = |x: f64, f: f64| ContactArrow {
        p_WC: Point3::new(x, 2.0 * x, -x),
        f_W: Vector3::new(0.0, -f, f),
    };
    let frames = [
        vec![],
        vec![arrow(0.1, 1.0), arrow(0.2, 2.0)],
        vec![arrow(0.1, 4.0)],
        vec![arrow(0.3, 0.5); 3],
    ];
    let packed = PackedContacts::pack(frames.iter().map(Vec::as_slice));
    let mut reader = IntegerReader::new(&packed.stream);
    let mut before: Vec<[i64; 6]> = Vec::new();
    for frame in &frames {
        let n = reader.next() as usize;
        assert_eq!(n, frame.len());
        before.resize(n, [0; 6]);
        for (contact, now) in frame.iter().zip(&mut before) {
            now.iter_mut().for_each(|value| *value += reader.next());
            for axis in 0..3 {
                let position = packed.grid.origin[axis] + packed.grid.step * now[axis] as f64;
                assert!((position - contact.p_WC[axis]).abs() <= 0.51 * packed.grid.step);
                let force = packed.force_step * now[3 + axis] as f64;
                assert!((force - contact.f_W[axis]).abs() <= 0.51 * packed.force_step);
            }
        }
    }
    assert!(reader.is_at_end());
}

#[test]
fn soft_points_and_their_values_come_back() {
    let scale = ValueScale {
        name: "pressure".into(),
        unit: "Pa".into(),
        min: 0.0,
        max: 10.0,
    };
    let frame = |t: f64, n: usize| Deformed {
        points: (0..n)
            .map(|i| Point3::new(t, i as f64, t * i as f64))
            .collect(),
        values: (0..n).map(|i| t + i as f64).collect(),
        states: None,
    };
    let frames = [
        frame(0.0, 3),
        frame(0.5, 5),
        Deformed::default(),
        frame(1.0, 2),
    ];
    let packed = PackedPoints::pack(frames.iter(), Some(&scale));
    let mut reader = IntegerReader::new(&packed.stream);
    let (mut points, mut values): (Vec<i64>, Vec<i64>) = Default::default();
    for frame in &frames {
        let n = reader.next() as usize;
        assert_eq!(n, frame.points.len());
        let has_values = reader.next() == 1;
        assert_eq!(has_values, n > 0);
        points.resize(3 * n, 0);
        values.resize(n, 0);
        points.iter_mut().for_each(|value| *value += reader.next());
        values.iter_mut().for_each(|value| *value += reader.next());
        for (i, (point, value)) in frame.points.iter().zip(&frame.values).enumerate() {
            for axis in 0..3 {
                let position =
                    packed.grid.origin[axis] + packed.grid.step * points[3 * i + axis] as f64;
                assert!((position - point[axis]).abs() <= 0.51 * packed.grid.step);
            }
            assert!(
                (values[i] as f64 / VALUE_STEPS * 10.0 - value).abs() <= 0.51 * 10.0 / VALUE_STEPS
            );
        }
    }
    assert!(reader.is_at_end());
}
