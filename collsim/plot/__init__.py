"""Pictures of results, one file each; the only room that knows matplotlib."""
