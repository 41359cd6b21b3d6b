import { PortAdvisor } from "../../../relay/port-advisor.ts";
import { systemClock } from "../../../relay/ports.ts";
import type { Report } from "../../../relay/report.ts";
import { Session } from "../../../relay/session.ts";
import { SignatureError } from "../../../webhooks/index.ts";
import type { Context } from "../../context.ts";
import { InterruptedError, SilentExit } from "../../errors.ts";
import { ChildCommand, type ChildEnd } from "./child-command.ts";
import { canControl, Controls, KEYS_HELP } from "./controls.ts";
import { writeEnvFile } from "./env-file.ts";
import { explainListenError } from "./explain.ts";
import { readForwardingOptions } from "./forwarding-options.ts";
import type { ListenFlags } from "./index.ts";
import { accessPlatform } from "./platform-access.ts";
import { createListenPrinter, leftOutLine } from "./printer.ts";
import { removeReadyFile, writeReadyFile } from "./ready-file.ts";
import { openFileWarning } from "./open-file.ts";
import { Recorder } from "./recorder.ts";
import { Screen, streamSink } from "./screen.ts";
import { targetsOf } from "./receivers.ts";
import { fetchSessionSecret } from "./session-secret.ts";
import { openStartPosition } from "./start-position.ts";
import { usageOf } from "./usage-of.ts";

/** Listens until Ctrl-C, until the command that runs meanwhile has ended, or until the platform refuses for good. */
export async function runListen(flags: ListenFlags, command: readonly string[], context: Context): Promise<void> {
  const { output, signal } = context;
  if (!flags.printSecret) output.refuseFilters();
  const platform = await accessPlatform(context);
  if (flags.printSecret) {
    const secret = await fetchSessionSecret(platform, signal);
    return output.json ? await output.document({ secret }) : output.line(secret);
  }
  const { receivers, options, chaos } = readForwardingOptions(flags, context);
  const { target } = receivers;
  if (target?.origin === platform.baseUrl.origin)
    output.warn("--forward-to is the platform itself, not your application.");
  if (flags.readyFile !== undefined) await removeReadyFile(flags.readyFile);

  const screen = command.length === 0 && canControl(context) ? new Screen(context) : undefined;
  const warn = (text: string) => (screen === undefined ? output.warn(text) : screen.warn(text));
  const warnIfOpen = (file: string, content: string) => {
    const warning = openFileWarning(file, content, context.platform);
    if (warning !== undefined) warn(warning);
  };
  const position = openStartPosition({ context, warn, identity: platform.identity, events: flags.events, receivers });
  const recorder = flags.record === undefined ? undefined : new Recorder(flags.record, (error) => fail(error));
  if (flags.record !== undefined) warnIfOpen(flags.record, "whole events");
  const sink =
    screen ??
    (command.length === 0 ? streamSink(context.stdout, output.styles) : streamSink(context.stderr, output.noteStyles));
  // What is forwarded does not wait for whoever reads about it; a command that runs has stdout to itself.
  const settle =
    target !== undefined && command.length === 0
      ? await context.stdout.stopWaiting((lines) => `${leftOutLine(lines, context)}\n`)
      : undefined;
  const controls = screen && new Controls(context, screen, () => session);
  const ending = controls === undefined ? "Ctrl-C ends" : KEYS_HELP;
  const print = createListenPrinter(context, sink, {
    ...receivers,
    secret: flags.secret,
    chaos,
    credentialSource: platform.credentialSource,
    ending,
  });
  const except = platform.baseUrl.port === "" ? [] : [Number(platform.baseUrl.port)];
  // A command that runs may well start the receiver itself.
  const expected = command.length > 0 ? [] : targetsOf(receivers);
  const advisor = new PortAdvisor({ clock: systemClock, except, expected, report: print });

  const session = usageOf(
    () =>
      new Session({
        ...platform,
        ...options,
        events: flags.events,
        after: flags.since === "last" ? position.start() : flags.since,
        secret: flags.secret,
        maxDowntimeMs: flags.maxDowntime === undefined ? undefined : flags.maxDowntime * 1000,
        passed: (cursor) => position.moved(cursor),
        report: (report) => {
          print(report);
          advisor.notice(report);
          controls?.notice(report);
          if (report.event === "received") recorder?.add({ ...report, at: context.now() });
          if (report.event === "ready") onReady(report).catch(fail);
        },
      }),
    SignatureError,
    "--secret",
  );

  let failure: { error: unknown } | undefined;
  let child: ChildCommand | undefined;
  let childEnd: ChildEnd | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    child?.kill("SIGTERM");
    void session.stop();
  };
  const onReady = async (ready: Extract<Report, { event: "ready" }>) => {
    const secret = flags.secret ?? ready.secret;
    if (flags.writeEnv !== undefined) {
      await writeEnvFile(flags.writeEnv, secret);
      warnIfOpen(flags.writeEnv.file, "the signing secret");
    }
    if (flags.readyFile !== undefined) await writeReadyFile(flags.readyFile, { secret, forwardTo: target });
    if (command.length === 0 || signal.aborted) return;
    child = new ChildCommand(command, secret, context);
    childEnd = await child.ended;
    await session.stop();
  };
  // A command that runs gets the signal itself, and ends in its own time.
  const onAbort = () => {
    // What is under way may take seconds; a second Ctrl-C then ends the process at once, and must not leave the terminal raw.
    controls?.stop();
    if (child === undefined) void session.stop();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  controls?.start();
  try {
    session.start();
    const { error } = await session.ended;
    if (error !== undefined) fail(explainListenError(error));
    await child?.ended;
  } finally {
    controls?.stop();
    recorder?.close();
    await position.settled();
    if (flags.readyFile !== undefined) await removeReadyFile(flags.readyFile);
    await settle?.();
  }
  if (failure !== undefined) throw failure.error;
  if (childEnd?.error !== undefined) output.warn(childEnd.error.message);
  if (childEnd !== undefined && childEnd.exitCode !== 0) throw new SilentExit(childEnd.exitCode);
  const isAsked = signal.reason instanceof InterruptedError && command.length === 0;
  if (signal.aborted && childEnd === undefined && !isAsked) throw signal.reason;
}
