import CLinux
import Glibc
import Testing

/// What the C functions around system calls return.
@Suite struct SystemCallTests {
    private let missing = "/nowhere/at/all"

    @Test("a call on files that fails returns -errno")
    func files() {
        var facts = files_facts()
        #expect(files_read_facts(AT_FDCWD, missing, &facts) == -ENOENT)
        #expect(files_open_path(AT_FDCWD, missing, 0) == -ENOENT)
        #expect(files_open_unnamed(-1, 0o600) == -EBADF)
        #expect(files_rename_new(AT_FDCWD, missing, missing) == -ENOENT)
    }

    @Test("a call on sockets that fails returns -errno")
    func sockets() {
        var (address, length) = (sockaddr_storage(), socklen_t(0))
        #expect(network_socket(-1) == -EAFNOSUPPORT)
        #expect(network_listen(-1, 1) == -EBADF)
        #expect(network_accept(-1, &address, &length) == -EBADF)
        #expect(network_unconfirmed(-1) == -EBADF)
        #expect(network_epoll_set(-1, -1, 1, 0) == -EBADF)
        var byte: UInt8 = 0
        #expect(network_send(-1, &byte, 1) == -Int(EBADF))
        #expect(network_receive(-1, &byte, 1) == -Int(EBADF))
    }

    @Test(
        "a program that does not start returns -errno",
        arguments: ["/nowhere/at/all", "no-such-program-anywhere"])
    func program(name: String) {
        var child: pid_t = 0
        let code = name.withCString { file in
            var words: [UnsafeMutablePointer<CChar>?] = [UnsafeMutablePointer(mutating: file), nil]
            return words.withUnsafeMutableBufferPointer { words in
                var request = processes_program()
                request.file = file
                request.arguments = UnsafePointer(words.baseAddress)
                request.environment = UnsafePointer(environ)
                (request.input, request.output) = (-1, -1)
                return processes_start(&request, &child)
            }
        }
        #expect(code == -ENOENT)
    }

    @Test("the limit of descriptors can be read and set")
    func limit() {
        var limit = rlimit()
        #expect(processes_get_descriptor_limit(&limit) == 0)
        var impossible = limit
        impossible.rlim_cur = limit.rlim_max
        impossible.rlim_max = 0
        #expect(processes_set_descriptor_limit(&impossible) == -EINVAL)
    }
}
