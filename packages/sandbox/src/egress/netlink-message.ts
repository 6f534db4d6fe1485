/**
 * What the kernel is told about the network of a sandbox, as netlink messages: every address is a local one, and every
 * TCP connection that leaves loopback lands at one port, where the gateway catches it. Pure; the launcher sends it.
 */
export interface KernelWords {
  /** Of netlink: routes or packet rules. */
  readonly protocol: number;
  readonly bytes: Buffer;
}

export interface CaptureRules {
  /** Where the gateway listens inside. */
  readonly catchPort: number;
  /** Loopback ports that lead to the host's own loopback. */
  readonly forwardedPorts: readonly number[];
}

const NETLINK_ROUTE = 0;
const NETLINK_NETFILTER = 12;

const REQUEST = 0x01;
const ACKNOWLEDGE = 0x04;
const CREATE = 0x400;
const NESTED = 0x8000;

const FAMILY_INET = 2;
const FAMILY_INET6 = 10;
const LOOPBACK_INDEX = 1;
const PROTOCOL_TCP = 6;
const LOOPBACK_V4 = 127;
const LOOPBACK_V6 = Buffer.from([...Array.from({ length: 15 }, () => 0), 1]);

export function captureWords({ catchPort, forwardedPorts }: CaptureRules): readonly KernelWords[] {
  return Object.freeze([
    { protocol: NETLINK_ROUTE, bytes: everythingIsLocal(FAMILY_INET) },
    { protocol: NETLINK_ROUTE, bytes: everythingIsLocal(FAMILY_INET6) },
    { protocol: NETLINK_NETFILTER, bytes: packetRules(catchPort, forwardedPorts) },
  ]);
}

/** `ip route add local default dev lo` */
function everythingIsLocal(family: number): Buffer {
  const newRoute = 24;
  const [tableLocal, byStatic, scopeHost, typeLocal, outIndex] = [255, 4, 254, 2, 4];
  const head = Buffer.from([family, 0, 0, 0, tableLocal, byStatic, scopeHost, typeLocal, 0, 0, 0, 0]);
  return message(newRoute, CREATE, head, attribute(outIndex, little(LOOPBACK_INDEX)));
}

/** One table, one chain before routing, and rules; all or none of them. */
function packetRules(catchPort: number, forwardedPorts: readonly number[]): Buffer {
  const [newTable, newChain, newRule] = [0, 3, 6];
  const [beforeRouting, priority] = [0, -150];
  const table = attribute(1, name("sallyport"));
  const hook = nested(4, attribute(1, big(beforeRouting)), attribute(2, big(priority)));
  const chain = [table, attribute(3, name("capture")), hook, attribute(7, name("filter"))];
  const rules = [
    [...isFamily(FAMILY_INET), ...isAddress(FAMILY_INET, "not")],
    [...isFamily(FAMILY_INET6), ...isAddress(FAMILY_INET6, "not")],
    ...forwardedPorts.flatMap((port) =>
      [FAMILY_INET, FAMILY_INET6].map((family) => [
        ...isFamily(family),
        ...isAddress(family, "is"),
        ...isPort(port),
      ]),
    ),
  ];
  return Buffer.concat([
    batchMark(0x10),
    packetMessage(newTable, table),
    packetMessage(newChain, ...chain),
    ...rules.map((tests) =>
      packetMessage(newRule, table, attribute(2, name("capture")), nested(4, ...tests, ...toPort(catchPort))),
    ),
    batchMark(0x11),
  ]);
}

/** TCP of one family. */
function isFamily(family: number): readonly Buffer[] {
  const [metaFamily, metaProtocol] = [15, 16];
  return [
    meta(metaFamily),
    compare("is", Buffer.from([family])),
    meta(metaProtocol),
    compare("is", Buffer.from([PROTOCOL_TCP])),
  ];
}

/** A fact of the packet into a register. */
function meta(key: number): Buffer {
  return expression("meta", attribute(1, big(1)), attribute(2, big(key)));
}

/** Whether it goes to loopback. */
function isAddress(family: number, sense: "is" | "not"): readonly Buffer[] {
  return family === FAMILY_INET
    ? [load(1, 16, 1), compare(sense, Buffer.from([LOOPBACK_V4]))]
    : [load(1, 24, 16), compare(sense, LOOPBACK_V6)];
}

function isPort(port: number): readonly Buffer[] {
  return [load(2, 2, 2), compare("is", bigShort(port))];
}

/** WHY not a redirection: this way the socket that catches still says where the program wanted to go. */
function toPort(port: number): readonly Buffer[] {
  return [
    expression("immediate", attribute(1, big(1)), nested(2, attribute(1, bigShort(port)))),
    expression("tproxy", attribute(1, big(0)), attribute(3, big(1))),
  ];
}

/** From a header (1: network, 2: transport) into a register. */
function load(base: number, offset: number, length: number): Buffer {
  const numbers = [1, base, offset, length];
  return expression("payload", ...numbers.map((value, index) => attribute(index + 1, big(value))));
}

function compare(sense: "is" | "not", value: Buffer): Buffer {
  return expression(
    "cmp",
    attribute(1, big(1)),
    attribute(2, big(sense === "is" ? 0 : 1)),
    nested(3, attribute(1, value)),
  );
}

function expression(kind: string, ...data: readonly Buffer[]): Buffer {
  return nested(1, attribute(1, name(kind)), nested(2, ...data));
}

function packetMessage(kind: number, ...attributes: readonly Buffer[]): Buffer {
  const subsystem = 10;
  const familyBoth = 1;
  return message((subsystem << 8) | kind, CREATE, Buffer.from([familyBoth, 0, 0, 0]), ...attributes);
}

/** Begin and end of what is taken as a whole. */
function batchMark(kind: number): Buffer {
  const subsystem = 10;
  return framed(kind, REQUEST, Buffer.from([0, 0, 0, subsystem]));
}

function message(kind: number, flags: number, ...parts: readonly Buffer[]): Buffer {
  return framed(kind, REQUEST | ACKNOWLEDGE | flags, ...parts);
}

function framed(kind: number, flags: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(16);
  head.writeUInt32LE(head.length + body.length, 0);
  head.writeUInt16LE(kind, 4);
  head.writeUInt16LE(flags, 6);
  return Buffer.concat([head, body]);
}

function attribute(kind: number, value: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(head.length + value.length, 0);
  head.writeUInt16LE(kind, 2);
  return Buffer.concat([head, value, Buffer.alloc(-value.length & 3)]);
}

function nested(kind: number, ...parts: readonly Buffer[]): Buffer {
  return attribute(kind | NESTED, Buffer.concat(parts));
}

function name(text: string): Buffer {
  return Buffer.from(`${text}\0`, "latin1");
}

function little(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function big(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function bigShort(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
