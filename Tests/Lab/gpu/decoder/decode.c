/* fakegpu-decode: decodes what an engine of the emulated GPU was given, for one session. Its requests come by standard
 * input, a socket, and the replies go back there. It ends when the socket is closed. */
#include "../source/decoder_protocol.h"
#include "../source/transfer.h"

#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct decoder {
    AVCodecContext *context;
    AVFrame *output; /* taken from libavcodec and not looked at: the order of output is not that of decoding */
    AVFrame *latest; /* what it decodes into: the picture of the latest access unit, or of its first field */
    AVPacket *packet;
    bool is_new;       /* this access unit has got a picture */
    bool awaits_field; /* the one before has, so that this may be its second field */
};

enum { LONGEST_DECODING = 25 /* seconds, after which nobody waits for it any more */ };

/* ---- Decoding */

static int get_buffer(AVCodecContext *context, AVFrame *frame, int flags)
{
    struct decoder *decoder = context->opaque;
    int status = avcodec_default_get_buffer2(context, frame, flags);

    if (status < 0)
        return status;
    decoder->is_new = true;
    av_frame_unref(decoder->latest);
    return av_frame_ref(decoder->latest, frame);
}

static bool open_decoder(struct decoder *decoder, uint32_t codec)
{
    static const enum AVCodecID names[DECODER_CODECS] = {AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MJPEG};
    const AVCodec *found = codec < DECODER_CODECS ? avcodec_find_decoder(names[codec]) : NULL;

    decoder->context = avcodec_alloc_context3(found);
    decoder->output = av_frame_alloc();
    decoder->latest = av_frame_alloc();
    decoder->packet = av_packet_alloc();
    if (!found || !decoder->context || !decoder->output || !decoder->latest || !decoder->packet)
        return false;
    decoder->context->opaque = decoder;
    decoder->context->get_buffer2 = get_buffer;
    decoder->context->thread_count = 1; /* decoded when it is sent */
    decoder->context->flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT;
    return avcodec_open2(decoder->context, found, NULL) == 0;
}

static enum decoder_status decode(struct decoder *decoder, uint8_t *bytes, uint32_t size)
{
    bool is_damaged, is_field = decoder->awaits_field;

    decoder->packet->data = bytes;
    decoder->packet->size = (int)size;
    decoder->is_new = false;
    alarm(LONGEST_DECODING);
    is_damaged = avcodec_send_packet(decoder->context, decoder->packet) < 0;
    while (avcodec_receive_frame(decoder->context, decoder->output) >= 0) {
        is_damaged |= decoder->output->decode_error_flags != 0;
        av_frame_unref(decoder->output);
    }
    alarm(0);
    decoder->awaits_field = decoder->is_new && decoder->context->codec_id == AV_CODEC_ID_H264;
    if (!decoder->latest->buf[0] || (!decoder->is_new && !is_field))
        return DECODER_NOTHING;
    return is_damaged ? DECODER_DAMAGED : DECODER_PICTURE;
}

/* ---- Replies */

static bool write_plane(const AVFrame *frame, unsigned plane, uint32_t width, uint32_t height)
{
    for (uint32_t y = 0; y < height; y++)
        if (!send_all(STDIN_FILENO, frame->data[plane] + (ptrdiff_t)y * frame->linesize[plane], width))
            return false;
    return true;
}

/* Whether the format is one of 8 bits in planes, luma first. */
static bool is_planar(const AVPixFmtDescriptor *format)
{
    if (!format || format->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL))
        return false;
    if (format->nb_components != 1 && !(format->flags & AV_PIX_FMT_FLAG_PLANAR && format->nb_components == 3))
        return false;
    for (int i = 0; i < format->nb_components; i++)
        if (format->comp[i].depth != 8 || format->comp[i].step != 1 || format->comp[i].plane != i)
            return false;
    return true;
}

static bool answer(const struct decoder *decoder, enum decoder_status status)
{
    const AVFrame *frame = decoder->latest;
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    struct decoder_reply reply = {.status = status};
    bool is_possible = status != DECODER_NOTHING && is_planar(format) && frame->width > 0 && frame->height > 0 &&
                       frame->width <= DECODER_LARGEST_SIZE && frame->height <= DECODER_LARGEST_SIZE;

    if (!is_possible) {
        reply.status = DECODER_NOTHING;
        return send_all(STDIN_FILENO, &reply, sizeof reply);
    }
    reply.width = (uint32_t)frame->width;
    reply.height = (uint32_t)frame->height;
    reply.planes = format->nb_components;
    reply.chroma_width = (uint32_t)AV_CEIL_RSHIFT(frame->width, format->log2_chroma_w);
    reply.chroma_height = (uint32_t)AV_CEIL_RSHIFT(frame->height, format->log2_chroma_h);
    if (!send_all(STDIN_FILENO, &reply, sizeof reply) || !write_plane(frame, 0, reply.width, reply.height))
        return false;
    for (unsigned plane = 1; plane < reply.planes; plane++)
        if (!write_plane(frame, plane, reply.chroma_width, reply.chroma_height))
            return false;
    return true;
}

int main(void)
{
    struct decoder decoder = {0};
    struct decoder_request request;

    av_log_set_level(AV_LOG_QUIET);
    while (receive_all(STDIN_FILENO, &request, sizeof request)) {
        uint8_t *bytes;
        bool answered;

        if (request.size > DECODER_LARGEST_UNIT || (!decoder.context && !open_decoder(&decoder, request.codec)))
            return EXIT_FAILURE;
        bytes = malloc((size_t)request.size + AV_INPUT_BUFFER_PADDING_SIZE);
        if (!bytes || !receive_all(STDIN_FILENO, bytes, request.size))
            return EXIT_FAILURE;
        memset(bytes + request.size, 0, AV_INPUT_BUFFER_PADDING_SIZE);
        if (request.codec == DECODER_JPEG)
            av_frame_unref(decoder.latest); /* each is for itself */
        answered = answer(&decoder, decode(&decoder, bytes, request.size));
        free(bytes);
        if (!answered)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
