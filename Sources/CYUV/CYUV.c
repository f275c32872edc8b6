#include "CYUV.h"
