"""What is Kilonova's own over HTTP: explanations and the audit under /kilonova, faults on demand under /chaos."""
