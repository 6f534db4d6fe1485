/** Native classes below sockets, servers, resolvers and terminals. Whoever has one of their objects has its class. See `class-matrix.ts`. */
import type { Classified } from "../api-matrix.ts";

export const NATIVE_CLASSES: Readonly<Record<string, Classified>> = Object.freeze({
  "native AsyncWrap.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells numbers":
        "asyncReset constructor getAsyncContextFrameForDebuggingOnly getAsyncId getProviderType",
    },
  },
  "native HandleWrap.prototype": {
    guarded: "close",
    refused: "",
    harmless: { "says whether it keeps the process": "constructor hasRef ref unref" },
  },
  "native LibuvStreamWrap.prototype": {
    guarded: "writeAsciiString writeBuffer writeLatin1String writeUcs2String writeUtf8String writev",
    refused: "",
    harmless: {
      "reads what has come, or tells about it":
        "_externalStream bytesRead bytesWritten constructor fd onread readStart readStop setBlocking shutdown useUserBuffer writeQueueSize",
    },
  },
  "native TCP.prototype": {
    guarded: "bind bind6 connect connect6 listen open",
    refused: "",
    harmless: {
      "makes a handle that leads nowhere": "constructor",
      "uses the connection that was decided on":
        "getTypeOfService getpeername getsockname owner reset setKeepAlive setNoDelay setTypeOfService",
    },
  },
  "native TCP.own": { guarded: "", refused: "", harmless: { "tells its listeners": "onconnection reading" } },
  "native Pipe.prototype": {
    guarded: "bind connect fchmod listen open",
    refused: "",
    harmless: { "makes a handle that leads nowhere": "constructor" },
  },
  "native Pipe.own": { guarded: "", refused: "", harmless: { "tells its listeners": "onconnection" } },
  "native TTY.prototype": {
    guarded: "",
    refused: "constructor",
    harmless: { "sets how the terminal of the handle is read": "getWindowSize setRawMode" },
  },
  "native UDP.prototype": {
    guarded: "bind bind6 connect connect6 send send6",
    refused: "open",
    harmless: {
      "makes a handle that leads nowhere": "constructor",
      "uses what was bound or connected":
        "addMembership addSourceSpecificMembership bufferSize disconnect dropMembership dropSourceSpecificMembership fd getSendQueueCount getSendQueueSize getpeername getsockname owner recvStart recvStop setBroadcast setMulticastInterface setMulticastLoopback setMulticastTTL setTTL",
    },
  },
  "native UDP.own": {
    guarded: "",
    refused: "",
    harmless: { "looks up what it is told, and Node tells it addresses alone": "lookup" },
  },
  "native ChannelWrap.prototype": {
    guarded:
      "getHostByAddr queryA queryAaaa queryAny queryCaa queryCname queryMx queryNaptr queryNs queryPtr querySoa querySrv queryTlsa queryTxt setServers",
    refused: "",
    harmless: {
      "makes a resolver": "constructor",
      "sets the local end of what was decided on": "setLocalAddress",
      "tells or ends what was asked": "cancel getServers",
    },
  },
  "native TLSWrap.prototype": {
    guarded:
      "setServername writeAsciiString writeBuffer writeLatin1String writeUcs2String writeUtf8String writev",
    refused: "",
    harmless: {
      "hands on to the handle below, where it is guarded":
        "bind bind6 close connect connect6 getpeername getsockname listen open ref setBlocking setKeepAlive setNoDelay setPendingInstances setSimultaneousAccepts unref",
      "begins or ends TLS on the handle below, in Node's own words":
        "destroySSL renegotiate shutdown start writesIssuedByPrevListenerDone",
      "sets or tells what TLS is agreed on, and reads what has come":
        "_externalStream bytesRead bytesWritten certCbDone clientHelloDone constructor enableALPNCb enableCertCb enableKeylogCallback enablePskCallback enableSessionCallbacks enableTrace endParser exportKeyingMaterial fd getALPNNegotiatedProtocol getCertificate getCipher getEphemeralKeyInfo getFinished getPeerCertificate getPeerFinished getPeerX509Certificate getProtocol getServername getSession getSharedSigalgs getTLSTicket getX509Certificate hasPeerCertificate isSessionReused loadSession newSessionDone onread readStart readStop receive requestOCSP setALPNProtocols setKeyCert setMaxSendFragment setOCSPResponse setPskIdentityHint setSession setVerifyMode useUserBuffer verifyError writeQueueSize",
    },
  },
  "native TLSWrap.own": {
    guarded: "",
    refused: "",
    harmless: {
      "tells its listeners":
        "oncertcb onclienthello onerror onhandshakedone onhandshakestart onkeylog onnewsession onocspresponse @onpskexchange",
    },
  },
  "native SecureContext.prototype": {
    guarded: "",
    refused: "setClientCertEngine setEngineKey",
    harmless: {
      "takes keys and certificates as texts, or reads those that Node has":
        "_external addCACert addCRL addRootCerts close constructor enableTicketKeyCallback getCertificate getIssuer getMaxProto getMinProto getTicketKeys init loadPKCS12 setAllowPartialTrustChain setCert setCertificateCompression setCipherSuites setCiphers setDHParam setECDHCurve setKey setMaxProto setMinProto setOptions setSessionIdContext setSessionTimeout setSigalgs setTicketKeys",
    },
  },
  "native JSStream.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "hands on to what the program has put below":
        "_externalStream bytesRead bytesWritten constructor emitEOF fd finishShutdown finishWrite onread readBuffer readStart readStop shutdown useUserBuffer writeAsciiString writeBuffer writeLatin1String writeUcs2String writeUtf8String writev",
    },
  },
  "native JSStream.own": {
    guarded: "",
    refused: "",
    harmless: {
      "hands on to what the program has put below":
        "close isClosing onreadstart onreadstop onshutdown onwrite reading",
    },
  },
  "native HTTPParser.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "reads what has come":
        "close constructor consume duration execute finish free getCurrentBuffer headersCompleted initialize pause remove resume unconsume",
    },
  },
  "native HTTPParser.own": {
    guarded: "",
    refused: "",
    harmless: { "tells its listeners": "1 2 3 4 5 6 onIncoming" },
  },
  "native ConnectionsList.prototype": {
    guarded: "",
    refused: "",
    harmless: { "tells the connections of its server": "active all constructor expired idle" },
  },
  "native Http2Session.prototype": {
    guarded: "altsvc consume goaway origin request",
    refused: "",
    harmless: {
      "makes a session that leads nowhere": "constructor",
      "says what the protocol has words for, in numbers":
        "destroy hasPendingData localSettings ping receive refreshState remoteSettings setGracefulClose setLocalWindowSize setNextStreamID settings updateChunksSent",
    },
  },
  "native Http2Session.own": {
    guarded: "",
    refused: "",
    harmless: { "tells its listeners": "ongracefulclosecomplete" },
  },
  "native Http2Stream.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "uses the stream that was asked for; one that was ended with its head takes no more":
        "_externalStream bytesRead bytesWritten constructor destroy fd id info onread priority pushPromise readStart readStop refreshState respond rstStream shutdown trailers useUserBuffer writeAsciiString writeBuffer writeLatin1String writeUcs2String writeUtf8String writev",
    },
  },
  "native JSTransferable.prototype": {
    guarded: "",
    refused: "",
    harmless: { "makes what messages can hold": "constructor" },
  },
});
