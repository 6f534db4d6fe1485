/**
 * The gateway and the life of its connections: waiting, approving, revoking, ending, dying, and what is left behind. Real
 * programs in real sandboxes. What passes, and where it leads, is in `egress-passage.test.ts`.
 */
import { readdirSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type EgressWorkshop,
  TestDecider,
  echoProgram,
  openEgressWorkshop,
} from "../testing/egress-fixture.ts";

const LONG = 300_000;
let workshop: EgressWorkshop;

beforeAll(async () => {
  workshop = await openEgressWorkshop();
}, LONG);
afterAll(() => workshop.close());

describe("while a person decides", () => {
  test(
    "the connection is held and nothing is dialled; the approval opens the door at once",
    async () => {
      const decider = new TestDecider();
      const question = decider.nextQuestion();
      const before = workshop.web.seen.length;
      const run = workshop.talk(`curl -sS -m 100 http://web.test:${workshop.web.port}/held`, decider);
      const decide = await question;
      expect(workshop.web.seen.length).toBe(before);
      decide(true);
      await run.ended;
      expect(run.text()).toBe("hello GET /held 0\n");
    },
    LONG,
  );

  test(
    "a denial says what was refused, to whom, by what, and how to ask",
    async () => {
      const { stdout } = await workshop.net(
        `curl -sS -m 60 -d x 'http://web.test:${workshop.web.port}/a"<b>?q=%0a'`,
        new TestDecider(),
      );
      expect(JSON.parse(stdout)).toEqual({
        reason: "approval_required",
        decision: "asked",
        source: "mode",
        subject: { type: "tool", name: "demo.net" },
        resource_type: "network",
        operation: "send",
        target: `http://web.test:${workshop.web.port}/a%22%3Cb%3E?q=%0a`,
        request_id: "request-1",
        message: "tool:demo.net may not do this: ask",
        how_to_ask: "have request `request-1` approved, then try again",
      });
    },
    LONG,
  );
});

describe("a revocation closes what is open", () => {
  test(
    "a raw connection",
    async () => {
      const decider = new TestDecider().allow(`echo.test:${workshop.echo.port}`, "connect");
      const run = workshop.talk(echoProgram(workshop), decider);
      await run.printed("heard first word");
      expect(run.gateway?.openCount).toBe(1);
      decider.revoke();
      await run.ended;
      expect(run.text()).toContain("then end");
    },
    LONG,
  );

  test(
    "a download under way, and not one that is still allowed",
    async () => {
      const server = createHttpServer((_, res) => res.write("begun\n"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const decider = new TestDecider().allow(`http://slow.test:${port}`, "receive");
      const run = workshop.talk(`curl -sS -N -m 100 http://slow.test:${port}/; echo "ended $?"`, decider);
      await run.printed("begun");
      await run.gateway?.recheck();
      expect(run.gateway?.openCount).toBe(1);
      decider.revoke();
      await run.ended;
      expect(run.text()).toMatch(/ended (?:18|52|56)\n/);
      server.close();
      server.closeAllConnections();
    },
    LONG,
  );
});

describe("the gateway is killed, and nothing gets out:", () => {
  test(
    "before the first connection",
    async () => {
      const decider = new TestDecider().allow(`http://web.test:${workshop.web.port}`, "receive");
      const before = workshop.web.seen.length;
      const run = workshop.talk(
        `read go; curl -sS -m 5 http://web.test:${workshop.web.port}/killed; echo "ended $?"`,
        decider,
      );
      await run.started;
      run.gateway?.close();
      run.child.stdin?.end("go\n");
      await run.ended;
      expect(run.text()).toMatch(/ended [1-9]/);
      expect(workshop.web.seen.length).toBe(before);
    },
    LONG,
  );

  test(
    "while a question waits, and an answer comes later",
    async () => {
      const decider = new TestDecider();
      const question = decider.nextQuestion();
      const before = workshop.web.seen.length;
      const run = workshop.talk(
        `curl -sS -m 60 http://web.test:${workshop.web.port}/killed; echo "ended $?"`,
        decider,
      );
      const decide = await question;
      run.gateway?.close();
      decide(true);
      await run.ended;
      expect(run.text()).toMatch(/ended [1-9]/);
      expect(workshop.web.seen.length).toBe(before);
    },
    LONG,
  );

  test(
    "while bytes flow",
    async () => {
      const run = workshop.talk(
        echoProgram(workshop),
        new TestDecider().allow(`echo.test:${workshop.echo.port}`, "connect"),
      );
      await run.printed("heard first word");
      run.gateway?.close();
      await run.ended;
      expect(run.text()).toContain("then end");
      expect(run.gateway?.openCount).toBe(0);
    },
    LONG,
  );
});

test(
  "what is approved for a while is cut off when it ends",
  async () => {
    const decider = new TestDecider().allow(`echo.test:${workshop.echo.port}`, "connect");
    decider.expiresAtMs = Date.now() + 3000;
    const { stdout } = await workshop.net(echoProgram(workshop), decider, { ruling: "allow" });
    expect(stdout.split("\n").at(-2)).toBe("then end");
  },
  LONG,
);

test("a program that is not there leaves no file of the gateway behind", () => {
  const { TMPDIR: usual } = process.env;
  const places = workshop.make("places");
  process.env["TMPDIR"] = places;
  try {
    const options = { egress: workshop.egress(new TestDecider()), rules: { network: "gateway" } } as const;
    expect(() => workshop.start("no-such-program", [], options)).toThrow("is no program");
    expect(readdirSync(places)).toEqual([]);
  } finally {
    if (usual === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = usual;
  }
});

test(
  "nothing is left behind: no file, no socket",
  async () => {
    const run = workshop.talk("echo done", new TestDecider());
    await run.ended;
    expect(run.gateway?.openCount).toBe(0);
    const { stdout } = await workshop.net("ls /proc/self/fd | wc -l; cat /etc/hosts", new TestDecider());
    expect(stdout).toBe("4\n127.0.0.1 localhost\n::1 localhost\n");
  },
  LONG,
);
