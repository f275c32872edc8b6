/* Whole messages over a socket. False where it is closed or broken. */
#ifndef TRANSFER_H
#define TRANSFER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

static inline bool send_all(int socket, const void *bytes, size_t size)
{
    const char *next = bytes;

    while (size) {
        ssize_t sent = send(socket, next, size, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        next += sent;
        size -= (size_t)sent;
    }
    return true;
}

static inline bool receive_all(int socket, void *bytes, size_t size)
{
    char *next = bytes;

    while (size) {
        ssize_t received = recv(socket, next, size, MSG_WAITALL);

        if (received < 0 && errno == EINTR)
            continue;
        if (received <= 0)
            return false;
        next += received;
        size -= (size_t)received;
    }
    return true;
}

#endif
