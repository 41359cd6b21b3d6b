import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { chromium } from "playwright-core";

const { env } = process;

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * Disables background features. The menus of the address bar would be additional pages in each window. Only the last
 * flag of this name counts, so it repeats the features that Playwright disables.
 */
const DISABLED_FEATURES = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "TcpPortRandomizationWin",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
];

/** The browser must not access the network on its own. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  `--disable-features=${DISABLED_FEATURES.join(",")}`,
];

/**
 * Starts the Chromium that CHROMIUM names, the system's, or Playwright's own. If there is none, it installs Debian's
 * package where possible, and throws with a message otherwise.
 */
export async function startBrowserServer(): Promise<{ url: string; remove(): Promise<void> }> {
  try {
    const executablePath = env["CHROMIUM"] ?? find() ?? install();
    const server = await chromium.launchServer({ executablePath, args: FLAGS });
    return { url: server.wsEndpoint(), remove: () => server.close() };
  } catch (error) {
    const [reason] = (error as Error).message.trim().split("\n");
    say(`Tests in a browser are skipped: ${reason}`);
    say("Run `npx playwright-core install --with-deps chromium`, or name a Chromium or Chrome with CHROMIUM.");
    throw error;
  }
}

const find = () => [...PLACES, chromium.executablePath()].find(isProgram);

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function install(): string {
  const isPossible = process.getuid?.() === 0 && isProgram("/usr/bin/apt-get");
  if (!isPossible) throw new Error("no Chromium was found");
  say("No Chromium was found: installing the package chromium with apt-get");
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "chromium"]]) {
    execFileSync("apt-get", args, { stdio: ["ignore", "ignore", "pipe"] });
  }
  const installed = find();
  if (installed === undefined) throw new Error("apt-get installed Chromium in none of the usual places");
  return installed;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
