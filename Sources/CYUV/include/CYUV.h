// libyuv, libjpeg and libv4lconvert for Swift.
#ifndef CYUV_H
#define CYUV_H

#include <libyuv.h>
#include <stdint.h>

#include "Color.h"
#include "JPEGDecoder.h"
#include "JPEGEncoder.h"
#include "VendorConverter.h"

#endif
