import type { IncomingMessage } from "node:http";
import { PROBLEM_MEDIA_TYPE, type Problem } from "../contract/errors.ts";

const MOST_BYTES = 64 * 1024;

/** An answer to the upgrade that is not a WebSocket. */
export interface UpgradeRefusal {
  status: number;
  /** What was answered, in words. */
  message: string;
  problem: Problem | undefined;
  retryAfterSeconds: number | undefined;
}

/** Reads the reply that came instead of a WebSocket; `done` is called once, at the latest when the reply breaks off. */
export function readUpgradeRefusal(reply: IncomingMessage, done: (refusal: UpgradeRefusal) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let over = false;
  const finish = () => {
    if (over) return;
    over = true;
    reply.destroy();
    done(describeRefusal(reply, Buffer.concat(chunks).toString("utf8")));
  };
  reply.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return finish();
    chunks.push(chunk);
  });
  reply.on("end", finish);
  reply.on("error", finish);
  reply.on("close", finish);
}

function describeRefusal(reply: IncomingMessage, body: string): UpgradeRefusal {
  const status = reply.statusCode ?? 0;
  const mediaType = (reply.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  const problem = mediaType === PROBLEM_MEDIA_TYPE ? parseProblem(body) : undefined;
  const seconds = Number(reply.headers["retry-after"]);
  return {
    status,
    message: wordsFor(status, mediaType, reply.headers.location, problem),
    problem,
    retryAfterSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : undefined,
  };
}

function wordsFor(
  status: number,
  mediaType: string,
  location: string | undefined,
  problem: Problem | undefined,
): string {
  if (problem !== undefined) return `the platform answered ${status}: ${problem.detail}`;
  if (status === 407) return "a proxy on the way asks for a sign-in (407)";
  if (status >= 300 && status < 400) {
    return `the platform's address redirects (${status}) to ${location ?? "an unnamed place"}: use the final address`;
  }
  if (mediaType === "text/html") {
    return `a web page came instead of the platform (${status}): is the address right, or does a sign-in page of this network answer?`;
  }
  return `the platform answered ${status} instead of opening a WebSocket`;
}

function parseProblem(body: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== "object" || value === null) return undefined;
    const problem = value as Problem;
    return typeof problem.code === "string" && typeof problem.detail === "string" ? problem : undefined;
  } catch {
    return undefined;
  }
}
