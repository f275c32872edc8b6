#include "models.h"

#include <drm.h>
#include <amdgpu_drm.h>

#include <stdlib.h>
#include <string.h>

enum { VENDOR_AMD = 0x1002, VENDOR_INTEL = 0x8086 };

static const char intel_prefix[] = "i915:";

/* As the kernel's amdgpu_vcn.c takes a version apart: the decoder's, the encoder's interface, the revision. */
#define VCN_FIRMWARE(decoder, major, minor, revision) ((decoder) << 24 | (major) << 20 | (minor) << 12 | (revision))

/* external_revision: the kernel's soc15.c and nv.c for these PCI ids. address_configuration: what its gfx_v9_0.c writes
 * for GFX 9.3.0, and gfx_v10_0.c for 10.3.3 (golden_settings_gc_10_3_3). */
static const struct amd_generation renoir = {
    .family = AMDGPU_FAMILY_RV,
    .external_revision = 0x91,
    .gfx_major = 9,
    .dma_major = 4,
    .vcn_major = 2,
    .vcn_firmware = VCN_FIRMWARE(1, 1, 1, 27),
    .address_configuration = 0x22010042,
};

static const struct amd_generation rembrandt = {
    .family = AMDGPU_FAMILY_YC,
    .external_revision = 0x20,
    .gfx_major = 10,
    .dma_major = 5,
    .vcn_major = 3,
    .vcn_firmware = VCN_FIRMWARE(2, 1, 2, 27),
    .address_configuration = 0x00000242,
};

/* The PCI ID Repository (pci.ids) has the ids. */
static const struct model models[] = {
    {"renoir", DRIVER_AMDGPU, VENDOR_AMD, 0x1636, 0xe9, &renoir},
    {"rembrandt", DRIVER_AMDGPU, VENDOR_AMD, 0x1681, 0x01, &rembrandt},
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
