/**
 * The wire form of facts that many events share, such as a sandbox profile or a chain of frames: made once for a value
 * that can never change, each time for one that can. Trusts `format` to give what is frozen.
 */
import { isFrozenThroughout, keepText } from "./audit/canonical-json.ts";

export function lastingWire<Value extends object, Wire extends object>(
  format: (value: Value) => Wire,
): (value: Value) => Wire {
  const made = new WeakMap<Value, Wire>();
  return (value) => {
    const known = made.get(value);
    if (known !== undefined) return known;
    const wire = format(value);
    if (!isFrozenThroughout(value)) return wire;
    keepText(wire);
    made.set(value, wire);
    return wire;
  };
}
