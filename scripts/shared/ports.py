"""Free ports on loopback for servers of our own."""
import random
import socket

_given = set()  # servers are started some time after their ports were found, and two must not get the same one


def free_port():
    """Below the range that the kernel gives to connections, so that a server finds its port free, also when it comes back."""
    while True:
        port = random.randrange(12000, 32000)
        if port in _given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port
