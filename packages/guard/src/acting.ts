/**
 * Who acts now, in a process whose program runs several subjects: each call is that of the frames which are current where it
 * is made, carried by the asynchronous context. Until the program's own code has taken the hatch there is one answer, the
 * process itself, and nothing is carried.
 * Trusts the gate for which subjects may be run. Not a wall between them: they share one process, and a context can be
 * stolen there. INVARIANT: a carried value that was not made here is nobody, who may do nothing.
 */
import { ContextKeeper, followListeners } from "@sallyport/context";
import { BLANK_CALLER } from "@sallyport/contract";
import type { Acting, AskWords, HostedTerms, SubjectName } from "@sallyport/gate";
import { SafeMap } from "@sallyport/gate/captured";
import { append, apply, bare, freeze } from "./captured.ts";

type Context = NonNullable<ReturnType<ContextKeeper["current"]>>;

export interface Actor extends Acting {
  /** Sensitive imports of a hosted subject; `undefined`: those of the process. */
  readonly imports: readonly string[] | undefined;
}

export interface ActingNow {
  readonly now: () => Actor;
  /** From here on subjects can be run. Once. */
  open(): Stage;
}

/** Enters frames. */
export interface Stage {
  run<R>(subject: SubjectName, fn: () => R): R;
  enter<R>(subject: SubjectName, fn: () => R): R;
  bind: ContextKeeper["bind"];
}

interface Node {
  readonly actor: Actor;
  readonly context: Context;
  /** Subjects that were run inside, by type and name: equal chains are one value. */
  readonly inner: SafeMap<string, SafeMap<string, Node>>;
}

/** As deep as the gate lets chains be. */
const DEPTH_MAX = 16;
const ITSELF: Actor = freeze(bare({ hosted: undefined, entered: undefined, imports: undefined }));
const NOBODY: Actor = freeze(bare({ hosted: freeze([]), entered: undefined, imports: freeze([]) }));

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */

/** @param subjects those that the gate was opened for */
export function openActing(subjects: () => readonly HostedTerms[]): ActingNow {
  let stage: { readonly current: () => Actor } | undefined;
  return freeze(
    bare({
      now: () => (stage === undefined ? ITSELF : stage.current()),
      open: () => {
        const opened = openStage(subjects());
        stage = opened;
        return opened;
      },
    }),
  );
}

function openStage(subjects: readonly HostedTerms[]): Stage & { readonly current: () => Actor } {
  // Contexts tell actors apart; what else a caller has is the service's to know.
  const keeper = new ContextKeeper(bare({ process: BLANK_CALLER }));
  const nodes = new WeakMap<object, Node>();
  const nodeOf = (actor: Actor, context: Context): Node => {
    const node: Node = freeze(bare({ actor, context, inner: new SafeMap<string, SafeMap<string, Node>>() }));
    apply(set, nodes, [context, node]);
    return node;
  };
  nodeOf(ITSELF, keeper.current() as Context);
  const current = (): Node | undefined => {
    const context = keeper.current();
    return context === undefined ? undefined : (apply(get, nodes, [context]) as Node | undefined);
  };
  const inside = (): Node => {
    const node = current();
    if (node === undefined) throw new TypeError("nobody acts here: the asynchronous context was replaced");
    return node;
  };
  followListeners(keeper);
  return freeze(
    bare({
      current: () => current()?.actor ?? NOBODY,
      bind: (fn) => keeper.bind(fn),
      run: ({ type, name }, fn) => {
        const outer = inside();
        const terms = termsOf(subjects, type, name);
        if (outer.actor.entered !== undefined)
          throw new TypeError("a subject is run by the host: not inside of one that guarded code made up");
        let names = outer.inner.get(type);
        if (names === undefined) outer.inner.set(type, (names = new SafeMap()));
        let node = names.get(name);
        if (node === undefined) {
          const hosted = grown(outer.actor.hosted, terms.subject);
          const actor = freeze(bare({ hosted, entered: undefined, imports: terms.imports }));
          names.set(name, (node = nodeOf(actor, keeper.root(BLANK_CALLER))));
        }
        return keeper.enter(node.context, fn);
      },
      enter: ({ type, name }, fn) => {
        const { hosted, entered, imports } = inside().actor;
        const subject = freeze(bare({ type, name }));
        const frame = freeze(bare({ subject, contracts: freeze([]) }));
        const actor = freeze(bare({ hosted, entered: grown(entered, frame), imports }));
        return keeper.enter(nodeOf(actor, keeper.root(BLANK_CALLER)).context, fn);
      },
    } satisfies Stage & { readonly current: () => Actor }),
  );
}

function termsOf(subjects: readonly HostedTerms[], type: string, name: string): HostedTerms {
  for (let index = 0; index < subjects.length; index++) {
    const terms = subjects[index] as HostedTerms;
    if (terms.subject.type === type && terms.subject.name === name) return terms;
  }
  throw new TypeError(
    `\`${type}:${name}\` may not be run in this process: name it in \`subjects\` where the process is started`,
  );
}

function grown<T extends SubjectName | NonNullable<AskWords["entered"]>[number]>(
  list: readonly T[] | undefined,
  one: T,
): readonly T[] {
  const copy: T[] = [];
  const length = list === undefined ? 0 : list.length;
  if (length >= DEPTH_MAX)
    throw new RangeError(`at most ${DEPTH_MAX} subjects may be nested: end the recursion`);
  for (let index = 0; index < length; index++) append(copy, (list as readonly T[])[index] as T);
  append(copy, one);
  return freeze(copy);
}
