"""Reports for CI systems: `build_annotations`, `render_junit`, `render_sarif`."""
