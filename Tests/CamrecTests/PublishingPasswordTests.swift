import TestSupport
import Testing

@testable import camrec

/// Where a server's password comes from.
@Suite struct PublishingPasswordTests {
    private let folder = TemporaryFolder()

    private func password(_ variables: [String: String]) -> String? {
        PublishingPassword(variable: { variables[$0] }).value
    }

    @Test("the environment, if there is no credential")
    func environment() {
        #expect(password([:]) == nil)
        #expect(password(["CAMREC_PASSWORD": "secret"]) == "secret")
        #expect(
            password(["CAMREC_PASSWORD": "secret", "CREDENTIALS_DIRECTORY": folder.path("none")]) == "secret")
    }

    @Test("systemd's credential is a file's first line")
    func credential() {
        folder.write("camrec.password", Array("pass word\nnot this\n".utf8))
        let directory = folder.path("")
        #expect(password(["CAMREC_PASSWORD": "other", "CREDENTIALS_DIRECTORY": directory]) == "pass word")
        folder.write("camrec.password", [])
        #expect(password(["CREDENTIALS_DIRECTORY": directory]) == nil)
    }
}
