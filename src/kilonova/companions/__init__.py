"""The services beside compute: each behind an interface that the real service and our small embedded one both keep."""
