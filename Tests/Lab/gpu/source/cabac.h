/* The arithmetic encoder that H.264 (9.3.4.2 to 9.3.4.5) and H.265 (9.3.4.3, the encoder's side 9.3.5) share. */
#ifndef CABAC_H
#define CABAC_H

#include "bits.h"

struct cabac_encoder {
    struct bit_writer *output;
    uint32_t low;         /* codILow */
    uint32_t range;       /* codIRange */
    uint32_t outstanding; /* bitsOutstanding */
    bool first;           /* firstBitFlag */
};

struct cabac_context {
    uint8_t state; /* pStateIdx */
    uint8_t mps;   /* valMPS */
};

/* The initial state of a context variable: H.264 9.3.1.1 from m and n, H.265 9.3.2.2 from initValue. */
struct cabac_context cabac_context_h264(int m, int n, int slice_qp);
struct cabac_context cabac_context_h265(unsigned init_value, int slice_qp);

void cabac_start(struct cabac_encoder *encoder, struct bit_writer *output);
void cabac_decision(struct cabac_encoder *encoder, struct cabac_context *context, bool bin);
void cabac_bypass(struct cabac_encoder *encoder, bool bin);
/* end_of_slice_flag and the like. After `true` the encoder is flushed, and the last bit is rbsp_stop_one_bit. */
void cabac_terminate(struct cabac_encoder *encoder, bool bin);

#endif
