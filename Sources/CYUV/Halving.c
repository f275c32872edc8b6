#include "Vector.h"

static inline void halve_columns(const uint8_t *upper, const uint8_t *lower, int start, int width, uint8_t *result) {
    for (int x = start; x < width; x += 2) {
        const int left = 2 * x, right = x + 1 < width ? left + 2 : left;
        for (int sample = 0; sample < 2; sample++) {
            const int sum = upper[left + sample] + upper[right + sample] + lower[left + sample] + lower[right + sample];
            result[x + sample] = (uint8_t)((sum + 2) >> 2);
        }
    }
}

void color_halve_pairs_plainly(const uint8_t *upper, const uint8_t *lower, int width, uint8_t *result) {
    halve_columns(upper, lower, 0, width, result);
}

#if defined(__x86_64__)
// What 16 pixels' pairs add to each block, 16 bits each.
AVX2 static inline __m256i pair_sums(const uint8_t *pairs) {
    const __m256i side_by_side = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15));
    const __m256i bytes = _mm256_loadu_si256((const __m256i *)pairs);
    return _mm256_maddubs_epi16(_mm256_shuffle_epi8(bytes, side_by_side), _mm256_set1_epi8(1));
}

AVX2 static inline __m256i pair_means(const uint8_t *upper, const uint8_t *lower) {
    const __m256i sum = _mm256_add_epi16(pair_sums(upper), pair_sums(lower));
    return _mm256_srli_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
}

AVX2 static int halve_avx2(const uint8_t *upper, const uint8_t *lower, int width, uint8_t *result) {
    const uintptr_t ahead = 2 * ((uintptr_t)lower - (uintptr_t)upper);
    int x = 0;
    for (; x + 32 <= width; x += 32) {
        read_ahead(upper + 2 * x, ahead);
        read_ahead(lower + 2 * x, ahead);
        const __m256i means = _mm256_packus_epi16(pair_means(upper + 2 * x, lower + 2 * x), pair_means(upper + 2 * x + 32, lower + 2 * x + 32));
        _mm256_storeu_si256((__m256i *)(result + x), _mm256_permute4x64_epi64(means, 0xD8));
    }
    return x;
}
#elif defined(__aarch64__)
static inline uint8x8_t mean_of(uint8x8_t upper_left, uint8x8_t upper_right, uint8x8_t lower_left, uint8x8_t lower_right) {
    return vrshrn_n_u16(vaddq_u16(vaddl_u8(upper_left, upper_right), vaddl_u8(lower_left, lower_right)), 2);
}

static int halve_neon(const uint8_t *upper, const uint8_t *lower, int width, uint8_t *result) {
    int x = 0;
    for (; x + 16 <= width; x += 16) {
        const uint8x8x4_t above = vld4_u8(upper + 2 * x), below = vld4_u8(lower + 2 * x);
        const uint8x8x2_t means = {
            {mean_of(above.val[0], above.val[2], below.val[0], below.val[2]),
             mean_of(above.val[1], above.val[3], below.val[1], below.val[3])}};
        vst2_u8(result + x, means);
    }
    return x;
}
#endif

void color_halve_pairs(const uint8_t *upper, const uint8_t *lower, int width, uint8_t *result) {
    halve_columns(upper, lower, VECTOR(halve, upper, lower, width, result), width, result);
}
