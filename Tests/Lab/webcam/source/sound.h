/* The microphone: samples by the clock, in isochronous packets, to the transfers that wait for them. Each second's first
 * picture is a flash, and a click begins with it. */
#ifndef SOUND_H
#define SOUND_H

#include "camera.h"
#include "usbip.h"

/* Makes the timer. */
void sound_prepare(struct camera *camera);

void sound_start(struct camera *camera);
void sound_stop(struct camera *camera);

/* A transfer that waits for sound; false if too many do, or it is none of this microphone's. */
bool sound_wait(struct camera *camera, const struct usbip_request *request);

/* Takes back a transfer that waits; false if it does not. */
bool sound_unlink(struct camera *camera, uint32_t number);

/* A click begins now. */
void sound_clap(struct camera *camera);

/* The timer has expired. */
void sound_tick(struct camera *camera);

#endif
