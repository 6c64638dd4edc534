//! Colours of visuals, and the palette.

/// A colour: sRGB components and opacity, each in 0..=1.
///
/// ```
/// use pliant::recording::Color;
///
/// // The palette has eight colours and begins again.
/// assert_eq!(Color::palette(8), Color::palette(0));
/// assert_ne!(Color::palette(1), Color::palette(0));
/// assert_eq!(Color::rgb(1.0, 0.0, 0.0).opacity, 1.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    /// Red.
    pub red: f64,
    /// Green.
    pub green: f64,
    /// Blue.
    pub blue: f64,
    /// Opacity; 0 is invisible.
    pub opacity: f64,
}

impl Color {
    /// A light neutral grey for floors, walls and tables.
    pub const GROUND: Color = Color::rgb(0.80, 0.81, 0.83);

    /// A solid colour.
    pub const fn rgb(red: f64, green: f64, blue: f64) -> Self {
        Self {
            red,
            green,
            blue,
            opacity: 1.0,
        }
    }

    /// Colour `index` of a palette of eight for colour-blind readers, repeated.
    pub fn palette(index: usize) -> Self {
        const PALETTE: [u32; 8] = [
            0xe07a3f, 0x3d7ea6, 0xe2b13c, 0x5f9e6e, 0xb5527a, 0x6f73b8, 0x58b0b5, 0x9a6a4b,
        ];
        let hex = PALETTE[index % PALETTE.len()];
        let channel = |shift: u32| f64::from((hex >> shift) & 0xff) / 255.0;
        Self::rgb(channel(16), channel(8), channel(0))
    }
}
