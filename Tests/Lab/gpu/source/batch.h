/* A batch of commands for one of Intel's engines, and the memory that it may reach. */
#ifndef BATCH_H
#define BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drm_i915_gem_exec_object2;
struct file;
struct mfx_context;

struct batch {
    struct file *file;
    const struct drm_i915_gem_exec_object2 *objects; /* the buffers of the submission, each with its address */
    uint32_t object_count;
    bool wide_addresses; /* 48 bits in two dwords; before Broadwell 32 in one */
    unsigned depth;      /* of batches that start batches */
    struct mfx_context *mfx;
};

/* The memory from a GPU address on, and how much there is of it; null where `size` bytes are not in one buffer. */
void *batch_bytes(const struct batch *batch, uint64_t address, uint64_t size);
size_t batch_available(const struct batch *batch, uint64_t address);

/* The address in the dwords at `words`. */
uint64_t batch_address(const struct batch *batch, const uint32_t *words);

#endif
