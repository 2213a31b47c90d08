"""Decodes spans from files: OTLP in JSON and protobuf, Jaeger, lists of span objects.

Entry points: `otlp.read_spans`, `jaeger.read_spans`, `span_objects.read_spans`, `otlp.unpack`.
"""
