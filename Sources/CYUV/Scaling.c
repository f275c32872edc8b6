#include "Vector.h"

// Sums of a block of columns, which stay in registers and the first cache.
enum { BLOCK = 256 };

void color_scale_rows(const uint8_t *rows, long stride, const int16_t *weights, int taps, int width, int16_t *result) {
    int32_t sums[BLOCK];
    for (int start = 0; start < width; start += BLOCK) {
        const int count = width - start < BLOCK ? width - start : BLOCK;
        for (int x = 0; x < count; x++) sums[x] = 128;
        for (int tap = 0; tap < taps; tap++) {
            const uint8_t *row = rows + tap * stride + start;
            const int32_t weight = weights[tap];
            if (weight == 0) continue;
            for (int x = 0; x < count; x++) sums[x] += weight * row[x];
        }
        for (int x = 0; x < count; x++) result[start + x] = (int16_t)(sums[x] >> 8);
    }
}

// A number of taps that the compiler knows becomes vector code.
static inline __attribute__((always_inline)) void scale_columns(
    const int16_t *samples, const int32_t *starts, const int16_t *weights, int taps, int width, uint8_t *result) {
    for (int x = 0; x < width; x++) {
        const int16_t *first = samples + starts[x], *own = weights + (long)x * taps;
        int32_t sum = 0;
        for (int tap = 0; tap < taps; tap++) sum += own[tap] * first[tap];
        result[x] = (uint8_t)((sum + (1 << 19)) >> 20);
    }
}

void color_scale_columns(
    const int16_t *samples, const int32_t *starts, const int16_t *weights, int taps, int width, uint8_t *result) {
    const int padded = (taps + COLOR_SCALE_TAPS - 1) / COLOR_SCALE_TAPS * COLOR_SCALE_TAPS;
    switch (padded) {
        case 4: scale_columns(samples, starts, weights, 4, width, result); break;
        case 8: scale_columns(samples, starts, weights, 8, width, result); break;
        default: scale_columns(samples, starts, weights, padded, width, result); break;
    }
}

// A ratio that the compiler knows becomes vector code.
static inline __attribute__((always_inline)) void scale_box(
    const uint8_t *rows, long stride, int ratio, int begin, int width, uint8_t *result) {
    uint16_t sums[4 * BLOCK];
    // The share of one sample, times 2^16, rounded up: exact for all sums there are.
    const uint32_t samples = (uint32_t)(ratio * ratio), share = 65536 / samples + (65536 % samples != 0);
    for (int start = begin; start < width; start += BLOCK) {
        const int count = width - start < BLOCK ? width - start : BLOCK;
        const uint8_t *first = rows + (long)start * ratio;
        for (int x = 0; x < count * ratio; x++) {
            uint16_t sum = first[x];
            for (int row = 1; row < ratio; row++) sum += first[row * stride + x];
            sums[x] = sum;
        }
        for (int x = 0; x < count; x++) {
            uint32_t sum = samples / 2;
            for (int column = 0; column < ratio; column++) sum += sums[x * ratio + column];
            result[start + x] = (uint8_t)(sum * share >> 16);
        }
    }
}

static inline __attribute__((always_inline)) void scale_box_by(
    const uint8_t *rows, long stride, int ratio, int begin, int width, uint8_t *result) {
    switch (ratio) {
        case 2: scale_box(rows, stride, 2, begin, width, result); break;
        case 3: scale_box(rows, stride, 3, begin, width, result); break;
        default: scale_box(rows, stride, 4, begin, width, result); break;
    }
}

void color_scale_box_plainly(const uint8_t *rows, long stride, int ratio, int width, uint8_t *result) {
    scale_box_by(rows, stride, ratio, 0, width, result);
}

#if defined(__x86_64__)
// What 32 columns of so many rows add to each pair of columns, 16 bits each.
AVX2 static inline __attribute__((always_inline)) __m256i column_pairs(const uint8_t *rows, long stride, int count) {
    const __m256i ones = _mm256_set1_epi8(1);
    __m256i sum = _mm256_setzero_si256();
    for (int row = 0; row < count; row++) {
        const __m256i samples = _mm256_loadu_si256((const __m256i *)(rows + row * stride));
        sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(samples, ones));
    }
    return sum;
}

AVX2 static inline __m256i means_of_4(const uint8_t *rows, long stride) {
    return _mm256_srli_epi16(_mm256_add_epi16(column_pairs(rows, stride, 2), _mm256_set1_epi16(2)), 2);
}

AVX2 static inline __m256i means_of_16(const uint8_t *rows, long stride) {
    const __m256i squares = _mm256_madd_epi16(column_pairs(rows, stride, 4), _mm256_set1_epi16(1));
    return _mm256_srli_epi32(_mm256_add_epi32(squares, _mm256_set1_epi32(8)), 4);
}

AVX2 static void scale_box_avx2(const uint8_t *rows, long stride, int ratio, int width, uint8_t *result) {
    int x = 0;
    if (ratio == 2) {
        for (; x + 32 <= width; x += 32) {
            const __m256i means = _mm256_packus_epi16(means_of_4(rows + 2 * x, stride), means_of_4(rows + 2 * x + 32, stride));
            _mm256_storeu_si256((__m256i *)(result + x), _mm256_permute4x64_epi64(means, 0xD8));
        }
    } else if (ratio == 4) {
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        for (; x + 32 <= width; x += 32) {
            const uint8_t *first = rows + 4 * x;
            const __m256i left = _mm256_packus_epi32(means_of_16(first, stride), means_of_16(first + 32, stride));
            const __m256i right = _mm256_packus_epi32(means_of_16(first + 64, stride), means_of_16(first + 96, stride));
            _mm256_storeu_si256((__m256i *)(result + x), _mm256_permutevar8x32_epi32(_mm256_packus_epi16(left, right), order));
        }
    }
    scale_box_by(rows, stride, ratio, x, width, result);
}

void color_scale_box(const uint8_t *rows, long stride, int ratio, int width, uint8_t *result) {
    (__builtin_cpu_supports("avx2") ? scale_box_avx2 : color_scale_box_plainly)(rows, stride, ratio, width, result);
}
#else
void color_scale_box(const uint8_t *rows, long stride, int ratio, int width, uint8_t *result) {
    color_scale_box_plainly(rows, stride, ratio, width, result);
}
#endif
