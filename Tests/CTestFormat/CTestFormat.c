#include "CTestFormat.h"

#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/opt.h>

static void draw(AVFrame *frame, int number) {
    for (int y = 0; y < TEST_HEIGHT; y++)
        for (int x = 0; x < TEST_WIDTH; x++)
            frame->data[0][y * frame->linesize[0] + x] = 16 + (x * 3 + y * 2 + number * 5) % 220;
    for (int plane = 1; plane < 3; plane++)
        for (int y = 0; y < TEST_HEIGHT / 2; y++) memset(frame->data[plane] + y * frame->linesize[plane], 64 + number % 128, TEST_WIDTH / 2);
}

static int hand_on(AVCodecContext *codec, AVPacket *packet, test_packet_handler handler, void *context) {
    int result;
    while ((result = avcodec_receive_packet(codec, packet)) == 0) {
        struct test_packet told = {packet->data, packet->size, packet->pts, packet->dts, packet->flags & AV_PKT_FLAG_KEY};
        handler(context, &told);
        av_packet_unref(packet);
    }
    return result == AVERROR(EAGAIN) || result == AVERROR_EOF ? 0 : result;
}

int test_encode(struct test_encoding encoding, test_packet_handler handler, void *context) {
    const AVCodec *encoder = avcodec_find_encoder_by_name(encoding.is_hevc ? "libx265" : "libx264");
    if (!encoder) return 1;
    AVCodecContext *codec = avcodec_alloc_context3(encoder);
    AVFrame *frame = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    codec->width = TEST_WIDTH;
    codec->height = TEST_HEIGHT;
    codec->pix_fmt = AV_PIX_FMT_YUV420P;
    codec->time_base = (AVRational){1, 30};
    codec->framerate = (AVRational){30, 1};
    codec->gop_size = encoding.keyframe_interval;
    codec->max_b_frames = encoding.b_frames;
    codec->thread_count = 1;
    av_log_set_level(AV_LOG_QUIET);
    av_opt_set(codec->priv_data, "preset", "ultrafast", 0);
    if (encoding.is_hevc)
        av_opt_set(codec->priv_data, "x265-params", "log-level=none:open-gop=0:repeat-headers=1:scenecut=0:pools=none:frame-threads=1:b-adapt=0", 0);
    else
        av_opt_set(codec->priv_data, "x264-params", "scenecut=0:b-adapt=0:b-pyramid=normal", 0);
    int result = avcodec_open2(codec, encoder, NULL);
    frame->format = codec->pix_fmt;
    frame->width = TEST_WIDTH;
    frame->height = TEST_HEIGHT;
    if (result == 0) result = av_frame_get_buffer(frame, 0);
    for (int number = 0; result == 0 && number < encoding.frames; number++) {
        result = av_frame_make_writable(frame);
        if (result != 0) break;
        draw(frame, number);
        frame->pts = number;
        result = avcodec_send_frame(codec, frame);
        if (result == 0) result = hand_on(codec, packet, handler, context);
    }
    if (result == 0) result = avcodec_send_frame(codec, NULL);
    if (result == 0) result = hand_on(codec, packet, handler, context);
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&codec);
    return result;
}

static void describe(const AVStream *stream, struct test_container *container) {
    const AVCodecParameters *parameters = stream->codecpar;
    container->is_hevc = parameters->codec_id == AV_CODEC_ID_HEVC;
    container->tag = parameters->codec_tag;
    container->width = parameters->width;
    container->height = parameters->height;
    container->numerator = stream->time_base.num;
    container->denominator = stream->time_base.den;
    container->extradata_count = FFMIN(parameters->extradata_size, (int)sizeof container->extradata);
    if (parameters->extradata) memcpy(container->extradata, parameters->extradata, container->extradata_count);
    container->color_primaries = parameters->color_primaries;
    container->color_transfer = parameters->color_trc;
    container->color_matrix = parameters->color_space;
    container->color_range = parameters->color_range;
    container->aspect_width = stream->sample_aspect_ratio.num;
    container->aspect_height = stream->sample_aspect_ratio.den;
    const AVDictionaryEntry *encoder = av_dict_get(stream->metadata, "encoder", NULL, 0);
    if (encoder) av_strlcpy(container->encoder, encoder->value, sizeof container->encoder);
}

int test_read(const char *path, unsigned streams, struct test_container *container, test_packet_handler handler, void *context) {
    AVFormatContext *format = NULL;
    int result = avformat_open_input(&format, path, NULL, NULL);
    if (result < 0) return result;
    memset(container, 0, sizeof *container);
    // That is, what the container itself states; a transport stream states little before its first packets.
    if (!strcmp(format->iformat->name, "mpegts")) result = avformat_find_stream_info(format, NULL);
    if (result >= 0 && format->nb_streams == streams) {
        describe(format->streams[0], container);
        AVPacket *packet = av_packet_alloc();
        while (av_read_frame(format, packet) == 0) {
            struct test_packet told = {packet->data, packet->size, packet->pts, packet->dts, packet->flags & AV_PKT_FLAG_KEY};
            if (packet->stream_index == 0) handler(context, &told);
            av_packet_unref(packet);
        }
        av_packet_free(&packet);
    } else if (result >= 0) {
        result = AVERROR_INVALIDDATA;
    }
    avformat_close_input(&format);
    return result < 0 ? result : 0;
}
