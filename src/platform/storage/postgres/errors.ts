import { DatabaseError } from "pg";
import { StorageOpenError, StorageUnavailableError } from "../database.ts";

const UNIQUE_VIOLATION = "23505";
/**
 * SQLSTATEs of a unit of work that met another's changes: serialization failure, deadlock, and unique violation, since
 * a unit checks whether a key is taken before it writes one.
 */
const CONFLICTS = new Set(["40001", "40P01", UNIQUE_VIOLATION]);

/** SQLSTATE classes and codes that concern the server, the connection or the disk, not the statement. */
const UNAVAILABLE: readonly { prefix: string; reason: string }[] = [
  { prefix: "08", reason: "the connection was lost" },
  { prefix: "25006", reason: "the database is read-only" },
  { prefix: "25P03", reason: "a transaction was idle for too long" },
  { prefix: "53100", reason: "the database's disk is full" },
  { prefix: "53300", reason: "the database accepts no more connections" },
  { prefix: "53", reason: "the database has run out of resources" },
  { prefix: "55P03", reason: "a lock was held for too long" },
  { prefix: "57014", reason: "a statement took too long" },
  { prefix: "57P", reason: "the database is shutting down or starting up" },
  { prefix: "58", reason: "the database's disk is failing" },
  { prefix: "XX001", reason: "the database is damaged" },
];

/** Server error codes after which the connection is closed. */
const ENDS_CONNECTION = /^(08|57P0[1-5]|25P03)/;
const UNREACHABLE = "the database cannot be reached";

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Returns true if the unit of work failed because of another's changes, and should be run again on the new state. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(codeOf(error));
}

/** Returns true if both are unique violations of the same key. */
export function isSameViolation(first: unknown, second: unknown): boolean {
  if (!(first instanceof DatabaseError && second instanceof DatabaseError)) return false;
  return first.code === UNIQUE_VIOLATION && second.code === UNIQUE_VIOLATION && first.detail === second.detail;
}

/**
 * Converts an error of the server, the network or the disk to StorageUnavailableError, and returns any other as it is.
 */
export function asUnavailable(error: unknown): unknown {
  const reason = unavailability(error);
  return reason === undefined ? error : unavailable(reason, error);
}

/** Converts any error of a closed connection to StorageUnavailableError. */
export function asLost(error: unknown): StorageUnavailableError {
  if (error instanceof StorageUnavailableError) return error;
  return unavailable(unavailability(error) ?? UNREACHABLE, error);
}

/** Returns true if the connection cannot be used after this. */
export function endsConnection(error: unknown): boolean {
  return ENDS_CONNECTION.test(codeOf(error)) || isNetworkError(error);
}

function unavailable(reason: string, cause: unknown): StorageUnavailableError {
  return new StorageUnavailableError(`Storage is unavailable: ${reason}.`, { cause });
}

function unavailability(error: unknown): string | undefined {
  if (isNetworkError(error)) return UNREACHABLE;
  const code = codeOf(error);
  return UNAVAILABLE.find(({ prefix }) => code.startsWith(prefix))?.reason;
}

/** Returns true for failed system calls, unreadable responses, and the client library's errors about its socket. */
function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError) return error.code === undefined;
  return (
    "syscall" in error || /^(Connection terminated|Client |timeout expired|Query read timeout)/.test(error.message)
  );
}

/** Returns why a database could not be opened and how to fix it. `name` is its URL without the password. */
export function asOpenError(error: unknown, name: string): unknown {
  if (error instanceof StorageOpenError) return error;
  const cause = error instanceof StorageUnavailableError ? (error.cause ?? error) : error;
  const code = codeOf(cause);
  const unreachable = (advice: string) => new StorageOpenError("unreachable", `${name}: ${advice}`, { cause });
  const message = cause instanceof Error ? cause.message : "";
  if (/, (no encryption|SSL off)$/.test(message)) {
    return unreachable("the server requires TLS. Add ?sslmode=verify-full to the URL.");
  }
  if (code.startsWith("28")) return unreachable("the database rejected the user or the password.");
  if (code === "3D000") return unreachable("the database does not exist. Create it first: createdb.");
  if (code === "42501") return unreachable("the user may not create tables there. Create a schema that it owns.");
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const { host, cert } = cause as Error & { host: string; cert: { subjectaltname?: string } };
    const names = cert.subjectaltname ?? "no name";
    return unreachable(
      `the server's certificate is not for ${host} but for ${names}. Use that name, or sslmode=verify-ca.`,
    );
  }
  if (/^(CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|ERR_TLS)/.test(code)) {
    const advice =
      "Pass the CA certificate that signed it (--database-ca FILE), or sslmode=disable on a private network.";
    return unreachable(`the server's certificate is not trusted (${code}). ${advice}`);
  }
  if (message.includes("does not support SSL")) {
    return unreachable("the server does not support TLS. On a private network add ?sslmode=disable to the URL.");
  }
  const reason = unavailability(cause) ?? (error instanceof StorageUnavailableError ? UNREACHABLE : undefined);
  if (reason === undefined) return error;
  const detail = message === "" ? "" : ` (${message})`;
  return unreachable(`${reason}${detail}.`);
}
