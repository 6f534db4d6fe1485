/** Which proxy the host itself goes through. */
import { expect, test } from "vitest";
import { hostProxy } from "./host-proxy.ts";

test("is the one for https, then for everything, then for http; in either spelling", () => {
  expect(hostProxy({})).toBeUndefined();
  expect(hostProxy({ http_proxy: "http://a:1", HTTPS_PROXY: "http://b:2" })?.url).toBe("http://b:2");
  expect(hostProxy({ http_proxy: "http://a:1", ALL_PROXY: "" })?.url).toBe("http://a:1");
});

test("is left out where it is none that can be spoken to", () => {
  expect(hostProxy({ HTTPS_PROXY: "socks5://a:1" })).toBeUndefined();
  expect(hostProxy({ HTTPS_PROXY: "http://" })).toBeUndefined();
});

test("has its exceptions", () => {
  const { except } =
    hostProxy({ HTTPS_PROXY: "http://a:1", NO_PROXY: "Intern.test, *.corp.test,.lan," }) ?? {};
  expect(except).toEqual(["intern.test", ".corp.test", ".lan"]);
});
