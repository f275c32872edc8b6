// libavcodec and libavutil as Swift sees them: macros as constants, and the log, whose callback takes a
// va_list, kept for error messages instead of printed.
#ifndef CFFMPEG_H
#define CFFMPEG_H

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavutil/error.h>
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vaapi.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>

enum {
    CFFMPEG_AGAIN = AVERROR(EAGAIN),
    CFFMPEG_END_OF_FILE = AVERROR_EOF,
    CFFMPEG_OUT_OF_MEMORY = AVERROR(ENOMEM),
};

// From here on libav's messages are kept a thread instead of printed. Call it before any other use.
void cffmpeg_keep_log(void);

// The calling thread's last message of severity error or worse since the last cffmpeg_clear_log, without
// its newline; an empty string where there was none. Valid until the thread's next libav call.
const char *cffmpeg_last_error(void);

void cffmpeg_clear_log(void);

#endif
