/* What the camera says of itself (USB 9.6, UVC 3). */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include "camera.h"

enum { DESCRIPTOR_MAX = 1024 };

/* Writes the descriptor of a GET_DESCRIPTOR's value into `out`, which has room for DESCRIPTOR_MAX bytes; its length,
 * or -EPIPE where there is none. */
int descriptor_put(const struct camera *camera, unsigned value, uint8_t *out);

#endif
