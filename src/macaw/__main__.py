"""Makes `python -m macaw` equivalent to the command `macaw`."""

import gc
import sys


def main() -> None:
    """Run the command line. Its modules are imported without collecting garbage."""
    gc.disable()  # `cli.main` decides for how long
    try:
        from macaw import cli
    except KeyboardInterrupt:  # `cli.main` reports later ones
        sys.stderr.write("macaw: interrupted\n")
        sys.exit(130)  # `EXIT_INTERRUPTED`, whose module may not be imported yet
    cli.main()


if __name__ == "__main__":
    main()
