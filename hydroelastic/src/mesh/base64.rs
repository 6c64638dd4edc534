//! Base64 as in VTK's XML files: several padded blocks may follow each other, and white space is ignored.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the encoding of `bytes`, padded.
pub(crate) fn encode(bytes: &[u8], out: &mut String) {
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().enumerate().fold(0_u32, |group, (k, byte)| {
            group | u32::from(*byte) << (16 - 8 * k)
        });
        for k in 0..4 {
            let symbol = ALPHABET[(group >> (18 - 6 * k) & 63) as usize];
            out.push(if k <= chunk.len() {
                char::from(symbol)
            } else {
                '='
            });
        }
    }
}

/// Decodes one or more padded blocks; the error is the offset of the first invalid byte.
pub(crate) fn decode(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut group, mut symbols, mut padding) = (0_u32, 0, 0);
    for (at, byte) in text.iter().enumerate() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' if symbols >= 2 => {
                padding += 1;
                0
            }
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => return Err(at),
        };
        if padding > 0 && *byte != b'=' {
            return Err(at);
        }
        group = group << 6 | u32::from(value);
        symbols += 1;
        if symbols == 4 {
            bytes.extend_from_slice(&group.to_be_bytes()[1..4 - padding]);
            (group, symbols, padding) = (0, 0, 0);
        }
    }
    if symbols == 0 {
        Ok(bytes)
    } else {
        Err(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_4648_examples_are_reproduced_both_ways() {
        let examples = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        for (length, expected) in examples.iter().enumerate() {
            let mut text = String::new();
            encode(&b"foobar"[..length], &mut text);
            assert_eq!(&text, expected);
            assert_eq!(decode(text.as_bytes()).as_deref(), Ok(&b"foobar"[..length]));
        }
    }

    #[test]
    fn padded_runs_may_follow_each_other() {
        assert_eq!(decode(b" Zg==\n Zm8= Zm9v ").as_deref(), Ok(&b"ffofoo"[..]));
    }

    #[test]
    fn wrong_symbols_and_cut_groups_are_located() {
        assert_eq!(decode(b"Zm9v!"), Err(4));
        assert_eq!(decode(b"Zg=v"), Err(3));
        assert_eq!(decode(b"Zm9"), Err(3));
    }
}
