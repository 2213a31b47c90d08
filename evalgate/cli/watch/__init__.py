"""`run --watch`: judges again whenever suites or traces change. Entry points: `loop.watch`, `files.PolledFiles`."""
