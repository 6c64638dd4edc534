//! NumPy archives: arrays in the NPY format 1.0, as deflated files of a ZIP archive.
//!
//! An archive has no dates, so equal arrays give equal bytes.
//!
//! Sources: NumPy, `numpy.lib.format`; PKWARE, APPNOTE.TXT 6.3.10.

use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress_to_output, create_comp_flags_from_zip_params,
};

use super::RecordingError;

/// A type of NumPy numbers.
pub(super) trait Scalar: Copy {
    /// The type descriptor `descr`.
    const DESCR: &'static str;

    /// Appends the bytes, little-endian.
    fn append_to(self, bytes: &mut Vec<u8>);
}

impl Scalar for f64 {
    const DESCR: &'static str = "<f8";

    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

impl Scalar for f32 {
    const DESCR: &'static str = "<f4";

    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

impl Scalar for u32 {
    const DESCR: &'static str = "<u4";

    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

/// An archive that is being written. Arrays are compressed as their numbers come.
pub(super) struct NpzWriter<'a, W> {
    /// Named in errors.
    path: &'a Path,
    out: W,
    at: u64,
    directory: Vec<u8>,
    n_files: usize,
}

/// The data of an array on its way into the archive.
pub(super) struct ArrayWriter<'a, W> {
    path: &'a Path,
    out: &'a mut W,
    compressor: Box<CompressorOxide>,
    pending: Vec<u8>,
    crc: u32,
    size: u64,
    packed_size: u64,
}

/// Compressed at a time.
const PIECE: usize = 64 << 10;

impl<W: Write> ArrayWriter<'_, W> {
    /// Appends a number.
    pub(super) fn put<T: Scalar>(&mut self, value: T) -> Result<(), RecordingError> {
        value.append_to(&mut self.pending);
        if self.pending.len() < PIECE {
            return Ok(());
        }
        let compressed = self.compress(TDEFLFlush::None);
        compressed.map_err(|error| RecordingError::write(self.path, error))
    }

    fn compress(&mut self, flush: TDEFLFlush) -> io::Result<()> {
        self.crc = crc_32(self.crc, &self.pending);
        self.size += self.pending.len() as u64;
        let mut fault = Ok(());
        let (status, _) =
            compress_to_output(&mut self.compressor, &self.pending, flush, |packed| {
                self.packed_size += packed.len() as u64;
                fault = self.out.write_all(packed);
                fault.is_ok()
            });
        self.pending.clear();
        fault?;
        match status {
            TDEFLStatus::Okay | TDEFLStatus::Done => Ok(()),
            _ => Err(io::Error::other("the archive cannot be compressed")),
        }
    }
}

impl<'a, W: Write + Seek> NpzWriter<'a, W> {
    /// Writes to `out`, for which errors name `path`.
    pub(super) fn new(path: &'a Path, out: W) -> Self {
        Self {
            path,
            out,
            at: 0,
            directory: Vec::new(),
            n_files: 0,
        }
    }

    /// Adds an array with the last index fastest; `fill` puts its numbers.
    pub(super) fn array<T: Scalar>(
        &mut self,
        name: &str,
        shape: &[usize],
        fill: impl FnOnce(&mut ArrayWriter<'_, W>) -> Result<(), RecordingError>,
    ) -> Result<(), RecordingError> {
        self.file(name, header(T::DESCR, shape), fill)
    }

    /// Adds one column of numbers.
    pub(super) fn column<T: Scalar>(
        &mut self,
        name: &str,
        mut values: impl ExactSizeIterator<Item = T>,
    ) -> Result<(), RecordingError> {
        self.array::<T>(name, &[values.len()], |array| {
            values.try_for_each(|value| array.put(value))
        })
    }

    /// Adds an array of `rows.len()` × N numbers.
    pub(super) fn rows<T: Scalar, const N: usize>(
        &mut self,
        name: &str,
        rows: &[[T; N]],
    ) -> Result<(), RecordingError> {
        self.array::<T>(name, &[rows.len(), N], |array| {
            rows.iter().flatten().try_for_each(|x| array.put(*x))
        })
    }

    /// Adds text as byte strings of equal width (`S`): UTF-8, padded with zeros.
    pub(super) fn text<'t>(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = &'t str> + Clone,
    ) -> Result<(), RecordingError> {
        let width = values.clone().map(str::len).max().unwrap_or(0).max(1);
        let mut data = header(&format!("|S{width}"), &[values.len()]);
        for value in values {
            let end = data.len() + width;
            data.extend(value.as_bytes());
            data.resize(end, 0);
        }
        self.file(name, data, |_| Ok(()))
    }

    /// Writes the directory.
    pub(super) fn finish(mut self) -> Result<(), RecordingError> {
        let end = (|| {
            let (start, size) = (offset(self.at)?, offset(self.directory.len() as u64)?);
            let n_files = u16::try_from(self.n_files).map_err(|_| too_large())?;
            let mut bytes = std::mem::take(&mut self.directory);
            bytes.extend(b"PK\x05\x06\0\0\0\0");
            bytes.extend(n_files.to_le_bytes());
            bytes.extend(n_files.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes.extend(start.to_le_bytes());
            bytes.extend([0; 2]);
            self.out.write_all(&bytes)
        })();
        end.map_err(|error| RecordingError::write(self.path, error))
    }

    /// Adds the file `NAME.npy`: what `begin` has, then what `fill` puts.
    fn file(
        &mut self,
        name: &str,
        begin: Vec<u8>,
        fill: impl FnOnce(&mut ArrayWriter<'_, W>) -> Result<(), RecordingError>,
    ) -> Result<(), RecordingError> {
        /// Level of compression, as in zlib.
        const LEVEL: i32 = 6;
        let path = self.path;
        let fault = |error| RecordingError::write(path, error);
        let name = format!("{name}.npy");
        // Sizes are known after the data: their place is left open.
        let head = local_header(&name, &Sizes::default()).map_err(fault)?;
        self.out.write_all(&head).map_err(fault)?;
        let flags = create_comp_flags_from_zip_params(LEVEL, 0, 0);
        let mut array = ArrayWriter {
            path,
            out: &mut self.out,
            compressor: Box::new(CompressorOxide::new(flags)),
            pending: begin,
            crc: 0,
            size: 0,
            packed_size: 0,
        };
        fill(&mut array)?;
        array.compress(TDEFLFlush::Finish).map_err(fault)?;
        let ArrayWriter {
            crc,
            size,
            packed_size,
            ..
        } = array;
        let ended = (|| {
            let sizes = Sizes {
                crc,
                packed: offset(packed_size)?,
                data: offset(size)?,
            };
            self.out.seek(SeekFrom::Start(self.at))?;
            self.out.write_all(&local_header(&name, &sizes)?)?;
            let start = self.at;
            self.at += head.len() as u64 + packed_size;
            self.out.seek(SeekFrom::Start(self.at))?;

            self.directory.extend(b"PK\x01\x02\x14\0");
            self.directory.extend(common(&name, &sizes)?);
            // No comment, first disk, no attributes.
            self.directory.extend([0; 10]);
            self.directory.extend(offset(start)?.to_le_bytes());
            self.directory.extend(name.as_bytes());
            self.n_files += 1;
            Ok(())
        })();
        ended.map_err(fault)
    }
}

/// Checksum and sizes of a file in the archive.
#[derive(Default)]
struct Sizes {
    crc: u32,
    packed: u32,
    data: u32,
}

fn local_header(name: &str, sizes: &Sizes) -> io::Result<Vec<u8>> {
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.extend(common(name, sizes)?);
    bytes.extend(name.as_bytes());
    Ok(bytes)
}

/// From the version needed to the length of the extra field; the same in both headers.
fn common(name: &str, sizes: &Sizes) -> io::Result<Vec<u8>> {
    let mut common = Vec::new();
    for field in [
        20,     // version 2.0: deflate
        0x0800, // names are UTF-8
        8,      // deflate
        0,      // time
        0x21,   // 1 January 1980, the earliest date
    ] {
        common.extend(u16::to_le_bytes(field));
    }
    for size in [sizes.crc, sizes.packed, sizes.data] {
        common.extend(size.to_le_bytes());
    }
    let name_length = u16::try_from(name.len()).map_err(|_| too_large())?;
    common.extend(name_length.to_le_bytes());
    common.extend([0; 2]);
    Ok(common)
}

/// The header of an NPY file: magic, version, length, and a dictionary that ends a block of 64 bytes with a newline.
fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let dictionary =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let length = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(
        u16::try_from(length)
            .expect("a header of a few dozen characters")
            .to_le_bytes(),
    );
    bytes.extend(format!("{dictionary:<width$}\n", width = length - 1).into_bytes());
    bytes
}

fn offset(n: u64) -> io::Result<u32> {
    u32::try_from(n).map_err(|_| too_large())
}

fn too_large() -> io::Error {
    io::Error::other(
        "an archive is limited to 4 GiB and 65,535 arrays; record fewer frames or quantities",
    )
}

/// CRC-32 of ZIP, reflected polynomial 0xEDB88320, of data after those with the checksum `before` (0 for none).
pub(crate) fn crc_32(before: u32, data: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut crc, mut bit) = (byte as u32, 0);
            while bit < 8 {
                crc = (crc >> 1) ^ ((crc & 1) * 0xedb8_8320);
                bit += 1;
            }
            table[byte] = crc;
            byte += 1;
        }
        table
    };
    !data.iter().fold(!before, |crc: u32, &byte| {
        (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_the_standard_example_is_right() {
        assert_eq!(crc_32(0, b"123456789"), 0xcbf4_3926);
        assert_eq!(crc_32(crc_32(0, b"1234"), b"56789"), 0xcbf4_3926);
    }

    /// Data in pieces are compressed as in one.
    #[test]
    fn pieces_are_compressed_as_a_whole() {
        let values: Vec<f64> = (0..100_000)
            .map(|k| (f64::from(k % 1000) * 0.1).sin())
            .collect();
        let mut bytes = io::Cursor::new(Vec::new());
        let mut archive = NpzWriter::new(Path::new("test"), &mut bytes);
        archive
            .column("x", values.iter().copied())
            .expect("memory takes all");
        archive.finish().expect("memory takes all");
        let bytes = bytes.into_inner();
        let mut data = header("<f8", &[values.len()]);
        values.iter().for_each(|value| value.append_to(&mut data));
        let whole = miniz_oxide::deflate::compress_to_vec(&data, 6);
        let at = b"PK__".len() + 26 + "x.npy".len();
        assert!(bytes[at..].starts_with(&whole));
    }

    #[test]
    fn a_header_fills_blocks_of_64_bytes() {
        for n in 0..80 {
            let bytes = header("<f8", &vec![10; n]);
            assert!(bytes.len().is_multiple_of(64));
            assert_eq!(bytes.last(), Some(&b'\n'));
            let length = u16::from_le_bytes([bytes[8], bytes[9]]);
            assert_eq!(usize::from(length) + 10, bytes.len());
        }
        let text = String::from_utf8_lossy(&header("<u4", &[3, 2])[10..]).into_owned();
        assert!(
            text.starts_with("{'descr': '<u4', 'fortran_order': False, 'shape': (3, 2, ), }"),
            "{text}"
        );
    }
}
