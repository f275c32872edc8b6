#define _GNU_SOURCE // accept4
#include "Network.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int result_of(int result) { return result < 0 ? -errno : result; }

int network_pair(int ends[2]) { return result_of(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends)); }

int network_socket(int family) { return result_of(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

int network_datagram_socket(int family) { return result_of(socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

int network_bind(int descriptor, const struct sockaddr *address, socklen_t length) {
    return result_of(bind(descriptor, address, length));
}

int network_listen(int descriptor, int backlog) { return result_of(listen(descriptor, backlog)); }

int network_connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    return result_of(connect(descriptor, address, length));
}

int network_accept(int descriptor, struct sockaddr_storage *address, socklen_t *length) {
    int result;
    do {
        result = accept4(descriptor, (struct sockaddr *)address, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } while (result < 0 && errno == EINTR);
    return result_of(result);
}

int network_pending_error(int descriptor) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

int network_unconfirmed(int descriptor) {
    int count = 0;
    return ioctl(descriptor, SIOCOUTQ, &count) < 0 ? -errno : count;
}

int network_set_option(int descriptor, int level, int name, int value) {
    return result_of(setsockopt(descriptor, level, name, &value, sizeof value));
}

int network_name(int descriptor, struct sockaddr_storage *address, socklen_t *length) {
    return result_of(getsockname(descriptor, (struct sockaddr *)address, length));
}

int network_shut_down_writing(int descriptor) { return result_of(shutdown(descriptor, SHUT_WR)); }

ssize_t network_send(int descriptor, const void *bytes, size_t count) {
    ssize_t result;
    do {
        result = send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : result;
}

ssize_t network_receive(int descriptor, void *bytes, size_t count) {
    ssize_t result;
    do {
        result = recv(descriptor, bytes, count, MSG_DONTWAIT);
    } while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : result;
}

int network_epoll(void) { return result_of(epoll_create1(EPOLL_CLOEXEC)); }

int network_epoll_set(int epoll, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    if (events == 0) return result_of(epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event));
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0) return 0;
    return errno == EEXIST ? result_of(epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event)) : -errno;
}

int network_epoll_wait(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds) {
    // Milliseconds, rounded up: these waits last seconds.
    int64_t milliseconds = nanoseconds < 0 ? -1 : (nanoseconds + 999999) / 1000000;
    int result = epoll_wait(epoll, events, capacity, milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds);
    return result < 0 && errno == EINTR ? 0 : result_of(result);
}

int network_eventfd(void) { return result_of(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

// A full counter is already readable, and an empty one already is not: both calls either succeed or have
// nothing to do.
void network_wake(int descriptor) {
    uint64_t one = 1;
    ssize_t result = write(descriptor, &one, sizeof one);
    (void)result;
}

void network_sleep(int descriptor) {
    uint64_t count;
    ssize_t result = read(descriptor, &count, sizeof count);
    (void)result;
}
