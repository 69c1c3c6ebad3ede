"""Put this process under the filter, hand the descriptor to the tracer, and become the program to be watched.

python -I launcher.py SOCKET PROGRAM ARGUMENTS...
"""

import os
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.hostile.syscalls import install_filter

if __name__ == "__main__":
    channel = socket.socket(fileno=int(sys.argv[1]))
    descriptor = install_filter()
    socket.send_fds(channel, [b"."], [descriptor])
    channel.close()
    os.close(descriptor)
    os.execvp(sys.argv[2], sys.argv[2:])
