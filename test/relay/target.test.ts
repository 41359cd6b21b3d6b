import { describe, expect, it } from "vitest";
import { parseTarget, TargetError } from "../../src/relay/targets.ts";

describe("parseTarget", () => {
  it.each([
    ["3000", "http://localhost:3000/"],
    [":3000", "http://localhost:3000/"],
    [":3000/hook", "http://localhost:3000/hook"],
    ["3000/hook?x=1", "http://localhost:3000/hook?x=1"],
    ["localhost:3000", "http://localhost:3000/"],
    ["localhost:3000/path", "http://localhost:3000/path"],
    ["  localhost:3000  ", "http://localhost:3000/"],
    ["app.localhost:3000", "http://app.localhost:3000/"],
    ["http://localhost:3000?x=1", "http://localhost:3000/?x=1"],
    ["https://localhost:3000/hook?x=1", "https://localhost:3000/hook?x=1"],
    ["HTTPS://localhost:3000/", "https://localhost:3000/"],
    ["127.0.0.1:3000", "http://127.0.0.1:3000/"],
    ["[::1]:3000/a", "http://[::1]:3000/a"],
    ["host.docker.internal:3000", "http://host.docker.internal:3000/"],
    ["localhost:65535", "http://localhost:65535/"],
  ])("parses %j as %s without a warning", (text, url) => {
    const target = parseTarget(text);
    expect(target.url.href).toBe(url);
    expect(target.warnings).toEqual([]);
  });

  it.each([
    ["localhost", "http://localhost/", "using 80"],
    ["https://localhost/hook", "https://localhost/hook", "using 443"],
    ["[::1]", "http://[::1]/", "using 80"],
    ["0.0.0.0:3000", "http://127.0.0.1:3000/", "forwarding to 127.0.0.1"],
    ["0:3000", "http://127.0.0.1:3000/", "forwarding to 127.0.0.1"],
    ["[::]:3000", "http://[::1]:3000/", "forwarding to [::1]"],
    ["localhost:3000/a#part", "http://localhost:3000/a", "after # was removed"],
    ["example.com:8080/hook", "http://example.com:8080/hook", "example.com is not this machine"],
    ["http://192.168.1.20:3000", "http://192.168.1.20:3000/", "there, unencrypted"],
    ["https://example.com", "https://example.com/", "example.com is not this machine"],
    ["https://example.com:8443", "https://example.com:8443/", "example.com is not this machine"],
    ["notlocalhost:3000", "http://notlocalhost:3000/", "notlocalhost is not this machine"],
    ["127.0.0.1.example.com:80", "http://127.0.0.1.example.com/", "is not this machine"],
  ])("parses %j as %s and warns: %s", (text, url, warning) => {
    const target = parseTarget(text);
    expect(target.url.href).toBe(url);
    expect(target.warnings.join(" ")).toContain(warning);
    expect(target.warnings).toHaveLength(1);
  });

  it.each([
    ["", "give a host and a port"],
    ["   ", "give a host and a port"],
    ["/tmp/app.sock", "Give a host and a port"],
    ["./app.sock", "Give a host and a port"],
    ["~/app.sock", "Give a host and a port"],
    ["unix:/tmp/app.sock", "Give a host and a port"],
    ["unix:///tmp/app.sock", "Give a host and a port"],
    ["C:\\app\\socket", "Give a host and a port"],
    ["\\\\.\\pipe\\app", "Give a host and a port"],
    ["file:///etc/passwd", "use http:// or https://"],
    ["ws://localhost:3000", "use http:// or https://"],
    ["ftp://localhost", "use http:// or https://"],
    ["http://user:secret@localhost:3000", "remove the user name and password"],
    ["user@localhost:3000", "remove the user name and password"],
    ["abc", "for example localhost:3000/webhooks"],
    ["abc/hooks", "for example localhost:3000/webhooks"],
    ["localhost:99999", "number from 1 to 65535"],
    ["99999", "number from 1 to 65535"],
    ["localhost:0", "number from 1 to 65535"],
    ["0", "number from 1 to 65535"],
    ["localhost:", "number from 1 to 65535"],
    ["localhost:http", "number from 1 to 65535"],
    ["localhost:-1", "number from 1 to 65535"],
    ["file:/etc/passwd", "number from 1 to 65535"],
    ["'localhost:3000/hook'", "remove the quotes"],
    ['http://"localhost":3000', "remove the quotes"],
    ["::1", "needs brackets"],
    ["::1:3000", "needs brackets"],
    ["[::1:3000", "needs brackets"],
    ["http://", "host is missing"],
    ["http:///path", "host is missing"],
    ["?x=1", "host is missing"],
    ["local host:3000", "for example localhost:3000"],
    ["localhost:3000/a\nb", "for example localhost:3000"],
    ["[zz]:3000", "for example localhost:3000"],
    ["exa%mple:3000", "for example localhost:3000"],
  ])("rejects %j and names the fix: %s", (text, fix) => {
    const error = thrownBy(() => parseTarget(text));
    expect(error).toBeInstanceOf(TargetError);
    expect(error).toMatchObject({ message: expect.stringContaining(fix) });
  });

  it("never shows a password in its message", () => {
    expect(String(thrownBy(() => parseTarget("http://user:hunter2@localhost:1")))).not.toContain("hunter2");
  });
});

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}
