#include "buffers.h"

#include "device.h"
#include "dma_buf.h"
#include "message.h"
#include "real.h"
#include "settings.h"
#include "user_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    HANDLE_LIMIT = 1 << 16,
    INITIAL_HANDLES = 256,
    INITIAL_MAPPINGS = 256,
    FIRST_KEPT = 3,             /* not one of the standard streams, where the program has closed them */
    DMA_BUF_MAGIC = 0x444d4142, /* the file system's type, linux/magic.h */
    LINK_SIZE = 64,
};

#define MEMORY_SIZE (8ULL << 30) /* what a GPU's buffers may take in all */

static struct buffer *buffers;

static uint64_t whole_pages(uint64_t size)
{
    return size ? (size + PAGE_SIZE - 1) & ~(uint64_t)(PAGE_SIZE - 1) : PAGE_SIZE;
}

static bool grow_handles(struct handle_table *table)
{
    uint32_t count = table->count ? table->count * 2 : INITIAL_HANDLES;
    struct buffer **grown;

    if (count > HANDLE_LIMIT)
        return false;
    grown = realloc(table->buffers, count * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + table->count, 0, (count - table->count) * sizeof *grown);
    table->buffers = grown;
    table->count = count;
    return true;
}

/* Gives `buffer` the lowest free handle, as the kernel does. */
static int add_handle(struct handle_table *table, struct buffer *buffer, uint32_t *handle)
{
    for (uint32_t i = 1;; i++) {
        if (i >= table->count && !grow_handles(table))
            return -ENOMEM;
        if (!table->buffers[i]) {
            table->buffers[i] = buffer;
            buffer->references++;
            *handle = i;
            return 0;
        }
    }
}

static void destroy(struct buffer *buffer)
{
    struct buffer **link = &buffers;

    while (*link && *link != buffer)
        link = &(*link)->next;
    if (*link)
        *link = buffer->next;
    if (buffer->memory >= 0) {
        if (buffer->bytes)
            munmap(buffer->bytes, buffer->size);
        real()->close(buffer->memory);
    }
    free(buffer);
}

/* What a file is to be known by; false if there is none. */
static bool identify(int descriptor, struct identity *identity)
{
    struct stat status;

    if (real()->fstat(descriptor, &status))
        return false;
    *identity = (struct identity){status.st_dev, status.st_ino};
    return true;
}

static bool has_memory(const struct buffer *buffer, const struct identity *identity)
{
    return buffer->memory >= 0 && buffer->identity.device == identity->device &&
           buffer->identity.inode == identity->inode;
}

/* A DMA-BUF, or a memfd in the place of one. */
static bool is_importable(int descriptor)
{
    static const char memfd[] = "/memfd:";
    char path[LINK_SIZE], target[LINK_SIZE];
    struct statfs system;
    ssize_t length;

    if (fstatfs(descriptor, &system) == 0 && system.f_type == DMA_BUF_MAGIC)
        return true;
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    length = real()->readlink(path, target, sizeof target);
    return length >= (ssize_t)sizeof memfd - 1 && strncmp(target, memfd, sizeof memfd - 1) == 0;
}

/* A descriptor of new memory; -1 with errno. */
static int allocate(uint64_t size)
{
    int memory;

    if (settings()->memory)
        return dma_buf_create(settings()->memory, size);
    memory = memfd_create("fakegpu-buffer", MFD_CLOEXEC);
    if (memory < 0 || !ftruncate(memory, (off_t)size))
        return memory;
    real()->close(memory);
    return -1;
}

/* Maps `buffer->memory`; takes the buffer into the list and gives it a handle, or destroys it. */
static int adopt(struct handle_table *table, struct buffer *buffer, uint32_t *handle)
{
    int status = 0;

    if (buffer->memory >= 0) {
        void *bytes = real()->mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->memory, 0);

        if (bytes == MAP_FAILED && buffer->imported)
            bytes = real()->mmap(NULL, buffer->size, PROT_READ, MAP_SHARED, buffer->memory, 0);
        if (bytes == MAP_FAILED) {
            status = -errno;
        } else {
            buffer->bytes = bytes;
            /* Marks it: in /proc/PID/smaps this flag, rr, tells the GPU's view of its memory from the program's. */
            madvise(bytes, buffer->size, MADV_RANDOM);
        }
        identify(buffer->memory, &buffer->identity);
    }
    buffer->next = buffers;
    buffers = buffer;
    if (!status)
        status = add_handle(table, buffer, handle);
    if (status)
        destroy(buffer);
    return status;
}

int buffer_create(struct handle_table *table, struct device *device, uint64_t size, uint32_t *handle)
{
    uint64_t memory = buffers_memory(device);
    struct buffer *buffer;
    int status;

    if (size > MEMORY_SIZE || memory > MEMORY_SIZE - whole_pages(size))
        return -ENOMEM;
    size = whole_pages(size);
    if (memory > device->faults.memory_limit || size > device->faults.memory_limit - memory) {
        device->statistics.faults++;
        return -ENOMEM;
    }
    buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return -ENOMEM;
    buffer->device = device;
    buffer->size = size;
    buffer->memory = allocate(size);
    if (buffer->memory < 0) {
        message("no memory for a buffer of %llu bytes: %s", (unsigned long long)size, strerror(errno));
        destroy(buffer);
        return -ENOMEM;
    }
    status = adopt(table, buffer, handle);
    if (!status)
        report_memory(device, memory + size);
    return status;
}

/* Whole pages, as the kernel has it. That they are not mapped the kernel finds at the first use. */
int buffer_wrap(struct handle_table *table, struct device *device, uint64_t address, uint64_t size, uint32_t *handle)
{
    struct buffer *buffer;

    if (!size || (address | size) % PAGE_SIZE)
        return -EINVAL;
    if (!user_is_mapped(address, size))
        return -EFAULT;
    buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return -ENOMEM;
    buffer->device = device;
    buffer->memory = -1;
    buffer->bytes = (void *)(uintptr_t)address;
    buffer->size = size;
    return adopt(table, buffer, handle);
}

int buffer_import(struct handle_table *table, struct device *device, int descriptor, uint32_t *handle)
{
    struct identity identity;
    struct buffer *buffer;
    off_t size;

    if (!identify(descriptor, &identity))
        return -EBADF;
    if (!is_importable(descriptor))
        return -EINVAL;
    for (uint32_t i = 1; i < table->count; i++) {
        if (table->buffers[i] && has_memory(table->buffers[i], &identity)) {
            *handle = i;
            return 0;
        }
    }
    for (buffer = buffers; buffer; buffer = buffer->next)
        if (buffer->device == device && has_memory(buffer, &identity))
            return add_handle(table, buffer, handle);
    size = lseek(descriptor, 0, SEEK_END);
    if (size <= 0)
        return -EINVAL;
    buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return -ENOMEM;
    buffer->device = device;
    buffer->imported = true;
    buffer->size = (uint64_t)size;
    buffer->memory = real()->fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_KEPT);
    if (buffer->memory < 0) {
        free(buffer);
        return -EMFILE;
    }
    return adopt(table, buffer, handle);
}

void buffer_retain(struct buffer *buffer)
{
    buffer->references++;
}

void buffer_release(struct buffer *buffer)
{
    if (--buffer->references == 0)
        destroy(buffer);
}

int buffer_close(struct handle_table *table, uint32_t handle)
{
    struct buffer *buffer = buffer_of(table, handle);

    if (!buffer)
        return -EINVAL;
    for (size_t i = 0; i < table->mapping_count;) {
        if (table->mappings[i].handle == handle)
            table->mappings[i] = table->mappings[--table->mapping_count];
        else
            i++;
    }
    table->buffers[handle] = NULL;
    buffer_release(buffer);
    return 0;
}

struct buffer *buffer_of(const struct handle_table *table, uint32_t handle)
{
    return handle < table->count ? table->buffers[handle] : NULL;
}

uint32_t handles_in_use(const struct handle_table *table)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < table->count; i++)
        count += table->buffers[i] != NULL;
    return count;
}

void handles_free(struct handle_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->buffers[i])
            buffer_release(table->buffers[i]);
    free(table->buffers);
    free(table->mappings);
    *table = (struct handle_table){0};
}

void *buffer_bytes(const struct buffer *buffer, uint64_t offset, uint64_t size)
{
    if (!buffer || !buffer->bytes || offset > buffer->size || size > buffer->size - offset)
        return NULL;
    return buffer->bytes + offset;
}

int mapping_add(struct handle_table *table, struct mapping mapping)
{
    mapping.address &= GPU_ADDRESS_MASK;
    if (table->mapping_count == table->mapping_capacity) {
        size_t capacity = table->mapping_capacity ? table->mapping_capacity * 2 : INITIAL_MAPPINGS;
        struct mapping *mappings = realloc(table->mappings, capacity * sizeof *mappings);

        if (!mappings)
            return -ENOMEM;
        table->mappings = mappings;
        table->mapping_capacity = capacity;
    }
    table->mappings[table->mapping_count++] = mapping;
    return 0;
}

void mapping_remove(struct handle_table *table, uint64_t address, uint64_t size)
{
    address &= GPU_ADDRESS_MASK;
    for (size_t i = 0; i < table->mapping_count;) {
        uint64_t start = table->mappings[i].address;

        if (start >= address && start - address < (size ? size : 1))
            table->mappings[i] = table->mappings[--table->mapping_count];
        else
            i++;
    }
}

/* The mapping that has `size` bytes from the address on; null where there is none. */
static const struct mapping *find_mapping(const struct handle_table *table, uint64_t address, uint64_t size)
{
    for (size_t i = table->mapping_count; i-- > 0;) {
        const struct mapping *mapping = &table->mappings[i];
        uint64_t inside = address - mapping->address;

        if (address >= mapping->address && inside < mapping->size && size <= mapping->size - inside)
            return mapping;
    }
    return NULL;
}

void *mapping_bytes(const struct handle_table *table, uint64_t address, uint64_t size)
{
    const struct mapping *mapping = find_mapping(table, address & GPU_ADDRESS_MASK, size);

    if (!mapping)
        return NULL;
    return buffer_bytes(buffer_of(table, mapping->handle),
                        mapping->offset + ((address & GPU_ADDRESS_MASK) - mapping->address), size);
}

void *mapping_rest(const struct handle_table *table, uint64_t address, size_t *available)
{
    const struct mapping *mapping = find_mapping(table, address & GPU_ADDRESS_MASK, 1);

    *available = mapping ? mapping->size - ((address & GPU_ADDRESS_MASK) - mapping->address) : 0;
    return mapping ? mapping_bytes(table, address, *available) : NULL;
}

uint64_t buffers_memory(const struct device *device)
{
    uint64_t total = 0;

    for (const struct buffer *buffer = buffers; buffer; buffer = buffer->next)
        if (buffer->device == device && buffer->memory >= 0 && !buffer->imported)
            total += buffer->size;
    return total;
}
