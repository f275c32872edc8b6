#define _GNU_SOURCE // statx, O_PATH, O_TMPFILE, F_OFD_SETLK, RENAME_NOREPLACE
#include "Files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static int result(int called) { return called < 0 ? -errno : called; }

static int64_t nanoseconds(struct statx_timestamp time) { return time.tv_sec * 1000000000LL + time.tv_nsec; }

int files_read_facts(int folder, const char *name, struct files_facts *facts) {
    struct statx found;
    if (statx(folder, name, AT_SYMLINK_NOFOLLOW | (*name || folder == AT_FDCWD ? 0 : AT_EMPTY_PATH), STATX_BASIC_STATS | STATX_BTIME, &found) != 0) return -errno;
    facts->mode = found.stx_mode;
    facts->size = (int64_t)found.stx_size;
    facts->inode = found.stx_ino;
    facts->birth = found.stx_mask & STATX_BTIME ? nanoseconds(found.stx_btime) : 0;
    facts->modification = nanoseconds(found.stx_mtime);
    return 0;
}

int files_open_path(int folder, const char *name, int flags) {
    return result(openat(folder, name, O_PATH | O_CLOEXEC | flags));
}

int files_open_unnamed(int folder, mode_t mode) {
    return result(openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
}

int files_rename_new(int folder, const char *from, const char *to) {
    return result(renameat2(folder, from, folder, to, RENAME_NOREPLACE));
}

bool files_lock_for_writing(int descriptor) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES)) return true;
    // Any reader can take a read lock, so only a write lock counts.
    return fcntl(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_WRLCK;
}

bool files_is_locked_for_writing(int descriptor) {
    // What would keep a reader from locking it is a writer's lock.
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
}

bool files_is_process_folder(int folder) {
    struct statfs status;
    return fstatfs(folder, &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

uint32_t files_system_type(int descriptor) {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 ? (uint32_t)status.f_type : 0;
}
