/** What requests mean, as a table: operation and target, or why they are refused. */
import { describe, expect, test } from "vitest";
import type { Host } from "@sallyport/contract";
import { type Passage, type RequestHead, judgeRequest } from "./judge-request.ts";

const CLEAR: Passage = { kind: "origin", host: "a.test" as Host, port: 80, isSecure: false, isOpen: false };
const SECURE: Passage = { ...CLEAR, port: 8443, isSecure: true };
const LOCAL: Passage = { ...CLEAR, host: "127.0.0.1" as Host, port: 3000 };
const PROXY: Passage = { kind: "proxy" };

function judged(words: Partial<RequestHead> & { readonly host?: string }, passage: Passage = CLEAR): string {
  const { host = "a.test", rawHeaders = [], ...rest } = words;
  const headers = host === "" ? [...rawHeaders] : ["Host", host, ...rawHeaders];
  const head = { method: "GET", path: "/", hasBody: false, isWebsocket: false, ...rest, rawHeaders: headers };
  const answer = judgeRequest(head, passage);
  return answer.ok ? `${answer.operation} ${answer.target.text}` : answer.refusal;
}

describe("operations", () => {
  test.each([
    ["GET", false, "receive"],
    ["HEAD", false, "receive"],
    ["OPTIONS", false, "receive"],
    ["GET", true, "send"],
    ["HEAD", true, "send"],
    ["POST", false, "send"],
    ["TRACE", false, "send"],
    ["get", false, "send"],
    ["PROPFIND", false, "send"],
  ])("%s, body %s: %s", (method, hasBody, operation) =>
    expect(judged({ method, hasBody })).toBe(`${operation} http://a.test/`),
  );
});

describe("targets", () => {
  test.each([
    [{ path: "/a/../b/./c?q=1" }, CLEAR, "receive http://a.test/b/c?q=1"],
    [{ path: "//evil.test/x" }, CLEAR, "receive http://a.test//evil.test/x"],
    [{ host: "A.TEST:80" }, CLEAR, "receive http://a.test/"],
    [{ host: "a.test." }, CLEAR, "receive http://a.test/"],
    [{ host: "a.test:8443" }, SECURE, "receive https://a.test:8443/"],
    [{ host: "localhost:3000" }, LOCAL, "receive http://127.0.0.1:3000/"],
    [{ path: "http://a.test/x" }, CLEAR, "receive http://a.test/x"],
    [{ path: "http://b.test:8080/x", host: "b.test:8080" }, PROXY, "receive http://b.test:8080/x"],
    [{ isWebsocket: true, host: "a.test:8443" }, SECURE, "receive wss://a.test:8443/"],
    [{ host: "", authority: "a.test:8443" }, SECURE, "receive https://a.test:8443/"],
  ] as const)("%j", (words, passage, meaning) => expect(judged(words, passage)).toBe(meaning));
});

describe("refusals", () => {
  test.each([
    [{ host: "b.test" }, CLEAR, "host_mismatch"],
    [{ host: "a.test:81" }, CLEAR, "host_mismatch"],
    [{ host: "a.test" }, SECURE, "host_mismatch"],
    [{ host: "a.test@b.test" }, CLEAR, "host_mismatch"],
    [{ host: "a.test/x" }, CLEAR, "host_mismatch"],
    [{ host: "" }, CLEAR, "host_mismatch"],
    [{ host: "b.test:8443", authority: "a.test:8443" }, SECURE, "host_mismatch"],
    [{ host: "", authority: "b.test:8443" }, SECURE, "host_mismatch"],
    [{ path: "http://b.test/" }, CLEAR, "host_mismatch"],
    [{ path: "http://b.test/" }, PROXY, "host_mismatch"],
    [{ path: "https://a.test/" }, PROXY, "invalid_target"],
    [{ path: "/x" }, PROXY, "invalid_target"],
    [{ path: "*" }, CLEAR, "invalid_target"],
    [{ path: "http://u:p@a.test/" }, PROXY, "invalid_target"],
    [{ rawHeaders: ["host", "a.test"] }, CLEAR, "ambiguous_request"],
    [{ rawHeaders: ["Content-Length", "1", "Transfer-Encoding", "chunked"] }, CLEAR, "ambiguous_request"],
    [{ rawHeaders: ["Content-Length", "1", "content-length", "1"] }, CLEAR, "ambiguous_request"],
    [{ rawHeaders: ["Content-Length", "+1"] }, CLEAR, "ambiguous_request"],
    [{ rawHeaders: ["Transfer-Encoding", "xchunked"] }, CLEAR, "ambiguous_request"],
    [{ rawHeaders: ["Transfer-Encoding", "chunked, identity"] }, CLEAR, "ambiguous_request"],
  ] as const)("%j", (words, passage, refusal) => expect(judged(words, passage)).toBe(refusal));
});
