#include "models.h"

#include <drm.h>
#include <amdgpu_drm.h>

#include <stdlib.h>
#include <string.h>

enum { VENDOR_AMD = 0x1002, VENDOR_INTEL = 0x8086 };

static const char intel_prefix[] = "i915:";

static const struct amd_generation vcn2 = {
    .family = AMDGPU_FAMILY_RV,
    .external_revision = 0xa1,
    .gfx_major = 9,
    .dma_major = 4,
    .vcn_major = 2,
    .vcn_firmware = 0x0110101b,
    .address_configuration = 0x26010042,
};

static const struct amd_generation vcn3 = {
    .family = AMDGPU_FAMILY_YC,
    .external_revision = 0x01,
    .gfx_major = 10,
    .dma_major = 5,
    .vcn_major = 3,
    .vcn_firmware = 0x0210201b,
    .address_configuration = 0x00000042,
};

static const struct model models[] = {
    {"renoir", DRIVER_AMDGPU, VENDOR_AMD, 0x1636, 0xe9, &vcn2},
    {"rembrandt", DRIVER_AMDGPU, VENDOR_AMD, 0x1681, 0x01, &vcn3},
    {"skylake", DRIVER_I915, VENDOR_INTEL, 0x1912, 0x01, NULL},
    {"kabylake", DRIVER_I915, VENDOR_INTEL, 0x5916, 0x02, NULL},
    {"coffeelake", DRIVER_I915, VENDOR_INTEL, 0x3e92, 0x00, NULL},
    {"icelake", DRIVER_I915, VENDOR_INTEL, 0x8a52, 0x01, NULL},
    {"jasperlake", DRIVER_I915, VENDOR_INTEL, 0x4e61, 0x01, NULL},
    {"rocketlake", DRIVER_I915, VENDOR_INTEL, 0x4c8a, 0x04, NULL},
};

bool model_named(const char *name, struct model *model)
{
    if (strncmp(name, intel_prefix, sizeof intel_prefix - 1) == 0) {
        char *end;
        unsigned long id = strtoul(name + sizeof intel_prefix - 1, &end, 0);

        *model = (struct model){"intel", DRIVER_I915, VENDOR_INTEL, (uint16_t)id, 0x01, NULL};
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
