/// ITU-T H.265: NAL units and parameter sets. Clause and table numbers refer to its edition of 08/2021.
///
/// Syntax elements keep the standard's names; derived values have names of our own.
public enum H265 {}
