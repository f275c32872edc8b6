import CTLS
import CamPlatform

/// The certificates that verify servers: those of the system, or those in a file. Safe in any thread.
package final class TLSTrust: @unchecked Sendable {
    // Safe to share: after `init`, the credentials are only read, which GnuTLS allows in several threads at
    // once (its manual, "Thread safety").
    let library: ctls_library
    let credentials: gnutls_certificate_credentials_t

    /// Loads GnuTLS and the certificates.
    /// - Parameter file: a file of certificates in PEM; nil for those of the system.
    package init(file: String?) throws(NetworkError) {
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
        // An empty file must fail here, not at the first server.
        guard count > 0 else {
            throw NetworkError(.noCertificates(inFile: file != nil), address: file ?? "TLS")
        }
    }

    /// Adds the certificates in a file. Returns their number; negative if they cannot be read.
    private func trust(_ path: String) throws(NetworkError) -> Int32 {
        var bytes = try CertificateFile(path).bytes
        return bytes.withUnsafeMutableBufferPointer { bytes in
            var datum = gnutls_datum_t(data: bytes.baseAddress, size: UInt32(bytes.count))
            return library.trust_bytes(credentials, &datum, GNUTLS_X509_FMT_PEM)
        }
    }

    deinit { library.free_credentials(credentials) }
}

// MARK: Files of certificates

/// A file with certificates in PEM, read whole.
struct CertificateFile {
    let bytes: [UInt8]

    /// The maximum size; several times that of all certificate authorities of a system.
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

// MARK: Certificates that prove nothing

extension NetworkError {
    /// Why a certificate does not prove the identity of a server. The raw value completes "the server's
    /// certificate …".
    public enum CertificateFlaw: String, Sendable, CaseIterable {
        case otherName = "is for another name"
        case otherPurpose = "is not for servers"
        case expired = "has expired"
        case notYetValid = "is not valid yet"
        case revoked = "was revoked"
        case unknownIssuer = "is from an unknown issuer"
        case invalid = "is not valid"

        /// - Parameter status: GnuTLS's `gnutls_certificate_status_t`.
        init(status: UInt32) {
            func has(_ flag: gnutls_certificate_status_t) -> Bool { status & flag.rawValue != 0 }
            self =
                if has(GNUTLS_CERT_REVOKED) {
                    .revoked
                } else if has(GNUTLS_CERT_SIGNER_NOT_FOUND) {
                    .unknownIssuer
                } else if has(GNUTLS_CERT_EXPIRED) {
                    .expired
                } else if has(GNUTLS_CERT_NOT_ACTIVATED) {
                    .notYetValid
                } else if has(GNUTLS_CERT_UNEXPECTED_OWNER) {
                    .otherName
                } else if has(GNUTLS_CERT_PURPOSE_MISMATCH) {
                    .otherPurpose
                } else {
                    .invalid
                }
        }

        /// The next step.
        var advice: String {
            switch self {
            case .otherName: "use the name that it is for"
            case .otherPurpose: "give the server one with the key usage serverAuth"
            case .expired, .revoked, .invalid: "renew it on the server"
            case .notYetValid: "check both clocks"
            case .unknownIssuer: "give the issuer's certificate, or the server's own, with --ca-file"
            }
        }
    }
}
