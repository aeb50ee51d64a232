"""Runs a command and ends everything it started when whoever started it is gone: `python keeper.py COMMAND ...`

It is to be started as the leader of a session of its own, with a pipe as standard input that its owner keeps open. When
the pipe closes, because the owner closed it or died (of SIGKILL, even), or when the command ends, the whole process
group ends: the command is asked first, and killed with all the rest ten seconds later. Nothing else is ever touched.
"""

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

GRACE_S = 10


def main() -> None:
    if os.getpgid(0) != os.getpid():
        sys.exit("error: keeper.py ends its whole process group, so it must be started as the leader of a new session")
    signal.signal(signal.SIGTERM, lambda *_: None)  # for the group's others, who get the default back
    command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)

    def end_with_owner() -> None:
        os.read(0, 1)
        command.terminate()
        with suppress(subprocess.TimeoutExpired):
            command.wait(GRACE_S)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=end_with_owner, daemon=True).start()
    command.wait()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
