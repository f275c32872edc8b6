#define _GNU_SOURCE // RTLD_DEFAULT
#include "CFFmpeg.h"

#include <dlfcn.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cffmpeg_x265_version(void) {
    const char *const *version = dlsym(RTLD_DEFAULT, "x265_version_str");
    return version ? *version : NULL;
}

static _Thread_local char last_error[512];
static _Thread_local const AVClass *last_error_class;

struct cffmpeg_watch {
    atomic_uint error_count, reference_count;
    atomic_int is_amid;
    // The luma of the picture being decoded, kept alive by a reference; none if that is NULL.
    AVBufferRef *picture;
    uint8_t *luma;
    int stride, sample_length, width, height;
};

cffmpeg_watch *cffmpeg_watch_alloc(void) { return calloc(1, sizeof(cffmpeg_watch)); }

void cffmpeg_watch_free(cffmpeg_watch *watch) {
    if (watch) av_buffer_unref(&watch->picture);
    free(watch);
}

unsigned cffmpeg_watch_take_errors(cffmpeg_watch *watch) { return atomic_exchange(&watch->error_count, 0); }

unsigned cffmpeg_watch_take_missing_references(cffmpeg_watch *watch) { return atomic_exchange(&watch->reference_count, 0); }

void cffmpeg_watch_begins_amid(cffmpeg_watch *watch, int is_amid) { atomic_store(&watch->is_amid, is_amid); }

// A pattern that no camera produces: eight samples in the middle of a block.
static const uint8_t mark[8] = {0xf3, 0x04, 0xd9, 0x1b, 0xe6, 0x08, 0xcd, 0x12};
enum { BLOCK = 16, MARK_X = 4, MARK_Y = 8 };

static uint8_t *mark_place(const cffmpeg_watch *watch, int x, int y) {
    return watch->luma + (ptrdiff_t)(y + MARK_Y) * watch->stride + (x + MARK_X) * watch->sample_length;
}

// Removes and counts the remaining marks.
static unsigned take_marks(cffmpeg_watch *watch) {
    unsigned count = 0;
    for (int y = 0; y + BLOCK <= watch->height; y += BLOCK)
        for (int x = 0; x + BLOCK <= watch->width; x += BLOCK) {
            uint8_t *place = mark_place(watch, x, y);
            if (memcmp(place, mark, sizeof mark) != 0) continue;
            memset(place, 0x80, sizeof mark);
            count++;
        }
    return count;
}

static int get_marked_buffer(AVCodecContext *context, AVFrame *frame, int flags) {
    int result = avcodec_default_get_buffer2(context, frame, flags);
    cffmpeg_watch *watch = context->opaque;
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (result < 0 || !frame->buf[0] || !format || format->flags & AV_PIX_FMT_FLAG_HWACCEL) return result;
    // H.264's decoder first creates the frames missing before a picture, H.265's does so afterwards. Pictures
    // that refer to one of those must not find marks there.
    if (watch->picture && context->codec_id != AV_CODEC_ID_H264) return result;
    if (watch->picture) take_marks(watch);
    av_buffer_unref(&watch->picture);
    if (!(watch->picture = av_buffer_ref(frame->buf[0]))) return result;
    watch->luma = frame->data[0];
    watch->stride = frame->linesize[0];
    watch->sample_length = format->comp[0].step;
    watch->width = context->coded_width;
    watch->height = context->coded_height;
    for (int y = 0; y + BLOCK <= watch->height; y += BLOCK)
        for (int x = 0; x + BLOCK <= watch->width; x += BLOCK) memcpy(mark_place(watch, x, y), mark, sizeof mark);
    return result;
}

void cffmpeg_watch_blocks(AVCodecContext *context) { context->get_buffer2 = get_marked_buffer; }

unsigned cffmpeg_watch_take_missing_blocks(cffmpeg_watch *watch) {
    if (!watch->picture) return 0;
    unsigned count = take_marks(watch);
    av_buffer_unref(&watch->picture);
    return count;
}

// libavcodec's messages about a missing reference (h264_refs.c, h264_direct.c, hevc_refs.c).
static const char *const missing_references[] = {
    "Missing reference picture", "reference picture missing during reorder", "co located POCs unavailable",
    "illegal short term buffer state", "Could not find ref with POC",
};

static int begins_with(const char *text, const char *beginning) { return strncmp(text, beginning, strlen(beginning)) == 0; }

// `object` begins with a pointer to its class (libavutil/log.h).
static void count_error(void *object, const char *format) {
    if (!object || *(const AVClass **)object != avcodec_get_class()) return;
    cffmpeg_watch *watch = ((AVCodecContext *)object)->opaque;
    if (!watch) return;
    // The target of memory_management_control_operation 1 is missing, or there is one stand-in frame too many
    // (libavcodec/h264_refs.c). A reference that is needed and missing is a different error.
    if (atomic_load(&watch->is_amid)
        && (begins_with(format, "mmco: unref short failure") || begins_with(format, "number of reference frames"))) return;
    for (size_t i = 0; i < sizeof missing_references / sizeof missing_references[0]; i++)
        if (begins_with(format, missing_references[i])) atomic_fetch_add(&watch->reference_count, 1);
    atomic_fetch_add(&watch->error_count, 1);
}

static void keep(void *object, int level, const char *format, va_list arguments) {
    if (level > AV_LOG_ERROR) return;
    count_error(object, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    last_error[strcspn(last_error, "\n")] = 0;
    last_error_class = object ? *(const AVClass **)object : NULL;
}

void cffmpeg_keep_log(void) { av_log_set_callback(keep); }

const char *cffmpeg_last_error(void) { return last_error; }

const char *cffmpeg_last_error_like(const void *object) {
    return last_error_class == *(const AVClass *const *)object ? last_error : "";
}

void cffmpeg_clear_log(void) { last_error[0] = 0; }
