"""Takes the spans that OpenTelemetry exporters send to `evalgate record`, and finds the trial of each.

Entry points: `receiver.SpanReceiver`, `tool_facts.add_tool_facts`.
"""
