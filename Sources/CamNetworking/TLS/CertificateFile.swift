import CamPlatform

/// A file with certificates in PEM, read whole.
struct CertificateFile {
    let bytes: [UInt8]

    /// Several times what systems have of certificate authorities.
    private static let mostBytes = 4 << 20

    init(_ path: String) throws(NetworkError) {
        do throws(WholeFile.Failure) { bytes = try WholeFile.read(path, atMost: Self.mostBytes) } catch {
            switch error {
            case .system(let code): throw NetworkError(.certificatesNotRead(errno: code), address: path)
            case .notRegular, .tooLong: throw NetworkError(.noCertificates(inFile: true), address: path)
            }
        }
    }
}
