"""The verbs for traces and schemas: `query`, `convert`, `fingerprint`, `schema`."""
