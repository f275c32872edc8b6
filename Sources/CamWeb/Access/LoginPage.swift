/// The page that asks for user and password.
enum LoginPage {
    private static let placeholder = "<!--problem-->"

    /// The response with the page.
    static func response(_ problem: LoginProblem? = nil, authority: String) -> Response {
        let note = problem.map { "<p class=\"problem\" role=\"alert\">\($0.sentence)</p>" } ?? ""
        let page = String(decoding: PackageResources.login_html, as: UTF8.self)
            .replacing(placeholder, with: note)
        return Response(
            problem?.status ?? .ok, type: "text/html; charset=utf-8", body: Array(page.utf8),
            authority: authority,
            extra: problem?.headers ?? [:])
    }
}

extension LoginProblem {
    fileprivate var sentence: String { text.prefix(1).uppercased() + text.dropFirst() + "." }
}
