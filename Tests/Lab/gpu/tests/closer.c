/* A library that opens the node when it is loaded and closes it in its destructor. */
#include <fcntl.h>
#include <unistd.h>

static int node = -1;

__attribute__((constructor)) static void start(void)
{
    node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
}

__attribute__((destructor)) static void end(void)
{
    close(node);
}
