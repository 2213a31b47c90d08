"""Recording an agent: a proxy for its model calls, a receiver for its spans, cassettes to replay, and their verbs."""
