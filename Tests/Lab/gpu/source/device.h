/* The emulated GPUs, and what a process has from them by each open of their render nodes. */
#ifndef DEVICE_H
#define DEVICE_H

#include "buffers.h"
#include "decoder.h"
#include "faults.h"
#include "models.h"
#include "report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DRM_MAJOR = 226, /* the kernel's Documentation/admin-guide/devices.txt */
    FIRST_RENDER_MINOR = 128,
    DEVICE_LIMIT = 4,
    SLOT_SIZE = 16,
    SUBMISSION_WINDOW = 1024, /* of the latest submissions it is known when they are done */
};

struct pending_write;
struct vcn_session;
struct vcn_decoder;
struct mfx_context;

/* Things with an id that a driver makes and destroys, besides buffers. */
enum object_kind { OBJECT_CONTEXT, OBJECT_BUFFER_LIST, OBJECT_ADDRESS_SPACE, OBJECT_SYNCOBJ, OBJECT_KIND_COUNT };

struct object {
    enum object_kind kind;
    uint32_t id;
    uint64_t signal;   /* of a syncobj: when what was attached to it last is done */
    bool has_fence;    /* of a syncobj */
    uint32_t *handles; /* of a buffer list */
    size_t handle_count;
};

struct device {
    struct model model;
    unsigned minor;
    char slot[SLOT_SIZE]; /* PCI */
    struct faults faults;
    struct statistics statistics;
    /* The engine: see engine.c. */
    uint64_t pictures; /* that it was given */
    unsigned pictures_in_submission;
    uint64_t engine_free; /* when it is done with what it was given */
    bool hung, lost;
    uint64_t hang_end;
    struct pending_write *writes;
    size_t write_count, write_capacity;
};

/* An open of the node: the handles, ids and addresses that the kernel keeps for it. */
struct file {
    struct device *device;
    unsigned references; /* descriptors */
    bool inherited;      /* by a forked child, from its parent */
    struct handle_table handles;
    struct object *objects;
    size_t object_count, object_capacity;
    uint32_t last_id;
    uint64_t submissions;
    uint64_t done[SUBMISSION_WINDOW]; /* by submission number: when it is, or was, done */
    struct vcn_session *vcn_sessions;
    struct vcn_decoder *vcn_decoders;
    struct decoder jpeg_decoder; /* of AMD's: it knows no sessions */
    struct mfx_context *mfx_contexts;
    struct file *next;
};

/* The devices of FAKEGPU_DEVICES, made at the first call. */
size_t device_count(void);
struct device *device_at(size_t index);
struct device *device_with_minor(unsigned minor); /* null where there is none */

/* With the lock held. */
struct file *file_open(struct device *device); /* null where memory ran out */
void file_retain(struct file *file);
void file_release(struct file *file);
struct file *file_next(const struct file *after); /* null: the first */

struct object *object_create(struct file *file, enum object_kind kind); /* null where memory ran out */
struct object *object_find(struct file *file, enum object_kind kind, uint32_t id);
bool object_destroy(struct file *file, enum object_kind kind, uint32_t id);
size_t object_count(const struct file *file, enum object_kind kind);

#endif
