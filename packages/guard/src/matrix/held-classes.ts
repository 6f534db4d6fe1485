/** What Node's objects hold, and functions that every program has. See `class-matrix.ts`. */
import type { Classified } from "../api-matrix.ts";

export const HELD_CLASSES: Readonly<Record<string, Classified>> = Object.freeze({
  global: {
    guarded: "",
    refused: "",
    sometimes: "structuredClone",
    harmless: {
      "connects by `Socket.prototype.connect`, and what it sends is decided there":
        "EventSource WebSocket fetch",
      "carries values between threads of this process": "BroadcastChannel MessageChannel MessagePort",
      "keeps texts in the file that the host named by a flag, or in memory": "Storage",
      "holds values of the program and of Node, and computes":
        "AbortController AbortSignal Blob Buffer ByteLengthQueuingStrategy CloseEvent CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DecompressionStream ErrorEvent Event EventTarget File FormData Headers MessageEvent Navigator Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList PerformanceResourceTiming QuotaExceededError ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController ReadableStreamDefaultReader Request Response SubtleCrypto TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream TransformStreamDefaultController URL URLPattern URLSearchParams WritableStream WritableStreamDefaultController WritableStreamDefaultWriter atob btoa clearImmediate clearInterval clearTimeout queueMicrotask setImmediate setInterval setTimeout",
    },
  },
  "ReadableState.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "autoDestroy closeEmitted closed constructed constructor dataEmitted decoder defaultEncoding destroyed emitClose emittedReadable encoding endEmitted ended errorEmitted errored flowing multiAwaitDrain needReadable objectMode paused pipesCount readableListening reading readingMore resumeScheduled sync @kOnConstructed",
    },
  },
  "WritableState.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "afterWriteTickInfo allBuffers allNoop autoDestroy bufferProcessing buffered bufferedRequestCount closeEmitted closed constructed constructor decodeStrings defaultEncoding destroyed emitClose ended ending errorEmitted errored finalCalled finished getBuffer needDrain objectMode prefinished sync writable writecb writing @kOnConstructed",
    },
  },
  "WritableState.own": { guarded: "", refused: "", harmless: { "tells its listeners": "onwrite" } },
  "ReadableStreamState.prototype": {
    guarded: "",
    refused: "",
    harmless: { "holds values of the program and of Node, and computes": "constructor" },
  },
  "ReadableStreamTransferState.prototype": {
    guarded: "",
    refused: "",
    harmless: { "holds values of the program and of Node, and computes": "constructor" },
  },
  "Timeout.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "close constructor hasRef ref refresh unref @Symbol.dispose @Symbol.toPrimitive @nodejs.dispose @nodejs.util.inspect.custom",
    },
  },
  "TimersList.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes": "constructor @nodejs.util.inspect.custom",
    },
  },
  "Timeout.own": { guarded: "", refused: "", harmless: { "tells its listeners": "_onTimeout" } },
  "FastTimer.prototype": {
    guarded: "",
    refused: "",
    harmless: { "holds values of the program and of Node, and computes": "clear constructor refresh" },
  },
  "FastTimer.own": { guarded: "", refused: "", harmless: { "tells its listeners": "_onTimeout" } },
  "SafeMap.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "clear constructor delete entries forEach get has keys set size values @Symbol.iterator",
    },
  },
  SafeMap: {
    guarded: "",
    refused: "",
    harmless: { "holds values of the program and of Node, and computes": "groupBy @Symbol.species" },
  },
  "SafeSet.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "add clear constructor delete difference entries forEach has intersection isDisjointFrom isSubsetOf isSupersetOf keys size symmetricDifference union values @Symbol.iterator",
    },
  },
  SafeSet: {
    guarded: "",
    refused: "",
    harmless: { "holds values of the program and of Node, and computes": "@Symbol.species" },
  },
  "StringDecoder.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "constructor end lastChar lastNeed lastTotal text write",
    },
  },
  "FixedQueue.prototype": {
    guarded: "",
    refused: "",
    harmless: { "holds values of the program and of Node, and computes": "constructor isEmpty push shift" },
  },
  "FixedCircularBuffer.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes": "constructor isEmpty isFull push shift",
    },
  },
  "Queue.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds values of the program and of Node, and computes":
        "constructor grow peek peekPairValue push pushPair rewind shift shiftPair",
    },
  },
});
