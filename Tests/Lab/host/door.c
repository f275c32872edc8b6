// Preloaded before the emulated GPU: opening its node never returns, as if a kernel driver could not wake the GPU.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static void stop(const char *path) {
    while (!strcmp(path, "/dev/dri/renderD128")) pause();
}

#define OPEN(name)                                                  \
    int name(const char *path, int flags, ...) {                    \
        int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
        va_list rest;                                               \
        va_start(rest, flags);                                      \
        const int mode = va_arg(rest, int);                         \
        va_end(rest);                                               \
        stop(path);                                                 \
        return next(path, flags, mode);                             \
    }
OPEN(open)
OPEN(open64)
