"""Words and rules: frozen values without I/O. Nothing here may import another part of Kilonova."""
