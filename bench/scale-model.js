// The model for scale.js: virtual time, and a PostgreSQL server whose statements take what they were measured to take.

/**
 * Milliseconds of a core of the server. A delivery takes 0.17 and an API write 0.13 in all, as measured; 500 heads of a
 * queue of 1,000,000 took 6.2.
 */
export const SERVER = {
  statement: 0.005,
  commit: 0.025,
  due: 0.03,
  lease: 0.035,
  attempt: 0.045,
  outcome: 0.045,
  head: 0.012,
  event: 0.07,
  delivery: 0.03,
};
/** Milliseconds of a process's one core, measured, and 1 µs for each endpoint that a check of the queue returns. */
export const PROCESS = { delivery: 0.17, write: 0.18, head: 0.001 };
/** Assumed, in milliseconds: a round trip, a flush to disk, a receiver's response, the time between notifications. */
export const ASSUMED = { roundTrip: 0.2, flush: 1, receiver: 50, notification: 50, cores: 16 };

/** Runs callbacks in the order of their virtual times, and the promises that follow from each. */
export class Time {
  now = 0;
  #heap = [];
  #count = 0;

  at(time, callback) {
    const entry = { time: Math.max(time, this.now), order: this.#count++, callback };
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(entry, heap[parent])) break;
      heap[index] = heap[parent];
      index = parent;
    }
    heap[index] = entry;
    return entry;
  }

  wait(until) {
    return new Promise((resolve) => this.at(until, resolve));
  }

  /** Stops early at a real time, in milliseconds. */
  async runUntil(end, deadline = Infinity) {
    while (this.#heap.length > 0 && this.#heap[0].time <= end) {
      if (performance.now() > deadline) return;
      this.now = this.#heap[0].time;
      // What happens within 20 µs happens at once: each turn of this process's own event loop takes time.
      while (this.#heap.length > 0 && this.#heap[0].time <= this.now + 0.02) this.#take().callback?.();
      // One for the promises, one for the batches of writes, which are planned for the end of a turn.
      for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    }
    this.now = end;
  }

  #take() {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child += 1;
      if (child >= heap.length || !isBefore(heap[child], last)) break;
      heap[index] = heap[child];
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

const isBefore = (a, b) => a.time < b.time || (a.time === b.time && a.order < b.order);

/** A number of cores, which jobs take in the order of their arrival. */
export class Cores {
  busy = 0;
  #time;
  #idle;
  #queue = [];

  constructor(time, count) {
    this.#time = time;
    this.#idle = count;
  }

  /** Resolves when a job of this many milliseconds has ended. */
  async run(milliseconds) {
    if (this.#idle === 0) await new Promise((resolve) => this.#queue.push(resolve));
    else this.#idle -= 1;
    await this.#time.wait(this.#time.now + milliseconds);
    this.busy += milliseconds;
    const next = this.#queue.shift();
    if (next === undefined) this.#idle += 1;
    else next();
  }
}

/** The server: its cores, and of each endpoint how many deliveries wait. */
export class Server {
  statements = 0;
  recorded = 0;
  /** When the first delivery was recorded. */
  firstAt = Infinity;
  #time;
  #cores;
  #waiting;
  #serial = 0;
  #ready = new Set();
  #unnoticed = false;
  #subscribers = [];

  constructor(time, endpoints, backlog) {
    this.#time = time;
    this.#cores = new Cores(time, ASSUMED.cores);
    this.#waiting = new Int32Array(endpoints).fill(backlog);
    if (backlog > 0) for (let index = 0; index < endpoints; index++) this.#ready.add(index);
  }

  get busy() {
    return this.#cores.busy;
  }

  subscribe(callback) {
    this.#subscribers.push(callback);
    return () => {};
  }

  /** Processes learn of new deliveries at most once in a while. */
  notify() {
    if (this.#unnoticed) return;
    this.#unnoticed = true;
    this.#time.at(this.#time.now + ASSUMED.notification, () => {
      this.#unnoticed = false;
      for (const callback of this.#subscribers) callback();
    });
  }

  /** Opens a connection. Its statements are executed in order, and may be sent before others have an answer. */
  connect() {
    let last = Promise.resolve();
    const executeAfter = async (before, sql, parameters) => {
      await this.#time.wait(this.#time.now + ASSUMED.roundTrip / 2);
      await before;
      this.statements += 1;
      const { cost, flush = 0, result = () => ({}) } = this.#plan(sql, parameters);
      await this.#cores.run(SERVER.statement + cost);
      if (flush > 0) await this.#time.wait(this.#time.now + flush);
      return { rows: [], changed: 0, command: /^\s*(\w+)/.exec(sql)[1], ...result() };
    };
    return {
      isOpen: true,
      execute: async (sql, parameters = []) => {
        const executed = executeAfter(last, sql, parameters);
        last = executed;
        const answer = await executed;
        await this.#time.wait(this.#time.now + ASSUMED.roundTrip / 2);
        return answer;
      },
    };
  }

  /** Returns what a statement costs and does. Throws for one that the model does not know. */
  #plan(sql, parameters) {
    if (/^(BEGIN|ROLLBACK)/.test(sql)) return { cost: 0 };
    if (sql.startsWith("COMMIT")) return { cost: SERVER.commit, flush: ASSUMED.flush };
    if (sql.includes("octet_length(e.body)")) return this.#claim(parameters);
    if (/statement_timestamp|pg_advisory|FROM environments/.test(sql)) return { cost: 0, result: () => this.#clock() };
    if (sql.includes("FROM queues")) return this.#queueHeads();
    if (/lease_until < \$1|UPDATE webhook_endpoints/.test(sql)) return { cost: 0 };
    if (sql.includes("SELECT w.environment, w.id, w.url")) return { cost: 0, result: () => target(parameters[1]) };
    if (sql.includes("SELECT id, body, body_checksum")) return { cost: 0, result: () => bodies(parameters) };
    if (sql.includes("SET lease_until")) return { cost: SERVER.lease * (parameters.length - 3) };
    if (sql.includes("INSERT INTO attempts")) return recordedAttempts(parameters);
    if (sql.includes("SET status = CASE")) return this.#record(parameters.length / 6);
    if (sql.includes("INSERT INTO events")) return { cost: SERVER.event, result: () => ({ changed: 1 }) };
    if (sql.includes("INSERT INTO deliveries")) return this.#add(parameters);
    if (sql.includes("FROM webhook_endpoints")) return { cost: 0, result: () => this.#subscribed() };
    throw new Error(`the model does not know this statement: ${sql}`);
  }

  #clock() {
    return { rows: [{ now: this.#time.now, clock_offset: 0 }] };
  }

  #queueHeads() {
    const ready = [...this.#ready];
    const row = (index) => ({ endpoint_id: `we_${index}`, environment: environmentOf(index), due: 0, ...ENABLED });
    return { cost: SERVER.head * ready.length, result: () => ({ rows: ready.map(row) }) };
  }

  #claim([endpointId, limit]) {
    const index = Number(endpointId.slice(3));
    // Rows that others hold are skipped, so what is taken is taken when the statement arrives.
    const count = Math.min(limit, this.#waiting[index]);
    this.#waiting[index] -= count;
    if (this.#waiting[index] === 0) this.#ready.delete(index);
    const rows = Array.from({ length: count }, () => delivery(index, (this.#serial += 1)));
    return { cost: SERVER.due * count, result: () => ({ rows }) };
  }

  #record(count) {
    return {
      cost: SERVER.outcome * count,
      result: () => {
        this.recorded += count;
        this.firstAt = Math.min(this.firstAt, this.#time.now);
        return { changed: count };
      },
    };
  }

  #add(parameters) {
    const ids = parameters.filter((value) => typeof value === "string" && value.startsWith("we_"));
    return {
      cost: SERVER.delivery * ids.length,
      result: () => {
        for (const id of ids) {
          const index = Number(id.slice(3));
          this.#waiting[index] += 1;
          this.#ready.add(index);
        }
        return { changed: ids.length };
      },
    };
  }

  /** Two endpoints of the environment subscribe to each event. */
  #subscribed() {
    const any = () => Math.floor(Math.random() * this.#waiting.length);
    return { rows: [any(), any()].map((index) => ({ id: `we_${index}`, events: '["*"]' })) };
  }
}

const ENABLED = { endpoint_status: "enabled", clock_offset: 0, clock_held_until: 0 };
const environmentOf = (index) => Math.floor(index / 100);

function delivery(index, serial) {
  const counts = { attempt_count: 0, first_attempt: null, next_attempt: 0, body_bytes: 1024, trace: null };
  const event = { event_id: `evt_${serial}`, event_type: "order.completed" };
  return { id: `dlv_${serial}`, environment: environmentOf(index), ...event, ...counts };
}

function target(id) {
  const secret = { secret: Buffer.alloc(0), previous_secret: null, previous_until: null };
  const clock = { clock_offset: 0, clock_held_until: 0 };
  return { rows: [{ environment: 1, id, url: "http://127.0.0.1/", status: "enabled", ...secret, ...clock }] };
}

/** Every attempt still has its lease. */
function recordedAttempts(parameters) {
  const count = parameters.length / 9;
  const rows = Array.from({ length: count }, (_, row) => ({ id: parameters[row * 9], at: parameters[row * 9 + 2] }));
  return { cost: SERVER.attempt * count, result: () => ({ rows }) };
}

function bodies([, ...ids]) {
  return { rows: ids.map((id) => ({ id, body: "{}", body_checksum: null })) };
}
