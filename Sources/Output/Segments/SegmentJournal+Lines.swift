import Time

/// The format of the journal's lines.
extension SegmentJournal.Entry {
    /// Nil for lines that are not segments: the header, and a line that was cut off.
    init?(line: String) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard [3, 5].contains(fields.count), let birth = Int64(fields[0]), !fields[2].isEmpty,
            fields[1] == "-" || Int(fields[1]).map({ $0 >= 0 }) == true
        else { return nil }
        size = Int(fields[1])
        files = [SegmentJournal.File(name: fields[2].unescaped, nanoseconds: birth)]
        guard fields.count == 5 else { return }
        guard let birth = Int64(fields[3]), !fields[4].isEmpty else { return nil }
        files.append(SegmentJournal.File(name: fields[4].unescaped, nanoseconds: birth))
    }

    /// The entry as a line of the journal.
    var line: String {
        var line = "\(files[0].birthField)\t\(size.map(String.init) ?? "-")\t\(files[0].name.escaped)"
        for file in files.dropFirst() { line += "\t\(file.birthField)\t\(file.name.escaped)" }
        return line + "\n"
    }
}

/// An unknown birth is 0.
extension SegmentJournal.File {
    fileprivate init(name: String, nanoseconds: Int64) {
        self.init(name: name, birth: nanoseconds > 0 ? WallTime(nanoseconds: nanoseconds) : nil)
    }

    fileprivate var birthField: Int64 { birth?.nanoseconds ?? 0 }
}

extension String {
    /// The text without characters that end a field or a line.
    fileprivate var escaped: String {
        var text = ""
        for character in unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\t": text += "\\t"
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }

    fileprivate var unescaped: String {
        var (text, isEscaped) = ("", false)
        for character in unicodeScalars {
            if isEscaped {
                text.unicodeScalars.append(character == "t" ? "\t" : character == "n" ? "\n" : character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
