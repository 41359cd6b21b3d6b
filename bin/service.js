#!/usr/bin/env node
// Runs the command with the compiled code of an earlier start, because compiling is a third of a start. Node.js keeps
// such code itself from version 22 on, but its cache saves less than half as much.
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const folder = cacheFolder();
if (folder !== undefined) keepCompiledCode(folder);
require("../dist/cli/main.cjs");

/** In a cache folder that exists, because creating that is up to the user. */
function cacheFolder() {
  const { XDG_CACHE_HOME, LOCALAPPDATA, HOME, NODE_DISABLE_COMPILE_CACHE } = process.env;
  const inHome = process.platform === "darwin" ? "Library/Caches" : ".cache";
  const parent = XDG_CACHE_HOME || LOCALAPPDATA || (HOME && path.join(HOME, inHome));
  if (NODE_DISABLE_COMPILE_CACHE || !parent || !fs.existsSync(parent)) return undefined;
  const folder = path.join(parent, "service-cli");
  const stats = fs.lstatSync(folder, { throwIfNoEntry: false });
  return stats === undefined || belongsToUser(stats) ? folder : undefined;
}

/** What is in a folder that another user can write to is not run. */
function belongsToUser(stats) {
  if (process.getuid === undefined) return stats.isDirectory();
  return stats.isDirectory() && stats.uid === process.getuid() && (stats.mode & 0o022) === 0;
}

function keepCompiledCode(folder) {
  const compiled = [];
  const loadDefault = require.extensions[".js"];
  require.extensions[".cjs"] = (module, filename) => {
    const source = fs.readFileSync(filename, "utf8");
    // The build ends each of its files with a digest, because V8 compares only the length of the source.
    const digest = /^\/\/ ([0-9a-f]{16})\n$/.exec(source.slice(-20))?.[1];
    if (digest === undefined) return loadDefault(module, filename);
    const file = path.join(folder, `${path.basename(filename)}-${digest}-${process.version}-${process.arch}`);
    const cachedData = read(file);
    const parameters = "exports, require, module, __filename, __dirname";
    const script = new vm.Script(`(function (${parameters}) { ${source}})`, { filename, cachedData });
    if (cachedData === undefined || script.cachedDataRejected) compiled.push({ file, script });
    const requireFrom = Object.assign((id) => module.require(id), { cache: require.cache, main: require.main });
    script.runInThisContext()(module.exports, requireFrom, module, filename, path.dirname(filename));
  };
  // At the end, because functions are compiled when they are first called.
  process.once("exit", () => {
    try {
      for (const { file, script } of compiled) write(file, script.createCachedData());
    } catch {
      // The next start compiles again.
    }
  });
}

function read(file) {
  try {
    return fs.readFileSync(file);
  } catch {
    return undefined;
  }
}

/** V8 crashes on a file that is written in part, so it gets its name once it is on disk. */
function write(file, content) {
  const folder = path.dirname(file);
  if (!fs.existsSync(folder)) fs.mkdirSync(folder, { mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  const descriptor = fs.openSync(unfinished, "w", 0o600);
  fs.writeFileSync(descriptor, content);
  fs.fsyncSync(descriptor);
  fs.closeSync(descriptor);
  fs.renameSync(unfinished, file);
}
