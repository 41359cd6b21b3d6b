import type { FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import type { Occasion } from "../domain/occasion.ts";
import type { Versions } from "../domain/versions.ts";
import type { Services } from "../services.ts";
import type { Vault } from "../vault.ts";
import type { Transaction, WriteOptions } from "../storage/database.ts";
import {
  digestIdempotencyKey,
  findReply,
  fingerprintOf,
  type InFlight,
  keepReply,
  type KeptReply,
  onceForKey,
  readIdempotencyKey,
  whileHeld,
} from "./idempotency.ts";
import { type Call, type Operation, RawJson, type ReplyBody } from "./operation.ts";

/** A request that changes something, checked and ready to be carried out. */
interface Run {
  services: Services;
  inFlight: InFlight;
  operation: Operation;
  call: Call<unknown, unknown>;
  request: FastifyRequest;
  /** The version that the reply is written in. */
  version: string;
}

/** Carries out an operation in one transaction, with the reply that is kept for its Idempotency-Key. */
export function runWrite({ services, inFlight, operation, call, request, version }: Run): Promise<KeptReply> {
  const { database, vault, versions } = services;
  const status = operation.reply.status;
  const { tenant } = call.caller;
  const occasionIn = async (tx: Transaction): Promise<Occasion> => ({
    tenant,
    requestId: request.id,
    versions,
    ...(await services.time.read(tx, tenant)),
  });
  const options: WriteOptions = { isolation: operation.additive === true ? "beside" : "alone" };
  const place = placeOf(vault, operation, call, request);
  if (place === undefined) {
    return database.write(async (tx) => {
      const json = toJson(versions, version, await operation.write!(call, tx, await occasionIn(tx)));
      return { status, json, replayed: false };
    }, options);
  }
  const fingerprint = fingerprintOf(version, call.body, secretHolder(operation, call));
  return inFlight.run(place, () =>
    database.write(async (tx) => {
      const occasion = await occasionIn(tx);
      const kept = await onceForKey(tx, vault, place, fingerprint, occasion.now, async () => ({
        status,
        json: toJson(versions, version, await operation.write!(call, tx, occasion)),
      }));
      return kept;
    }, options),
  );
}

/** Carries out an operation that has transactions of its own, and keeps its reply behind them. */
export async function runLong({ services, operation, call, request, version }: Run): Promise<KeptReply> {
  const { database, vault, time, versions } = services;
  const { tenant } = call.caller;
  const run = async () => ({
    status: operation.reply.status,
    json: toJson(versions, version, await operation.run!(call)),
  });
  const place = placeOf(vault, operation, call, request);
  if (place === undefined) return { ...(await run()), replayed: false };
  const fingerprint = fingerprintOf(version, call.body, secretHolder(operation, call));
  return whileHeld(database, place, async () => {
    const kept = await findReply(database, vault, place, fingerprint, (await time.read(database, tenant)).now);
    if (kept !== undefined) return kept;
    const reply = await run();
    await database.write(async (tx) => {
      await keepReply(tx, vault, place, fingerprint, (await time.read(tx, tenant)).now, reply);
    });
    return { ...reply, replayed: false };
  });
}

/** What a POST's Idempotency-Key is kept under, without the key itself; undefined where it has none. */
function placeOf(vault: Vault, operation: Operation, call: Call<unknown, unknown>, request: FastifyRequest) {
  const header = request.headers["idempotency-key"];
  const given = operation.method === "POST" && typeof header === "string" ? header : undefined;
  const sent = readIdempotencyKey(given);
  if (sent === undefined) return undefined;
  const key = digestIdempotencyKey(vault, sent);
  const path = request.url.split("?", 1)[0]!;
  return { environment: call.caller.tenant.environment, method: operation.method, path, key };
}

/** The only principal that may have the response again, where it can show a secret. */
function secretHolder({ reply }: Operation, { caller }: Call<unknown, unknown>): string | undefined {
  const { properties = {} } = reply.schema as { properties?: Record<string, TSchema> };
  return Object.values(properties).some(isSecret) ? caller.principal : undefined;
}

function isSecret(schema: TSchema): boolean {
  const { "x-secret": secret, anyOf = [] } = schema as { "x-secret"?: boolean; anyOf?: TSchema[] };
  return secret === true || anyOf.some(isSecret);
}

/** The reply in a version's shape. */
export function toJson(versions: Versions, version: string, body: ReplyBody): string {
  if (!(body instanceof RawJson)) return JSON.stringify(versions.reply(version, body));
  if (version === versions.latest) return body.text;
  const parsed = JSON.parse(body.text) as object;
  const shaped = versions.reply(version, parsed);
  // What does not differ keeps its bytes.
  return shaped === parsed ? body.text : JSON.stringify(shaped);
}
