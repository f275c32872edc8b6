#include "h265.h"

#include "cabac.h"

#include <stdlib.h>
#include <string.h>

enum {
    INIT_TYPE_COUNT = 3,
    LOG2_BLOCK = 3, /* a cell of the mosaic, and of the maps of what is coded */
    BLOCK = 1 << LOG2_BLOCK,
    DEFAULT_LOG2_CTB = 6,
    LEVEL_SCALE_SHIFT = 4, /* m = 16, flat scaling: 8.6.4.2 */
    DC_GAIN = 64,          /* the transform matrix's first row, 8.6.4.2 */
    LARGEST_COEFFICIENT = 32767,
    LARGEST_QP = 51 + 6 * 2, /* of ten bits */
    GREATER_PREFIX = 4,      /* cRiceParam 0: the unary prefix of coeff_abs_level_remaining, 9.3.3.11 */
};

/* The context variables that are used here, each with its initValue for initType 0 to 2. */
struct contexts {
    struct cabac_context sao_merge, sao_type;
    struct cabac_context split[3], skip[3];
    struct cabac_context part_mode, pred_mode, prev_intra_luma, intra_chroma, merge_index;
    struct cabac_context split_transform[3], cbf_luma[2], cbf_chroma[4];
    struct cabac_context qp_delta;
    /* by cIdx: luma, chroma */
    struct cabac_context transform_skip[2], last_x[2], last_y[2], greater1[2], greater2[2];
};

struct encoder {
    struct cabac_encoder cabac;
    struct contexts contexts;
    const struct h265_slice *slice;
    const struct h265_parameters *parameters;
    const struct picture *picture;
    unsigned log2_ctb, log2_min_cb;
    bool qp_delta_open; /* IsCuQpDeltaCoded is 0 */
    /* CtDepth + 1 of what is coded, 0 of what is not: one an 8x8 block */
    uint8_t *depths;
    uint32_t map_width, map_height;
    /* The decoded picture so far, which intra prediction is made from; only for a mosaic. */
    uint16_t *reconstruction[COMPONENT_COUNT];
};

static void initialise_array(struct cabac_context *contexts, const uint8_t *values, size_t count, int qp)
{
    for (size_t i = 0; i < count; i++)
        contexts[i] = cabac_context_h265(values[i], qp);
}

static void initialise_coding_unit(struct contexts *contexts, unsigned type, int qp)
{
    static const uint8_t sao_merge = 153;                             /* Table 9-5 */
    static const uint8_t sao_type[INIT_TYPE_COUNT] = {200, 185, 160}; /* Table 9-6 */
    /* Table 9-7 */
    static const uint8_t split[INIT_TYPE_COUNT][3] = {{139, 141, 157}, {107, 139, 126}, {107, 139, 126}};

    static const uint8_t skip[3] = {197, 185, 201};                          /* Table 9-9, initType 1 */
    static const uint8_t part_mode[INIT_TYPE_COUNT] = {184, 154, 154};       /* Table 9-11 */
    static const uint8_t pred_mode[INIT_TYPE_COUNT] = {149, 149, 134};       /* Table 9-10 */
    static const uint8_t prev_intra_luma[INIT_TYPE_COUNT] = {184, 154, 183}; /* Table 9-12 */
    static const uint8_t intra_chroma[INIT_TYPE_COUNT] = {63, 152, 152};     /* Table 9-13 */
    static const uint8_t merge_index[INIT_TYPE_COUNT] = {122, 122, 137};     /* Table 9-15 */

    contexts->sao_merge = cabac_context_h265(sao_merge, qp);
    contexts->sao_type = cabac_context_h265(sao_type[type], qp);
    initialise_array(contexts->split, split[type], 3, qp);
    initialise_array(contexts->skip, skip, 3, qp);
    contexts->part_mode = cabac_context_h265(part_mode[type], qp);
    contexts->pred_mode = cabac_context_h265(pred_mode[type], qp);
    contexts->prev_intra_luma = cabac_context_h265(prev_intra_luma[type], qp);
    contexts->intra_chroma = cabac_context_h265(intra_chroma[type], qp);
    contexts->merge_index = cabac_context_h265(merge_index[type], qp);
}

static void initialise_transform_unit(struct contexts *contexts, unsigned type, int qp)
{
    /* Table 9-20 */
    static const uint8_t split_transform[INIT_TYPE_COUNT][3] = {{153, 138, 138}, {124, 138, 94}, {224, 167, 122}};
    /* Tables 9-21 and 9-22 */
    static const uint8_t cbf_luma[INIT_TYPE_COUNT][2] = {{111, 141}, {153, 111}, {153, 111}};
    static const uint8_t cbf_chroma[INIT_TYPE_COUNT][4] = {
        {94, 138, 182, 154}, {149, 107, 167, 154}, {149, 92, 167, 154}};
    static const uint8_t qp_delta = 154;                                                      /* Table 9-24 */
    static const uint8_t transform_skip[2] = {139, 139};                                      /* Table 9-25 */
    static const uint8_t last[INIT_TYPE_COUNT][2] = {{125, 108}, {110, 108}, {110, 108}};     /* Tables 9-26, 9-27 */
    static const uint8_t greater1[INIT_TYPE_COUNT][2] = {{92, 179}, {196, 194}, {196, 208}};  /* Table 9-30 */
    static const uint8_t greater2[INIT_TYPE_COUNT][2] = {{138, 152}, {107, 107}, {107, 107}}; /* Table 9-31 */

    initialise_array(contexts->split_transform, split_transform[type], 3, qp);
    initialise_array(contexts->cbf_luma, cbf_luma[type], 2, qp);
    initialise_array(contexts->cbf_chroma, cbf_chroma[type], 4, qp);
    contexts->qp_delta = cabac_context_h265(qp_delta, qp);
    initialise_array(contexts->transform_skip, transform_skip, 2, qp);
    initialise_array(contexts->last_x, last[type], 2, qp);
    initialise_array(contexts->last_y, last[type], 2, qp);
    initialise_array(contexts->greater1, greater1[type], 2, qp);
    initialise_array(contexts->greater2, greater2[type], 2, qp);
}

/* initType by 9.3.2.2, equation 9-7 */
static unsigned init_type(const struct h265_slice *slice)
{
    if (slice->type == H265_I)
        return 0;
    return slice->cabac_init_flag != (slice->type == H265_B) ? 2 : 1;
}

static void decide(struct encoder *encoder, struct cabac_context *context, bool bin)
{
    cabac_decision(&encoder->cabac, context, bin);
}

/* What is not of this slice is not available: 6.4.1. */
static uint8_t *depth_at(const struct encoder *encoder, uint32_t x, uint32_t y)
{
    return encoder->depths + (size_t)(y >> LOG2_BLOCK) * encoder->map_width + (x >> LOG2_BLOCK);
}

/* Intra DC prediction (8.4.4.2.3 and .5) of a block whose neighbours are substituted as 8.4.4.2.2 says. */
static void predict(const struct encoder *encoder, enum picture_component component, uint32_t x, uint32_t y,
                    unsigned log2, int prediction[BLOCK * BLOCK])
{
    int size = 1 << log2, above[BLOCK], left[BLOCK], sum = size, dc;
    size_t stride = component == LUMA ? encoder->slice->width : encoder->slice->width / 2;
    const uint16_t *block = encoder->reconstruction[component] + y * stride + x;
    unsigned depth = encoder->picture->bit_depth, shift = component == LUMA ? 0 : 1;
    bool has_above = y && *depth_at(encoder, x << shift, (y << shift) - 1);
    bool has_left = x && *depth_at(encoder, (x << shift) - 1, y << shift);

    for (int i = 0; i < size; i++) {
        above[i] = has_above ? block[i - (ptrdiff_t)stride] : 1 << (depth - 1);
        left[i] = has_left ? block[i * (ptrdiff_t)stride - 1] : 1 << (depth - 1);
    }
    for (int i = 0; i < size; i++) {
        if (!has_above && has_left)
            above[i] = left[0];
        if (!has_left && has_above)
            left[i] = above[0];
    }
    for (int i = 0; i < size; i++)
        sum += above[i] + left[i];
    dc = sum >> (log2 + 1);
    for (int i = 0; i < size * size; i++)
        prediction[i] = dc;
    if (component != LUMA)
        return;
    prediction[0] = (left[0] + 2 * dc + above[0] + 2) >> 2;
    for (int i = 1; i < size; i++) {
        prediction[i] = (above[i] + 3 * dc + 2) >> 2;
        prediction[i * size] = (left[i] + 3 * dc + 2) >> 2;
    }
}

/* Qp′Y, Qp′Cb, Qp′Cr: 8.6.1, Table 8-10 */
static int block_qp(const struct encoder *encoder, enum picture_component component)
{
    static const int chroma_qp[14] = {29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37};
    int offset = 6 * ((int)encoder->picture->bit_depth - 8), qp = encoder->slice->qp;

    if (component != LUMA) {
        qp += component == CB ? encoder->parameters->cb_qp_offset : encoder->parameters->cr_qp_offset;
        if (qp > 57)
            qp = 57;
        if (qp < -offset)
            qp = -offset;
        if (qp > 43)
            qp -= 6;
        else if (qp >= 30)
            qp = chroma_qp[qp - 30];
    }
    qp += offset;
    return qp < 0 ? 0 : qp > LARGEST_QP ? LARGEST_QP : qp;
}

/* A scaled DC coefficient (8.6.4.2), then what the inverse transform (8.6.4.2.1) adds to each sample. */
struct quantiser {
    int scale;       /* levelScale[qP % 6] * m << qP / 6 */
    unsigned shift;  /* bdShift of the scaling */
    unsigned second; /* bdShift of the transform's second stage */
};

static struct quantiser quantiser(const struct encoder *encoder, enum picture_component component, unsigned log2)
{
    static const int level_scale[6] = {40, 45, 51, 57, 64, 72}; /* 8.6.4.2 */
    int qp = block_qp(encoder, component);
    unsigned depth = encoder->picture->bit_depth;

    return (struct quantiser){
        .scale = level_scale[qp % 6] << LEVEL_SCALE_SHIFT << (qp / 6),
        .shift = depth + log2 - 5,
        .second = 20 - depth,
    };
}

static int residual_of(const struct quantiser *quantiser, int level)
{
    long coefficient = ((long)level * quantiser->scale + (1 << (quantiser->shift - 1))) >> quantiser->shift;

    if (coefficient > LARGEST_COEFFICIENT)
        coefficient = LARGEST_COEFFICIENT;
    if (coefficient < -LARGEST_COEFFICIENT - 1)
        coefficient = -LARGEST_COEFFICIENT - 1;
    coefficient = (DC_GAIN * coefficient + 64) >> 7;
    return (int)((DC_GAIN * coefficient + (1L << (quantiser->second - 1))) >> quantiser->second);
}

/* Chooses the level of the DC coefficient that brings the block nearest to the input's mean, and reconstructs it. */
static int code_block(struct encoder *encoder, enum picture_component component, uint32_t x, uint32_t y, unsigned log2)
{
    int size = 1 << log2, prediction[BLOCK * BLOCK], sum = 0, level, residual;
    struct quantiser q = quantiser(encoder, component, log2);
    size_t stride = component == LUMA ? encoder->slice->width : encoder->slice->width / 2;
    uint16_t *block = encoder->reconstruction[component] + y * stride + x;
    int largest = (1 << encoder->picture->bit_depth) - 1;
    long wanted;

    predict(encoder, component, x, y, log2, prediction);
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++)
            sum += (int)picture_sample(encoder->picture, component, x + (uint32_t)i, y + (uint32_t)j) -
                   prediction[j * size + i];
    /* The coefficient, in the inverse transform's scale, that adds the mean difference. */
    wanted = sum * (1L << (q.second - 5)) / (size * size);
    level = (int)((wanted * (1L << q.shift) + (wanted < 0 ? -q.scale / 2 : q.scale / 2)) / q.scale);
    residual = level ? residual_of(&q, level) : 0;
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < size; i++) {
            int value = prediction[j * size + i] + residual;

            block[j * (ptrdiff_t)stride + i] = (uint16_t)(value < 0 ? 0 : value > largest ? largest : value);
        }
    }
    return level;
}

/* coeff_abs_level_remaining with cRiceParam 0, 9.3.3.11 */
static void write_remaining(struct encoder *encoder, int value)
{
    int order = 1;

    if (value < GREATER_PREFIX) {
        for (int i = 0; i < value; i++)
            cabac_bypass(&encoder->cabac, true);
        cabac_bypass(&encoder->cabac, false);
        return;
    }
    value -= GREATER_PREFIX;
    for (int i = 0; i < GREATER_PREFIX; i++)
        cabac_bypass(&encoder->cabac, true);
    for (; value >= 1 << order; order++) {
        cabac_bypass(&encoder->cabac, true);
        value -= 1 << order;
    }
    cabac_bypass(&encoder->cabac, false);
    while (order--)
        cabac_bypass(&encoder->cabac, value >> order & 1);
}

/* residual_coding (7.3.8.11) of a block that has a DC coefficient alone */
static void write_residual(struct encoder *encoder, enum picture_component component, int level)
{
    struct contexts *contexts = &encoder->contexts;
    size_t set = component == LUMA ? 0 : 1;
    int magnitude = abs(level);

    if (encoder->parameters->transform_skip_enabled && component != LUMA) /* log2TrafoSize 2 */
        decide(encoder, &contexts->transform_skip[set], false);
    decide(encoder, &contexts->last_x[set], false);
    decide(encoder, &contexts->last_y[set], false);
    decide(encoder, &contexts->greater1[set], magnitude > 1);
    if (magnitude > 1)
        decide(encoder, &contexts->greater2[set], magnitude > 2);
    cabac_bypass(&encoder->cabac, level < 0);
    if (magnitude > 2)
        write_remaining(encoder, magnitude - 3);
}

/* The prediction of an intra coding unit of one part: mpm_idx 1 is DC, since no neighbour is angular. */
static void write_intra_mode(struct encoder *encoder)
{
    decide(encoder, &encoder->contexts.prev_intra_luma, true);
    cabac_bypass(&encoder->cabac, true);
    cabac_bypass(&encoder->cabac, false);
    decide(encoder, &encoder->contexts.intra_chroma, false); /* intra_chroma_pred_mode 4: as luma */
}

static void write_mosaic_unit(struct encoder *encoder, uint32_t x, uint32_t y)
{
    struct contexts *contexts = &encoder->contexts;
    const struct h265_parameters *parameters = encoder->parameters;
    int levels[COMPONENT_COUNT];

    if (encoder->slice->type != H265_I) {
        decide(encoder, &contexts->skip[0], false); /* no neighbour is skipped */
        decide(encoder, &contexts->pred_mode, true);
    }
    decide(encoder, &contexts->part_mode, true); /* PART_2Nx2N */
    write_intra_mode(encoder);
    levels[LUMA] = code_block(encoder, LUMA, x, y, LOG2_BLOCK);
    levels[CB] = code_block(encoder, CB, x / 2, y / 2, LOG2_BLOCK - 1);
    levels[CR] = code_block(encoder, CR, x / 2, y / 2, LOG2_BLOCK - 1);
    if (LOG2_BLOCK <= parameters->log2_max_transform_block && LOG2_BLOCK > parameters->log2_min_transform_block &&
        parameters->max_transform_hierarchy_depth_intra > 0)
        decide(encoder, &contexts->split_transform[5 - LOG2_BLOCK], false);
    decide(encoder, &contexts->cbf_chroma[0], levels[CB] != 0);
    decide(encoder, &contexts->cbf_chroma[0], levels[CR] != 0);
    decide(encoder, &contexts->cbf_luma[1], levels[LUMA] != 0);
    if (!levels[LUMA] && !levels[CB] && !levels[CR])
        return;
    if (parameters->cu_qp_delta_enabled && encoder->qp_delta_open) {
        decide(encoder, &contexts->qp_delta, false); /* cu_qp_delta_abs 0 */
        encoder->qp_delta_open = false;
    }
    for (enum picture_component component = LUMA; component < COMPONENT_COUNT; component++)
        if (levels[component])
            write_residual(encoder, component, levels[component]);
}

/* transform_tree (7.3.8.8) without any coefficient */
static void write_empty_transform_tree(struct encoder *encoder, unsigned log2, unsigned depth)
{
    const struct h265_parameters *parameters = encoder->parameters;
    struct contexts *contexts = &encoder->contexts;
    bool split = log2 > parameters->log2_max_transform_block;

    if (!split && log2 > parameters->log2_min_transform_block &&
        depth < parameters->max_transform_hierarchy_depth_intra)
        decide(encoder, &contexts->split_transform[5 - log2], false);
    if (depth == 0 && log2 > 2) {
        decide(encoder, &contexts->cbf_chroma[depth], false);
        decide(encoder, &contexts->cbf_chroma[depth], false);
    }
    if (!split) {
        decide(encoder, &contexts->cbf_luma[depth == 0], false);
        return;
    }
    for (int i = 0; i < 4; i++)
        write_empty_transform_tree(encoder, log2 - 1, depth + 1);
}

static void write_flat_unit(struct encoder *encoder, unsigned log2)
{
    if (log2 == encoder->log2_min_cb)
        decide(encoder, &encoder->contexts.part_mode, true);
    write_intra_mode(encoder);
    write_empty_transform_tree(encoder, log2, 0);
}

static void mark(struct encoder *encoder, uint32_t x, uint32_t y, unsigned log2, unsigned depth)
{
    uint32_t column = x >> LOG2_BLOCK, row = y >> LOG2_BLOCK, count = 1U << (log2 - LOG2_BLOCK);

    for (uint32_t j = row; j < row + count && j < encoder->map_height; j++)
        for (uint32_t i = column; i < column + count && i < encoder->map_width; i++)
            encoder->depths[(size_t)j * encoder->map_width + i] = (uint8_t)(depth + 1);
}

static void write_coding_unit(struct encoder *encoder, uint32_t x, uint32_t y, unsigned log2, unsigned neighbours)
{
    if (encoder->slice->coding == H265_MOSAIC) {
        write_mosaic_unit(encoder, x, y);
    } else if (encoder->slice->type != H265_I) {
        decide(encoder, &encoder->contexts.skip[neighbours], true);
        decide(encoder, &encoder->contexts.merge_index, false);
    } else {
        write_flat_unit(encoder, log2);
    }
}

/* coding_quadtree, 7.3.8.4 */
static void write_quadtree(struct encoder *encoder, uint32_t x, uint32_t y, unsigned log2, unsigned depth)
{
    uint32_t size = 1U << log2, width = encoder->slice->width, height = encoder->slice->height;
    unsigned left = x ? *depth_at(encoder, x - 1, y) : 0, above = y ? *depth_at(encoder, x, y - 1) : 0;
    bool split = log2 > encoder->log2_min_cb;

    if (x + size <= width && y + size <= height && split) {
        split = encoder->slice->coding == H265_MOSAIC;
        decide(encoder, &encoder->contexts.split[(left > depth + 1) + (above > depth + 1)], split);
    }
    if (encoder->parameters->cu_qp_delta_enabled &&
        log2 + encoder->parameters->diff_cu_qp_delta_depth >= encoder->log2_ctb)
        encoder->qp_delta_open = true;
    if (!split) {
        write_coding_unit(encoder, x, y, log2, (left ? 1U : 0U) + (above ? 1U : 0U));
        mark(encoder, x, y, log2, depth);
        return;
    }
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t part_x = x + (i & 1) * size / 2, part_y = y + (i >> 1) * size / 2;

        if (part_x < width && part_y < height)
            write_quadtree(encoder, part_x, part_y, log2 - 1, depth + 1);
    }
}

/* sao (7.3.8.3): no merging with what is left or above in this slice, no offsets */
static void write_sao(struct encoder *encoder, bool left, bool above)
{
    const struct h265_slice *slice = encoder->slice;

    if (!slice->sao_luma && !slice->sao_chroma)
        return;
    if (left)
        decide(encoder, &encoder->contexts.sao_merge, false);
    if (above)
        decide(encoder, &encoder->contexts.sao_merge, false);
    if (slice->sao_luma)
        decide(encoder, &encoder->contexts.sao_type, false);
    if (slice->sao_chroma)
        decide(encoder, &encoder->contexts.sao_type, false);
}

static bool allocate(struct encoder *encoder)
{
    const struct h265_slice *slice = encoder->slice;
    size_t width = (slice->width + 63) & ~63U, height = (slice->height + 63) & ~63U;

    encoder->map_width = (slice->width + BLOCK - 1) >> LOG2_BLOCK;
    encoder->map_height = (slice->height + BLOCK - 1) >> LOG2_BLOCK;
    encoder->depths = calloc(encoder->map_width, encoder->map_height);
    if (!encoder->depths)
        return false;
    if (slice->coding != H265_MOSAIC)
        return true;
    for (enum picture_component component = LUMA; component < COMPONENT_COUNT; component++) {
        encoder->reconstruction[component] = calloc(width * height, sizeof(uint16_t));
        if (!encoder->reconstruction[component])
            return false;
    }
    return true;
}

static void release(struct encoder *encoder)
{
    for (enum picture_component component = LUMA; component < COMPONENT_COUNT; component++)
        free(encoder->reconstruction[component]);
    free(encoder->depths);
}

bool h265_has_mosaic(const struct h265_parameters *parameters, const struct picture *picture)
{
    return parameters->has_sps && parameters->has_pps && parameters->log2_min_coding_block == LOG2_BLOCK &&
           parameters->bit_depth == picture->bit_depth && picture->luma && picture->chroma && picture->width > 1 &&
           picture->height > 1;
}

bool h265_write_slice_data(struct bit_writer *output, const struct h265_slice *slice,
                           const struct h265_parameters *parameters, const struct picture *picture)
{
    struct encoder encoder = {.slice = slice, .parameters = parameters, .picture = picture};
    uint32_t size, columns, end;

    encoder.log2_ctb = parameters->has_sps ? parameters->log2_coding_tree_block : DEFAULT_LOG2_CTB;
    encoder.log2_min_cb = parameters->has_sps ? parameters->log2_min_coding_block : LOG2_BLOCK;
    size = 1U << encoder.log2_ctb;
    columns = (slice->width + size - 1) / size;
    end = (slice->height + size - 1) / size * columns;
    if (slice->end_block > slice->first_block && slice->end_block < end)
        end = slice->end_block;
    initialise_coding_unit(&encoder.contexts, init_type(slice), slice->qp);
    initialise_transform_unit(&encoder.contexts, init_type(slice), slice->qp);
    if (!allocate(&encoder)) {
        release(&encoder);
        return false;
    }
    cabac_start(&encoder.cabac, output);
    for (uint32_t block = slice->first_block; block < end; block++) {
        uint32_t column = block % columns;

        write_sao(&encoder, column && block > slice->first_block, block >= slice->first_block + columns);
        write_quadtree(&encoder, column * size, block / columns * size, encoder.log2_ctb, 0);
        cabac_terminate(&encoder.cabac, block + 1 == end); /* end_of_slice_segment_flag */
    }
    bits_align(output, false);
    release(&encoder);
    return true;
}
