#ifndef CLINUX_H
#define CLINUX_H

#include "Files.h"
#include "Network.h"
#include "Processes.h"

#endif
