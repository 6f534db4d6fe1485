/**
 * Dials, local ends and datagrams that were decided on and have not been made yet, each to be used once and for nothing else.
 * Holds nothing that foreign code can reach; decides nothing.
 */
import { bare } from "../captured.ts";

type Use = "dial" | "bind" | "datagram";

/** Used up when it is made. */
interface Permit {
  readonly use: Use;
  readonly address: string;
  /** None for a unix socket. */
  readonly port: number | undefined;
  /** Only the guard writes to it then. */
  readonly isJudged: boolean;
  /** The connection that is dialled. */
  readonly owner: object | undefined;
  /** What was permitted at once. */
  readonly batch: object;
  next: Permit | undefined;
}

type Permitted = Pick<Permit, "use" | "port" | "isJudged" | "owner">;

let permits: Permit | undefined;

/**
 * Lets a handle connect to one of these addresses, each once.
 * @returns takes back what was not used
 */
export function permitDials(
  addresses: readonly string[],
  port: number | undefined,
  isJudged: boolean,
  owner: object | undefined,
): () => void {
  return permitEach(addresses, bare({ use: "dial", port, isJudged, owner }));
}

/** Lets one datagram leave, or one handle of datagrams connect. */
export function permitDatagram(address: string, port: number): void {
  permitEach([address], bare({ use: "datagram", port, isJudged: false, owner: undefined }));
}

const ANY_LOCAL = Object.freeze(["0.0.0.0", "::"]);
/** As many as Node tries addresses. */
const BINDS_MAX = 8;

/**
 * Lets a handle that is about to connect choose its own end, which says nothing about where it goes: to listen there is
 * another thing.
 */
export function permitBind(address: string | undefined, port: number | undefined): () => void {
  const texts = typeof address === "string" && address !== "" ? [address] : ANY_LOCAL;
  const permitted = bare<Permitted>({ use: "bind", port, isJudged: false, owner: undefined });
  const batch = bare({});
  for (let count = 0; count < BINDS_MAX; count++) permitEach(texts, permitted, batch);
  return () => takeBack(batch);
}

function permitEach(
  addresses: readonly string[],
  permitted: Permitted,
  batch: object = bare({}),
): () => void {
  const { use, port, isJudged, owner } = permitted;
  for (let index = 0; index < addresses.length; index++)
    permits = bare({
      use,
      address: addresses[index] as string,
      port,
      isJudged,
      owner,
      batch,
      next: permits,
    });
  return () => takeBack(batch);
}

function takeBack(batch: object): void {
  while (takePermit((permit) => permit.batch === batch) !== undefined);
}

/** What was decided on for this use; it is used up. */
export function takeUse(use: Use, address: unknown, port: unknown): Permit | undefined {
  return takePermit((one) => one.use === use && one.address === address && one.port === port);
}

/** A dial that was decided on for this connection, where several go to one address. */
export function takeDialOf(owner: object | undefined, address: unknown, port: unknown): Permit | undefined {
  return takePermit(
    (one) => one.use === "dial" && one.owner === owner && one.address === address && one.port === port,
  );
}

function takePermit(fits: (permit: Permit) => boolean): Permit | undefined {
  let before: Permit | undefined;
  for (let permit = permits; permit !== undefined; permit = permit.next) {
    if (fits(permit)) {
      if (before === undefined) permits = permit.next;
      else before.next = permit.next;
      return permit;
    }
    before = permit;
  }
  return undefined;
}
