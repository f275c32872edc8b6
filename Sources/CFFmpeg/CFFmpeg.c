#include "CFFmpeg.h"

#include <libavutil/log.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[512];

static void keep(void *object, int level, const char *format, va_list arguments) {
    (void)object;
    if (level > AV_LOG_ERROR) return;
    vsnprintf(last_error, sizeof last_error, format, arguments);
    last_error[strcspn(last_error, "\n")] = 0;
}

void cffmpeg_keep_log(void) { av_log_set_callback(keep); }

const char *cffmpeg_last_error(void) { return last_error; }

void cffmpeg_clear_log(void) { last_error[0] = 0; }
