/**
 * A target made ready for look-ups: one walk over its text gives the hash of every prefix a pattern could name.
 * A probe is reused from check to check; it belongs to one snapshot and is never handed out.
 */
import { type Target, foldLocalHost, foldUrl, isAmbiguousPath } from "@sallyport/contract";
import { type HashKey, hashStep } from "./seeded-hash.ts";

const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const PERCENT = 0x25;

export class Probe {
  form: Target["form"] = "path";
  /** The target in match form; see `Pattern` in the contract. */
  text = "";
  hostStart = 0;
  hostEnd = 0;
  hostHash = 0;
  /** 0 where there is none. */
  port = 0;
  secure = false;
  /** Hash and length of a URL without its query. */
  pathHash = 0;
  pathEnd = 0;
  fullHash = 0;
  /** The path can be read in two ways, so a folder that allows does not cover it; one that restricts does. */
  isAmbiguous = false;
  /** Folder prefixes, the widest first: lengths and hashes. */
  folders = 0;
  folderEnds = new Int32Array(64);
  folderHashes = new Int32Array(64);

  /** A hash of the whole target, for what need not be exact. */
  get hash(): number {
    return this.form === "endpoint" ? this.hostHash + this.port : this.fullHash;
  }

  aim(target: Target, key: HashKey): void {
    this.form = target.form;
    this.folders = 0;
    this.isAmbiguous = false;
    switch (target.form) {
      case "url": {
        const url = foldUrl(target);
        this.text = url.text;
        this.hostStart = url.scheme.length + 3;
        this.hostEnd = this.hostStart + url.host.length;
        this.port = url.port;
        this.secure = url.scheme === "https";
        // WHY: almost every path is plain, and the walk has seen each character already.
        if (this.#walkUrl(key)) this.isAmbiguous = isAmbiguousPath(url.path);
        return;
      }
      case "endpoint":
        this.text = foldLocalHost(target.host);
        this.hostStart = 0;
        this.hostEnd = this.text.length;
        this.port = target.port ?? 0;
        this.hostHash = this.#walk(0, this.text.length, key.start, key);
        return;
      case "unix":
        this.text = target.path;
        this.fullHash = this.#walk(0, this.text.length, key.start, key);
        return;
      case "path":
        this.text = target.text;
        this.#walkPath(key);
        return;
      case "name":
        this.text = target.text;
        this.fullHash = this.#walk(0, this.text.length, key.start, key);
    }
  }

  #walk(from: number, to: number, start: number, key: HashKey): number {
    const { text } = this;
    let hash = start;
    for (let index = from; index < to; index++) hash = hashStep(hash, text.charCodeAt(index), key.multiplier);
    return hash;
  }

  /** Says whether the path holds anything encoded; a parsed URL holds no backslash. */
  #walkUrl(key: HashKey): boolean {
    const { text } = this;
    this.hostHash = this.#walk(this.hostStart, this.hostEnd, key.start, key);
    let hash = this.hostHash;
    let index = this.hostEnd;
    let isSuspect = false;
    for (; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code === QUESTION_MARK) break;
      hash = hashStep(hash, code, key.multiplier);
      if (code === SLASH) this.#addFolder(index + 1, hash);
      else if (code === PERCENT) isSuspect = true;
    }
    this.pathEnd = index;
    this.pathHash = hash;
    this.fullHash = index === text.length ? hash : this.#walk(index, text.length, hash, key);
    return isSuspect;
  }

  /** A tree is named without its trailing slash, so the prefix before each slash is a candidate, and the whole path. */
  #walkPath(key: HashKey): void {
    const { text } = this;
    let hash = key.start;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code === SLASH) this.#addFolder(index, hash);
      hash = hashStep(hash, code, key.multiplier);
    }
    this.fullHash = hash;
    // WHY: the root's own text is `/`, and the empty prefix before it is already there.
    if (text.length > 1) this.#addFolder(text.length, hash);
  }

  #addFolder(end: number, hash: number): void {
    if (this.folders === this.folderEnds.length) this.#grow();
    this.folderEnds[this.folders] = end;
    this.folderHashes[this.folders] = hash;
    this.folders++;
  }

  #grow(): void {
    const ends = new Int32Array(this.folderEnds.length * 2);
    const hashes = new Int32Array(this.folderHashes.length * 2);
    ends.set(this.folderEnds);
    hashes.set(this.folderHashes);
    this.folderEnds = ends;
    this.folderHashes = hashes;
  }
}
