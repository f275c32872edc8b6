#define _GNU_SOURCE // ppoll
#include "CV4L2.h"

#include <time.h>

int cv4l2_poll(struct pollfd *descriptors, nfds_t count, int64_t nanoseconds) {
    struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int result = ppoll(descriptors, count, nanoseconds < 0 ? NULL : &time, NULL);
    return result < 0 ? -errno : result;
}
