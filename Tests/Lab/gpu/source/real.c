#include "real.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct real_functions functions;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* dlsym gives a data pointer, which ISO C does not convert to a function's; POSIX says that the bytes are the same. */
static void find(void *function, const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    memcpy(function, &symbol, sizeof symbol);
}

#define FIND(name) find(&functions.name, #name)

static void find_all(void)
{
    FIND(open);
    FIND(openat);
    FIND(fopen);
    FIND(close);
    FIND(dup);
    FIND(dup2);
    FIND(dup3);
    FIND(fcntl);
    FIND(ioctl);
    FIND(mmap);
    FIND(stat);
    FIND(lstat);
    FIND(fstat);
    FIND(fstatat);
    FIND(statx);
    FIND(access);
    FIND(faccessat);
    FIND(readlink);
    FIND(getxattr);
    FIND(lgetxattr);
    FIND(realpath);
    FIND(opendir);
    FIND(readdir);
    FIND(closedir);
    FIND(scandir);
    FIND(readdir_r);
    FIND(dirfd);
    FIND(rewinddir);
    FIND(telldir);
    FIND(seekdir);
    FIND(glob);
    FIND(getenv);
}

const struct real_functions *real(void)
{
    pthread_once(&once, find_all);
    return &functions;
}
