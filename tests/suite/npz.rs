//! A reader of NumPy archives, for tests of the writer: written for the formats, not for what the writer produces.

use std::collections::BTreeMap;

use miniz_oxide::inflate::decompress_to_vec;

/// An array of an archive.
pub(crate) struct Array {
    /// Type descriptor, such as `<f8`.
    pub(crate) descr: String,
    pub(crate) shape: Vec<usize>,
    data: Vec<u8>,
}

impl Array {
    /// The values of a column of `f64`.
    #[track_caller]
    pub(crate) fn f64s(&self) -> Vec<f64> {
        self.check("<f8", 8);
        let each = self.data.chunks_exact(8);
        each.map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")))
            .collect()
    }

    /// The values of a column of `u32`.
    #[track_caller]
    pub(crate) fn u32s(&self) -> Vec<u32> {
        self.check("<u4", 4);
        let each = self.data.chunks_exact(4);
        each.map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
            .collect()
    }

    /// Byte strings without their padding.
    #[track_caller]
    pub(crate) fn texts(&self) -> Vec<String> {
        let width = self.descr.strip_prefix("|S").expect("byte strings");
        let width = width.parse().expect("a width");
        self.check(&self.descr, width);
        let each = self.data.chunks_exact(width);
        each.map(|b| String::from_utf8_lossy(b).trim_end_matches('\0').into())
            .collect()
    }

    #[track_caller]
    fn check(&self, descr: &str, size: usize) {
        assert_eq!(self.descr, descr);
        assert_eq!(
            self.data.len(),
            size * self.shape.iter().product::<usize>(),
            "bytes of {:?}",
            self.shape
        );
    }
}

/// All arrays of an archive by name, read through its central directory.
#[track_caller]
pub(crate) fn read(bytes: &[u8]) -> BTreeMap<String, Array> {
    let u16_at = |i: usize| usize::from(u16::from_le_bytes([bytes[i], bytes[i + 1]]));
    let u32_at = |i: usize| u16_at(i) | u16_at(i + 2) << 16;
    let end = (0..=bytes.len() - 22).rev();
    let end = end
        .into_iter()
        .find(|&i| bytes[i..].starts_with(b"PK\x05\x06"))
        .expect("the end of a central directory");
    assert_eq!(u16_at(end + 20), bytes.len() - end - 22, "comment");
    let (n_files, mut at) = (u16_at(end + 10), u32_at(end + 16));
    assert_eq!(at + u32_at(end + 12), end, "size of the directory");
    let mut arrays = BTreeMap::new();
    for _ in 0..n_files {
        assert!(bytes[at..].starts_with(b"PK\x01\x02"));
        let (packed_size, size) = (u32_at(at + 20), u32_at(at + 24));
        let lengths = [28, 30, 32].map(|field| u16_at(at + field));
        let name = String::from_utf8(bytes[at + 46..][..lengths[0]].into()).expect("UTF-8");
        let local = u32_at(at + 42);
        assert!(bytes[local..].starts_with(b"PK\x03\x04"));
        // Version to extra field, the same in both headers.
        assert_eq!(bytes[local + 4..local + 28], bytes[at + 6..at + 30]);
        let start = local + 30 + u16_at(local + 26) + u16_at(local + 28);
        let packed = &bytes[start..start + packed_size];
        let data = match u16_at(at + 10) {
            0 => packed.to_vec(),
            8 => decompress_to_vec(packed).expect("deflated data"),
            method => panic!("compression method {method}"),
        };
        assert_eq!(data.len(), size);
        assert_eq!(crc_32(&data) as usize, u32_at(at + 16), "checksum");
        let array = name.strip_suffix(".npy").expect("an array");
        arrays.insert(array.to_owned(), parse(data));
        at += 46 + lengths.iter().sum::<usize>();
    }
    assert_eq!(at, end);
    arrays
}

#[track_caller]
fn parse(mut file: Vec<u8>) -> Array {
    assert!(file.starts_with(b"\x93NUMPY\x01\x00"));
    let start = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = String::from_utf8(file[10..start].into()).expect("text");
    assert!(header.contains("'fortran_order': False"));
    let between = |from: &str, to: &str| {
        let (_, rest) = header.split_once(from).expect(from);
        rest.split_once(to).expect(to).0.to_owned()
    };
    let shape = between("'shape': (", ")");
    Array {
        descr: between("'descr': '", "'"),
        shape: shape
            .split(',')
            .map(str::trim)
            .filter(|n| !n.is_empty())
            .map(|n| n.parse().expect("a size"))
            .collect(),
        data: file.split_off(start),
    }
}

/// CRC-32 bit by bit.
fn crc_32(data: &[u8]) -> u32 {
    let bits = data
        .iter()
        .flat_map(|byte| (0..8).map(move |k| byte >> k & 1));
    !bits.fold(!0, |crc: u32, bit| match (crc ^ u32::from(bit)) & 1 {
        1 => (crc >> 1) ^ 0xedb8_8320,
        _ => crc >> 1,
    })
}
