import CamPlatform

/// The format of the journal's lines.
extension SegmentJournal.Entry {
    /// Nil for lines that are not segments: the header, and a line that was cut off.
    init?(line: String) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard [3, 5, 6].contains(fields.count), !fields[2].isEmpty,
            let file = SegmentJournal.File(name: fields[2], mark: fields[0]),
            fields[1] == "-" || Int(fields[1]).map({ $0 >= 0 }) == true
        else { return nil }
        size = Int(fields[1])
        files = [file]
        guard fields.count > 3 else { return }
        guard !fields[4].isEmpty, var timestamps = SegmentJournal.File(name: fields[4], mark: fields[3])
        else {
            return nil
        }
        if fields.count == 6 { timestamps.folder = fields[5].unescaped }
        files.append(timestamps)
    }

    /// The entry as a line of the journal.
    var line: String {
        var line = "\(files[0].markField)\t\(size.map(String.init) ?? "-")\t\(files[0].name.escaped)"
        for file in files.dropFirst() {
            line += "\t\(file.markField)\t\(file.name.escaped)"
            if let folder = file.folder { line += "\t\(folder.escaped)" }
        }
        return line + "\n"
    }
}

/// An unknown mark is 0.
extension SegmentJournal.File {
    fileprivate init?(name: String, mark: String) {
        self.init(name: name.unescaped, mark: nil, folder: nil)
        if let birth = Int64(mark) {
            if birth > 0 { self.mark = .birth(WallTime(nanoseconds: birth)) }
            return
        }
        let parts = mark.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let inode = UInt64(parts[0]) else { return nil }
        let modification = Int64(parts[1])
        guard modification != nil || parts[1].isEmpty else { return nil }
        self.mark = .inode(inode, modification: modification.map(WallTime.init(nanoseconds:)))
    }

    fileprivate var markField: String {
        switch mark {
        case .birth(let birth)?: String(birth.nanoseconds)
        case .inode(let number, let modification)?:
            "\(number)@" + (modification.map { String($0.nanoseconds) } ?? "")
        case nil: "0"
        }
    }
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
