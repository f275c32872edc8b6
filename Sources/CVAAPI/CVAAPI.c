#include "CVAAPI.h"
