// The minimum that a libavcodec program needs to encode a file: the baseline for camrec's own cost.
// usage: bare IN.y4m OUT.h264|listen:PORT libx264|h264_vaapi low_power|- [RATE]
// With a RATE, pictures go in at that many a second, as from a camera; otherwise one after another.
// With a PORT it waits for one client, and writes each picture's packet to it, as simple camera programs do.
// Reads 8-bit 4:2:0 YUV4MPEG2 and prints the median time of one picture in the encoder, in milliseconds.
#include <libavcodec/avcodec.h>
#include <libavutil/hwcontext.h>
#include <libavutil/opt.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static void fail(const char *what) {
    fprintf(stderr, "bare: %s failed\n", what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void wait_until(double time) {
    double rest = time - now();
    if (rest > 0) nanosleep(&(struct timespec){rest / 1e3, (long)(rest * 1e6) % 1000000000}, NULL);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void write_packets(AVCodecContext *encoder, AVPacket *packet, FILE *out) {
    while (avcodec_receive_packet(encoder, packet) >= 0) {
        fwrite(packet->data, 1, packet->size, out);
        av_packet_unref(packet);
    }
}

static FILE *open_output(const char *name) {
    int port;
    if (sscanf(name, "listen:%d", &port) != 1) return fopen(name, "wb");
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0) return NULL;
    int client = accept(listener, NULL, NULL);
    FILE *out = client < 0 ? NULL : fdopen(client, "wb");
    if (out) setvbuf(out, NULL, _IONBF, 0);
    return out;
}

// From the file's three planes to the frame's two (NV12) or three.
static int read_picture(FILE *in, AVFrame *frame, unsigned char *chroma) {
    char line[256];
    if (!fgets(line, sizeof line, in)) return 0;
    int width = frame->width, height = frame->height;
    for (int y = 0; y < height; y++)
        if (fread(frame->data[0] + y * frame->linesize[0], 1, width, in) != (size_t)width) return 0;
    size_t length = (size_t)width / 2 * (height / 2);
    if (fread(chroma, 1, 2 * length, in) != 2 * length) return 0;
    for (int y = 0; y < height / 2; y++)
        for (int x = 0; x < width / 2; x++)
            for (int c = 0; c < 2; c++) {
                unsigned char sample = chroma[c * length + (size_t)y * (width / 2) + x];
                if (frame->format == AV_PIX_FMT_NV12)
                    frame->data[1][y * frame->linesize[1] + 2 * x + c] = sample;
                else
                    frame->data[1 + c][y * frame->linesize[1 + c] + x] = sample;
            }
    return 1;
}

int main(int count, char **arguments) {
    if (count < 5) return 64;
    double interval = count > 5 ? 1e3 / atof(arguments[5]) : 0;
    FILE *in = fopen(arguments[1], "rb"), *out = open_output(arguments[2]);
    if (!in || !out) fail("open");
    int width, height, numerator, denominator;
    char header[256];
    if (!fgets(header, sizeof header, in) ||
        sscanf(header, "YUV4MPEG2 W%d H%d F%d:%d", &width, &height, &numerator, &denominator) != 4)
        fail("header");
    int hardware = !strcmp(arguments[3], "h264_vaapi");
    AVCodecContext *encoder = avcodec_alloc_context3(avcodec_find_encoder_by_name(arguments[3]));
    if (!encoder) fail("encoder");
    encoder->width = width;
    encoder->height = height;
    encoder->time_base = (AVRational){denominator, numerator};
    encoder->framerate = (AVRational){numerator, denominator};
    encoder->gop_size = numerator / denominator;
    encoder->max_b_frames = 0;
    encoder->bit_rate = (int64_t)width * height * numerator / denominator / 10;
    encoder->rc_max_rate = encoder->bit_rate * 3 / 2;
    encoder->rc_buffer_size = encoder->rc_max_rate;
    AVBufferRef *device = NULL;
    if (hardware) {
        if (av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VAAPI, "/dev/dri/renderD128", NULL, 0) < 0) fail("device");
        AVBufferRef *frames = av_hwframe_ctx_alloc(device);
        AVHWFramesContext *context = (AVHWFramesContext *)frames->data;
        context->format = AV_PIX_FMT_VAAPI;
        context->sw_format = AV_PIX_FMT_NV12;
        context->width = width;
        context->height = height;
        context->initial_pool_size = 4;
        if (av_hwframe_ctx_init(frames) < 0) fail("frames");
        encoder->hw_frames_ctx = frames;
        encoder->pix_fmt = AV_PIX_FMT_VAAPI;
        av_opt_set(encoder->priv_data, "rc_mode", "VBR", 0);
        av_opt_set(encoder->priv_data, "async_depth", "1", 0);
        if (!strcmp(arguments[4], "low_power")) av_opt_set(encoder->priv_data, "low_power", "1", 0);
    } else {
        encoder->pix_fmt = AV_PIX_FMT_YUV420P;
        encoder->thread_count = 1;
        av_opt_set(encoder->priv_data, "preset", "veryfast", 0);
        av_opt_set(encoder->priv_data, "tune", "zerolatency", 0);
        av_opt_set(encoder->priv_data, "x264-params", "scenecut=0:sliced-threads=0", 0);
    }
    if (avcodec_open2(encoder, NULL, NULL) < 0) fail("avcodec_open2");
    AVFrame *picture = av_frame_alloc(), *surface = av_frame_alloc();
    picture->width = width;
    picture->height = height;
    picture->format = hardware ? AV_PIX_FMT_NV12 : AV_PIX_FMT_YUV420P;
    if (av_frame_get_buffer(picture, 64) < 0) fail("frame");
    unsigned char *chroma = malloc((size_t)width * height / 2);
    AVPacket *packet = av_packet_alloc();
    static double times[100000];
    int pictures = 0;
    double begin = now();
    while (pictures < 100000 && av_frame_make_writable(picture) >= 0 && read_picture(in, picture, chroma)) {
        AVFrame *frame = picture;
        wait_until(begin + pictures * interval);
        double start = now();
        if (hardware) {
            if (av_hwframe_get_buffer(encoder->hw_frames_ctx, surface, 0) < 0) fail("surface");
            if (av_hwframe_transfer_data(surface, picture, 0) < 0) fail("upload");
            frame = surface;
        }
        frame->pts = pictures;
        if (avcodec_send_frame(encoder, frame) < 0) fail("avcodec_send_frame");
        write_packets(encoder, packet, out);
        times[pictures++] = now() - start;
        if (hardware) av_frame_unref(surface);
    }
    avcodec_send_frame(encoder, NULL);
    write_packets(encoder, packet, out);
    qsort(times, pictures, sizeof *times, compare);
    printf("%.3f\n", pictures ? times[pictures / 2] : 0);
    return fclose(out) ? 1 : 0;
}
