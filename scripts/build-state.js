// Whether dist was built from the sources as they are. Tests of the built command would otherwise test another one.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** The last file that a build writes. */
const LAST = "dist/third-party-licenses.txt";
const SOURCES = ["src", "scripts", "bin", "package.json", "package-lock.json"];

/** Returns a file that changed after the last build, or dist itself if there is none; undefined if there is no such file. */
export function changedSinceBuild(root = ROOT) {
  const built = statSync(join(root, LAST), { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return "dist";
  const files = SOURCES.flatMap((name) => {
    const path = join(root, name);
    if (!statSync(path).isDirectory()) return [name];
    return readdirSync(path, { recursive: true, encoding: "utf8" }).map((file) => join(name, file));
  });
  return files.find((file) => statSync(join(root, file)).mtimeMs > built);
}
