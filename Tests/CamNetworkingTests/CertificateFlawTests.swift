import CTLS
import Testing

@testable import CamNetworking

/// What is wrong with a server's certificate, in words.
@Suite struct CertificateFlawTests {
    @Test(
        "names what a person can mend first",
        arguments: [
            ([GNUTLS_CERT_INVALID, GNUTLS_CERT_UNEXPECTED_OWNER], "is for another name; use the name"),
            (
                [GNUTLS_CERT_INVALID, GNUTLS_CERT_SIGNER_NOT_FOUND, GNUTLS_CERT_UNEXPECTED_OWNER],
                "unknown issuer; give"
            ),
            (
                [GNUTLS_CERT_INVALID, GNUTLS_CERT_EXPIRED, GNUTLS_CERT_UNEXPECTED_OWNER],
                "has expired; renew it"
            ),
            ([GNUTLS_CERT_INVALID, GNUTLS_CERT_NOT_ACTIVATED], "is not valid yet; check both clocks"),
            ([GNUTLS_CERT_INVALID, GNUTLS_CERT_REVOKED, GNUTLS_CERT_EXPIRED], "was revoked; renew it"),
            ([GNUTLS_CERT_INVALID, GNUTLS_CERT_INSECURE_ALGORITHM], "is not valid; renew it"),
        ] as [([gnutls_certificate_status_t], String)])
    func words(flags: [gnutls_certificate_status_t], text: String) {
        let flaw = NetworkError.CertificateFlaw(status: flags.reduce(0) { $0 | $1.rawValue })
        let error = NetworkError(.untrusted(flaw), address: "rtsps://host/cam")
        #expect(
            "\(error)".hasPrefix("rtsps://host/cam: the server's certificate ") && "\(error)".contains(text))
    }
}
