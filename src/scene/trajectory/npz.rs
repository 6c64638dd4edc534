//! Columns of NumPy archives: the one-dimensional numeric arrays of a `.npz` file, stored or deflated.
//!
//! Sources: NumPy, `numpy.lib.format`; PKWARE, APPNOTE.TXT 6.3.10.

use miniz_oxide::inflate::decompress_to_vec_with_limit;

use crate::recording::crc_32;
use crate::scene::budget;

/// All arrays of a trajectory together, uncompressed.
const BYTES_MAX: usize = 8 * budget::NUMBERS;

/// Names and values of the numeric arrays of one dimension, in the order of the archive; others are left out.
pub(super) fn columns(bytes: &[u8]) -> Result<Vec<(String, Vec<f64>)>, String> {
    let mut columns = Vec::new();
    let entries = entries(bytes)?;
    let size: usize = entries.iter().map(|entry| entry.size).sum();
    if size > BYTES_MAX {
        return Err(format!(
            "{size} bytes of arrays, at most {BYTES_MAX} are read"
        ));
    }
    for entry in entries {
        let name = entry.name.strip_suffix(".npy").unwrap_or(&entry.name);
        let fault = |reason: String| format!("array {name:?}: {reason}");
        let data = entry.data(bytes).map_err(fault)?;
        if let Some(values) = array(&data).map_err(fault)? {
            columns.push((name.to_owned(), values));
        }
    }
    Ok(columns)
}

/// A file of the archive, by its central directory.
struct Entry {
    name: String,
    method: u16,
    packed: usize,
    size: usize,
    crc: u32,
    local_header: usize,
}

/// Little-endian number of `N` bytes at `at`.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(N)?)?;
    let sum = field
        .iter()
        .rev()
        .fold(0u64, |sum, b| (sum << 8) | u64::from(*b));
    usize::try_from(sum).ok()
}

fn entries(bytes: &[u8]) -> Result<Vec<Entry>, String> {
    const END: &[u8] = b"PK\x05\x06";
    const END_SIZE: usize = 22;
    let not_an_archive = || "is not a NumPy archive; `numpy.savez` writes one".to_owned();
    // The record at the end may be followed by a comment.
    let first = bytes.len().saturating_sub(END_SIZE + 65_535);
    let end = (first..=bytes.len().saturating_sub(END_SIZE))
        .rev()
        .find(|at| bytes[*at..].starts_with(END))
        .ok_or_else(not_an_archive)?;
    let truncated = || "the archive is truncated".to_owned();
    let count = number::<2>(bytes, end + 10).ok_or_else(truncated)?;
    let mut at = number::<4>(bytes, end + 16).ok_or_else(truncated)?;
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        if !bytes
            .get(at..)
            .is_some_and(|rest| rest.starts_with(b"PK\x01\x02"))
        {
            return Err(truncated());
        }
        let field = |offset: usize| number::<2>(bytes, at + offset).ok_or_else(truncated);
        let size = |offset: usize| number::<4>(bytes, at + offset).ok_or_else(truncated);
        let (name, extra, comment) = (field(28)?, field(30)?, field(32)?);
        let text = bytes.get(at + 46..at + 46 + name).ok_or_else(truncated)?;
        entries.push(Entry {
            name: String::from_utf8_lossy(text).into_owned(),
            method: u16::try_from(field(10)?).unwrap_or(u16::MAX),
            packed: size(20)?,
            size: size(24)?,
            crc: u32::try_from(size(16)?).unwrap_or(u32::MAX),
            local_header: size(42)?,
        });
        at += 46 + name + extra + comment;
    }
    Ok(entries)
}

impl Entry {
    fn data(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let truncated = || "the archive is truncated".to_owned();
        let at = self.local_header;
        let name = number::<2>(bytes, at + 26).ok_or_else(truncated)?;
        let extra = number::<2>(bytes, at + 28).ok_or_else(truncated)?;
        let from = at + 30 + name + extra;
        let packed = bytes.get(from..from + self.packed).ok_or_else(truncated)?;
        let data = match self.method {
            0 => packed.to_vec(),
            8 => decompress_to_vec_with_limit(packed, self.size)
                .map_err(|_| "cannot be decompressed".to_owned())?,
            method => {
                return Err(format!(
                    "compression method {method}; stored and deflated are read"
                ));
            }
        };
        match data.len() == self.size && crc_32(0, &data) == self.crc {
            true => Ok(data),
            false => {
                Err("does not have its checksum: it was damaged after it was written".to_owned())
            }
        }
    }
}

/// The numbers of an NPY file of one dimension; `None` for other dimensions and for text.
fn array(npy: &[u8]) -> Result<Option<Vec<f64>>, String> {
    let no_array = || "is not in NumPy's format".to_owned();
    if !npy.starts_with(b"\x93NUMPY") {
        return Err(no_array());
    }
    let (length, begin) = match npy.get(6) {
        Some(1) => (number::<2>(npy, 8), 10),
        Some(2 | 3) => (number::<4>(npy, 8), 12),
        _ => return Err(no_array()),
    };
    let length = length.ok_or_else(no_array)?;
    let header = npy.get(begin..begin + length).ok_or_else(no_array)?;
    let header = String::from_utf8_lossy(header);
    let after = |key: &str| header.split_once(key).map(|(_, rest)| rest);
    let kind = after("'descr':").and_then(|rest| rest.split('\'').nth(1));
    let shape = after("'shape':").and_then(|rest| rest.split(['(', ')']).nth(1));
    let (Some(kind), Some(shape)) = (kind, shape) else {
        return Err(no_array());
    };
    let lengths: Vec<&str> = (shape.split(','))
        .map(str::trim)
        .filter(|length| !length.is_empty())
        .collect();
    let [count] = lengths.as_slice() else {
        return Ok(None);
    };
    let count: usize = count.parse().map_err(|_| no_array())?;
    let data = &npy[begin + length..];
    let values = match kind {
        "<f8" => numbers(data, count, f64::from_le_bytes),
        "<f4" => numbers(data, count, |b| f64::from(f32::from_le_bytes(b))),
        "<i8" => numbers(data, count, |b| i64::from_le_bytes(b) as f64),
        "<i4" => numbers(data, count, |b| f64::from(i32::from_le_bytes(b))),
        text if text.contains(['U', 'S']) => return Ok(None),
        other => {
            return Err(format!(
                "numbers of type {other:?}; convert them with `.astype(\"<f8\")`"
            ));
        }
    };
    values
        .map(Some)
        .ok_or_else(|| format!("fewer bytes than {count} numbers have"))
}

fn numbers<const N: usize>(
    data: &[u8],
    count: usize,
    number: impl Fn([u8; N]) -> f64,
) -> Option<Vec<f64>> {
    let data = data.get(..count.checked_mul(N)?)?;
    let parts = data.chunks_exact(N).filter_map(|part| part.try_into().ok());
    Some(parts.map(number).collect())
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec;

    use super::*;

    /// An NPY file of version 1.0.
    fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn floats(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    /// A ZIP archive.
    fn archive(files: &[(&str, u16, Vec<u8>)]) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, method, content) in files {
            let packed = match method {
                8 => compress_to_vec(content, 6),
                _ => content.clone(),
            };
            let sizes = [packed.len() as u32, content.len() as u32];
            let length = (name.len() as u16).to_le_bytes();
            let offset = bytes.len() as u32;
            bytes.extend(b"PK\x03\x04\x14\0\0\0");
            bytes.extend(method.to_le_bytes());
            bytes.extend([0; 8]);
            bytes.extend(sizes.iter().flat_map(|n| n.to_le_bytes()));
            bytes.extend(length);
            // An extra field, as NumPy's local headers have one.
            bytes.extend(4u16.to_le_bytes());
            bytes.extend(name.as_bytes());
            bytes.extend([1, 0, 0, 0]);
            bytes.extend(packed);
            directory.extend(b"PK\x01\x02\x14\0\x14\0\0\0");
            directory.extend(method.to_le_bytes());
            directory.extend([0; 4]);
            directory.extend(crc_32(0, content).to_le_bytes());
            directory.extend(sizes.iter().flat_map(|n| n.to_le_bytes()));
            directory.extend(length);
            directory.extend([0; 12]);
            directory.extend(offset.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let (at, size) = (bytes.len() as u32, directory.len() as u32);
        bytes.extend(directory);
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        let count = (files.len() as u16).to_le_bytes();
        bytes.extend([count, count].concat());
        bytes.extend(size.to_le_bytes());
        bytes.extend(at.to_le_bytes());
        bytes.extend([0; 2]);
        bytes
    }

    #[test]
    fn stored_and_deflated_columns_of_all_types_are_read() {
        let integers: Vec<u8> = [3i32, -4].iter().flat_map(|x| x.to_le_bytes()).collect();
        let singles: Vec<u8> = [0.5f32, 1.5].iter().flat_map(|x| x.to_le_bytes()).collect();
        let files = [
            ("time_s.npy", 0, npy("<f8", "(2,)", &floats(&[0.0, 1.0]))),
            ("elbow.npy", 8, npy("<f4", "(2,)", &singles)),
            ("wrist.npy", 8, npy("<i4", "(2,)", &integers)),
            ("names.npy", 0, npy("<U3", "(1,)", &[0; 12])),
            ("poses.npy", 0, npy("<f8", "(1, 2)", &floats(&[0.0, 1.0]))),
        ];
        let expected = [
            ("time_s".to_owned(), vec![0.0, 1.0]),
            ("elbow".to_owned(), vec![0.5, 1.5]),
            ("wrist".to_owned(), vec![3.0, -4.0]),
        ];
        assert_eq!(columns(&archive(&files)).expect("sound"), expected);
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let values = floats(&[0.0, 1.0]);
        let mut bytes = archive(&[("t.npy", 0, npy("<f8", "(2,)", &values))]);
        let at = bytes
            .windows(16)
            .position(|part| part == values)
            .expect("stored");
        bytes[at + 3] ^= 1;
        let reason = columns(&bytes).expect_err("damaged");
        assert!(reason.contains("does not have its checksum"), "{reason}");
    }

    #[test]
    fn what_is_no_archive_or_cut_off_is_refused() {
        let refused = |bytes: &[u8], part: &str| {
            let reason = columns(bytes).expect_err(part);
            assert!(reason.contains(part), "{reason}");
        };
        refused(b"time_s,elbow\n0,1\n", "not a NumPy archive");
        refused(b"", "not a NumPy archive");
        let whole =
            |kind: &str, shape: &str| archive(&[("a.npy", 0, npy(kind, shape, &floats(&[1.0])))]);
        refused(&whole("<f8", "(2,)"), "array \"a\": fewer bytes than 2");
        refused(&whole("<c16", "(1,)"), "\"<c16\"; convert them");
        refused(&archive(&[("a.npy", 12, vec![0])]), "compression method 12");
        refused(
            &archive(&[("a.npy", 0, b"text".to_vec())]),
            "NumPy's format",
        );
        // No prefix of an archive with its end lost or moved panics.
        let sound = whole("<f8", "(1,)");
        for cut in 0..sound.len() - 22 {
            let mut damaged = sound.clone();
            damaged.drain(..cut);
            let _ = columns(&damaged);
        }
    }
}
