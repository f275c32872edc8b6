// Preloaded: when a recording's first frame comes, its encoder is open, and the first picture goes in and comes out.
//
// Writes lines "NAME SECONDS" of CLOCK_MONOTONIC to the file named by MOMENTS, each name once, "opened" each time.
#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void note(const char *name) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const char *path = getenv("MOMENTS");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    dprintf(file, "%s %lld.%09ld\n", name, (long long)now.tv_sec, now.tv_nsec);
    close(file);
}

static void note_once(atomic_flag *noted, const char *name) {
    if (!atomic_flag_test_and_set(noted)) note(name);
}

__attribute__((constructor)) static void begin(void) { note("began"); }

int ioctl(int descriptor, unsigned long request, ...) {
    static atomic_flag noted = ATOMIC_FLAG_INIT;
    static int (*real)(int, unsigned long, ...);
    if (!real) real = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int result = real(descriptor, request, argument);
    if (result == 0 && request == VIDIOC_DQBUF) note_once(&noted, "frame");
    return result;
}

int avcodec_open2(void *context, const void *codec, void **options) {
    static int (*real)(void *, const void *, void **);
    if (!real) real = (int (*)(void *, const void *, void **))dlsym(RTLD_NEXT, "avcodec_open2");
    int result = real(context, codec, options);
    note("opened");
    return result;
}

int avcodec_send_frame(void *context, const void *frame) {
    static atomic_flag noted = ATOMIC_FLAG_INIT;
    static int (*real)(void *, const void *);
    if (!real) real = (int (*)(void *, const void *))dlsym(RTLD_NEXT, "avcodec_send_frame");
    note_once(&noted, "sent");
    return real(context, frame);
}

int avcodec_receive_packet(void *context, void *packet) {
    static atomic_flag noted = ATOMIC_FLAG_INIT;
    static int (*real)(void *, void *);
    if (!real) real = (int (*)(void *, void *))dlsym(RTLD_NEXT, "avcodec_receive_packet");
    int result = real(context, packet);
    if (result == 0) note_once(&noted, "coded");
    return result;
}
