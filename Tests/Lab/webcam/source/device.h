/* The device as the host sees it: plugged in, its transfers, unplugged. */
#ifndef DEVICE_H
#define DEVICE_H

#include "camera.h"

/* 0 or a negative errno. */
int device_plug(struct camera *camera);
void device_unplug(struct camera *camera, const char *why);

/* There is a request from the host, or it has let go. */
void device_serve(struct camera *camera);

#endif
