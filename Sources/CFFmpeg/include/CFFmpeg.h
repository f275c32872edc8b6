// libavcodec and libavutil for Swift: macros as constants, and the log, whose callback takes a va_list, kept
// for error messages instead of printed.
//
// libavutil's header for VA-API includes libva's. To the Swift compiler their names belong to CFFmpeg or CVAAPI, whichever it
// loads first: files that use them import both.
#ifndef CFFMPEG_H
#define CFFMPEG_H

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavutil/base64.h>
#include <libavutil/cpu.h>
#include <libavutil/error.h>
#include <libavutil/hash.h>
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_vaapi.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>

#include "Format.h"

enum {
    CFFMPEG_AGAIN = AVERROR(EAGAIN),
    CFFMPEG_END_OF_FILE = AVERROR_EOF,
    CFFMPEG_OUT_OF_MEMORY = AVERROR(ENOMEM),
    CFFMPEG_INVALID_DATA = AVERROR_INVALIDDATA,
};
static const int64_t CFFMPEG_NO_TIME = AV_NOPTS_VALUE;

// The version of the libx265 that libavcodec has loaded, such as "3.5+1-f0c1022b6"; NULL if it has none.
const char *cffmpeg_x265_version(void);

// From here on, libav's messages are kept per thread instead of printed. Call it before any other use.
void cffmpeg_keep_log(void);

// The calling thread's last message of severity error or worse since the last cffmpeg_clear_log, without its
// newline; an empty string if there was none. Valid until the thread's next libav call.
const char *cffmpeg_last_error(void);

// The same, if it came from an object with the class of `object` (libavutil/log.h); otherwise an empty string.
const char *cffmpeg_last_error_like(const void *object);

void cffmpeg_clear_log(void);

// Watches a decoder for problems that libavcodec does not return.
typedef struct cffmpeg_watch cffmpeg_watch;

// Set it as the `opaque` of one decoder's context, and free it after the context. NULL if out of memory.
cffmpeg_watch *cffmpeg_watch_alloc(void);
void cffmpeg_watch_free(cffmpeg_watch *watch);

// How often something of severity error or worse was logged for the context, on any of its threads, since the
// last call. libavcodec reports damaged slices and missing reference pictures in no other way.
unsigned cffmpeg_watch_take_errors(cffmpeg_watch *watch);

// How many of these reported a missing reference picture.
unsigned cffmpeg_watch_take_missing_references(cffmpeg_watch *watch);

// Whether decoding began in the middle of a stream: missing references to earlier pictures are then not errors.
void cffmpeg_watch_begins_amid(cffmpeg_watch *watch, int is_amid);

// Marks each picture's buffer before decoding, block by block, to find blocks that no slice covers: libavcodec
// does not report them. Call it before the context is opened, for software decoding of frames, not fields.
void cffmpeg_watch_blocks(AVCodecContext *context);

// The number of 16x16 blocks not written in the picture decoded since the last call; 0 if there was none.
unsigned cffmpeg_watch_take_missing_blocks(cffmpeg_watch *watch);

#endif
