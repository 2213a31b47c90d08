"""The verbs about traces and schemas: `query`, `convert`, `fingerprint`, `schema`."""
