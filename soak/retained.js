// What a process holds after a garbage collection, read through its inspector.
import { WebSocket } from "ws";

/** Runs in the process. `this` is an array of all objects with the requested prototype. */
const COUNTS = {
  listeners: `function () {
    let count = 0;
    for (const { _events: events } of this) {
      for (const key of Reflect.ownKeys(events ?? {})) count += Array.isArray(events[key]) ? events[key].length : 1;
    }
    return count;
  }`,
  statements: `function () {
    let count = 0;
    for (const { parsedStatements } of this) count += Object.keys(parsedStatements ?? {}).length;
    return count;
  }`,
  timers: "function () { return this.filter(({ _destroyed: isDestroyed }) => !isDestroyed).length; }",
  promises: "function () { return this.length; }",
};
const EMITTER = "Object.getPrototypeOf(Object.getPrototypeOf(process))";
const TIMER = "((timer) => (clearTimeout(timer), Object.getPrototypeOf(timer)))(setTimeout(() => {}, 1))";
const TIMEOUT_MILLISECONDS = 30_000;

/**
 * Collects garbage in a process that runs with --inspect and counts what is left: `heap` in MB, active `timers`,
 * `listeners` of event emitters, prepared `statements`, `promises`. Resolves with undefined if the process is gone.
 */
export async function retainedBy(inspectorUrl) {
  const socket = new WebSocket(inspectorUrl);
  const calls = new Map();
  const fail = () => {
    for (const { reject } of calls.values()) reject(new Error("the inspector is gone"));
  };
  const timeout = setTimeout(() => socket.terminate(), TIMEOUT_MILLISECONDS);
  try {
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    socket.on("error", fail).on("close", fail);
    socket.on("message", (data) => {
      const { id, result, error } = JSON.parse(/** @type {Buffer} */ (data).toString());
      const call = calls.get(id);
      calls.delete(id);
      if (error === undefined) call?.resolve(result);
      else call?.reject(new Error(error.message));
    });
    let last = 0;
    const send = (method, params = {}) =>
      new Promise((resolve, reject) => {
        calls.set((last += 1), { resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params }));
      });
    const evaluate = async (expression, returnByValue) =>
      (await send("Runtime.evaluate", { expression, returnByValue, objectGroup: "counted" })).result;
    const count = async (prototype, functionDeclaration) => {
      const { objectId } = await evaluate(prototype, false);
      const { objects } = await send("Runtime.queryObjects", { prototypeObjectId: objectId, objectGroup: "counted" });
      const counted = await send("Runtime.callFunctionOn", {
        objectId: objects.objectId,
        functionDeclaration,
        returnByValue: true,
      });
      await send("Runtime.releaseObjectGroup", { objectGroup: "counted" });
      return counted.result.value;
    };
    await send("HeapProfiler.enable");
    await send("HeapProfiler.collectGarbage");
    const { value: heap } = await evaluate("process.memoryUsage().heapUsed", true);
    return {
      heap: heap / 1024 / 1024,
      timers: await count(TIMER, COUNTS.timers),
      listeners: await count(EMITTER, COUNTS.listeners),
      statements: await count(EMITTER, COUNTS.statements),
      promises: await count("Promise.prototype", COUNTS.promises),
    };
  } catch {
    return undefined;
  } finally {
    clearTimeout(timeout);
    socket.terminate();
  }
}
