/* The JPEG ring of AMD's VCN 2 and 3. */
#ifndef VCN_JPEG_H
#define VCN_JPEG_H

#include <stddef.h>
#include <stdint.h>

struct file;

/* Executes what a driver submitted to the ring. With the lock held. */
void vcn_jpeg_execute(struct file *file, const uint32_t *words, size_t count);

#endif
