"""Commands, one file each; the path is the name, a folder is a group of commands."""
