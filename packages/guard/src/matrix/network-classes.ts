/** Classes of connections, servers, datagrams and resolvers. See `class-matrix.ts`. */
import type { Classified } from "../api-matrix.ts";

export const NETWORK_CLASSES: Readonly<Record<string, Classified>> = Object.freeze({
  "net.Socket.prototype": {
    guarded: "_writeGeneric connect",
    refused: "",
    harmless: {
      "puts a handle on a socket; the handle is what is guarded":
        "@kReinitializeHandle @messaging_deserialize_symbol",
      "is asked by messages, which take no handle along":
        "@messaging_transfer_list_symbol @messaging_transfer_symbol",
      "uses the connection that was decided on":
        "_bytesDispatched _connecting _destroy _final _getpeername _getsockname _handle _onTimeout _read _reset _unrefTimer _write _writev address bufferSize bytesRead bytesWritten constructor destroySoon end getTypeOfService localAddress localFamily localPort pause pending read readyState ref remoteAddress remoteFamily remotePort resetAndDestroy resume setKeepAlive setNoDelay setTimeout setTypeOfService unref @kAfterAsyncWrite @kUpdateTimer",
    },
  },
  "net.Socket.own": {
    guarded: "",
    refused: "",
    harmless: {
      "are the methods of its class, or a protocol's own":
        "_destroy addListener destroySoon on prependListener setEncoding",
    },
  },
  "net.Server.prototype": {
    guarded: "_listen2 listen",
    refused: "",
    harmless: {
      "listens by `listen`": "@messaging_deserialize_symbol",
      "is asked by messages, which take no handle along":
        "@messaging_transfer_list_symbol @messaging_transfer_symbol",
      "uses what it listens at":
        "_emitCloseIfDrained _setupWorker address close constructor getConnections listening ref unref @Symbol.asyncDispose @nodejs.asyncDispose @nodejs.rejection",
    },
  },
  "net.BoundSocket.prototype": {
    guarded: "",
    refused: "address close constructor fd isPipe @Symbol.dispose @kBoundSocketConsume @kBoundSocketPath",
    harmless: {},
  },
  "net._TransferredBoundSocket.prototype": {
    guarded: "",
    refused:
      "address close constructor fd isPipe @Symbol.dispose @kBoundSocketConsume @kBoundSocketPath @messaging_deserialize_symbol @messaging_transfer_list_symbol @messaging_transfer_symbol",
    harmless: {},
  },
  "net.BlockList.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      computes:
        "addAddress addAddresses addCIDR addCIDRs addRange addSubnet check clear constructor fromJSON removeAddress removeCIDR removeRange removeSubnet rules size toJSON @messaging_clone_symbol @messaging_deserialize_symbol @nodejs.util.inspect.custom",
    },
  },
  "net.BlockList": { guarded: "", refused: "", harmless: { computes: "isBlockList" } },
  "net.SocketAddress.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      computes:
        "address constructor family flowlabel port toJSON @messaging_clone_symbol @messaging_deserialize_symbol @nodejs.util.inspect.custom",
    },
  },
  "net.SocketAddress": { guarded: "", refused: "", harmless: { computes: "isSocketAddress parse" } },
  "native BlockList.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      computes:
        "addAddress addAddresses addRange addSubnet check checkString clear constructor getRules getSize removeAddress removeRange removeSubnet",
    },
  },
  "native SocketAddress.prototype": {
    guarded: "",
    refused: "",
    harmless: { computes: "constructor detail flowlabel legacyDetail" },
  },
  "tls.TLSSocket.prototype": {
    guarded: "_wrapHandle",
    refused: "",
    harmless: {
      "hands the name to the native handle, where it is read": "setServername",
      "puts TLS on a handle by `_wrapHandle`": "@kReinitializeHandle",
      "tells about it":
        "getCertificate getCipher getEphemeralKeyInfo getFinished getPeerCertificate getPeerFinished getPeerX509Certificate getProtocol getSession getSharedSigalgs getTLSTicket getX509Certificate isSessionReused",
      "uses the connection that was decided on":
        "_destroySSL _emitTLSError _finishInit _handleTimeout _init _releaseControl _start _tlsError constructor disableRenegotiation enableTrace exportKeyingMaterial renegotiate setKeyCert setMaxSendFragment setSession",
    },
  },
  "tls.TLSSocket.own": {
    guarded: "",
    refused: "",
    harmless: { "answers with the program's own key": "@pskcallback" },
  },
  "tls.Server.own": {
    guarded: "",
    refused: "",
    harmless: { "answers with the program's own key": "@pskcallback" },
  },
  "tls.Server.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "sets keys and names of a server that was decided on":
        "_getServerData _setServerData addContext constructor getTicketKeys setOptions setSecureContext setTicketKeys @nodejs.rejection",
    },
  },
  "SecureContext.prototype": {
    guarded: "",
    refused: "",
    harmless: { "holds a native context": "constructor" },
  },
  "dgram.Socket.prototype": {
    guarded: "bind connect send",
    refused: "bindSync connectSync sendto",
    harmless: {
      "uses what was bound or connected":
        "_bindState _handle _healthCheck _queue _receiving _reuseAddr _stopReceiving addMembership addSourceSpecificMembership address close constructor disconnect dropMembership dropSourceSpecificMembership getRecvBufferSize getSendBufferSize getSendQueueCount getSendQueueSize ref remoteAddress setBroadcast setMulticastInterface setMulticastLoopback setMulticastTTL setRecvBufferSize setSendBufferSize setTTL unref @Symbol.asyncDispose @nodejs.asyncDispose",
    },
  },
  "dns.Resolver.prototype": {
    guarded:
      "resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTlsa resolveTxt reverse",
    refused: "",
    harmless: { "makes a resolver": "constructor" },
  },
  "dns/promises.Resolver.prototype": {
    guarded:
      "resolve resolve4 resolve6 resolveAny resolveCaa resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTlsa resolveTxt reverse",
    refused: "",
    harmless: { "makes a resolver": "constructor" },
  },
  "ResolverBase.prototype": {
    guarded: "setServers",
    refused: "",
    harmless: {
      "makes a resolver, or copies one":
        "constructor @dns:resolver:deserialize @dns:resolver:initializeHandle @dns:resolver:serialize",
      "tells the native resolver, which looks at the servers": "@dns:resolver:setServers",
      "tells or ends what was asked": "cancel getServers",
      "sets the local end of what was decided on": "setLocalAddress",
    },
  },
  "tty.ReadStream.prototype": {
    guarded: "constructor",
    refused: "",
    harmless: { "sets how the terminal of the stream is read": "setRawMode" },
  },
  "tty.WriteStream.prototype": {
    guarded: "constructor",
    refused: "",
    harmless: {
      "moves in the terminal of the stream, by writing to it":
        "_refreshSize clearLine clearScreenDown cursorTo getColorDepth getWindowSize hasColors moveCursor",
    },
  },
  tty: {
    guarded: "ReadStream WriteStream",
    refused: "",
    harmless: { "tells whether a number is a terminal": "isatty" },
  },
  "JSStreamSocket.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "hands on to the stream below, by its methods":
        "constructor doClose doShutdown doWrite finishShutdown finishWrite isClosing readStart readStop undefined",
    },
  },
  JSStreamSocket: {
    guarded: "",
    refused: "",
    harmless: { "hands on to the stream below, by its methods": "StreamWrap" },
  },
  "cluster.Worker.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "uses the program that was started": "constructor destroy disconnect isConnected isDead kill send",
    },
  },
});
