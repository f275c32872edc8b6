// What the conversions share: clipping, and which of their functions the processor has.
#ifndef CCOLOR_VECTOR_H
#define CCOLOR_VECTOR_H

#include "Color.h"

static inline uint8_t clamped(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value; }

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

// Reads a line ahead: of the next rows, which the processor does not find by itself. No address is wrong for that.
static inline void read_ahead(const uint8_t *source, uintptr_t distance) {
    _mm_prefetch((const char *)((uintptr_t)source + distance), _MM_HINT_T1);
}

// Pairs of 16 bits, of which the second may be zero.
AVX2 static inline __m256i pairs(int16_t first, int16_t second) {
    return _mm256_set1_epi32((int32_t)((uint16_t)first | (uint32_t)(uint16_t)second << 16));
}
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// How many columns the vector unit has done: none where there is none.
#if defined(__x86_64__)
#define VECTOR(function, ...) (__builtin_cpu_supports("avx2") ? function##_avx2(__VA_ARGS__) : 0)
#elif defined(__aarch64__)
#define VECTOR(function, ...) function##_neon(__VA_ARGS__)
#else
#define VECTOR(function, ...) 0
#endif

#endif
