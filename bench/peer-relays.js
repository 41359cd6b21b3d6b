// The relays that `service listen` is compared with: how each is installed, found and started, as its own documentation
// says.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { BIN, temporaryFolder } from "./measure.js";

const PACKAGES = ["@stripe/cli@1.52.0", "hookdeck-cli@2.6.0", "smee-client@5.0.0"];
const INSTALL_MILLISECONDS = 180_000;

/**
 * Installs the other relays into a folder that is removed at the end, unless BENCH_PEERS names one that has them.
 * Returns why they cannot be installed, if so.
 */
export async function installPeers(say) {
  const given = process.env.BENCH_PEERS;
  if (given !== undefined) return { folder: given };
  const folder = temporaryFolder();
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--fetch-retries=1", ...PACKAGES];
  say(`npm install ${PACKAGES.join(" ")}, into ${folder}`);
  try {
    await promisify(execFile)("npm", args, { timeout: INSTALL_MILLISECONDS, cwd: folder });
    return { folder };
  } catch (error) {
    const why = /^npm (?:error|ERR!) code (\S+)/m.exec(error.stderr)?.[1] ?? "no answer in three minutes";
    return { folder, problem: `the registry did not give them (${why})` };
  }
}

/**
 * Returns every available relay, by name: `command` relays from a platform to a receiver, `version` starts and exits at
 * once. Native programs are started without their npm shims.
 */
export function relaysIn(folder) {
  const modules = join(folder, "node_modules");
  const stripe = join(modules, "@stripe/cli-linux-x64/bin/stripe");
  const hookdeck = join(modules, "hookdeck-cli/binaries/linux-amd64/hookdeck");
  const smee = join(modules, "smee-client/bin/smee.js");
  const words = (text) => text.split(" ");
  const all = {
    service: {
      file: BIN,
      command: (base, target) => [
        process.execPath,
        BIN,
        ...words(`listen --forward-to ${target} --ordered --concurrency 32 --base-url ${base}`),
      ],
      version: [process.execPath, BIN, "--version"],
      env: { SERVICE_API_KEY: "bench", SERVICE_CONFIG_DIR: temporaryFolder() },
    },
    stripe: {
      file: stripe,
      command: (base, target) => [
        stripe,
        ...words(`listen --api-key sk_test_bench12345678901234 --api-base ${base} --forward-to ${target}`),
        ...words("--no-wss --skip-update --all-snapshot"),
      ],
      version: [stripe, "--version"],
      env: { STRIPE_CLI_TELEMETRY_OPTOUT: "1", DO_NOT_TRACK: "1" },
    },
    hookdeck: {
      file: hookdeck,
      command: (base, target) => [
        hookdeck,
        ...words(`listen ${target} bench --api-base ${base} --ws-base ${base.replace("http", "ws")}`),
        ...words("--cli-key benchbenchbenchbenchbench --no-wss --no-healthcheck --output compact"),
      ],
      version: [hookdeck, "version"],
      env: {},
    },
    smee: {
      file: smee,
      command: (base, target) => [process.execPath, smee, "--url", base, "--target", target],
      version: [process.execPath, smee, "--version"],
      env: {},
    },
  };
  return Object.fromEntries(Object.entries(all).filter(([, { file }]) => existsSync(file)));
}
