import CSQLite
import CamPlatform

/// An SQLite database. Used by one thread at a time.
final class Database {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]

    /// Why a call failed: one of SQLite's result codes.
    struct Failure: Error {
        let code: Int32

        /// Whether the file is damaged, so that a new one helps.
        var isDamage: Bool { [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xFF) }

        /// Whether another user of the file has its lock.
        var isInUse: Bool { [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xFF) }
    }

    /// A value of a column.
    enum Value {
        case number(Int64)
        case text(String)
        case null

        init(_ number: some BinaryInteger) { self = .number(Int64(truncatingIfNeeded: number)) }
    }

    /// Opens a database or creates it.
    /// - Parameter path: nil for a database in memory.
    init(path: String?) throws(Failure) {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code = sqlite3_open_v2(path ?? ":memory:", &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            sqlite3_close_v2(handle)
            throw Failure(code: code)
        }
        self.handle = handle
        sqlite3_extended_result_codes(handle, 1)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// The number of rows that the latest statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }
    /// The number of the latest new row.
    var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Carries out statements without values.
    func execute(_ text: String) throws(Failure) {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw Failure(code: code) }
    }

    /// Carries out a statement, which is kept for the next time.
    /// - Parameter row: called with each row of the result; false ends the statement.
    func run(_ text: String, _ values: [Value] = [], row: (Row) -> Bool = { _ in true }) throws(Failure) {
        let statement = try statement(text)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { bind(value, to: Int32(index + 1), of: statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: if !row(Row(statement: statement)) { return }
            case SQLITE_DONE: return
            case let code: throw Failure(code: code)
            }
        }
    }

    /// The number in the first column of the first row; nil without rows.
    func number(_ text: String, _ values: [Value] = []) throws(Failure) -> Int64? {
        var number: Int64?
        try run(text, values) { row in
            number = row.number(0)
            return false
        }
        return number
    }

    /// A row of a result, valid while it is handed over.
    struct Row {
        fileprivate let statement: OpaquePointer

        func number(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

        func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

        func text(_ column: Int32) -> String {
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        }
    }

    private func statement(_ text: String) throws(Failure) -> OpaquePointer {
        if let known = statements[text] { return known }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(
            handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw Failure(code: code) }
        statements[text] = statement
        return statement
    }

    private func bind(_ value: Value, to index: Int32, of statement: OpaquePointer) {
        switch value {
        case .number(let number): sqlite3_bind_int64(statement, index, number)
        case .text(let text):
            // SQLite copies the text (SQLITE_TRANSIENT).
            sqlite3_bind_text(statement, index, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        case .null: sqlite3_bind_null(statement, index)
        }
    }
}
