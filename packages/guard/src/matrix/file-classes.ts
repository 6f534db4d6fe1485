/** Classes of files, folders and watchers. See `class-matrix.ts`. */
import type { Classified } from "../api-matrix.ts";

export const FILE_CLASSES: Readonly<Record<string, Classified>> = Object.freeze({
  "fs.exists": { guarded: "@nodejs.util.promisify.custom", refused: "", harmless: {} },
  "fs.realpath": { guarded: "native", refused: "", harmless: {} },
  "fs.realpathSync": { guarded: "native", refused: "", harmless: {} },
  "fs/promises.opendir": { guarded: "", refused: "@nodejs.util.promisify.custom", harmless: {} },
  "fs.Dirent.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells what was asked for already":
        "constructor isBlockDevice isCharacterDevice isDirectory isFIFO isFile isSocket isSymbolicLink",
    },
  },
  "fs.Stats.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells what was asked for already":
        "_checkModeProperty atime atimeInstant birthtime birthtimeInstant constructor ctime ctimeInstant isFile mtime mtimeInstant",
    },
  },
  "StatsBase.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells what was asked for already":
        "constructor isBlockDevice isCharacterDevice isDirectory isFIFO isFile isSocket isSymbolicLink",
    },
  },
  "BigIntStats.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells what was asked for already":
        "_checkModeProperty atime atimeInstant birthtime birthtimeInstant constructor ctime ctimeInstant mtime mtimeInstant",
    },
  },
  "StatFs.prototype": {
    guarded: "",
    refused: "",
    harmless: { "tells what was asked for already": "constructor" },
  },
  "fs.ReadStream.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "opens by `fs.open`, reads and closes by `fs.read` and `fs.close`, looked up when they are used":
        "_construct _destroy _read autoClose close constructor open pending",
    },
  },
  "fs.WriteStream.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "opens by `fs.open`, writes and closes by `fs.write` and `fs.close`, looked up when they are used":
        "_construct _destroy _write _writev autoClose close constructor destroySoon open pending",
    },
  },
  "fs.Dir.prototype": {
    guarded: "close closeSync entries read readSync readSyncRecursive @Symbol.asyncIterator",
    refused: "constructor",
    harmless: {
      "reads the handle that Node gave it, by the methods that are guarded":
        "processReadResult @kDirReadImpl",
      "tells where it is, or closes it":
        "path @Symbol.asyncDispose @Symbol.dispose @nodejs.asyncDispose @nodejs.dispose",
    },
  },
  "fs.Dir.own": {
    guarded: "",
    refused: "",
    harmless: { "are the methods of its class, bound to it": "@kDirClosePromisified @kDirReadPromisified" },
  },
  "fs.Utf8Stream.prototype": {
    guarded: "",
    refused:
      "append constructor contentMode destroy end fd file flush flushSync fsync maxLength minLength mkdir mode periodicFlush reopen sync write writing @Symbol.dispose",
    harmless: {},
  },
  "FSWatcher.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "starts by the native watcher, which looks at the place":
        "close constructor ref start unref @kFSWatchStart",
    },
  },
  "StatWatcher.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "starts by the native watcher, which looks at the place":
        "constructor ref start stop unref @kFSStatWatcherAddOrCleanRef @kFSStatWatcherStart",
    },
  },
  "native FSEvent.prototype": {
    guarded: "start",
    refused: "",
    harmless: { "tells about a watcher, or makes one that watches nothing": "constructor initialized owner" },
  },
  "native FSEvent.own": { guarded: "", refused: "", harmless: { "tells its listeners": "onchange" } },
  "native StatWatcher.prototype": {
    guarded: "start",
    refused: "",
    harmless: { "makes one that watches nothing": "constructor" },
  },
  "native StatWatcher.own": { guarded: "onchange", refused: "", harmless: {} },
  "native DirHandle.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "reads the folder that was opened for it; one that is made anew has none": "close constructor read",
    },
  },
  "FileHandle.prototype": {
    guarded:
      "appendFile chmod chown datasync read readFile readv stat sync truncate utimes write writeFile writev",
    refused: "constructor pull pullSync writer",
    harmless: {
      "reads and writes by the guarded methods":
        "createReadStream createWriteStream readLines readableWebStream",
      "writes no number into a handle that the guard has opened": "@messaging_deserialize_symbol",
      "closes what was opened, or hands it over":
        "@Symbol.asyncDispose @kCloseSync @messaging_transfer_list_symbol @messaging_transfer_symbol @nodejs.asyncDispose",
      "tells a number, or counts its users": "fd getAsyncId @kRef @kUnref",
    },
  },
  FileHandle: { guarded: "", refused: "", harmless: { "tells what it is": "isFileHandle" } },
  "FileHandle.own": { guarded: "", refused: "", harmless: { "closes what was opened": "close" } },
  "native FileHandle.prototype": {
    guarded: "",
    refused: "constructor",
    harmless: {
      "reads, or closes, what the handle was made of; writes nothing":
        "_externalStream bytesRead bytesWritten close closeSync fd onread readStart readStop releaseFD shutdown useUserBuffer writeAsciiString writeBuffer writeLatin1String writeUcs2String writeUtf8String writev",
    },
  },
  "MixedEventEmitter.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "tells its listeners":
        "addListener constructor emit eventNames getMaxListeners listenerCount listeners off on once prependListener prependOnceListener rawListeners removeAllListeners removeListener setMaxListeners",
    },
  },
  "global.Blob.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds bytes":
        "arrayBuffer bytes constructor size slice stream text textStream type @messaging_clone_symbol @messaging_deserialize_symbol @nodejs.util.inspect.custom",
    },
  },
  "global.Blob.own": { guarded: "", refused: "", harmless: { "holds bytes": "constructor" } },
  "global.File.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "holds bytes":
        "constructor lastModified name @messaging_clone_symbol @messaging_deserialize_symbol @nodejs.util.inspect.custom",
    },
  },
  "native Blob.prototype": {
    guarded: "",
    refused: "",
    harmless: { "holds bytes": "constructor getReader slice" },
  },
  "TransferableBlob.prototype": { guarded: "", refused: "", harmless: { "holds bytes": "constructor" } },
  "TransferableBlob.own": { guarded: "", refused: "", harmless: { "holds bytes": "constructor" } },
  "global.Storage.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "keeps texts in the file that the host named by a flag, or in memory":
        "clear constructor getItem key length removeItem setItem",
    },
  },
  "SyncWriteStream.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "writes by `fs.writeSync` and closes by `fs.closeSync`, as they were when the first was made":
        "_destroy _write constructor destroySoon",
    },
  },
  "SyncWriteStream.own": {
    guarded: "",
    refused: "",
    harmless: { "are the methods of its class": "_destroy destroySoon" },
  },
  "Interface.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "reads lines of the stream that it was given":
        "clearLine close columns constructor getCursorPos getPrompt pause prompt resume setPrompt setupHistoryManager write @Symbol.asyncIterator @Symbol.dispose @_addHistory @_addNewLineOnTTY @_beforeEdit @_deleteLeft @_deleteLineLeft @_deleteLineRight @_deleteRight @_deleteWordLeft @_deleteWordRight @_getDisplayPos @_historyNext @_historyPrev @_insertString @_line @_moveCursor @_moveDownOrHistoryNext @_moveUpOrHistoryPrev @_multilineMove @_normalWrite @_onLine @_pushToKillRing @_pushToUndoStack @_redo @_refreshLine @_restorePreviousState @_savePreviousState @_setLine @_setRawMode @_tabComplete @_tabCompleter @_ttyWrite @_undo @_wordLeft @_wordRight @_writeToOutput @_yank @_yankPop @kQuestion @kQuestionCancel @nodejs.dispose",
    },
  },
  "InterfaceConstructor.prototype": {
    guarded: "",
    refused: "",
    harmless: { "reads lines of the stream that it was given": "constructor" },
  },
  "Interface.own": {
    guarded: "",
    refused: "",
    harmless: { "tells about its lines": "history historyIndex historySize isFlushing" },
  },
  "ReplHistory.prototype": {
    guarded: "",
    refused: "",
    harmless: {
      "opens and reads its file by `fs.promises`":
        "addHistory canNavigateToNext canNavigateToPrevious closeHandle constructor history index initialize isFlushing navigateToNext navigateToPrevious size @_kCloseHandle @_kFlushHistory @_kHandleHistoryInitError @_kHasWritePermission @_kInitializeHistory @_kOnExit @_kOnLine @_kReplHistoryMessage @_kResolveHistoryPath @_kValidateOptions",
    },
  },
  ReplHistory: {
    guarded: "",
    refused: "",
    harmless: {
      "computes, or writes to the stream that it was given":
        "@_kGetHistoryPath @_kNormalizeLineEndings @_kWriteToOutput",
    },
  },
});
