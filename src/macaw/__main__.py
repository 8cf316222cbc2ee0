"""Makes `python -m macaw` equivalent to the command `macaw`."""

from macaw.cli import main

if __name__ == "__main__":
    main()
