"""Let `python -m macaw` do the same as the command `macaw`."""

from macaw.cli import main

if __name__ == "__main__":
    main()
