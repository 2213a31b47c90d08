"""What the image runs: hands over to evalgate.action. A job may be cancelled before that is loaded."""

import os
import signal


def cancelled(number: int, _: object) -> None:
    """Ends with the two outputs that say so."""
    code = 128 + number
    with open(os.environ.get("GITHUB_OUTPUT") or os.devnull, "a", encoding="utf-8") as outputs:  # noqa: PTH123
        outputs.write(f"verdict=cannot_judge\nexit-code={code}\n")
    os._exit(code)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, cancelled)
    signal.signal(signal.SIGINT, cancelled)
    from evalgate.bootstrap.clean_start import start_over

    start_over()
    from evalgate.action import main

    os._exit(main())  # a signal on the way out changes nothing any more
