#include "dma_buf.h"

#include "real.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>

#include <drm.h>
#include <drm_mode.h>

static const char *path;
static int card = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_card(void)
{
    card = real()->open(path, O_RDWR | O_CLOEXEC);
}

int dma_buf_create(const char *node, uint64_t size)
{
    struct drm_mode_create_dumb dumb = {.width = (uint32_t)size, .height = 1, .bpp = 8};
    struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR, .fd = -1};
    struct drm_gem_close closing = {0};

    if (size > UINT32_MAX) {
        errno = ENOMEM;
        return -1;
    }
    path = node;
    pthread_once(&once, open_card);
    if (real()->ioctl(card, DRM_IOCTL_MODE_CREATE_DUMB, &dumb))
        return -1;
    prime.handle = closing.handle = dumb.handle;
    if (real()->ioctl(card, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
        prime.fd = -1;
    real()->ioctl(card, DRM_IOCTL_GEM_CLOSE, &closing);
    return prime.fd;
}
