/**
 * A map whose key is several fields, each compared by itself.
 * INVARIANT: nothing joins the fields into one key; `21` and `"21"` are two.
 */
export type Field = string | number | null;

interface Level<V> {
  readonly below: Map<Field, Level<V>>;
  value: V | undefined;
}

const newLevel = <V>(): Level<V> => ({ below: new Map(), value: undefined });

/** Keys of one map have the same number of fields. */
export class NestedMap<V> {
  #root = newLevel<V>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(fields: readonly Field[]): V | undefined {
    let level: Level<V> | undefined = this.#root;
    for (const field of fields) {
      level = level.below.get(field);
      if (level === undefined) return undefined;
    }
    return level.value;
  }

  set(fields: readonly Field[], value: V): void {
    let level = this.#root;
    for (const field of fields) {
      let next = level.below.get(field);
      if (next === undefined) {
        next = newLevel();
        level.below.set(field, next);
      }
      level = next;
    }
    if (level.value === undefined) this.#size += 1;
    level.value = value;
  }

  delete(fields: readonly Field[]): void {
    this.#remove(this.#root, fields, 0);
  }

  *values(): Generator<V> {
    const levels = [this.#root];
    for (let level = levels.pop(); level !== undefined; level = levels.pop()) {
      if (level.value !== undefined) yield level.value;
      levels.push(...level.below.values());
    }
  }

  clear(): void {
    this.#root = newLevel();
    this.#size = 0;
  }

  /** Takes levels that are empty then along, so that keys that were removed leave nothing. */
  #remove(level: Level<V>, fields: readonly Field[], depth: number): void {
    if (depth === fields.length) {
      if (level.value !== undefined) this.#size -= 1;
      level.value = undefined;
      return;
    }
    const field = fields[depth] as Field;
    const next = level.below.get(field);
    if (next === undefined) return;
    this.#remove(next, fields, depth + 1);
    if (next.value === undefined && next.below.size === 0) level.below.delete(field);
  }
}
