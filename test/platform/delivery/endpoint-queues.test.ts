import { expect, it } from "vitest";
import { EndpointQueues } from "../../../src/platform/delivery/endpoint-queues.ts";
import type { Job } from "../../../src/platform/delivery/sender.ts";

const LIMITS = { perEndpoint: 20, perProcess: 256, allAdvances: 256, bodyBytes: 1 };
/** The part of the slots that is kept for fast endpoints. */
const KEPT = 32;

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `we_${index}`);

/** Makes deliveries due at endpoints. */
function wait(queues: EndpointQueues, ids: readonly string[]): void {
  const due = ids.map((endpointId) => ({ endpointId, environment: 1, due: 1 }));
  queues.update(due, new Set(ids));
}

/** Begins as many attempts as endpoints may. Returns how many slots are free then. */
function fill(queues: EndpointQueues, ids: readonly string[], free: number): number {
  for (let rest = free; ; free = rest) {
    for (const queue of ids.map((id) => queues.of(id))) {
      const slots = queues.slotsFor(queue, rest);
      queue.open += slots;
      rest -= slots;
    }
    if (rest === free) return free;
  }
}

it.each([1, 15, 99, 5000])(
  "a process keeps the reserved slots free when %i endpoints have reached the time limit",
  (count) => {
    const queues = new EndpointQueues(LIMITS);
    const hanging = idsOf(count);
    wait(queues, [...hanging, "we_fast"]);
    for (const id of hanging) queues.attemptEnded(queues.of(id), 10_000);
    const free = fill(queues, hanging, LIMITS.perProcess);
    expect(free).toBeGreaterThanOrEqual(KEPT);
    queues.attemptEnded(queues.of("we_fast"), 10);
    expect(queues.slotsFor(queues.of("we_fast"), free)).toBeGreaterThanOrEqual(Math.ceil(KEPT / 3));
  },
);

it("a process keeps fewer reserved slots free if endpoints respond within half of the time", () => {
  const queues = new EndpointQueues(LIMITS);
  const slow = idsOf(500);
  wait(queues, slow);
  for (const id of slow) queues.attemptEnded(queues.of(id), 5_000);
  expect(fill(queues, slow, LIMITS.perProcess)).toBe(KEPT / 2);
});

it("a process remembers a slow endpoint only while its deliveries wait for a retry", () => {
  const queues = new EndpointQueues(LIMITS);
  const ids = ["we_0"];
  const mayTakeLast = () => queues.slotsFor(queues.of("we_0"), KEPT) > 0;
  wait(queues, ids);
  expect(mayTakeLast()).toBe(true);
  queues.attemptEnded(queues.of("we_0"), 10_000);
  queues.update([], new Set(ids));
  wait(queues, ids);
  expect(mayTakeLast()).toBe(false);
  queues.update([], new Set());
  wait(queues, ids);
  expect(mayTakeLast()).toBe(true);
});

it("a process claims nothing ahead for an endpoint without a slot, however many of its attempts have ended", () => {
  const queues = new EndpointQueues(LIMITS);
  const ids = idsOf(100);
  wait(queues, ids);
  const free = fill(queues, ids, LIMITS.perProcess);
  const idle = ids.map((id) => queues.of(id)).filter(({ open }) => open === 0);
  expect(idle).not.toEqual([]);
  for (const queue of idle) {
    queue.ended = 100;
    expect(queues.claimable(queue, free, queues.freeAhead())).toBe(0);
  }
});

it("a process claims 16 ahead for one of a hundred endpoints, as long as less than 256 are ahead in total", () => {
  const queues = new EndpointQueues(LIMITS);
  const ids = idsOf(100);
  wait(queues, ids);
  const queue = queues.of("we_0");
  Object.assign(queue, { open: 20, ended: 100 });
  expect(queues.claimable(queue, 0, queues.freeAhead())).toBe(16);
  queues.of("we_1").ahead.push(...Array.from({ length: 250 }, () => ({}) as Job));
  expect(queues.claimable(queue, 0, queues.freeAhead())).toBe(6);
  queues.of("we_2").ahead.push(...Array.from({ length: 6 }, () => ({}) as Job));
  expect(queues.claimable(queue, 0, queues.freeAhead())).toBe(0);
});
