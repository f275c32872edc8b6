/* The decode ring of AMD's VCN 2 and 3: H.264 and H.265. */
#ifndef VCN_DECODE_H
#define VCN_DECODE_H

#include <stddef.h>
#include <stdint.h>

struct file;

/* Executes what a driver submitted to the ring. With the lock held. */
void vcn_decode_execute(struct file *file, const uint32_t *words, size_t count);
void vcn_free_decoders(struct file *file);

#endif
