#include "faults.h"

#include "clock.h"
#include "device.h"
#include "ioctl_names.h"
#include "message.h"
#include "real.h"
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    TEXT_SIZE = 4096,
    WORD_LIMIT = 5,
    LARGEST_ERRNO = 133, /* EHWPOISON */
    NODE_NAME_SIZE = 32,
    LINE_SIZE = 128, /* of what is said */
};

static const struct faults none = {
    .memory_limit = UINT64_MAX,
    .hang_from = NEVER,
    .hang_duration = NEVER,
    .lost_from = NEVER,
    .coded_limit = UINT64_MAX,
};

/* ---- Reading */

/* With K, M or G after it; false if it is none, or more than 64 bits hold. */
static bool read_number(const char *word, uint64_t *number)
{
    char *end;
    unsigned shift = 0;

    if (!word || !isdigit((unsigned char)*word))
        return false;
    errno = 0;
    *number = strtoull(word, &end, 0);
    if (*end == 'k' || *end == 'K')
        shift = 10;
    else if (*end == 'M')
        shift = 20;
    else if (*end == 'G')
        shift = 30;
    if (errno || *number > UINT64_MAX >> shift)
        return false;
    *number <<= shift;
    return end[shift ? 1 : 0] == 0;
}

static bool read_error(const char *word, int *error)
{
    for (int i = 1; word && i <= LARGEST_ERRNO; i++) {
        const char *name = strerrorname_np(i);

        if (name && strcmp(name, word) == 0) {
            *error = i;
            return true;
        }
    }
    return false;
}

/* An ioctl's name, and after it perhaps the first call and how many. */
static bool add_failure(struct faults *faults, const char *name, int error, char *const calls[2])
{
    struct ioctl_failure failure = {.error = error, .first = 1, .times = UINT64_MAX};

    if (faults->failure_count == FAULT_FAILURE_LIMIT || strlen(name) >= sizeof failure.name ||
        (strcmp(name, "*") != 0 && !ioctl_is_known(name)))
        return false;
    strcpy(failure.name, name);
    if (calls[0] && !read_number(calls[0], &failure.first))
        return false;
    if (calls[0] && calls[1] && !read_number(calls[1], &failure.times))
        return false;
    faults->failures[faults->failure_count++] = failure;
    return true;
}

static bool read_failure(struct faults *faults, char *const words[WORD_LIMIT])
{
    int error;

    return read_error(words[2], &error) && add_failure(faults, words[1], error, words + 3);
}

static bool read_stuck(struct faults *faults, char *const words[WORD_LIMIT])
{
    return add_failure(faults, words[1], 0, words + 2);
}

static bool read_milliseconds(const char *word, uint64_t *nanoseconds)
{
    if (!read_number(word, nanoseconds) || *nanoseconds > UINT64_MAX / NANOSECONDS_PER_MILLISECOND)
        return false;
    *nanoseconds *= NANOSECONDS_PER_MILLISECOND;
    return true;
}

static bool read_memory(struct faults *faults, char *const words[WORD_LIMIT])
{
    return read_number(words[1], &faults->memory_limit);
}

static bool read_hang(struct faults *faults, char *const words[WORD_LIMIT])
{
    return read_number(words[1], &faults->hang_from) &&
           (!words[2] || read_milliseconds(words[2], &faults->hang_duration));
}

static bool read_lost(struct faults *faults, char *const words[WORD_LIMIT])
{
    return read_number(words[1], &faults->lost_from);
}

static bool read_coded(struct faults *faults, char *const words[WORD_LIMIT])
{
    return read_number(words[1], &faults->coded_limit);
}

static bool read_slow(struct faults *faults, char *const words[WORD_LIMIT])
{
    return read_milliseconds(words[1], &faults->picture_time);
}

static bool read_import(struct faults *faults, char *const words[WORD_LIMIT])
{
    return read_error(words[1], &faults->import_error);
}

/* With how many words there may be, the name among them. */
static const struct kind {
    const char *name;
    size_t least, most;
    bool (*read)(struct faults *faults, char *const words[WORD_LIMIT]);
} kinds[] = {
    {"fail", 3, 5, read_failure},  {"memory", 2, 2, read_memory}, {"hang", 2, 3, read_hang},
    {"lost", 2, 2, read_lost},     {"coded", 2, 2, read_coded},   {"slow", 2, 2, read_slow},
    {"import", 2, 2, read_import}, {"stuck", 2, 4, read_stuck},
};

/* Adds the fault, or nothing. */
static bool read_fault(struct faults *faults, char *const words[WORD_LIMIT], size_t count)
{
    struct faults changed = *faults;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(words[0], kinds[i].name) != 0)
            continue;
        if (count < kinds[i].least || count > kinds[i].most || !kinds[i].read(&changed, words))
            return false;
        *faults = changed;
        return true;
    }
    return false;
}

static bool is_for(const struct device *device, const char *node)
{
    char name[NODE_NAME_SIZE];

    snprintf(name, sizeof name, "renderD%u:", device->minor);
    return strcmp(name, node) == 0;
}

/* Adds the fault to the device of that name, or without a name to each; false if it is for none. */
static bool read_fault_for(const char *node, char *const words[WORD_LIMIT], size_t count)
{
    bool found = false;

    for (size_t i = 0; i < device_count(); i++) {
        struct device *device = device_at(i);

        if (node && !is_for(device, node))
            continue;
        if (!read_fault(&device->faults, words, count))
            return false;
        found = true;
    }
    return found;
}

/* A fault, perhaps after a node's name and a colon. */
static void read_line(char *line)
{
    enum { MOST = WORD_LIMIT + 2 }; /* the node's name, and one too many */
    char *words[MOST + 1] = {0}, **first = words, *rest, whole[LINE_SIZE];
    const char *node = NULL;
    size_t count = 0;

    line += strspn(line, " \t");
    snprintf(whole, sizeof whole, "%s", line);
    for (char *word = strtok_r(line, " \t", &rest); word && count < MOST; word = strtok_r(NULL, " \t", &rest))
        words[count++] = word;
    if (!count || *words[0] == '#')
        return;
    if (words[0][strlen(words[0]) - 1] == ':') {
        node = *first++;
        count--;
    }
    if (!count || count > WORD_LIMIT || !read_fault_for(node, first, count))
        message("the fault '%s' cannot be read and is left out; README.md of the emulated GPU has the list", whole);
}

static void read_text(char *text)
{
    char *rest;

    for (size_t i = 0; i < device_count(); i++) {
        device_at(i)->faults = none;
        device_at(i)->lost = device_at(i)->hung = false;
    }
    for (char *line = strtok_r(text, ";\n", &rest); line; line = strtok_r(NULL, ";\n", &rest))
        read_line(line);
}

static void read_file(const char *path)
{
    char text[TEXT_SIZE];
    FILE *file = real()->fopen(path, "re");
    size_t size;

    if (!file)
        return;
    size = fread(text, 1, sizeof text, file);
    fclose(file);
    if (size == sizeof text) {
        message("%s has more than %d bytes: nothing in it is read", path, TEXT_SIZE - 1);
        size = 0;
    }
    text[size] = 0;
    read_text(text);
}

/* True once for each state of the file. */
static bool has_changed(const char *path)
{
    static struct stat last;
    struct stat status;

    if (real()->stat(path, &status) != 0)
        return false;
    if (status.st_ino == last.st_ino && status.st_size == last.st_size &&
        status.st_mtim.tv_sec == last.st_mtim.tv_sec && status.st_mtim.tv_nsec == last.st_mtim.tv_nsec)
        return false;
    last = status;
    return true;
}

void faults_refresh(void)
{
    static bool started;

    if (!started) {
        char text[TEXT_SIZE];

        started = true;
        if (snprintf(text, sizeof text, "%s", settings()->faults ? settings()->faults : "") >= (int)sizeof text) {
            message("FAKEGPU_FAULTS has more than %d bytes: nothing in it is read", TEXT_SIZE - 1);
            *text = 0;
        }
        read_text(text);
    }
    if (settings()->control && has_changed(settings()->control))
        read_file(settings()->control);
}

/* ---- Failing */

int faults_ioctl(struct device *device, const char *name)
{
    const struct ioctl_failure *fault = NULL;

    for (size_t i = 0; i < device->faults.failure_count; i++) {
        struct ioctl_failure *failure = &device->faults.failures[i];

        if (strcmp(failure->name, "*") != 0 && (!name || strcmp(failure->name, name) != 0))
            continue;
        failure->calls++;
        if (!fault && failure->calls >= failure->first && failure->calls - failure->first < failure->times)
            fault = failure;
    }
    if (!fault)
        return 0;
    device->statistics.faults++;
    if (!fault->error)
        clock_wait(NEVER, NEVER); /* other threads go on */
    return -fault->error;
}
