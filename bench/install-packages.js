import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { temporaryFolder } from "./measure.js";

const INSTALL_MILLISECONDS = 180_000;

/**
 * Installs packages into a folder that is removed at the end. Returns the folder, and why they cannot be installed, if
 * so.
 */
export async function installPackages(packages, say) {
  const folder = temporaryFolder();
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--fetch-retries=1", ...packages];
  say(`npm install ${packages.join(" ")}, into ${folder}`);
  try {
    await promisify(execFile)("npm", args, { timeout: INSTALL_MILLISECONDS, cwd: folder });
    return { folder };
  } catch (error) {
    const why = /^npm (?:error|ERR!) code (\S+)/m.exec(error.stderr)?.[1] ?? "no answer in three minutes";
    return { folder, problem: `the registry did not give them (${why})` };
  }
}
