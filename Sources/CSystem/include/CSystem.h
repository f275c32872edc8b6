#ifndef CSYSTEM_H
#define CSYSTEM_H

#include "Files.h"
#include "Network.h"
#include "Processes.h"

#endif
