/**
 * The gates of programs that a child started: each is bound to the caller who started it, travels inside the child's gate,
 * and ends with it. Rules travel by that; sensitive imports do not.
 * Trusts nothing that comes over a branch: it is a gate like any other.
 */
import {
  BranchDuplex,
  type ChildMessage,
  type GateChannel,
  GateFault,
  type ServiceMessage,
  gateBounds as bounds,
} from "@sallyport/gate";
import type { BranchOptions, GateNode } from "./gate-node.ts";
import type { HostedFrames, HostedNames } from "./hosted-frames.ts";

type Channel = Pick<GateChannel<ChildMessage, ServiceMessage>, "send">;
type OfBranch = Extract<ChildMessage, { readonly kind: `branch${string}` }>;

interface Branch {
  readonly duplex: BranchDuplex;
  readonly session: { close(): void };
}

export class ChildBranches {
  readonly #node: GateNode;
  readonly #hosted: HostedFrames;
  readonly #channel: Channel;
  readonly #onAsked: BranchOptions["onAsked"];
  readonly #open = new Map<number, Branch>();
  #last = 0;

  constructor(node: GateNode, hosted: HostedFrames, channel: Channel, onAsked: BranchOptions["onAsked"]) {
    this.#node = node;
    this.#hosted = hosted;
    this.#channel = channel;
    this.#onAsked = onAsked;
  }

  hear(message: OfBranch): void {
    // WHY: a branch that is not known has ended here while this was on its way.
    if (message.kind === "branch") this.#begin(message.branch, message.hosted);
    else this.#open.get(message.branch)?.duplex.hear(message);
  }

  /** INVARIANT: the programs may not have seen the end yet, so each session ends as one that was cut off. */
  close(): void {
    for (const { session } of this.#open.values()) session.close();
    this.#open.clear();
  }

  /** INVARIANT: what a hosted subject starts is that subject, and may run no others. */
  #begin(id: number, hosted: HostedNames): void {
    if (id <= this.#last) throw new GateFault("duplicate_id");
    const { caller, refused } = this.#hosted.standing(hosted);
    if (refused !== undefined || caller.frames.length === 0) throw new GateFault("out_of_state");
    if (this.#open.size >= bounds.BRANCHES_MAX) throw new GateFault("out_of_state");
    this.#last = id;
    const duplex = new BranchDuplex(id, (message) => this.#channel.send(message));
    duplex.once("close", () => this.#open.delete(id));
    const session = this.#node.attachBranch(duplex, caller, { onAsked: this.#onAsked });
    this.#open.set(id, { duplex, session });
  }
}
