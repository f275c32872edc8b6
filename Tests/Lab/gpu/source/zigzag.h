/* Zigzag order: which place of a matrix in rows comes next (H.264 8.5.6, ITU-T T.81 Figure A.6). */
#ifndef ZIGZAG_H
#define ZIGZAG_H

#include <stdint.h>

extern const uint8_t zigzag_4x4[16], zigzag_8x8[64];

#endif
