"""Everything that touches the world; each adapter alone, joined by bootstrap."""
