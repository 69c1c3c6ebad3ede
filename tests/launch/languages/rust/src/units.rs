//! The units that are known.

/// A unit of weight.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    /// One gram.
    Gram,
    /// A thousand grams.
    Kilogram,
}

/// The symbol of a unit, such as `kg`.
pub fn symbol(unit: Unit) -> &'static str {
    "kg"
}
