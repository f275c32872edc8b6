/* Encodes H.264 through libva in several threads at once, each with a session and pictures of its own.
 *
 * usage: sessions [-t THREADS] [-n PICTURES] [-s SLICES] [-w WIDTH] [-h HEIGHT] [-1] FOLDER
 *
 * Thread N (0, 1, …) encodes pictures that are 16 N samples wider, with CAVLC where N is odd and else with CABAC. It
 * leaves FOLDER/N-WIDTHxHEIGHT.h264 and the pictures that it encoded, NV12, in the .raw beside it. With -1 the threads
 * share a VADisplay. WIDTH and HEIGHT are multiples of 16.
 *
 * Written for the emulated GPU's tests: ffmpeg 5.1 encodes in one thread, and with some drivers it makes one slice a
 * picture or one a row of macroblocks. */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <va/va.h>
#include <va/va_drm.h>
#include <va/va_enc_h264.h>

enum {
    MACROBLOCK = 16,
    QP = 26,
    MOST_SLICES = 64,
    MOST_THREADS = 64,
    HEADER_SIZE = 256,
    NAL_SLICE = 1,
    NAL_IDR = 5,
    NAL_SPS = 7,
    NAL_PPS = 8,
    PROFILE_MAIN_IDC = 77,
    LEVEL_4_IDC = 40,
    SLICE_P = 5, /* and all other slices of the picture are of this type, too: Table 7-6 */
    SLICE_I = 7,
    LOG2_MAX_FRAME_NUM = 8,
    LOG2_MAX_PIC_ORDER_CNT = 8,
};

struct options {
    unsigned threads, pictures, slices, width, height;
    bool one_display;
    const char *folder;
};

struct session {
    const struct options *options;
    unsigned number, width, height;
    bool cabac;
    VADisplay display;
    VAEntrypoint entrypoint;
    VAConfigID config;
    VAContextID context;
    VASurfaceID input, reconstructed[2];
    VABufferID coded;
    bool packed;
    uint32_t random;
    FILE *stream, *source;
};

static void check(VAStatus status, const char *what)
{
    if (status == VA_STATUS_SUCCESS)
        return;
    fprintf(stderr, "sessions: %s: %s\n", what, vaErrorStr(status));
    exit(1);
}

/* A header's bits, most significant first. None of these headers has 22 zeros in a row, so they need no emulation
 * prevention, and are given to the driver as if they had it: the engine must leave the start codes in them alone. */
struct bits {
    uint8_t bytes[HEADER_SIZE];
    unsigned count;
};

static void put(struct bits *bits, uint32_t value, unsigned count)
{
    while (count--) {
        if (bits->count / 8 >= HEADER_SIZE)
            abort();
        if (value >> count & 1)
            bits->bytes[bits->count / 8] |= 0x80 >> bits->count % 8;
        bits->count++;
    }
}

static void put_ue(struct bits *bits, uint32_t value)
{
    unsigned length = 32 - (unsigned)__builtin_clz(value + 1);
    put(bits, 0, length - 1);
    put(bits, value + 1, length);
}

static void put_nal(struct bits *bits, unsigned reference, unsigned type)
{
    put(bits, 1, 32);
    put(bits, reference << 5 | type, 8);
}

static void put_trailing(struct bits *bits)
{
    put(bits, 1, 1);
    while (bits->count % 8)
        put(bits, 0, 1);
}

static struct bits parameter_sets(const struct session *session)
{
    struct bits bits = {0};
    put_nal(&bits, 3, NAL_SPS);
    put(&bits, PROFILE_MAIN_IDC, 8);
    put(&bits, 0, 8); /* constraint flags */
    put(&bits, LEVEL_4_IDC, 8);
    put_ue(&bits, 0); /* seq_parameter_set_id */
    put_ue(&bits, LOG2_MAX_FRAME_NUM - 4);
    put_ue(&bits, 0); /* pic_order_cnt_type */
    put_ue(&bits, LOG2_MAX_PIC_ORDER_CNT - 4);
    put_ue(&bits, 1); /* max_num_ref_frames */
    put(&bits, 0, 1); /* gaps_in_frame_num_value_allowed_flag */
    put_ue(&bits, session->width / MACROBLOCK - 1);
    put_ue(&bits, session->height / MACROBLOCK - 1);
    put(&bits, 1, 1); /* frame_mbs_only_flag */
    put(&bits, 1, 1); /* direct_8x8_inference_flag */
    put(&bits, 0, 1); /* frame_cropping_flag */
    put(&bits, 0, 1); /* vui_parameters_present_flag */
    put_trailing(&bits);
    put_nal(&bits, 3, NAL_PPS);
    put_ue(&bits, 0);              /* pic_parameter_set_id */
    put_ue(&bits, 0);              /* seq_parameter_set_id */
    put(&bits, session->cabac, 1); /* entropy_coding_mode_flag */
    put(&bits, 0, 1);              /* bottom_field_pic_order_in_frame_present_flag */
    put_ue(&bits, 0);              /* num_slice_groups_minus1 */
    put_ue(&bits, 0);              /* num_ref_idx_l0_default_active_minus1 */
    put_ue(&bits, 0);              /* num_ref_idx_l1_default_active_minus1 */
    put(&bits, 0, 1);              /* weighted_pred_flag */
    put(&bits, 0, 2);              /* weighted_bipred_idc */
    put_ue(&bits, 0);              /* pic_init_qp_minus26 */
    put_ue(&bits, 0);              /* pic_init_qs_minus26 */
    put_ue(&bits, 0);              /* chroma_qp_index_offset */
    put(&bits, 1, 1);              /* deblocking_filter_control_present_flag */
    put(&bits, 0, 1);              /* constrained_intra_pred_flag */
    put(&bits, 0, 1);              /* redundant_pic_cnt_present_flag */
    put_trailing(&bits);
    return bits;
}

static struct bits slice_header(const struct session *session, unsigned picture, unsigned first_macroblock)
{
    struct bits bits = {0};
    bool idr = picture == 0;
    put_nal(&bits, idr ? 3 : 1, idr ? NAL_IDR : NAL_SLICE);
    put_ue(&bits, first_macroblock);
    put_ue(&bits, idr ? SLICE_I : SLICE_P);
    put_ue(&bits, 0); /* pic_parameter_set_id */
    put(&bits, picture % (1 << LOG2_MAX_FRAME_NUM), LOG2_MAX_FRAME_NUM);
    if (idr)
        put_ue(&bits, 0); /* idr_pic_id */
    put(&bits, 2 * picture % (1 << LOG2_MAX_PIC_ORDER_CNT), LOG2_MAX_PIC_ORDER_CNT);
    if (idr) {
        put(&bits, 0, 2); /* no_output_of_prior_pics_flag, long_term_reference_flag */
    } else {
        put(&bits, 0, 1); /* num_ref_idx_active_override_flag */
        put(&bits, 0, 1); /* ref_pic_list_modification_flag_l0 */
        put(&bits, 0, 1); /* adaptive_ref_pic_marking_mode_flag */
        if (session->cabac)
            put_ue(&bits, 0); /* cabac_init_idc */
    }
    put_ue(&bits, 0); /* slice_qp_delta */
    put_ue(&bits, 1); /* disable_deblocking_filter_idc */
    return bits;
}

static VABufferID buffer(struct session *session, VABufferType type, size_t size, void *data)
{
    VABufferID id;
    check(vaCreateBuffer(session->display, session->context, type, (unsigned)size, 1, data, &id), "vaCreateBuffer");
    return id;
}

static unsigned add_packed(struct session *session, VABufferID *ids, VAEncPackedHeaderType type, struct bits *bits)
{
    VAEncPackedHeaderParameterBuffer header = {.type = type, .bit_length = bits->count, .has_emulation_bytes = 1};
    if (!session->packed)
        return 0;
    ids[0] = buffer(session, VAEncPackedHeaderParameterBufferType, sizeof header, &header);
    ids[1] = buffer(session, VAEncPackedHeaderDataBufferType, (bits->count + 7) / 8, bits->bytes);
    return 2;
}

static VAPictureH264 picture_of(VASurfaceID surface, unsigned picture)
{
    return (VAPictureH264){
        .picture_id = surface,
        .frame_idx = picture,
        .flags = surface == VA_INVALID_SURFACE ? VA_PICTURE_H264_INVALID : VA_PICTURE_H264_SHORT_TERM_REFERENCE,
        .TopFieldOrderCnt = (int)(2 * picture),
        .BottomFieldOrderCnt = (int)(2 * picture),
    };
}

static VABufferID sequence(struct session *session)
{
    VAEncSequenceParameterBufferH264 sequence = {
        .level_idc = LEVEL_4_IDC,
        .intra_period = session->options->pictures,
        .intra_idr_period = session->options->pictures,
        .ip_period = 1,
        .max_num_ref_frames = 1,
        .picture_width_in_mbs = (uint16_t)(session->width / MACROBLOCK),
        .picture_height_in_mbs = (uint16_t)(session->height / MACROBLOCK),
        .time_scale = 50,
        .num_units_in_tick = 1,
    };
    sequence.seq_fields.bits.chroma_format_idc = 1;
    sequence.seq_fields.bits.frame_mbs_only_flag = 1;
    sequence.seq_fields.bits.direct_8x8_inference_flag = 1;
    sequence.seq_fields.bits.log2_max_frame_num_minus4 = LOG2_MAX_FRAME_NUM - 4;
    sequence.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = LOG2_MAX_PIC_ORDER_CNT - 4;
    return buffer(session, VAEncSequenceParameterBufferType, sizeof sequence, &sequence);
}

static VABufferID picture_parameters(struct session *session, unsigned picture)
{
    VAEncPictureParameterBufferH264 parameters = {
        .CurrPic = picture_of(session->reconstructed[picture % 2], picture),
        .coded_buf = session->coded,
        .frame_num = (uint16_t)picture,
        .pic_init_qp = QP,
    };
    for (unsigned i = 0; i < sizeof parameters.ReferenceFrames / sizeof *parameters.ReferenceFrames; i++)
        parameters.ReferenceFrames[i] = picture_of(VA_INVALID_SURFACE, 0);
    if (picture > 0)
        parameters.ReferenceFrames[0] = picture_of(session->reconstructed[(picture - 1) % 2], picture - 1);
    parameters.pic_fields.bits.idr_pic_flag = picture == 0;
    parameters.pic_fields.bits.reference_pic_flag = 1;
    parameters.pic_fields.bits.entropy_coding_mode_flag = session->cabac;
    parameters.pic_fields.bits.deblocking_filter_control_present_flag = 1;
    return buffer(session, VAEncPictureParameterBufferType, sizeof parameters, &parameters);
}

static VABufferID slice(struct session *session, unsigned picture, unsigned first, unsigned count)
{
    VAEncSliceParameterBufferH264 parameters = {
        .macroblock_address = first,
        .num_macroblocks = count,
        .macroblock_info = VA_INVALID_ID,
        .slice_type = (picture == 0 ? SLICE_I : SLICE_P) % 5,
        .pic_order_cnt_lsb = (uint16_t)(2 * picture % (1 << LOG2_MAX_PIC_ORDER_CNT)),
        .disable_deblocking_filter_idc = 1,
    };
    for (unsigned i = 0; i < sizeof parameters.RefPicList0 / sizeof *parameters.RefPicList0; i++)
        parameters.RefPicList0[i] = parameters.RefPicList1[i] = picture_of(VA_INVALID_SURFACE, 0);
    if (picture > 0)
        parameters.RefPicList0[0] = picture_of(session->reconstructed[(picture - 1) % 2], picture - 1);
    return buffer(session, VAEncSliceParameterBufferType, sizeof parameters, &parameters);
}

/* Fills the input surface with noise, and keeps a copy. */
static void upload(struct session *session)
{
    unsigned width = session->width, height = session->height;
    VAImageFormat format = {.fourcc = VA_FOURCC_NV12, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 12};
    VAImage image;
    uint8_t *pixels;
    check(vaCreateImage(session->display, &format, (int)width, (int)height, &image), "vaCreateImage");
    check(vaMapBuffer(session->display, image.buf, (void **)&pixels), "vaMapBuffer of an image");
    for (unsigned y = 0; y < height * 3 / 2; y++) {
        uint8_t *row = y < height ? pixels + image.offsets[0] + y * image.pitches[0]
                                  : pixels + image.offsets[1] + (y - height) * image.pitches[1];
        for (unsigned x = 0; x < width; x++) {
            session->random ^= session->random << 13; /* Marsaglia's xorshift */
            session->random ^= session->random >> 17;
            session->random ^= session->random << 5;
            row[x] = (uint8_t)session->random;
        }
        fwrite(row, 1, width, session->source);
    }
    check(vaUnmapBuffer(session->display, image.buf), "vaUnmapBuffer of an image");
    check(vaPutImage(session->display, session->input, image.image_id, 0, 0, width, height, 0, 0, width, height),
          "vaPutImage");
    check(vaDestroyImage(session->display, image.image_id), "vaDestroyImage");
}

static void write_coded(struct session *session)
{
    VACodedBufferSegment *segment;
    check(vaSyncSurface(session->display, session->input), "vaSyncSurface");
    check(vaMapBuffer(session->display, session->coded, (void **)&segment), "vaMapBuffer of the coded buffer");
    for (; segment; segment = segment->next)
        fwrite(segment->buf, 1, segment->size, session->stream);
    check(vaUnmapBuffer(session->display, session->coded), "vaUnmapBuffer of the coded buffer");
}

static void encode(struct session *session, unsigned picture)
{
    VABufferID ids[4 + 3 * MOST_SLICES];
    unsigned count = 0, columns = session->width / MACROBLOCK, rows = session->height / MACROBLOCK;
    unsigned height = (rows + session->options->slices - 1) / session->options->slices;

    upload(session);
    if (picture == 0) {
        struct bits sets = parameter_sets(session);
        ids[count++] = sequence(session);
        count += add_packed(session, ids + count, VAEncPackedHeaderSequence, &sets);
    }
    ids[count++] = picture_parameters(session, picture);
    for (unsigned row = 0; row < rows; row += height) {
        struct bits header = slice_header(session, picture, row * columns);
        unsigned end = row + height < rows ? row + height : rows;
        count += add_packed(session, ids + count, VAEncPackedHeaderSlice, &header);
        ids[count++] = slice(session, picture, row * columns, (end - row) * columns);
    }
    check(vaBeginPicture(session->display, session->context, session->input), "vaBeginPicture");
    check(vaRenderPicture(session->display, session->context, ids, (int)count), "vaRenderPicture");
    check(vaEndPicture(session->display, session->context), "vaEndPicture");
    write_coded(session);
    for (unsigned i = 0; i < count; i++)
        check(vaDestroyBuffer(session->display, ids[i]), "vaDestroyBuffer");
}

static VADisplay open_display(void)
{
    int file = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC), major, minor;
    VADisplay display = file < 0 ? NULL : vaGetDisplayDRM(file);
    if (!display) {
        perror("sessions: /dev/dri/renderD128");
        exit(1);
    }
    vaSetInfoCallback(display, NULL, NULL);
    check(vaInitialize(display, &major, &minor), "vaInitialize");
    return display;
}

static bool has_entrypoint(VADisplay display, VAEntrypoint wanted)
{
    VAEntrypoint found[32];
    int count = 0;
    if (vaMaxNumEntrypoints(display) > (int)(sizeof found / sizeof *found))
        return false;
    check(vaQueryConfigEntrypoints(display, VAProfileH264Main, found, &count), "vaQueryConfigEntrypoints");
    for (int i = 0; i < count; i++)
        if (found[i] == wanted)
            return true;
    return false;
}

static void open_session(struct session *session)
{
    VAConfigAttrib attributes[] = {
        {.type = VAConfigAttribRTFormat, .value = VA_RT_FORMAT_YUV420},
        {.type = VAConfigAttribRateControl, .value = VA_RC_CQP},
        {.type = VAConfigAttribEncPackedHeaders},
    };
    VADisplay display = session->display;
    VASurfaceID surfaces[3];

    session->entrypoint =
        has_entrypoint(display, VAEntrypointEncSliceLP) ? VAEntrypointEncSliceLP : VAEntrypointEncSlice;
    check(vaGetConfigAttributes(display, VAProfileH264Main, session->entrypoint, attributes + 2, 1),
          "vaGetConfigAttributes");
    session->packed =
        attributes[2].value != VA_ATTRIB_NOT_SUPPORTED && attributes[2].value & VA_ENC_PACKED_HEADER_SLICE;
    attributes[2].value = VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_SLICE;
    check(vaCreateConfig(display, VAProfileH264Main, session->entrypoint, attributes, session->packed ? 3 : 2,
                         &session->config),
          "vaCreateConfig");
    check(vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, session->width, session->height, surfaces, 3, NULL, 0),
          "vaCreateSurfaces");
    session->input = surfaces[0];
    session->reconstructed[0] = surfaces[1];
    session->reconstructed[1] = surfaces[2];
    check(vaCreateContext(display, session->config, (int)session->width, (int)session->height, VA_PROGRESSIVE, surfaces,
                          3, &session->context),
          "vaCreateContext");
    session->coded = buffer(session, VAEncCodedBufferType, (size_t)session->width * session->height * 3 + 65536, NULL);
}

static void close_session(struct session *session)
{
    VASurfaceID surfaces[3] = {session->input, session->reconstructed[0], session->reconstructed[1]};
    check(vaDestroyBuffer(session->display, session->coded), "vaDestroyBuffer");
    check(vaDestroyContext(session->display, session->context), "vaDestroyContext");
    check(vaDestroySurfaces(session->display, surfaces, 3), "vaDestroySurfaces");
    check(vaDestroyConfig(session->display, session->config), "vaDestroyConfig");
}

static FILE *create(const struct session *session, const char *extension)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%u-%ux%u.%s", session->options->folder, session->number, session->width,
             session->height, extension);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void *run(void *argument)
{
    struct session *session = argument;
    bool own = !session->display;
    if (own)
        session->display = open_display();
    session->random = 1 + session->number;
    session->width = session->options->width + MACROBLOCK * session->number;
    session->height = session->options->height;
    session->cabac = session->number % 2 == 0;
    session->stream = create(session, "h264");
    session->source = create(session, "raw");
    open_session(session);
    for (unsigned picture = 0; picture < session->options->pictures; picture++)
        encode(session, picture);
    close_session(session);
    if (own)
        vaTerminate(session->display);
    if (fclose(session->stream) || fclose(session->source)) {
        perror("sessions: writing");
        exit(1);
    }
    return NULL;
}

int main(int count, char **words)
{
    struct options options = {.threads = 1, .pictures = 6, .slices = 1, .width = 320, .height = 240};
    struct session sessions[MOST_THREADS] = {0};
    pthread_t threads[MOST_THREADS];
    int option;

    while ((option = getopt(count, words, "t:n:s:w:h:1")) != -1)
        switch (option) {
        case 't':
            options.threads = (unsigned)atoi(optarg);
            break;
        case 'n':
            options.pictures = (unsigned)atoi(optarg);
            break;
        case 's':
            options.slices = (unsigned)atoi(optarg);
            break;
        case 'w':
            options.width = (unsigned)atoi(optarg);
            break;
        case 'h':
            options.height = (unsigned)atoi(optarg);
            break;
        case '1':
            options.one_display = true;
            break;
        default:
            return 64;
        }
    options.folder = words[optind];
    if (!options.folder || options.threads < 1 || options.threads > MOST_THREADS || options.slices < 1 ||
        options.slices > MOST_SLICES) {
        fprintf(stderr, "usage: sessions [-t THREADS] [-n PICTURES] [-s SLICES] [-w WIDTH] [-h HEIGHT] [-1] FOLDER\n");
        return 64;
    }
    VADisplay shared = options.one_display ? open_display() : NULL;
    for (unsigned i = 0; i < options.threads; i++) {
        sessions[i] = (struct session){.options = &options, .number = i, .display = shared};
        if (pthread_create(&threads[i], NULL, run, &sessions[i]))
            abort();
    }
    for (unsigned i = 0; i < options.threads; i++)
        pthread_join(threads[i], NULL);
    if (shared)
        vaTerminate(shared);
    return 0;
}
