import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { deployed } from "../support/monitoring.ts";
import { findProgram } from "./support/debian.ts";
import { installPackages } from "./support/packages.ts";
import { recordVersion } from "./support/tool-version.ts";

const KUBECTL = findProgram("kubectl", "kubernetes-client");
const require = createRequire(import.meta.url);

interface Manifest {
  apiVersion: string;
  kind: string;
}

const MANIFESTS = readdirSync(deployed("kubernetes"))
  .filter((name) => name !== "kustomization.yaml")
  .map((name) => [name, readFileSync(deployed(`kubernetes/${name}`), "utf8")] as const);

describe("the manifests in deploy/kubernetes", () => {
  /** Holds the package kubernetes-models, generated from the schemas of Kubernetes. */
  let models: string;
  let folder: string;

  beforeAll(async () => {
    models = await installPackages("kubernetes-models@5.1.0");
    folder = mkdtempSync(join(models, "check-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const moduleOf = ({ apiVersion, kind }: Manifest) => `${apiVersion}/${kind}`;

  /** Returns what the schema of the manifest's kind rejects: wrong values and missing fields. */
  async function invalidValues(text: string): Promise<string> {
    const manifest = parse(text) as Manifest;
    const file = join(models, "node_modules/kubernetes-models", `${moduleOf(manifest)}.js`);
    const { [manifest.kind]: Model } = (await import(pathToFileURL(file).href)) as Record<
      string,
      new (manifest: Manifest) => { validate(): void }
    >;
    try {
      new Model!(manifest).validate();
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Returns what the type of the manifest's kind rejects: fields that do not exist. The schemas allow these. */
  function unknownFields(text: string): string {
    const manifest = parse(text) as Manifest;
    const { kind } = manifest;
    const source = `import type { I${kind} } from "kubernetes-models/${moduleOf(manifest)}";
export const manifest: I${kind} = ${JSON.stringify(manifest, undefined, 2)};\n`;
    writeFileSync(join(folder, "manifest.ts"), source);
    const tsc = join(require.resolve("typescript/package.json"), "../bin/tsc");
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--ignoreConfig", "--types", ""];
    return spawnSync(process.execPath, [tsc, ...options, "manifest.ts"], { cwd: folder, encoding: "utf8" }).stdout;
  }

  it.each(MANIFESTS)("%s matches the schema of its kind, without additional fields", async (_name, text) => {
    expect(await invalidValues(text)).toBe("");
    expect(unknownFields(text)).toBe("");
  });

  it("would be rejected for a wrong value or an unknown field", async () => {
    const [, text] = MANIFESTS.find(([name]) => name === "deployment.yaml")!;
    const wrong = text.replace("containerPort: 4010", "containerPort: http");
    expect(wrong).not.toBe(text);
    expect(await invalidValues(wrong)).toContain("containerPort");
    const misspelled = text.replace("readOnlyRootFilesystem:", "readOnlyRootFileSystem:");
    expect(misspelled).not.toBe(text);
    expect(unknownFields(misspelled)).toContain("readOnlyRootFileSystem");
  });
});

describe.skipIf(KUBECTL === undefined)("kubectl", () => {
  recordVersion(KUBECTL, "version", "--client");

  it("builds all manifests in deploy/kubernetes with the registry's image", () => {
    const built = execFileSync(KUBECTL!, ["kustomize", deployed("kubernetes")], { encoding: "utf8" });
    const kinds = built.split("\n---\n").map((text) => (parse(text) as Manifest).kind);
    expect(kinds.toSorted()).toEqual(["Deployment", "PodDisruptionBudget", "Service"]);
    expect(built).toContain("image: registry.example.com/service:0.1.0\n");
  });
});
