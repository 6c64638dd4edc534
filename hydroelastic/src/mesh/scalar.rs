//! Scalar types of binary VTK data and their layout.

/// Byte order of a binary block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// Type of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    /// The type names of legacy VTK files.
    pub(crate) fn of_legacy_name(name: &[u8]) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_slice() {
            b"char" | b"signed_char" | b"vtktypeint8" => Self::I8,
            b"unsigned_char" | b"vtktypeuint8" => Self::U8,
            b"short" | b"vtktypeint16" => Self::I16,
            b"unsigned_short" | b"vtktypeuint16" => Self::U16,
            b"int" | b"vtkidtype" | b"vtktypeint32" => Self::I32,
            b"unsigned_int" | b"vtktypeuint32" => Self::U32,
            b"long" | b"vtktypeint64" => Self::I64,
            b"unsigned_long" | b"vtktypeuint64" => Self::U64,
            b"float" => Self::F32,
            b"double" => Self::F64,
            _ => return None,
        })
    }

    /// The type names of VTK's XML files.
    pub(crate) fn of_xml_name(name: &str) -> Option<Self> {
        Some(match name {
            "Int8" => Self::I8,
            "UInt8" => Self::U8,
            "Int16" => Self::I16,
            "UInt16" => Self::U16,
            "Int32" => Self::I32,
            "UInt32" => Self::U32,
            "Int64" => Self::I64,
            "UInt64" => Self::U64,
            "Float32" => Self::F32,
            "Float64" => Self::F64,
            _ => return None,
        })
    }

    pub(crate) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// The value as f64; `bytes` has this type's size.
    pub(crate) fn float(self, bytes: &[u8], endian: Endian) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_bits(bits(bytes, endian) as u32)),
            Self::F64 => f64::from_bits(bits(bytes, endian)),
            Self::U64 => bits(bytes, endian) as f64,
            _ => self.integer(bytes, endian) as f64,
        }
    }

    /// The value as integer, of an integer type; unsigned numbers beyond 2⁶³ saturate. `bytes` has this type's size.
    pub(crate) fn integer(self, bytes: &[u8], endian: Endian) -> i64 {
        let bits = bits(bytes, endian);
        match self {
            Self::I8 => i64::from(bits as u8 as i8),
            Self::I16 => i64::from(bits as u16 as i16),
            Self::I32 => i64::from(bits as u32 as i32),
            Self::I64 => bits as i64,
            _ => i64::try_from(bits).unwrap_or(i64::MAX),
        }
    }
}

fn bits(bytes: &[u8], endian: Endian) -> u64 {
    let join = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    match endian {
        Endian::Big => bytes.iter().fold(0, join),
        Endian::Little => bytes.iter().rev().fold(0, join),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_both_byte_orders() {
        assert_eq!(
            Scalar::F64.float(&2.5_f64.to_le_bytes(), Endian::Little),
            2.5
        );
        assert_eq!(Scalar::F64.float(&2.5_f64.to_be_bytes(), Endian::Big), 2.5);
        assert_eq!(
            Scalar::F32.float(&(-0.25_f32).to_be_bytes(), Endian::Big),
            -0.25
        );
        assert_eq!(
            Scalar::I16.integer(&(-2_i16).to_le_bytes(), Endian::Little),
            -2
        );
        assert_eq!(
            Scalar::I32.integer(&(-7_i32).to_be_bytes(), Endian::Big),
            -7
        );
        assert_eq!(Scalar::U8.integer(&[200], Endian::Big), 200);
        assert_eq!(
            Scalar::U64.integer(&u64::MAX.to_le_bytes(), Endian::Little),
            i64::MAX
        );
    }
}
