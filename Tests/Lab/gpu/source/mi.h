/* The command streamer: the MI commands of a batch, and the way to the video engines' commands. */
#ifndef MI_H
#define MI_H

#include "batch.h"

/* Executes commands up to MI_BATCH_BUFFER_END or `count`. With the lock held. */
void mi_execute(struct batch *batch, const uint32_t *words, size_t count);

#endif
