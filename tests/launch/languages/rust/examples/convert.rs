//! Convert a weight that is given on the command line.

use weigh_in::{Unit, Weight};

fn main() {
    let weight = Weight::new(2.0, Unit::Kilogram);
    println!("{}", weight.value);
}
