//! Digests of content, by which a change is noticed.

use std::fmt;

/// The hash FNV-1a of Fowler, Noll and Vo with 64 bits, which tells any two contents apart that differ in one byte. It notices accidents; it is
/// no protection against somebody who wants two contents to have the same digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut digest = Self::default();
        digest.add(bytes);
        digest
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let mix =
            |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 = bytes.iter().fold(self.0, mix);
    }
}

/// 16 hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    /// Published with the hash, <http://www.isthe.com/chongo/src/fnv/test_fnv.c>.
    #[test]
    fn the_published_values_are_met() {
        for (text, expected) in [
            ("", "cbf29ce484222325"),
            ("a", "af63dc4c8601ec8c"),
            ("foobar", "85944171f73967e8"),
        ] {
            assert_eq!(Digest::of(text.as_bytes()).to_string(), expected);
        }
    }
}
