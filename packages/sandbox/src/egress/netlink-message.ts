/**
 * What the kernel is told about the network of a sandbox, as netlink messages: every address is a local one, and every
 * TCP connection that leaves loopback lands at one port, where the gateway catches it. Of datagrams only the first to each
 * destination lands there, to be put on record; the rest is refused by the kernel. Pure; the launcher sends it.
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
/** Without it rules stand in reverse order. */
const APPEND = 0x800;
const NESTED = 0x8000;

const FAMILY_INET = 2;
const FAMILY_INET6 = 10;
const LOOPBACK_INDEX = 1;
const PROTOCOL_TCP = 6;
const PROTOCOL_UDP = 17;
const NAME_PORT = 53;
const LOOPBACK_V4 = 127;
/** Where a destination is held, as the kernel numbers its registers: address, then port. */
const KEY_REGISTER = 8;
/** Of datagrams, in each family: beyond it the kernel refuses without a word. */
export const DESTINATIONS_MAX = 4096;
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
    [...isFamily(FAMILY_INET, PROTOCOL_TCP), ...isAddress(FAMILY_INET, "not"), ...toPort(catchPort)],
    [...isFamily(FAMILY_INET6, PROTOCOL_TCP), ...isAddress(FAMILY_INET6, "not"), ...toPort(catchPort)],
    ...forwardedPorts.flatMap((port) =>
      [FAMILY_INET, FAMILY_INET6].map((family) => [
        ...isFamily(family, PROTOCOL_TCP),
        ...isAddress(family, "is"),
        ...isPort("is", port),
        ...toPort(catchPort),
      ]),
    ),
    ...[FAMILY_INET, FAMILY_INET6].flatMap((family) => datagramRules(family, catchPort)),
  ];
  return Buffer.concat([
    batchMark(0x10),
    packetMessage(newTable, table),
    packetMessage(newChain, ...chain),
    ...[FAMILY_INET, FAMILY_INET6].map((family) => destinationSet(family, table)),
    ...rules.map((expressions) =>
      packetMessage(newRule, table, attribute(2, name("capture")), nested(4, ...expressions)),
    ),
    batchMark(0x11),
  ]);
}

/** Destinations of datagrams that were caught once. */
function destinationSet(family: number, table: Buffer): Buffer {
  const newSet = 9;
  const [filledByRules, keyType] = [0x20, 0];
  return packetMessage(
    newSet,
    table,
    attribute(2, name(setName(family))),
    attribute(3, big(filledByRules)),
    attribute(4, big(keyType)),
    attribute(5, big(addressBytes(family) + 4)),
    nested(9, attribute(1, big(DESTINATIONS_MAX))),
    attribute(10, big(family)),
  );
}

function setName(family: number): string {
  return family === FAMILY_INET ? "seen4" : "seen6";
}

function addressBytes(family: number): number {
  return family === FAMILY_INET ? 4 : 16;
}

/** A destination that was seen is left to the kernel, which knows no such port; one that was not is caught and seen. */
function datagramRules(family: number, catchPort: number): readonly (readonly Buffer[])[] {
  const portRegister = KEY_REGISTER + addressBytes(family) / 4;
  const set = [attribute(1, name(setName(family)))];
  const [target, source] = family === FAMILY_INET ? [16, 12] : [24, 8];
  const tests = [
    ...isFamily(family, PROTOCOL_UDP),
    ...isAddress(family, "not"),
    ...isPort("not", NAME_PORT),
    // WHY: answers to questions for names come from there, and go to the program.
    ...isSourcePort("not", NAME_PORT),
    load(1, target, addressBytes(family), KEY_REGISTER),
    load(2, 2, 2, portRegister),
  ];
  const [isIn, adds, accepted] = [[...set, attribute(2, big(KEY_REGISTER))], 0, 1];
  return [
    [...tests, expression("lookup", ...isIn), verdict(accepted)],
    [
      ...tests,
      expression("dynset", ...set, attribute(3, big(adds)), attribute(4, big(KEY_REGISTER))),
      // WHY: the socket that catches it is told the source only, so the source says where it was to go.
      store(1, source, addressBytes(family), KEY_REGISTER),
      store(2, 0, 2, portRegister),
      ...toPort(catchPort),
    ],
  ];
}

/** Packets of one family and protocol. */
function isFamily(family: number, protocol: number): readonly Buffer[] {
  const [metaFamily, metaProtocol] = [15, 16];
  return [
    meta(metaFamily),
    compare("is", Buffer.from([family])),
    meta(metaProtocol),
    compare("is", Buffer.from([protocol])),
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

function isPort(sense: "is" | "not", port: number): readonly Buffer[] {
  return [load(2, 2, 2), compare(sense, bigShort(port))];
}

function isSourcePort(sense: "is" | "not", port: number): readonly Buffer[] {
  return [load(2, 0, 2), compare(sense, bigShort(port))];
}

/** WHY not a redirection: this way the socket that catches still says where the program wanted to go. */
function toPort(port: number): readonly Buffer[] {
  return [
    expression("immediate", attribute(1, big(1)), nested(2, attribute(1, bigShort(port)))),
    expression("tproxy", attribute(1, big(0)), attribute(3, big(1))),
  ];
}

/** From a header (1: network, 2: transport) into a register. */
function load(base: number, offset: number, length: number, register = 1): Buffer {
  const numbers = [register, base, offset, length];
  return expression("payload", ...numbers.map((value, index) => attribute(index + 1, big(value))));
}

/** From a register into a header. WHY no checksum: the packet has passed that check, and never leaves the machine. */
function store(base: number, offset: number, length: number, register: number): Buffer {
  const numbers = [base, offset, length, register];
  return expression("payload", ...numbers.map((value, index) => attribute(index + 2, big(value))));
}

function verdict(code: number): Buffer {
  const decided = nested(2, nested(2, attribute(1, big(code))));
  return expression("immediate", attribute(1, big(0)), decided);
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
  return message((subsystem << 8) | kind, CREATE | APPEND, Buffer.from([familyBoth, 0, 0, 0]), ...attributes);
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
