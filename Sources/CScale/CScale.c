#include "CScale.h"
