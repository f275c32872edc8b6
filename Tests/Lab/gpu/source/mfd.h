/* Intel's decode engine, MFD: H.264 and JPEG. It shares commands with the encoder, MFX. */
#ifndef MFD_H
#define MFD_H

#include "batch.h"

struct device;
struct mfd;

/* MFX_PIPE_MODE_SELECT for decoding begins a picture. *mfd is made at the first use; null: no memory. */
void mfd_select(const struct batch *batch, struct mfd **mfd, const uint32_t *words);

/* A command after it, with its header. */
void mfd_execute(const struct batch *batch, struct mfd *mfd, const uint32_t *words, size_t count);

/* Not 0 where the latest picture was damaged. */
uint32_t mfd_error_flags(const struct mfd *mfd);

void mfd_free(struct device *device, struct mfd *mfd);

#endif
