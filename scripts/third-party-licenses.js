import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The licenses of all bundled packages in one text, sorted by name. */
export function thirdPartyLicenses(root, builds) {
  const folders = new Set(
    builds
      .flatMap(({ metafile }) => Object.keys(metafile.inputs))
      .map((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0])
      .filter((folder) => folder !== undefined),
  );
  const fonts = ["Inter, JetBrains Mono", readFileSync(join(root, "src/dashboard/fonts/LICENSE"), "utf8").trim()];
  const entries = [fonts, ...[...folders].map((folder) => describe(join(root, folder)))].toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return `${entries.map(([name, text]) => `${name}\n${"-".repeat(name.length)}\n\n${text}`).join("\n\n\n")}\n`;
}

function describe(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry) && existsSync(join(folder, entry)));
  // Some packages name their license only in package.json.
  const text =
    file === undefined
      ? `${license}, ${typeof author === "string" ? author : (author?.name ?? "see its package page")}`
      : readFileSync(join(folder, file), "utf8").trim();
  return [`${name} ${version}`, text];
}
