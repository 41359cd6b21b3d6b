// The relays that `service listen` is compared with: how each is installed, found and started, as its own documentation
// says.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installPackages } from "./install-packages.js";
import { BIN, temporaryFolder } from "./measure.js";

const PACKAGES = ["@stripe/cli@1.52.0", "hookdeck-cli@2.6.0", "smee-client@5.0.0"];

/** Installs the other relays, unless BENCH_PEERS names a folder that has them. */
export async function installPeers(say) {
  const given = process.env.BENCH_PEERS;
  return given === undefined ? installPackages(PACKAGES, say) : { folder: given };
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
