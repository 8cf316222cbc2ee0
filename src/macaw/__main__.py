"""Makes `python -m macaw` equivalent to the command `macaw`."""

import gc


def main() -> None:
    """Run the command line. Its modules are imported without collecting garbage."""
    gc.disable()  # `cli.main` decides for how long
    from macaw import cli

    cli.main()


if __name__ == "__main__":
    main()
