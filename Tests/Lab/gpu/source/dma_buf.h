/* Memory that the kernel's own drivers can import: real DMA-BUFs, of a DRM device that gives its memory away. */
#ifndef DMA_BUF_H
#define DMA_BUF_H

#include <stdint.h>

/* A DMA-BUF of at least `size` bytes from the card node of vgem or another DRM device with dumb buffers; -1 with errno. */
int dma_buf_create(const char *node, uint64_t size);

#endif
