// libva as Swift sees it.
#ifndef CVAAPI_H
#define CVAAPI_H

#include <va/va.h>
#include <va/va_drm.h>

#endif
