import CTLS

/// Who may vouch for a server: the system's certificate authorities, or those in a file. Safe in any thread.
public final class TLSTrust: @unchecked Sendable {
    // Safe to share: the credentials are only read once they are filled, which GnuTLS allows in several threads at once
    // (its manual, "Thread safety").
    let library: ctls_library
    let credentials: gnutls_certificate_credentials_t

    /// Loads GnuTLS and the certificates.
    /// - Parameter file: certificates in PEM; nil for the system's.
    public init(file: String?) throws(NetworkError) {
        var library = ctls_library()
        if let reason = ctls_load(&library) {
            throw NetworkError(.noTLS(reason: String(cString: reason)), address: "TLS")
        }
        var credentials: gnutls_certificate_credentials_t?
        guard library.allocate_credentials(&credentials) >= 0, let credentials else {
            throw NetworkError(.noTLS(reason: "no memory for certificates"), address: "TLS")
        }
        (self.library, self.credentials) = (library, credentials)
        let count =
            try file.map { path throws(NetworkError) in try trust(path) } ?? library.trust_system(credentials)
        // Before this, an empty file would be found out by the first server.
        guard count > 0 else {
            throw NetworkError(.noCertificates(inFile: file != nil), address: file ?? "TLS")
        }
    }

    /// Returns how many certificates a file has; negative if they cannot be read.
    private func trust(_ path: String) throws(NetworkError) -> Int32 {
        var bytes = try CertificateFile(path).bytes
        return bytes.withUnsafeMutableBufferPointer { bytes in
            var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count))
            return library.trust_bytes(credentials, &datum, GNUTLS_X509_FMT_PEM)
        }
    }

    deinit { library.free_credentials(credentials) }
}
