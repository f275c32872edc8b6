#include "CFFmpeg.h"

#include <libavutil/log.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_error[512];

struct cffmpeg_error_count {
    atomic_uint value;
};

cffmpeg_error_count *cffmpeg_error_count_alloc(void) { return calloc(1, sizeof(cffmpeg_error_count)); }

void cffmpeg_error_count_free(cffmpeg_error_count *count) { free(count); }

unsigned cffmpeg_error_count_take(cffmpeg_error_count *count) { return atomic_exchange(&count->value, 0); }

// `object` begins with a pointer to its class (libavutil/log.h).
static void count_error(void *object) {
    if (!object || *(const AVClass **)object != avcodec_get_class()) return;
    cffmpeg_error_count *count = ((AVCodecContext *)object)->opaque;
    if (count) atomic_fetch_add(&count->value, 1);
}

static void keep(void *object, int level, const char *format, va_list arguments) {
    if (level > AV_LOG_ERROR) return;
    count_error(object);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    last_error[strcspn(last_error, "\n")] = 0;
}

void cffmpeg_keep_log(void) { av_log_set_callback(keep); }

const char *cffmpeg_last_error(void) { return last_error; }

void cffmpeg_clear_log(void) { last_error[0] = 0; }
