import { DatabaseError } from "pg";
import { StorageOpenError, StorageUnavailableError } from "../database.ts";

/** SQLSTATEs of a unit that met another's changes, and counts as not run: serialization failure, deadlock. */
const LOST_TO_ANOTHER = new Set(["40001", "40P01"]);
const UNIQUE_VIOLATION = "23505";

/** SQLSTATE classes and codes that speak of the server, the connection or the disk, not of the statement. */
const UNAVAILABLE: readonly { prefix: string; reason: string }[] = [
  { prefix: "08", reason: "the connection was lost" },
  { prefix: "25006", reason: "the database is read-only" },
  { prefix: "25P03", reason: "a transaction stood still for too long" },
  { prefix: "53100", reason: "the database's disk is full" },
  { prefix: "53300", reason: "the database takes no more connections" },
  { prefix: "53", reason: "the database has run out of resources" },
  { prefix: "55P03", reason: "a lock was held for too long" },
  { prefix: "57014", reason: "a statement took too long" },
  { prefix: "57P", reason: "the database shuts down or starts" },
  { prefix: "58", reason: "the database's disk fails" },
  { prefix: "XX001", reason: "the database is damaged" },
];

/** Of the server's codes, those that end the connection with the statement. */
const ENDS_CONNECTION = /^(08|57P0[1-5]|25P03)/;
const UNREACHABLE = "the database cannot be reached";

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** True where the unit is to be run again because another process or unit was first. */
export function isLostToAnother(error: unknown): boolean {
  return LOST_TO_ANOTHER.has(codeOf(error));
}

/** A row with that key is there: perhaps since the unit looked. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/** An error of the server, the network or the disk as StorageUnavailableError; any other error as it is. */
export function asUnavailable(error: unknown): unknown {
  const reason = unavailability(error);
  return reason === undefined ? error : unavailable(reason, error);
}

/** Any error of a connection that is closed, as StorageUnavailableError. */
export function asLost(error: unknown): StorageUnavailableError {
  if (error instanceof StorageUnavailableError) return error;
  return unavailable(unavailability(error) ?? UNREACHABLE, error);
}

/** True where the connection cannot be used any more after this. */
export function endsConnection(error: unknown): boolean {
  return ENDS_CONNECTION.test(codeOf(error)) || isNetworkError(error);
}

function unavailable(reason: string, cause: unknown): StorageUnavailableError {
  return new StorageUnavailableError(`Storage is unavailable: ${reason}.`, { cause });
}

function unavailability(error: unknown): string | undefined {
  const code = codeOf(error);
  return UNAVAILABLE.find(({ prefix }) => code.startsWith(prefix))?.reason;
  if (isNetworkError(error)) return UNREACHABLE;
}

/** True for failed system calls, for responses that cannot be read, and for what the client library says of its socket. */
function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError) return error.code === undefined;
  return (
    "syscall" in error || /^(Connection terminated|Client |timeout expired|Query read timeout)/.test(error.message)
  );
}

/** Why a database could not be opened, in words that name the way out; `name` is its URL without the password. */
export function asOpenError(error: unknown, name: string): unknown {
  if (error instanceof StorageOpenError) return error;
  const cause = error instanceof StorageUnavailableError ? (error.cause ?? error) : error;
  const code = codeOf(cause);
  const refusal = (advice: string) => new StorageOpenError("unreachable", `${name}: ${advice}`, { cause });
  const said = cause instanceof Error ? cause.message : "";
  if (/, (no encryption|SSL off)$/.test(said)) {
    return refusal("the server takes no connection without TLS. Add ?sslmode=verify-full to the URL.");
  }
  if (code.startsWith("28")) return refusal("the database refused the user or the password.");
  if (code === "3D000") return refusal("there is no such database. Make it first: createdb.");
  if (code === "42501") return refusal("the user may not make tables there. Give it a schema of its own.");
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const { host, cert } = cause as Error & { host: string; cert: { subjectaltname?: string } };
    const names = cert.subjectaltname ?? "no name";
    return refusal(
      `the server's certificate is not for ${host} but for ${names}. Use that name, or sslmode=verify-ca.`,
    );
  }
  if (/^(CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|ERR_TLS)/.test(code)) {
    const advice =
      "Name the authority that signed it (--database-ca FILE), or say sslmode=disable on a private network.";
    return refusal(`the server's certificate is not trusted (${code}). ${advice}`);
  }
  if (said.includes("does not support SSL")) {
    return refusal("the server speaks no TLS. On a private network add ?sslmode=disable to the URL.");
  }
  const reason = unavailability(cause) ?? (error instanceof StorageUnavailableError ? UNREACHABLE : undefined);
  if (reason === undefined) return error;
  const detail = said === "" ? "" : ` (${said})`;
  return refusal(`${reason}${detail}.`);
}
