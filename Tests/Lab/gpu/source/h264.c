#include "h264.h"

#include "cabac.h"

enum {
    /* mb_type: Table 7-11; in P slices 5 more, Table 7-13 */
    MB_TYPE_I_16X16_DC = 3, /* I_16x16_2_0_0: DC prediction, no coded coefficients */
    MB_TYPE_I_PCM = 25,
    MB_TYPE_INTRA_IN_P = 5,
    CABAC_INIT_IDC_COUNT = 3,
};

struct initialisation {
    int8_t m, n;
};

/* The context variables that are used here, by ctxIdx. */
struct contexts {
    struct cabac_context mb_type_i[8];   /* 3 to 10 */
    struct cabac_context mb_skip[3];     /* 11 to 13 */
    struct cabac_context mb_type_p;      /* 14, the prefix */
    struct cabac_context mb_type_p_i;    /* 17, the suffix */
    struct cabac_context mb_qp_delta;    /* 60 */
    struct cabac_context chroma_mode;    /* 64, intra_chroma_pred_mode */
    struct cabac_context coded_block[4]; /* 85 to 88, coded_block_flag of Intra16x16DCLevel */
};

/* Table 9-12, ctxIdx 3 to 10 */
static const struct initialisation mb_type_i[8] = {
    {20, -15}, {2, 54}, {3, 74}, {-28, 127}, {-23, 104}, {-6, 53}, {-1, 54}, {7, 51},
};
/* Table 9-13, ctxIdx 11 to 13, 14 and 17, each for cabac_init_idc 0 to 2 */
static const struct initialisation mb_skip[CABAC_INIT_IDC_COUNT][3] = {
    {{23, 33}, {23, 2}, {21, 0}},
    {{22, 25}, {34, 0}, {16, 0}},
    {{29, 16}, {25, 0}, {14, 0}},
};
static const struct initialisation mb_type_p[CABAC_INIT_IDC_COUNT] = {{1, 9}, {-2, 9}, {-10, 51}};
static const struct initialisation mb_type_p_i[CABAC_INIT_IDC_COUNT] = {{5, 57}, {2, 65}, {26, 16}};
/* Tables 9-16, 9-16 and 9-18, for I slices */
static const struct initialisation mb_qp_delta = {0, 41};
static const struct initialisation chroma_mode = {-9, 83};
static const struct initialisation coded_block[4] = {{-17, 123}, {-12, 115}, {-16, 122}, {-11, 115}};

static struct cabac_context initial(struct initialisation values, int qp)
{
    return cabac_context_h264(values.m, values.n, qp);
}

static void initialise(struct contexts *contexts, const struct h264_slice *slice)
{
    unsigned idc = slice->cabac_init_idc % CABAC_INIT_IDC_COUNT;

    for (size_t i = 0; i < 8; i++)
        contexts->mb_type_i[i] = initial(mb_type_i[i], slice->qp);
    for (size_t i = 0; i < 3; i++)
        contexts->mb_skip[i] = initial(mb_skip[idc][i], slice->qp);
    for (size_t i = 0; i < 4; i++)
        contexts->coded_block[i] = initial(coded_block[i], slice->qp);
    contexts->mb_type_p = initial(mb_type_p[idc], slice->qp);
    contexts->mb_type_p_i = initial(mb_type_p_i[idc], slice->qp);
    contexts->mb_qp_delta = initial(mb_qp_delta, slice->qp);
    contexts->chroma_mode = initial(chroma_mode, slice->qp);
}

/* pcm_sample_luma and pcm_sample_chroma (7.3.5) */
static void write_pcm_samples(struct bit_writer *output, const struct picture *picture, uint32_t column, uint32_t row)
{
    for (enum picture_component component = LUMA; component < COMPONENT_COUNT; component++) {
        uint32_t size = component == LUMA ? H264_MACROBLOCK_SIZE : H264_MACROBLOCK_SIZE / 2;

        for (uint32_t y = row * size; y < (row + 1) * size; y++)
            for (uint32_t x = column * size; x < (column + 1) * size; x++)
                bits_write_byte(output, (uint8_t)picture_sample(picture, component, x, y));
    }
}

static void write_flat_cavlc(struct bit_writer *output)
{
    bits_write_ue(output, MB_TYPE_I_16X16_DC);
    bits_write_ue(output, 0);      /* intra_chroma_pred_mode: DC */
    bits_write_se(output, 0);      /* mb_qp_delta */
    bits_write_flag(output, true); /* coeff_token of Intra16x16DCLevel: no coefficient, Table 9-5 with nC 0 */
}

static void write_cavlc(struct bit_writer *output, const struct h264_slice *slice, const struct picture *picture)
{
    if (slice->predictive && slice->coding == H264_SKIPPED) {
        bits_write_ue(output, slice->count); /* mb_skip_run */
    } else {
        for (uint32_t mb = slice->first; mb < slice->first + slice->count; mb++) {
            if (slice->predictive)
                bits_write_ue(output, 0); /* mb_skip_run */
            if (slice->coding == H264_FLAT) {
                write_flat_cavlc(output);
                continue;
            }
            bits_write_ue(output, MB_TYPE_I_PCM + (slice->predictive ? MB_TYPE_INTRA_IN_P : 0));
            bits_align(output, false); /* pcm_alignment_zero_bit */
            write_pcm_samples(output, picture, mb % slice->width_in_macroblocks, mb / slice->width_in_macroblocks);
        }
    }
    bits_write_flag(output, true); /* rbsp_stop_one_bit */
    bits_align(output, false);
}

/* Intra_16x16 without a residual, by the binarisation of Table 9-36 and the ctxIdx of 9.3.3.1.2. `neighbours`: how many
 * of the macroblocks A and B there are; where one is missing, coded_block_flag's condTerm is 1 (9.3.3.1.1.9). */
static void write_flat_cabac(struct cabac_encoder *encoder, struct contexts *contexts, bool left, bool above)
{
    /* I_NxN is what does not count at the first bin, and no macroblock is that one. */
    cabac_decision(encoder, &contexts->mb_type_i[left + above], true);
    cabac_terminate(encoder, false);                         /* not I_PCM */
    cabac_decision(encoder, &contexts->mb_type_i[3], false); /* CodedBlockPatternLuma 0 */
    cabac_decision(encoder, &contexts->mb_type_i[4], false); /* CodedBlockPatternChroma 0 */
    cabac_decision(encoder, &contexts->mb_type_i[6], true);  /* Intra16x16PredMode 2, DC */
    cabac_decision(encoder, &contexts->mb_type_i[7], false);
    cabac_decision(encoder, &contexts->chroma_mode, false); /* DC */
    cabac_decision(encoder, &contexts->mb_qp_delta, false);
    cabac_decision(encoder, &contexts->coded_block[(left ? 0 : 1) + (above ? 0 : 2)], false);
}

static void write_pcm_cabac(struct cabac_encoder *encoder, struct contexts *contexts, unsigned neighbours,
                            bool predictive)
{
    if (predictive) {
        cabac_decision(encoder, &contexts->mb_skip[neighbours], false);
        cabac_decision(encoder, &contexts->mb_type_p, true);
        cabac_decision(encoder, &contexts->mb_type_p_i, true);
    } else {
        cabac_decision(encoder, &contexts->mb_type_i[neighbours], true);
    }
    cabac_terminate(encoder, true);
    bits_align(encoder->output, false); /* pcm_alignment_zero_bit */
}

static void write_cabac(struct bit_writer *output, const struct h264_slice *slice, const struct picture *picture)
{
    struct contexts contexts;
    struct cabac_encoder encoder;
    uint32_t width = slice->width_in_macroblocks;

    initialise(&contexts, slice);
    bits_align(output, true); /* cabac_alignment_one_bit */
    cabac_start(&encoder, output);
    for (uint32_t i = 0; i < slice->count; i++) {
        uint32_t mb = slice->first + i;
        bool left = mb % width && i >= 1, above = i >= width; /* available: of the same slice */

        if (slice->predictive && slice->coding == H264_SKIPPED) {
            cabac_decision(&encoder, &contexts.mb_skip[0], true); /* the neighbours are skipped, too */
        } else if (slice->coding == H264_FLAT) {
            write_flat_cabac(&encoder, &contexts, left, above);
        } else {
            write_pcm_cabac(&encoder, &contexts, (unsigned)left + above, slice->predictive);
            write_pcm_samples(output, picture, mb % width, mb / width);
            cabac_start(&encoder, output);
        }
        cabac_terminate(&encoder, i + 1 == slice->count); /* end_of_slice_flag */
    }
    bits_align(output, false);
}

void h264_write_slice_data(struct bit_writer *output, const struct h264_slice *slice, const struct picture *picture)
{
    if (slice->cabac)
        write_cabac(output, slice, picture);
    else
        write_cavlc(output, slice, picture);
}
