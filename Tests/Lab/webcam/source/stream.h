/* The video stream: frames by the clock, in payload transfers, to the bulk transfers that wait for them. */
#ifndef STREAM_H
#define STREAM_H

#include "camera.h"

enum { STREAM_HEADER_MAX = 12 }; /* of a payload, UVC 2.4.3.3 */

/* Makes the timer and the room for a payload. */
void stream_prepare(struct camera *camera);

/* With what was committed. */
void stream_start(struct camera *camera);
void stream_stop(struct camera *camera);

/* A bulk transfer that waits for data; false if too many do. */
bool stream_wait(struct camera *camera, struct waiting_transfer transfer);

/* Takes back a transfer that waits; false if it does not. */
bool stream_unlink(struct camera *camera, uint32_t number);

/* Gives the waiting transfers what there is for them. */
void stream_pump(struct camera *camera);

/* The timer has expired. */
void stream_tick(struct camera *camera);

#endif
