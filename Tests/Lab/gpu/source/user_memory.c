#include "user_memory.h"

#include "buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ARRAY_LIMIT = 1 << 20 }; /* elements: far more than a submission has buffers */

/* A system call between the program's addresses and ours, or the other way. */
typedef ssize_t transfer_function(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long,
                                  unsigned long);

static int transfer(transfer_function *call, void *ours, uint64_t theirs, uint64_t size)
{
    while (size) {
        struct iovec here = {ours, size}, there = {(void *)(uintptr_t)theirs, size};
        ssize_t count = call(getpid(), &here, 1, &there, 1, 0);

        if (count <= 0)
            return count < 0 && (errno == ENOSYS || errno == EPERM) ? -ENOSYS : -EFAULT;
        ours = (uint8_t *)ours + count;
        theirs += (uint64_t)count;
        size -= (uint64_t)count;
    }
    return 0;
}

int user_read(void *to, uint64_t from, uint64_t size)
{
    int status = transfer(process_vm_readv, to, from, size);

    if (status != -ENOSYS)
        return status;
    memcpy(to, (const void *)(uintptr_t)from, size); /* a container that forbids the call */
    return 0;
}

int user_write(uint64_t to, const void *from, uint64_t size)
{
    void *source;
    int status;

    memcpy(&source, &from, sizeof source); /* it is not written to, but the type of iovec does not say so */
    status = transfer(process_vm_writev, source, to, size);
    if (status != -ENOSYS)
        return status;
    memcpy((void *)(uintptr_t)to, from, size);
    return 0;
}

void *user_array(uint64_t from, uint64_t count, size_t size, int *status)
{
    void *array;

    *status = count > ARRAY_LIMIT ? -EINVAL : 0;
    if (*status)
        return NULL;
    array = calloc(count ? count : 1, size);
    *status = array ? user_read(array, from, count * size) : -ENOMEM;
    if (!*status)
        return array;
    free(array);
    return NULL;
}

bool user_is_mapped(uint64_t from, uint64_t size)
{
    uint8_t byte;

    if (from + size < from)
        return false;
    for (uint64_t page = 0; page < size; page += PAGE_SIZE)
        if (user_read(&byte, from + page, sizeof byte))
            return false;
    return true;
}
