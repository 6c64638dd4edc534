//! Pixels of the PNG pictures that a browser makes: eight bits per channel, red, green and blue with or without opacity, not interlaced.
//!
//! Source: Portable Network Graphics (PNG) Specification, third edition (W3C, 2025), sections 5, 9 and 11.

use miniz_oxide::inflate::decompress_to_vec_zlib;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Red, green and blue of each pixel, row by row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pixels {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) rgb: Vec<u8>,
}

impl Pixels {
    /// Reads a file; `None` for one of another kind.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        let mut rest = file.strip_prefix(SIGNATURE)?;
        let mut head: Option<(usize, usize, usize)> = None;
        let mut packed = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk() {
            let length = u32::from_be_bytes(*length) as usize;
            let (kind, after) = after.split_first_chunk::<4>()?;
            let data = after.get(..length)?;
            match kind {
                b"IHDR" => head = Some(head_of(data)?),
                b"IDAT" => packed.extend_from_slice(data),
                _ => {}
            }
            // A checksum ends each chunk.
            rest = after.get(length + 4..)?;
        }
        let (width, height, channels) = head?;
        let filtered = decompress_to_vec_zlib(&packed).ok()?;
        let rows = unfiltered(&filtered, width * channels, channels, height)?;
        let rgb = rows
            .chunks_exact(channels)
            .flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]);
        Some(Self {
            width,
            height,
            rgb: rgb.collect(),
        })
    }
}

/// Width, height and number of channels.
fn head_of(data: &[u8]) -> Option<(usize, usize, usize)> {
    let (width, data) = data.split_first_chunk()?;
    let (height, data) = data.split_first_chunk()?;
    let [8, color, 0, 0, 0] = *data else {
        return None;
    };
    let channels = match color {
        2 => 3,
        6 => 4,
        _ => return None,
    };
    let side = |bytes: &[u8; 4]| u32::from_be_bytes(*bytes) as usize;
    Some((side(width), side(height), channels))
}

/// Undoes the filters of the rows, each of which begins with the number of its own.
fn unfiltered(filtered: &[u8], row: usize, channels: usize, height: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; row * height];
    for (y, line) in filtered.chunks_exact(row + 1).take(height).enumerate() {
        let (before, now) = out.split_at_mut(y * row);
        let above = &before[before.len().saturating_sub(row)..];
        for x in 0..row {
            let left = if x >= channels { now[x - channels] } else { 0 };
            let up = above.get(x).copied().unwrap_or(0);
            let corner = match x >= channels {
                true => above.get(x - channels).copied().unwrap_or(0),
                false => 0,
            };
            let predicted = match line[0] {
                0 => 0,
                1 => left,
                2 => up,
                3 => u8::midpoint(left, up),
                4 => paeth(left, up, corner),
                _ => return None,
            };
            now[x] = line[1 + x].wrapping_add(predicted);
        }
    }
    (filtered.len() >= (row + 1) * height).then_some(out)
}

/// Of the three neighbours, the one nearest to left + up − corner.
fn paeth(left: u8, up: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, up, corner].map(i32::from);
    let distance = |x: i32| (a + b - c - x).abs();
    if distance(a) <= distance(b) && distance(a) <= distance(c) {
        left
    } else if distance(b) <= distance(c) {
        up
    } else {
        corner
    }
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::*;

    fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let mut chunk = (data.len() as u32).to_be_bytes().to_vec();
        chunk.extend(kind);
        chunk.extend(data);
        chunk.extend([0; 4]);
        chunk
    }

    fn file(color: u8, rows: &[u8]) -> Vec<u8> {
        let head = [0, 0, 0, 2, 0, 0, 0, 5, 8, color, 0, 0, 0];
        let mut file = SIGNATURE.to_vec();
        file.extend(chunk(b"IHDR", &head));
        file.extend(chunk(b"tEXt", b"anything"));
        file.extend(chunk(b"IDAT", &compress_to_vec_zlib(rows, 6)));
        file.extend(chunk(b"IEND", &[]));
        file
    }

    #[test]
    fn every_filter_is_undone() {
        // Two pixels in each of five rows, one row for each filter, by hand.
        let rows = [
            [0, 10, 20, 30, 40, 50, 60],
            [1, 10, 20, 30, 1, 1, 1],
            [2, 1, 2, 3, 4, 5, 6],
            [3, 5, 5, 5, 0, 0, 0],
            [4, 1, 1, 1, 1, 1, 1],
        ];
        let pixels = Pixels::read(&file(2, rows.as_flattened())).expect("a picture");
        assert_eq!((pixels.width, pixels.height), (2, 5));
        let expected = [
            [10, 20, 30, 40, 50, 60],
            [10, 20, 30, 11, 21, 31],
            [11, 22, 33, 15, 26, 37],
            // Half of 0 + 11, 22, 33 and 5; then half of left + up.
            [10, 16, 21, 12, 21, 29],
            // Left of the first is 0: up; then left 11 17 22, up 12 21 29, corner 10 16 21.
            [11, 17, 22, 13, 22, 30],
        ];
        assert_eq!(pixels.rgb, expected.as_flattened());
    }

    #[test]
    fn opacity_is_left_out() {
        let row = [0, 1, 2, 3, 255, 4, 5, 6, 255];
        let pixels = Pixels::read(&file(6, &row.repeat(5))).expect("a picture");
        assert_eq!(pixels.rgb, [1, 2, 3, 4, 5, 6].repeat(5));
    }

    #[test]
    fn other_files_are_no_pictures() {
        assert_eq!(Pixels::read(b"GIF89a"), None);
        assert_eq!(Pixels::read(&file(3, &[0; 35])), None, "a palette");
        assert_eq!(Pixels::read(&file(2, &[0; 20])), None, "too few rows");
        assert_eq!(Pixels::read(&file(2, &[9; 35])), None, "no such filter");
        let whole = file(2, &[0; 35]);
        assert_eq!(Pixels::read(&whole[..40]), None, "cut off");
    }
}
