/** Classes of `fetch`, of websockets, and of the clients below them. See `class-matrix.ts`. */
import type { Classified } from "../api-matrix.ts";

export const CLIENT_CLASSES: Readonly<Record<string, Classified>> = Object.freeze({
  "http.WebSocket.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "connects as `http.request` does; each message is decided where it leaves":
        "binaryType bufferedAmount close constructor extensions onclose onerror onmessage onopen protocol readyState send url @nodejs.ref @nodejs.unref",
    },
  },
  "http.CloseEvent.prototype": {
    guarded: "",
    refused: "",
    harmless: { "holds values of the program and of Node, and computes": "code constructor reason wasClean" },
  },
  "http.MessageEvent.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "constructor data initMessageEvent lastEventId origin ports source",
    },
  },
  "global.MessageEvent.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "constructor data lastEventId origin ports source",
    },
  },
  "global.FormData.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "append constructor delete entries forEach get getAll has keys set values @Symbol.iterator @nodejs.util.inspect.custom",
    },
  },
  "global.Headers.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "append constructor delete entries forEach get getSetCookie has keys set values @Symbol.iterator @headers-map-sorted @nodejs.util.inspect.custom",
    },
  },
  "global.Request.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "arrayBuffer blob body bodyUsed bytes cache clone constructor credentials destination duplex formData headers integrity isHistoryNavigation isReloadNavigation json keepalive method mode redirect referrer referrerPolicy signal text textStream url @nodejs.util.inspect.custom",
    },
  },
  "global.Response.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "arrayBuffer blob body bodyUsed bytes clone constructor formData headers json ok redirected status statusText text textStream type url @nodejs.util.inspect.custom",
    },
  },
  "global.Response": {
    guarded: "",
    refused: "",
    harmless: { "holds values of the program and of Node, and computes": "error json redirect" },
  },
  "HeadersList.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "append clear constructor contains delete entries entriesList get rawValues set toSortedArray @Symbol.iterator",
    },
  },
  "Dispatcher.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "asks by a client, which connects by `Socket.prototype.connect`":
        "close compose connect constructor destroy dispatch pipeline request stream upgrade",
    },
  },
  "DispatcherBase.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "asks by a client, which connects by `Socket.prototype.connect`":
        "close closed constructor destroy destroyed dispatch eventSourceOptions interceptors webSocketOptions @Intercepted-Dispatch",
    },
  },
  "Dispatcher1Wrapper.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "asks by a client, which connects by `Socket.prototype.connect`": "close constructor destroy dispatch",
    },
  },
  Dispatcher1Wrapper: {
    guarded: "",
    refused: "",
    harmless: { "asks by a client, which connects by `Socket.prototype.connect`": "wrapHandler" },
  },
  "Agent.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "asks by a client, which connects by `Socket.prototype.connect`":
        "constructor stats @close @destroy @dispatch @running",
    },
  },
  "Agent.own": {
    guarded: "",
    refused: "",
    harmless: {
      "makes clients, and hears of them":
        "@Intercepted-Dispatch @factory @onConnect @onConnectionError @onDisconnect @onDrain",
    },
  },
  "Pool.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "asks by a client, which connects by `Socket.prototype.connect`":
        "constructor @get-dispatcher @has-dispatcher",
    },
  },
  "Pool.own": {
    guarded: "",
    refused: "",
    harmless: {
      "makes clients, and hears of them":
        "@Intercepted-Dispatch @factory @onConnect @onConnectionError @onDisconnect @onDrain",
    },
  },
  "PoolBase.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "asks by a client, which connects by `Socket.prototype.connect`":
        "constructor stats @add-client @busy @close @connected @destroy @dispatch @free @has-dispatcher @onDrain @pending @remove-client @running @size",
    },
  },
  "PoolStats.prototype": {
    guarded: "",
    refused: "",
    harmless: { "tells numbers": "connected constructor free pending queued running size" },
  },
  "Client.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "connects by `Socket.prototype.connect`, and writes to the socket, where it is read":
        "constructor pipelining stats @busy @close @connect @connected @destroy @dispatch @pending @running @size",
    },
  },
  "Client.own": {
    guarded: "",
    refused: "",
    harmless: {
      "connects by `Socket.prototype.connect`, and writes to the socket, where it is read":
        "@Intercepted-Dispatch @connector @on-error @resume",
    },
  },
  "Parser.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "reads what has come":
        "constructor createError destroy execute finish onBody onHeaderField onHeaderValue onHeadersComplete onMessageBegin onMessageComplete onStatus onUpgrade readMore resume setTimeout trackHeader",
    },
  },
  "Parser.own": { guarded: "", refused: "", harmless: { "reads what has come": "resume" } },
  "Fetch.prototype": {
    guarded: "",
    refused: "",
    harmless: { "ends what was asked": "abort constructor terminate" },
  },
  "Request.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells its listeners":
        "addHeader constructor onBodySent onComplete onConnect onData onError onFinally onHeaders onRequestSent onRequestStart onRequestUpgrade onResponseData onResponseEnd onResponseError onResponseStart onResponseStarted onUpgrade",
    },
  },
});
