import { join } from "node:path";

/** Returns the path of a guide in the package, or of their folder. Only bundled code knows its own folder. */
export function guidePath(page = ""): string {
  return join(__dirname, "../../docs", page);
}
