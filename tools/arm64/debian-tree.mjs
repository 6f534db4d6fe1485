// @ts-check
/**
 * Purpose: the files of a Debian for arm64, kernel included, unpacked beside each other and never run here. The packages come
 * from the mirror that this machine's apt already uses, through a configuration of its own: the machine's is only read.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture } from "../setup.mjs";

/** WHY this one: the first whose kernel has a Landlock that the wall takes. */
const SUITE = "trixie";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
/** What the tests start, and what the machine itself needs. */
const PACKAGES = [
  "linux-image-arm64 kmod busybox-static base-files base-passwd netbase hostname mount util-linux procps iproute2",
  "bash dash coreutils findutils grep sed mawk diffutils tar gzip perl-base python3 gcc libc6-dev git curl wget",
  "openssl ca-certificates",
].flatMap((line) => line.split(" "));

/** @param {string} command @param {readonly string[]} args @param {Record<string, string>} [env] */
export async function must(command, args, env = {}) {
  const { code, stdout, output } = await capture(command, args, { env });
  if (code !== 0) throw new Error(`\`${command} ${args.slice(0, 3).join(" ")}\` failed:\n${output}`);
  return stdout;
}

/** @returns {Promise<string>} */
async function mirror() {
  const own = process.env["SALLYPORT_DEBIAN_MIRROR"];
  if (own) return own;
  const format = ["--format", "$(ORIGIN) $(CODENAME) $(REPO_URI)", "Created-By: Packages"];
  const lines = (await must("apt-get", ["indextargets", ...format])).trim().split("\n");
  const found = lines
    .map((line) => line.split(" "))
    .find(([origin, name = ""]) => origin === "Debian" && !name.includes("-"));
  if (found?.[2] === undefined)
    throw new Error(
      "apt knows no mirror of Debian here: name one in SALLYPORT_DEBIAN_MIRROR, or run `apt-get update`",
    );
  return found[2];
}

/** @param {string} folder @returns {Promise<Record<string, string>>} the environment that apt is run in */
async function aptOfItsOwn(folder) {
  for (const name of ["state/lists/partial", "archives/partial"])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "state", "status"), "");
  writeFileSync(
    join(folder, "sources.list"),
    `deb [arch=arm64 signed-by=${KEYRING}] ${await mirror()} ${SUITE} main\n`,
  );
  const words = {
    "Dir::Etc::sourcelist": join(folder, "sources.list"),
    "Dir::Etc::sourceparts": "-",
    "Dir::State": join(folder, "state"),
    "Dir::State::status": join(folder, "state", "status"),
    "Dir::Cache": folder,
    "APT::Architecture": "arm64",
    "APT::Sandbox::User": "root",
    "Acquire::Languages": "none",
  };
  const lines = Object.entries(words).map(([name, value]) => `${name} "${value}";\n`);
  writeFileSync(join(folder, "apt.conf"), [...lines, 'APT::Architectures { "arm64"; };\n'].join(""));
  return { APT_CONFIG: join(folder, "apt.conf") };
}

/**
 * @param {string} folder where all of it is kept between runs
 * @returns {Promise<{ tree: string, kernel: string }>} the unpacked files, and the version of the kernel among them
 */
export async function obtainTree(folder) {
  const apt = join(folder, "apt");
  const env = await aptOfItsOwn(apt);
  await must("apt-get", ["-q", "update"], env);
  await must("apt-get", ["-q", "autoclean"], env);
  await must("apt-get", ["-qy", "--download-only", "--no-install-recommends", "install", ...PACKAGES], env);
  const debs = readdirSync(join(apt, "archives"))
    .filter((name) => name.endsWith(".deb"))
    .toSorted();
  const [tree, stamp] = [join(folder, "tree"), join(folder, "unpacked")];
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== debs.join("\n")) {
    rmSync(stamp, { force: true });
    rmSync(tree, { recursive: true, force: true });
    mkdirSync(tree);
    for (const deb of debs) await must("dpkg-deb", ["--extract", join(apt, "archives", deb), tree]);
    writeFileSync(stamp, debs.join("\n"));
  }
  const kernel = readdirSync(join(tree, "usr/lib/modules"))[0];
  if (kernel === undefined)
    throw new Error(`\`${tree}\` holds no kernel: delete \`${folder}\` and run again`);
  return { tree, kernel };
}
