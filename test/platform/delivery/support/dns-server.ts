import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";

/** A name server's response to a query: addresses, an error, or none. */
export type DnsResult = readonly string[] | "NXDOMAIN" | "SERVFAIL" | "silence";

export interface DnsServer {
  /** `127.0.0.1:53053` */
  address: string;
  /** Each query, such as `A hooks.test`. */
  queries: string[];
  close(): void;
}

const TYPES: Readonly<Record<number, string>> = { 1: "A", 28: "AAAA" };
const RCODES = { NXDOMAIN: 3, SERVFAIL: 2 } as const;

/** Starts a name server over UDP with configured responses for `A` and `AAAA` queries. */
export async function startDnsServer(
  answer: (name: string, type: string) => DnsResult | Promise<DnsResult>,
): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const queries: string[] = [];
  const respond = async (query: Buffer, { address, port }: RemoteInfo): Promise<void> => {
    const { name, type, end } = questionIn(query);
    queries.push(`${TYPES[type]} ${name}`);
    const says = await answer(name, TYPES[type] ?? "");
    if (says !== "silence") socket.send(responseTo(query.subarray(0, end), type, says), port, address);
  };
  socket.on("message", (query, sender) => void respond(query, sender));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { address: `127.0.0.1:${socket.address().port}`, queries, close: () => void socket.close() };
}

/** Parses the question of a query (RFC 1035 4.1). */
function questionIn(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function responseTo(question: Buffer, type: number, says: Exclude<DnsResult, "silence">): Buffer {
  const rcode = typeof says === "string" ? RCODES[says] : 0;
  const fitting = typeof says === "string" ? [] : says.filter((address) => isIPv4(address) === (type === 1));
  const head = Buffer.from(question);
  // Flags: response, recursion available. Counts: one question, these answers.
  head.writeUInt16BE(0x8180 | rcode, 2);
  for (const [at, count] of [1, fitting.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * at);
  return Buffer.concat([head, ...fitting.map((address) => record(type, bytesOf(address)))]);
}

/** Returns a resource record for the question's name with a TTL of one minute. */
function record(type: number, data: Buffer): Buffer {
  const fields = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([fields, data]);
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [before = [], after = []] = address.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  const groups = address.includes("::") ? [...before, ...zeros, ...after] : before;
  return Buffer.from(groups.map((group) => group.padStart(4, "0")).join(""), "hex");
}
