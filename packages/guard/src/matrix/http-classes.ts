/** Classes of HTTP, of its requests, sessions and servers. See `class-matrix.ts`. */
import type { Classified } from "../api-matrix.ts";

export const HTTP_CLASSES: Readonly<Record<string, Classified>> = Object.freeze({
  "http.Agent.prototype": {
    guarded: "addRequest createSocket",
    refused: "",
    harmless: {
      "opens by `Socket.prototype.connect`":
        "constructor createConnection destroy getName keepSocketAlive removeSocket reuseSocket",
    },
  },
  "https.Agent.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "opens by `Socket.prototype.connect`, and keeps sessions of TLS":
        "_cacheSession _evictSession _getSession constructor createConnection getName keepSocketAlive",
    },
  },
  "http.ClientRequest.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "asks by an agent, and writes to the socket, where it is read":
        "_deferToConnect _finish _implicitHeader abort clearTimeout constructor destroy onSocket path setNoDelay setSocketKeepAlive setTimeout",
    },
  },
  "http.ClientRequest.own": {
    guarded: "",
    refused: "",
    harmless: { "tells its listeners": "_onPendingData timeoutCb" },
  },
  "OutgoingMessage.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "writes to the socket, where it is read":
        "_finish _flush _flushOutput _headerNames _headers _implicitHeader _isLenientHeaderValidation _renderHeaders _send _storeHeader _writeRaw addTrailers appendHeader closed connection constructor cork destroy end errored flushHeaders getHeader getHeaderNames getHeaders getRawHeaderNames hasHeader headersSent pipe removeHeader setHeader setHeaders setTimeout socket uncork writableCorked writableEnded writableFinished writableHighWaterMark writableLength writableNeedDrain writableObjectMode write @nodejs.rejection",
    },
  },
  "http.IncomingMessage.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds what has come":
        "_addHeaderLine _addHeaderLineDistinct _addHeaderLines _destroy _dump _dumpAndCloseReadable _read connection constructor headers headersDistinct setTimeout signal trailers trailersDistinct @kAttachAbortSignal @kDetachAbortSignal",
    },
  },
  "http.ServerResponse.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "writes to the socket, where it is read":
        "_finish _implicitHeader assignSocket constructor detachSocket writeContinue writeEarlyHints writeHead writeHeader writeInformation writeProcessing",
    },
  },
  "http.ServerResponse.own": {
    guarded: "",
    refused: "",
    harmless: { "tells its listeners": "_onPendingData" },
  },
  "http.Server.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "uses what it listens at":
        "close closeAllConnections closeIdleConnections constructor setTimeout @Symbol.asyncDispose @nodejs.asyncDispose @nodejs.rejection",
    },
  },
  "http.Server.own": {
    guarded: "",
    refused: "",
    harmless: { "makes messages": "shouldUpgradeCallback @IncomingMessage @ServerResponse" },
  },
  "https.Server.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "uses what it listens at":
        "close closeAllConnections closeIdleConnections constructor setTimeout @Symbol.asyncDispose @nodejs.asyncDispose",
    },
  },
  "https.Server.own": {
    guarded: "",
    refused: "",
    harmless: { "makes messages": "shouldUpgradeCallback @IncomingMessage @ServerResponse" },
  },
  "http.validateHeaderName": { guarded: "", refused: "", harmless: { computes: "withoutStackTrace" } },
  "http.validateHeaderValue": { guarded: "", refused: "", harmless: { computes: "withoutStackTrace" } },
  "http2.connect": { guarded: "@nodejs.util.promisify.custom", refused: "", harmless: {} },
  "http2.Http2ServerRequest.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds what has come":
        "_read aborted authority complete connection constructor headers httpVersion httpVersionMajor httpVersionMinor method rawHeaders rawTrailers scheme setTimeout socket stream trailers url",
    },
  },
  "http2.Http2ServerResponse.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "answers by the stream":
        "_header addTrailers appendHeader connection constructor cork createPushResponse destroy end finished flushHeaders getHeader getHeaderNames getHeaders hasHeader headersSent removeHeader sendDate setHeader setTimeout setTrailer socket statusCode statusMessage stream uncork writableCorked writableEnded writableFinished writableHighWaterMark writableLength writableNeedDrain writableObjectMode write writeContinue writeEarlyHints writeHead writeInformation @appendHeader @begin-send @setHeader",
    },
  },
  "Http2Session.prototype": {
    guarded: "goaway",
    refused: "",
    harmless: {
      "uses the connection that was decided on, by the native session":
        "_onTimeout alpnProtocol close closed connecting constructor destroy destroyed encrypted goawayCode goawayLastStreamID localSettings originSet pendingSettingsAck ping ref remoteSettings setLocalWindowSize setNextStreamID setTimeout settings socket state type unref @kMaybeDestroy @kUpdateTimer @nodejs.rejection @nodejs.util.inspect.custom",
    },
  },
  "ClientHttp2Session.prototype": {
    guarded: "request",
    refused: "",
    harmless: { "makes a session of a socket": "constructor" },
  },
  "ServerHttp2Session.prototype": {
    guarded: "",
    refused: "",
    harmless: { "tells by the native session, which looks whose it is": "altsvc constructor origin server" },
  },
  "Http2Stream.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "uses the stream that was decided on, by the native stream":
        "_destroy _final _onTimeout _read _write _writev aborted bufferSize close closed constructor endAfterHeaders headRequest headersSent id pending priority rstCode sendTrailers sentHeaders sentInfoHeaders sentTrailers session setTimeout state @init @kAfterAsyncWrite @kMaybeDestroy @kUpdateTimer @nodejs.util.inspect.custom @proceed @write-generic",
    },
  },
  "ClientHttp2Stream.prototype": {
    guarded: "",
    refused: "",
    harmless: { "makes a stream that is asked for by `request`": "constructor" },
  },
  "ServerHttp2Stream.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "opens by `fs.open`, looked up when it is used": "respondWithFile",
      "reads by a native `FileHandle`, which looks whose number it is told": "respondWithFD",
      "answers who has asked": "additionalHeaders constructor pushAllowed pushStream respond @proceed",
    },
  },
  "Http2Server.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "uses what it listens at":
        "close constructor setTimeout updateSettings @Symbol.asyncDispose @nodejs.asyncDispose @nodejs.rejection",
    },
  },
  "Http2SecureServer.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "uses what it listens at": "close closeIdleConnections constructor setTimeout updateSettings",
    },
  },
  "HTTPServerAsyncResource.prototype": {
    guarded: "",
    refused: "",
    harmless: { "holds values of the program and of Node, and computes": "constructor" },
  },
});
