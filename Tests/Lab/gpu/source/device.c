#include "device.h"

#include "message.h"
#include "mfx.h"
#include "settings.h"
#include "vcn.h"
#include "vcn_decode.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 64, FIRST_AMD_BUS = 4 };

static struct device devices[DEVICE_LIMIT];
static size_t count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct file *files;

/* Where an integrated GPU is: Intel's first device 2 of bus 0, AMD's on bus 4; more of them on buses behind. */
static void write_slot(struct device *device)
{
    bool intel = device->model.driver == DRIVER_I915;
    unsigned before = 0;

    for (size_t i = 0; i < count; i++)
        before += devices[i].model.driver == device->model.driver;
    if (intel)
        snprintf(device->slot, sizeof device->slot, "0000:%02x:02.0", before);
    else
        snprintf(device->slot, sizeof device->slot, "0000:%02x:00.0", FIRST_AMD_BUS + before);
}

static void add(const char *name)
{
    struct device device = {.minor = FIRST_RENDER_MINOR + (unsigned)count};

    if (!model_named(name, &device.model))
        message("no GPU '%s' is modelled; README.md of the emulated GPU has the list", name);
    else if (count == DEVICE_LIMIT)
        message("more than %d GPUs: '%s' is left out", DEVICE_LIMIT, name);
    else {
        write_slot(&device);
        devices[count++] = device;
    }
}

static void make_devices(void)
{
    const char *rest = settings()->devices;

    while (*rest) {
        char name[NAME_SIZE];
        size_t length = strcspn(rest, ",");

        if (length < sizeof name) {
            memcpy(name, rest, length);
            name[length] = 0;
            add(name);
        }
        rest += length + (rest[length] == ',');
    }
}

size_t device_count(void)
{
    pthread_once(&once, make_devices);
    return count;
}

struct device *device_at(size_t index)
{
    return index < device_count() ? &devices[index] : NULL;
}

struct device *device_with_minor(unsigned minor)
{
    return minor < FIRST_RENDER_MINOR ? NULL : device_at(minor - FIRST_RENDER_MINOR);
}

struct file *file_open(struct device *device)
{
    struct file *file = calloc(1, sizeof *file);

    if (!file)
        return NULL;
    file->device = device;
    file->references = 1;
    file->next = files;
    files = file;
    report_opened(device);
    return file;
}

void file_retain(struct file *file)
{
    file->references++;
}

static void free_objects(struct file *file)
{
    for (size_t i = 0; i < file->object_count; i++)
        free(file->objects[i].handles);
    free(file->objects);
}

void file_release(struct file *file)
{
    struct file **link = &files;

    if (--file->references)
        return;
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    report_closed(file);
    handles_free(&file->handles);
    free_objects(file);
    vcn_free_sessions(file);
    vcn_free_decoders(file);
    decoder_close(&file->jpeg_decoder);
    mfx_free_contexts(file);
    free(file);
}

struct file *file_next(const struct file *after)
{
    return after ? after->next : files;
}

struct object *object_create(struct file *file, enum object_kind kind)
{
    struct object *object;

    if (file->object_count == file->object_capacity) {
        size_t capacity = file->object_capacity ? file->object_capacity * 2 : 64;
        struct object *objects = realloc(file->objects, capacity * sizeof *objects);

        if (!objects)
            return NULL;
        file->objects = objects;
        file->object_capacity = capacity;
    }
    object = &file->objects[file->object_count++];
    *object = (struct object){.kind = kind, .id = ++file->last_id};
    return object;
}

struct object *object_find(struct file *file, enum object_kind kind, uint32_t id)
{
    for (size_t i = 0; i < file->object_count; i++)
        if (file->objects[i].kind == kind && file->objects[i].id == id)
            return &file->objects[i];
    return NULL;
}

bool object_destroy(struct file *file, enum object_kind kind, uint32_t id)
{
    struct object *object = object_find(file, kind, id);

    if (!object)
        return false;
    free(object->handles);
    *object = file->objects[--file->object_count];
    return true;
}

size_t object_count(const struct file *file, enum object_kind kind)
{
    size_t number = 0;

    for (size_t i = 0; i < file->object_count; i++)
        number += file->objects[i].kind == kind;
    return number;
}
