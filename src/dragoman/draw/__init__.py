"""Pictures from plain values: SVG and HTML."""
