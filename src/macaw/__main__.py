"""`python -m macaw` is `macaw`."""

from macaw.cli import main

if __name__ == "__main__":
    main()
