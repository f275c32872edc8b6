#include "cabac.h"

enum {
    RANGE_START = 510,
    RANGE_MINIMUM = 256, /* RenormE keeps the range at or above this */
    LOW_HALF = 512,
    LOW_ONE = 1024,
    STATE_COUNT = 64,
    STATE_LAST_ADAPTIVE = 62, /* state 63 is for decisions before termination */
    LARGEST_QP = 51,
    PRE_STATE_MINIMUM = 1,
    PRE_STATE_MAXIMUM = 126,
    PRE_STATE_MIDDLE = 63,
};

/* rangeTabLPS: H.264 Table 9-44, H.265 Table 9-52. */
static const uint8_t range_lps[STATE_COUNT][4] = {
    {128, 176, 208, 240}, {128, 167, 197, 227}, {128, 158, 187, 216}, {123, 150, 178, 205}, {116, 142, 169, 195},
    {111, 135, 160, 185}, {105, 128, 152, 175}, {100, 122, 144, 166}, {95, 116, 137, 158},  {90, 110, 130, 150},
    {85, 104, 123, 142},  {81, 99, 117, 135},   {77, 94, 111, 128},   {73, 89, 105, 122},   {69, 85, 100, 116},
    {66, 80, 95, 110},    {62, 76, 90, 104},    {59, 72, 86, 99},     {56, 69, 81, 94},     {53, 65, 77, 89},
    {51, 62, 73, 85},     {48, 59, 69, 80},     {46, 56, 66, 76},     {43, 53, 63, 72},     {41, 50, 59, 69},
    {39, 48, 56, 65},     {37, 45, 54, 62},     {35, 43, 51, 59},     {33, 41, 48, 56},     {32, 39, 46, 53},
    {30, 37, 43, 50},     {29, 35, 41, 48},     {27, 33, 39, 45},     {26, 31, 37, 43},     {24, 30, 35, 41},
    {23, 28, 33, 39},     {22, 27, 32, 37},     {21, 26, 30, 35},     {20, 24, 29, 33},     {19, 23, 27, 31},
    {18, 22, 26, 30},     {17, 21, 25, 28},     {16, 20, 23, 27},     {15, 19, 22, 25},     {14, 18, 21, 24},
    {14, 17, 20, 23},     {13, 16, 19, 22},     {12, 15, 18, 21},     {12, 14, 17, 20},     {11, 14, 16, 19},
    {11, 13, 15, 18},     {10, 12, 15, 17},     {10, 12, 14, 16},     {9, 11, 13, 15},      {9, 11, 12, 14},
    {8, 10, 12, 14},      {8, 9, 11, 13},       {7, 9, 11, 12},       {7, 9, 10, 12},       {7, 8, 10, 11},
    {6, 8, 9, 11},        {6, 7, 9, 10},        {6, 7, 8, 9},         {2, 2, 2, 2},
};

/* transIdxLps: H.264 Table 9-45, H.265 Table 9-53. */
static const uint8_t next_state_lps[STATE_COUNT] = {
    0,  0,  1,  2,  2,  4,  4,  5,  6,  7,  8,  9,  9,  11, 11, 12, 13, 13, 15, 15, 16, 16,
    18, 18, 19, 19, 21, 21, 22, 22, 23, 24, 24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30,
    31, 32, 32, 33, 33, 33, 34, 34, 35, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38, 63,
};

static struct cabac_context from_pre_state(int pre_state)
{
    if (pre_state < PRE_STATE_MINIMUM)
        pre_state = PRE_STATE_MINIMUM;
    if (pre_state > PRE_STATE_MAXIMUM)
        pre_state = PRE_STATE_MAXIMUM;
    if (pre_state <= PRE_STATE_MIDDLE)
        return (struct cabac_context){.state = (uint8_t)(PRE_STATE_MIDDLE - pre_state), .mps = 0};
    return (struct cabac_context){.state = (uint8_t)(pre_state - PRE_STATE_MIDDLE - 1), .mps = 1};
}

/* Clip3(0, 51, SliceQPY): H.264 9.3.1.1, H.265 9.3.2.2 */
static int clipped(int slice_qp)
{
    return slice_qp < 0 ? 0 : slice_qp > LARGEST_QP ? LARGEST_QP : slice_qp;
}

struct cabac_context cabac_context_h264(int m, int n, int slice_qp)
{
    return from_pre_state(((m * clipped(slice_qp)) >> 4) + n);
}

struct cabac_context cabac_context_h265(unsigned init_value, int slice_qp)
{
    int m = (int)(init_value >> 4) * 5 - 45;
    int n = (int)((init_value & 15) << 3) - 16;

    return from_pre_state(((m * clipped(slice_qp)) >> 4) + n);
}

void cabac_start(struct cabac_encoder *encoder, struct bit_writer *output)
{
    *encoder = (struct cabac_encoder){.output = output, .range = RANGE_START, .first = true};
}

/* PutBit */
static void put_bit(struct cabac_encoder *encoder, bool bit)
{
    if (encoder->first)
        encoder->first = false;
    else
        bits_write_flag(encoder->output, bit);
    for (; encoder->outstanding; encoder->outstanding--)
        bits_write_flag(encoder->output, !bit);
}

/* RenormE */
static void renormalise(struct cabac_encoder *encoder)
{
    while (encoder->range < RANGE_MINIMUM) {
        if (encoder->low < RANGE_MINIMUM) {
            put_bit(encoder, false);
        } else if (encoder->low >= LOW_HALF) {
            encoder->low -= LOW_HALF;
            put_bit(encoder, true);
        } else {
            encoder->low -= RANGE_MINIMUM;
            encoder->outstanding++;
        }
        encoder->range <<= 1;
        encoder->low <<= 1;
    }
}

void cabac_decision(struct cabac_encoder *encoder, struct cabac_context *context, bool bin)
{
    uint32_t lps = range_lps[context->state][encoder->range >> 6 & 3];

    encoder->range -= lps;
    if (bin != (context->mps != 0)) {
        encoder->low += encoder->range;
        encoder->range = lps;
        if (!context->state)
            context->mps ^= 1;
        context->state = next_state_lps[context->state];
    } else if (context->state < STATE_LAST_ADAPTIVE) {
        context->state++;
    }
    renormalise(encoder);
}

void cabac_bypass(struct cabac_encoder *encoder, bool bin)
{
    encoder->low <<= 1;
    if (bin)
        encoder->low += encoder->range;
    if (encoder->low >= LOW_ONE) {
        put_bit(encoder, true);
        encoder->low -= LOW_ONE;
    } else if (encoder->low < LOW_HALF) {
        put_bit(encoder, false);
    } else {
        encoder->low -= LOW_HALF;
        encoder->outstanding++;
    }
}

void cabac_terminate(struct cabac_encoder *encoder, bool bin)
{
    encoder->range -= 2;
    if (!bin) {
        renormalise(encoder);
        return;
    }
    /* EncodeFlush */
    encoder->low += encoder->range;
    encoder->range = 2;
    renormalise(encoder);
    put_bit(encoder, encoder->low >> 9 & 1);
    bits_write(encoder->output, (encoder->low >> 7 & 3) | 1, 2);
}
