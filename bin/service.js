#!/usr/bin/env node
const { existsSync } = require("node:fs");
const path = require("node:path");

// Node.js 22.8 and newer keep compiled code there, so that `serve` starts sooner. Not at its default in the temporary
// folder, where another user could place code, and only in a folder that exists: its mkdir may not end elsewhere.
const { enableCompileCache } = module.constructor;
const { XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env;
const cache = XDG_CACHE_HOME || LOCALAPPDATA || (HOME && path.join(HOME, ".cache"));
if (enableCompileCache && cache && existsSync(cache)) enableCompileCache(path.join(cache, "service-cli"));

require("../dist/cli/main.cjs");
