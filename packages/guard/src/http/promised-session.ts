/** What `util.promisify` makes of `http2.connect`: as in Node, and by the guarded one. */
import { EventEmitter } from "node:events";
import type http2 from "node:http2";
import { promisify } from "node:util";
import { apply, bare, defineProperty, newPromise } from "../captured.ts";

const PROMISIFIED = promisify.custom;
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { once, removeListener } = EventEmitter.prototype;

export function promiseSessions(connect: typeof http2.connect): void {
  const value = (authority: string, options?: http2.SecureClientSessionOptions) =>
    newPromise<http2.ClientHttp2Session>((resolve, reject) => {
      const session = connect(authority, options, () => {
        apply(removeListener, session, ["error", reject]);
        resolve(session);
      });
      apply(once, session, ["error", reject]);
    });
  defineProperty(connect, PROMISIFIED, bare({ value }));
}
