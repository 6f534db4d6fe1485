/**
 * A service in a process of its own, so that it can be killed. Attaches descriptor 3 as a child of user 21, approves
 * what its third argument names, and says when it did. `node program FOLDER TARGET`.
 */
import { Socket } from "node:net";
import { READER, adminOf, callerOf, openFixture, receive } from "./service-fixture.ts";

const [folder = "", target = ""] = process.argv.slice(2);
const { service } = await openFixture({ folder });
await service.approvePermanently(adminOf(), { subject: READER, access: receive(target) });
service.gate.attachChild(new Socket({ fd: 3, readable: true, writable: true }), callerOf());
process.stdout.write("attached\n");
