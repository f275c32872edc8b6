#include "amdgpu.h"

#include "device.h"
#include "report.h"
#include "user_memory.h"

#include <drm.h>
#include <amdgpu_drm.h>

#include <errno.h>
#include <string.h>

enum {
    INFO_MAX_IBS = 0x22,     /* amdgpu_drm.h of libdrm 2.4.115 */
    GB_ADDR_CONFIG = 0x263e, /* the register's offset in dwords, the kernel's gc_9_1_offset.h */
    RING_BUFFERS = 8,        /* HW IP types that are answered, up to AMDGPU_HW_IP_VCN_JPEG */
    LARGEST_WIDTH = 4096,
    LARGEST_ENCODED_HEIGHT = 2304,
    LARGEST_DECODED_HEIGHT = 4096,
    LARGEST_LEVEL = 186,  /* of H.265: 6.2 */
    DDR4 = 8,             /* AMDGPU_VRAM_TYPE_DDR4 */
    COMPUTE_UNITS = 0xfe, /* a bit each: seven of eight */
};

#define VRAM_SIZE (512ULL << 20)
#define GTT_SIZE (4096ULL << 20)

/* An APU with seven compute units, as the kernel describes Renoir. */
static void device_info(const struct device *device, struct drm_amdgpu_info_device *info)
{
    const struct model *model = &device->model;

    *info = (struct drm_amdgpu_info_device){
        .device_id = model->device_id,
        .external_rev = model->amd->external_revision,
        .pci_rev = model->revision,
        .family = model->amd->family,
        .num_shader_engines = 1,
        .num_shader_arrays_per_engine = 1,
        .gpu_counter_freq = 100000,
        .max_engine_clock = 1800000,
        .max_memory_clock = 1333000,
        .cu_active_number = 7,
        .cu_ao_mask = COMPUTE_UNITS,
        .enabled_rb_pipes_mask = 3,
        .num_rb_pipes = 2,
        .num_hw_gfx_contexts = 8,
        .ids_flags = AMDGPU_IDS_FLAGS_FUSION,
        .virtual_address_offset = 0x200000,
        .virtual_address_max = 0x800000000000ULL,
        .virtual_address_alignment = PAGE_SIZE,
        .pte_fragment_size = 2097152,
        .gart_page_size = PAGE_SIZE,
        .ce_ram_size = 32768,
        .vram_type = DDR4,
        .vram_bit_width = 128,
        .gc_double_offchip_lds_buf = 1,
        .wave_front_size = 64,
        .num_shader_visible_vgprs = 256,
        .num_cu_per_sh = 8,
        .num_tcc_blocks = 4,
        .gs_vgt_table_depth = 32,
        .gs_prim_buffer_depth = 1792,
        .max_gs_waves_per_vgt = 32,
        .high_va_offset = 0xffff800000000000ULL,
        .high_va_max = 0xffffffffffe00000ULL,
    };
    info->cu_bitmap[0][0] = COMPUTE_UNITS;
    info->cu_ao_bitmap[0][0] = COMPUTE_UNITS;
}

static uint32_t ip_version(const struct amd_generation *amd, unsigned type)
{
    switch (type) {
    case AMDGPU_HW_IP_GFX:
    case AMDGPU_HW_IP_COMPUTE:
        return amd->gfx_major;
    case AMDGPU_HW_IP_DMA:
        return amd->dma_major;
    case AMDGPU_HW_IP_VCN_DEC:
    case AMDGPU_HW_IP_VCN_ENC:
    case AMDGPU_HW_IP_VCN_JPEG:
        return amd->vcn_major;
    default:
        return 0; /* not there: UVD and VCE are older video engines */
    }
}

static void ip_info(const struct amd_generation *amd, unsigned type, struct drm_amdgpu_info_hw_ip *info)
{
    bool compute = type == AMDGPU_HW_IP_COMPUTE, shaders = type == AMDGPU_HW_IP_GFX || compute;

    info->hw_ip_version_major = ip_version(amd, type);
    if (!info->hw_ip_version_major)
        return;
    info->available_rings = compute ? 0xf : 1; /* a bit each */
    info->ib_start_alignment = shaders ? 32 : 256;
    info->ib_size_alignment = shaders ? 32 : type == AMDGPU_HW_IP_DMA ? 4 : 64;
}

static void firmware_info(const struct amd_generation *amd, uint32_t type, struct drm_amdgpu_info_firmware *info)
{
    enum { GFX_FEATURE = 53, ME = 166, PFP = 194, MEC = 464 };

    switch (type) {
    case AMDGPU_INFO_FW_GFX_ME:
        *info = (struct drm_amdgpu_info_firmware){.ver = ME, .feature = GFX_FEATURE};
        break;
    case AMDGPU_INFO_FW_GFX_PFP:
        *info = (struct drm_amdgpu_info_firmware){.ver = PFP, .feature = GFX_FEATURE};
        break;
    case AMDGPU_INFO_FW_GFX_MEC:
        *info = (struct drm_amdgpu_info_firmware){.ver = MEC, .feature = GFX_FEATURE};
        break;
    case AMDGPU_INFO_FW_VCN:
        info->ver = amd->vcn_firmware;
        break;
    default:
        break;
    }
}

static void memory_info(const struct device *device, struct drm_amdgpu_memory_info *info)
{
    info->vram = (struct drm_amdgpu_heap_info){
        .total_heap_size = VRAM_SIZE, .usable_heap_size = VRAM_SIZE, .max_allocation = VRAM_SIZE / 4 * 3};
    info->cpu_accessible_vram = info->vram;
    info->gtt = (struct drm_amdgpu_heap_info){.total_heap_size = GTT_SIZE,
                                              .usable_heap_size = GTT_SIZE,
                                              .heap_usage = buffers_memory(device),
                                              .max_allocation = GTT_SIZE / 4 * 3};
}

static void video_capabilities(uint32_t type, struct drm_amdgpu_info_video_caps *capabilities)
{
    bool encode = type == AMDGPU_INFO_VIDEO_CAPS_ENCODE;

    /* What the hardware decodes besides is not modelled, and so not told. */
    for (unsigned codec = 0; codec < AMDGPU_INFO_VIDEO_CAPS_CODEC_IDX_COUNT; codec++) {
        if (codec != AMDGPU_INFO_VIDEO_CAPS_CODEC_IDX_MPEG4_AVC && codec != AMDGPU_INFO_VIDEO_CAPS_CODEC_IDX_HEVC &&
            (encode || codec != AMDGPU_INFO_VIDEO_CAPS_CODEC_IDX_JPEG))
            continue;
        capabilities->codec_info[codec] = (struct drm_amdgpu_info_video_codec_info){
            .valid = 1,
            .max_width = LARGEST_WIDTH,
            .max_height = encode ? LARGEST_ENCODED_HEIGHT : LARGEST_DECODED_HEIGHT,
            .max_pixels_per_frame = LARGEST_WIDTH * LARGEST_DECODED_HEIGHT,
            .max_level = LARGEST_LEVEL,
        };
    }
}

int amdgpu_info(struct device *device, const struct drm_amdgpu_info *query)
{
    const struct amd_generation *amd = device->model.amd;
    union {
        struct drm_amdgpu_info_device device;
        struct drm_amdgpu_info_hw_ip ip;
        struct drm_amdgpu_info_firmware firmware;
        struct drm_amdgpu_memory_info memory;
        struct drm_amdgpu_info_vram_gtt vram_gtt;
        struct drm_amdgpu_info_video_caps video;
        uint32_t words[256];
    } answer;

    memset(&answer, 0, sizeof answer);
    switch (query->query) {
    case AMDGPU_INFO_ACCEL_WORKING:
        answer.words[0] = 1;
        break;
    case AMDGPU_INFO_HW_IP_INFO:
        ip_info(amd, query->query_hw_ip.type, &answer.ip);
        break;
    case AMDGPU_INFO_HW_IP_COUNT:
        answer.words[0] = ip_version(amd, query->query_hw_ip.type) != 0;
        break;
    case AMDGPU_INFO_FW_VERSION:
        firmware_info(amd, query->query_fw.fw_type, &answer.firmware);
        break;
    case AMDGPU_INFO_READ_MMR_REG:
        for (uint32_t i = 0; i < query->read_mmr_reg.count && i < sizeof answer.words / sizeof *answer.words; i++)
            if (query->read_mmr_reg.dword_offset + i == GB_ADDR_CONFIG)
                answer.words[i] = amd->address_configuration;
        break;
    case AMDGPU_INFO_DEV_INFO:
        device_info(device, &answer.device);
        break;
    case AMDGPU_INFO_MEMORY:
        memory_info(device, &answer.memory);
        break;
    case AMDGPU_INFO_VRAM_GTT:
        answer.vram_gtt = (struct drm_amdgpu_info_vram_gtt){VRAM_SIZE, VRAM_SIZE, GTT_SIZE};
        break;
    case AMDGPU_INFO_VIDEO_CAPS:
        video_capabilities(query->video_cap.type, &answer.video);
        break;
    case AMDGPU_INFO_TIMESTAMP:
    case AMDGPU_INFO_VRAM_USAGE:
    case AMDGPU_INFO_GTT_USAGE:
    case AMDGPU_INFO_VIS_VRAM_USAGE:
    case AMDGPU_INFO_NUM_BYTES_MOVED:
    case AMDGPU_INFO_NUM_EVICTIONS:
        break; /* 0 */
    case INFO_MAX_IBS:
        return -EINVAL; /* a kernel of DRM 3.49 does not know it yet; Mesa 25 asks */
    default:
        report_unmodelled(device, "AMDGPU_INFO query", query->query);
        return -EINVAL;
    }
    return user_write(query->return_pointer, &answer,
                      query->return_size < sizeof answer ? query->return_size : sizeof answer);
}
