"""What the image runs: hands over to evalgate.action."""

import sys

from evalgate.action import main

if __name__ == "__main__":
    sys.exit(main())
