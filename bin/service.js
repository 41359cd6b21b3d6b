#!/usr/bin/env node
const { existsSync } = require("node:fs");
const path = require("node:path");

// Node.js 22.8 and newer keep compiled code there, so that `serve` starts sooner. Not at its default in the temporary
// folder, where another user could place code, and only in a folder that exists: its mkdir may not end elsewhere.
const { XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env;
const cache = XDG_CACHE_HOME || LOCALAPPDATA || (HOME && path.join(HOME, ".cache"));
// Node.js 20 is not asked: loading the module takes it a millisecond.
if (Number.parseInt(process.versions.node) >= 22 && cache && existsSync(cache)) {
  require("node:module").enableCompileCache?.(path.join(cache, "service-cli"));
}

require("../dist/cli/main.cjs");
