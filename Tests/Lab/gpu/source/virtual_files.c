#include "virtual_files.h"

#include "descriptors.h"
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    DEVTMPFS_MINOR = 5, /* a device number that files of /dev have */
    FIRST_INODE = 0x226000,
    FOLDER_MODE = 0755,
    TEXT_MODE = 0444,
    LINK_MODE = 0777,
    NODE_MODE = 0666,
};

static const char nodes[] = "/dev/dri", devices[] = "/sys/dev/char/226:", node_prefix[] = "renderD";

/* What a DRM device's folder has: `path` beneath /sys/dev/char/226:MINOR. The first `%` of a text is replaced, see
 * write_text. */
static const struct entry {
    const char *path;
    enum virtual_kind kind;
} entries[] = {
    {"", VIRTUAL_DIRECTORY},
    {"/uevent", VIRTUAL_TEXT},
    {"/device", VIRTUAL_DIRECTORY},
    {"/device/device", VIRTUAL_TEXT},
    {"/device/drm", VIRTUAL_DIRECTORY},
    {"/device/revision", VIRTUAL_TEXT},
    {"/device/subsystem", VIRTUAL_LINK},
    {"/device/subsystem_device", VIRTUAL_TEXT},
    {"/device/subsystem_vendor", VIRTUAL_TEXT},
    {"/device/uevent", VIRTUAL_TEXT},
    {"/device/vendor", VIRTUAL_TEXT},
};

bool virtual_path(const char *path)
{
    size_t length = sizeof nodes - 1;

    if (!path)
        return false;
    if (strncmp(path, nodes, length) == 0 && (path[length] == 0 || path[length] == '/'))
        return true;
    return strncmp(path, devices, sizeof devices - 1) == 0;
}

static void write_text(struct virtual_file *file, const char *path)
{
    const struct model *model = &file->device->model;
    char *text = file->text;
    size_t size = sizeof file->text;

    if (strcmp(path, "/uevent") == 0)
        snprintf(text, size, "MAJOR=%d\nMINOR=%u\nDEVNAME=dri/%s%u\nDEVTYPE=drm_minor\n", DRM_MAJOR,
                 file->device->minor, node_prefix, file->device->minor);
    else if (strcmp(path, "/device/uevent") == 0)
        snprintf(text, size,
                 "DRIVER=%s\nPCI_CLASS=30000\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\nPCI_SLOT_NAME=%s\n",
                 model->driver == DRIVER_I915 ? "i915" : "amdgpu", model->vendor_id, model->device_id, model->vendor_id,
                 model->device_id, file->device->slot);
    else if (strcmp(path, "/device/revision") == 0)
        snprintf(text, size, "0x%02x\n", model->revision);
    else if (strstr(path, "vendor"))
        snprintf(text, size, "0x%04x\n", model->vendor_id);
    else if (strcmp(path, "/device/subsystem") == 0)
        snprintf(text, size, "/sys/bus/pci");
    else
        snprintf(text, size, "0x%04x\n", model->device_id);
}

/* Reads the number at the start of `path`, and leaves `path` after it. */
static struct device *device_of(const char **path)
{
    char *end;
    unsigned long minor;

    if (**path < '0' || **path > '9')
        return NULL;
    minor = strtoul(*path, &end, 10);
    *path = end;
    return minor <= UINT_MAX ? device_with_minor((unsigned)minor) : NULL;
}

/* renderD128, whole. */
static struct device *device_of_node(const char *name)
{
    struct device *device;

    if (strncmp(name, node_prefix, sizeof node_prefix - 1) != 0)
        return NULL;
    name += sizeof node_prefix - 1;
    device = device_of(&name);
    return *name == 0 ? device : NULL;
}

static struct virtual_file find_node(const char *rest)
{
    while (*rest == '/')
        rest++;
    if (!*rest)
        return (struct virtual_file){.kind = device_count() ? VIRTUAL_DIRECTORY : VIRTUAL_NOTHING,
                                     .device = device_at(0)};
    return (struct virtual_file){.kind = device_of_node(rest) ? VIRTUAL_NODE : VIRTUAL_NOTHING,
                                 .device = device_of_node(rest)};
}

struct virtual_file virtual_find(const char *path)
{
    static const char drm[] = "/device/drm/";
    struct virtual_file file = {.kind = VIRTUAL_NOTHING};
    size_t length;

    if (strncmp(path, nodes, sizeof nodes - 1) == 0)
        return find_node(path + sizeof nodes - 1);
    path += sizeof devices - 1;
    file.device = device_of(&path);
    if (!file.device)
        return file;
    length = strlen(path);
    while (length && path[length - 1] == '/')
        length--;
    if (strncmp(path, drm, sizeof drm - 1) == 0 && device_of_node(path + sizeof drm - 1) == file.device)
        file.kind = VIRTUAL_DIRECTORY;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strlen(entries[i].path) == length && strncmp(entries[i].path, path, length) == 0) {
            file.kind = entries[i].kind;
            write_text(&file, entries[i].path);
        }
    }
    return file;
}

void virtual_status(const struct virtual_file *file, struct stat *status)
{
    static const mode_t modes[] = {
        [VIRTUAL_DIRECTORY] = S_IFDIR | FOLDER_MODE,
        [VIRTUAL_TEXT] = S_IFREG | TEXT_MODE,
        [VIRTUAL_LINK] = S_IFLNK | LINK_MODE,
        [VIRTUAL_NODE] = S_IFCHR | NODE_MODE,
    };

    *status =
        (struct stat){.st_mode = modes[file->kind], .st_dev = DEVTMPFS_MINOR, .st_nlink = 1, .st_blksize = PAGE_SIZE};
    status->st_ino = FIRST_INODE + file->device->minor;
    if (file->kind == VIRTUAL_NODE)
        status->st_rdev = makedev(DRM_MAJOR, file->device->minor);
    else
        status->st_size = PAGE_SIZE; /* what sysfs says of its files */
}

static int open_text(const char *text, int flags)
{
    int descriptor = memfd_create("fakegpu-text", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    size_t size = strlen(text);

    if (descriptor < 0)
        return -1;
    if (write(descriptor, text, size) != (ssize_t)size || lseek(descriptor, 0, SEEK_SET) != 0) {
        close(descriptor);
        errno = EIO;
        return -1;
    }
    return descriptor;
}

int virtual_open(const struct virtual_file *file, int flags)
{
    switch (file->kind) {
    case VIRTUAL_NODE:
        return descriptors_open_node(file->device, flags);
    case VIRTUAL_TEXT:
        return open_text(file->text, flags);
    case VIRTUAL_LINK:
    case VIRTUAL_DIRECTORY:
        errno = EACCES; /* folders are listed by opendir and scandir alone */
        return -1;
    case VIRTUAL_NOTHING:
    default:
        errno = ENOENT;
        return -1;
    }
}

static size_t append(struct dirent list[VIRTUAL_ENTRY_LIMIT], size_t count, const char *name, enum virtual_kind kind)
{
    static const unsigned char types[] = {
        [VIRTUAL_DIRECTORY] = DT_DIR, [VIRTUAL_TEXT] = DT_REG, [VIRTUAL_LINK] = DT_LNK, [VIRTUAL_NODE] = DT_CHR};

    if (count == VIRTUAL_ENTRY_LIMIT)
        return count;
    list[count] = (struct dirent){.d_ino = FIRST_INODE + count, .d_type = types[kind], .d_reclen = sizeof *list};
    snprintf(list[count].d_name, sizeof list[count].d_name, "%s", name);
    return count + 1;
}

static size_t append_node(struct dirent list[VIRTUAL_ENTRY_LIMIT], size_t count, const struct device *device,
                          enum virtual_kind kind)
{
    char name[VIRTUAL_NAME_SIZE];

    snprintf(name, sizeof name, "%s%u", node_prefix, device->minor);
    return append(list, count, name, kind);
}

size_t virtual_list(const char *path, struct dirent list[VIRTUAL_ENTRY_LIMIT])
{
    struct virtual_file folder = virtual_find(path);
    size_t count = 0;
    const char *rest = path + sizeof devices - 1;
    size_t length;

    if (strncmp(path, nodes, sizeof nodes - 1) == 0) {
        for (size_t i = 0; i < device_count(); i++)
            count = append_node(list, count, device_at(i), VIRTUAL_NODE);
        return count;
    }
    device_of(&rest);
    length = strlen(rest);
    while (length && rest[length - 1] == '/')
        length--;
    if (strncmp(rest, "/device/drm", length) == 0 && length == strlen("/device/drm"))
        return append_node(list, count, folder.device, VIRTUAL_DIRECTORY);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const char *entry = entries[i].path;

        if (strncmp(entry, rest, length) == 0 && entry[length] == '/' && !strchr(entry + length + 1, '/'))
            count = append(list, count, entry + length + 1, entries[i].kind);
    }
    return count;
}

struct directory {
    struct dirent entries[VIRTUAL_ENTRY_LIMIT];
    size_t count, position;
    struct directory *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct directory *directories;
static atomic_size_t directory_count; /* mostly 0, and then nobody has to look */

void virtual_files_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void virtual_files_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

DIR *virtual_opendir(const char *path)
{
    enum virtual_kind kind = virtual_find(path).kind;
    struct directory *directory;

    if (kind != VIRTUAL_DIRECTORY) {
        errno = kind == VIRTUAL_NOTHING ? ENOENT : ENOTDIR;
        return NULL;
    }
    directory = calloc(1, sizeof *directory);
    if (!directory)
        return NULL;
    directory->count = virtual_list(path, directory->entries);
    pthread_mutex_lock(&mutex);
    directory->next = directories;
    directories = directory;
    directory_count++;
    pthread_mutex_unlock(&mutex);
    return (DIR *)directory;
}

bool virtual_is_directory(DIR *stream)
{
    bool found = false;

    if (!directory_count)
        return false;
    pthread_mutex_lock(&mutex);
    for (const struct directory *directory = directories; directory; directory = directory->next)
        found = found || directory == (const struct directory *)stream;
    pthread_mutex_unlock(&mutex);
    return found;
}

struct dirent *virtual_readdir(DIR *stream)
{
    struct directory *directory = (struct directory *)stream;

    return directory->position < directory->count ? &directory->entries[directory->position++] : NULL;
}

long virtual_telldir(DIR *stream)
{
    return (long)((struct directory *)stream)->position;
}

void virtual_seekdir(DIR *stream, long position)
{
    struct directory *directory = (struct directory *)stream;

    directory->position = position < 0 ? directory->count : (size_t)position;
}

void virtual_closedir(DIR *stream)
{
    struct directory *directory = (struct directory *)stream, **link = &directories;

    pthread_mutex_lock(&mutex);
    while (*link != directory)
        link = &(*link)->next;
    *link = directory->next;
    directory_count--;
    pthread_mutex_unlock(&mutex);
    free(directory);
}
