/**
 * What programs were seen to need while they were learned from, by session, in the process that owns the data folder.
 * Handed out once, to whoever comes through the door of the owner. Bounded; allows nothing.
 */
import type { AskedOfChild } from "@sallyport/service";
import { type Seen, SeenBook } from "@sallyport/runtime";

const BOOKS_MAX = 64;

export class LearnedBooks {
  readonly #books = new Map<string, SeenBook>();

  /** Takes down what a program of this session asks, reports and loads. */
  listen(sessionKey: string): (asked: AskedOfChild) => void {
    const book = this.#books.get(sessionKey) ?? this.#open(sessionKey);
    return (asked) => {
      if (asked.kind === "access") book.addAccess(asked.words, asked.words.evidence);
      else book.addImport(asked.name, asked.evidence);
    };
  }

  take(sessionKey: string): Seen | undefined {
    const seen = this.#books.get(sessionKey)?.seen();
    this.#books.delete(sessionKey);
    return seen;
  }

  #open(sessionKey: string): SeenBook {
    const [oldest] = this.#books.keys();
    if (oldest !== undefined && this.#books.size >= BOOKS_MAX) this.#books.delete(oldest);
    const book = new SeenBook();
    this.#books.set(sessionKey, book);
    return book;
  }
}
