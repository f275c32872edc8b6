import CamNetworking
import NIOHTTP1

/// Decides which requests may be served at all.
///
/// The page of another site can make a browser send requests to camweb: under a host name that the site
/// points to 127.0.0.1 (DNS rebinding), which the Host header reveals, or across sites, which Origin and
/// Sec-Fetch-Site reveal. Browsers do not bind WebSockets to one origin, so WebSockets require Origin.
struct RequestPolicy: Sendable {
    /// Lower case, IPv6 in brackets.
    private let hosts: Set<String>
    /// Whether pages of the same site may embed the page; which ones is left to the browser.
    private let isEmbeddable: Bool

    /// Host names that no other site can have.
    private static let loopbackHosts: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

    /// - Parameter hosts: names besides those of the loopback interface.
    init(hosts: [String], isEmbeddable: Bool = false) {
        self.hosts = Self.loopbackHosts.union(hosts.map { $0.lowercased() })
        self.isEmbeddable = isEmbeddable
    }

    /// Checks a request.
    /// - Returns: the authority to which the browser connected: a host name or address, perhaps with a port.
    func check(_ head: HTTPRequestHead, isWebSocket: Bool) throws(Refusal) -> String {
        let authority = try authority(of: head)
        try checkOrigin(of: head, authority: authority, isRequired: isWebSocket)
        guard head.method == .GET || head.method == .HEAD else { throw .otherMethod }
        guard !Self.hasBody(head) else { throw .unwantedBody }
        return authority
    }

    /// Checks a request that changes something, which must be a form of camweb's page.
    /// - Returns: the authority to which the browser connected.
    func checkForm(_ head: HTTPRequestHead) throws(Refusal) -> String {
        let authority = try authority(of: head)
        try checkOrigin(of: head, authority: authority, isRequired: true)
        guard head.method == .POST, head.headers["content-type"] == [Self.formType] else { throw .notAForm }
        return authority
    }

    private static let formType = "application/x-www-form-urlencoded"

    private static func hasBody(_ head: HTTPRequestHead) -> Bool {
        let length = head.headers["content-length"]
        return !length.allSatisfy { $0 == "0" } || head.headers.contains(name: "transfer-encoding")
    }

    private func authority(of head: HTTPRequestHead) throws(Refusal) -> String {
        let values = head.headers["host"]
        guard values.count == 1, let text = values.first?.lowercased() else { throw .noHost }
        guard let host = HostHeader.host(of: text), hosts.contains(host) else { throw .otherHost }
        return text
    }

    private func checkOrigin(
        of head: HTTPRequestHead, authority: String, isRequired: Bool
    ) throws(Refusal) {
        let origins = head.headers["origin"]
        guard !origins.isEmpty || !isRequired else { throw .otherOrigin }
        for origin in origins {
            let origin = origin.lowercased()
            guard origin == "http://\(authority)" || origin == "https://\(authority)" else {
                throw .otherOrigin
            }
        }
        // A link on another site may open the page, and do nothing else. A frame gets no cookie from another site.
        let isNavigation = head.headers["sec-fetch-mode"] == ["navigate"]
        let target = head.headers["sec-fetch-dest"]
        for site in head.headers["sec-fetch-site"] where site != "same-origin" && site != "none" {
            let isFrame = isEmbeddable && site == "same-site" && target == ["iframe"]
            guard isNavigation, target == ["document"] || isFrame else { throw .otherOrigin }
        }
    }
}
