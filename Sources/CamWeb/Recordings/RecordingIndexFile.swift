import CSQLite
import CamPlatform
import Glibc

/// The file of an index: which place and version it is of, and its tables.
enum RecordingIndexFile {
    private static let version = 1

    /// Removes an index with the files that SQLite keeps beside it.
    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-journal", "-shm"] { unlink(path + suffix) }
    }

    /// Opens the index of a place, or creates it.
    /// - Parameter path: nil for an index in memory.
    static func open(_ path: String?, _ place: RecordingsPlace) throws(Database.Failure) -> Database {
        let database = try Database(path: path)
        try database.execute(
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY")
        let version = try database.number("PRAGMA user_version")
        if version == Int64(Self.version) {
            var owner = ""
            try database.run("SELECT text FROM place") { row in
                owner = row.text(0)
                return true
            }
            // SQLite notices no damage within a page, but numbers below 1 are none of ours.
            guard owner == text(of: place),
                try database.number("SELECT 1 FROM file WHERE id < 1 LIMIT 1") == nil
            else { throw Database.Failure(code: SQLITE_NOTADB) }
        } else if version != 0 {
            throw Database.Failure(code: SQLITE_NOTADB)
        }
        // The mode is kept in the file. Writing takes the lock, or shows that another process has it.
        try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE")
        if version == 0 { try create(database, place) }
        try database.execute("UPDATE file SET state = 0 WHERE state = 4; COMMIT")
        return database
    }

    private static func text(of place: RecordingsPlace) -> String {
        "\(place.folder)\n\(place.pattern ?? "")"
    }

    private static func create(_ database: Database, _ place: RecordingsPlace) throws(Database.Failure) {
        try database.execute(
            """
            CREATE TABLE place (text TEXT NOT NULL);
            CREATE TABLE file (
                id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, device INTEGER NOT NULL,
                inode INTEGER NOT NULL, size INTEGER NOT NULL, modification INTEGER NOT NULL,
                state INTEGER NOT NULL DEFAULT 0, long INTEGER, start INTEGER, end INTEGER, problem TEXT);
            CREATE INDEX recorded ON file (long, start, end, size) WHERE start IS NOT NULL;
            CREATE INDEX waiting ON file (modification) WHERE state = 0;
            CREATE INDEX unfinished ON file (modification) WHERE state IN (2, 5);
            CREATE INDEX unreadable ON file (id) WHERE state = 4;
            CREATE INDEX troubled ON file (modification) WHERE problem IS NOT NULL;
            PRAGMA user_version = \(version);
            """)
        try database.run("INSERT INTO place VALUES (?)", [.text(text(of: place))])
        // Numbers of a lost index must not name other files.
        try database.run(
            "INSERT INTO sqlite_sequence (name, seq) VALUES ('file', ?)",
            [Database.Value(WallTime.now.microseconds << 4)])
    }
}
