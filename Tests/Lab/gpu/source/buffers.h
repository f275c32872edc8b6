/* GEM buffers: memory that drivers allocate, import and map, the handles to it, and its addresses on the GPU. */
#ifndef BUFFERS_H
#define BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <drm.h>
#include <amdgpu_drm.h>

struct device;

enum {
    PAGE_SIZE = 4096,
    MAP_OFFSET_SHIFT = 36, /* a handle's fake offset for mmap is the handle, shifted: more than a buffer's size */
};

/* GPU addresses are 48 bits, in canonical form: the upper ones repeat bit 47. */
#define GPU_ADDRESS_MASK 0xffffffffffffULL

/* A file's, in fstat's words. */
struct identity {
    dev_t device;
    ino_t inode;
};

struct buffer {
    struct device *device;
    unsigned references;      /* handles, of any file, and writes that are to come */
    int memory;               /* a memfd or a DMA-BUF; -1 for the program's own memory */
    struct identity identity; /* of `memory`: the same DMA-BUF imported again is the same buffer */
    bool imported;
    uint8_t *bytes;
    uint64_t size;
    uint64_t idle; /* when the last submission that uses it is done */
    /* What amdgpu keeps for the driver. */
    struct drm_amdgpu_gem_create_in creation;
    struct drm_amdgpu_gem_metadata metadata;
    /* What i915 keeps for the driver. */
    uint32_t tiling, stride, caching;
    struct buffer *next;
};

/* Where a buffer is in a file's GPU address space (amdgpu). */
struct mapping {
    uint64_t address, size, offset;
    uint32_t handle;
};

struct handle_table {
    struct buffer **buffers; /* by handle; 0 is none */
    uint32_t count;
    struct mapping *mappings;
    size_t mapping_count, mapping_capacity;
};

/* All with the lock held. Functions that return an int give 0 or a negative errno, and the handle by `handle`. */
int buffer_create(struct handle_table *table, struct device *device, uint64_t size, uint32_t *handle);
int buffer_wrap(struct handle_table *table, struct device *device, uint64_t address, uint64_t size, uint32_t *handle);
int buffer_import(struct handle_table *table, struct device *device, int descriptor, uint32_t *handle);
int buffer_close(struct handle_table *table, uint32_t handle);
void buffer_retain(struct buffer *buffer);
void buffer_release(struct buffer *buffer);
struct buffer *buffer_of(const struct handle_table *table, uint32_t handle); /* null where there is none */
uint32_t handles_in_use(const struct handle_table *table);
void handles_free(struct handle_table *table);

/* `size` bytes of the buffer from `offset` on; null where they are not inside. */
void *buffer_bytes(const struct buffer *buffer, uint64_t offset, uint64_t size);

int mapping_add(struct handle_table *table, struct mapping mapping);
void mapping_remove(struct handle_table *table, uint64_t address, uint64_t size);
/* The memory at a GPU address; null where `size` bytes are not mapped there in one piece. */
void *mapping_bytes(const struct handle_table *table, uint64_t address, uint64_t size);

/* The memory at a GPU address up to the end of its mapping, and how much that is; null where nothing is mapped. */
void *mapping_rest(const struct handle_table *table, uint64_t address, size_t *available);

/* What a device's buffers take now. Imported memory and the program's own do not count. */
uint64_t buffers_memory(const struct device *device);

#endif
