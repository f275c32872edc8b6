/* What the camera sees: stored JPEGs, or a gradient that moves. Each picture carries its number (../README.md). */
#ifndef PICTURES_H
#define PICTURES_H

#include "camera.h"

enum { PICTURE_MAX = 1280 * 720 * 2 };

/* Loads the JPEGs of all sizes; ends the program where there are none. */
void pictures_load(const char *folder);

/* Draws the picture `frame_number` in the stream's format and size into `out`, which has room for PICTURE_MAX bytes;
 * its length. */
size_t picture_draw(const struct camera *camera, uint8_t *out);

/* Whether the picture `frame_number` is the first of a flash, one each second: in YUYV, of a camera with a microphone. */
bool picture_begins_flash(const struct camera *camera);

#endif
