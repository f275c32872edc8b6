#include "Vector.h"

// Chroma's offset and rounding, times 2^14.
enum { CHROMA_BIAS = (128 << 14) + (1 << 13) };

// The same for luma, where its weight is that of a sample itself.
static inline int32_t luma_bias(const struct color_change *change) {
    return (change->new_black << 14) + (1 << 13) - change->black * change->luma;
}

// Whether each sample depends on no other, because the matrix stays. A product of 16 bits is then enough.
static inline int is_range_alone(const struct color_change *change) {
    return !(change->cb_to_luma | change->cr_to_luma | change->cr_to_cb | change->cb_to_cr);
}

static inline void change_columns(
    const struct color_change *change, struct color_planes source, int start, int width, struct color_target target
) {
    const int32_t bias = luma_bias(change);
    for (int x = start; x < width; x += 2) {
        const int32_t cb = source.cb[x / 2] - 128, cr = source.cr[x / 2] - 128;
        const int32_t shift = cb * change->cb_to_luma + cr * change->cr_to_luma + bias;
        for (int column = x; column < x + 2 && column < width; column++) {
            const uint8_t upper = source.upper[column], lower = source.lower[column];
            target.upper[column] = clamped((upper * change->luma + shift) >> 14);
            target.lower[column] = clamped((lower * change->luma + shift) >> 14);
        }
        const int block = x / 2 * target.chroma_step;
        target.cb[block] = clamped((cb * change->cb_to_cb + cr * change->cr_to_cb + CHROMA_BIAS) >> 14);
        target.cr[block] = clamped((cb * change->cb_to_cr + cr * change->cr_to_cr + CHROMA_BIAS) >> 14);
    }
}

void color_change_rows_plainly(const struct color_change *change, struct color_planes source, int width, struct color_target target) {
    change_columns(change, source, 0, width, target);
}

#if defined(__x86_64__)
// Luma of 32 columns, given what chroma adds to each pair: in the lower half pairs 0 to 3 and 8 to 11, in the upper the others.
AVX2 static inline __m256i changed_luma(__m256i luma, __m256i weight, __m256i low, __m256i high) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i first = _mm256_unpacklo_epi8(luma, zero), second = _mm256_unpackhi_epi8(luma, zero);
#define CHANGED(samples, shifts) _mm256_srai_epi32(_mm256_add_epi32(_mm256_madd_epi16(samples, weight), shifts), 14)
    const __m256i left = _mm256_packs_epi32(
        CHANGED(_mm256_unpacklo_epi16(first, zero), _mm256_unpacklo_epi32(low, low)),
        CHANGED(_mm256_unpackhi_epi16(first, zero), _mm256_unpackhi_epi32(low, low)));
    const __m256i right = _mm256_packs_epi32(
        CHANGED(_mm256_unpacklo_epi16(second, zero), _mm256_unpacklo_epi32(high, high)),
        CHANGED(_mm256_unpackhi_epi16(second, zero), _mm256_unpackhi_epi32(high, high)));
#undef CHANGED
    return _mm256_packus_epi16(left, right);
}

// Sixteen chroma samples of 16 bits.
AVX2 static inline __m256i changed_chroma(__m256i low, __m256i high, __m256i weights) {
    const __m256i bias = _mm256_set1_epi32(CHROMA_BIAS);
    return _mm256_packs_epi32(
        _mm256_srai_epi32(_mm256_add_epi32(_mm256_madd_epi16(low, weights), bias), 14),
        _mm256_srai_epi32(_mm256_add_epi32(_mm256_madd_epi16(high, weights), bias), 14));
}

// 32 samples, each scaled on its own: twice a sample times 2^14 times the scale, of which the instruction rounds the upper half.
AVX2 static inline __m256i scaled(__m256i samples, __m256i zero_level, __m256i scale, __m256i new_zero_level) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_sub_epi16(_mm256_unpacklo_epi8(samples, zero), zero_level);
    const __m256i high = _mm256_sub_epi16(_mm256_unpackhi_epi8(samples, zero), zero_level);
    return _mm256_packus_epi16(
        _mm256_add_epi16(_mm256_mulhrs_epi16(_mm256_add_epi16(low, low), scale), new_zero_level),
        _mm256_add_epi16(_mm256_mulhrs_epi16(_mm256_add_epi16(high, high), scale), new_zero_level));
}

AVX2 static int range_avx2(const struct color_change *change, struct color_planes source, int width, struct color_target target) {
    const __m256i black = _mm256_set1_epi16(change->black), new_black = _mm256_set1_epi16(change->new_black);
    const __m256i luma = _mm256_set1_epi16(change->luma), middle = _mm256_set1_epi16(128);
    // Alternating, as the samples are then.
    const __m256i chroma = pairs(change->cb_to_cb, change->cr_to_cr);
    int x = 0;
    for (; x + 32 <= width; x += 32) {
        const __m256i upper = _mm256_loadu_si256((const __m256i *)(source.upper + x));
        const __m256i lower = _mm256_loadu_si256((const __m256i *)(source.lower + x));
        _mm256_storeu_si256((__m256i *)(target.upper + x), scaled(upper, black, luma, new_black));
        _mm256_storeu_si256((__m256i *)(target.lower + x), scaled(lower, black, luma, new_black));

        const __m128i cb = _mm_loadu_si128((const __m128i *)(source.cb + x / 2)), cr = _mm_loadu_si128((const __m128i *)(source.cr + x / 2));
        const __m256i both = scaled(_mm256_set_m128i(_mm_unpackhi_epi8(cb, cr), _mm_unpacklo_epi8(cb, cr)), middle, chroma, middle);
        if (target.chroma_step == 2) {
            _mm256_storeu_si256((__m256i *)(target.cb + x), both);
        } else {
            const __m256i apart = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
            const __m256i planes = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(both, apart), 0xD8);
            _mm_storeu_si128((__m128i *)(target.cb + x / 2), _mm256_castsi256_si128(planes));
            _mm_storeu_si128((__m128i *)(target.cr + x / 2), _mm256_extracti128_si256(planes, 1));
        }
    }
    return x;
}

AVX2 static int change_avx2(const struct color_change *change, struct color_planes source, int width, struct color_target target) {
    if (is_range_alone(change)) return range_avx2(change, source, width, target);
    const __m256i luma = pairs(change->luma, 0), to_luma = pairs(change->cb_to_luma, change->cr_to_luma);
    const __m256i to_cb = pairs(change->cb_to_cb, change->cr_to_cb), to_cr = pairs(change->cb_to_cr, change->cr_to_cr);
    const __m256i bias = _mm256_set1_epi32(luma_bias(change)), middle = _mm256_set1_epi16(128);
    const __m256i alternating = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    int x = 0;
    for (; x + 32 <= width; x += 32) {
        const __m256i cb = _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(source.cb + x / 2))), middle);
        const __m256i cr = _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(source.cr + x / 2))), middle);
        const __m256i low = _mm256_unpacklo_epi16(cb, cr), high = _mm256_unpackhi_epi16(cb, cr);
        const __m256i low_shift = _mm256_add_epi32(_mm256_madd_epi16(low, to_luma), bias);
        const __m256i high_shift = _mm256_add_epi32(_mm256_madd_epi16(high, to_luma), bias);
        const __m256i upper = _mm256_loadu_si256((const __m256i *)(source.upper + x));
        const __m256i lower = _mm256_loadu_si256((const __m256i *)(source.lower + x));
        _mm256_storeu_si256((__m256i *)(target.upper + x), changed_luma(upper, luma, low_shift, high_shift));
        _mm256_storeu_si256((__m256i *)(target.lower + x), changed_luma(lower, luma, low_shift, high_shift));

        // Eight samples of Cb and eight of Cr in each half.
        const __m256i chroma = _mm256_packus_epi16(changed_chroma(low, high, to_cb), changed_chroma(low, high, to_cr));
        if (target.chroma_step == 2) {
            _mm256_storeu_si256((__m256i *)(target.cb + x), _mm256_shuffle_epi8(chroma, alternating));
        } else {
            const __m256i planes = _mm256_permute4x64_epi64(chroma, 0xD8);
            _mm_storeu_si128((__m128i *)(target.cb + x / 2), _mm256_castsi256_si128(planes));
            _mm_storeu_si128((__m128i *)(target.cr + x / 2), _mm256_extracti128_si256(planes, 1));
        }
    }
    return x;
}
#elif defined(__aarch64__)
// Eight samples from two vectors of 32 bits.
static inline uint8x8_t narrowed(int32x4_t low, int32x4_t high) {
    return vqmovun_s16(vcombine_s16(vqmovn_s32(vshrq_n_s32(low, 14)), vqmovn_s32(vshrq_n_s32(high, 14))));
}

// Sixteen columns of luma, given what chroma adds to each pair.
static inline uint8x16_t changed_luma(uint8x16_t luma, int16_t weight, int32x4_t low, int32x4_t high) {
    const int16x8_t left = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(luma))), right = vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(luma)));
    return vcombine_u8(
        narrowed(
            vmlal_n_s16(vzip1q_s32(low, low), vget_low_s16(left), weight),
            vmlal_n_s16(vzip2q_s32(low, low), vget_high_s16(left), weight)),
        narrowed(
            vmlal_n_s16(vzip1q_s32(high, high), vget_low_s16(right), weight),
            vmlal_n_s16(vzip2q_s32(high, high), vget_high_s16(right), weight)));
}

static inline uint8x8_t changed_chroma(int16x8_t cb, int16x8_t cr, int16_t cb_weight, int16_t cr_weight) {
    const int32x4_t bias = vdupq_n_s32(CHROMA_BIAS);
    return narrowed(
        vmlal_n_s16(vmlal_n_s16(bias, vget_low_s16(cb), cb_weight), vget_low_s16(cr), cr_weight),
        vmlal_n_s16(vmlal_n_s16(bias, vget_high_s16(cb), cb_weight), vget_high_s16(cr), cr_weight));
}

// Sixteen samples, each scaled on its own: the instruction rounds the upper half of four times a product's 2^14.
static inline uint8x16_t scaled(uint8x16_t samples, uint8_t zero_level, int16_t scale, uint8_t new_zero_level) {
    const int16x8_t low = vreinterpretq_s16_u16(vsubl_u8(vget_low_u8(samples), vdup_n_u8(zero_level)));
    const int16x8_t high = vreinterpretq_s16_u16(vsubl_u8(vget_high_u8(samples), vdup_n_u8(zero_level)));
    const int16x8_t new_zero = vdupq_n_s16(new_zero_level);
    return vcombine_u8(
        vqmovun_s16(vaddq_s16(vqrdmulhq_n_s16(vshlq_n_s16(low, 1), scale), new_zero)),
        vqmovun_s16(vaddq_s16(vqrdmulhq_n_s16(vshlq_n_s16(high, 1), scale), new_zero)));
}

static int range_neon(const struct color_change *change, struct color_planes source, int width, struct color_target target) {
    int x = 0;
    for (; x + 32 <= width; x += 32) {
        for (int column = x; column < x + 32; column += 16) {
            const uint8x16_t upper = vld1q_u8(source.upper + column), lower = vld1q_u8(source.lower + column);
            vst1q_u8(target.upper + column, scaled(upper, change->black, change->luma, change->new_black));
            vst1q_u8(target.lower + column, scaled(lower, change->black, change->luma, change->new_black));
        }
        const uint8x16x2_t chroma = {
            {scaled(vld1q_u8(source.cb + x / 2), 128, change->cb_to_cb, 128), scaled(vld1q_u8(source.cr + x / 2), 128, change->cr_to_cr, 128)}};
        if (target.chroma_step == 2) {
            vst2q_u8(target.cb + x, chroma);
        } else {
            vst1q_u8(target.cb + x / 2, chroma.val[0]);
            vst1q_u8(target.cr + x / 2, chroma.val[1]);
        }
    }
    return x;
}

static int change_neon(const struct color_change *change, struct color_planes source, int width, struct color_target target) {
    if (is_range_alone(change)) return range_neon(change, source, width, target);
    const int32x4_t bias = vdupq_n_s32(luma_bias(change));
    int x = 0;
    for (; x + 16 <= width; x += 16) {
        const int16x8_t cb = vreinterpretq_s16_u16(vsubl_u8(vld1_u8(source.cb + x / 2), vdup_n_u8(128)));
        const int16x8_t cr = vreinterpretq_s16_u16(vsubl_u8(vld1_u8(source.cr + x / 2), vdup_n_u8(128)));
        const int32x4_t low =
            vmlal_n_s16(vmlal_n_s16(bias, vget_low_s16(cb), change->cb_to_luma), vget_low_s16(cr), change->cr_to_luma);
        const int32x4_t high =
            vmlal_n_s16(vmlal_n_s16(bias, vget_high_s16(cb), change->cb_to_luma), vget_high_s16(cr), change->cr_to_luma);
        const uint8x16_t upper = vld1q_u8(source.upper + x), lower = vld1q_u8(source.lower + x);
        vst1q_u8(target.upper + x, changed_luma(upper, change->luma, low, high));
        vst1q_u8(target.lower + x, changed_luma(lower, change->luma, low, high));
        const uint8x8x2_t chroma = {
            {changed_chroma(cb, cr, change->cb_to_cb, change->cr_to_cb), changed_chroma(cb, cr, change->cb_to_cr, change->cr_to_cr)}};
        if (target.chroma_step == 2) {
            vst2_u8(target.cb + x, chroma);
        } else {
            vst1_u8(target.cb + x / 2, chroma.val[0]);
            vst1_u8(target.cr + x / 2, chroma.val[1]);
        }
    }
    return x;
}
#endif

void color_change_rows(const struct color_change *change, struct color_planes source, int width, struct color_target target) {
    change_columns(change, source, VECTOR(change, change, source, width, target), width, target);
}
