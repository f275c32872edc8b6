// A disk with faults on request: a FUSE view of a folder, whose writes take time, fail or never return.
//
// usage: disk CONTROL FOLDER MOUNTPOINT     FOLDER is an absolute path; in the foreground, until it is unmounted
//
// CONTROL is a file that is read at each write: "slow BYTES" allows this many bytes a second, "fail" returns EIO from
// everything that changes or flushes a file, "hang" does not answer until CONTROL changes, and anything else is a good
// disk. The kernel's cache is bypassed (direct_io), so that a write takes as long as it would with a full cache.
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static const char *control, *folder;

static void pause_for(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) continue;
}

// Returns the fault's result for a write of this many bytes: 0 or -EIO, after a while.
static int suffer(size_t size) {
    for (;;) {
        char text[64] = "";
        FILE *file = fopen(control, "r");
        if (file) {
            if (!fgets(text, sizeof text, file)) text[0] = 0;
            fclose(file);
        }
        if (strncmp(text, "fail", 4) == 0) return -EIO;
        if (strncmp(text, "slow ", 5) == 0 && atof(text + 5) > 0) pause_for((double)size / atof(text + 5));
        if (strncmp(text, "hang", 4) != 0) return 0;
        pause_for(0.02);
    }
}

static const char *real(const char *path, char *buffer) {
    snprintf(buffer, PATH_MAX, "%s%s", folder, path);
    return buffer;
}
#define REAL(path) real(path, (char[PATH_MAX]){0})
#define RESULT(call) ((call) < 0 ? -errno : 0)

static int disk_getattr(const char *path, struct stat *status, struct fuse_file_info *file) {
    return file ? RESULT(fstat((int)file->fh, status)) : RESULT(lstat(REAL(path), status));
}

static int disk_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *file,
                        enum fuse_readdir_flags flags) {
    (void)offset, (void)file, (void)flags;
    DIR *open = opendir(REAL(path));
    if (!open) return -errno;
    for (struct dirent *entry; (entry = readdir(open));) fill(buffer, entry->d_name, NULL, 0, 0);
    closedir(open);
    return 0;
}

static int disk_create(const char *path, mode_t mode, struct fuse_file_info *file) {
    int fault = suffer(0), descriptor;
    if (fault) return fault;
    if ((descriptor = open(REAL(path), (file->flags & ~O_APPEND) | O_CREAT, mode)) < 0) return -errno;
    file->fh = (uint64_t)descriptor;
    file->direct_io = 1;
    return 0;
}

static int disk_open(const char *path, struct fuse_file_info *file) {
    int descriptor = open(REAL(path), file->flags & ~(O_APPEND | O_CREAT | O_EXCL));
    if (descriptor < 0) return -errno;
    file->fh = (uint64_t)descriptor;
    file->direct_io = 1;
    return 0;
}

static int disk_release(const char *path, struct fuse_file_info *file) {
    (void)path;
    return RESULT(close((int)file->fh));
}

static int disk_read(const char *path, char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)path;
    ssize_t count = pread((int)file->fh, bytes, size, offset);
    return count < 0 ? -errno : (int)count;
}

static int disk_write(const char *path, const char *bytes, size_t size, off_t offset, struct fuse_file_info *file) {
    (void)path;
    int fault = suffer(size);
    if (fault) return fault;
    ssize_t count = pwrite((int)file->fh, bytes, size, offset);
    return count < 0 ? -errno : (int)count;
}

static int disk_fsync(const char *path, int data_only, struct fuse_file_info *file) {
    (void)path, (void)data_only;
    int fault = suffer(0);
    return fault ? fault : RESULT(fdatasync((int)file->fh));
}

static int disk_truncate(const char *path, off_t size, struct fuse_file_info *file) {
    return file ? RESULT(ftruncate((int)file->fh, size)) : RESULT(truncate(REAL(path), size));
}

static int disk_mkdir(const char *path, mode_t mode) {
    int fault = suffer(0);
    return fault ? fault : RESULT(mkdir(REAL(path), mode));
}

static int disk_unlink(const char *path) {
    int fault = suffer(0);
    return fault ? fault : RESULT(unlink(REAL(path)));
}

static int disk_rmdir(const char *path) { return RESULT(rmdir(REAL(path))); }

static int disk_rename(const char *from, const char *to, unsigned flags) {
    int fault = suffer(0);
    return fault ? fault : RESULT(renameat2(AT_FDCWD, REAL(from), AT_FDCWD, REAL(to), flags));
}

static int disk_statfs(const char *path, struct statvfs *status) { return RESULT(statvfs(REAL(path), status)); }

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: disk CONTROL FOLDER MOUNTPOINT\n");
        return 64;
    }
    control = arguments[1], folder = arguments[2];
    static const struct fuse_operations operations = {
        .getattr = disk_getattr, .readdir = disk_readdir, .create = disk_create, .open = disk_open,
        .release = disk_release, .read = disk_read, .write = disk_write, .fsync = disk_fsync,
        .truncate = disk_truncate, .mkdir = disk_mkdir, .unlink = disk_unlink, .rmdir = disk_rmdir,
        .rename = disk_rename, .statfs = disk_statfs,
    };
    char *options[] = {arguments[0], "-f", arguments[3], NULL};
    return fuse_main(3, options, &operations, NULL);
}
