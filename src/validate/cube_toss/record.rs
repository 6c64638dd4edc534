//! The file of measured tosses: CSV, compressed by gzip.

use std::path::Path;

use nalgebra::{Isometry3, Quaternion, UnitQuaternion, Vector3};

use super::super::error::CaseError;

/// Samples a second.
pub(super) const SAMPLE_RATE_HZ: f64 = 148.0;

const HEADER: &str = "toss,sample,t,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz";

/// One moment of a toss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Pose of the cube's centre.
    pub(super) X_WB: Isometry3<f64>,
    /// World axes, m/s.
    pub(super) velocity_W: Vector3<f64>,
    /// Body axes, rad/s.
    pub(super) angular_velocity_B: Vector3<f64>,
}

/// One toss, sampled evenly.
#[derive(Clone, Debug)]
pub(super) struct Toss {
    pub(super) samples: Vec<Sample>,
}

/// Reads all tosses.
pub(super) fn read(path: &Path) -> Result<Vec<Toss>, CaseError> {
    let fault = |what: String| CaseError::File {
        path: path.into(),
        what,
    };
    let packed = std::fs::read(path).map_err(|e| fault(e.to_string()))?;
    let text = unpacked(&packed).map_err(fault)?;
    tosses(&text).map_err(|(line, what)| CaseError::Line {
        path: path.into(),
        line,
        what,
    })
}

/// The tosses of a file, or what is wrong in which line.
fn tosses(text: &str) -> Result<Vec<Toss>, (usize, String)> {
    let mut tosses: Vec<(f64, Toss)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let fault = |what: String| (index + 1, what);
        if index == 0 {
            if line != HEADER {
                return Err(fault(format!("the columns must be {HEADER}")));
            }
            continue;
        }
        let values: Vec<f64> = line
            .split(',')
            .map(|word| {
                let value = word.parse().ok().filter(|v: &f64| v.is_finite());
                value.ok_or_else(|| fault(format!("\"{word}\" is no finite number")))
            })
            .collect::<Result<_, _>>()?;
        let &[toss, _, _, x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz] = values.as_slice()
        else {
            return Err(fault(format!("{} values, 16 are needed", values.len())));
        };
        let rotation = UnitQuaternion::from_quaternion(Quaternion::new(qw, qx, qy, qz));
        let sample = Sample {
            X_WB: Isometry3::from_parts(Vector3::new(x, y, z).into(), rotation),
            velocity_W: Vector3::new(vx, vy, vz),
            angular_velocity_B: Vector3::new(wx, wy, wz),
        };
        match tosses.last_mut() {
            Some((last, known)) if *last == toss => known.samples.push(sample),
            _ => tosses.push((
                toss,
                Toss {
                    samples: vec![sample],
                },
            )),
        }
    }
    Ok(tosses.into_iter().map(|(_, toss)| toss).collect())
}

/// The text in a gzip file of one member (RFC 1952).
fn unpacked(packed: &[u8]) -> Result<String, String> {
    const CUT_OFF: &str = "the gzip header is cut off";
    let &[0x1f, 0x8b, 8, flags, ..] = packed else {
        return Err("this is no gzip file".into());
    };
    let mut at = 10;
    if flags & 4 != 0 {
        let length = packed.get(at..at + 2).ok_or(CUT_OFF)?;
        at += 2 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    }
    // File name and comment, each ended by a zero.
    for flag in [8, 16] {
        if flags & flag != 0 {
            let rest = packed.get(at..).ok_or(CUT_OFF)?;
            at += rest.iter().position(|&b| b == 0).ok_or(CUT_OFF)? + 1;
        }
    }
    if flags & 2 != 0 {
        at += 2;
    }
    let body = packed.get(at..).ok_or(CUT_OFF)?;
    let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(body, 1 << 28)
        .map_err(|e| e.to_string())?;
    String::from_utf8(bytes).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "0,0,0,1,2,3,1,0,0,0,4,5,6,7,8,9";

    /// A gzip file with the given flags and optional header fields.
    fn gzip(flags: u8, fields: &[u8], text: &str) -> Vec<u8> {
        let mut file = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255];
        file.extend_from_slice(fields);
        // One stored block, the last (RFC 1951).
        let n = text.len() as u16;
        file.push(1);
        file.extend_from_slice(&n.to_le_bytes());
        file.extend_from_slice(&(!n).to_le_bytes());
        file.extend_from_slice(text.as_bytes());
        file.extend_from_slice(&[0; 8]);
        file
    }

    #[test]
    fn a_gzip_file_is_read_whatever_its_header_holds() {
        for (flags, fields) in [
            (0, &b""[..]),
            (8, b"tosses.csv\0"),
            (4 | 16, b"\x02\0ab a comment\0"),
            (8 | 2, b"n\0\x12\x34"),
        ] {
            assert_eq!(
                unpacked(&gzip(flags, fields, "text")).as_deref(),
                Ok("text")
            );
        }
        let whole = gzip(8, b"tosses.csv\0", "text");
        for n in 0..whole.len() - 8 {
            assert!(unpacked(&whole[..n]).is_err(), "cut after {n} bytes");
        }
    }

    #[test]
    fn rows_of_one_number_are_one_toss() {
        let text = format!("{HEADER}\n{ROW}\n{ROW}\n1{}\n", &ROW[1..]);
        let tosses = tosses(&text).expect("a good file");
        assert_eq!(
            tosses.iter().map(|t| t.samples.len()).collect::<Vec<_>>(),
            [2, 1]
        );
        let sample = &tosses[1].samples[0];
        assert_eq!(sample.X_WB.translation.vector, Vector3::new(1.0, 2.0, 3.0));
        assert_eq!(sample.velocity_W, Vector3::new(4.0, 5.0, 6.0));
        assert_eq!(sample.angular_velocity_B, Vector3::new(7.0, 8.0, 9.0));
    }

    #[test]
    fn a_bad_row_is_named() {
        let second = |row: &str| tosses(&format!("{HEADER}\n{row}")).map(drop);
        assert_eq!(second("1,2").unwrap_err().0, 2);
        assert!(
            second(&ROW.replace('9', "nan"))
                .unwrap_err()
                .1
                .contains("nan")
        );
        assert_eq!(tosses("toss").unwrap_err().0, 1);
    }
}
