// What scale.js runs of the platform.
export { createIdGenerator } from "../src/contract/ids.ts";
export { API_VERSIONS } from "../src/contract/versions.ts";
export { EventBodies } from "../src/platform/delivery/event-bodies.ts";
export { DeliveryWorker } from "../src/platform/delivery/worker.ts";
export { emit } from "../src/platform/domain/events.ts";
export { Versions } from "../src/platform/domain/versions.ts";
export { TransactionRunner } from "../src/platform/storage/postgres/transaction-runner.ts";
