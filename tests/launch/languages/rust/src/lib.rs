//! Weights: parsing, conversion and printing.
//!
//! ```
//! use weigh_in::Weight;
//! # fn main() -> Result<(), weigh_in::Error> {
//! let weight: Weight = "3 g".parse()?;
//! # Ok(())
//! # }
//! ```

mod error;
pub mod units;
mod parse {
    /// Only the crate itself calls this.
    pub fn number(text: &str) -> Option<f64> {
        text.parse().ok()
    }
}

pub use error::Error;
pub use units::Unit;

/// A weight with its unit.
#[derive(Debug, Clone)]
pub struct Weight {
    /// The number before the unit.
    pub value: f64,
    unit: Unit,
}

impl Weight {
    /// Make a weight.
    ///
    /// # Examples
    ///
    /// ```
    /// use weigh_in::{Unit, Weight};
    ///
    /// let weight = Weight::new(1.5, Unit::Gram);
    /// assert_eq!(weight.value, 1.5);
    /// ```
    pub fn new(value: f64, unit: Unit) -> Self {
        Weight { value, unit }
    }

    /// Convert it to another [`Unit`].
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] if the number is too large.
    pub fn to(&self, unit: Unit) -> Result<Weight, Error> {
        Ok(Weight::new(self.value, unit))
    }

    pub(crate) fn hidden(&self) {}
}

/// Anything that has a weight.
pub trait Weighs {
    /// How much it weighs.
    fn weight(&self) -> Weight;
}
