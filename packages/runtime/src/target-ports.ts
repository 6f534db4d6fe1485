/**
 * How targets are read and reached, with what Node itself offers where the host says nothing else.
 */
import { lookup } from "node:dns/promises";
import { type RealPathPort, type UrlParser, whatwgUrl } from "@sallyport/contract";
import { NameCache, type Resolver, realPath } from "@sallyport/gate/targets";
import type { TargetPorts } from "./sdk/sdk-ground.ts";

export interface ReachPorts {
  readonly parseUrl?: UrlParser | undefined;
  readonly realPath?: RealPathPort | undefined;
  /** Addresses of a name; the system's own resolver unless said. */
  readonly resolver?: Resolver | undefined;
  readonly nowMs?: (() => number) | undefined;
  /** Certificates of authorities that are trusted beside those of Node, as PEM; for `sdk.http`. */
  readonly ca?: readonly string[] | undefined;
}

export function targetPorts(ports: ReachPorts): TargetPorts {
  return Object.freeze<TargetPorts>({
    parseUrl: ports.parseUrl ?? whatwgUrl,
    realPath: ports.realPath ?? realPath,
    resolver: ports.resolver ?? systemResolver,
    names: new NameCache(),
    nowMs: ports.nowMs ?? Date.now,
    ca: ports.ca === undefined ? undefined : Object.freeze([...ports.ca]),
    cwd: () => process.cwd(),
  });
}

const systemResolver: Resolver = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);
