import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readInstallerHosts } from "./installer-hosts.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "sallyport-installers-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const write = (name: string, ...lines: readonly string[]) => {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), lines.join("\n"));
};
/** WHY: files of the machine itself would differ from one to the next; everything below the home is really read. */
const hosts = (environment: Readonly<Record<string, string>> = {}, installerHosts: readonly string[] = []) =>
  readInstallerHosts({
    environment: {
      HOME: home,
      PIP_CONFIG_FILE: "/dev/null",
      npm_config_globalconfig: `${home}/none`,
      ...environment,
    },
    installerHosts,
  }).filter((host) => host.includes(".example"));

describe("the hosts of package installers", () => {
  it("are none where nothing is configured", () => {
    expect(hosts()).toEqual([]);
  });

  it("come from the setting as they are written", () => {
    expect(hosts({}, ["packages.example", "http://mirror.example:8080"])).toEqual([
      "packages.example",
      "http://mirror.example:8080",
    ]);
  });

  it("come from the files of pip, all indexes and links of every section", () => {
    write(
      ".config/pip/pip.conf",
      "[global]",
      "index-url = https://user:secret@one.example/simple  # ours",
      "extra_index_url =",
      "    https://two.example/simple",
      "    https://three.example:8443/simple",
      "trusted-host = not-this.example",
      "; index-url = https://comment.example",
      "[install]",
      "find-links: https://colon.example",
      "find-links = https://four.example/wheels /local/wheels",
    );
    write(".pip/pip.conf", "[global]", "index-url=http://five.example/simple");
    expect(hosts({ PIP_CONFIG_FILE: "" })).toEqual([
      "https://one.example",
      "https://two.example",
      "https://three.example:8443",
      "https://four.example",
      "http://five.example",
    ]);
  });

  it("come from no file of pip where pip is told to read none", () => {
    write(".config/pip/pip.conf", "[global]", "index-url = https://one.example/simple");
    expect(hosts()).toEqual([]);
  });

  it("come from the file that pip is told to read, and from its environment", () => {
    write("other.conf", "[global]", "index-url = https://one.example/simple");
    write("venv/pip.conf", "[global]", "index-url = https://venv.example/simple");
    expect(
      hosts({
        PIP_CONFIG_FILE: `${home}/other.conf`,
        VIRTUAL_ENV: `${home}/venv`,
        PIP_INDEX_URL: "https://two.example/simple",
        PIP_EXTRA_INDEX_URL: "https://three.example https://four.example",
        PIP_TRUSTED_HOST: "not-this.example",
      }),
    ).toEqual([
      "https://venv.example",
      "https://one.example",
      "https://two.example",
      "https://three.example",
      "https://four.example",
    ]);
  });

  it("come from the file of uv: keys, lists, tables and inline tables", () => {
    write(
      "xdg/uv/uv.toml",
      'index-url = "https://one.example/simple" # "https://comment.example"',
      'extra-index-url = ["https://two.example",',
      "  'https://three.example/#part'",
      "]",
      'index = [{ name = "x", url = "https://four.example/simple" }]',
      'cache-dir = "https://not-this.example"',
      "[[index]]",
      'name = "y"',
      'url = "https://five.example/simple"',
      "[pip]",
      'index-url = "https://six.example"',
      "[other]",
      'url = "https://not-this.example"',
    );
    expect(hosts({ XDG_CONFIG_HOME: `${home}/xdg` })).toEqual(
      ["one", "two", "three", "four", "five", "six"].map((name) => `https://${name}.example`),
    );
    expect(hosts({ XDG_CONFIG_HOME: `${home}/xdg`, UV_NO_CONFIG: "1" })).toEqual([]);
    write("other.toml", 'index-url = "https://seven.example"');
    expect(hosts({ XDG_CONFIG_HOME: `${home}/xdg`, UV_CONFIG_FILE: `${home}/other.toml` })).toEqual([
      "https://seven.example",
    ]);
  });

  it("come from the environment of uv, with or without a name before the index", () => {
    expect(
      hosts({
        UV_INDEX: "mine=https://one.example/simple https://two.example",
        UV_DEFAULT_INDEX: "https://three.example",
      }),
    ).toEqual(["https://three.example", "https://one.example", "https://two.example"]);
  });

  it("come from the files of npm, scopes and variables included", () => {
    write(
      ".npmrc",
      "registry=https://one.example/npm/",
      "  @scope:registry = https://${MIRROR}/",
      "//one.example/npm/:_authToken=secret",
      "proxy=https://not-this.example",
    );
    write("prefix/etc/npmrc", "registry = https://three.example");
    const environment = { MIRROR: "two.example", npm_config_prefix: `${home}/prefix` };
    expect(
      readInstallerHosts({ environment: { HOME: home, PIP_CONFIG_FILE: "/dev/null", ...environment } }),
    ).toEqual(["https://three.example", "https://one.example", "https://two.example"]);
  });

  it("come from the environment of npm, in whatever case", () => {
    write("user.npmrc", "registry=https://three.example");
    expect(
      hosts({
        NPM_CONFIG_REGISTRY: "https://one.example",
        "npm_config_@scope:registry": "https://two.example",
        npm_config_userconfig: `${home}/user.npmrc`,
      }),
    ).toEqual(["https://three.example", "https://one.example", "https://two.example"]);
  });

  it("are each given once, and never with credentials or a path", () => {
    const environment = {
      PIP_INDEX_URL: "https://a:b@one.example/x?y",
      UV_INDEX_URL: "https://ONE.example:443/z",
      PIP_FIND_LINKS: "file:///wheels ./wheels https://",
    };
    expect(hosts(environment, ["https://one.example"])).toEqual(["https://one.example"]);
  });
});
