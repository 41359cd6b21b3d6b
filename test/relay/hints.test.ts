import { describe, expect, it } from "vitest";
import { hostKind } from "../../src/cli/forwarding/options.ts";
import { describeForwardError, type HostKind } from "../../src/relay/forward-failure.ts";

const failing = (code: string) => Object.assign(new Error(code), { code });
const hintFor = (code: string, url: string, host: HostKind) =>
  describeForwardError(failing(code), new URL(url), host).hint;

describe("the hint of a refused connection", () => {
  it("mentions the host and other containers in a container", () => {
    expect(hintFor("ECONNREFUSED", "http://localhost:3000", "container")).toMatch(/host\.docker\.internal:3000/);
    expect(hintFor("ECONNREFUSED", "http://[::1]:3000", "container")).toMatch(/another container/);
  });

  it("mentions Windows in WSL", () => {
    expect(hintFor("ECONNREFUSED", "http://127.0.0.1:3000", "wsl")).toMatch(/Windows.*ip route show default/);
  });

  it.each([
    ["http://localhost:3000", "plain"],
    ["http://app:3000", "container"],
    ["http://192.168.1.7:3000", "wsl"],
  ] as const)("mentions only the receiver for %s on a %s machine", (url, host) => {
    expect(hintFor("ECONNREFUSED", url, host)).toBe("Check that the receiver is running and listens on port 3000.");
  });
});

describe("the hint for an unknown host name", () => {
  it("explains how a container on Linux can resolve its host", () => {
    expect(hintFor("ENOTFOUND", "http://host.docker.internal:3000", "container")).toMatch(/--add-host/);
    expect(hintFor("ENOTFOUND", "http://aap:3000", "container")).toMatch(/spelling/);
  });
});

describe("the kind of this machine", () => {
  const on = (files: Record<string, string>, platform: NodeJS.Platform = "linux") =>
    hostKind(platform, { exists: (path) => path in files, read: (path) => files[path] });

  it.each([
    ["/.dockerenv", ""],
    ["/run/.containerenv", ""],
    ["/proc/1/cgroup", "0::/kubepods/besteffort/pod1"],
  ])("is a container by %s", (path, text) => {
    expect(on({ [path]: text })).toBe("container");
  });

  it("is WSL by its kernel, and plain otherwise", () => {
    expect(on({ "/proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2\n" })).toBe("wsl");
    expect(on({ "/proc/sys/kernel/osrelease": "6.1.0-18-amd64\n", "/proc/1/cgroup": "0::/init.scope\n" })).toBe(
      "plain",
    );
    expect(on({ "/.dockerenv": "" }, "darwin")).toBe("plain");
  });
});
