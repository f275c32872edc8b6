/* The C library's own functions beneath the interposed ones. */
#ifndef REAL_H
#define REAL_H

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

struct real_functions {
    int (*open)(const char *, int, ...);
    int (*openat)(int, const char *, int, ...);
    FILE *(*fopen)(const char *, const char *);
    int (*close)(int);
    int (*dup)(int);
    int (*dup2)(int, int);
    int (*dup3)(int, int, int);
    int (*fcntl)(int, int, ...);
    int (*ioctl)(int, unsigned long, ...);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*stat)(const char *, struct stat *);
    int (*lstat)(const char *, struct stat *);
    int (*fstat)(int, struct stat *);
    int (*fstatat)(int, const char *, struct stat *, int);
    int (*statx)(int, const char *, int, unsigned, struct statx *);
    int (*access)(const char *, int);
    int (*faccessat)(int, const char *, int, int);
    ssize_t (*readlink)(const char *, char *, size_t);
    ssize_t (*getxattr)(const char *, const char *, void *, size_t);
    ssize_t (*lgetxattr)(const char *, const char *, void *, size_t);
    char *(*realpath)(const char *, char *);
    DIR *(*opendir)(const char *);
    struct dirent *(*readdir)(DIR *);
    int (*closedir)(DIR *);
    int (*scandir)(const char *, struct dirent ***, int (*)(const struct dirent *),
                   int (*)(const struct dirent **, const struct dirent **));
    int (*readdir_r)(DIR *, struct dirent *, struct dirent **);
    int (*dirfd)(DIR *);
    void (*rewinddir)(DIR *);
    long (*telldir)(DIR *);
    void (*seekdir)(DIR *, long);
    int (*glob)(const char *, int, int (*)(const char *, int), glob_t *);
    char *(*getenv)(const char *);
};

/* Found at the first call, from any thread. */
const struct real_functions *real(void);

#endif
