import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Nothing of it may speak to the network by itself. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts the Chromium that CHROMIUM names, or the system's; where there is none, Debian's package is installed first. */
export async function startChromium(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? find() ?? install();
  return await chromium.launch({ executablePath, args: FLAGS });
}

function find(): string | undefined {
  return PLACES.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function install(): string {
  execFileSync("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], { stdio: "ignore" });
  const installed = find();
  if (installed === undefined) throw new Error("Chromium was installed, and is in none of the usual places");
  return installed;
}
