use std::env;
use std::fs;

pub fn archive(note: &str, folder: &str) -> String {
    let place = format!("/srv/{}", folder);
    fs::remove_dir_all(place).unwrap();
    note.to_string()
}

pub fn service() -> String {
    let name = env::var("SERVICE").unwrap();
    name.trim().to_string()
}

pub fn level(text: &str) -> String {
    let number: u8 = text.parse().unwrap();
    number.to_string()
}
