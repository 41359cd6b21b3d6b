import type { Check } from "./check.ts";
import { ACCEPTING } from "./checks/accepting.ts";
import { DUPLICATES } from "./checks/duplicates.ts";
import { LOAD } from "./checks/load.ts";
import { RAW_BODY } from "./checks/raw-body.ts";
import { REFUSING } from "./checks/refusing.ts";
import { ROTATION } from "./checks/rotation.ts";
import { TIME } from "./checks/time.ts";

/** Every check after the first delivery, in the order in which they run. */
export const CHECKS: readonly Check[] = [
  ...ACCEPTING,
  ...RAW_BODY,
  ...REFUSING,
  ...TIME,
  ...ROTATION,
  ...DUPLICATES,
  ...LOAD,
];
