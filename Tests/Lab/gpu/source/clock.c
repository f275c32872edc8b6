#include "clock.h"

#include <pthread.h>
#include <time.h>

enum { NANOSECONDS_PER_SECOND = 1000000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void lock(void)
{
    pthread_mutex_lock(&mutex);
}

void unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

uint64_t clock_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t clock_after(int64_t timeout)
{
    uint64_t now = clock_now();

    return timeout < 0 || (uint64_t)timeout > NEVER - now ? NEVER : now + (uint64_t)timeout;
}

bool clock_wait(uint64_t when, uint64_t deadline)
{
    uint64_t until = when < deadline ? when : deadline;

    if (until > clock_now()) {
        /* A wait forever is one of an hour, again and again: time_t could not hold NEVER. */
        static const uint64_t longest = 3600ULL * NANOSECONDS_PER_SECOND;

        unlock();
        for (uint64_t now = clock_now(); now < until; now = clock_now()) {
            uint64_t next = until - now < longest ? until : now + longest;
            struct timespec time = {.tv_sec = (time_t)(next / NANOSECONDS_PER_SECOND),
                                    .tv_nsec = (long)(next % NANOSECONDS_PER_SECOND)};

            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        }
        lock();
    }
    return when <= clock_now();
}
