/* The GPUs that can be emulated. */
#ifndef MODELS_H
#define MODELS_H

#include <stdbool.h>
#include <stdint.h>

enum kernel_driver { DRIVER_AMDGPU, DRIVER_I915 };

/* What an AMD GPU answers to AMDGPU_INFO, as libdrm's amdgpu_drm.h and Mesa's ac_gpu_info.c read it. */
struct amd_generation {
    uint32_t family; /* AMDGPU_FAMILY_… */
    uint32_t external_revision;
    uint32_t gfx_major; /* of the GFX and compute rings */
    uint32_t dma_major;
    uint32_t vcn_major;
    uint32_t vcn_firmware;          /* the version of the encoder's firmware interface is in it, see vcn_packets.h */
    uint32_t address_configuration; /* GB_ADDR_CONFIG */
};

struct model {
    const char *name;
    enum kernel_driver driver;
    uint16_t vendor_id, device_id; /* PCI */
    uint8_t revision;
    const struct amd_generation *amd; /* null for Intel */
};

/* Reads a name, or i915:ID for an Intel GPU by its PCI id, into `model`. */
bool model_named(const char *name, struct model *model);

#endif
