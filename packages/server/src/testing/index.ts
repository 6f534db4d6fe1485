/**
 * For tests only: a server over a real service, and the suite that holds both ways to reach it to the same answers.
 */
export { type PolicyEnds, accessPolicySuite } from "./access-policy-suite.ts";
export * from "./server-fixture.ts";
export { PersonBrowser, administrator, asked, tokenOf } from "./person-browser.ts";
