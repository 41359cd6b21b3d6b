import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { EXIT_CODES, type ExitCode, SilentExit } from "../../errors.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import type { Styles } from "../../terminal/styles.ts";
import { formatSpan, relativeTime } from "../../terminal/time.ts";
import type { Column, ResourceView } from "../../terminal/view.ts";
import { examine, type Status } from "./examine.ts";

/** `service status`. */
export function register(program: Command, context: Context): void {
  const status = program
    .command("status")
    .description(
      "Check the platform, its latency and versions, the local clock and the credential. Exits with 7 if the platform is unreachable, with 4 if you are not signed in.",
    )
    .action(() => runStatus(context));
  addExamples(addFields(status, STATUS), [
    "service status",
    "service status --live --profile shop",
    "service status --json --jq .platform.latency_ms",
  ]);
}

async function runStatus(context: Context): Promise<void> {
  const status = await examine(context);
  await context.output.object(status, STATUS);
  const exitCode = exitCodeOf(status);
  if (exitCode !== EXIT_CODES.ok) throw new SilentExit(exitCode);
}

function exitCodeOf({ platform, credential }: Status): ExitCode {
  if (!platform.reachable) return EXIT_CODES.unreachable;
  if (credential.state === "works") return EXIT_CODES.ok;
  return credential.state === "unknown" ? EXIT_CODES.failed : EXIT_CODES.notSignedIn;
}

const PLATFORM: Column<Status> = {
  label: "Platform",
  text: ({ platform }) =>
    platform.reachable
      ? `${platform.base_url} responds in ${platform.latency_ms} ms`
      : `${platform.base_url}: ${platform.problem}`,
  style: (text, styles, { platform }) => judge(text, styles, platform.reachable),
};

const SOURCE: Column<Status> = {
  label: "URL from",
  text: ({ platform, auth }) =>
    auth.auth_url === platform.base_url
      ? platform.base_url_source
      : `${platform.base_url_source}; sign-in at ${auth.auth_url} (from ${auth.auth_url_source})`,
};

const VERSIONS: Column<Status> = {
  label: "Versions",
  text: ({ versions: { cli, api, supported } }) =>
    `service ${cli}, API ${api}${supported === null ? "" : isSupported(api, supported) ? ", which the platform supports" : `; the platform supports ${supported.join(", ")}`}`,
  style: (text, styles, { versions: { api, supported } }) =>
    supported === null || isSupported(api, supported) ? text : styles.warn(text),
};

const CLOCK: Column<Status> = {
  label: "Clock",
  text: ({ clock_ahead_seconds: ahead }) => {
    if (ahead === null) return "";
    if (ahead === 0) return "in sync with the platform";
    return `${formatSpan(Math.abs(ahead))} ${ahead > 0 ? "ahead of" : "behind"} the platform`;
  },
  style: (text, styles, { clock_ahead_seconds: ahead }) => (ahead === 0 ? text : styles.warn(text)),
};

const TEST_CLOCK: Column<Status> = {
  label: "Test clock",
  text: ({ test_clock_offset_seconds: offset }) => {
    if (offset === null) return "";
    return offset === 0 ? "real time" : `+${formatSpan(offset)}`;
  },
  style: (text, styles, { test_clock_offset_seconds: offset }) => (offset === 0 ? text : styles.warn(text)),
};

const PROFILE: Column<Status> = {
  label: "Profile",
  text: ({ profile, environment }) => `${profile.name} (from ${profile.source}), ${environment}`,
};

const KINDS = { api_key: "API key", oauth: "Browser sign-in" } as const;

const CREDENTIAL: Column<Status> = {
  label: "Credential",
  text: ({ credential: { state, type, source, expires_at, problem } }, { now }) => {
    if (type === null) return "none; sign in with `service login`";
    const of = `${KINDS[type]} from ${source}`;
    if (state === "refused") return `${of} was rejected: ${problem}`;
    if (state === "unknown") return problem === null ? `${of}, not checked` : `${of}: ${problem}`;
    return expires_at === null
      ? `${of} is valid`
      : `${of} is valid; renewed automatically, next ${relativeTime(expires_at, now)}`;
  },
  style: (text, styles, { credential: { state } }) =>
    state === "unknown" ? text : judge(text, styles, state === "works"),
};

const STATUS: ResourceView<Status> = {
  noun: "status",
  plural: "statuses",
  fields: [
    "platform",
    "auth",
    "versions",
    "clock_ahead_seconds",
    "test_clock_offset_seconds",
    "profile",
    "environment",
    "credential",
    "account",
  ],
  columns: [],
  details: [
    PLATFORM,
    SOURCE,
    VERSIONS,
    CLOCK,
    TEST_CLOCK,
    PROFILE,
    { label: "Account", text: ({ account }) => (account === null ? "" : `${account.name} (${account.id})`) },
    CREDENTIAL,
  ],
};

function isSupported(version: string, supported: readonly string[]): boolean {
  return supported.includes(version);
}

function judge(text: string, styles: Styles, good: boolean): string {
  return good ? styles.good(text) : styles.bad(text);
}
