#define _GNU_SOURCE
#include "Peers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <libavcodec/avcodec.h>
#include <libyuv.h>

int peer_libjpeg(const uint8_t *bytes, size_t count, int width, int height, uint8_t *planes) {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, count);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.raw_data_out = TRUE;
    jpeg_start_decompress(&jpeg);
    uint8_t *chroma = planes + (size_t)width * height;
    size_t chroma_size = (size_t)width / 2 * height;
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW rows[3][DCTSIZE];
        JSAMPARRAY image[3] = {rows[0], rows[1], rows[2]};
        for (int row = 0; row < DCTSIZE; row++) {
            size_t line = jpeg.output_scanline + row;
            rows[0][row] = planes + line * width;
            rows[1][row] = chroma + line * width / 2;
            rows[2][row] = chroma + chroma_size + line * width / 2;
        }
        jpeg_read_raw_data(&jpeg, image, DCTSIZE);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return errors.num_warnings != 0;
}

int peer_libyuv_jpeg(const uint8_t *jpeg, size_t count, int width, int height, uint8_t *nv12) {
    return MJPGToNV12(
        jpeg, count, nv12, width, nv12 + (size_t)width * height, width, width, height, width, height);
}

int peer_libyuv_yuyv(const uint8_t *yuyv, int width, int height, uint8_t *nv12) {
    return YUY2ToNV12(yuyv, 2 * width, nv12, width, nv12 + (size_t)width * height, width, width, height);
}

struct peer_ffmpeg {
    AVCodecContext *decoder;
    AVPacket *packet;
    AVFrame *frame;
    void *scaler;
    int (*scale)(
        void *scaler, const uint8_t *const from[], const int from_strides[], int y, int height,
        uint8_t *const to[], const int to_strides[]);
};

// camrec itself does not depend on libswscale, so it is loaded when the benchmark runs.
static int find_swscale(peer_ffmpeg *state, int width, int height) {
    void *library = NULL;
    for (int version = 9; version >= 5 && !library; version--) {
        char name[32];
        snprintf(name, sizeof name, "libswscale.so.%d", version);
        library = dlopen(name, RTLD_NOW);
    }
    if (!library) return 1;
    void *(*make)(int, int, int, int, int, int, int, void *, void *, const double *) =
        (void *(*)(int, int, int, int, int, int, int, void *, void *, const double *))
            dlsym(library, "sws_getContext");
    *(void **)&state->scale = dlsym(library, "sws_scale");
    if (!make || !state->scale) return 1;
    const int bicubic = 4; // ffmpeg's default
    state->scaler = make(
        width, height, state->frame->format, width, height, AV_PIX_FMT_NV12, bicubic, NULL, NULL, NULL);
    return state->scaler ? 0 : 1;
}

int peer_libavcodec(
    peer_ffmpeg **keep, const uint8_t *jpeg, size_t count, int width, int height, uint8_t *nv12) {
    if (!*keep) {
        peer_ffmpeg *state = *keep = calloc(1, sizeof *state);
        state->decoder = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_MJPEG));
        state->decoder->thread_count = 1;
        state->packet = av_packet_alloc();
        state->frame = av_frame_alloc();
        if (avcodec_open2(state->decoder, NULL, NULL) < 0) return -1;
    }
    peer_ffmpeg *state = *keep;
    // The decoder reads past the end of its input.
    if (av_new_packet(state->packet, count) < 0) return -1;
    memcpy(state->packet->data, jpeg, count);
    int result = avcodec_send_packet(state->decoder, state->packet);
    av_packet_unref(state->packet);
    if (result < 0 || avcodec_receive_frame(state->decoder, state->frame) < 0) return -1;
    if (nv12) {
        if (!state->scaler && find_swscale(state, width, height)) return 1;
        uint8_t *to[4] = {nv12, nv12 + (size_t)width * height};
        int strides[4] = {width, width};
        state->scale(
            state->scaler, (const uint8_t *const *)state->frame->data, state->frame->linesize, 0, height, to,
            strides);
    }
    av_frame_unref(state->frame);
    return 0;
}

size_t peer_memchr_start_codes(const uint8_t *bytes, size_t count) {
    const uint8_t *end = bytes + count, *at = bytes;
    size_t found = 0;
    while ((at = memchr(at, 1, end - at))) {
        if (at - bytes >= 2 && at[-1] == 0 && at[-2] == 0) found++;
        at++;
    }
    return found;
}

size_t peer_memmem_start_codes(const uint8_t *bytes, size_t count) {
    const uint8_t *end = bytes + count, *at = bytes;
    size_t found = 0;
    while ((at = memmem(at, end - at, "\0\0\1", 3))) {
        found++;
        at += 3;
    }
    return found;
}

size_t peer_memchr_count(const uint8_t *bytes, size_t count, uint8_t value) {
    const uint8_t *end = bytes + count, *at = bytes;
    size_t found = 0;
    while ((at = memchr(at, value, end - at))) {
        found++;
        at++;
    }
    return found;
}

size_t peer_libavcodec_access_units(const uint8_t *bytes, size_t count, size_t chunk) {
    AVCodecParserContext *parser = av_parser_init(AV_CODEC_ID_H264);
    AVCodecContext *context = avcodec_alloc_context3(NULL);
    size_t found = 0, position = 0;
    while (parser && context && position <= count) {
        size_t rest = count - position;
        int length = rest < chunk ? rest : chunk;
        uint8_t *unit;
        int unit_length;
        // An empty input means the end of the stream.
        int used = av_parser_parse2(
            parser, context, &unit, &unit_length, bytes + position, length, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
        if (unit_length > 0) found++;
        position += used;
        if (length == 0) break;
    }
    if (parser) av_parser_close(parser);
    avcodec_free_context(&context);
    return found;
}
