"""Golden conversations: eight dimensions, each from evidence in the trace; none is ever passed in silence."""
