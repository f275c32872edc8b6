/* What ioctls are called: the headers' names without DRM_ and DRM_IOCTL_. */
#ifndef IOCTL_NAMES_H
#define IOCTL_NAMES_H

#include "models.h"

#include <stdbool.h>

/* Null for one that is not modelled. */
const char *ioctl_name(enum kernel_driver driver, unsigned number);
/* The header's request for that number, with the size and direction of its structure; 0 for an unknown one. */
unsigned long ioctl_request(enum kernel_driver driver, unsigned number);
/* Whether any driver has an ioctl of that name. */
bool ioctl_is_known(const char *name);

#endif
