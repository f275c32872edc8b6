#include "models.h"

#include <drm.h>
#include <amdgpu_drm.h>

#include <stdlib.h>
#include <string.h>

enum { VENDOR_AMD = 0x1002, VENDOR_INTEL = 0x8086 };

static const char amd_slot[] = "0000:04:00.0", intel_slot[] = "0000:00:02.0", intel_prefix[] = "i915:";

static const struct amd_generation vcn2 = {
    .family = AMDGPU_FAMILY_RV,
    .external_revision = 0xa1,
    .gfx_major = 9,
    .dma_major = 4,
    .vcn_major = 2,
    .vcn_firmware = 0x0110101b,
    .address_configuration = 0x26010042,
};

static const struct model models[] = {
    {"renoir", DRIVER_AMDGPU, VENDOR_AMD, 0x1636, 0xe9, amd_slot, &vcn2},
    {"skylake", DRIVER_I915, VENDOR_INTEL, 0x1912, 0x01, intel_slot, NULL},
    {"icelake", DRIVER_I915, VENDOR_INTEL, 0x8a52, 0x01, intel_slot, NULL},
};

bool model_named(const char *name, struct model *model)
{
    if (strncmp(name, intel_prefix, sizeof intel_prefix - 1) == 0) {
        char *end;
        unsigned long id = strtoul(name + sizeof intel_prefix - 1, &end, 0);

        *model = (struct model){"intel", DRIVER_I915, VENDOR_INTEL, (uint16_t)id, 0x01, intel_slot, NULL};
        return *end == 0 && id > 0 && id <= UINT16_MAX;
    }
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (strcmp(name, models[i].name) == 0) {
            *model = models[i];
            return true;
        }
    }
    return false;
}
