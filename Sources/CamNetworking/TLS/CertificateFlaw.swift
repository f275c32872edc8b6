import CTLS

extension NetworkError {
    /// Why a certificate does not prove who a server is. The raw value completes "the server's certificate …".
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

        /// What to do.
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
