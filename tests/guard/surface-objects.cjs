/**
 * Objects of every kind that a program can have of Node, for the walk of `surface-walk.cjs`: files, watchers, sockets and servers of
 * each protocol with both ends, programs, threads. Prints what was found. Touches the places and ports that it is given.
 */
const { folder, file, socket: unixSocket, ports, modules: names } = given;
const onceOf = (...args) => require("node:events").once(...args);
const { Duplex } = require("node:stream");
const host = "127.0.0.1";
const quiet = () => undefined;
const modules = {};
const held = [];
const hold = (object, name) => (held.push([object, name]), object?.on?.("error", quiet), object);
const once = async (emitter, event) => (await onceOf(emitter, event))[0];
const listening = async (server, ...where) => (
  server.listen(...where),
  await once(server, "listening"),
  hold(server, "server")
);
const optional = (work, name) => {
  try {
    hold(work(), name);
  } catch {}
};

const holdFiles = async ({ fs }) => {
  hold(fs.watch(folder, quiet), "watcher");
  hold(fs.watchFile(file, quiet), "watched");
  const dir = hold(fs.opendirSync(folder), "dir");
  hold(dir.readSync(), "entry");
  hold(fs.statSync(file), "stats");
  hold(fs.statSync(file, { bigint: true }), "stats");
  hold(fs.statfsSync(folder), "statfs");
  for (const use of [
    quiet,
    (one) => one.readLines(),
    (one) => one.createReadStream(),
    (one) => one.readableWebStream(),
    (one) => one.pull?.(),
  ]) {
    const handle = hold(await fs.promises.open(file), "handle");
    hold(use(handle), "of a handle");
  }
  await once(hold(fs.createReadStream(file), "reading"), "open");
  await once(hold(fs.createWriteStream(file, { flags: "r+" }), "writing"), "open");
  hold(fs.promises.watch(folder), "watching");
  hold(await fs.promises.opendir(folder), "dir");
  hold(await fs.openAsBlob(file), "blob");
};

const holdSockets = async ({ net, tls, dgram, dns, tty }) => {
  const accept = (socket) => hold(socket, "accepted");
  await listening(net.createServer(accept), ports[0], host);
  const tcp = hold(net.connect(ports[0], host), "tcp");
  await once(tcp, "connect");
  // WHY of this: Node makes a terminal of any stream, and there may be none.
  hold(new tty.ReadStream(tcp._handle.fd), "terminal");
  await listening(net.createServer(accept), unixSocket);
  await once(hold(net.connect(unixSocket), "pipe"), "connect");
  hold(new net.BlockList(), "list");
  hold(new net.SocketAddress(), "address");
  hold(dgram.createSocket("udp4"), "datagrams");
  hold(new dns.Resolver(), "resolver");
  hold(new dns.promises.Resolver(), "resolver");
  const psk = Buffer.from("00112233445566778899aabbccddeeff", "hex");
  const shared = { ciphers: "PSK", maxVersion: "TLSv1.2", checkServerIdentity: quiet };
  await listening(tls.createServer({ ...shared, pskCallback: () => psk }, accept), ports[1], host);
  await once(
    hold(
      tls.connect({ port: ports[1], host, ...shared, pskCallback: () => ({ psk, identity: "a" }) }),
      "tls",
    ),
    "secureConnect",
  );
  hold(tls.createSecureContext(), "context");
  hold(
    new tls.TLSSocket(new Duplex({ read: quiet, write: (_data, _encoding, done) => done() })),
    "tls over a stream",
  );
};

const holdRequests = async ({ http, https, http2 }) => {
  const answer = (request, response) => {
    for (const one of [request, response, request.stream, request.stream?.session]) walkObject(one, "asked");
    response.end("a");
  };
  await listening(http.createServer(answer), ports[2], host);
  const request = hold(http.get({ port: ports[2], host, path: "/open/" }), "request");
  const response = hold(await once(request, "response"), "response");
  walkObject(request, "request");
  await once(response.resume(), "end");
  hold(https.createServer({}), "server");
  await listening(http2.createServer(answer), ports[3], host);
  hold(http2.createSecureServer({}), "server");
  const session = hold(http2.connect(`http://${host}:${ports[3]}`), "session");
  const stream = hold(session.request({ ":path": "/open/" }), "stream");
  await once(stream, "response");
  for (const one of [stream, session, session.socket]) walkObject(one, "session");
  stream.resume();
  const fetched = hold(await fetch(`http://${host}:${ports[2]}/open/`), "fetched");
  await fetched.text();
  for (const number of [1, 2])
    hold(globalThis[Symbol.for(`undici.globalDispatcher.${number}`)], "dispatcher");
  if (typeof WebSocket === "function")
    hold(new WebSocket(`ws://${host}:${ports[2]}/open/`), "websocket").addEventListener("error", quiet);
};

const holdRest = ({
  child_process: programs,
  worker_threads: threads,
  vm,
  v8,
  wasi,
  async_hooks: hooks,
  trace_events: events,
}) => {
  const stdio = ["pipe", "pipe", "pipe", "ipc"];
  const child = hold(
    programs.spawn(process.execPath, ["-e", "setInterval(() => undefined, 1000)"], { stdio }),
    "child",
  );
  hold(new threads.Worker("setInterval(() => undefined, 1000)", { eval: true }), "thread");
  hold(new MessageChannel(), "channel");
  hold(new BroadcastChannel("a"), "broadcast");
  hold(module, "module");
  hold(new vm.Script("1"), "script");
  hold(new v8.Serializer(), "serializer");
  hold(new v8.Deserializer(Buffer.alloc(4)), "deserializer");
  hold(new v8.GCProfiler(), "profiler");
  optional(() => v8.startCpuProfile(), "profile");
  hold(new wasi.WASI({ version: "preview1" }), "wasi");
  hold(new hooks.AsyncLocalStorage(), "storage");
  hold(new hooks.AsyncResource("a"), "resource");
  optional(() => events.createTracing({ categories: ["node"] }), "tracing");
  for (const name of ["stdin", "stdout", "stderr"]) hold(process[name], name);
  return child;
};

/** The functions that the language does not have. WHY without one: Node warns where it is looked at. */
const globalsOfNode = () => {
  const ofLanguage = new Set(modules.vm.runInNewContext("Object.getOwnPropertyNames(globalThis)"));
  const own = Object.getOwnPropertyNames(globalThis).filter(
    (name) => !ofLanguage.has(name) && /^[a-zA-Z]+$/.test(name),
  );
  const isFunction = (name) => name !== "localStorage" && typeof globalThis[name] === "function";
  return Object.fromEntries(own.filter(isFunction).map((name) => [name, globalThis[name]]));
};

const report = async () => {
  for (const name of names) modules[name] = name === "process" ? process : require(name);
  walkModules({ ...modules, global: globalsOfNode() });
  await holdFiles(modules);
  await holdSockets(modules);
  await holdRequests(modules);
  const child = holdRest(modules);
  for (const [object, name] of held) walkObject(object, name);
  child.kill();
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
};
report().catch((error) => {
  process.stderr.write(String(error?.stack ?? error));
  process.exit(1);
});
