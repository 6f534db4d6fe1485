/** What the tests use of playwright. Written down here, because playwright is fetched by the tests and never installed. */

export interface Locator {
  click(options?: object): Promise<void>;
  fill(text: string): Promise<void>;
  press(key: string): Promise<void>;
  check(): Promise<void>;
  selectOption(value: string): Promise<unknown>;
  waitFor(options?: { readonly state?: "attached" | "detached" | "visible" | "hidden" }): Promise<void>;
  count(): Promise<number>;
  innerText(): Promise<string>;
  allInnerTexts(): Promise<string[]>;
  getAttribute(name: string): Promise<string | null>;
  isDisabled(): Promise<boolean>;
  isVisible(): Promise<boolean>;
  inputValue(): Promise<string>;
  first(): Locator;
  nth(index: number): Locator;
  locator(selector: string, options?: { readonly hasText?: string | RegExp }): Locator;
  getByRole(role: string, options?: { readonly name?: string | RegExp; readonly exact?: boolean }): Locator;
  getByLabel(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
}

export interface Page {
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  url(): string;
  title(): Promise<string>;
  locator(selector: string, options?: { readonly hasText?: string | RegExp }): Locator;
  getByRole(role: string, options?: { readonly name?: string | RegExp; readonly exact?: boolean }): Locator;
  getByLabel(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator;
  /** Code as text: it runs in the page, where nothing of the test exists. */
  evaluate<Value>(code: string): Promise<Value>;
  addInitScript(script: { readonly content: string }): Promise<void>;
  exposeFunction(name: string, work: (words: string) => unknown): Promise<void>;
  screenshot(options?: object): Promise<Uint8Array>;
  waitForEvent(
    name: "download",
  ): Promise<{ readonly suggestedFilename: () => string; readonly path: () => Promise<string> }>;
  on(name: "dialog", heard: (opened: { dismiss(): Promise<void> }) => void): void;
  /** The time of the page alone. */
  clock: {
    install(): Promise<void>;
    pauseAt(timeMs: number): Promise<void>;
    runFor(ms: number): Promise<void>;
  };
  keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  mouse: { wheel(x: number, y: number): Promise<void>; move(x: number, y: number): Promise<void> };
  context(): BrowserContext;
  close(): Promise<void>;
}

export interface Route {
  abort(): Promise<void>;
  continue(): Promise<void>;
}

export interface BrowserContext {
  newPage(): Promise<Page>;
  setDefaultTimeout(ms: number): void;
  route(url: string, work: (route: Route) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface Browser {
  newContext(options?: object): Promise<BrowserContext>;
  close(): Promise<void>;
}
