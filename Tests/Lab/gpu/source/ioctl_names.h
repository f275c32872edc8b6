/* What ioctls are called: the headers' names without DRM_ and DRM_IOCTL_. */
#ifndef IOCTL_NAMES_H
#define IOCTL_NAMES_H

#include "models.h"

/* "?" for one that is not modelled. */
const char *ioctl_name(enum kernel_driver driver, unsigned number);

#endif
