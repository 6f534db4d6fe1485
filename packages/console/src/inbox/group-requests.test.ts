import type { RequestView } from "@sallyport/contract/admin";
import { describe, expect, it } from "vitest";
import { groupRequests, listItems, matchesText, placeOf } from "./group-requests.ts";

let lastId = 0;
const request = (name: string, type: string, operation: string, target: string): RequestView => {
  lastId += 1;
  return {
    id: `r${lastId}`,
    subject: { type: "tool", name },
    resource: { type, operation, target },
    origin: { userId: 21, sessionKey: "sess-21" },
    subjectChain: [],
  } as unknown as RequestView;
};

describe("groups of requests", () => {
  it("hold one subject, one operation and one place, in the order of their first", () => {
    const rows = [
      request("a", "filesystem", "read", "/srv/x/1"),
      request("b", "filesystem", "read", "/srv/x/2"),
      request("a", "filesystem", "read", "/srv/x/3"),
      request("a", "filesystem", "delete", "/srv/x/1"),
      request("a", "filesystem", "read", "/srv/y/1"),
    ];
    expect(groupRequests(rows).map(({ requests }) => requests.map(({ id }) => id))).toEqual([
      [rows[0]?.id, rows[2]?.id],
      [rows[1]?.id],
      [rows[3]?.id],
      [rows[4]?.id],
    ]);
  });

  it("keep apart what a joined key would confuse", () => {
    const rows = [
      request("a read", "filesystem", "read", "/x/1"),
      request("a", "filesystem", "read", "/x/1"),
    ];
    expect(groupRequests(rows)).toHaveLength(2);
  });

  it("take the folder of a path, the host of a URL, and a program as it is", () => {
    expect(placeOf({ type: "filesystem", operation: "read", target: "/srv/x/1" } as never)).toBe("/srv/x");
    expect(placeOf({ type: "filesystem", operation: "read", target: "/x" } as never)).toBe("/");
    expect(placeOf({ type: "network", operation: "send", target: "https://a.example/b?c" } as never)).toBe(
      "https://a.example",
    );
    expect(placeOf({ type: "system_dependency", operation: "execute", target: "git" } as never)).toBe("git");
  });

  it("get a line of their own only where there is more than one", () => {
    const rows = [
      request("a", "filesystem", "read", "/srv/x/1"),
      request("a", "filesystem", "read", "/srv/x/2"),
      request("b", "network", "send", "https://a.example/"),
    ];
    expect(listItems(rows, true).map(({ kind }) => kind)).toEqual(["group", "request", "request", "request"]);
    expect(listItems(rows, false).map(({ kind }) => kind)).toEqual(["request", "request", "request"]);
  });
});

describe("the search", () => {
  it("wants every word, in any field", () => {
    const row = request("demo.read_file", "filesystem", "delete", "/srv/reports/q3.pdf");
    expect(matchesText(row, "DELETE q3")).toBe(true);
    expect(matchesText(row, "sess-21 demo")).toBe(true);
    expect(matchesText(row, "delete q4")).toBe(false);
  });
});
