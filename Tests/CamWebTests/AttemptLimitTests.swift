import NIOCore
import Testing

@testable import CamWeb

@Suite("tries of passwords")
struct AttemptLimitTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private var limit = AttemptLimit()
    private let here = ClientAddress("192.0.2.1")

    /// How many of some tries are admitted.
    private mutating func admitted(_ count: Int, at now: NIODeadline) -> Int {
        var admitted = 0
        for _ in 0..<count where limit.admit(here, at: now) { admitted += 1 }
        return admitted
    }

    @Test("an address has five, then one in half a minute")
    mutating func address() {
        #expect(admitted(10, at: start) == 5)
        #expect(limit.admit(here, at: start + .seconds(29)) == false)
        #expect(limit.admit(here, at: start + .seconds(30)) == true)
        #expect(limit.admit(here, at: start + .seconds(30)) == false)
        #expect(limit.admit(ClientAddress("192.0.2.2"), at: start + .seconds(30)) == true)
        #expect(admitted(10, at: start + .hours(1)) == 5)
    }

    @Test("a failed login names the address, and the user without anything that could end the line")
    func line() {
        func line(_ user: String, _ address: String = "192.0.2.7:4711") -> String {
            FailedLogin.line(user: user, client: ClientAddress(address))
        }
        #expect(line("maria") == #"login failed: from 192.0.2.7, user "maria""#)
        #expect(line("a", "2001:db8::7").hasPrefix("login failed: from 2001:db8::7, "))
        #expect(line("a", "::ffff:192.0.2.9").hasPrefix("login failed: from 192.0.2.9, "))
        #expect(
            line("a", "x\nlogin failed: from 192.0.2.1").hasPrefix("login failed: from an unknown address, "))
        #expect(
            line("a\"\\\nä: from 192.0.2.1")
                == #"login failed: from 192.0.2.7, user "a\u{22}\u{5c}\u{a}\u{e4}: from 192.0.2.1""#)
        #expect(line(String(repeating: "x", count: 5000)).utf8.count < 120)
    }

    @Test("all addresses together have twenty, then one in five seconds")
    mutating func all() {
        var admitted = 0
        for number in 0..<100 where limit.admit(ClientAddress("192.0.2.\(number)"), at: start) {
            admitted += 1
        }
        #expect(admitted == 20)
        #expect(limit.admit(ClientAddress("198.51.100.1"), at: start + .seconds(4)) == false)
        #expect(limit.admit(ClientAddress("198.51.100.1"), at: start + .seconds(5)) == true)
        #expect(limit.admit(ClientAddress("198.51.100.2"), at: start + .seconds(5)) == false)
    }

    @Test("a right password does not count")
    mutating func success() {
        for _ in 0..<100 {
            #expect(limit.admit(here, at: start) == true)
            limit.noteSuccess(here)
        }
    }

    @Test("an address is an IPv4 address, or a network of IPv6")
    func addresses() {
        #expect(ClientAddress("2001:db8::1") == ClientAddress("[2001:db8::2]"))
        #expect(ClientAddress("2001:db8::1") != ClientAddress("2001:db8:0:1::1"))
        #expect(ClientAddress("::ffff:192.0.2.1") == here)
        #expect(ClientAddress("192.0.2.2") != here)
        #expect(ClientAddress("192.0.2.1:50000") == here)
        #expect(ClientAddress("[2001:db8::1]:443") == ClientAddress("2001:db8::1"))
        #expect(ClientAddress("unix") != ClientAddress(""))
    }
}
