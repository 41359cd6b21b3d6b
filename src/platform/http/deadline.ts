import type { FastifyInstance } from "fastify";
import { type ApiError, unavailable } from "../domain/api-error.ts";
import type { Clock } from "../ports.ts";
import type { Transaction, UnitOfWork } from "../storage/database.ts";
import { UNCERTAIN } from "./problem.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The request has it before anything else happens. */
    deadline: Deadline | null;
  }
}

/**
 * Responds 503 to requests that take longer than this, whatever they wait for, not counting the time in which their
 * bodies arrive. Connections that a handler takes over, such as streams, have limits of their own. Fastify's
 * `handlerTimeout` ends with the body of a request.
 */
export function setDeadlines(app: FastifyInstance, clock: Clock, seconds: number): void {
  app.decorateRequest("deadline", null);
  app.addHook("onRequest", (request, reply, done) => {
    request.deadline = new Deadline(clock, seconds, request.method !== "GET", (error) => {
      if (!reply.sent) void reply.send(error);
    });
    done();
  });
  app.addHook("preParsing", (request, _reply, _payload, done) => {
    if (!request.raw.complete) request.deadline!.pause();
    done();
  });
  app.addHook("preHandler", (request, _reply, done) => {
    request.deadline!.resume();
    done();
  });
  app.addHook("onSend", (request, _reply, payload, done) => {
    // A path that cannot be decoded gets a response before a deadline is set.
    request.deadline?.pause();
    done(null, payload);
  });
}

/** The end of the time that a request may take. */
export class Deadline {
  readonly #clock: Clock;
  readonly #seconds: number;
  readonly #respond: (error: ApiError) => void;
  #left: number;
  #since = 0;
  #isOver = false;
  #mayHaveChanged: boolean;
  #cancel: (() => void) | undefined;

  /** `respond` is called with the error at the end. */
  constructor(clock: Clock, seconds: number, makesChanges: boolean, respond: (error: ApiError) => void) {
    this.#clock = clock;
    this.#seconds = seconds;
    this.#mayHaveChanged = makesChanges;
    this.#respond = respond;
    this.#left = seconds * 1000;
    this.resume();
  }

  pause(): void {
    if (this.#cancel === undefined) return;
    this.#cancel();
    this.#cancel = undefined;
    this.#left -= this.#clock.elapsed() - this.#since;
  }

  resume(): void {
    if (this.#cancel !== undefined) return;
    this.#since = this.#clock.elapsed();
    this.#cancel = this.#clock.after(Math.max(0, this.#left), () => {
      this.#isOver = true;
      this.#respond(this.#error());
    });
  }

  /** The request makes changes only in units of work that `limit` returned. */
  changesOnlyInTime(): void {
    this.#mayHaveChanged = false;
  }

  /** Throws ApiError once the time is over. */
  assertTime(): void {
    if (this.#isOver) throw this.#error();
  }

  /** Returns a unit of work that is rolled back if it does not end in time. */
  limit<Result>(unit: UnitOfWork<Result>): UnitOfWork<Result> {
    return async (tx: Transaction) => {
      // It may have run before, and was rolled back then.
      this.#mayHaveChanged = false;
      this.assertTime();
      const result = await unit(tx);
      this.assertTime();
      // Its commit follows.
      this.#mayHaveChanged = true;
      return result;
    };
  }

  #error(): ApiError {
    const what = `The platform could not respond within ${this.#seconds} s`;
    return unavailable(this.#mayHaveChanged ? `${what}. ${UNCERTAIN}` : `${what}; nothing was changed.`);
  }
}
