/**
 * Queries whose text is written once per dialect: the builder runs the first time, with a mark where each value
 * goes; later calls only put the values in. Building a query costs several times what SQLite needs to run it.
 * Use it where the shape does not depend on the arguments.
 */
import type { Compilable, Kysely } from "kysely";
import type { Answer, Parameter, Wanted } from "./engine.ts";
import type { Schema } from "./schema.ts";
import type { Scope } from "./scope.ts";

/** Where the value of one name goes. */
class Mark {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** WHY: a mark has to pass for a value of any column; it never reaches a driver. */
// oxlint-disable-next-line typescript/no-explicit-any -- the builder types values by column, a mark stands for all
type AnyValue = any;
type Marks<Name extends string> = Readonly<Record<Name, AnyValue>>;
type Values<Name extends string> = Readonly<Record<Name, Parameter>>;

interface Written {
  readonly text: string;
  /** What stands at each place: the name of a value, or the value itself. */
  readonly places: readonly (Mark | Parameter)[];
}

/**
 * Each at once where the engine answers at once. WHY: with promises and waits of their own, the few statements of a
 * transaction cost more above the database than inside it.
 */
export interface Prepared<Name extends string, Row> {
  all<Out>(scope: Scope, values: Values<Name>, to: (rows: readonly Row[]) => Out): Out | Promise<Out>;
  first<Out>(scope: Scope, values: Values<Name>, to: (row: Row | null) => Out): Out | Promise<Out>;
  changed<Out>(scope: Scope, values: Values<Name>, to: (count: number) => Out): Out | Promise<Out>;
}

/** Of a statement that must change one row. */
export const isOne = (count: number): boolean => count === 1;
export const nothing = (): void => {};

export function prepared<const Name extends string, Row>(
  names: readonly Name[],
  build: (builder: Kysely<Schema>, marks: Marks<Name>, scope: Scope) => Compilable<Row>,
): Prepared<Name, Row> {
  const marks = Object.fromEntries(names.map((name) => [name, new Mark(name)])) as Marks<Name>;
  const written = new WeakMap<Kysely<Schema>, Written>();

  const run = (scope: Scope, values: Values<Name>, wanted: Wanted): Answer | Promise<Answer> => {
    let known = written.get(scope.build);
    if (known === undefined) {
      const { sql: text, parameters } = build(scope.build, marks, scope).compile();
      known = { text, places: parameters as readonly (Mark | Parameter)[] };
      written.set(scope.build, known);
    }
    const { text, places } = known;
    const parameters: Parameter[] = [];
    for (const place of places) parameters.push(place instanceof Mark ? values[place.name as Name] : place);
    return scope.run(text, parameters, wanted);
  };
  return {
    all: (scope, values, to) => after(run(scope, values, "all"), ({ rows }) => to(rows as readonly Row[])),
    first: (scope, values, to) =>
      after(run(scope, values, "first"), ({ rows }) => to((rows[0] ?? null) as Row | null)),
    changed: (scope, values, to) => after(run(scope, values, "all"), ({ changed }) => to(changed)),
  };
}

function after<Out>(answer: Answer | Promise<Answer>, to: (answer: Answer) => Out): Out | Promise<Out> {
  return answer instanceof Promise ? answer.then(to) : to(answer);
}
