#include "faults.h"

#include "clock.h"
#include "device.h"
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
};

static const struct faults none = {
    .memory_limit = UINT64_MAX,
    .hang_from = NEVER,
    .hang_duration = NEVER,
    .lost_from = NEVER,
    .coded_limit = UINT64_MAX,
};

/* ---- Reading */

static bool read_number(const char *word, uint64_t *number)
{
    char *end;
    unsigned shift = 0;

    if (!word || !isdigit((unsigned char)*word))
        return false;
    *number = strtoull(word, &end, 0);
    if (*end == 'k' || *end == 'K')
        shift = 10;
    else if (*end == 'M')
        shift = 20;
    else if (*end == 'G')
        shift = 30;
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

static bool read_failure(struct faults *faults, char *const words[WORD_LIMIT])
{
    struct ioctl_failure failure = {.first = 1, .times = UINT64_MAX};

    if (faults->failure_count == FAULT_FAILURE_LIMIT || !words[1] || strlen(words[1]) >= sizeof failure.name ||
        !read_error(words[2], &failure.error))
        return false;
    strcpy(failure.name, words[1]);
    if (words[3] && !read_number(words[3], &failure.first))
        return false;
    if (words[4] && !read_number(words[4], &failure.times))
        return false;
    faults->failures[faults->failure_count++] = failure;
    return true;
}

static bool read_milliseconds(const char *word, uint64_t *nanoseconds)
{
    if (!read_number(word, nanoseconds))
        return false;
    *nanoseconds *= NANOSECONDS_PER_MILLISECOND;
    return true;
}

static bool read_fault(struct faults *faults, char *const words[WORD_LIMIT])
{
    if (strcmp(words[0], "fail") == 0)
        return read_failure(faults, words);
    if (strcmp(words[0], "memory") == 0)
        return read_number(words[1], &faults->memory_limit);
    if (strcmp(words[0], "hang") == 0)
        return read_number(words[1], &faults->hang_from) &&
               (!words[2] || read_milliseconds(words[2], &faults->hang_duration));
    if (strcmp(words[0], "lost") == 0)
        return read_number(words[1], &faults->lost_from);
    if (strcmp(words[0], "coded") == 0)
        return read_number(words[1], &faults->coded_limit);
    if (strcmp(words[0], "slow") == 0)
        return read_milliseconds(words[1], &faults->picture_time);
    if (strcmp(words[0], "import") == 0)
        return read_error(words[1], &faults->import_error);
    return false;
}

static bool is_for(const struct device *device, const char *node)
{
    char name[NODE_NAME_SIZE];

    snprintf(name, sizeof name, "renderD%u:", device->minor);
    return strcmp(name, node) == 0;
}

/* A fault, perhaps behind a node's name and a colon; without one it is every device's. */
static void read_line(char *line)
{
    char *words[WORD_LIMIT + 1] = {0}, **first = words, *rest;
    const char *node = NULL;
    size_t count = 0;

    for (char *word = strtok_r(line, " \t", &rest); word && count <= WORD_LIMIT; word = strtok_r(NULL, " \t", &rest))
        words[count++] = word;
    if (!count || *words[0] == '#')
        return;
    if (words[0][strlen(words[0]) - 1] == ':') {
        node = words[0];
        first++;
        count--;
    }
    for (size_t i = 0; i < device_count(); i++) {
        struct device *device = device_at(i);

        if (node && !is_for(device, node))
            continue;
        if (!count || count > WORD_LIMIT || !read_fault(&device->faults, first))
            message("the fault '%s %s' cannot be read; README.md of the emulated GPU has the list",
                    *first ? *first : "", count > 1 ? first[1] : "");
    }
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
    size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
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
        snprintf(text, sizeof text, "%s", settings()->faults ? settings()->faults : "");
        read_text(text);
    }
    if (settings()->control && has_changed(settings()->control))
        read_file(settings()->control);
}

/* ---- Failing */

int faults_ioctl(struct device *device, const char *name)
{
    int error = 0;

    for (size_t i = 0; i < device->faults.failure_count; i++) {
        struct ioctl_failure *failure = &device->faults.failures[i];

        if (strcmp(failure->name, "*") != 0 && (!name || strcmp(failure->name, name) != 0))
            continue;
        failure->calls++;
        if (!error && failure->calls >= failure->first && failure->calls - failure->first < failure->times)
            error = failure->error;
    }
    if (error)
        device->statistics.faults++;
    return -error;
}
