"""What a person asks for, as Python functions: the command line and a notebook call the same ones."""
