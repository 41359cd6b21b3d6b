/** The code that the first page needs only after a click, in one file: it is loaded once the first page is shown. */
export { Palette } from "../palette.tsx";
export { AdvanceDialog } from "./advance.tsx";
export { RetryDialog } from "./bulk.tsx";
export { ApiKeys } from "./api-keys/index.tsx";
export { Apps } from "./apps.tsx";
export { Deliveries } from "./deliveries.tsx";
export { Endpoints } from "./endpoints/index.tsx";
export { Events } from "./events/index.tsx";
export { NotFound } from "./not-found.tsx";
export { ObjectPage } from "./objects/index.tsx";
export { QuickStart } from "./overview/quick-start.tsx";
export { RequestLogs } from "./request-logs.tsx";
export { SandboxPage } from "./sandbox.tsx";
export { SignedOut } from "./signed-out.tsx";
export { TeamPage } from "./team.tsx";
export { Why } from "./why.tsx";
