"""Redis masters of our own, on free ports and without persistence: what is measured is the client, not the disk. And the
delay before them."""
import contextlib
import signal
import socket
import subprocess
import time

from shared.ports import free_port

from .processes import Failed, Talker, end, folder, output, start

REQUESTS = ("set", "eval", "evalsha", "subscribe", "unsubscribe")  # what clients send; the rest runs inside scripts


class Authority:
    """Certificates for nodes that speak TLS."""

    def __init__(self, place):
        self.ca, self.certificate, self.key = (place / name for name in ("ca.pem", "node.pem", "node.key"))
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
        output(["openssl", "req", "-x509", *curve, "-keyout", place / "ca.key", "-out", self.ca, "-subj", "/CN=bench"])
        output(["openssl", "req", "-x509", *curve, "-keyout", self.key, "-out", self.certificate, "-subj", "/CN=node",
                "-CA", self.ca, "-CAkey", place / "ca.key", "-addext", "subjectAltName=IP:127.0.0.1",
                "-addext", "basicConstraints=critical,CA:FALSE"])


class Nodes:
    def __init__(self, count, tls=False):
        self.folder = folder()
        self.authority = Authority(self.folder) if tls else None
        self.ports = [free_port() for _ in range(count)]
        self._servers = [self._start(port) for port in self.ports]
        for i in range(count):
            self._wait_for(i)

    def _start(self, port):
        listen = ["--port", port]
        if self.authority:
            listen = ["--port", 0, "--tls-port", port, "--tls-auth-clients", "no", "--tls-ca-cert-file", self.authority.ca,
                      "--tls-cert-file", self.authority.certificate, "--tls-key-file", self.authority.key]
        return start(["redis-server", "--bind", "127.0.0.1", *listen, "--save", "", "--appendonly", "no", "--dir",
                      self.folder, "--maxclients", 4000, "--loglevel", "warning"], stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL)

    def _wait_for(self, i):
        for _ in range(1000):
            if self._servers[i].poll() is not None:
                break
            with contextlib.suppress(OSError, ValueError):
                if self._answers(i):
                    return
            time.sleep(0.01)
        raise Failed(f"redis-server does not start on port {self.ports[i]}; run it by hand to see why")

    def _answers(self, i):
        """Ours, and not another that took the port before it; one that speaks TLS is not asked."""
        if self.authority:
            socket.create_connection(("127.0.0.1", self.ports[i]), 1).close()
            return True
        return self._info(i, "server").get("process_id") == str(self._servers[i].pid)

    def start_again(self, i):
        self._servers[i] = self._start(self.ports[i])
        self._wait_for(i)

    def kill(self, i):
        end(self._servers[i])

    def hang(self, i):
        self._servers[i].send_signal(signal.SIGSTOP)

    def go_on(self, i):
        self._servers[i].send_signal(signal.SIGCONT)

    def _ask(self, i, command):
        """One command of plain words; the answer is a line or a bulk."""
        with socket.create_connection(("127.0.0.1", self.ports[i]), 10) as line, line.makefile("rb") as answer:
            line.sendall(f"{command}\r\n".encode())
            head = answer.readline().decode().strip()
            return answer.read(int(head[1:])).decode() if head.startswith("$") else head

    def forget(self, key):
        """The next client of that name does not wait for what was left."""
        for i in range(len(self.ports)):
            self._ask(i, f"DEL {key}")

    def _info(self, i, section):
        lines = (line.partition(":") for line in self._ask(i, f"INFO {section}").splitlines())
        return {name: value for name, _, value in lines}

    def requests(self):
        """How many requests all of them have been sent. The servers count what scripts do as well: a script that hands a
        lock over sets a key, and tells of it by PUBLISH, which no client sends."""
        total = 0
        for i in range(len(self.ports)):
            stats = {name: int(value.split(",")[0].split("=")[1]) for name, value in self._info(i, "commandstats").items()
                     if name.startswith("cmdstat_")}
            total += sum(stats.get(f"cmdstat_{name}", 0) for name in REQUESTS) - stats.get("cmdstat_publish", 0)
        return total

    def cpu_us(self):
        stats = [self._info(i, "cpu") for i in range(len(self.ports))]
        return sum(float(one["used_cpu_user"]) + float(one["used_cpu_sys"]) for one in stats) * 1e6

    def memory(self):
        return sum(int(self._info(i, "memory")["used_memory"]) for i in range(len(self.ports)))

    def stop(self):
        for server in self._servers:
            end(server)


class Delay:
    """Ports at which the same nodes answer `ms` later, each way."""

    def __init__(self, program, ms, ports):
        self._proxy = Talker([program, round(ms * 1000), *ports])
        self.ports = [int(word) for word in self._proxy.line().split()]

    def stop(self):
        self._proxy.end()


def redis_version():
    return output(["redis-server", "--version"]).split("v=")[1].split()[0]
