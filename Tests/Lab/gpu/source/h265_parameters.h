/* What the slice data of H.265 depends on in the parameter sets, read from the driver's or the application's own. */
#ifndef H265_PARAMETERS_H
#define H265_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* nal_unit_type, Table 7-1 */
enum h265_unit_type { H265_VPS = 32, H265_SPS = 33, H265_PPS = 34 };

struct h265_parameters {
    bool has_sps, has_pps;
    /* seq_parameter_set_rbsp, 7.3.2.2 */
    uint32_t width, height; /* pic_width_in_luma_samples, pic_height_in_luma_samples */
    unsigned bit_depth;
    unsigned log2_min_coding_block;    /* MinCbLog2SizeY */
    unsigned log2_coding_tree_block;   /* CtbLog2SizeY */
    unsigned log2_min_transform_block; /* MinTbLog2SizeY */
    unsigned log2_max_transform_block; /* MaxTbLog2SizeY */
    unsigned max_transform_hierarchy_depth_intra;
    /* pic_parameter_set_rbsp, 7.3.2.3 */
    int init_qp; /* 26 + init_qp_minus26 */
    bool transform_skip_enabled;
    bool cu_qp_delta_enabled;
    unsigned diff_cu_qp_delta_depth;
    int cb_qp_offset, cr_qp_offset;
};

enum h265_unit_type h265_unit_type(const uint8_t *unit);

/* Reads a NAL unit, from its header on, if it is an SPS or a PPS; others are passed over. Values outside the standard's
 * ranges leave `parameters` as they were. */
void h265_read_unit(struct h265_parameters *parameters, const uint8_t *unit, size_t size);

#endif
