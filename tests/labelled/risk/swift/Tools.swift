import Foundation

func clear(note: String, folder: String) throws -> String {
    let place = "/srv/" + folder
    try FileManager.default.removeItem(atPath: place)
    return note
}

func scriptText() -> String {
    let text = ProcessInfo.processInfo.environment["SCRIPT"] ?? ""
    return text
}

func numberText(_ text: String) -> String {
    let number = Int(text)
    return "\(number)"
}
