import Foundation
import Vapor

// risk: http.request->sql.execute
func byName(req: Request, db: Database) throws {
    let name = try req.query.get(String.self, at: "name")
    try db.execute("SELECT * FROM goods WHERE name = '\(name)'")
}

// risk: none (a number)
func byNumber(req: Request, db: Database) throws {
    let number = Int(req.parameters.get("number")!)
    try db.execute("SELECT * FROM goods WHERE id = \(number)")
}

// risk: process.env->file.change
func forget() throws {
    let folder = ProcessInfo.processInfo.environment["FOLDER"]!
    try FileManager.default.removeItem(atPath: "/srv/" + folder)
}

// risk: none (replaced)
func forgetNothing() throws {
    var folder = ProcessInfo.processInfo.environment["FOLDER"]!
    folder = "none"
    try FileManager.default.removeItem(atPath: "/srv/" + folder)
}

// risk: process.argv->Process
func convert() {
    let word = CommandLine.arguments[1]
    let task = Process()
    task.arguments = ["-c", "convert " + word]
    task.launch()
}

// risk: none (a fixed program and its arguments)
func convertSafely() {
    let word = CommandLine.arguments[1]
    let task = Process()
    task.arguments = ["convert", word]
    task.launch()
}

// risk: process.stdin->javascript
func compute(context: JSContext) {
    let line = readLine()!
    context.evaluateScript(line)
}

// risk: none (only compared)
func computeKnown(context: JSContext) {
    let inside = readLine() == "inside"
    context.evaluateScript(inside ? "1" : "2")
}

// risk: cross http.request->file.change
func pack(req: Request) throws {
    let folder = req.parameters.get("folder")!
    try clear(note: "now", folder: folder)
}

// risk: none (the harmless parameter)
func packFixed(req: Request) throws {
    let note = req.parameters.get("note")!
    try clear(note: note, folder: "/srv/goods")
}

// risk: cross process.env->javascript
func evaluate(context: JSContext) {
    context.evaluateScript(scriptText())
}

// risk: none (made a number by the helper)
func numbered(req: Request, db: Database) throws {
    let number = numberText(req.parameters.get("id")!)
    try db.execute("SELECT * FROM goods WHERE id = " + number)
}
