/// Creates a file, which must not exist, and returns the sink that writes it.
public typealias SinkOpening = (String, StreamDescription) throws(OutputError) -> any AccessUnitSink
