#include "Vector.h"

static inline int32_t weighted(const struct color_weights *weights, int32_t red, int32_t green, int32_t blue) {
    return red * weights->red + green * weights->green + blue * weights->blue;
}

static inline void convert_columns(
    const struct color_rgb *rgb, struct color_rows rows, int start, int width, struct color_target target
) {
    const struct color_layout layout = rgb->layout;
    for (int x = start; x < width; x += 2) {
        int32_t red = 0, green = 0, blue = 0;
        for (int row = 0; row < 2; row++) {
            const uint8_t *const source = row ? rows.lower : rows.upper;
            uint8_t *const luma = row ? target.lower : target.upper;
            for (int column = x; column < x + 2; column++) {
                const uint8_t *pixel = source + (column < width ? column : width - 1) * layout.bytes_per_pixel;
                const int32_t r = pixel[layout.red], g = pixel[layout.green], b = pixel[layout.blue];
                if (column < width) luma[column] = clamped((weighted(&rgb->luma, r, g, b) + rgb->luma.bias) >> 15);
                red += r;
                green += g;
                blue += b;
            }
        }
        const int block = x / 2 * target.chroma_step;
        // Full-range chroma reaches 255.5, which is clipped.
        target.cb[block] = clamped((weighted(&rgb->cb, red, green, blue) + rgb->cb.bias * 4) >> 17);
        target.cr[block] = clamped((weighted(&rgb->cr, red, green, blue) + rgb->cr.bias * 4) >> 17);
    }
}

#if defined(__x86_64__)
// Four pixels a half, of 12 or 16 bytes.
AVX2 static inline __m256i load_eight(const uint8_t *pixels, int bytes_per_pixel) {
    const __m128i low = _mm_loadu_si128((const __m128i *)pixels);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), _mm_loadu_si128((const __m128i *)(pixels + 4 * bytes_per_pixel)), 1);
}

struct shuffles {
    __m256i red_green, blue, blocks;
};

AVX2 static struct shuffles make_shuffles(struct color_layout layout) {
    int8_t red_green[16], blue[16], blocks[16];
    for (int index = 0; index < 16; index++) red_green[index] = blue[index] = blocks[index] = -1;
    for (int pixel = 0; pixel < 4; pixel++) {
        const int start = pixel * layout.bytes_per_pixel;
        red_green[4 * pixel] = (int8_t)(start + layout.red);
        red_green[4 * pixel + 2] = (int8_t)(start + layout.green);
        blue[4 * pixel] = (int8_t)(start + layout.blue);
        // Red and green of two blocks, then blue of both.
        const int place = pixel / 2 * 4 + pixel % 2;
        blocks[place] = (int8_t)(start + layout.red);
        blocks[place + 2] = (int8_t)(start + layout.green);
        blocks[place + 8] = (int8_t)(start + layout.blue);
    }
    struct shuffles result;
    result.red_green = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)red_green));
    result.blue = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)blue));
    result.blocks = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)blocks));
    return result;
}

// Luma of eight pixels, 32 bits each.
AVX2 static inline __m256i luma_of(__m256i pixels, struct shuffles shuffles, __m256i red_green, __m256i blue, __m256i bias) {
    const __m256i sum = _mm256_add_epi32(
        _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, shuffles.red_green), red_green),
        _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, shuffles.blue), blue));
    return _mm256_srai_epi32(_mm256_add_epi32(sum, bias), 15);
}

// A chroma sample of eight blocks, 32 bits each: in the lower half blocks 0, 1, 4 and 5, in the upper the others.
AVX2 static inline __m256i chroma_of(__m256i first, __m256i second, __m256i weights, __m256i bias) {
    const __m256i one = _mm256_madd_epi16(first, weights), other = _mm256_madd_epi16(second, weights);
    const __m256i sum = _mm256_add_epi32(_mm256_unpacklo_epi64(one, other), _mm256_unpackhi_epi64(one, other));
    return _mm256_srai_epi32(_mm256_add_epi32(sum, bias), 17);
}

AVX2 static inline __m256i block_weights(struct color_weights weights) {
    const __m256i red_green = pairs(weights.red, weights.green), blue = pairs(weights.blue, 0);
    return _mm256_unpacklo_epi64(red_green, blue);
}

AVX2 static int convert_avx2(const struct color_rgb *rgb, struct color_rows rows, int start, int width, struct color_target target) {
    const struct shuffles shuffles = make_shuffles(rgb->layout);
    const int size = rgb->layout.bytes_per_pixel;
    const __m256i red_green = pairs(rgb->luma.red, rgb->luma.green), blue = pairs(rgb->luma.blue, 0);
    const __m256i bias = _mm256_set1_epi32(rgb->luma.bias), ones = _mm256_set1_epi8(1);
    const __m256i cb_weights = block_weights(rgb->cb), cr_weights = block_weights(rgb->cr);
    const __m256i cb_bias = _mm256_set1_epi32(rgb->cb.bias * 4), cr_bias = _mm256_set1_epi32(rgb->cr.bias * 4);
    // Words that alternate from both halves, and the samples of a block side by side or apart.
    const __m256i rows_in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m128i alternating = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, -1, -1, -1, -1, -1, -1, -1, -1);
    int x = start;
    // The last load reads four bytes beyond the sixteen pixels if they have three bytes each.
    for (; x + 16 + (size == 3 ? 2 : 0) <= width; x += 16) {
        __m256i luma[2], blocks[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (int row = 0; row < 2; row++) {
            const uint8_t *const pixels = (row ? rows.lower : rows.upper) + x * size;
            const __m256i first = load_eight(pixels, size), second = load_eight(pixels + 8 * size, size);
            luma[row] = _mm256_packs_epi32(
                luma_of(first, shuffles, red_green, blue, bias), luma_of(second, shuffles, red_green, blue, bias));
            blocks[0] = _mm256_add_epi16(blocks[0], _mm256_maddubs_epi16(_mm256_shuffle_epi8(first, shuffles.blocks), ones));
            blocks[1] = _mm256_add_epi16(blocks[1], _mm256_maddubs_epi16(_mm256_shuffle_epi8(second, shuffles.blocks), ones));
        }
        const __m256i both = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(luma[0], luma[1]), rows_in_order);
        _mm_storeu_si128((__m128i *)(target.upper + x), _mm256_castsi256_si128(both));
        _mm_storeu_si128((__m128i *)(target.lower + x), _mm256_extracti128_si256(both, 1));

        const __m256i words = _mm256_packs_epi32(
            chroma_of(blocks[0], blocks[1], cb_weights, cb_bias), chroma_of(blocks[0], blocks[1], cr_weights, cr_bias));
        const __m256i bytes = _mm256_packus_epi16(words, words);
        const __m128i lower = _mm256_castsi256_si128(bytes), upper = _mm256_extracti128_si256(bytes, 1);
        if (target.chroma_step == 2) {
            _mm_storeu_si128(
                (__m128i *)(target.cb + x), _mm_unpacklo_epi32(_mm_shuffle_epi8(lower, alternating), _mm_shuffle_epi8(upper, alternating)));
        } else {
            const __m128i planes = _mm_unpacklo_epi16(lower, upper);
            _mm_storel_epi64((__m128i *)(target.cb + x / 2), planes);
            _mm_storel_epi64((__m128i *)(target.cr + x / 2), _mm_unpackhi_epi64(planes, planes));
        }
    }
    return x;
}

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vnni")))

// A weight as 256 times a signed byte and another signed byte.
struct halves {
    __m512i high, low;
};

// Of red, green and blue in the bytes of each word.
AVX512 static struct halves halves_of(struct color_weights weights) {
    const int32_t all[3] = {weights.red, weights.green, weights.blue};
    uint32_t high = 0, low = 0;
    for (int index = 0; index < 3; index++) {
        const int8_t rest = (int8_t)all[index];
        low |= (uint32_t)(uint8_t)rest << 8 * index;
        high |= (uint32_t)(uint8_t)((all[index] - rest) / 256) << 8 * index;
    }
    return (struct halves){_mm512_set1_epi32((int32_t)high), _mm512_set1_epi32((int32_t)low)};
}

// Brings sixteen pixels into words of red, green, blue and a byte that does not count.
AVX512 static __m512i make_spread(struct color_layout layout) {
    uint8_t places[64];
    for (int pixel = 0; pixel < 16; pixel++) {
        const int start = pixel * layout.bytes_per_pixel;
        places[4 * pixel] = (uint8_t)(start + layout.red);
        places[4 * pixel + 1] = (uint8_t)(start + layout.green);
        places[4 * pixel + 2] = places[4 * pixel + 3] = (uint8_t)(start + layout.blue);
    }
    return _mm512_loadu_si512(places);
}

// Luma of sixteen pixels, 32 bits each, times 2^15.
AVX512 static inline __m512i luma_of_sixteen(__m512i pixels, struct halves weights, __m512i bias) {
    const __m512i high = _mm512_dpbusd_epi32(_mm512_setzero_si512(), pixels, weights.high);
    return _mm512_add_epi32(_mm512_slli_epi32(high, 8), _mm512_dpbusd_epi32(bias, pixels, weights.low));
}

// The quarters of each 64 bits that get the luma of two pixels: of sixteen pixels in 32 bits each, times 2^15.
AVX512 static inline __m512i with_luma(__m512i others, __mmask64 quarter, __m512i pixels) {
    const __m512i places = _mm512_set1_epi16(15 | (15 + 32) << 8);
    return _mm512_mask_multishift_epi64_epi8(others, quarter, places, pixels);
}

// The upper row's first and second sixteen pixels, and the lower row's.
#define QUARTER(index) (0x0303030303030303ULL << 2 * (index))

// Cb and Cr of eight blocks, 32 bits each, from the sums of red, green and blue, 16 bits each, and a zero.
AVX512 static inline __m512i chroma_of_eight(__m512i sums, __m512i weights, __m512i swapped_weights, __m512i bias) {
    const __m512i swapped = _mm512_shuffle_epi32(sums, _MM_PERM_CDAB);
    return _mm512_srai_epi32(_mm512_dpwssd_epi32(_mm512_dpwssd_epi32(bias, sums, weights), swapped, swapped_weights), 17);
}

AVX512 static inline __m512i pairs_of(int16_t first, int16_t second, int16_t third, int16_t fourth) {
    const uint32_t low = (uint16_t)first | (uint32_t)(uint16_t)second << 16, high = (uint16_t)third | (uint32_t)(uint16_t)fourth << 16;
    return _mm512_set1_epi64((int64_t)(low | (uint64_t)high << 32));
}

// The upper row's 32 pixels, then the lower row's, from the quarters.
AVX512 static __m512i make_luma_order(void) {
    uint8_t places[64];
    for (int index = 0; index < 64; index++) {
        const int quarter = index / 16, pixel = index % 16;
        places[index] = (uint8_t)(pixel / 2 * 8 + quarter * 2 + pixel % 2);
    }
    return _mm512_loadu_si512(places);
}

// Whether no colour has luma beyond a byte, so that none needs to be clipped.
static int has_whole_luma(struct color_weights luma) {
    return luma.red >= 0 && luma.green >= 0 && luma.blue >= 0 && luma.bias >= 0
        && (luma.red + luma.green + luma.blue) * 255 + luma.bias < 256 << 15;
}

AVX512 static int convert_avx512(const struct color_rgb *rgb, struct color_rows rows, int width, struct color_target target) {
    const int size = rgb->layout.bytes_per_pixel;
    const __mmask64 sixteen = size == 4 ? ~0ULL : (1ULL << 48) - 1;
    const __m512i spread = make_spread(rgb->layout), ones = _mm512_set1_epi8(1);
    const struct halves luma_weights = halves_of(rgb->luma);
    const __m512i luma_bias = _mm512_set1_epi32(rgb->luma.bias);
    // Red and green for Cb next to blue for Cr, and the other way round.
    const __m512i chroma_weights = pairs_of(rgb->cb.red, rgb->cb.green, rgb->cr.blue, 0);
    const __m512i swapped_weights = pairs_of(rgb->cb.blue, 0, rgb->cr.red, rgb->cr.green);
    const __m512i chroma_bias = _mm512_set1_epi64((int64_t)((uint32_t)rgb->cb.bias * 4 | (uint64_t)((uint32_t)rgb->cr.bias * 4) << 32));
    // Two pixels' red, green and blue side by side.
    const __m512i side_by_side = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 1, 5, 2, 6, -1, -1, 8, 12, 9, 13, 10, 14, -1, -1));
    const __m512i luma_order = make_luma_order();
    const uintptr_t ahead = 2 * ((uintptr_t)rows.lower - (uintptr_t)rows.upper);
    const __m512i chroma_order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m256i even_then_odd = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
    int x = 0;
    for (; x + 32 <= width; x += 32) {
        __m512i luma = _mm512_setzero_si512(), sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
#define CONVERT_ROW(source, first_quarter, second_quarter)                                                                       \
    do {                                                                                                                         \
        read_ahead((source), ahead);                                                                                             \
        read_ahead((source), ahead + 64);                                                                                        \
        const __m512i first = _mm512_permutexvar_epi8(spread, _mm512_maskz_loadu_epi8(sixteen, source));                        \
        const __m512i second = _mm512_permutexvar_epi8(spread, _mm512_maskz_loadu_epi8(sixteen, (source) + 16 * size));         \
        luma = with_luma(luma, QUARTER(first_quarter), luma_of_sixteen(first, luma_weights, luma_bias));                        \
        luma = with_luma(luma, QUARTER(second_quarter), luma_of_sixteen(second, luma_weights, luma_bias));                      \
        sums[0] = _mm512_add_epi16(sums[0], _mm512_maddubs_epi16(_mm512_shuffle_epi8(first, side_by_side), ones));              \
        sums[1] = _mm512_add_epi16(sums[1], _mm512_maddubs_epi16(_mm512_shuffle_epi8(second, side_by_side), ones));             \
    } while (0)
        CONVERT_ROW(rows.upper + x * size, 0, 1);
        CONVERT_ROW(rows.lower + x * size, 2, 3);
#undef CONVERT_ROW
        const __m512i both = _mm512_permutexvar_epi8(luma_order, luma);
        _mm256_storeu_si256((__m256i *)(target.upper + x), _mm512_castsi512_si256(both));
        _mm256_storeu_si256((__m256i *)(target.lower + x), _mm512_extracti64x4_epi64(both, 1));

        const __m512i words = _mm512_packs_epi32(
            chroma_of_eight(sums[0], chroma_weights, swapped_weights, chroma_bias),
            chroma_of_eight(sums[1], chroma_weights, swapped_weights, chroma_bias));
        const __m256i pairs = _mm512_castsi512_si256(_mm512_permutexvar_epi32(chroma_order, _mm512_packus_epi16(words, words)));
        if (target.chroma_step == 2) {
            _mm256_storeu_si256((__m256i *)(target.cb + x), pairs);
        } else {
            const __m256i planes = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(pairs, even_then_odd), 0xD8);
            _mm_storeu_si128((__m128i *)(target.cb + x / 2), _mm256_castsi256_si128(planes));
            _mm_storeu_si128((__m128i *)(target.cr + x / 2), _mm256_extracti128_si256(planes, 1));
        }
    }
    return x;
}

static int convert(const struct color_rgb *rgb, enum color_unit unit, struct color_rows rows, int width, struct color_target target) {
    const int start = unit == COLOR_WIDEST && has_whole_luma(rgb->luma) ? convert_avx512(rgb, rows, width, target) : 0;
    return unit == COLOR_PLAIN ? 0 : convert_avx2(rgb, rows, start, width, target);
}

enum color_unit color_best_unit(void) {
    __builtin_cpu_init();
    const int has_widest = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni");
    return !__builtin_cpu_supports("avx2") ? COLOR_PLAIN : has_widest ? COLOR_WIDEST : COLOR_VECTOR;
}
#elif defined(__aarch64__)
struct channels {
    uint8x16_t red, green, blue;
};

static inline struct channels load_sixteen(const uint8_t *pixels, struct color_layout layout) {
    uint8x16_t bytes[4];
    if (layout.bytes_per_pixel == 3) {
        const uint8x16x3_t loaded = vld3q_u8(pixels);
        for (int index = 0; index < 3; index++) bytes[index] = loaded.val[index];
    } else {
        const uint8x16x4_t loaded = vld4q_u8(pixels);
        for (int index = 0; index < 4; index++) bytes[index] = loaded.val[index];
    }
    return (struct channels){bytes[layout.red], bytes[layout.green], bytes[layout.blue]};
}

static inline int32x4_t weighted_four(struct color_weights weights, int32x4_t bias, int16x4_t red, int16x4_t green, int16x4_t blue) {
    return vmlal_n_s16(vmlal_n_s16(vmlal_n_s16(bias, red, weights.red), green, weights.green), blue, weights.blue);
}

// Eight samples; a shift's count must be constant.
#define WEIGHTED_EIGHT(weights, bias, red, green, blue, shift)                                                              \
    vqmovun_s16(vcombine_s16(                                                                                               \
        vmovn_s32(vshrq_n_s32(weighted_four(weights, bias, vget_low_s16(red), vget_low_s16(green), vget_low_s16(blue)), shift)), \
        vmovn_s32(vshrq_n_s32(weighted_four(weights, bias, vget_high_s16(red), vget_high_s16(green), vget_high_s16(blue)), shift))))

static inline uint8x8_t luma_of(struct color_weights weights, uint8x8_t red, uint8x8_t green, uint8x8_t blue) {
    const int16x8_t r = vreinterpretq_s16_u16(vmovl_u8(red)), g = vreinterpretq_s16_u16(vmovl_u8(green)),
                    b = vreinterpretq_s16_u16(vmovl_u8(blue));
    return WEIGHTED_EIGHT(weights, vdupq_n_s32(weights.bias), r, g, b, 15);
}

static inline int16x8_t sums_of(uint8x16_t upper, uint8x16_t lower) {
    return vreinterpretq_s16_u16(vaddq_u16(vpaddlq_u8(upper), vpaddlq_u8(lower)));
}

static inline uint8x8_t chroma_of(struct color_weights weights, int16x8_t red, int16x8_t green, int16x8_t blue) {
    return WEIGHTED_EIGHT(weights, vdupq_n_s32(weights.bias * 4), red, green, blue, 17);
}

static int convert_neon(const struct color_rgb *rgb, struct color_rows rows, int width, struct color_target target) {
    int x = 0;
    for (; x + 16 <= width; x += 16) {
        struct channels channels[2];
        for (int row = 0; row < 2; row++) {
            uint8_t *const luma = (row ? target.lower : target.upper) + x;
            const struct channels c = channels[row] =
                load_sixteen((row ? rows.lower : rows.upper) + x * rgb->layout.bytes_per_pixel, rgb->layout);
            vst1_u8(luma, luma_of(rgb->luma, vget_low_u8(c.red), vget_low_u8(c.green), vget_low_u8(c.blue)));
            vst1_u8(luma + 8, luma_of(rgb->luma, vget_high_u8(c.red), vget_high_u8(c.green), vget_high_u8(c.blue)));
        }
        const int16x8_t red = sums_of(channels[0].red, channels[1].red), green = sums_of(channels[0].green, channels[1].green),
                        blue = sums_of(channels[0].blue, channels[1].blue);
        const uint8x8x2_t chroma = {{chroma_of(rgb->cb, red, green, blue), chroma_of(rgb->cr, red, green, blue)}};
        if (target.chroma_step == 2) {
            vst2_u8(target.cb + x, chroma);
        } else {
            vst1_u8(target.cb + x / 2, chroma.val[0]);
            vst1_u8(target.cr + x / 2, chroma.val[1]);
        }
    }
    return x;
}

static int convert(const struct color_rgb *rgb, enum color_unit unit, struct color_rows rows, int width, struct color_target target) {
    return unit == COLOR_PLAIN ? 0 : convert_neon(rgb, rows, width, target);
}

enum color_unit color_best_unit(void) { return COLOR_VECTOR; }
#else
static int convert(const struct color_rgb *rgb, enum color_unit unit, struct color_rows rows, int width, struct color_target target) {
    (void)rgb, (void)unit, (void)rows, (void)width, (void)target;
    return 0;
}

enum color_unit color_best_unit(void) { return COLOR_PLAIN; }
#endif

void color_convert_rgb(const struct color_rgb *rgb, enum color_unit unit, struct color_rows rows, int width, struct color_target target) {
    convert_columns(rgb, rows, convert(rgb, unit, rows, width, target), width, target);
}
