/**
 * The second model of the decision, written from the specification alone: obvious rather than fast.
 * Knows nothing of the engine. "Step n" is section 5 of the specification, "point n" is decision 0002.
 */
import * as C from "@sallyport/contract";
import type * as Q from "../question.ts";

export interface World {
  readonly contracts: readonly Q.Contract[];
  readonly registrations: readonly Q.Registration[];
  readonly rules: readonly Q.HostRule[];
  readonly builtins: readonly Q.BuiltinDeny[];
  readonly approvals: readonly Q.Approval[];
  readonly denials: readonly Q.Denial[];
}

export interface ReferenceVerdict {
  readonly code: C.CheckCode;
  readonly frame: number;
  readonly limited: boolean;
  readonly registers: boolean;
}

/** The forms of what is asked that an allowing and a restricting fact are compared with. */
type Forms = Readonly<Record<"allow" | "restrict", readonly C.Access[]>>;
/** `reads`: the question is filesystem read or network receive. */
type Matter = { world: World; context: Q.Context; question: Q.Question; forms: Forms; reads: boolean };

export function referenceDecide(world: World, context: Q.Context, question: Q.Question): ReferenceVerdict {
  const { frames, observe } = context;
  const { access, named } = question;
  const active = frames.length - 1;
  const own = frames[active];
  // Point 1: no subject, then a fault of the question (step 2), then a named subject that is not active.
  if (own === undefined || frames.every(({ entry }) => entry !== "host")) return verdict("no_subject", -1);
  if ("ok" in access) {
    return verdict(access.code === "invalid_operation" ? access.code : "invalid_target", -1);
  }
  const passing = framesThatMustPass(world, frames, named);
  if (passing === undefined) return verdict("subject_not_active", -1);
  const forms = formsOf(access, question);
  const reads = access.operation === "read" || access.operation === "receive";
  const matter: Matter = { world, context, question, forms, reads };

  // Point 2: built-in denies, which nothing lifts.
  if (world.builtins.some((rule) => hits(rule, forms, "restrict"))) return verdict("denied_rule", active);
  // Step 1 and point 3: the set-up exception.
  const alone = named === undefined || C.sameSubject(named, own.subject);
  const setUp = context.setup && alone && isHostEntered(own, "module", "system");
  if (setUp && access.resourceType === "filesystem") return verdict("allowed_setup", active);
  // Point 6: explicit deny rules for all frames, then mode `plan`, then a hook's deny.
  const denied = passing.find(({ frame }) => hasRule(matter, "deny", frame));
  if (denied !== undefined) return verdict("denied_rule", denied.report);
  const planned = context.mode === "plan" && !reads;
  if (planned && !observe) return verdict("denied_mode", active);
  if (question.hook?.answer === "deny") return verdict("denied_rule", active);

  // Point 7: each frame in turn; the first that is not allowed is the answer.
  const answers = passing.map(({ frame, report, mute }) => {
    const answer = decideFrame(matter, frame);
    // Steps 7 and 8 and point 18: registered unless the check is passive or only the named frame failed.
    const registers = answer.code === "approval_required" && question.ask !== "passive" && !mute;
    return { ...answer, frame: report, registers };
  });
  // Point 17: `observe` lets through what is asked or refused by the mode, and goes on looking.
  const isSoft = ({ code }: ReferenceVerdict) => code === "approval_required" || code === "denied_mode";
  const stopped = answers.find((one) => !one.code.startsWith("allowed") && !(observe && isSoft(one)));
  if (stopped !== undefined) return stopped;
  if (planned || answers.some(isSoft)) return verdict("allowed_mode", active);
  // Point 8: all pass, and the active frame's answer is the answer.
  const limited = answers.some((answer) => answer.limited);
  return { ...verdict(answers[0]?.code ?? "no_subject", active), limited };
}

/** Points 4 and 5. `report` is the index that a failure is told under; `mute`: it registers nothing. */
function framesThatMustPass(world: World, frames: Q.Context["frames"], named: C.Subject | undefined) {
  const bound = frames.findLastIndex(({ entry }) => entry === "host");
  const chain = frames.map((frame, report) => ({ frame, report, mute: false }));
  const passing = chain.slice(bound).toReversed();
  if (named === undefined) return passing;
  // One that must pass anyway is then asked twice, which changes nothing.
  const onChain = frames.findLast(({ subject }) => C.sameSubject(subject, named));
  if (onChain !== undefined) return [...passing, { frame: onChain, report: frames.length - 1, mute: true }];
  const registered = world.registrations.find(({ subject }) => C.sameSubject(subject, named));
  if (registered === undefined || !isHostEntered(frames.at(-1), "core", "core")) return undefined;
  const frame: Q.Frame = { phase: "runtime", entry: "host", ...registered };
  return [...passing, { frame, report: frames.length, mute: false }];
}

/** Points 9 to 16: one frame on its own contract. */
function decideFrame(matter: Matter, frame: Q.Frame): Pick<ReferenceVerdict, "code" | "limited"> {
  const { world, context, question, forms, reads } = matter;
  const isOwn = ({ subject }: Q.Denial) => C.sameSubject(subject, frame.subject);
  // Point 9: ask rules and a hook's ask.
  const asked = hasRule(matter, "ask", frame) || question.hook?.answer === "ask";
  // Step 3 and point 10: the allowlist of the frame.
  const listed = world.contracts
    .filter(({ id }) => frame.contracts.includes(id))
    .some((contract) => contract.access.some((rule) => hits(rule, forms, "allow")));
  const trusted = context.mode !== "untrusted" || reads;
  if (!asked && listed && trusted) return { code: "allowed_sandbox", limited: false };
  // Point 11: all that the allowlist did not allow fails closed.
  if (!context.live) return { code: "unavailable", limited: false };
  // Steps 4 and 5 and point 12: approvals that are alive; an exact denial leaves the exact ones only.
  // Point 23: the two forms of an executable differ in type; a denial of one leaves no approval of the other.
  const denials = world.denials.filter((denial) => isOwn(denial) && hits(denial, forms, "restrict"));
  const approvals = world.approvals
    .filter((approval) => isOwn(approval) && hits(approval, forms, "allow"))
    .filter((approval) => isAlive(approval, question.nowMs))
    .filter(({ match }) => match === "exact" || !denials.some((denial) => denial.match === "exact"))
    .filter(({ resourceType }) => denials.every((denial) => denial.resourceType === resourceType));
  const session = approvals.filter((approval) => isOfSession(approval, context));
  if (session.length > 0) return { code: "allowed_session", limited: session.every(isLimited) };
  const permanent = approvals.filter(({ scope }) => scope === "permanent");
  if (permanent.length > 0) return { code: "allowed_permanent", limited: permanent.every(isLimited) };
  // Step 6 and point 13.
  if (denials.length > 0) return { code: "resource_disabled", limited: false };
  // Point 14: allow rules, a hook's allow, and host code without any rule.
  const ruled = hasRule(matter, "allow", frame) || question.hook?.answer === "allow";
  const passes = ruled || isHostEntered(frame, "core", "core");
  if (passes && !asked) return { code: "allowed_rule", limited: false };
  return { code: decideMode(context, question, asked), limited: false };
}

/** Point 15 and the table of modes: what is left undecided. */
function decideMode(context: Q.Context, { ask, classifier, nowMs }: Q.Question, asked: boolean): C.CheckCode {
  const { mode, modeExpiresAtMs, confined } = context;
  if (mode === "never") return "denied_mode";
  if (mode === "on_request") return ask === "explicit" ? "approval_required" : "denied_mode";
  if (asked) return "approval_required";
  if (mode === "on_failure") return confined ? "allowed_mode" : "denied_mode";
  // Point 27: what is not a number is not before the end.
  if (mode === "bypass" && modeExpiresAtMs !== null && nowMs < modeExpiresAtMs) return "allowed_mode";
  if (mode === "auto" && classifier?.answer === "allow") return "allowed_mode";
  if (mode === "auto" && classifier?.answer === "deny") return "denied_mode";
  return "approval_required";
}

const PRINCIPALS = ["organizationId", "userId", "sessionKey"] as const;
/** Section 7: what a rule leaves out holds for all (point 28); only the source `host` may allow. */
function hasRule(matter: Matter, effect: Q.HostRule["effect"], frame: Q.Frame): boolean {
  return matter.world.rules
    .filter((rule) => rule.effect === effect && (effect !== "allow" || rule.source === "host"))
    .filter((rule) => rule.subject === undefined || C.sameSubject(rule.subject, frame.subject))
    .filter((rule) => PRINCIPALS.every((who) => (rule[who] ?? matter.context[who]) === matter.context[who]))
    .some((rule) => hits(rule, matter.forms, effect === "allow" ? "allow" : "restrict"));
}

/** Points 12 and 27: no comparison with what is not a number is true. */
function isAlive({ expiresAtMs, usesLeft }: Q.Approval, nowMs: number): boolean {
  return (expiresAtMs === null || nowMs < expiresAtMs) && (usesLeft === null || usesLeft > 0);
}

const isLimited = (held: Q.Approval): boolean => held.expiresAtMs !== null || held.usesLeft !== null;

function isOfSession(approval: Q.Approval, context: Q.Context): boolean {
  if (approval.scope !== "session" || !approval.sessionKey) return false;
  return PRINCIPALS.every((who) => approval[who] === context[who]);
}

/** Points 3, 5 and 14: a frame of that name which guarded code made up is a subject like any other. */
function isHostEntered(frame: Q.Frame | undefined, type: string, name: string): boolean {
  return frame?.entry === "host" && frame.subject.type === type && frame.subject.name === name;
}

function verdict(code: C.CheckCode, frame: number): ReferenceVerdict {
  return { code, frame, limited: false, registers: false };
}

/** Points 19 to 21 and 23: the forms on every host that counts, and on the twin of an executable. */
function formsOf(access: C.Access, { twin, address, aliases = [] }: Q.Question): Forms {
  const { target } = access;
  if (target.form !== "url" && target.form !== "endpoint") {
    // Point 23: a bare name is allowed by its path too, a path is never allowed by its name.
    const both = twin === undefined ? [access] : [access, twin];
    return { allow: target.form === "name" ? both : [access], restrict: both };
  }
  const names = aliases.slice(0, 64);
  const { host } = target;
  const on = (hosts: readonly C.Host[]) =>
    hosts.map((other) => ({ ...access, target: C.withHost(target, other) }) as C.Access);
  const restrict = on([host, ...(address === undefined ? [] : [address]), ...names]);
  if (C.isIpLiteral(host)) return { allow: on(C.isLocalAddress(host) ? [host] : [host, ...names]), restrict };
  return { allow: on(address !== undefined && C.isLocalAddress(address) ? [address] : [host]), restrict };
}

/** A rule is spelled as in a manifest, a decision says its `match`. No operation implies another. */
function hits(fact: Q.AccessRule | Q.Denial, forms: Forms, side: keyof Forms): boolean {
  return forms[side].some(({ resourceType, operation, target }) => {
    if (fact.resourceType !== resourceType || fact.operation !== operation) return false;
    const written = C.parseTarget(resourceType, fact.target, C.whatwgUrl);
    if (!written.ok) return false;
    const match = fact.match ?? spelledMatch(fact.target, written.value);
    // Point 25: an ambiguous path is not allowed by a folder, and restricted by its plain text.
    const isPrefix = match === "path_prefix" && target.form === "url";
    if (side === "allow" && isPrefix && isAmbiguous(target.path)) return false;
    return covers(written.value, match, target);
  });
}

/** Section 2 and point 24: how far a declared text reaches. */
function spelledMatch(text: string, target: C.Target): C.Match {
  if (target.form === "path") return text.endsWith("/") ? "directory" : "exact";
  if (target.form === "endpoint") return "endpoint";
  if (target.form !== "url") return "exact";
  if (/^ *[a-z]+:[/\\]*[^/\\?#]*$/i.test(text)) return "origin";
  if (target.query !== undefined) return "exact";
  return target.path.endsWith("/") ? "path_prefix" : "any_query";
}

/** Whether what was written reaches what is asked. Point 26: a match that does not fit reaches nothing. */
function covers(written: C.Target, match: C.Match, asked: C.Target): boolean {
  if (written.form === "path" && match === "directory") {
    const folder = written.text === "/" ? "/" : `${written.text}/`;
    return asked.text === written.text || asked.text.startsWith(folder);
  }
  if (written.form === "path" || written.form === "name" || written.form === "unix") {
    return match === "exact" && asked.text === written.text;
  }
  if (asked.form !== "url" && asked.form !== "endpoint") return false;
  // Point 21: local hosts are one host.
  if (C.foldLocalHost(written.host) !== C.foldLocalHost(asked.host)) return false;
  // A bare host covers any port and a look-up of it; `host:port` and a URL cover their port only.
  if (match === "endpoint") return written.port === undefined || written.port === asked.port;
  if (written.port !== asked.port) return false;
  if (written.form === "endpoint") return match === "exact" && asked.form === "endpoint";
  // A raw socket is covered by an origin, and never by anything with a path.
  if (asked.form === "endpoint") return match === "origin";
  // `ws` is `http` and `wss` is `https`.
  if (written.scheme.replace("ws", "http") !== asked.scheme.replace("ws", "http")) return false;
  if (match === "origin") return true;
  if (match === "any_query") return asked.path === written.path;
  if (match === "exact") return asked.path === written.path && asked.query === written.query;
  const isFolder = match === "path_prefix" && written.path.endsWith("/") && written.query === undefined;
  return isFolder && asked.path.startsWith(written.path);
}

/** Point 25: an encoded slash, a backslash or a dot segment at any depth, or more than eight layers. */
function isAmbiguous(path: string): boolean {
  return path.split("/").some((segment) => {
    let text = segment;
    for (let layer = 0; layer < 8; layer++) text = decodeOnce(text);
    return decodeOnce(text) !== text || /[/\\]|^\.\.?$/.test(text);
  });
}

function decodeOnce(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)));
}
