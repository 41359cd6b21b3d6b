import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { apiOf } from "../support/api.ts";
import { freePort } from "../support/free-port.ts";
import { startListener } from "../support/listener.ts";
import { deployed } from "../support/monitoring.ts";
import { type ReadyLine, withCredentials } from "../support/platform.ts";
import { type PostgresServer, usePostgres } from "../support/postgres.ts";
import { BIN } from "../support/run-cli.ts";

interface Probe {
  httpGet: { path: string; port: string };
}
interface Container {
  image: string;
  args: string[];
  env: { name: string; valueFrom: { secretKeyRef: { name: string; key: string } } }[];
  ports: { name: string; containerPort: number }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}
type Labels = Record<string, string>;

const read = (name: string) => parse(readFileSync(deployed(`kubernetes/${name}`), "utf8"));
const kustomization = read("kustomization.yaml") as { resources: string[]; images: { name: string; newTag: string }[] };
const { spec: deployment } = read("deployment.yaml") as {
  spec: {
    replicas: number;
    selector: { matchLabels: Labels };
    template: {
      metadata: { labels: Labels };
      spec: {
        terminationGracePeriodSeconds: number;
        securityContext: object;
        containers: [Container];
        volumes: { name: string }[];
      };
    };
  };
};
const pod = deployment.template.spec;
const [container] = pod.containers;

describe("deploy/kubernetes", () => {
  it("has consistent labels, ports, volumes and image versions", () => {
    expect(deployment.replicas).toBeGreaterThan(1);
    expect(kustomization.resources.toSorted()).toEqual([
      "deployment.yaml",
      "pod-disruption-budget.yaml",
      "service.yaml",
    ]);
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(kustomization.images).toMatchObject([{ name: container.image, newTag: version }]);
    const { labels } = deployment.template.metadata;
    expect(deployment.selector.matchLabels).toEqual(labels);
    expect(read("service.yaml").spec.selector).toEqual(labels);
    expect(read("pod-disruption-budget.yaml").spec.selector.matchLabels).toEqual(labels);
    const [{ name }] = container.ports as [Container["ports"][number]];
    expect(read("service.yaml").spec.ports).toMatchObject([{ targetPort: name }]);
    for (const kind of ["startupProbe", "livenessProbe", "readinessProbe"] as const) {
      expect(container[kind].httpGet.port).toBe(name);
    }
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
  });

  it("runs the platform without privileges, on a read-only file system", () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });
});

// The life of one pod: each test continues where the previous one ended.
describe("a pod of deploy/kubernetes", { shuffle: false }, () => {
  let server: PostgresServer & { remove(): Promise<void> };
  let folder: string;
  let port: number;
  let child: ChildProcess;
  let ready: ReadyLine;
  let env: Record<string, string>;

  /** Runs what the image starts, with the pod's arguments and variables. Only the port is another. */
  beforeAll(async () => {
    server = await usePostgres();
    folder = mkdtempSync(join(tmpdir(), "service-pod-"));
    port = await freePort();
    const dockerfile = readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8");
    const [program, ...entry] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!) as string[];
    expect(program).toBe("service-cli");
    const ofImage = [.../^ENV (.*)$/m.exec(dockerfile)![1]!.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [
      name,
      // The one place that the pod may write to.
      value === container.volumeMounts[0]!.mountPath ? folder : value,
    ]);
    expect(ofImage.flat()).toContain(folder);
    const secret: Record<string, string> = {
      SERVICE_DATABASE: await server.createDatabase(),
      SERVICE_MASTER_KEY: "6b".repeat(32),
    };
    const ofPod = container.env.map(({ name, valueFrom }) => [name, secret[valueFrom.secretKeyRef.key]]);
    expect(Object.fromEntries(ofPod)).toEqual(secret);
    const args = [BIN, ...entry, ...container.args, "--port", String(port)];
    // As in a file system that is read-only: nothing can be created in these folders.
    env = { HOME: "/proc/none", TMPDIR: "/proc/none", ...Object.fromEntries([...ofImage, ...ofPod]) };
    child = spawn(process.execPath, args, {
      env,
      cwd: "/",
      stdio: ["ignore", "pipe", "inherit"],
    });
    ready = await new Promise((resolve, reject) => {
      createInterface(child.stdout!).once("line", (line) => resolve(withCredentials(JSON.parse(line) as ReadyLine)));
      child.once("exit", (code) => reject(new Error(`service serve ended with ${code}`)));
    });
  });
  afterAll(async () => {
    child.kill("SIGKILL");
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const url = () => `http://127.0.0.1:${port}`;
  const probe = async (kind: "startupProbe" | "livenessProbe" | "readinessProbe") =>
    (await fetch(url() + container[kind].httpGet.path)).status;

  it("starts with its arguments and variables, and responds to its probes", async () => {
    expect(container.ports).toMatchObject([{ containerPort: 4010 }]);
    expect(ready.base_url).toBe("https://api.example.com");
    expect(await probe("startupProbe")).toBe(200);
    expect(await probe("livenessProbe")).toBe(200);
    expect(await probe("readinessProbe")).toBe(200);
  });

  it("prints a sign-in link for the owner", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [BIN, "serve", "link"], { env, cwd: "/" });
    expect(stdout).toMatch(/https:\/\/api\.example\.com\/sign-in\/link\?token=\S{40,}/);
  });

  it("is not ready after SIGTERM, serves while it drains, and exits within its grace period despite a connected listener", async () => {
    const listener = await startListener({ SERVICE_BASE_URL: url(), SERVICE_API_KEY: ready.sandbox_key }, []);
    const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
    // As the kubelet does.
    const seconds = pod.terminationGracePeriodSeconds;
    const killing = setTimeout(() => child.kill("SIGKILL"), seconds * 1000);
    try {
      child.kill("SIGTERM");
      await expect.poll(() => probe("readinessProbe"), { interval: 10 }).toBe(503);
      expect(await probe("livenessProbe")).toBe(200);
      const api = apiOf(url(), ready.sandbox_key);
      const created = await api("POST", "/v1/customers", { email: "ada@example.com" });
      expect(created.status).toBe(201);
      await listener.record(({ event }) => event === "received");
      expect(await exited).toEqual([0, null]);
    } finally {
      clearTimeout(killing);
      await listener.interrupt();
    }
  });

  it("has a grace period that covers draining and the requests in flight", () => {
    const drain = Number(container.args[container.args.indexOf("--drain-delay") + 1]);
    expect(drain).toBeGreaterThan(0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(drain + 10);
  });
});
