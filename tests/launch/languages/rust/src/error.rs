/// A text that is no weight.
#[derive(Debug)]
pub enum Error {
    /// There is no number in it.
    NoNumber,
    /// The unit is not known.
    UnknownUnit(String),
}
