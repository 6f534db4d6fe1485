/** What an engine hands to the conformance suite. */
import type { AccessStore } from "../port.ts";

export interface StoreUnderTest {
  readonly store: AccessStore;
  /** Another node on the same data; the same store where the engine has one owner. */
  readonly other: AccessStore;
  readonly dispose: () => Promise<void>;
}

export type OpenEmpty = () => Promise<StoreUnderTest>;
/** The store of the running test. */
export type Current = () => StoreUnderTest;
