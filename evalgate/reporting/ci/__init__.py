"""Reports for CI systems: `annotations`, `junit`, `sarif`."""
