// Preloaded: what a recording spends on a picture, the encoder's share apart.
//
// Writes "MICROSECONDS-WITHOUT-THE-ENCODER ENCODER'S" to the file named by ENCODER_SHARE: means of the pictures from
// number FIRST to LAST, of processor time in the whole process. In a guest that counts instructions, a microsecond is a
// thousand of them. It wraps libx264, which must run in one thread.
#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { FIRST = 15, LAST = 60 };

static double spent(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void write_shares(double process, double encoder) {
    const char *path = getenv("ENCODER_SHARE");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    int pictures = LAST - FIRST;
    dprintf(file, "%.0f %.0f\n", (process - encoder) / pictures, encoder / pictures);
    close(file);
}

int x264_encoder_encode(void *encoder, void *units, int *count, void *in, void *out) {
    static int (*real)(void *, void *, int *, void *, void *);
    static double begun, coding;
    static int number;
    if (!real) real = (int (*)(void *, void *, int *, void *, void *))dlsym(RTLD_NEXT, "x264_encoder_encode");
    if (number == FIRST) begun = spent(CLOCK_PROCESS_CPUTIME_ID);
    if (number == LAST) write_shares(spent(CLOCK_PROCESS_CPUTIME_ID) - begun, coding);
    double entered = spent(CLOCK_THREAD_CPUTIME_ID);
    int result = real(encoder, units, count, in, out);
    if (number >= FIRST && number < LAST) coding += spent(CLOCK_THREAD_CPUTIME_ID) - entered;
    number++;
    return result;
}
