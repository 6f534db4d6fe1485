import { describe, expect, it } from "vitest";
import { parseInboxSearch, requestFilter } from "./inbox-search.ts";

describe("the address of the inbox", () => {
  it("keeps what is a filter and drops what is none", () => {
    const raw = {
      subjectType: "robot",
      operation: "delete",
      status: "pending",
      userId: 21,
      evil: "x",
      target: "",
    };
    expect(parseInboxSearch(raw)).toEqual({ operation: "delete", status: "pending", userId: 21 });
  });

  it("asks the server for what waits unless it says otherwise", () => {
    expect(requestFilter({})).toEqual({ status: "pending" });
    expect(requestFilter({ status: "denied", text: "x", id: "r1" })).toEqual({ status: "denied" });
  });

  it("tells the user 21 from the user whose id is the text 21", () => {
    expect(requestFilter(parseInboxSearch({ userId: 21 }))).toEqual({ status: "pending", userId: 21 });
    expect(requestFilter(parseInboxSearch({ userId: "21" }))).toEqual({ status: "pending", userId: "21" });
  });
});
