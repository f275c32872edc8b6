// An encoder with faults on request: a preloaded replacement for libavcodec's avcodec_send_frame, which fails, hangs or
// crashes.
//
// ENCODER_FAULT="FAULT PICTURE", pictures counted from 0 since the program began: "error 30" fails that one alone,
// "hang 30" never returns from it, "crash 30" ends the process with SIGSEGV in the thread that encodes.
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct AVCodecContext;
struct AVFrame;

int avcodec_send_frame(struct AVCodecContext *context, const struct AVFrame *frame) {
    static atomic_int pictures;
    static int (*real)(struct AVCodecContext *, const struct AVFrame *);
    if (!real) real = (int (*)(struct AVCodecContext *, const struct AVFrame *))dlsym(RTLD_NEXT, "avcodec_send_frame");
    const char *fault = getenv("ENCODER_FAULT");
    char name[16];
    int picture;
    // Without a frame the encoder is drained.
    if (frame && fault && sscanf(fault, "%15s %d", name, &picture) == 2 && atomic_fetch_add(&pictures, 1) == picture) {
        fprintf(stderr, "encoder: %s\n", name);
        if (strcmp(name, "error") == 0) return -EIO;
        if (strcmp(name, "crash") == 0) raise(SIGSEGV);
        while (strcmp(name, "hang") == 0) pause();
    }
    return real(context, frame);
}
