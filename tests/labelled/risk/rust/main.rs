use std::env;
use std::fs;
use std::io;
use std::process::Command;

mod helpers;
use crate::helpers::{archive, chosen, level, service};

// risk: process.argv->Command.new
fn start() {
    let program = env::args().nth(1).unwrap();
    Command::new(program).spawn().unwrap();
}

// risk: none (a fixed program)
fn start_fixed() {
    let word = env::args().nth(1).unwrap();
    Command::new("echo").arg(word).spawn().unwrap();
}

// risk: process.env->sql.query
fn by_name(conn: &Connection) {
    let name = env::var("NAME").unwrap();
    let statement = format!("SELECT * FROM goods WHERE name = '{}'", name);
    conn.execute(&statement, []).unwrap();
}

// risk: none (bound)
fn by_name_bound(conn: &Connection) {
    let name = env::var("NAME").unwrap();
    conn.execute("SELECT * FROM goods WHERE name = ?1", [&name]).unwrap();
}

// risk: process.stdin->file.open
fn show() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let path = format!("/srv/files/{line}");
    fs::read_to_string(path)
}

// risk: none (a number)
fn show_number() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let number: u32 = line.trim().parse().unwrap();
    fs::read_to_string(format!("/srv/files/{number}"))
}

// risk: http.request->file.change
fn forget(req: HttpRequest) {
    let name = req.query_string();
    fs::remove_file(name).unwrap();
}

// risk: none (replaced)
fn forget_nothing(req: HttpRequest) {
    let mut name = req.query_string();
    name = "none";
    fs::remove_file(name).unwrap();
}

// risk: cross process.argv->file.change
fn pack() {
    let folder = env::args().nth(1).unwrap();
    archive("now", &folder);
}

// risk: none (the harmless parameter)
fn pack_fixed() {
    let note = env::args().nth(1).unwrap();
    archive(&note, "/srv/goods");
}

// risk: cross process.env->Command.new
fn reload() {
    let program = service();
    Command::new(program).spawn().unwrap();
}

// risk: none (made a number by the helper)
fn open_numbered() {
    let text = env::args().nth(1).unwrap();
    fs::read_to_string(level(&text)).unwrap();
}

// risk: none (only compared)
fn reload_fixed() {
    let inside = env::var("WHERE").unwrap() == "inside";
    Command::new(if inside { "a" } else { "b" }).spawn().unwrap();
}
