/* The C library's calls through which a program finds and uses a render node, put before the C library's own. */
#include "clock.h"
#include "descriptors.h"
#include "device.h"
#include "drm_core.h"
#include "real.h"
#include "report.h"
#include "settings.h"
#include "virtual_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define INTERPOSED __attribute__((visibility("default")))

/* The C library declares some of these parameters as never null, but a program's mistake is not ours. */
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wnonnull-compare"
#pragma GCC diagnostic ignored "-Wtautological-pointer-compare"
#pragma GCC diagnostic ignored "-Wpointer-bool-conversion"

/* Entry points that no header declares. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
char *__realpath_chk(const char *path, char *resolved, size_t size);
ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t capacity);

static void lock_all(void)
{
    lock();
    virtual_files_lock();
}

static void unlock_all(void)
{
    virtual_files_unlock();
    unlock();
}

static void forked(void)
{
    report_forked();
    descriptors_forked();
    unlock_all();
}

__attribute__((constructor)) static void start(void)
{
    report_start();
    pthread_atfork(lock_all, unlock_all, forked); /* or a lock that another thread held would be held forever */
}

__attribute__((destructor)) static void end(void)
{
    report_end();
}

/* ---- Opening */

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    if (virtual_path(path)) {
        struct virtual_file file = virtual_find(path);

        return virtual_open(&file, flags);
    }
    return folder == AT_FDCWD ? real()->open(path, flags, mode) : real()->openat(folder, path, flags, mode);
}

/* The argument that `open` has with some flags only. */
#define MODE_ARGUMENT(flags)                                                                                           \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) {                                                     \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode = va_arg(arguments, mode_t);                                                                              \
        va_end(arguments);                                                                                             \
    }

INTERPOSED int open(const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

INTERPOSED int open64(const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags)
    return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

INTERPOSED int openat(int folder, const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags)
    return open_at(folder, path, flags, mode);
}

INTERPOSED int openat64(int folder, const char *path, int flags, ...)
{
    MODE_ARGUMENT(flags)
    return open_at(folder, path, flags | O_LARGEFILE, mode);
}

INTERPOSED int __open_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags, 0);
}

INTERPOSED int __open64_2(const char *path, int flags)
{
    return open_at(AT_FDCWD, path, flags | O_LARGEFILE, 0);
}

INTERPOSED FILE *fopen(const char *path, const char *mode)
{
    struct virtual_file file;
    int descriptor;

    if (!virtual_path(path))
        return real()->fopen(path, mode);
    file = virtual_find(path);
    descriptor = virtual_open(&file, strchr(mode, 'e') ? O_CLOEXEC : 0);
    return descriptor < 0 ? NULL : fdopen(descriptor, mode);
}

INTERPOSED FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}

/* ---- Descriptors */

INTERPOSED int close(int descriptor)
{
    return descriptors_close(descriptor);
}

INTERPOSED int dup(int from)
{
    int to = real()->dup(from);

    descriptors_duplicated(from, to);
    return to;
}

INTERPOSED int dup2(int from, int to)
{
    int result = real()->dup2(from, to);

    descriptors_duplicated(from, result);
    return result;
}

INTERPOSED int dup3(int from, int to, int flags)
{
    int result = real()->dup3(from, to, flags);

    descriptors_duplicated(from, result);
    return result;
}

static int duplicate_or_control(int descriptor, int command, void *argument)
{
    int result = real()->fcntl(descriptor, command, argument);

    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        descriptors_duplicated(descriptor, result);
    return result;
}

/* An int or a pointer follows, or nothing: a pointer holds them all in every x86-64 call. */
INTERPOSED int fcntl(int descriptor, int command, ...)
{
    va_list arguments;
    void *argument;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    return duplicate_or_control(descriptor, command, argument);
}

INTERPOSED int fcntl64(int descriptor, int command, ...)
{
    va_list arguments;
    void *argument;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    return duplicate_or_control(descriptor, command, argument);
}

INTERPOSED int ioctl(int descriptor, unsigned long request, ...)
{
    va_list arguments;
    struct file *file;
    void *argument;
    int result;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (!descriptors_is_node(descriptor))
        return real()->ioctl(descriptor, request, argument);
    lock();
    file = descriptors_file(descriptor);
    if (file) {
        file_retain(file); /* another thread may close it while this one waits */
        result = drm_ioctl(file, request, argument);
        file_release(file);
    } else {
        result = -EBADF;
    }
    unlock();
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}

/* ---- Memory */

static void *map(void *address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    uint64_t start = (uint64_t)offset & ((1ULL << MAP_OFFSET_SHIFT) - 1);
    const struct buffer *buffer;
    struct file *file;
    int memory = -1;

    if (!descriptors_is_node(descriptor))
        return real()->mmap(address, size, protection, flags, descriptor, offset);
    lock();
    file = descriptors_file(descriptor);
    buffer = file ? buffer_of(&file->handles, (uint32_t)((uint64_t)offset >> MAP_OFFSET_SHIFT)) : NULL;
    /* i915 maps from the start on alone (drm_vma_offset_exact_lookup); amdgpu from any page. */
    if (buffer && buffer->memory >= 0 && start <= buffer->size && size <= buffer->size - start + PAGE_SIZE - 1 &&
        (!start || file->device->model.driver == DRIVER_AMDGPU))
        memory = buffer->memory;
    address = memory < 0 ? MAP_FAILED : real()->mmap(address, size, protection, flags, memory, (off_t)start);
    unlock();
    if (memory < 0)
        errno = EINVAL;
    return address;
}

INTERPOSED void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset)
{
    return map(address, size, protection, flags, descriptor, offset);
}

INTERPOSED void *mmap64(void *address, size_t size, int protection, int flags, int descriptor, off64_t offset)
{
    return map(address, size, protection, flags, descriptor, offset);
}

/* ---- Status. On x86-64 struct stat64 and struct dirent64 are the same as those without 64. */

static int status_of(const char *path, struct stat *status, bool follow)
{
    struct virtual_file file = virtual_find(path);

    if (file.kind == VIRTUAL_NOTHING) {
        errno = ENOENT;
        return -1;
    }
    if (follow && file.kind == VIRTUAL_LINK)
        return real()->stat(file.text, status);
    virtual_status(&file, status);
    return 0;
}

static int status_of_descriptor(int descriptor, struct stat *status)
{
    struct virtual_file node = {.kind = VIRTUAL_NODE};
    struct file *file;

    if (!descriptors_is_node(descriptor))
        return real()->fstat(descriptor, status);
    lock();
    file = descriptors_file(descriptor);
    node.device = file ? file->device : device_at(0);
    unlock();
    virtual_status(&node, status);
    return 0;
}

INTERPOSED int stat(const char *path, struct stat *status)
{
    return virtual_path(path) ? status_of(path, status, true) : real()->stat(path, status);
}

INTERPOSED int lstat(const char *path, struct stat *status)
{
    return virtual_path(path) ? status_of(path, status, false) : real()->lstat(path, status);
}

INTERPOSED int fstat(int descriptor, struct stat *status)
{
    return status_of_descriptor(descriptor, status);
}

INTERPOSED int fstatat(int folder, const char *path, struct stat *status, int flags)
{
    if (virtual_path(path))
        return status_of(path, status, !(flags & AT_SYMLINK_NOFOLLOW));
    return real()->fstatat(folder, path, status, flags);
}

INTERPOSED int stat64(const char *path, struct stat64 *status)
{
    return stat(path, (struct stat *)status);
}

INTERPOSED int lstat64(const char *path, struct stat64 *status)
{
    return lstat(path, (struct stat *)status);
}

INTERPOSED int fstat64(int descriptor, struct stat64 *status)
{
    return fstat(descriptor, (struct stat *)status);
}

INTERPOSED int fstatat64(int folder, const char *path, struct stat64 *status, int flags)
{
    return fstatat(folder, path, (struct stat *)status, flags);
}

INTERPOSED int statx(int folder, const char *path, int flags, unsigned mask, struct statx *result)
{
    struct stat status;
    bool of_node = (!path || !*path) && flags & AT_EMPTY_PATH && descriptors_is_node(folder);

    if (!virtual_path(path) && !of_node)
        return real()->statx(folder, path, flags, mask, result);
    if (of_node ? status_of_descriptor(folder, &status) : status_of(path, &status, !(flags & AT_SYMLINK_NOFOLLOW)))
        return -1;
    *result = (struct statx){
        .stx_mask = STATX_BASIC_STATS,
        .stx_mode = (uint16_t)status.st_mode,
        .stx_nlink = (uint32_t)status.st_nlink,
        .stx_blksize = (uint32_t)status.st_blksize,
        .stx_size = (uint64_t)status.st_size,
        .stx_ino = status.st_ino,
        .stx_rdev_major = major(status.st_rdev),
        .stx_rdev_minor = minor(status.st_rdev),
        .stx_dev_minor = minor(status.st_dev),
    };
    return 0;
}

static int access_virtual(const char *path)
{
    if (virtual_find(path).kind != VIRTUAL_NOTHING)
        return 0;
    errno = ENOENT;
    return -1;
}

INTERPOSED int access(const char *path, int mode)
{
    return virtual_path(path) ? access_virtual(path) : real()->access(path, mode);
}

INTERPOSED int faccessat(int folder, const char *path, int mode, int flags)
{
    return virtual_path(path) ? access_virtual(path) : real()->faccessat(folder, path, mode, flags);
}

/* Access control lists are in attributes: there are none. */
static ssize_t no_attribute(void)
{
    errno = ENODATA;
    return -1;
}

INTERPOSED ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    return virtual_path(path) ? no_attribute() : real()->getxattr(path, name, value, size);
}

INTERPOSED ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
    return virtual_path(path) ? no_attribute() : real()->lgetxattr(path, name, value, size);
}

/* ---- Links and folders */

INTERPOSED ssize_t readlink(const char *path, char *target, size_t size)
{
    struct virtual_file file;
    size_t length;

    if (!virtual_path(path))
        return real()->readlink(path, target, size);
    file = virtual_find(path);
    if (file.kind != VIRTUAL_LINK) {
        errno = file.kind == VIRTUAL_NOTHING ? ENOENT : EINVAL;
        return -1;
    }
    length = strlen(file.text);
    if (length > size)
        length = size;
    memcpy(target, file.text, length);
    return (ssize_t)length;
}

INTERPOSED ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t capacity)
{
    return readlink(path, target, size < capacity ? size : capacity);
}

INTERPOSED char *realpath(const char *path, char *resolved)
{
    struct virtual_file file;
    const char *result = path;

    if (!virtual_path(path))
        return real()->realpath(path, resolved);
    file = virtual_find(path);
    if (file.kind == VIRTUAL_NOTHING) {
        errno = ENOENT;
        return NULL;
    }
    if (file.kind == VIRTUAL_LINK)
        result = file.text;
    return resolved ? strcpy(resolved, result) : strdup(result);
}

INTERPOSED char *__realpath_chk(const char *path, char *resolved, size_t size)
{
    (void)size; /* PATH_MAX at least, or the program has been stopped already */
    return realpath(path, resolved);
}

INTERPOSED DIR *opendir(const char *path)
{
    return virtual_path(path) ? virtual_opendir(path) : real()->opendir(path);
}

INTERPOSED struct dirent *readdir(DIR *directory)
{
    return virtual_is_directory(directory) ? virtual_readdir(directory) : real()->readdir(directory);
}

INTERPOSED struct dirent64 *readdir64(DIR *directory)
{
    return (struct dirent64 *)readdir(directory);
}

INTERPOSED int closedir(DIR *directory)
{
    if (!virtual_is_directory(directory))
        return real()->closedir(directory);
    virtual_closedir(directory);
    return 0;
}

static int read_next(DIR *directory, struct dirent *entry, struct dirent **result)
{
    const struct dirent *next;

    if (!virtual_is_directory(directory))
        return real()->readdir_r(directory, entry, result);
    next = virtual_readdir(directory);
    *result = next ? entry : NULL;
    if (next)
        *entry = *next;
    return 0;
}

INTERPOSED int readdir_r(DIR *directory, struct dirent *entry, struct dirent **result)
{
    return read_next(directory, entry, result);
}

INTERPOSED int readdir64_r(DIR *directory, struct dirent64 *entry, struct dirent64 **result)
{
    return read_next(directory, (struct dirent *)entry, (struct dirent **)result);
}

INTERPOSED long telldir(DIR *directory)
{
    return virtual_is_directory(directory) ? virtual_telldir(directory) : real()->telldir(directory);
}

INTERPOSED void seekdir(DIR *directory, long position)
{
    if (virtual_is_directory(directory))
        virtual_seekdir(directory, position);
    else
        real()->seekdir(directory, position);
}

INTERPOSED void rewinddir(DIR *directory)
{
    if (virtual_is_directory(directory))
        virtual_seekdir(directory, 0);
    else
        real()->rewinddir(directory);
}

/* There is no descriptor behind such a folder. */
INTERPOSED int dirfd(DIR *directory)
{
    if (!virtual_is_directory(directory))
        return real()->dirfd(directory);
    errno = ENOTSUP;
    return -1;
}

static void *glob_opendir(const char *path)
{
    return opendir(path);
}

static struct dirent *glob_readdir(void *directory)
{
    return readdir(directory);
}

static void glob_closedir(void *directory)
{
    closedir(directory);
}

/* The C library's own, with the folders that are shown here. */
INTERPOSED int glob(const char *pattern, int flags, int (*fails)(const char *, int), glob_t *result)
{
    if (!virtual_path(pattern) || flags & GLOB_ALTDIRFUNC)
        return real()->glob(pattern, flags, fails, result);
    result->gl_opendir = glob_opendir;
    result->gl_readdir = glob_readdir;
    result->gl_closedir = glob_closedir;
    result->gl_stat = stat;
    result->gl_lstat = lstat;
    return real()->glob(pattern, flags | GLOB_ALTDIRFUNC, fails, result);
}

INTERPOSED int glob64(const char *pattern, int flags, int (*fails)(const char *, int), glob64_t *result)
{
    return glob(pattern, flags, fails, (glob_t *)(void *)result);
}

static int scan(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
                int (*compare)(const struct dirent **, const struct dirent **))
{
    struct dirent entries[VIRTUAL_ENTRY_LIMIT];
    size_t count = 0, total;

    if (virtual_find(path).kind != VIRTUAL_DIRECTORY) {
        errno = ENOENT;
        return -1;
    }
    *list = calloc(VIRTUAL_ENTRY_LIMIT, sizeof **list);
    if (!*list)
        return -1;
    total = virtual_list(path, entries);
    for (size_t i = 0; i < total; i++) {
        if (filter && !filter(&entries[i]))
            continue;
        (*list)[count] = malloc(sizeof entries[i]);
        if (!(*list)[count])
            break;
        *(*list)[count++] = entries[i];
    }
    if (compare)
        qsort(*list, count, sizeof **list, (int (*)(const void *, const void *))(void (*)(void))compare);
    return (int)count;
}

INTERPOSED int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
                       int (*compare)(const struct dirent **, const struct dirent **))
{
    return virtual_path(path) ? scan(path, list, filter, compare) : real()->scandir(path, list, filter, compare);
}

INTERPOSED int scandir64(const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
                         int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    return scandir(path, (struct dirent ***)list, (int (*)(const struct dirent *))(void (*)(void))filter,
                   (int (*)(const struct dirent **, const struct dirent **))(void (*)(void))compare);
}

/* ---- The environment. Nothing is added to it: that would move it, and some programs find their arguments by it. */

INTERPOSED char *getenv(const char *name)
{
    char *value = real()->getenv(name);
    const char *ours = value ? NULL : settings_for_drivers(name);
    char *result = value;

    if (ours)
        memcpy(&result, &ours, sizeof result); /* callers do not write to it, but the type does not say so */
    return result;
}
