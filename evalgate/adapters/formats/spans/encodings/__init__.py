"""How spans are encoded in files: OTLP, Jaeger, lists of objects, protobuf.

Entry points: `otlp.read`, `jaeger.read`, `span_objects.read`, `protobuf.unpack`.
"""
