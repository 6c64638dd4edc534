//! PNG files of 8 bits for each of red, green and blue.
//!
//! Source: W3C, Portable Network Graphics (third edition).

use miniz_oxide::deflate::compress_to_vec_zlib;

use crate::recording::npz::crc_32;

/// Level of compression, as in zlib.
const LEVEL: u8 = 6;

/// The file of an image with rows from the top, pixels from the left.
pub(super) fn encode([width, height]: [usize; 2], colors: &[[u8; 3]]) -> Vec<u8> {
    let mut header = Vec::with_capacity(13);
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    // 8 bits, truecolour, deflate, adaptive filters, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut rows = Vec::with_capacity(height * (3 * width + 1));
    for row in colors.chunks(width) {
        rows.push(0); // no filter
        rows.extend(row.iter().flatten());
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &compress_to_vec_zlib(&rows, LEVEL));
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(name);
    file.extend(data);
    let crc = crc_32(crc_32(0, name), data);
    file.extend(crc.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_size_its_pixels_and_the_known_checksum_of_its_end() {
        let file = encode([2, 1], &[[255, 0, 0], [0, 0, 255]]);
        assert_eq!(file[16..24], [0, 0, 0, 2, 0, 0, 0, 1]);
        // Every PNG file ends with these bytes.
        let end = [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82];
        assert!(file.ends_with(&end));
        let at = file.windows(4).position(|w| w == b"IDAT").expect("data");
        let length = u32::from_be_bytes(file[at - 4..at].try_into().expect("four"));
        let data = &file[at + 4..at + 4 + length as usize];
        let rows = miniz_oxide::inflate::decompress_to_vec_zlib(data).expect("zlib");
        assert_eq!(rows, [0, 255, 0, 0, 0, 0, 255]);
    }
}
