/**
 * Whose a raw connection is, in a process that runs several subjects: whoever opened it writes to it as was decided then;
 * another one needs network connect to where it leads. Requests on shared connections are decided one by one elsewhere.
 */
import net from "node:net";
import type { HostedNames } from "@sallyport/gate";
import type { AccessPart } from "../access-part.ts";
import { apply, bare, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { connecting } from "../http/request-part.ts";
import { connectionOf } from "./connection.ts";
import { keepAllNumbers } from "./handle-standing.ts";

interface Owned {
  readonly hosted: NonNullable<HostedNames>;
  /** What was decided on. */
  readonly part: AccessPart;
}

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set, delete: remove } = WeakMap.prototype;
const { write, end } = net.Socket.prototype;
/* oxlint-enable typescript/unbound-method */
/** Absent: the process's own, or accepted from elsewhere. */
const owned = new WeakMap<object, Owned>();
let isHosting = false;

/** It is opened now, by whoever acts. */
export function ownSocket({ actor }: Ground, socket: object, part: () => AccessPart): void {
  if (!isHosting) return;
  const { hosted } = actor();
  if (hosted === undefined) apply(remove, owned, [socket]);
  else apply(set, owned, [socket, bare({ hosted, part: part() })]);
}

/** From here on raw connections belong to whoever opens them. */
export function ownSockets(ground: Ground): void {
  isHosting = true;
  keepAllNumbers();
  put(
    net.Socket.prototype,
    "write",
    function ownedWrite(this: net.Socket, ...args: Parameters<typeof write>) {
      requireWriter(ground, this);
      return apply(write, this, args);
    },
    false,
  );
  put(
    net.Socket.prototype,
    "end",
    function ownedEnd(this: net.Socket, ...args: Parameters<typeof end>) {
      if (args.length > 0 && typeof args[0] !== "function") requireWriter(ground, this);
      return apply(end, this, args);
    },
    false,
  );
}

/** @throws ExternalAccessError where it is another one's, and whoever acts may not connect there */
function requireWriter({ actor, decider }: Ground, socket: object): void {
  const known = apply(get, owned, [socket]) as Owned | undefined;
  const { hosted } = actor();
  if (known?.hosted === hosted) return;
  const connection = connectionOf(socket);
  if (connection !== undefined && connection.passage !== "raw") return;
  const part = connection === undefined ? known?.part : connecting(connection);
  if (part !== undefined) decider.now([part], bare({ syscall: "write", path: part.target }));
}
