/// ITU-T Rec. H.264 (ISO/IEC 14496-10): its NAL units and the syntax structures in them.
///
/// Clauses and tables cited in this namespace are those of H.264. Properties in `snake_case` are syntax
/// elements under the standard's own names; everything in `camelCase` is derived from them.
public enum H264 {}
