/** A function of Node's, whatever its signature: held, wrapped and called by the guard. */
// oxlint-disable-next-line typescript/no-explicit-any -- functions of any signature are wrapped
export type AnyFunction = (...args: any[]) => unknown;
