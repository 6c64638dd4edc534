//! NumPy archives: arrays in the NPY format 1.0, as deflated files of a ZIP archive.
//!
//! An archive has no dates, so equal arrays give equal bytes.
//!
//! Sources: NumPy, `numpy.lib.format`; PKWARE, APPNOTE.TXT 6.3.10.

use std::io;

use miniz_oxide::deflate::compress_to_vec;

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

impl Scalar for u32 {
    const DESCR: &'static str = "<u4";

    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_le_bytes());
    }
}

/// An archive that is being written.
#[derive(Default)]
pub(super) struct NpzWriter {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    n_files: usize,
}

impl NpzWriter {
    /// Adds an array with the last index fastest.
    pub(super) fn array<T: Scalar>(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        let mut data = header(T::DESCR, shape);
        let mut count = 0;
        for value in values {
            value.append_to(&mut data);
            count += 1;
        }
        debug_assert_eq!(count, shape.iter().product::<usize>(), "{name}");
        self.file(name, &data)
    }

    /// Adds one column of numbers.
    pub(super) fn column<T: Scalar>(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = T>,
    ) -> io::Result<()> {
        self.array(name, &[values.len()], values)
    }

    /// Adds an array of `rows.len()` × N numbers.
    pub(super) fn rows<T: Scalar, const N: usize>(
        &mut self,
        name: &str,
        rows: &[[T; N]],
    ) -> io::Result<()> {
        self.array(name, &[rows.len(), N], rows.iter().flatten().copied())
    }

    /// Adds text as byte strings of equal width (`S`): UTF-8, padded with zeros.
    pub(super) fn text<'t>(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = &'t str> + Clone,
    ) -> io::Result<()> {
        let width = values.clone().map(str::len).max().unwrap_or(0).max(1);
        let mut data = header(&format!("|S{width}"), &[values.len()]);
        for value in values {
            let end = data.len() + width;
            data.extend(value.as_bytes());
            data.resize(end, 0);
        }
        self.file(name, &data)
    }

    /// The bytes of the archive.
    pub(super) fn finish(mut self) -> io::Result<Vec<u8>> {
        let (start, size) = (offset(self.bytes.len())?, offset(self.directory.len())?);
        let n_files = u16::try_from(self.n_files).map_err(|_| too_large())?;
        self.bytes.append(&mut self.directory);
        self.bytes.extend(b"PK\x05\x06\0\0\0\0");
        self.bytes.extend(n_files.to_le_bytes());
        self.bytes.extend(n_files.to_le_bytes());
        self.bytes.extend(size.to_le_bytes());
        self.bytes.extend(start.to_le_bytes());
        self.bytes.extend([0; 2]);
        Ok(self.bytes)
    }

    /// Adds the file `NAME.npy`.
    fn file(&mut self, name: &str, data: &[u8]) -> io::Result<()> {
        /// Level of compression, as in zlib.
        const LEVEL: u8 = 6;
        let name = format!("{name}.npy");
        let packed = compress_to_vec(data, LEVEL);
        // From the version needed to the length of the extra field; the same in both headers.
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
        common.extend(crc_32(data).to_le_bytes());
        common.extend(offset(packed.len())?.to_le_bytes());
        common.extend(offset(data.len())?.to_le_bytes());
        let name_length = u16::try_from(name.len()).map_err(|_| too_large())?;
        common.extend(name_length.to_le_bytes());
        common.extend([0; 2]);

        self.directory.extend(b"PK\x01\x02\x14\0");
        self.directory.extend(&common);
        // No comment, first disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory
            .extend(offset(self.bytes.len())?.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.n_files += 1;

        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(common);
        self.bytes.extend(name.into_bytes());
        self.bytes.extend(packed);
        Ok(())
    }
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

fn offset(n: usize) -> io::Result<u32> {
    u32::try_from(n).map_err(|_| too_large())
}

fn too_large() -> io::Error {
    io::Error::other(
        "an archive is limited to 4 GiB and 65,535 arrays; record fewer frames or quantities",
    )
}

/// CRC-32 of ZIP: reflected polynomial 0xEDB88320.
fn crc_32(data: &[u8]) -> u32 {
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
    !data.iter().fold(!0, |crc: u32, &byte| {
        (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_the_standard_example_is_right() {
        assert_eq!(crc_32(b"123456789"), 0xcbf4_3926);
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
