/**
 * Where the built console lies, for whoever serves it. The pages themselves are no module of this package: they are
 * bundled by `npm run build -w @sallyport/console`, and talk to the server over its API like any other client.
 */

/** The folder of static files; absent until the console was built. */
export const CONSOLE_FOLDER: URL = new URL("../dist-web/", import.meta.url);
