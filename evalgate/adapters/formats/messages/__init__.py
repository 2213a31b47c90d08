"""One module a way of writing messages, shared by the formats that use it."""
