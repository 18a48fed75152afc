"""
Opens event streams and reads none of their bytes, or few. Node cannot set the size of a receive buffer.

Arguments: port, path, number of streams that are not read, number of streams that are read slowly.
Prints `open` when all streams are open, then every quarter of a second how many of each kind the server has closed.
Ends with its standard input.
"""

import select
import socket
import sys

RECEIVE_BYTES = 4096
# The segment size of Ethernet. That of the loopback interface makes the server's send buffers 40 times as large.
SEGMENT_BYTES = 1460
SLOW_READ_BYTES = 1024
EVERY_MS = 250

port, path, stalled_count, slow_count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


def open_stream():
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT_BYTES)
    stream.connect(("127.0.0.1", port))
    stream.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    return stream


def is_closed(events):
    return bool(events & (select.POLLERR | select.POLLHUP | select.POLLRDHUP))


stalled = [open_stream() for _ in range(stalled_count)]
slow = [open_stream() for _ in range(slow_count)]
unclosed = select.poll()
for stream in stalled:
    unclosed.register(stream, select.POLLRDHUP)
commands = select.poll()
commands.register(sys.stdin, select.POLLIN | select.POLLHUP)
closed = [0, 0]
print("open", flush=True)

while not commands.poll(EVERY_MS):
    for descriptor, events in unclosed.poll(0):
        if is_closed(events):
            unclosed.unregister(descriptor)
            closed[0] += 1
    for stream in list(slow):
        try:
            ended = stream.recv(SLOW_READ_BYTES) == b""
        except ConnectionError:
            ended = True
        if ended:
            slow.remove(stream)
            closed[1] += 1
    print(*closed, flush=True)
