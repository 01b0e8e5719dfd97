"""Holds the gateway to RFC 6455, case by case as the public Autobahn list names them, with two implementations that are
not ours: wsproto makes and reads frames of every kind, legal or not; websockets talks as an app would.

usage: websocket_conformance.py URL APP_KEY REGISTRATION_ID DEVICE_SECRET
"""

import asyncio
import json
import os
import socket
import struct
import sys
import time
from urllib.parse import urlparse

import websockets
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, Ping, Pong, Request, TextMessage

URL, APP, DEVICE, SECRET = sys.argv[1:5]
PLACE = urlparse(URL)
HELLO = json.dumps({"type": "hello", "version": 1, "app": APP, "device": DEVICE, "secret": SECRET, "cursor": None})
LIMIT = 16_384


class Peer:
    """A client over a bare socket, so that bytes can be sent that no library would send."""

    def __init__(self):
        self.socket = socket.create_connection((PLACE.hostname, PLACE.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(5)
        self.ws = WSConnection(ConnectionType.CLIENT)
        self.send_event(Request(host=PLACE.netloc, target=PLACE.path))
        self.queue = []
        assert isinstance(self.event(), AcceptConnection)
        self.send_event(TextMessage(HELLO))
        assert json.loads(self.text())["type"] == "welcome"

    def send_event(self, event):
        self.socket.sendall(self.ws.send(event))

    def event(self):
        while not self.queue:
            data = self.socket.recv(65_536)
            self.ws.receive_data(data or None)
            self.queue += list(self.ws.events())
            if not data and not self.queue:
                return None
        return self.queue.pop(0)

    def text(self):
        whole = ""
        while True:
            event = self.event()
            assert isinstance(event, TextMessage), event
            whole += event.data
            if event.message_finished:
                return whole

    def raw(self, *frames, step=None):
        data = b"".join(frames)
        for start in range(0, len(data), step or max(1, len(data))):
            self.socket.sendall(data[start : start + (step or len(data))])


def frame(opcode, payload=b"", fin=True, rsv=0, masked=True, length=None):
    """One frame; `length` is what its header says where that is not the truth."""
    size = len(payload) if length is None else length
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    mask = 0x80 if masked else 0
    if size < 126:
        head += bytes([mask | size])
    elif size < 65_536:
        head += bytes([mask | 126]) + struct.pack("!H", size)
    else:
        head += bytes([mask | 127]) + struct.pack("!Q", size)
    if not masked:
        return head + payload
    key = os.urandom(4)
    return head + key + bytes(b ^ key[i & 3] for i, b in enumerate(payload))


TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10


def ping_text(padding=""):
    """A text that the gateway answers by pong, of any size and content."""
    return json.dumps({"type": "ping", "padding": padding}, ensure_ascii=False).encode()


def closing(code, reason=b""):
    return frame(CLOSE, struct.pack("!H", code) + reason)


def expect_pong_text(peer):
    assert json.loads(peer.text()) == {"type": "pong"}


def expect_close(peer, code):
    event = peer.event()
    assert isinstance(event, CloseConnection), event
    assert event.code == code, (event.code, event.reason)
    # and then TCP ends
    peer.socket.settimeout(12)
    while peer.socket.recv(65_536):
        pass


CASES = []


def case(name):
    def keep(body):
        CASES.append((name, body))
        return body

    return keep


def taken(name, *frames, step=None):
    CASES.append((name, lambda peer: (peer.raw(*frames, step=step), expect_pong_text(peer))))


def refused(name, code, *frames, step=None):
    CASES.append((name, lambda peer: (peer.raw(*frames, step=step), expect_close(peer, code))))


# 1: framing
for size in (0, 60, 61, 62, 63, 126, 4_096, LIMIT - 64):
    padding = ping_text("*" * size)
    taken(f"1.1 a text of {len(padding)} bytes", frame(TEXT, padding))
    taken("1.1 the same, 997 bytes a time", frame(TEXT, padding), step=997)
refused("1.1.8 a text above the limit", 1009, frame(TEXT, ping_text("*" * LIMIT)))
refused("a frame of 10 MB is refused by its head", 1009, frame(TEXT, b"x" * 4096, length=10 << 20))
refused("1.1.8 a length of 2^63-1", 1009, frame(TEXT, b"{", length=2**63 - 1))

# 2: pings and pongs
for size in (0, 1, 125):
    payload = bytes(range(size))

    @case(f"2.1 a ping of {size} bytes comes back")
    def _(peer, payload=payload):
        peer.raw(frame(PING, payload))
        event = peer.event()
        assert isinstance(event, Pong) and bytes(event.payload) == payload, event


refused("2.5 a ping of 126 bytes", 1002, frame(PING, b"x" * 126))
taken("2.7 an unsolicited pong", frame(PONG), frame(TEXT, ping_text()))
taken("2.8 an unsolicited pong with payload", frame(PONG, b"unsolicited"), frame(TEXT, ping_text()))


@case("2.10 ten pings, ten pongs in order")
def _(peer):
    peer.raw(*[frame(PING, b"%d" % n) for n in range(10)])
    for n in range(10):
        event = peer.event()
        assert isinstance(event, Pong) and bytes(event.payload) == b"%d" % n


@case("2.11 ten pings in single bytes")
def _(peer):
    peer.raw(*[frame(PING, b"%d" % n) for n in range(10)], step=1)
    for n in range(10):
        event = peer.event()
        assert isinstance(event, Pong) and bytes(event.payload) == b"%d" % n


# 3: reserved bits
for rsv in range(1, 8):
    refused(f"3.{rsv} reserved bits {rsv}", 1002, frame(TEXT, ping_text(), rsv=rsv))


@case("3.2 what came before is answered, and nothing after")
def _(peer):
    peer.raw(frame(TEXT, ping_text()), frame(TEXT, ping_text(), rsv=2), frame(PING))
    expect_pong_text(peer)
    expect_close(peer, 1002)


# 4: opcodes
for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
    refused(f"4 opcode {opcode}", 1002, frame(opcode))
    refused(f"4 opcode {opcode} with payload", 1002, frame(opcode, b"reserved"), step=1)

# masking
refused("RFC 6455 §5.1 an unmasked text", 1002, frame(TEXT, ping_text(), masked=False))
refused("RFC 6455 §5.2 a length in more bytes than it needs", 1002, b"\x81\xfe\x00\x05" + b"\0" * 9)

# 5: fragments
whole = ping_text("fragments")
a, b, c = whole[:5], whole[5:12], whole[12:]
refused("5.1 a ping in two", 1002, frame(PING, b"a", fin=False), frame(CONTINUATION, b"b"))
refused("5.2 a pong in two", 1002, frame(PONG, b"a", fin=False), frame(CONTINUATION, b"b"))
for step in (None, 1, 3):
    taken(f"5.3 a text in two, {step or 'all'} bytes a time", frame(TEXT, a, fin=False), frame(CONTINUATION, b + c), step=step)
    taken(
        f"5.19 five fragments, empty ones among them, {step or 'all'} bytes a time",
        *[frame(TEXT, a, fin=False), frame(CONTINUATION, fin=False), frame(CONTINUATION, b, fin=False)],
        *[frame(CONTINUATION, fin=False), frame(CONTINUATION, c)],
        step=step,
    )
    CASES.append(
        (
            f"5.6 a ping between fragments, {step or 'all'} bytes a time",
            lambda peer, step=step: (
                peer.raw(frame(TEXT, a, fin=False), frame(PING, b"in"), frame(CONTINUATION, b + c), step=step),
                check_ping_then_pong(peer),
            ),
        )
    )


def check_ping_then_pong(peer):
    event = peer.event()
    assert isinstance(event, Pong) and bytes(event.payload) == b"in", event
    expect_pong_text(peer)


refused("5.9 nothing to continue", 1002, frame(CONTINUATION, b"x"), frame(TEXT, ping_text()))
refused("5.12 nothing to continue, not final", 1002, frame(CONTINUATION, b"x", fin=False))
refused("5.18 a text inside another", 1002, frame(TEXT, a, fin=False), frame(TEXT, b))
refused("5.18 a binary inside a text", 1002, frame(TEXT, a, fin=False), frame(BINARY, b))
taken(
    "5 each byte a fragment",
    frame(TEXT, whole[:1], fin=False),
    *[frame(CONTINUATION, bytes([byte]), fin=False) for byte in whole[1:-1]],
    frame(CONTINUATION, whole[-1:]),
)
refused(
    "5 fragments that are too large together",
    1009,
    frame(TEXT, b"{", fin=False),
    *[frame(CONTINUATION, b" " * 1_000, fin=False) for _ in range(17)],
)

# 6: UTF-8
GOOD = "κόσμε ÄÖÜß 日本語 🔔\ud7ff\ue000\uffff\U00010000\U0010ffff".encode("utf-8", "surrogatepass")
text = b'{"type":"ping","padding":"' + GOOD + b'"}'
for cut in range(1, len(text)):
    taken(f"6.2 valid UTF-8, cut at {cut}", frame(TEXT, text[:cut], fin=False), frame(CONTINUATION, text[cut:]))
for name, bad in {
    "6.3 a surrogate in three bytes": b"\xed\xa0\x80",
    "6.8 the first of five bytes": b"\xf8\x88\x80\x80\x80",
    "6.10 beyond U+10FFFF": b"\xf4\x90\x80\x80",
    "6.12 a continuation byte alone": b"\x80",
    "6.13 a lonely first byte": b"\xc0 ",
    "6.14 an incomplete character": b"\xe2\x82",
    "6.16 0xfe": b"\xfe",
    "6.18 a shorter form there is, of two": b"\xc0\xaf",
    "6.18 a shorter form there is, of three": b"\xe0\x9f\xbf",
    "6.18 a shorter form there is, of four": b"\xf0\x8f\xbf\xbf",
    "6.20 half of a pair": b"\xed\xbf\xbf",
}.items():
    refused(name, 1007, frame(TEXT, b'{"a":"' + bad + b'"}'))
    refused(f"{name}, in single bytes", 1007, frame(TEXT, b'{"a":"' + bad + b'"}'), step=1)


@case("6.4 told at the first wrong byte, before the frame is whole")
def _(peer):
    peer.raw(frame(TEXT, b"\xce\xba\xf4\x90" + b"x" * 100)[: 6 + 4])
    expect_close(peer, 1007)


# 7: closing
for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999):
    refused(f"7.7 close code {code} is answered by the same", code, closing(code))
for code in (0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65535):
    refused(f"7.9 close code {code} may not be sent", 1002, closing(code))
refused("7.3.2 half a code", 1002, frame(CLOSE, b"\x03"))
refused("7.3.5 a reason of 123 bytes", 1000, closing(1000, b"*" * 123))
refused("7.3.6 a reason of 124 bytes", 1002, closing(1000, b"*" * 124))
refused("7.5.1 a reason that is no UTF-8", 1007, closing(1000, b"\xce\xba\xe1\xbd\xb9\xcf\x83\xed\xa0\x80"))
refused("7.1.3 nothing after a close counts", 1000, closing(1000), frame(TEXT, ping_text()), frame(PING))
refused("7.1.5 a close between fragments", 1000, frame(TEXT, a, fin=False), closing(1000), frame(CONTINUATION, b))


@case("7.3.1 a close without a code is answered by one without")
def _(peer):
    peer.raw(frame(CLOSE))
    event = peer.event()
    assert isinstance(event, CloseConnection) and event.code == 1005, event


# the protocol's own limits
for name, bytes_ in {"a binary message": frame(BINARY, b"\0"), "no JSON": frame(TEXT, b"x")}.items():

    @case(f"docs/gateway-protocol.md: {name} is told and ends with 4200")
    def _(peer, bytes_=bytes_):
        peer.raw(bytes_)
        assert json.loads(peer.text())["type"] == "error"
        expect_close(peer, 4200)


# 9: limits and performance, as far as 16 KiB go
@case("9 a thousand texts, all answered in order within seconds")
def _(peer):
    start = time.time()
    peer.raw(*[frame(TEXT, ping_text("x" * 1_000)) for _ in range(1_000)])
    for _ in range(1_000):
        expect_pong_text(peer)
    assert time.time() - start < 20


@case("9 a text in sixteen thousand fragments of a byte")
def _(peer):
    data = ping_text("y" * 15_900)
    peer.raw(
        frame(TEXT, data[:1], fin=False),
        *[frame(CONTINUATION, data[i : i + 1], fin=False) for i in range(1, len(data) - 1)],
        frame(CONTINUATION, data[-1:]),
    )
    expect_pong_text(peer)


@case("a million empty fragments cost the gateway nothing that stays")
def _(peer):
    peer.raw(frame(TEXT, b'{"type":"ping"', fin=False))
    many = b"".join(frame(CONTINUATION, fin=False) for _ in range(10_000))
    for _ in range(100):
        peer.raw(many)
    peer.raw(frame(CONTINUATION, b"}"))
    expect_pong_text(peer)


async def as_an_app():
    """websockets, as an app would use it."""
    async with websockets.connect(URL, max_size=None) as app:
        await app.send(HELLO)
        assert json.loads(await app.recv())["type"] == "welcome"
        await (await app.ping(b"websockets"))
        for size in (0, 125, 126, 16_000):
            await app.send(ping_text("z" * size).decode())
            assert json.loads(await app.recv()) == {"type": "pong"}
        await app.send(["{", '"type":', '"ping"', "}"])
        assert json.loads(await app.recv()) == {"type": "pong"}
    assert app.close_code == 1000
    async with websockets.connect(URL) as app:
        await app.send("x" * (LIMIT + 1))
        try:
            await app.recv()
        except websockets.exceptions.ConnectionClosed:
            pass
        assert app.close_code == 1009, app.close_code


failed = 0
for name, body in CASES:
    try:
        peer = Peer()
        body(peer)
        peer.socket.close()
    except Exception as error:  # told with its case
        failed += 1
        print(f"FAILED {name}: {type(error).__name__} {error}")
asyncio.run(as_an_app())
print(f"{len(CASES)} cases, {failed} failed")
sys.exit(1 if failed else 0)
