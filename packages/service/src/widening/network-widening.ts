/** Widths of a network target: any query, each folder of the path, the origin, the endpoint. */
import {
  type EndpointTarget,
  type NetworkTarget,
  type UrlTarget,
  endpointText,
  isAmbiguousPath,
  urlText,
} from "@sallyport/contract";
import type { Candidate } from "./suggestion.ts";

/** Folders of a path that are offered, the deepest first. */
const FOLDERS_MAX = 8;

export function networkCandidates(target: NetworkTarget): readonly Candidate[] {
  switch (target.form) {
    case "url":
      return urlCandidates(target);
    case "endpoint":
      return endpointCandidates(target);
    case "unix":
      return [
        {
          target: target.text,
          match: "exact",
          label: "only this unix socket",
          wide: false,
          examples: [`${target.text}.d`],
        },
      ];
  }
}

function urlCandidates(url: UrlTarget): readonly Candidate[] {
  const origin = urlText({ ...url, path: "", query: undefined });
  const bare = `${origin}${url.path}`;
  const near = [...neighbours(url), `${bare}/more`, `${bare}?other=1`];
  const isQueried = url.query !== undefined;
  const exact: Candidate = {
    target: url.text,
    match: "exact",
    label: isQueried ? "only this URL, with exactly this query" : "only this URL, without a query",
    wide: false,
    examples: [bare, ...near],
  };
  const anyQuery: Candidate = {
    target: bare,
    match: "any_query",
    label: "this URL with any query",
    wide: false,
    examples: [bare, ...near],
  };
  const folders = foldersOf(url.path).map((folder): Candidate => {
    const base = `${origin}${folder}`;
    return {
      target: base,
      match: "path_prefix",
      label: `every URL below \`${base}\``,
      wide: false,
      examples: [
        base,
        `${base}example`,
        `${base}a/b?any=1`,
        `${origin}${siblingOf(folder)}`,
        `${origin}/`,
        ...neighbours(url),
      ],
    };
  });
  const whole: Candidate = {
    target: `${origin}/`,
    match: "origin",
    label: `every URL on \`${origin}\`, and sockets to it`,
    wide: true,
    examples: [
      `${origin}/`,
      `${origin}/anything?any=1`,
      endpointText(url.host, url.port),
      ...neighbours(url),
    ],
  };
  return [exact, anyQuery, ...folders, whole, ...wholeEndpoint(url.host, url.port)];
}

function endpointCandidates({ text, host, port }: EndpointTarget): readonly Candidate[] {
  const exact: Candidate = {
    target: text,
    match: "exact",
    label: port === undefined ? "only this host name, as in a look-up" : "only sockets to this host and port",
    wide: false,
    examples: [
      `https://${text}/`,
      `http://${text}/`,
      endpointText(host, otherPort(port ?? 0)),
      `sub.${text}`,
    ],
  };
  return [exact, ...wholeEndpoint(host, port)];
}

function wholeEndpoint(host: EndpointTarget["host"], port: number | undefined): readonly Candidate[] {
  const text = endpointText(host, port);
  const ports = port === undefined ? "any port" : `port ${port}`;
  return [
    {
      target: text,
      match: "endpoint",
      label: `everything on host \`${host}\`, ${ports}, as URL or socket`,
      wide: true,
      examples: [
        text,
        `https://${text}/`,
        `http://${text}/`,
        endpointText(host, otherPort(port ?? 0)),
        `sub.${text}`,
      ],
    },
  ];
}

/** The same URL on another scheme, port and host. */
function neighbours(url: UrlTarget): readonly string[] {
  const scheme = { http: "https", https: "http", ws: "wss", wss: "ws" } as const;
  const plain = { ...url, query: undefined };
  return [
    urlText({ ...plain, scheme: scheme[url.scheme] }),
    urlText({ ...plain, port: otherPort(url.port) }),
    urlText({ ...plain, host: `sub.${url.host}` as UrlTarget["host"] }),
  ];
}

function otherPort(port: number): number {
  return port === 8443 ? 9443 : 8443;
}

/** The folders that a path lies in, the deepest first; the empty one is the origin, and is offered as such only. */
function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  if (isAmbiguousPath(path)) return folders;
  for (
    let end = path.lastIndexOf("/");
    end > 0 && folders.length < FOLDERS_MAX;
    end = path.lastIndexOf("/", end - 1)
  ) {
    const folder = path.slice(0, end + 1);
    if (/[^/]/.test(folder)) folders.push(folder);
  }
  return folders;
}

/** `/v1/` and `/v1-other/`: a folder whose name begins alike. */
function siblingOf(folder: string): string {
  return `${folder.slice(0, -1)}-other/`;
}
