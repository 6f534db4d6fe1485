/**
 * The certificates of the system stand in files that the environment names, and Node reads them by itself when it is first asked
 * for them. Whoever has changed those names since would say which files are read.
 */
import process from "node:process";
import { refusedError } from "../blocked-call.ts";
import { apply, bare } from "../captured.ts";
import { replaceExport } from "../replace-export.ts";
import { whenLoaded } from "../when-loaded.ts";

const { env } = process;
const atFirst = named();

function named(): string {
  return `${env["SSL_CERT_FILE"] ?? ""}\0${env["SSL_CERT_DIR"] ?? ""}`;
}

/** @throws ExternalAccessError */
function requireUnchanged(): void {
  if (named() === atFirst) return;
  throw refusedError(
    "the certificates of the system are refused: the environment names other files than when this process was started",
    bare({ syscall: "tls.getCACertificates" }),
  );
}

export function holdCertificates(): void {
  whenLoaded("tls", (exports) => {
    replaceExport(
      exports,
      "getCACertificates",
      (original) =>
        function getCACertificates(...args: unknown[]) {
          if (args[0] !== "bundled" && args[0] !== "extra") requireUnchanged();
          return apply(original, exports, args);
        },
    );
  });
}

/** @param native what `tls` takes the function from; where that is to be had, `tls` is guarded late, and may not be at all */
export function holdSystemCertificates(native: object): void {
  replaceExport(
    native,
    "getSystemCACertificates",
    (original) =>
      function getSystemCACertificates() {
        requireUnchanged();
        return original();
      },
  );
}
