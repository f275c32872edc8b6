#include "descriptors.h"

#include "clock.h"
#include "device.h"
#include "message.h"
#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    DESCRIPTOR_COUNT = 1 << 16,
    FIRST_EXPORTED = 3, /* not one of the standard streams, where the program has closed them */
    NANOSECONDS_PER_SECOND = 1000000000,
};

struct descriptor {
    atomic_uchar kind; /* read without the lock where the answer is mostly "other" */
    ino_t inode;       /* what it was opened as: closed behind our back, the number may be somebody else's by now */
    struct device *device;
    struct file *file; /* of a node */
    uint64_t signal;   /* of a fence */
    bool inherited;    /* by a forked child, from its parent */
};

static struct descriptor descriptors[DESCRIPTOR_COUNT];

/* Whose descriptors these are. A child of vfork has descriptors of its own, and this memory in common with its parent:
 * what it closes is closed for itself alone. */
static _Atomic pid_t owner;

static bool in_table(int descriptor)
{
    return descriptor >= 0 && descriptor < DESCRIPTOR_COUNT;
}

static ino_t inode_of(int descriptor)
{
    struct stat status;

    return real()->fstat(descriptor, &status) ? 0 : status.st_ino;
}

/* Fences have no inode of their own, but one that all descriptors without a file have. */
static bool is_timer(int descriptor)
{
    struct itimerspec time;

    return timerfd_gettime(descriptor, &time) == 0;
}

/* Whether this process's descriptors are the table's. */
static bool is_owner(void)
{
    return !owner || owner == getpid();
}

static void forget(struct descriptor *entry)
{
    if (entry->kind == DESCRIPTOR_NODE)
        file_release(entry->file);
    *entry = (struct descriptor){0};
}

/* The entry if it is still what it was, else null. */
static struct descriptor *find(int descriptor)
{
    struct descriptor *entry;

    if (!in_table(descriptor) || descriptors[descriptor].kind == DESCRIPTOR_OTHER)
        return NULL;
    entry = &descriptors[descriptor];
    if (inode_of(descriptor) != entry->inode || (entry->kind == DESCRIPTOR_FENCE && !is_timer(descriptor))) {
        forget(entry);
        return NULL;
    }
    return entry;
}

/* Takes `descriptor` as the GPU's; closes it where its number is beyond the table. */
static int record(int descriptor, struct descriptor entry)
{
    if (descriptor < 0)
        return -1;
    if (!in_table(descriptor)) {
        message("descriptor %d is beyond the %d that are watched", descriptor, DESCRIPTOR_COUNT);
        real()->close(descriptor);
        errno = EMFILE;
        return -1;
    }
    entry.inode = inode_of(descriptor);
    forget(&descriptors[descriptor]);
    descriptors[descriptor] = entry;
    return descriptor;
}

int descriptors_open_node(struct device *device, int flags)
{
    int descriptor = memfd_create("fakegpu-node", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);

    lock();
    if (!owner)
        owner = getpid();
    if (descriptor >= 0) {
        struct file *file = file_open(device);

        if (!file) {
            real()->close(descriptor);
            errno = ENOMEM;
            descriptor = -1;
        } else {
            descriptor =
                record(descriptor, (struct descriptor){.kind = DESCRIPTOR_NODE, .device = device, .file = file});
            if (descriptor < 0)
                file_release(file);
        }
    }
    unlock();
    return descriptor;
}

int descriptors_close(int descriptor)
{
    if (in_table(descriptor) && descriptors[descriptor].kind != DESCRIPTOR_OTHER && is_owner()) {
        lock();
        forget(&descriptors[descriptor]);
        unlock();
    }
    return real()->close(descriptor);
}

void descriptors_duplicated(int from, int to)
{
    struct descriptor *source, copy;

    if (!in_table(to) || from == to ||
        (descriptors[to].kind == DESCRIPTOR_OTHER && (!in_table(from) || descriptors[from].kind == DESCRIPTOR_OTHER)))
        return;
    if (!is_owner())
        return;
    lock();
    source = find(from);
    copy = source ? *source : (struct descriptor){0};
    if (copy.kind == DESCRIPTOR_NODE)
        file_retain(copy.file);
    forget(&descriptors[to]);
    descriptors[to] = copy;
    unlock();
}

void descriptors_forked(void)
{
    owner = getpid();
    for (int i = 0; i < DESCRIPTOR_COUNT; i++)
        if (descriptors[i].kind != DESCRIPTOR_OTHER) /* the rest of the table is not touched, nor copied */
            descriptors[i].inherited = true;
}

bool descriptors_is_node(int descriptor)
{
    bool is_node;

    if (!in_table(descriptor) || descriptors[descriptor].kind != DESCRIPTOR_NODE)
        return false;
    lock();
    is_node = descriptors_file(descriptor) != NULL;
    unlock();
    return is_node;
}

struct file *descriptors_file(int descriptor)
{
    struct descriptor *entry = find(descriptor);

    return entry && entry->kind == DESCRIPTOR_NODE ? entry->file : NULL;
}

int descriptors_export(struct file *file, int memory)
{
    int descriptor = real()->fcntl(memory, F_DUPFD_CLOEXEC, FIRST_EXPORTED);

    return record(descriptor, (struct descriptor){.kind = DESCRIPTOR_DMABUF, .device = file->device});
}

int descriptors_fence(struct file *file, uint64_t signal)
{
    int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    /* A timer of zero is none at all: one of the past is readable at once. */
    uint64_t time = signal ? signal : 1;
    struct itimerspec when = {.it_value = {.tv_sec = (time_t)(time / NANOSECONDS_PER_SECOND),
                                           .tv_nsec = (long)(time % NANOSECONDS_PER_SECOND)}};

    if (descriptor >= 0 && signal != NEVER)
        timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &when, NULL);
    return record(descriptor, (struct descriptor){.kind = DESCRIPTOR_FENCE, .device = file->device, .signal = signal});
}

uint64_t descriptors_fence_signal(int descriptor)
{
    struct descriptor *entry = find(descriptor);

    return entry && entry->kind == DESCRIPTOR_FENCE ? entry->signal : 0;
}

size_t descriptors_count(const struct device *device, enum descriptor_kind kind)
{
    size_t count = 0;

    for (int i = 0; i < DESCRIPTOR_COUNT; i++)
        if (descriptors[i].kind == kind && descriptors[i].device == device && !descriptors[i].inherited && find(i))
            count++;
    return count;
}
