// libyuv as Swift sees it.
#ifndef CYUV_H
#define CYUV_H

#include <stdint.h>
#include <libyuv.h>

#endif
