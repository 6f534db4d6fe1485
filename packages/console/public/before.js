// The schema library asks whether it may make code from text. It may not: the policy of the page forbids it, and a
// question that is refused would stand in every report as an attempt.
globalThis.__zod_globalConfig = { jitless: true };
