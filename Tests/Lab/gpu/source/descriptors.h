/* The process's file descriptors that are the emulated GPU's: render nodes, DMA-BUFs and fences. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct file;
struct device;

enum descriptor_kind {
    DESCRIPTOR_OTHER,
    DESCRIPTOR_NODE,   /* an open render node */
    DESCRIPTOR_DMABUF, /* what DRM_IOCTL_PRIME_HANDLE_TO_FD gave */
    DESCRIPTOR_FENCE,  /* a sync file */
    DESCRIPTOR_KIND_COUNT
};

/* The functions that the C library's are interposed with. All take the lock themselves. */
int descriptors_open_node(struct device *device, int flags);
int descriptors_close(int descriptor);
void descriptors_duplicated(int from, int to); /* `to` is what `from` is, after dup, dup2, dup3 or F_DUPFD */
bool descriptors_is_node(int descriptor);

/* With the lock held. */
void descriptors_forked(void); /* in a child that was forked, which has its parent's descriptors */
struct file *descriptors_file(int descriptor);
/* A new descriptor of memory that `file` exports, close-on-exec; -1 with errno. */
int descriptors_export(struct file *file, int memory);
/* A new descriptor that becomes readable at `signal`, as a sync file does; -1 with errno. */
int descriptors_fence(struct file *file, uint64_t signal);
/* When the fence of a descriptor signals; 0, in the past, for others. */
uint64_t descriptors_fence_signal(int descriptor);
/* How many descriptors of `kind` from `device` are open. */
size_t descriptors_count(const struct device *device, enum descriptor_kind kind);

#endif
