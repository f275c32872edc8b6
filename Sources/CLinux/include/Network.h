// The parts of the sockets interface that Swift cannot import itself, and system calls that return -errno,
// because ARC traffic may overwrite errno before Swift reads it.
#ifndef CLINUX_NETWORK_H
#define CLINUX_NETWORK_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>

// A non-blocking stream socket that is not inherited.
int network_socket(int family);

// Two stream sockets that are connected to each other, neither of which blocks.
int network_pair(int ends[2]);
// A non-blocking datagram socket that is not inherited.
int network_datagram_socket(int family);

int network_bind(int descriptor, const struct sockaddr *address, socklen_t length);
int network_listen(int descriptor, int backlog);
// -EINPROGRESS while the connection is being made.
int network_connect(int descriptor, const struct sockaddr *address, socklen_t length);
// A non-blocking connection that is not inherited.
int network_accept(int descriptor, struct sockaddr_storage *address, socklen_t *length);
// Why a connection failed or broke, as errno; 0 if it did not.
int network_pending_error(int descriptor);
// Bytes sent that the peer's system has not confirmed yet (SIOCOUTQ, tcp(7)), or -errno.
int network_unconfirmed(int descriptor);
int network_set_option(int descriptor, int level, int name, int value);
int network_name(int descriptor, struct sockaddr_storage *address, socklen_t *length);
int network_shut_down_writing(int descriptor);

// Bytes accepted, or -errno. Never raises SIGPIPE and never blocks.
ssize_t network_send(int descriptor, const void *bytes, size_t count);
// Bytes read, 0 at the stream's end, or -errno. Never blocks.
ssize_t network_receive(int descriptor, void *bytes, size_t count);

int network_epoll(void);
// `events` of 0 removes the descriptor.
int network_epoll_set(int epoll, int descriptor, uint32_t events, uint64_t token);
// Ready descriptors, at most `capacity`; the time-out is in nanoseconds, below zero for none.
int network_epoll_wait(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds);
// An epoll_event is packed on some machines: Swift cannot point to its token.
static inline uint64_t network_epoll_token(const struct epoll_event *event) { return event->data.u64; }

// A descriptor that is readable from `network_wake` to `network_sleep`.
int network_eventfd(void);
void network_wake(int eventfd);
void network_sleep(int eventfd);

enum {
    NETWORK_EPOLL_IN = EPOLLIN,
    NETWORK_EPOLL_OUT = EPOLLOUT,
    NETWORK_EPOLL_HANG_UP = EPOLLHUP | EPOLLERR,
    NETWORK_EPOLL_END = EPOLLRDHUP,
};
static const uint32_t NETWORK_EPOLL_EDGE = EPOLLET;

#endif
