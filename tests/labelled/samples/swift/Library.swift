import Foundation
import struct Catalog.Book
@testable import Core

/// How many books a reader may have.
let maxLoans = 5
private var opened: Date? = nil
public let version = "1.4"

typealias Shelf = [String: [Book]]

/// What can go wrong.
enum LoanError: Error {
    case tooMany(limit: Int)
    case unknown(String), closed

    static let retryAfter = 30

    var isFinal: Bool {
        switch self {
        case .closed: return true
        default: return false
        }
    }

    func describe() -> String {
        switch self {
        case let .tooMany(limit):
            return "more than \(limit)"
        case .unknown(let name) where name.isEmpty:
            return "no name"
        case .unknown, .closed:
            return "sorry"
        }
    }
}

protocol Lender: AnyObject {
    associatedtype Thing
    var name: String { get }
    func lend(_ thing: Thing, to reader: Reader) async throws -> Receipt
    static func make() -> Self
}

@available(macOS 12, *)
@MainActor
public final class Library<T: Codable>: Building, Lender where T: Hashable {
    public let name: String
    private var shelves: Shelf = [:]
    fileprivate lazy var index = Index<Book>()
    weak var delegate: LibraryDelegate?
    @Published var loans = 0 {
        didSet { delegate?.changed(oldValue) }
    }

    public static let shared = Library(name: "main")

    var count: Int { shelves.values.reduce(0) { $0 + $1.count } }

    init(name: String, seed: Int = 0) {
        self.name = name
        super.init()
    }

    public convenience init?(path: String) async throws {
        guard let data = try? await load(path), !data.isEmpty else { return nil }
        self.init(name: data.title)
    }

    deinit {
        index.close()
    }

    @discardableResult
    public func lend(_ book: Book, to reader: Reader, on days: Int..., note: String? = nil) async throws -> Receipt {
        guard reader.loans < maxLoans else {
            throw LoanError.tooMany(limit: maxLoans)
        }
        if let holder = book.holder, holder != reader || reader.isBlocked {
            throw LoanError.unknown(holder.name)
        }
        let receipt = try await desk.stamp(book, copies: 2)
        loans += 1
        shelves[book.code] = nil
        self.opened = Date()
        await notify(reader)
        return receipt
    }

    func each(_ body: (Book) throws -> Void) rethrows {
        for (code, books) in shelves where !books.isEmpty {
            if code.hasPrefix("x") { continue }
            for book in books {
                try body(book)
            }
        }
    }

    func find(code: String) -> Book? {
        let known = shelves[code]?.first
        return known ?? index.find(code)
    }

    private func tidy(limit: inout Int) {
        var left = limit
        outer: while left > 0 {
            left -= 1
            repeat {
                guard let next = queue.popFirst() else { break outer }
                queue.append(next)
            } while queue.isFull
        }
        do {
            try save()
        } catch let error as DiskError {
            log(error.code)
        } catch {
            fatalError("\(error)")
        }
        defer { unlock() }
        let label = left == 0 ? "done" : "again"
        let ratio = 0.5
        let names = ["a", "b"]
        let table: [Int: String] = [:]
        let shelf = table as? Shelf
        let copy = names
        print(label, ratio, copy)
    }

    subscript(code: String) -> Book? {
        return find(code: code)
    }

    static func == (left: Library, right: Library) -> Bool {
        left.name == right.name
    }

    struct Card: Codable {
        var owner: String
        let number: Int

        mutating func rename(to owner: String) {
            self.owner = owner
        }
    }
}

extension Library: CustomStringConvertible {
    public var description: String { name }

    public func sorted(by order: @escaping (Book, Book) -> Bool) -> [Book] {
        shelves.values.flatMap { $0 }.sorted(by: order)
    }
}

actor Counter {
    private(set) var value = 0

    func increase(by step: Int = 1) -> Int {
        value += step
        return value
    }

    nonisolated func hello() {}
}

struct Point {
    var x: Double, y: Double

    static func + (left: Point, right: Point) -> Point {
        return Point(x: left.x + right.x, y: left.y + right.y)
    }
}

open class Reader {
    open func borrow() {}
    internal func give(back book: Book) {
        let parts = split(book, maxSplits: 1) { $0 == "-" } onEmpty: { nil }
        Task { await Library<Book>.shared.lend(book, to: self) }
        consume(.card(number: parts.count))
    }
}

#if DEBUG
func trace(_ items: Any..., file: String = #file) {
    items.forEach { item in
        if item is Error { return }
    }
}
#endif

func swapFirst<T>(_ list: inout [T], with value: T) -> T {
    let (first, rest) = (list[0], list.count)
    list[0] = value
    func check(_ n: Int) -> Bool { n > 0 && n < 10 }
    precondition(check(rest))
    return first
}

func parse(_ text: String) throws(LoanError) -> Int {
    if case .some(let number) = Int(text) {
        return number
    }
    for case let part? in pieces(of: text) {
        visit(part)
    }
    throw .closed
}
